/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Providers of the other processes that have joined the registry, and what shared sessions enable,
 * at one moment; and publishing this process's own providers.
 */
#ifndef ETWAS_SHARING_OTHER_PROCESSES_H
#define ETWAS_SHARING_OTHER_PROCESSES_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "provider/control_guid.h"
#include "registry/session_entry.h"

struct etwas_other_provider {
    etwas_guid guid;
    etwas_guid group; /* that it belongs to, if has_group */
    uint64_t process_start;
    uint32_t process_id;
    uint32_t layout; /* of the pools that its process can log to */
    bool is_group;
    bool is_classic;
    bool has_group;
};

struct etwas_other_enablement {
    TRACE_ENABLE_INFO info;
    uint32_t layout; /* of the session's pool */
    etwas_guid session;
};

/* A process that cannot log to a session which enables a provider of it. */
struct etwas_other_unattached {
    uint64_t
        process_start; /* in ticks, as its list has it: ids of other PID namespaces may be equal */
    uint32_t process_id;
    etwas_guid session;
};

struct etwas_other_processes {
    struct etwas_other_provider *providers;
    uint32_t provider_count;
    struct etwas_other_unattached *unattached;
    uint32_t unattached_count;
    struct etwas_registry_entry **entries; /* of the sessions that other processes host */
    uint32_t entry_count;
};

/*
 * Reads all of them; the lists are empty where this process has not joined. Returns why there may
 * be more: ERROR_NOT_ENOUGH_MEMORY, or the error of an entry that cannot be read; ERROR_SUCCESS:
 * these are all. Called without a lock of the library.
 */
uint32_t etwas_other_processes_read(struct etwas_other_processes *others);
void etwas_other_processes_free(struct etwas_other_processes *others);

/*
 * Adds a provider without a process for each enablement of the sessions, registered or not, for
 * lists of GUIDs. ERROR_NOT_ENOUGH_MEMORY: nothing has been added.
 */
uint32_t etwas_other_processes_add_enabled(struct etwas_other_processes *others);

/*
 * Lists how shared sessions enable a provider or group, this process's own sessions included: one
 * entry for each session that does. Returns their number; *enables is freed by the caller, NULL
 * without memory. Called without a lock of the library.
 */
uint32_t etwas_other_processes_enablements(const struct etwas_other_processes *others,
                                           const etwas_guid *guid, bool is_group,
                                           struct etwas_other_enablement **enables);

/* Whether the provider's process logs to the session of the enablement. */
bool etwas_other_process_logs(const struct etwas_other_processes *others,
                              const struct etwas_other_provider *provider,
                              const struct etwas_other_enablement *enablement);

/*
 * Whether the other shared sessions of all processes leave a place for this session to enable the
 * provider or group, which it does not enable yet. A registered classic provider always has a
 * place: one session takes it from another. Called without a lock of the library.
 */
bool etwas_other_sessions_leave_room(const etwas_guid *session, const etwas_guid *guid,
                                     bool is_group);

/*
 * Removes all but the providers (or groups), each once, that this process does not know: has not
 * registered, or, with `registered_only` false, does not enable either. Called with the control
 * lock held.
 */
void etwas_other_processes_remove_known(struct etwas_other_processes *others, bool groups,
                                        bool registered_only);

/*
 * How a session of this process, or one that it is a guest of, enables a provider. Called with the
 * control lock held.
 */
TRACE_ENABLE_INFO etwas_enable_info(const struct etwas_enablement *enablement);

/* Publishes this process's providers, after they have changed, if it has joined. */
void etwas_own_providers_publish(void);

/* Sessions that enable providers of this process, and that it cannot log to. */
struct etwas_own_unattached {
    uint32_t count;
    etwas_guid sessions[ETWAS_GUEST_SESSIONS]; /* more are left out */
};

/* Adds a session, unless it is there already. */
void etwas_own_unattached_add(struct etwas_own_unattached *unattached, const etwas_guid *session);

/* Publishes them with this process's providers, if they have changed. Called without a lock. */
void etwas_own_unattached_publish(const struct etwas_own_unattached *unattached);

/* In a fork's child: no thread is publishing. */
void etwas_own_providers_forget(void);

#endif
