/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A pool's accounts.
 *
 * Shared slots: what is committed is in the commit words of their buffers until its fate is
 * settled. Rseq slots: the current buffer's link says what the slot had stored and replaced before,
 * and the slot's word what has been stored since; both change in one commit.
 */
#include <sched.h>
#include <time.h>

#include "buffer/current.h"
#include "buffer/pool.h"
#include "buffer/pool_count.h"
#include "platform/wait.h"

/*
 * How long a count waits for one settlement to end. It is a few instructions, and takes longer only
 * if its thread loses its processor in between, which it soon has back.
 */
#define SETTLING_NS (UINT64_C(5) * 1000000000)

/*
 * Where one settlement follows the other, a count tries to fall between two: for so long at least,
 * and so often.
 */
#define BUSY_NS (UINT64_C(100) * 1000000)

enum {
    BUSY_ATTEMPTS = 300,
    YIELDS = 100,
    PAUSE_NS = 100000, /* from then on it sleeps: yielding lets no thread of lower priority run */
};

struct tally {
    uint64_t stored;      /* by rseq slots that are not shut */
    uint64_t overwritten; /* by their claims */
    uint64_t in_memory;   /* of shared slots */
    uint64_t abandoned;   /* in buffers set aside, not settled */
};

struct stored {
    uint64_t stored;
    uint64_t overwritten;
};

/* What one rseq slot stored so far, and what its claims replaced, at one moment. */
static struct stored stored_in(const struct etwas_pool *pool, uint32_t index)
{
    const struct etwas_slot *slot = etwas_pool_slot(pool, index);
    struct stored stored;
    struct etwas_current current;
    uint32_t replaced;
    bool settled;

    do {
        const struct etwas_buffer_link *link;

        current = etwas_current_read(slot, pool);
        if (current.buffer == ETWAS_NO_BUFFER) {
            return (struct stored){0};
        }
        settled = etwas_current_spare_records(slot, pool, &current, &replaced);
        link = &pool->buffers[current.buffer].link;
        stored.stored = ck_pr_load_64(&link->stored_before) + etwas_word_count(current.word);
        stored.overwritten = ck_pr_load_64(&link->overwritten_before) + replaced;
    } while (!settled || !etwas_current_stands(&current, pool));
    return stored;
}

static void tally_buffer(const struct etwas_buffer_control *control, struct tally *tally)
{
    uint32_t records = etwas_commit_records(ck_pr_load_64(&control->commit));
    uint32_t set_aside = ck_pr_load_32(&control->set_aside);

    if (set_aside == 0) {
        tally->in_memory += records;
    } else {
        uint32_t whole = set_aside - 1;

        tally->in_memory += ck_pr_load_32(&control->kept);
        /* Fewer are counted than found whole while a writer stands between marker and commit. */
        tally->abandoned += records > whole ? records - whole : 0;
    }
}

static void count_once(const struct etwas_pool *pool, struct etwas_pool_counts *counts)
{
    struct tally tally = {0};
    uint64_t settled = 0;
    uint64_t settled_recorded;

    *counts = (struct etwas_pool_counts){.allocated = (uint32_t)ck_pr_load_64(&pool->allocated)};
    for (uint32_t slot = 0; slot < pool->slot_count; slot++) {
        counts->lost_no_buffer += ck_pr_load_64(&pool->counters[slot].lost_no_buffer);
        counts->lost_backlog_full += ck_pr_load_64(&pool->counters[slot].lost_backlog_full);
        counts->restarts += ck_pr_load_64(&pool->counters[slot].restarts);
    }
    for (uint32_t outcome = 0; outcome < ETWAS_OUTCOMES; outcome++) {
        counts->settled[outcome] = ck_pr_load_64(&pool->settled[outcome]);
        settled += counts->settled[outcome];
    }
    /* Before what was stored: nothing is settled that is not stored. */
    settled_recorded = ck_pr_load_64(&pool->settled_recorded);
    ck_pr_fence_acquire();
    for (uint32_t buffer = 0; buffer < counts->allocated; buffer++) {
        tally_buffer(&pool->buffers[buffer], &tally);
        counts->free += etwas_owner_state(ck_pr_load_64(&pool->owners[buffer])) == ETWAS_OWNER_FREE;
    }
    /*
     * First of all slots what is replaced, then what is stored: one replaces what another stored.
     */
    tally.overwritten = ck_pr_load_64(&pool->shut_overwritten);
    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        tally.overwritten += stored_in(pool, slot).overwritten;
    }
    ck_pr_fence_acquire();
    tally.stored = ck_pr_load_64(&pool->shut_stored);
    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        tally.stored += stored_in(pool, slot).stored;
    }

    counts->settled[ETWAS_OUTCOME_ABANDONED] += tally.abandoned;
    counts->recorded = tally.in_memory + counts->settled[ETWAS_OUTCOME_WRITTEN] + tally.stored -
                       tally.overwritten - settled_recorded;
    counts->overwritten = counts->settled[ETWAS_OUTCOME_OVERWRITTEN] + tally.overwritten;
    counts->committed_rseq = tally.stored;
    counts->committed_shared = tally.in_memory + tally.abandoned + settled - settled_recorded;
}

static void give_way(uint32_t attempt)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    if (attempt < YIELDS) {
        (void)sched_yield();
    } else {
        (void)nanosleep(&pause, NULL);
    }
}

/* False: settlements came meanwhile, so some events may be counted twice or not at all. */
static bool count_between(const struct etwas_pool *pool, uint64_t ended,
                          struct etwas_pool_counts *counts)
{
    count_once(pool, counts);
    ck_pr_fence_memory();
    return ck_pr_load_64(&pool->settles_begun) == ended;
}

void etwas_pool_count(const struct etwas_pool *pool, struct etwas_pool_counts *counts)
{
    const uint64_t start_ns = etwas_monotonic_ns();

    for (uint32_t attempt = 0;; attempt++) {
        uint64_t passed_ns = etwas_monotonic_ns() - start_ns;
        bool may_end = attempt >= BUSY_ATTEMPTS && passed_ns > BUSY_NS;
        uint64_t ended = ck_pr_load_64(&pool->settles_ended);

        ck_pr_fence_memory();
        if (ck_pr_load_64(&pool->settles_begun) == ended) {
            if (count_between(pool, ended, counts) || may_end) {
                return;
            }
        } else if (may_end && passed_ns > SETTLING_NS) {
            count_once(pool, counts);
            return;
        }
        give_way(attempt);
    }
}
