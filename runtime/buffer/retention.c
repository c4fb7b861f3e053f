/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * A link is true while its buffer's claim stands, which is checked again after the link was read.
 * So each step back either leads to an older claim of the slot, or is the last. If the buffer
 * before has been overwritten, the link has the stamp of its newest record: the held records begin
 * after that.
 */
#include "buffer/retention.h"

#include <ck_pr.h>

#include "buffer/current.h"

/* Returns false if the buffer has been claimed anew since chain->owner was read. */
static bool chain_read_link(const struct etwas_pool *pool, struct etwas_chain *chain)
{
    const struct etwas_buffer_link *source = &pool->buffers[chain->buffer].link;

    chain->previous = ck_pr_load_32(&source->previous);
    chain->previous_newest = (int64_t)ck_pr_load_64((const uint64_t *)&source->previous_newest);
    chain->previous_owner = ck_pr_load_64(&source->previous_owner);
    ck_pr_fence_acquire();
    return etwas_owner_ticket(ck_pr_load_64(&pool->owners[chain->buffer])) ==
           etwas_owner_ticket(chain->owner);
}

bool etwas_chain_begin(const struct etwas_pool *pool, uint32_t slot, struct etwas_chain *chain)
{
    uint32_t tries = ETWAS_CURRENT_TRIES;

    do {
        struct etwas_current current = etwas_current_read(etwas_pool_slot(pool, slot), pool);

        *chain = (struct etwas_chain){.slot = slot,
                                      .buffer = current.buffer,
                                      .owner = current.owner,
                                      .newest = INT64_MAX,
                                      .left = etwas_pool_allocated(pool)};
        if (current.buffer == ETWAS_NO_BUFFER || tries-- == 0) {
            return false;
        }
    } while (!chain_read_link(pool, chain));
    return true;
}

/*
 * Whether a buffer is still under the claim that its successor's link means. A later claim of the
 * slot has a greater ticket than the successor, which was claimed before.
 */
static bool chain_is_held(const struct etwas_pool *pool, const struct etwas_chain *successor,
                          uint64_t owner)
{
    uint64_t ticket = etwas_owner_ticket(owner);

    if (etwas_owner_state(owner) == ETWAS_OWNER_FREE ||
        etwas_owner_slot(owner) != successor->slot) {
        return false;
    }
    return etwas_pool_is_rseq_slot(pool, successor->slot)
               ? ticket == etwas_owner_ticket(successor->previous_owner)
               : ticket < etwas_owner_ticket(successor->owner);
}

bool etwas_chain_back(const struct etwas_pool *pool, struct etwas_chain *chain)
{
    struct etwas_chain before = {.slot = chain->slot,
                                 .buffer = chain->previous,
                                 .newest = chain->previous_newest,
                                 .left = chain->left - 1};

    if (chain->left == 0 || !etwas_pool_has_buffer(pool, before.buffer)) {
        return false;
    }
    before.owner = ck_pr_load_64(&pool->owners[before.buffer]);
    ck_pr_fence_acquire();
    if (!chain_is_held(pool, chain, before.owner) || !chain_read_link(pool, &before)) {
        return false;
    }
    *chain = before;
    return true;
}

bool etwas_retention_of(const struct etwas_pool *pool, uint32_t slot, int64_t *since)
{
    struct etwas_chain chain;

    if (!etwas_chain_begin(pool, slot, &chain)) {
        return false;
    }
    while (etwas_chain_back(pool, &chain)) {
    }
    *since = chain.previous_newest;
    return chain.previous != ETWAS_NO_BUFFER;
}
