/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Owner words: which slot has a buffer, and by which claim.
 *
 *     63        16 15      2 1     0
 *     |  ticket   |  slot   | state |
 *
 *     state    FREE      no slot has it
 *              HELD      a slot has it: current, about to be, or (shared slots, and files) full
 *              CLOSED    buffering mode, rseq slots: full; the oldest of these is claimed next
 *              PINNED    a snapshot reads it, a window keeps it, or a claim clears it: no other
 *                        thread touches it
 *     slot     the slot of the session that has it, or had it last
 *     ticket   the number of the claim that made it HELD. Claims are numbered through a session, so
 *              no owner word comes back while the session runs: a compare-exchange of a word that
 *              was read succeeds only if nothing changed since. 2^48 claims, one a microsecond, are
 *              nine years
 *
 * The word is repeated in the first 8 bytes of the buffer before the buffer becomes current, as
 * HELD. A reader whose copy of the pool took some time sees there which claim the bytes belong to.
 * Once the buffer is full, its header in the log file replaces the word; the header's first number
 * is a multiple of 4.
 *
 * Within one slot the order of tickets is the order in which its buffers were current, and so the
 * order of time.
 */
#ifndef ETWAS_BUFFER_OWNER_H
#define ETWAS_BUFFER_OWNER_H

#include <stdbool.h>
#include <stdint.h>

enum etwas_owner_state {
    ETWAS_OWNER_FREE,
    ETWAS_OWNER_HELD,
    ETWAS_OWNER_CLOSED,
    ETWAS_OWNER_PINNED
};

enum {
    ETWAS_OWNER_SLOT_SHIFT = 2,
    ETWAS_OWNER_TICKET_SHIFT = 16,
    ETWAS_OWNER_SLOTS = 1 << (ETWAS_OWNER_TICKET_SHIFT - ETWAS_OWNER_SLOT_SHIFT),
};

/* (3, 2, HELD) → 0x30009 */
static inline uint64_t etwas_owner(uint64_t ticket, uint32_t slot, enum etwas_owner_state state)
{
    return ticket << ETWAS_OWNER_TICKET_SHIFT | (uint64_t)slot << ETWAS_OWNER_SLOT_SHIFT |
           (uint64_t)state;
}

static inline enum etwas_owner_state etwas_owner_state(uint64_t owner)
{
    return (enum etwas_owner_state)(owner & 3);
}

static inline uint32_t etwas_owner_slot(uint64_t owner)
{
    return (uint32_t)(owner >> ETWAS_OWNER_SLOT_SHIFT) & (ETWAS_OWNER_SLOTS - 1);
}

static inline uint64_t etwas_owner_ticket(uint64_t owner)
{
    return owner >> ETWAS_OWNER_TICKET_SHIFT;
}

/* Returns the same claim in another state. */
static inline uint64_t etwas_owner_as(uint64_t owner, enum etwas_owner_state state)
{
    return (owner & ~UINT64_C(3)) | (uint64_t)state;
}

static inline bool etwas_owner_is_held_by(uint64_t owner, uint32_t slot)
{
    return etwas_owner_state(owner) == ETWAS_OWNER_HELD && etwas_owner_slot(owner) == slot;
}

#endif
