/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Claiming buffers for shared slots, and giving buffers back (pool_claim.c). */
#ifndef ETWAS_BUFFER_POOL_CLAIM_H
#define ETWAS_BUFFER_POOL_CLAIM_H

#include "buffer/pool.h"

/*
 * A buffer of one's own for `slot`, a shared one: zeroed but for its first 72 bytes, commit word 0.
 * A free one; else a new one below the maximum; else, in buffering mode and not for a guest's slot, the oldest that is
 * closed and complete. False: there is none of these, and *buffer is ETWAS_NO_BUFFER.
 */
bool etwas_pool_claim(struct etwas_pool *pool, uint32_t slot, uint32_t *buffer);

/*
 * Says that `buffer`, claimed by the caller, is about to become current. After the slot word is
 * read. Returns the ticket.
 */
uint64_t etwas_pool_renew_ticket(struct etwas_pool *pool, uint32_t slot, uint32_t buffer);

/* Gives back a held buffer of which `used_units` were written (ETWAS_FIRST_UNIT: none). */
void etwas_pool_release(struct etwas_pool *pool, uint32_t buffer, uint32_t used_units);

/*
 * Flight recorder: a full buffer of the extra slot goes back to the processors if it is older than all of theirs, where
 * nothing else is unused. What it held counts as overwritten. For the owner of the role; in sessions without rows.
 */
void etwas_pool_return_oldest(struct etwas_pool *pool);

/*
 * Flight recorder with guests: keeps some buffers free for their slots, which take no others. What they held counts as
 * overwritten. For the owner of the role.
 */
void etwas_pool_reserve_for_guests(struct etwas_pool *pool);

/* After taking `buffer` out of its slot: adds the unused rest to its commit word. Exactly once. */
void etwas_pool_retire(struct etwas_pool *pool, uint32_t buffer, uint32_t end_units);

/*
 * Whether no writer of a shared slot, of the first so many slots, can still touch any buffer. For the owner of the role,
 * once every slot is shut.
 */
bool etwas_pool_is_idle(const struct etwas_pool *pool, uint32_t slots);

#endif
