/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a flight recorder overwrites: always the buffer that was closed first (oldest.c).
 *
 * Ages are tickets. The age of a buffer is the ticket of the claim that took its place in its slot: the
 * smaller, the longer ago it was closed, in whichever slot.
 */
#ifndef ETWAS_BUFFER_OLDEST_H
#define ETWAS_BUFFER_OLDEST_H

#include "buffer/pool_free.h"

/*
 * A flight recorder in which nothing seems to be free, but for guests' slots, nor to come into use: it overwrites
 * without looking for either.
 */
static inline bool etwas_pool_has_wrapped(const struct etwas_pool *pool)
{
    return pool->buffering &&
           etwas_pool_free_about(pool) <= (int32_t)ck_pr_load_32(&pool->words->guest_reserve) &&
           etwas_pool_allocated(pool) >= etwas_pool_maximum(pool);
}

/*
 * The oldest buffer of its kind, and its owner word. Looks at some hundred words, whether there are
 * hundreds of buffers or a quarter of a million. Where it finds none it has looked at all.
 */

/* A CLOSED one. */
bool etwas_pool_find_closed(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/* One of a shared slot that is closed and complete. */
bool etwas_pool_find_complete(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/* In a session with retention classes (quota.h): of one row of slots. Row 0's are the ones above. */
bool etwas_pool_find_closed_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                   uint64_t *owner);
bool etwas_pool_find_complete_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                     uint64_t *owner);

/*
 * Says to the searches that a buffer may be found: after it was closed, its age stored before, or was
 * unpinned. By which search its owner word says, which the caller knows: of which slot, and whether that is shared.
 */
void etwas_pool_add_candidate(struct etwas_pool *pool, uint32_t buffer, uint32_t slot,
                              bool is_of_shared_slot);

#endif
