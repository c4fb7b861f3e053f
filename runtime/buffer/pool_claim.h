/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Claiming buffers for shared slots, and releasing them (pool_claim.c). */
#ifndef ETWAS_BUFFER_POOL_CLAIM_H
#define ETWAS_BUFFER_POOL_CLAIM_H

#include "buffer/pool.h"
#include "buffer/pool_free.h"

/*
 * Claims a buffer for the shared slot `slot`: zeroed except for its first 72 bytes, commit word 0.
 * Takes a free buffer; otherwise a new one below the maximum; otherwise, in buffering mode and not
 * for a guest's slot, the oldest that is closed and complete. Returns false, and ETWAS_NO_BUFFER in
 * *buffer, if there is none of these. The caller installs the buffer or releases it.
 */
bool etwas_pool_claim(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer);

/*
 * Gives `buffer`, which the caller has claimed, a new ticket before it becomes current. Call it
 * after the slot word was read. Returns the ticket.
 */
uint64_t etwas_pool_renew_ticket(struct etwas_pool *pool, uint32_t slot, uint32_t buffer);

/* Releases a held buffer of which `used_units` were written (ETWAS_FIRST_UNIT: none). */
void etwas_pool_release(struct etwas_pool *pool, uint32_t buffer, uint32_t used_units);

/*
 * Flight recorder: releases a full buffer of the extra slot if it is older than all of the
 * processors' and nothing else is unused. Its records count as overwritten. Role held; only in
 * sessions without class rows.
 */
void etwas_pool_return_oldest(struct etwas_pool *pool);

/*
 * Flight recorder with guests: keeps some buffers free for guests' slots, which take no others. The
 * records of these buffers count as overwritten. Role held.
 */
void etwas_pool_reserve_for_guests(struct etwas_pool *pool);

/*
 * Adds the unused rest of `buffer` to its commit word, and closes it. Call it exactly once, after
 * the buffer was taken out of its slot.
 */
void etwas_pool_retire(struct etwas_pool *pool, uint32_t buffer, uint32_t end_units);

/*
 * Whether no writer can still touch a buffer of a shared slot among the first `slots` slots. Role
 * held, once every slot is shut.
 */
bool etwas_pool_is_idle(const struct etwas_pool *pool, uint32_t slots);

/*
 * Which buffer a flight recorder overwrites: always the one that was closed first (oldest.c).
 *
 * The age of a buffer is the ticket of the claim that replaced it in its slot. The smaller it is,
 * the longer ago the buffer was closed, in whichever slot.
 */

/*
 * Whether a flight recorder has used all its buffers: none seems free except those reserved for
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
 * Do the same in one class row of a session with retention classes (quota.h). Row 0 is the one that
 * the two functions above search.
 */
bool etwas_pool_find_closed_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                   uint64_t *owner);
bool etwas_pool_find_complete_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                     uint64_t *owner);

/*
 * Makes a buffer a candidate of the searches: after it was closed and its age stored, or after it
 * was unpinned. The caller knows from the owner word which slot the buffer belonged to, and whether
 * that slot is shared.
 */
void etwas_pool_add_candidate(struct etwas_pool *pool, uint32_t buffer, uint32_t slot,
                              bool is_of_shared_slot);

#endif
