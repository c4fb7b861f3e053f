/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A pool's accounts: the dispositions of its events, and their statistics (pool_count.c). I4. */
#ifndef ETWAS_BUFFER_POOL_COUNT_H
#define ETWAS_BUFFER_POOL_COUNT_H

#include <etwas/winerror.h>

#include "buffer/pool.h"
#include "buffer/quota.h"

/*
 * Begins and ends an accounting step, in which events move from a buffer's commit word into
 * `accounted`. A reader of the statistics that meets such a step counts again, so that no event is
 * counted twice or not at all.
 */
static inline void etwas_pool_account_begin(struct etwas_pool *pool)
{
    ck_pr_inc_64(&pool->account_begins);
    ck_pr_inc_64(&pool->words->account_begins);
    ck_pr_fence_memory();
}

static inline void etwas_pool_account_end(struct etwas_pool *pool)
{
    ck_pr_fence_memory();
    ck_pr_inc_64(&pool->words->account_ends);
    ck_pr_inc_64(&pool->account_ends);
}

static inline void etwas_pool_add_accounted(struct etwas_pool *pool,
                                            enum etwas_disposition disposition, uint64_t events)
{
    ck_pr_add_64(&pool->accounted[disposition], events);
    ck_pr_add_64(&pool->words->accounted[disposition], events);
}

static inline void etwas_pool_add_accounted_recorded(struct etwas_pool *pool, uint64_t events)
{
    ck_pr_add_64(&pool->accounted_recorded, events);
    ck_pr_add_64(&pool->words->accounted_recorded, events);
}

/* Accounts for `events` events of a slot. Within an accounting step. */
static inline void etwas_pool_account(struct etwas_pool *pool, uint32_t slot,
                                      enum etwas_disposition disposition, uint64_t events)
{
    etwas_pool_add_accounted(pool, disposition, events);
    if (etwas_quota_has_rows(pool)) {
        ck_pr_add_64(&pool->words->rows[etwas_quota_class_row(pool, slot)].accounted[disposition],
                     events);
    }
}

/*
 * Does the same for events that count as recorded already: those that sequences stored, and those
 * accounted for as written before. If they are written now, nothing changes.
 */
static inline void etwas_pool_account_recorded(struct etwas_pool *pool, uint32_t slot,
                                               enum etwas_disposition disposition, uint64_t events)
{
    if (disposition == ETWAS_DISPOSITION_WRITTEN) {
        return;
    }
    etwas_pool_account(pool, slot, disposition, events);
    etwas_pool_add_accounted_recorded(pool, events);
    if (etwas_quota_has_rows(pool)) {
        ck_pr_add_64(&pool->words->rows[etwas_quota_class_row(pool, slot)].accounted_recorded,
                     events);
    }
}

/*
 * Moves events that were accounted for as written to another disposition: a circular file replaced
 * them, no consumer came for them, or the system reported late that it had not kept them. Their
 * class row is no longer known: in its account they stay written.
 */
static inline void etwas_pool_reclassify_written(struct etwas_pool *pool,
                                                 enum etwas_disposition disposition,
                                                 uint64_t events)
{
    if (events != 0) {
        etwas_pool_account_begin(pool);
        if (disposition != ETWAS_DISPOSITION_WRITTEN) {
            etwas_pool_add_accounted(pool, disposition, events);
            etwas_pool_add_accounted_recorded(pool, events);
        }
        etwas_pool_account_end(pool);
    }
}

/*
 * Returns the counter in which a writer that finds no buffer counts its event lost; *code receives
 * the code that it returns (R76, R170). A change of backlog_full may be seen a little later:
 * relaxed.
 */
static inline uint64_t *etwas_pool_loss(const struct etwas_pool *pool, struct etwas_slot *slot,
                                        uint32_t *code)
{
    bool backlog_full = ck_pr_load_32(&pool->words->backlog_full) != 0;

    *code = backlog_full ? ERROR_LOG_FILE_FULL : ERROR_NOT_ENOUGH_MEMORY;
    return &slot->counters.lost[backlog_full ? ETWAS_SLOT_BACKLOG_FULL : ETWAS_SLOT_NO_BUFFER];
}

struct etwas_pool_counts {
    uint64_t recorded; /* in the file, or in buffers not yet written */
    uint64_t overwritten;
    uint64_t lost[ETWAS_SLOT_LOSSES]; /* counted by writers */
    uint64_t accounted[ETWAS_DISPOSITIONS];
    uint64_t committed_rseq; /* all that were ever committed, whatever their disposition */
    uint64_t committed_shared;
    uint64_t restarts;
    uint64_t slots_quarantined;
    uint64_t buffers_damaged;
    uint32_t allocated;
    uint32_t free;
};

/*
 * Counts the pool as it is at one moment between the call and the return. If a thread stops in the
 * middle of an accounting step for some seconds, or no moment without one is found within a tenth
 * of a second and some hundred attempts, the counts are a best effort.
 */
void etwas_pool_count(const struct etwas_pool *pool, struct etwas_pool_counts *counts);

/*
 * Does the same for one class row. `free` is 0, and `allocated` is the number of buffers that the
 * row holds; written events stay written (etwas_pool_reclassify_written).
 */
void etwas_pool_count_class_row(const struct etwas_pool *pool, uint32_t row,
                                struct etwas_pool_counts *counts);

#endif
