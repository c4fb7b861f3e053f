/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The quotas of retention classes in a pool's buffers.
 *
 * Each class row has a quota; all quotas together are the maximum. A row has the buffers that its
 * slots hold, held last, or are about to hold: each claim and each release moves the count.
 *
 *     flight recorder   any row takes unused buffers. If there are none, a row at or above its
 *                       quota replaces its own oldest buffer, and a row below its quota the oldest
 *                       of the row that is most above its own. There is such a row, since nothing
 *                       is unused, and it has a full buffer, since a quota is more than the buffers
 *                       that its slots need at once
 *     otherwise         a row at its quota takes no more until the flusher has released some of its
 *                       buffers
 *
 * The counts follow the claims, so they are off by the number of writers between a claim and its
 * count: a row may exceed its quota by that much for that long.
 */
#ifndef ETWAS_BUFFER_QUOTA_H
#define ETWAS_BUFFER_QUOTA_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/owner.h"
#include "buffer/pool.h"
#include "buffer/pool_claim.h"

static inline bool etwas_quota_has_rows(const struct etwas_pool *pool)
{
    return ck_pr_load_32(&pool->rows) > 1;
}

/* Returns the class row of a slot of the session. */
static inline uint32_t etwas_quota_class_row(const struct etwas_pool *pool, uint32_t slot)
{
    uint32_t rows = ck_pr_load_32(&pool->rows);
    uint32_t row_slots = ck_pr_load_32(&pool->row_slots);
    uint32_t row;

    if (__builtin_expect(rows <= 1, 1)) {
        return 0;
    }
    row = slot < rows * row_slots ? slot / row_slots : slot - rows * row_slots;
    /* Out of range only for a writer that was suspended while the session ended. */
    return row < ETWAS_CLASS_ROWS ? row : 0;
}

/* Whether the slot's row has reached its quota. */
bool etwas_quota_is_full(const struct etwas_pool *pool, uint32_t slot);

/* Whether the slot gets no more buffers, in a session whose flusher releases buffers. */
static inline bool etwas_quota_is_exhausted(const struct etwas_pool *pool, uint32_t slot)
{
    return etwas_quota_has_rows(pool) && !pool->buffering && etwas_quota_is_full(pool, slot);
}

/* Whether the slot's row has used half of its quota. */
bool etwas_quota_is_half_used(const struct etwas_pool *pool, uint32_t slot);

/*
 * Flight recorder: whether the extra slot `slot` has as many of its row's buffers as it may take.
 */
bool etwas_quota_is_extra_full(const struct etwas_pool *pool, uint32_t slot);

/*
 * Flight recorder: find the buffer that the slot replaces. They find a CLOSED buffer, or one of a
 * shared slot that is closed and complete: the oldest of the row that has to give one; without
 * class rows the oldest of all (pool_claim.h).
 */
bool etwas_quota_find_closed_in_rows(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer,
                                     uint64_t *owner);
bool etwas_quota_find_complete(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer,
                               uint64_t *owner);

static inline bool etwas_quota_find_closed(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer,
                                           uint64_t *owner)
{
    return etwas_quota_has_rows(pool) ? etwas_quota_find_closed_in_rows(pool, slot, buffer, owner)
                                      : etwas_pool_find_closed(pool, buffer, owner);
}

/* Counts a buffer that was under the claim `from` and has been claimed for `slot`. */
void etwas_quota_count_move(struct etwas_pool *pool, uint64_t from, uint32_t slot);

static inline void etwas_quota_count_claim(struct etwas_pool *pool, uint64_t from, uint32_t slot)
{
    if (etwas_quota_has_rows(pool)) {
        etwas_quota_count_move(pool, from, slot);
    }
}

/* Counts a buffer as released. */
void etwas_quota_count_release(struct etwas_pool *pool, uint64_t owner);

/*
 * Whether a claim for the slot takes a full buffer of another row. Between the claim and its
 * booking that row's account is wrong: both are done within one accounting step.
 */
static inline bool etwas_quota_crosses_rows(const struct etwas_pool *pool, uint64_t from,
                                            uint32_t slot)
{
    return etwas_quota_has_rows(pool) && etwas_owner_state(from) != ETWAS_OWNER_FREE &&
           etwas_quota_class_row(pool, etwas_owner_slot(from)) != etwas_quota_class_row(pool, slot);
}

/* Returns how many buffers the rows have for themselves together; 0: there is one row. */
uint32_t etwas_quota_least_buffers(const struct etwas_pool *pool);

/* Sets the quotas for a maximum. */
void etwas_quota_set(struct etwas_pool *pool, uint32_t maximum_buffers);

/*
 * Recounts the buffers that all rows hold, unless a writer counts meanwhile. The flusher calls it.
 */
void etwas_quota_recount(struct etwas_pool *pool);

#endif
