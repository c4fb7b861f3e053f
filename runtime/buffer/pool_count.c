/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A pool's accounts.
 *
 * Shared slots: committed records are in the commit words of their buffers until their disposition
 * is accounted. Rseq slots: the current buffer's link says how many records the slot had stored and
 * replaced before, and the slot's word how many have been stored since; both change in one commit.
 * Once the word of a slot that was shut names no buffer, the slot's own sums have both.
 */
#include <sched.h>
#include <time.h>

#include "buffer/current.h"
#include "buffer/pool.h"
#include "buffer/pool_count.h"
#include "platform/wait.h"

/*
 * How long a count waits for one accounting step to end. A step is a few instructions. It takes
 * longer only if its thread loses its processor in between, which it soon gets back.
 */
#define ACCOUNTING_NS (UINT64_C(5) * 1000000000)

/*
 * If accounting steps follow each other closely, a count tries to fall between two: for at least
 * this long, and this often.
 */
#define BUSY_NS (UINT64_C(100) * 1000000)

enum {
    WHOLE_POOL = ETWAS_CLASS_ROWS,
    BUSY_ATTEMPTS = 300,
    YIELDS = 100,
    PAUSE_NS = 100000, /* after this it sleeps: yielding lets no thread of lower priority run */
};

struct tally {
    uint64_t stored;      /* by rseq slots */
    uint64_t overwritten; /* by their claims */
    uint64_t in_memory;   /* of shared slots */
    uint64_t abandoned;   /* in buffers set aside, not accounted */
};

struct stored {
    uint64_t stored;
    uint64_t overwritten;
};

/*
 * Counts the records that one rseq slot has stored, and those that its claims replaced, at one
 * moment.
 */
static struct stored count_rseq_slot(const struct etwas_pool *pool, uint32_t index)
{
    const struct etwas_slot *slot = etwas_pool_slot(pool, index);
    struct stored stored;
    struct etwas_current current;
    uint32_t tries = ETWAS_CURRENT_TRIES;
    uint32_t replaced;
    bool accounted;

    if (etwas_pool_is_quarantined(pool, index)) {
        return (struct stored){0};
    }
    do {
        current = etwas_current_read(slot, pool);
        accounted = etwas_current_next_buffer_records(slot, pool, &current, &replaced);
        if (current.buffer == ETWAS_NO_BUFFER) { /* no current buffer yet, or it is shut */
            stored.stored = ck_pr_load_64(&slot->counters.shut_stored);
            stored.overwritten = ck_pr_load_64(&slot->counters.shut_overwritten);
        } else {
            const struct etwas_buffer_link *link = &pool->buffers[current.buffer].link;

            stored.stored = ck_pr_load_64(&link->stored_before) + etwas_word_count(current.word);
            stored.overwritten = ck_pr_load_64(&link->overwritten_before);
        }
        stored.overwritten += replaced;
    } while ((!accounted || !etwas_current_is_unchanged(&current, pool)) && --tries != 0);
    return stored;
}

static void tally_buffer(const struct etwas_buffer_control *control, struct tally *tally)
{
    uint32_t records = etwas_commit_count(ck_pr_load_64(&control->commit));
    uint32_t set_aside = ck_pr_load_32(&control->set_aside);

    if (set_aside == 0) {
        tally->in_memory += records;
    } else {
        uint32_t whole = set_aside - 1;

        tally->in_memory += ck_pr_load_32(&control->kept);
        /* Fewer are counted than found whole while a writer is between marker and commit. */
        tally->abandoned += records > whole ? records - whole : 0;
    }
}

/* The part to count: one row of slots, or the pool. */
struct part {
    const struct etwas_pool *pool;
    uint32_t row; /* WHOLE_POOL: all */
};

static bool part_has_slot(const struct part *part, uint32_t slot)
{
    return part->row == WHOLE_POOL || etwas_quota_class_row(part->pool, slot) == part->row;
}

/* Events accounted for already, without those still in buffers. */
struct accounted {
    const uint64_t *dispositions;
    const uint64_t *recorded;
};

static struct accounted part_accounted(const struct part *part)
{
    const struct etwas_pool *pool = part->pool;
    const struct etwas_pool_class_row *row;

    if (part->row == WHOLE_POOL) {
        return (struct accounted){pool->accounted, &pool->accounted_recorded};
    }
    row = &pool->words->rows[part->row];
    return (struct accounted){row->accounted, &row->accounted_recorded};
}

static void count_slot_losses(const struct part *part, struct etwas_pool_counts *counts)
{
    for (uint32_t slot = 0; slot < etwas_pool_used_slots(part->pool); slot++) {
        const struct etwas_slot_counters *counters = &etwas_pool_slot(part->pool, slot)->counters;

        if (part_has_slot(part, slot)) {
            for (uint32_t cause = 0; cause < ETWAS_SLOT_LOSSES; cause++) {
                counts->lost[cause] += ck_pr_load_64(&counters->lost[cause]);
            }
            counts->restarts += ck_pr_load_64(&counters->restarts);
        }
    }
}

/*
 * Whether the slot is quarantined, so that its buffers are no longer gathered. `slot` may be any
 * number.
 */
static bool slot_is_quarantined(const struct etwas_pool *pool, uint32_t slot)
{
    return slot < etwas_pool_used_slots(pool) && etwas_pool_is_quarantined(pool, slot);
}

static void count_buffers(const struct part *part, struct tally *tally,
                          struct etwas_pool_counts *counts)
{
    const struct etwas_pool *pool = part->pool;
    uint32_t allocated = etwas_pool_allocated(pool);

    for (uint32_t buffer = 0; buffer < allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);
        bool is_free = etwas_owner_state(owner) == ETWAS_OWNER_FREE;

        if (part_has_slot(part, etwas_owner_slot(owner))) {
            if (!slot_is_quarantined(pool, etwas_owner_slot(owner))) {
                tally_buffer(&pool->buffers[buffer], tally);
            }
            counts->allocated += part->row == WHOLE_POOL || !is_free;
            counts->free += part->row == WHOLE_POOL && is_free;
        }
    }
}

/*
 * Reads the replaced records of all slots first, then the stored ones: one slot replaces records
 * that another stored.
 */
static void count_rseq_slots(const struct part *part, struct tally *tally)
{
    const struct etwas_pool *pool = part->pool;

    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        if (part_has_slot(part, slot)) {
            tally->overwritten += count_rseq_slot(pool, slot).overwritten;
        }
    }
    if (part->row != WHOLE_POOL) {
        const struct etwas_pool_class_row *row = &pool->words->rows[part->row];

        tally->overwritten +=
            ck_pr_load_64(&row->replaced_by_others) - ck_pr_load_64(&row->replaced_of_others);
    }
    ck_pr_fence_acquire();
    tally->stored = ck_pr_load_64(&pool->damage.stored);
    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        if (part_has_slot(part, slot)) {
            tally->stored += count_rseq_slot(pool, slot).stored;
        }
    }
}

static void count_part_once(const struct part *part, struct etwas_pool_counts *counts)
{
    const struct accounted already = part_accounted(part);
    struct tally tally = {0};
    uint64_t accounted = 0;
    uint64_t accounted_recorded;

    *counts = (struct etwas_pool_counts){0};
    count_slot_losses(part, counts);
    for (uint32_t disposition = 0; disposition < ETWAS_DISPOSITIONS; disposition++) {
        counts->accounted[disposition] = ck_pr_load_64(&already.dispositions[disposition]);
        accounted += counts->accounted[disposition];
    }
    /* Read before the stored records: nothing is accounted before it is stored. */
    accounted_recorded = ck_pr_load_64(already.recorded);
    ck_pr_fence_acquire();
    count_buffers(part, &tally, counts);
    count_rseq_slots(part, &tally);

    counts->accounted[ETWAS_DISPOSITION_ABANDONED] += tally.abandoned;
    counts->recorded = tally.in_memory + counts->accounted[ETWAS_DISPOSITION_WRITTEN] +
                       tally.stored - tally.overwritten - accounted_recorded;
    counts->overwritten = counts->accounted[ETWAS_DISPOSITION_OVERWRITTEN] + tally.overwritten;
    counts->slots_quarantined = ck_pr_load_64(&part->pool->damage.slots);
    counts->buffers_damaged = ck_pr_load_64(&part->pool->damage.buffers);
    counts->committed_rseq = tally.stored;
    counts->committed_shared = tally.in_memory + tally.abandoned + accounted - accounted_recorded;
}

static void count_back_off(uint32_t attempt)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    if (attempt < YIELDS) {
        (void)sched_yield();
    } else {
        (void)nanosleep(&pause, NULL);
    }
}

/*
 * Returns false if accounting steps came meanwhile, so some events may be counted twice or not at
 * all.
 */
static bool count_undisturbed(const struct part *part, uint64_t ended,
                              struct etwas_pool_counts *counts)
{
    count_part_once(part, counts);
    ck_pr_fence_memory();
    return ck_pr_load_64(&part->pool->account_begins) == ended;
}

static void count_part(const struct part *part, struct etwas_pool_counts *counts)
{
    const struct etwas_pool *pool = part->pool;
    const uint64_t start_ns = etwas_monotonic_ns();

    for (uint32_t attempt = 0;; attempt++) {
        uint64_t passed_ns = etwas_monotonic_ns() - start_ns;
        bool may_end = attempt >= BUSY_ATTEMPTS && passed_ns > BUSY_NS;
        uint64_t ended = ck_pr_load_64(&pool->account_ends);

        ck_pr_fence_memory();
        if (ck_pr_load_64(&pool->account_begins) == ended) {
            if (count_undisturbed(part, ended, counts) || may_end) {
                return;
            }
        } else if (may_end && passed_ns > ACCOUNTING_NS) {
            count_part_once(part, counts);
            return;
        }
        count_back_off(attempt);
    }
}

void etwas_pool_count(const struct etwas_pool *pool, struct etwas_pool_counts *counts)
{
    count_part(&(struct part){pool, WHOLE_POOL}, counts);
}

void etwas_pool_count_class_row(const struct etwas_pool *pool, uint32_t row,
                                struct etwas_pool_counts *counts)
{
    count_part(&(struct part){pool, etwas_quota_has_rows(pool) ? row : WHOLE_POOL}, counts);
}
