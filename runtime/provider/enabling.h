/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Enabling: what sessions request of providers (R141, R190–R192, R195).
 *
 * A classic provider has one session at a time, the last that enabled it; a modern one up to 8, and
 * its callback receives the combined enablement. A change is made under the control lock, gates
 * included, before any callback is called: the change has been made whether or not the callbacks
 * have returned.
 */
#ifndef ETWAS_PROVIDER_ENABLING_H
#define ETWAS_PROVIDER_ENABLING_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/identity.h"
#include "provider/control_guid.h"

/*
 * Removes all enablements in a fork's child; registrations stay. The caller holds the control lock.
 */
void etwas_providers_forget_enablements(void);

struct etwas_enable_request {
    const etwas_guid *control;
    bool is_group;         /* the GUID is a group's: the request is for every provider in it */
    uint32_t control_code; /* EVENT_CONTROL_CODE_... */
    bool excluded;         /* a filter excludes this process */
    uint32_t timeout_ms;
    /* When the controller made the request: CLOCK_MONOTONIC; 0: not known, treated as now. */
    uint64_t asked_ns;
    etwas_guid source;              /* the controller's id, for the callbacks of modern providers */
    struct etwas_identity identity; /* read if the enablement requests items (event_items.h) */
    /* whether another process's session is independent (R77); not read for one of this process */
    bool is_independent;
    const struct etwas_event_filter *filter; /* the enablement gets a copy; NULL: none */
    /* what is requested; its session is set for every control code */
    struct etwas_enablement enablement;
};

/*
 * Reads what the properties of the request need: the identity for items, the images for stacks, the
 * threads' counters. Reads files and takes the loader's lock, so the caller holds no lock of the
 * library but the guests' (sharing/guest.h).
 */
void etwas_enable_request_prepare(struct etwas_enable_request *request);

/*
 * Enables or disables every provider of a control GUID for a session, or requests their state. In a
 * process that a filter excludes, enabling is disabling, and state is not requested.
 *
 * ERROR_INVALID_PARAMETER: the session does not run. ERROR_INVALID_HANDLE: because its file is full
 * (R93). ERROR_NO_SYSTEM_RESOURCES: too many providers are enabled, too many sessions enable this
 * one, or the queue of a callback is full. ERROR_NOT_ENOUGH_MEMORY: for the filter. ERROR_TIMEOUT:
 * the change is made, but with a timeout other than 0 a callback has not returned in time, or can
 * return only after this call.
 */
uint32_t etwas_provider_enable(struct etwas_enable_request *request);

/*
 * Does the same for a session of this process, or one that it has joined as a guest, without
 * calling callbacks. They run in etwas_callbacks_complete.
 */
uint32_t etwas_provider_enable_without_callbacks(struct etwas_enable_request *request);

/*
 * Disables every provider that the session still enables, and waits for their callbacks (R141). The
 * caller does not hold the control lock.
 */
void etwas_providers_disable_session(uint64_t session);

/* Does the same without calling callbacks. */
void etwas_providers_disable_without_callbacks(uint64_t session);

/*
 * Whether a provider is registered under the GUID, as its own or as its group's. Takes the control
 * lock.
 */
bool etwas_provider_is_registered(const etwas_guid *guid, bool is_group);

/*
 * Opens the gate of a new registration that is enabled already, and adds a request for its callback
 * (R190). Returns false if no session enables it, or it has no callback. The caller holds the
 * control lock.
 */
bool etwas_registration_apply_enablement(uint32_t registration);

/*
 * Adds a modern registration to a group (EventSetInformation); it writes to the sessions that
 * enable the group from here on. The caller holds the control lock. After releasing it the caller
 * calls etwas_callbacks_complete for the group, which runs the callback.
 */
void etwas_registration_join_group(uint32_t registration, const etwas_guid *group);

/*
 * Enables a provider that has just got a name, or another one, as sessions request by name
 * (ETWAS_FILTER_TYPE_PROVIDER_NAME). The caller holds the control lock. If this returns true, the
 * caller calls etwas_provider_complete_named after releasing it.
 */
bool etwas_provider_follow_names(uint32_t control);

/*
 * Runs the callbacks of providers that have names, up to this request, as etwas_callbacks_complete
 * does for each.
 */
bool etwas_provider_complete_named(uint64_t newest, uint32_t timeout_ms);

/* Whether a provider is registered whose name matches the pattern. Takes the control lock. */
bool etwas_provider_is_named(const char *name);

/* Returns the enablement of the provider in the session of `handle`; all 0: there is none. */
struct etwas_enablement etwas_provider_enablement(uint64_t handle);

#endif
