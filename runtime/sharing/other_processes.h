/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The providers of other processes that take part, and what shared sessions ask of them: one moment's, as the registry
 * says it; and what this process says of its own.
 */
#ifndef ETWAS_SHARING_OTHER_PROCESSES_H
#define ETWAS_SHARING_OTHER_PROCESSES_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/control_guid.h"
#include "registry/session_entry.h"

struct etwas_other_provider {
    etwas_guid guid;
    etwas_guid group; /* that it belongs to, if it has one */
    uint32_t process_id;
    uint32_t layout; /* of the pools that its process can log to */
    bool is_group;
    bool is_classic;
    bool has_group;
};

struct etwas_other_enablement {
    TRACE_ENABLE_INFO info;
    uint32_t layout; /* of the session's pool */
};

struct etwas_other_processes {
    struct etwas_other_provider *providers;
    uint32_t provider_count;
    struct etwas_registry_entry **entries; /* of the sessions that other processes host */
    uint32_t entry_count;
};

/*
 * Looks at all of them; they are empty where this process does not take part. Returns why there may be others:
 * ERROR_NOT_ENOUGH_MEMORY, or what one says cannot be read; ERROR_SUCCESS: these are all. Without a lock of ours.
 */
uint32_t etwas_other_processes_read(struct etwas_other_processes *others);
void etwas_other_processes_free(struct etwas_other_processes *others);

/*
 * Adds what the sessions enable, whether or not a process has registered it: as providers of no process, for lists of
 * GUIDs. ERROR_NOT_ENOUGH_MEMORY: they are as they were.
 */
uint32_t etwas_other_processes_add_enabled(struct etwas_other_processes *others);

/*
 * How shared sessions enable a provider, or a group, the others' and this process's own: one a session that does. Returns how
 * many; *enables is the caller's to free, NULL where there is no memory. Without a lock of ours.
 */
uint32_t etwas_other_processes_enablements(const struct etwas_other_processes *others,
                                           const etwas_guid *guid, bool is_group,
                                           struct etwas_other_enablement **enables);

/*
 * Whether the session may enable the provider, or group, which it does not yet: other shared sessions, of whichever processes, leave
 * a place. Only registered classic providers have no end of places: one session takes them from another. Without a
 * lock of ours.
 */
bool etwas_other_sessions_leave_room(const etwas_guid *session, const etwas_guid *guid,
                                     bool is_group);

/*
 * Keeps of the providers, or groups, each once, and none that this process knows: has registered, or `registered_only`
 * false, enables. With the control lock held.
 */
void etwas_other_processes_remove_known(struct etwas_other_processes *others, bool groups,
                                        bool registered_only);

/* What this process's session or a session that it is a guest of asks. With the control lock held. */
TRACE_ENABLE_INFO etwas_enable_info(const struct etwas_enablement *enablement);

/* This process's providers are others now: those that look are shown them. */
void etwas_own_providers_publish(void);

/* In a fork's child: nobody is publishing. */
void etwas_own_providers_forget(void);

#endif
