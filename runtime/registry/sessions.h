/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sessions of all processes of the user, this one included: finding, listing and reading them.
 */
#ifndef ETWAS_REGISTRY_SESSIONS_H
#define ETWAS_REGISTRY_SESSIONS_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/held_file.h"
#include "registry/registry.h"
#include "registry/session_entry.h"

/*
 * Reads the entry of a session whose host is alive; it may be CLOSING. The caller frees the entry
 * by one free(). ERROR_NOT_FOUND: there is none. ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED (of
 * another version), ERROR_NOT_ENOUGH_MEMORY; errors of etwas_registry_open.
 */
uint32_t etwas_registry_read(const etwas_guid *session, struct etwas_registry_entry **entry);

/* Does the same by name, without regard to case. */
uint32_t etwas_registry_find(const etwas_wchar *name, struct etwas_registry_entry **entry);

/*
 * Lists the GUIDs of all sessions. One that starts or ends meanwhile may be among them. The caller
 * frees *sessions, even if there are none. ERROR_NOT_ENOUGH_MEMORY; errors of etwas_registry_open.
 */
uint32_t etwas_registry_list(etwas_guid **sessions, uint32_t *count);

/*
 * Returns the folder of a living session's entry, for messages. ERROR_NOT_FOUND; errors of
 * etwas_registry_walk_to.
 */
uint32_t etwas_registry_folder_of(const etwas_guid *session, char path[ETWAS_FOLDER_BYTES]);

/*
 * Whether there are at most `most` shared sessions including this one, which has its entry and is
 * STARTING. If several start when there are too many, the one with the greatest GUID is refused
 * first; the others wait for the outcome, a second at most. True if the folder cannot be read.
 */
bool etwas_registry_has_room(const etwas_guid *session, uint32_t most);

/* The file that holds the name of a session. Names are compared without regard to case. */

/*
 * Acquires the name for the session. `name`: 1 to ETWAS_REGISTRY_NAME_UNITS units and a 0. Errors
 * of etwas_held_acquire.
 */
uint32_t etwas_session_name_acquire(struct etwas_held_file *held, const etwas_wchar *name,
                                    const etwas_guid *session);

/*
 * Finds the session that has the name and that `is_it` accepts: a session that is about to be
 * refused its name may hold it for a moment. ERROR_NOT_FOUND; errors of etwas_held_read.
 */
uint32_t etwas_session_name_find(const etwas_wchar *name,
                                 bool (*is_it)(const etwas_guid *session, void *context),
                                 void *context);

#endif
