/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Becoming a guest of another process's session, by the descriptor of its mapping (layout.h), and leaving it again. The
 * head is read, never mapped, and nothing in it is believed unchecked: whoever wrote it is of the same user, and may
 * be broken.
 *
 * Both wait for nobody but a fork, and may take the time of mapping and populating the pool. One thread at a time;
 * no lock of ours is held; attachments have been prepared (etwas_slots_prepare).
 */
#ifndef ETWAS_SHARED_JOIN_H
#define ETWAS_SHARED_JOIN_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_shared_guest {
    uint32_t entry; /* of those behind the session table's */
    int descriptor; /* its own one of the mapping, which lives as long as this is open */
    uint32_t gate;  /* the generation in handles that this process logs with */
    uint32_t clock;
    uint32_t log_file_mode;
    etwas_guid session;
};

/*
 * Attaches the session to the entry, which is free, with that of its guests' slots that the host gave
 * (etwas_guest_slot_take): handles of this index and gate log into it from here on.
 * `descriptor` stays the caller's. guest->gate says which gate is expected, of guest->session; 0: any of any. On refusal nothing
 * has changed, but in *guest:
 *
 *     ERROR_INVALID_PARAMETER        there is no such slot
 *     ERROR_ACCESS_DENIED            it is another user's, or cannot be written to
 *     ERROR_INVALID_DATA             it is no mapping, or not what is expected, could be truncated under who maps it, or cannot be what it says
 *     ERROR_NOT_SUPPORTED            of another layout: other release, other processors; or it is not shared
 *     ERROR_WMI_INSTANCE_NOT_FOUND   its session does not run yet, or any more
 *     ERROR_NO_SYSTEM_RESOURCES      no more files can be open
 *     ERROR_NOT_ENOUGH_MEMORY
 */
uint32_t etwas_shared_join(int descriptor, uint32_t entry, uint32_t guest_slot,
                           struct etwas_shared_guest *guest);

/*
 * The entry is free again, and the descriptor closed. False, and nothing has changed: the session's gates are open, or
 * a thread of this process has not come out of it yet (etwas_pool_leave).
 */
bool etwas_shared_leave(const struct etwas_shared_guest *guest);

/* Whether its host has ended it: all is where it belongs. While it runs, or when the host died before, it has not. */
bool etwas_shared_has_ended(const struct etwas_shared_guest *guest);

/* Whether the process lives that hosts it: it holds the lock of the mapping (mapping.h). */
bool etwas_shared_host_lives(const struct etwas_shared_guest *guest);

/* Its host is dead: what it would do first. From here on the session does not run, for its other guests either. */
void etwas_shared_close_gates(const struct etwas_shared_guest *guest);

/* In a fork's child, which is nobody's guest. Async-signal-safe. */
void etwas_shared_guests_forget(void);

#endif
