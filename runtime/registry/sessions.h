/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The sessions of all processes of the user, this one's too: found, listed and read. */
#ifndef ETWAS_REGISTRY_SESSIONS_H
#define ETWAS_REGISTRY_SESSIONS_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/registry.h"
#include "registry/session_entry.h"

/*
 * The entry of a session whose host is living; it may be CLOSING. One free() gives it back. ERROR_NOT_FOUND: there is
 * none. ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED (of another version), ERROR_NOT_ENOUGH_MEMORY;
 * errors of etwas_registry_open.
 */
uint32_t etwas_registry_read(const etwas_guid *session, struct etwas_registry_entry **entry);

/* The same by name, without regard to case. */
uint32_t etwas_registry_find(const etwas_wchar *name, struct etwas_registry_entry **entry);

/*
 * The GUIDs of all sessions that were there all the while; one that comes or goes meanwhile may be among them.
 * *sessions is the caller's to free, also where there is none. ERROR_NOT_ENOUGH_MEMORY; errors of etwas_registry_open.
 */
uint32_t etwas_registry_list(etwas_guid **sessions, uint32_t *count);

/* In which folder a living session's entry is, for people. ERROR_NOT_FOUND; errors of etwas_registry_walk_to. */
uint32_t etwas_registry_folder_of(const etwas_guid *session, char path[ETWAS_FOLDER_BYTES]);

/*
 * Whether there are no more than `most` shared sessions with this one, which has its entry and is STARTING. Of several that start
 * when there are too many, the one with the greatest GUID is refused first; the others wait for what becomes of it, a
 * second at most. True where the folder cannot be read.
 */
bool etwas_registry_has_room(const etwas_guid *session, uint32_t most);

#endif
