/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Free buffers, and how more come into use (pool_free.c): for both protocols. */
#ifndef ETWAS_BUFFER_POOL_FREE_H
#define ETWAS_BUFFER_POOL_FREE_H

#include "buffer/pool.h"

/*
 * Finds a free buffer, and its owner word, and clears its bit in the free set. A caller that does
 * not claim it sets the bit again.
 */
bool etwas_pool_find_free(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/*
 * Returns how many buffers are free, approximately. The value is too low, even below 0, after the
 * flusher corrected the count between a claim and its counting, until its next pass.
 */
static inline int32_t etwas_pool_free_about(const struct etwas_pool *pool)
{
    return (int32_t)ck_pr_load_32(&pool->words->free_count);
}

/*
 * Finds a FREE buffer by one pass over the owner words, if the count says that there is one. Its
 * bit may be missing because the thread that took it was suspended, or because the thread that
 * brought the buffer into use has not yet claimed or added it. For a writer that would lose an
 * event otherwise.
 */
bool etwas_pool_scan_for_free(const struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/*
 * Brings one more buffer of the region into use, counted as free. Returns false if the maximum is
 * reached.
 */
bool etwas_pool_add_new_buffer(struct etwas_pool *pool, uint32_t *buffer);

/* Counts a free buffer as claimed, after the claim. */
static inline void etwas_pool_count_free_claimed(struct etwas_pool *pool)
{
    ck_pr_dec_32(&pool->words->free_count);
}

/*
 * Wakes the flusher when few buffers are free or left of the class row's quota; a flight recorder's
 * flusher for a guest's slot. Call it after a buffer has become current in the slot and the one
 * before it can be collected. If called earlier, the flusher's pass could come too early for that
 * one, and the next wake too late.
 */
void etwas_pool_wake_if_few(struct etwas_pool *pool, uint32_t slot);

/*
 * Takes a new buffer into use and populates its memory. The flusher calls it. Returns false at the
 * maximum.
 */
bool etwas_pool_grow(struct etwas_pool *pool);

/*
 * Sets lost bits of free buffers, and corrects the count unless a writer counts meanwhile. The
 * flusher calls it.
 */
void etwas_pool_repair_free_set(struct etwas_pool *pool);

/*
 * Returns the number of free buffers at which the flusher is woken: half of those in use, so that
 * it has time for the rest.
 */
static inline uint32_t etwas_pool_low_water(const struct etwas_pool *pool)
{
    return etwas_pool_allocated(pool) / 2;
}

#endif
