/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "flush/drain.h"

#include <etwas/winerror.h>
#include <string.h>
#include <time.h>

#include "buffer/pool_count.h"
#include "buffer/pool_join.h"
#include "buffer/record_walk.h"
#include "clock/clock.h"
#include "flush/sink.h"
#include "platform/wait.h"

enum {
    PAUSE_NS = 500000
};

uint64_t etwas_drain_timeout_ns = ETWAS_DRAIN_TIMEOUT_NS;

struct pass {
    struct etwas_session *session;
    bool last;   /* the session ends: nothing can wait for room */
    bool copies; /* copies the batch, because there may be untrusted writers */
    struct etwas_collected collected[ETWAS_BATCH_BUFFERS];
    uint32_t lost[ETWAS_BATCH_BUFFERS]; /* invalid records of each buffer */
    struct etwas_batch batch;
    uint32_t room; /* how many buffers the batch may have */
    struct etwas_drain_result result;
};

void etwas_drain_reset(struct etwas_session *session)
{
    session->drain.taken_bytes = 0;
    session->drain.taken_newest = INT64_MIN;
    session->drain.flush_is_due = false;
}

/*
 * Returns the buffer if it can be written as one piece, in place: all of it, and no thread writes
 * into it any more. An abandoned writer still might, and writers of a current buffer do.
 */
static uint8_t *drain_whole_buffer(const struct etwas_pool *pool,
                                   const struct etwas_collected *collected)
{
    bool whole =
        collected->begin_units == ETWAS_FIRST_UNIT && !collected->part && !collected->abandoned;

    return whole ? etwas_pool_buffer(pool, collected->buffer) : NULL;
}

/*
 * Untrusted writers may change a shared session's buffers at any time. So once a guest has come,
 * records are copied first, and only the copy is validated and written, up to the first invalid
 * record. A batch that was begun before the first guest came is still read in place.
 */
static void batch_copy_out(struct pass *pass, uint32_t index)
{
    const struct etwas_collected *collected = &pass->collected[index];
    struct etwas_drained *buffer = &pass->batch.buffers[index];
    struct etwas_pool *pool = pass->session->buffers.pool;
    uint8_t *copy =
        pass->session->drain.untrusted_writers.copies + (size_t)index * pool->buffer_bytes;
    uint32_t left = buffer->data_bytes / ETWAS_UNIT_BYTES;
    uint32_t records = 0;
    uint32_t units;

    buffer->whole = copy;
    copy += ETWAS_ETL_BUFFER_HEADER_BYTES;
    memcpy(copy, buffer->data, buffer->data_bytes);
    buffer->data = copy;
    while ((units = etwas_record_next_units(copy, left)) != 0) {
        copy += (size_t)units * ETWAS_UNIT_BYTES;
        left -= units;
        records++;
    }
    if (left != 0 || records != collected->records) {
        pass->lost[index] = collected->records > records ? collected->records - records : 0;
        buffer->data_bytes -= left * ETWAS_UNIT_BYTES;
        buffer->records = records;
        ck_pr_inc_64(&pool->damage.buffers);
    }
}

static void batch_add(struct pass *pass, const struct etwas_collected *collected, int64_t now)
{
    const struct etwas_pool *pool = pass->session->buffers.pool;
    uint32_t index = pass->batch.count++;

    pass->collected[index] = *collected;
    pass->lost[index] = 0;
    pass->batch.buffers[index] = (struct etwas_drained){
        .whole = drain_whole_buffer(pool, collected),
        .data = etwas_pool_buffer(pool, collected->buffer) +
                (size_t)collected->begin_units * ETWAS_UNIT_BYTES,
        .data_bytes = (collected->end_units - collected->begin_units) * ETWAS_UNIT_BYTES,
        .records = collected->records,
        .processor = collected->slot,
        /* The system time may have been set back; a buffer is never older than its records. */
        .time_stamp = now > collected->newest ? now : collected->newest,
        .newest = collected->newest,
    };
    if (pass->copies) {
        batch_copy_out(pass, index);
    }
}

/* Begins an empty batch of as many buffers as the sinks have room for. */
static void batch_begin(struct pass *pass)
{
    pass->batch.count = 0;
    pass->batch.loss = ETWAS_DISPOSITION_UNDELIVERED;
    pass->batch.code = ERROR_SUCCESS;
    pass->batch.is_full = false;
    pass->copies = pass->session->drain.untrusted_writers.copies != NULL &&
                   ck_pr_load_32(&pass->session->guests) != ETWAS_GUESTS_NEVER_CAME;
    pass->room = etwas_sinks_room(pass->session,
                                  pass->copies ? pass->session->drain.untrusted_writers.count
                                               : (uint32_t)ETWAS_BATCH_BUFFERS,
                                  pass->last);
}

/* Gives the batch to the sinks, accounts for its buffers, and begins the next. */
static void batch_hand_over(struct pass *pass)
{
    struct etwas_session *session = pass->session;
    struct etwas_batch *batch = &pass->batch;

    if (batch->count == 0) {
        return;
    }
    etwas_sinks_accept(session, batch);
    for (uint32_t index = 0; index < batch->count; index++) {
        const struct etwas_drained *buffer = &batch->buffers[index];

        session->drain.taken_bytes += buffer->data_bytes;
        if (buffer->newest > session->drain.taken_newest) {
            session->drain.taken_newest = buffer->newest;
        }
        etwas_collector_account(&session->drain.collector, &pass->collected[index],
                                buffer->kept ? ETWAS_DISPOSITION_WRITTEN : batch->loss);
        if (buffer->kept) {
            etwas_pool_reclassify_written(session->buffers.pool, ETWAS_DISPOSITION_ABANDONED,
                                          pass->lost[index]);
        }
    }
    if (batch->code != ERROR_SUCCESS) {
        pass->result.code = batch->code;
    }
    pass->result.is_full = pass->result.is_full || batch->is_full;
    batch_begin(pass);
}

/* Adds to the batch what is complete in a slot's list, or has been waited for long enough. */
static void drain_slot(struct pass *pass, uint32_t slot)
{
    struct etwas_session *session = pass->session;
    int64_t now = etwas_clock_now(session->configuration.clock);
    struct etwas_collected collected;

    while (pass->room != 0 && etwas_collector_pop(&session->drain.collector, slot,
                                                  etwas_drain_timeout_ns, &collected)) {
        pass->result.buffers++;
        if (collected.records == 0) {
            /* Abandoned before its first record was complete, or already written by flushes. */
            etwas_collector_account(&session->drain.collector, &collected,
                                    ETWAS_DISPOSITION_WRITTEN);
            continue;
        }
        batch_add(pass, &collected, now);
        if (pass->batch.count == pass->room) {
            batch_hand_over(pass);
        }
    }
}

/*
 * A flush finds in the slots all that was recorded before it. Stamps may be later than now if the
 * system time was set back, so the bound also covers all that was taken before.
 */
static void drain_begin_flush(struct etwas_session *session)
{
    int64_t now = etwas_clock_now(session->configuration.clock);

    session->drain.flush_bound =
        now > session->drain.taken_newest ? now : session->drain.taken_newest;
    session->drain.flush_is_due = true;
}

/* Called when all that the last flush found has been taken. */
static void drain_end_flush(struct etwas_session *session)
{
    if (session->drain.flush_is_due) {
        session->drain.flush_is_due = false;
        session->drain.taken_bytes = 0;
        etwas_sinks_flushed(session, session->drain.flush_bound);
    }
}

static void drain_slots(struct pass *pass, enum etwas_collector_scope scope)
{
    struct etwas_session *session = pass->session;
    uint32_t slots = etwas_pool_used_slots(session->buffers.pool);

    if (scope != ETWAS_COLLECT_FULL) {
        drain_begin_flush(session);
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        etwas_collector_gather(&session->drain.collector, slot, scope);
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
        drain_slot(pass, slot);
    }
    batch_hand_over(pass);
    if (pass->room == 0) {
        session->drain.flush_is_due = false;
    } else if (etwas_collector_has_pending(&session->drain.collector)) {
        pass->result.waits = true;
    } else {
        drain_end_flush(session);
    }
}

/* Makes one pass; `last`: the session ends. */
static struct etwas_drain_result drain_pass(struct etwas_session *session,
                                            enum etwas_collector_scope scope, bool last)
{
    struct pass pass;

    pass.session = session;
    pass.last = last;
    pass.result = (struct etwas_drain_result){.code = ERROR_SUCCESS};
    etwas_sinks_account(session);
    session->drain.collector.now_ns = etwas_monotonic_ns();
    etwas_collector_reap(&session->drain.collector);
    etwas_collector_reclaim(&session->drain.collector);
    batch_begin(&pass);
    if (pass.room != 0) {
        drain_slots(&pass, scope);
    }
    if (pass.room == 0) {
        pass.result.no_room = true;
        pass.result.code = ERROR_LOG_FILE_FULL;
    }
    return pass.result;
}

struct etwas_drain_result etwas_drain(struct etwas_session *session,
                                      enum etwas_collector_scope scope)
{
    return drain_pass(session, scope, false);
}

struct etwas_drain_result etwas_drain_completely(struct etwas_session *session,
                                                 enum etwas_collector_scope scope)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    bool last = scope == ETWAS_COLLECT_SHUT;
    struct etwas_drain_result total = drain_pass(session, scope, last);
    /*
     * Read after the first pass, which gathered what there is, so that no writer's timeout ends
     * later.
     */
    uint64_t end_ns = etwas_monotonic_ns() + etwas_drain_timeout_ns;
    bool within_timeout = true;

    /*
     * Full buffers of other slots are collected meanwhile, so that one suspended writer does not
     * cost the events of others. What existed at the call is written, or abandoned when the timeout
     * ends. A slot that is shut gets nothing new, and is waited for. However long this thread
     * sleeps here, one pass begins after the timeout.
     */
    while (etwas_collector_has_pending(&session->drain.collector) && !total.no_room &&
           (last || within_timeout)) {
        struct etwas_drain_result more;

        (void)nanosleep(&pause, NULL);
        within_timeout = etwas_monotonic_ns() < end_ns;
        more = drain_pass(session, ETWAS_COLLECT_FULL, last);
        total.buffers += more.buffers;
        total.is_full = total.is_full || more.is_full;
        total.no_room = more.no_room;
        total.code = more.code != ERROR_SUCCESS ? more.code : total.code;
    }
    return total;
}
