/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Handles: an index into a static table and the generation of the entry. They are no pointers, so
 * that the use of a stale one is an error and not a crash.
 *
 *     session   63..56   55..40             39..8        7..0
 *               0        registration + 1   generation   index + 1
 *
 * The index is an entry of the session table or, beyond it, of the table of other processes'
 * sessions of which this process is a guest. The generation of a guest's handle is the gate of that
 * session.
 *
 * A provider's control callback gets a handle with its own registration in it, so that
 * GetTraceEnableLevel and GetTraceEnableFlags know which provider is meant. Logging and control
 * ignore it.
 */
#ifndef ETWAS_SESSION_HANDLE_H
#define ETWAS_SESSION_HANDLE_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "platform/processor.h"

enum {
    ETWAS_HANDLE_INDEX_BITS = 8,
    ETWAS_HANDLE_REGISTRATION_SHIFT = 40,
};

struct etwas_session_key {
    uint32_t index;
    uint32_t generation;
};

/* (0, 7) → 0x701 */
static inline uint64_t etwas_session_handle(struct etwas_session_key key)
{
    return (uint64_t)key.generation << ETWAS_HANDLE_INDEX_BITS | (key.index + 1);
}

static inline uint64_t etwas_session_handle_for(uint64_t session, uint32_t registration)
{
    return session | (uint64_t)(registration + 1) << ETWAS_HANDLE_REGISTRATION_SHIFT;
}

/* The registration in a handle; UINT32_MAX: none. */
static inline uint32_t etwas_handle_registration(uint64_t handle)
{
    return (uint32_t)(handle >> ETWAS_HANDLE_REGISTRATION_SHIFT & 0xFFFF) - 1;
}

/* The generation in a handle; 0 for a value that never was a session's handle. */
static inline uint32_t etwas_handle_generation(uint64_t handle)
{
    return handle >> (ETWAS_HANDLE_REGISTRATION_SHIFT + 16) == 0
               ? (uint32_t)(handle >> ETWAS_HANDLE_INDEX_BITS)
               : 0;
}

/*
 * Stores the processor that runs the caller, which is the index of its slots in each attachment.
 * Returns false as etwas_slot_here does.
 */
static inline bool etwas_slot_index_here(const struct etwas_attachment *attachment, uint32_t *index)
{
    *index = etwas_processor_of_rseq();
    /* Without rseq the number is UINT32_MAX; before the first session the count is 0. */
    if (__builtin_expect(*index >= ck_pr_load_32(&attachment->slot_count), 0)) {
        return false;
    }
    ck_pr_fence_load(); /* pairs with the release in etwas_slots_prepare */
    return true;
}

/* A handle's lowest byte: one more than the entry of the session table. */
static inline uint32_t etwas_handle_index(uint64_t handle)
{
    return (uint32_t)handle & ((1u << ETWAS_HANDLE_INDEX_BITS) - 1);
}

/* Returns the attachment of the session that a handle names; any value has one. */
static inline const struct etwas_attachment *etwas_handle_attachment(uint64_t handle)
{
    return &etwas_attachments.of[etwas_handle_index(handle)];
}

/*
 * Finds the slot of a handle's session on the processor that runs the caller. Returns false if
 * there is none, or the caller is not registered for rseq. A value that never was a session's
 * handle has a slot, too, whose gate is no generation.
 */
static inline bool etwas_slot_here(uint64_t handle, struct etwas_slot **slot)
{
    const struct etwas_attachment *attachment = etwas_handle_attachment(handle);
    uint32_t index;

    if (__builtin_expect(!etwas_slot_index_here(attachment, &index), 0)) {
        return false;
    }
    *slot = (struct etwas_slot *)ck_pr_load_ptr(&attachment->slots) + index;
    return true;
}

/*
 * Returns the extra slot of a handle's session, or this guest's own slot, once there are slots.
 * Otherwise as etwas_slot_here.
 */
static inline struct etwas_slot *etwas_slot_extra(uint64_t handle)
{
    const struct etwas_attachment *attachment = etwas_handle_attachment(handle);

    return (struct etwas_slot *)ck_pr_load_ptr(&attachment->slots) +
           ck_pr_load_32(&attachment->extra);
}

/*
 * Finds the key of a handle for writers: a session of this process, or one of which it is a guest.
 * Returns false for a value that never was a session's handle.
 */
static inline bool etwas_writer_key_of(uint64_t handle, struct etwas_session_key *key)
{
    key->index = etwas_handle_index(handle) - 1;
    key->generation = (uint32_t)(handle >> ETWAS_HANDLE_INDEX_BITS);
    return key->index < ETWAS_ATTACHED_ENTRIES && key->generation != 0 &&
           handle >> (ETWAS_HANDLE_REGISTRATION_SHIFT + 16) == 0;
}

/* Finds the key of a handle for calls that need the session itself, which this process hosts. */
static inline bool etwas_session_key_of(uint64_t handle, struct etwas_session_key *key)
{
    return etwas_writer_key_of(handle, key) && key->index < ETWAS_SESSION_ENTRIES;
}

#endif
