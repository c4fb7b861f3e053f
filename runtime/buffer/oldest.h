/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a flight recorder overwrites (oldest.c).
 *
 * Each search finds the oldest buffer of its kind, and its owner word. Constant work but for the
 * buffers it passes that are not of its kind.
 */
#ifndef ETWAS_BUFFER_OLDEST_H
#define ETWAS_BUFFER_OLDEST_H

#include "buffer/pool_free.h"

/*
 * A flight recorder in which nothing seems to be free, nor to come into use: it overwrites without
 * looking for either.
 */
static inline bool etwas_pool_has_wrapped(const struct etwas_pool *pool)
{
    return pool->buffering && etwas_pool_free_about(pool) <= 0 &&
           ck_pr_load_64(&pool->allocated) >= ck_pr_load_32(&pool->maximum_buffers);
}

/* A CLOSED one. */
bool etwas_pool_find_closed(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

/* One of a shared slot that is closed and complete. */
bool etwas_pool_find_complete(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner);

#endif
