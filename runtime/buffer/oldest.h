/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which buffer a flight recorder overwrites: always the one that was closed first (oldest.c).
 *
 * The age of a buffer is the ticket of the claim that took its place in its slot. The smaller it
 * is, the longer ago the buffer was closed, in whichever slot.
 */
#ifndef ETWAS_BUFFER_OLDEST_H
#define ETWAS_BUFFER_OLDEST_H

#include "buffer/pool_free.h"

/*
 * Whether a flight recorder has used all its buffers: none seems free but those reserved for
 * guests' slots, and none can come into use. Then it overwrites without searching for a free one.
 */
static inline bool etwas_pool_has_wrapped(const struct etwas_pool *pool)
{
    return pool->buffering &&
           etwas_pool_free_about(pool) <= (int32_t)ck_pr_load_32(&pool->words->guest_reserve) &&
           etwas_pool_allocated(pool) >= etwas_pool_maximum(pool);
}

/*
 * These find the oldest buffer of a kind, and its owner word. They read some hundred words, whether
 * there are hundreds of buffers or a quarter of a million, and every owner word before they return
 * false.
 */

/* Finds the oldest CLOSED buffer. */
bool etwas_pool_find_closed(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/* Finds the oldest buffer of a shared slot that is closed and complete. */
bool etwas_pool_find_complete(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/*
 * The same in one class row of a session with retention classes (quota.h). Row 0 is what the two
 * above search.
 */
bool etwas_pool_find_closed_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                   uint64_t *owner);
bool etwas_pool_find_complete_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                     uint64_t *owner);

/*
 * Makes a buffer a candidate of the searches: after it was closed and its age stored, or after it
 * was unpinned. The caller knows from the owner word which slot the buffer was of, and whether that
 * slot is shared.
 */
void etwas_pool_add_candidate(struct etwas_pool *pool, uint32_t buffer, uint32_t slot,
                              bool is_of_shared_slot);

#endif
