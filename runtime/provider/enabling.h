/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Enabling: what sessions ask of providers (R141, R190–R192, R195).
 *
 * A classic provider has one session at a time, the last that enabled it; a modern one up to 8, and
 * its callback is told what they ask for together. A change is made under
 * the control lock, gates included, before anybody is told of it: whether the callbacks have
 * returned says nothing of whether the change was made.
 */
#ifndef ETWAS_PROVIDER_ENABLING_H
#define ETWAS_PROVIDER_ENABLING_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/identity.h"
#include "provider/control_guid.h"

/* In a fork's child: registrations stay, nobody enables them. With the control lock held. */
void etwas_providers_forget_enablements(void);

struct etwas_enable_request {
    const etwas_guid *control;
    bool is_group;         /* it is a group's: every provider in it is meant */
    uint32_t control_code; /* EVENT_CONTROL_CODE_... */
    bool excluded;         /* a filter says that this process is not meant */
    uint32_t timeout_ms;
    /* When its controller asked: CLOCK_MONOTONIC; 0: that is not known, and taken for now. */
    uint64_t asked_ns;
    etwas_guid source;              /* who asks; for the callbacks of modern providers */
    struct etwas_identity identity; /* read where the enablement asks for items (event_items.h) */
    bool is_independent; /* a guest's session is (R77); of one of this process it is known */
    const struct etwas_event_filter *filter; /* of events; the enablement gets a copy */
    struct etwas_enablement enablement;      /* its session is set whatever the control code */
};

/*
 * Enables, disables or asks every provider of a control GUID, for a session. For a process that a
 * filter excludes, enabling is disabling, and nobody there is asked for its state.
 *
 * ERROR_INVALID_PARAMETER: the session does not run. ERROR_INVALID_HANDLE: because its file is full
 * (R93). ERROR_NO_SYSTEM_RESOURCES: too many providers are enabled, or too many sessions enable
 * this one, or more requests wait for a callback than it can be asked. ERROR_NOT_ENOUGH_MEMORY: for
 * the filter. ERROR_TIMEOUT: done, but
 * with a timeout that is not 0 a callback has not returned in time, or can return only after this
 * call.
 */
uint32_t etwas_provider_enable(struct etwas_enable_request *request);

/*
 * The same, of a session of this process or one that it is a guest of, but nobody is told of it yet: the callbacks wait for
 * etwas_callbacks_complete.
 */
uint32_t etwas_provider_enable_without_callbacks(struct etwas_enable_request *request);

/*
 * Disables every provider the session still enables, and waits for their callbacks (R141). Without
 * the control lock.
 */
void etwas_providers_disable_session(uint64_t session);

/* The same, but nobody is told of it yet. */
void etwas_providers_disable_without_callbacks(uint64_t session);

/* Whether anybody is registered under the GUID, as a provider or in the group. Takes the control lock. */
bool etwas_provider_is_registered(const etwas_guid *guid, bool is_group);

/*
 * Opens the gate of a new registration that is enabled already, and has its callback asked (R190).
 * False: nobody enables it, or it has no callback. With the control lock held.
 */
bool etwas_registration_apply_enablement(uint32_t registration);

/*
 * Takes a modern registration into a group (EventSetInformation); a session that enables the group
 * hears it from here on. With the control lock held; afterwards, without it, etwas_callbacks_complete
 * for the group runs the callback.
 */
void etwas_registration_join_group(uint32_t registration, const etwas_guid *group);

/* With what the session of `handle` enables the provider in it; all 0: it does not. */
struct etwas_enablement etwas_provider_enablement(uint64_t handle);

#endif
