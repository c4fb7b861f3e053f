/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a flight recorder overwrites next: a hand that goes round over the buffers.
 *
 * Buffers come into use in the order of their indexes, and what the hand comes to is claimed. So
 * from the hand on round they lie in the order of their tickets, the oldest first, but for those
 * that could not be claimed when it passed: current ones, one a slot; claimed ones that are about
 * to be; pinned ones. They have their turn when it comes round again. A buffer that has been current
 * for long, on a processor with little to log, is thus not overwritten as soon as it is full.
 *
 * The owner word says what is true; the hand only says where to begin. It moves to what was found
 * before that is claimed, and by an exchange of what was read: who sleeps between the two, whoever
 * is faster, or is killed there, leaves it where another has moved it to, or where the search
 * before his began.
 *
 *     63            32 31         0
 *     |    moves     |   buffer   |    so that a hand that has come round is another
 */
#include "buffer/oldest.h"
#include "buffer/pool.h"

typedef bool is_wanted(const struct etwas_pool *pool, uint32_t buffer, uint64_t owner);

static inline __attribute__((always_inline)) bool find_from(struct etwas_pool *pool, uint64_t *hand,
                                                            is_wanted *wanted, uint32_t *buffer,
                                                            uint64_t *owner)
{
    uint32_t allocated = (uint32_t)ck_pr_load_64(&pool->allocated);
    uint64_t before = ck_pr_load_64(hand);
    uint32_t index = (uint32_t)before;

    for (uint32_t passed = 0; passed < allocated; passed++) {
        /* Also when a writer of the session before moved the hand of this one, far beyond. */
        index = index < allocated ? index : 0;
        *owner = ck_pr_load_64(&pool->owners[index]);
        if (wanted(pool, index, *owner)) {
            *buffer = index;
            (void)ck_pr_cas_64(hand, before, ((before >> 32) + 1) << 32 | index);
            return true;
        }
        index++;
    }
    return false;
}

static inline bool is_closed(const struct etwas_pool *pool, uint32_t buffer, uint64_t owner)
{
    (void)pool;
    (void)buffer;
    return etwas_owner_state(owner) == ETWAS_OWNER_CLOSED;
}

/* A current buffer is never complete, nor is one whose writer stopped in the middle of a record. */
static inline bool is_complete(const struct etwas_pool *pool, uint32_t buffer, uint64_t owner)
{
    return etwas_owner_state(owner) == ETWAS_OWNER_HELD &&
           etwas_pool_is_of_shared_slot(pool, owner) &&
           etwas_pool_is_complete(pool, ck_pr_load_64(&pool->buffers[buffer].commit));
}

bool etwas_pool_find_closed(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    return find_from(pool, &pool->closed_hand, is_closed, buffer, owner);
}

bool etwas_pool_find_complete(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    return find_from(pool, &pool->complete_hand, is_complete, buffer, owner);
}
