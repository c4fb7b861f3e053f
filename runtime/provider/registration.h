/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Registrations: which provider registered under which control GUID, with which callback and
 * classes.
 *
 * Static tables, never freed: at most 1,024 registrations in a process, classic and modern ones,
 * and the classes of their instances. Writers read classes, gates and the entries of
 * event_provider.h without a lock; everything else is under the control lock. enabling.h has what
 * sessions request of providers, callback.h how providers are notified.
 */
#ifndef ETWAS_PROVIDER_REGISTRATION_H
#define ETWAS_PROVIDER_REGISTRATION_H

#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_REGISTRATIONS = 1024,
    ETWAS_CLASSES = 8192,
};

struct etwas_registration {
    etwas_provider provider; /* first, and public: the inline gate of a classic provider */
    bool used;
    bool is_modern;
    uint32_t generation;
    uint32_t control;                /* index of its control GUID */
    uint32_t group;                  /* of its group; ETWAS_NO_CONTROL_GUID: none */
    WMIDPREQUEST callback;           /* of a classic provider */
    PENABLECALLBACK enable_callback; /* of a modern one; NULL: none */
    void *context;
};

extern struct etwas_registration etwas_registrations[ETWAS_REGISTRATIONS];

/*
 * Every registration that exists or existed lies below this index. The caller holds the control
 * lock.
 */
uint32_t etwas_registrations_end(void);

/*
 * Returns whether the entry holds a registration under this control GUID, its own or its group's.
 * The caller holds the control lock.
 */
static inline bool etwas_registration_is_under(uint32_t index, uint32_t control)
{
    return etwas_registrations[index].used && (etwas_registrations[index].control == control ||
                                               etwas_registrations[index].group == control);
}

struct etwas_registration_request {
    bool is_modern;
    WMIDPREQUEST callback;
    PENABLECALLBACK enable_callback;
    void *context;
    const etwas_guid *control;
    TRACE_GUID_REGISTRATION *classes; /* RegHandle of each is filled */
    uint32_t class_count;
};

/*
 * Registers a provider (R190, R193). Returns ERROR_NO_SYSTEM_RESOURCES when a table is full, with
 * nothing registered; else the value of a classic provider's callback if it ran, or ERROR_SUCCESS.
 */
uint32_t etwas_provider_register(const struct etwas_registration_request *request,
                                 uint64_t *registration);

/*
 * Ends a registration; its callback does not run afterwards. ERROR_INVALID_PARAMETER: there is no
 * such registration of this kind.
 */
uint32_t etwas_provider_unregister(uint64_t registration, bool is_modern);

/*
 * Returns the index of a modern provider's registration; UINT32_MAX: there is none. The caller
 * holds the control lock.
 */
uint32_t etwas_modern_registration_index(uint64_t registration);

#endif
