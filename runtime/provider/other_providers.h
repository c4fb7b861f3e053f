/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The providers of other processes, and how the sessions of other processes enable providers, as
 * etwas_sharing.read_others has read them at one moment.
 */
#ifndef ETWAS_PROVIDER_OTHER_PROVIDERS_H
#define ETWAS_PROVIDER_OTHER_PROVIDERS_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "provider/control_guid.h"

struct etwas_other_provider {
    etwas_guid guid;
    etwas_guid group; /* to which it belongs, if has_group */
    uint64_t process_start;
    uint32_t process_id;
    uint32_t layout; /* of the pools to which its process can log */
    bool is_group;
    bool is_classic;
    bool has_group;
    char *name; /* NULL: it has none. etwas_other_processes_free frees it */
};

/* How one shared session enables a provider or group, or providers by name. */
struct etwas_other_enablement {
    TRACE_ENABLE_INFO info;
    etwas_guid guid;
    char name[ETWAS_FILTER_PROVIDER_NAME_BYTES]; /* a pattern; empty: none */
    uint64_t asked_ns;
    bool is_group;
    uint32_t layout; /* of the session's pool; 0: no other process logs to it */
    etwas_guid session;
};

/* A process that cannot log to a session that enables one of its providers. */
struct etwas_other_unattached {
    uint64_t process_start; /* in ticks, from its list; PID namespaces may have equal ids */
    uint32_t process_id;
    etwas_guid session;
};

struct etwas_other_processes {
    struct etwas_other_provider *providers;
    uint32_t provider_count;
    struct etwas_other_unattached *unattached;
    uint32_t unattached_count;
    struct etwas_other_enablement *enablements; /* by sessions that other processes host */
    uint32_t enablement_count;
};

void etwas_other_processes_free(struct etwas_other_processes *others);

/*
 * Adds a provider without a process for each enablement, registered or not, for lists of GUIDs.
 * ERROR_NOT_ENOUGH_MEMORY: nothing has been added.
 */
uint32_t etwas_other_processes_add_enabled(struct etwas_other_processes *others);

/*
 * Lists how shared sessions enable a provider, also by its name, or a group, this process's own
 * sessions included: one entry for each session that does. Returns their number; *enables is freed
 * by the caller, NULL without memory. Called without a lock of the library.
 */
uint32_t etwas_other_processes_enablements(const struct etwas_other_processes *others,
                                           const etwas_guid *guid, bool is_group,
                                           struct etwas_other_enablement **enables);

/* Whether the provider's process logs to the session of the enablement. */
bool etwas_other_process_logs(const struct etwas_other_processes *others,
                              const struct etwas_other_provider *provider,
                              const struct etwas_other_enablement *enablement);

/*
 * Keeps only the providers (or groups) that this process does not know, each once. It knows those
 * that are registered and, if `registered_only` is false, those that are enabled. Called with the
 * control lock held.
 */
void etwas_other_processes_remove_known(struct etwas_other_processes *others, bool groups,
                                        bool registered_only);

/*
 * How a session of this process, or one that it is a guest of, enables a provider. Called with the
 * control lock held.
 */
TRACE_ENABLE_INFO etwas_enable_info(const struct etwas_enablement *enablement);

#endif
