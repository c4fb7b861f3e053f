/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/drain.h"

#include <ck_pr.h>
#include <stdlib.h>
#include <time.h>

#include "buffer/pool_claim.h"
#include "buffer/pool_join.h"
#include "flush/sink.h"
#include "platform/fork.h"
#include "platform/processor.h"
#include "platform/rseq.h"
#include "platform/visit.h"
#include "platform/wait.h"
#include "session/losses.h"
#include "shared/mapping.h"

enum {
    PAUSE_NS = 500000,
    RECHECK_NS = 10000000,
};

/*
 * How long STOP tries to reach each processor, and then how long other processes may commit late.
 */
#define VISIT_TIMEOUT_NS (UINT64_C(2) * 1000000000)
#define LATE_NS (UINT64_C(5) * 1000000000)

/* Whether no writer is inside one of the first `slots` slots. */
static bool writers_are_out(const struct etwas_session *session, uint32_t slots)
{
    return etwas_session_has_no_slow_writers(session, slots) &&
           etwas_pool_is_idle(session->buffers.pool, slots);
}

/*
 * Waits until the session's timeout for writers that are still inside. Returns false if some of
 * this process stay longer. Guests' writers have a mapping of their own, which remains when this
 * process's is unmapped.
 */
static bool wait_for_writers(const struct etwas_session *session, uint64_t end_ns)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    while (!writers_are_out(session, etwas_pool_used_slots(session->buffers.pool))) {
        if (etwas_monotonic_ns() > end_ns) {
            return writers_are_out(session, session->buffers.pool->slot_count -
                                                session->buffers.pool->guest_slots);
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

/*
 * Waits for signal handlers that read the pool, which has been removed. A handler counts itself in
 * before it reads the pool pointer, so at least one of the two sees the other. A handler that stays
 * longer has probably crashed itself.
 */
static bool wait_for_handlers(const struct etwas_session *session)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t end_ns = etwas_monotonic_ns() + etwas_drain_timeout_ns;

    ck_pr_fence_memory();
    while (ck_pr_load_32(&session->handlers_inside) != 0) {
        if (etwas_monotonic_ns() > end_ns) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    ck_pr_fence_acquire(); /* the handlers' reads are complete */
    return true;
}

static void shut_slots(struct etwas_session *session)
{
    if (etwas_session_has_sink(session)) {
        (void)etwas_drain_completely(session, ETWAS_COLLECT_SHUT);
        return;
    }
    etwas_collector_reap(&session->drain.collector);
    for (uint32_t slot = 0; slot < etwas_pool_used_slots(session->buffers.pool); slot++) {
        etwas_collector_shut(&session->drain.collector, slot);
    }
}

/* ---- the fence ------------------------------------------------------------------------------- */

static bool guests_may_be_there(const struct etwas_session *session)
{
    return etwas_configuration_is_shared(&session->configuration) &&
           ck_pr_load_32(&session->guests) == ETWAS_GUESTS_MAY_BE_THERE;
}

/* A guest that has ended may have left a child that is still inside a sequence. */
static bool guests_may_have_come(const struct etwas_session *session)
{
    return etwas_configuration_is_shared(&session->configuration) &&
           ck_pr_load_32(&session->guests) != ETWAS_GUESTS_NEVER_CAME;
}

/*
 * Visits the processors whose slots a sequence of another process may still change: slots with a
 * current buffer, and slots that count losses. In no other slot can a record be committed any more:
 * ADOPT adds none, and PUBLISH reads the gate. A shared session has no retention classes, so a
 * slot's index is its processor.
 */
static bool visit_slots(const struct etwas_session *session, uint64_t timeout_ns)
{
    const struct etwas_pool *pool = session->buffers.pool;
    bool wanted[ETWAS_MOST_PROCESSORS] = {false};
    uint32_t count =
        pool->rseq_slots < ETWAS_MOST_PROCESSORS ? pool->rseq_slots : ETWAS_MOST_PROCESSORS;

    for (uint32_t index = 0; index < count; index++) {
        const struct etwas_slot *slot = etwas_pool_slot(pool, index);

        wanted[index] = etwas_word_buffer(ck_pr_load_64(&slot->word)) != ETWAS_NO_BUFFER;
        for (uint32_t cause = 0; cause < ETWAS_SLOT_LOSSES; cause++) {
            wanted[index] |= ck_pr_load_64(&slot->counters.lost[cause]) != 0;
        }
    }
    return etwas_visit_processors(wanted, count, timeout_ns);
}

/*
 * The gates are closed. After the fence no restartable sequence that saw them open can commit.
 * Those of this process membarrier ends, those of others visits do. Returns false if that is not
 * proven.
 */
static bool fence_sequences(const struct etwas_session *session, uint64_t timeout_ns)
{
    bool mine = session->buffers.pool->rseq_slots == 0 || etwas_rseq_fence();

    return mine && (!guests_may_have_come(session) || visit_slots(session, timeout_ns));
}

/*
 * Shuts the slots once the fence is proven. Until then nothing is shut: a current buffer stays
 * current, what is new in it is written as a part of it, and its memory is kept for ever. Guests
 * may commit late, so this repeats until the fence is proven, or no guest is left that could be
 * late, or the time is over. Each pass reads a slot's word once, for the part and for the links
 * from it.
 */
static void shut_slots_behind_fence(struct etwas_session *session)
{
    const struct timespec pause = {.tv_nsec = RECHECK_NS};
    uint64_t timeout_ns = VISIT_TIMEOUT_NS;
    uint64_t end_ns = etwas_monotonic_ns() + VISIT_TIMEOUT_NS + LATE_NS;
    bool again;

    for (;;) {
        /* Before the look: the pass includes what a guest committed before it ended. */
        again = guests_may_be_there(session) && etwas_session_has_sink(session) &&
                etwas_monotonic_ns() < end_ns;
        ck_pr_fence_acquire();
        session->drain.collector.fenced = fence_sequences(session, timeout_ns);
        shut_slots(session);
        if (session->drain.collector.fenced || !again) {
            return;
        }
        timeout_ns = RECHECK_NS;
        (void)nanosleep(&pause, NULL);
    }
}

/* ---- the end of the pool --------------------------------------------------------------------- */

/* Closes the mapping, when every event has been written, or counted as lost. */
static void shut_down_mapping(struct etwas_session *session)
{
    struct etwas_shared_mapping *mapping = session->mapping;

    /* Who holds either lock finds the mapping there, or none. */
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    etwas_control_lock();
    session->mapping = NULL;
    etwas_control_unlock();
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
    etwas_shared_close(mapping);
}

/* Stores the last counts, and returns the memory unless a writer is still inside. */
static void shut_down_pool(struct etwas_session *session, bool all_out)
{
    struct etwas_pool *pool = session->buffers.pool;

    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    etwas_session_count(session, &session->buffers.last_counts);
    for (uint32_t row = 0; row < etwas_configuration_class_rows(&session->configuration); row++) {
        etwas_session_count_class_row(session, row, &session->buffers.last_class_rows[row]);
    }
    if (all_out) {
        ck_pr_store_ptr(&session->buffers.pool, NULL);
    } else {
        etwas_pool_leak(pool);
    }
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
    if (all_out && wait_for_handlers(session)) {
        etwas_pool_destroy(pool);
    } else if (all_out) {
        etwas_pool_leak(pool);
    }
}

void etwas_session_shut_down(struct etwas_session *session)
{
    /*
     * One timeout for all writers: the gates are closed, and a writer that is inside has been since
     * then.
     */
    const uint64_t end_ns = etwas_monotonic_ns() + etwas_drain_timeout_ns;
    bool all_out;

    (void)pthread_mutex_lock(&session->drain.role);
    shut_slots_behind_fence(session);
    all_out = wait_for_writers(session, end_ns) && session->drain.collector.fenced;
    etwas_collector_reclaim(&session->drain.collector);
    etwas_sinks_end(session);
    etwas_losses_end(session);
    free(session->drain.collector.lists);
    free(session->drain.collector.entries);
    free(session->drain.untrusted_writers.copies);
    session->drain.untrusted_writers.copies = NULL;
    session->drain.collector = (struct etwas_collector){0};
    (void)pthread_mutex_unlock(&session->drain.role);
    if (session->mapping == NULL) {
        shut_down_pool(session, all_out);
        return;
    }
    /* A fork's child finds both the mapping and the pool, or neither. */
    etwas_fork_forbid();
    shut_down_pool(session, all_out);
    shut_down_mapping(session);
    etwas_fork_allow();
}
