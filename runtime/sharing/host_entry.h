/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a host shows of a session to other processes: its entry of the registry, with the enablements that it keeps for
 * it. One thread at a time.
 */
#ifndef ETWAS_SHARING_HOST_ENTRY_H
#define ETWAS_SHARING_HOST_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/host_session.h"
#include "registry/session_entry.h"

/* An enablement, and the bytes that its filters are in. */
struct etwas_host_enablement {
    struct etwas_registry_enablement enablement;
    void *bytes;
};

struct etwas_host_entry {
    struct etwas_registry_host registry;
    /* Its enablements are put together from `kept` when it is published; the rest, the template too, is its owner's. */
    struct etwas_registry_entry entry;
    struct etwas_host_enablement *stored;
    uint32_t stored_count;
};

/*
 * Others read what it is now; on failure what they did. ERROR_NOT_ENOUGH_MEMORY; errors of etwas_registry_host_publish.
 */
uint32_t etwas_host_entry_publish(struct etwas_host_entry *published);

/*
 * EnableTraceEx2 as it was asked, by its control code: counts the change, and publishes it. What cannot be published
 * changes nothing but the count. To disable, or to ask for the state of, what is not enabled is ERROR_SUCCESS, and
 * publishes nothing. Errors of etwas_host_entry_publish; ERROR_BUFFER_OVERFLOW: it would be too much for an entry.
 */
uint32_t etwas_host_entry_change(struct etwas_host_entry *published, uint32_t control_code,
                                 const struct etwas_registry_enablement *enablement);

/* Whether it enables the same provider, or group. */
bool etwas_host_entry_has(struct etwas_host_entry *published,
                          const struct etwas_registry_enablement *enablement);

/* It enables nothing any more; nobody is shown that. */
void etwas_host_entry_clear(struct etwas_host_entry *published);

#endif
