/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Joining another process's session by the descriptor of its mapping (layout.h), and leaving it
 * again. The head is read, never mapped, and everything in it is checked: it was written by a
 * process of the same user, which may be broken.
 *
 * Both functions wait for nothing except a fork, and may take the time of mapping and populating
 * the pool. One thread at a time calls them, without a lock of the library, after attachments have
 * been prepared (etwas_slots_prepare).
 */
#ifndef ETWAS_SHARED_JOIN_H
#define ETWAS_SHARED_JOIN_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_shared_guest {
    uint32_t entry; /* index after those of the session table */
    int descriptor; /* this guest's own descriptor of the mapping, open as long as it is a guest */
    uint32_t gate;  /* the generation in handles that this process logs with */
    uint32_t clock;
    uint32_t log_file_mode;
    etwas_guid session;
};

/*
 * Attaches the session to the free entry, with the slot that the host has given to this guest
 * (etwas_guest_slot_claim). Handles of this index and gate log into it from here on. `descriptor`
 * stays the caller's. guest->gate is the expected gate of guest->session; 0: any gate of any
 * session. On refusal nothing has changed except *guest:
 *
 *     ERROR_INVALID_PARAMETER        there is no such slot
 *     ERROR_ACCESS_DENIED            it is another user's, or cannot be written to
 *     ERROR_INVALID_DATA             it is no mapping, or another session's; it could be truncated
 *                                    while it is mapped, or is not consistent
 *     ERROR_NOT_SUPPORTED            another layout: other release, other processors; or it is not
 *                                    shared
 *     ERROR_WMI_INSTANCE_NOT_FOUND   its session does not run yet, or any more
 *     ERROR_NO_SYSTEM_RESOURCES      no more files can be open
 *     ERROR_NOT_ENOUGH_MEMORY
 */
uint32_t etwas_shared_join(int descriptor, uint32_t entry, uint32_t guest_slot,
                           struct etwas_shared_guest *guest);

/*
 * Frees the entry and closes the descriptor. Returns false, and changes nothing, if the session's
 * gates are open, or a thread of this process has not left its pool yet (etwas_pool_leave).
 */
bool etwas_shared_leave(const struct etwas_shared_guest *guest);

/*
 * Whether the host has ended the session, so that all its data are stored. False while it runs, and
 * if the host died before the end.
 */
bool etwas_shared_has_ended(const struct etwas_shared_guest *guest);

/* Whether the host lives: it holds the lock of the mapping (mapping.h). */
bool etwas_shared_host_lives(const struct etwas_shared_guest *guest);

/*
 * Closes the gates of a session whose host has died, as the host would do first. The session has
 * then ended for all guests.
 */
void etwas_shared_close_gates(const struct etwas_shared_guest *guest);

/* Called in a fork's child, which is no guest. Async-signal-safe. */
void etwas_shared_guests_forget(void);

#endif
