/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/pool_free.h"

#include "buffer/free_set.h"
#include "buffer/quota.h"
#include "platform/nodes.h"
#include "platform/testpoint.h"

/*
 * Takes a bit of a buffer whose memory is near the processor that runs the caller, if buffers lie
 * on several nodes.
 */
static bool free_set_take_near(struct etwas_pool *pool, uint32_t allocated, uint32_t *buffer)
{
    struct etwas_free_set_stripes stripes = {.shift = ck_pr_load_32(&pool->stripe_shift),
                                             .step = ck_pr_load_32(&pool->nodes)};

    if (stripes.step <= 1) {
        return false;
    }
    stripes.first = etwas_node_of_processor(etwas_processor_current());
    return stripes.first < stripes.step &&
           etwas_free_set_take_from_stripes(pool->free_set, allocated, stripes, buffer);
}

bool etwas_pool_find_free(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    uint32_t allocated = etwas_pool_allocated(pool);

    /* No more bits than this can be wrong, unless another process has overwritten them. */
    for (uint32_t tries = 0; tries <= pool->region_buffers; tries++) {
        if (!free_set_take_near(pool, allocated, buffer) &&
            !etwas_free_set_take(pool->free_set, allocated, buffer)) {
            return false;
        }
        /* Loaded again: the buffer may have come into use since. Its bit comes after that. */
        if (*buffer >= etwas_pool_allocated(pool)) {
            continue; /* left by a writer that was suspended during the session before */
        }
        *owner = ck_pr_load_64(&pool->owners[*buffer]);
        if (etwas_owner_state(*owner) == ETWAS_OWNER_FREE) {
            ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_FOUND_FREE);
            return true;
        }
    }
    return false;
}

bool etwas_pool_scan_for_free(const struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    uint32_t allocated = etwas_pool_allocated(pool);

    if (etwas_pool_free_about(pool) <= 0) {
        return false;
    }
    for (uint32_t index = 0; index < allocated; index++) {
        *owner = ck_pr_load_64(&pool->owners[index]);
        if (etwas_owner_state(*owner) == ETWAS_OWNER_FREE) {
            *buffer = index;
            return true;
        }
    }
    return false;
}

void etwas_pool_wake_if_few(struct etwas_pool *pool, uint32_t slot)
{
    if (pool->buffering ? etwas_pool_is_guest_slot(pool, slot)
                        : etwas_pool_free_about(pool) <= (int32_t)etwas_pool_low_water(pool) ||
                              etwas_quota_is_half_used(pool, slot)) {
        etwas_pool_wake_flusher(pool);
    }
}

/* A bounded compare-exchange: `allocated` never passes the maximum that is compared with it. */
bool etwas_pool_add_new_buffer(struct etwas_pool *pool, uint32_t *buffer)
{
    uint64_t allocated = etwas_pool_allocated(pool);

    while (allocated < etwas_pool_maximum(pool)) {
        ck_pr_inc_32(&pool->words->free_count);
        if (ck_pr_cas_64_value(&pool->words->allocated, allocated, allocated + 1, &allocated)) {
            *buffer = (uint32_t)allocated;
            return true;
        }
        ck_pr_dec_32(&pool->words->free_count);
    }
    return false;
}

bool etwas_pool_grow(struct etwas_pool *pool)
{
    uint32_t buffer;

    if (!etwas_pool_add_new_buffer(pool, &buffer)) {
        return false;
    }
    /*
     * If there is no memory now, the writer's first touch allocates it; the address space is ours
     * already.
     */
    (void)etwas_memory_populate(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
    etwas_free_set_add(pool->free_set, buffer);
    return true;
}

void etwas_pool_repair_free_set(struct etwas_pool *pool)
{
    uint32_t before = ck_pr_load_32(&pool->words->free_count);
    uint32_t allocated = etwas_pool_allocated(pool);
    uint32_t free = 0;

    ck_pr_fence_acquire();
    for (uint32_t buffer = 0; buffer < allocated; buffer++) {
        if (etwas_owner_state(ck_pr_load_64(&pool->owners[buffer])) == ETWAS_OWNER_FREE) {
            free++;
            if (!etwas_free_set_has(pool->free_set, buffer)) {
                etwas_free_set_add(pool->free_set, buffer);
            }
        }
    }
    ETWAS_TESTPOINT(ETWAS_POINT_FREE_COUNTED);
    /*
     * A claim or a release meanwhile has counted itself, whether we saw it or not; the next pass
     * will see it. If the count were overwritten, the writers would wake the flusher late, or not
     * at all. A claim and a release together are not seen: then the count is off until the next
     * pass.
     */
    ck_pr_fence_memory();
    (void)ck_pr_cas_32(&pool->words->free_count, before, free);
    etwas_quota_recount(pool);
}
