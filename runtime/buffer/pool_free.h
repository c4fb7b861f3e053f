/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Which buffers are free, and how more come into use (pool_free.c): for both protocols. */
#ifndef ETWAS_BUFFER_POOL_FREE_H
#define ETWAS_BUFFER_POOL_FREE_H

#include "buffer/pool.h"

/*
 * A buffer that is free, and its owner word. Its bit is taken: who does not claim it puts it back.
 */
bool etwas_pool_find_free(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/*
 * How many buffers are free, about. Too few, even below 0, when the flusher corrected the count
 * between a claim and its counting: until its next pass.
 */
static inline int32_t etwas_pool_free_about(const struct etwas_pool *pool)
{
    return (int32_t)ck_pr_load_32(&pool->words->free_count);
}

/*
 * A FREE buffer whatever its bit says, and its owner word. Its bit may be missing because who took
 * it sleeps, or who brought the buffer into use has not come to hold or offer it. For who would
 * lose an event otherwise: one pass over the owner words, if the count says that there is one.
 */
bool etwas_pool_scan_for_free(const struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/* One more buffer from the region, counted as free. False: the maximum is reached. */
bool etwas_pool_add_new_buffer(struct etwas_pool *pool, uint32_t *buffer);

/* After a claim of a free buffer. */
static inline void etwas_pool_count_free_claimed(struct etwas_pool *pool)
{
    ck_pr_dec_32(&pool->words->free_count);
}

/*
 * After a buffer has become current in the slot, and the one before it can be collected: wakes the
 * flusher when few are free, or left of its row's quota; a flight recorder's for a guest's slot. Not before: its pass could come too early for that one, and the next wake too late.
 */
void etwas_pool_wake_if_few(struct etwas_pool *pool, uint32_t slot);

/*
 * Takes a new buffer into use and has its memory provided. For the flusher; false at the maximum.
 */
bool etwas_pool_grow(struct etwas_pool *pool);

/* Finds free buffers whose bits were lost, and counts anew unless somebody counts meanwhile. */
void etwas_pool_repair_free_set(struct etwas_pool *pool);

/*
 * Free buffers at which the flusher is woken: half of what is in use, so that it has time for the
 * rest.
 */
static inline uint32_t etwas_pool_low_water(const struct etwas_pool *pool)
{
    return etwas_pool_allocated(pool) / 2;
}

#endif
