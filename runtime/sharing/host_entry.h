/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a host publishes of a session: its entry of the registry, with the enablements that it
 * stores for it. The caller sees to it that one thread at a time uses an entry.
 */
#ifndef ETWAS_SHARING_HOST_ENTRY_H
#define ETWAS_SHARING_HOST_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/host_session.h"
#include "registry/session_entry.h"

/* An enablement, and the memory that its filters are in. */
struct etwas_host_enablement {
    struct etwas_registry_enablement enablement;
    void *bytes;
};

struct etwas_host_entry {
    struct etwas_registry_host registry;
    /*
     * The list of enablements is made of `stored` when the entry is published. The owner sets the
     * rest, and owns the template.
     */
    struct etwas_registry_entry entry;
    struct etwas_host_enablement *stored;
    uint32_t stored_count;
};

/*
 * Publishes the entry. On failure other processes read what they did. ERROR_NOT_ENOUGH_MEMORY;
 * errors of etwas_registry_host_publish.
 */
uint32_t etwas_host_entry_publish(struct etwas_host_entry *published);

/*
 * Records an EnableTraceEx2 by its control code: counts the change, and publishes it. If that fails
 * only the count has changed. To disable what is not enabled, or to ask for its state, publishes
 * nothing: ERROR_SUCCESS. Errors of etwas_host_entry_publish; ERROR_BUFFER_OVERFLOW: the entry
 * would be too large.
 */
uint32_t etwas_host_entry_change(struct etwas_host_entry *published, uint32_t control_code,
                                 const struct etwas_registry_enablement *enablement);

/* Whether the entry enables the provider, or group. */
bool etwas_host_entry_has(struct etwas_host_entry *published, const etwas_guid *provider,
                          bool is_group);

/* Removes all enablements, without publishing that. */
void etwas_host_entry_clear(struct etwas_host_entry *published);

#endif
