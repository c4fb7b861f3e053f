/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Providers: who registered, with which classes, and which session enables whom.
 *
 * Two static tables, never freed: registrations (R: at most 1,024 in a process) and the classes of
 * their instances. Writers read a class by its handle without a lock; everything else is under the
 * control lock. Callbacks run under a recursive lock of their own and never under the control lock,
 * so a callback may log, register and enable.
 */
#ifndef ETWAS_PROVIDER_REGISTRATION_H
#define ETWAS_PROVIDER_REGISTRATION_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_REGISTRATIONS = 1024,
    ETWAS_CLASSES = 8192,
};

/* Once, before the tables are used. */
void etwas_providers_prepare(void);

/* In a fork's child: registrations stay, nobody enables them. With the control lock held. */
void etwas_providers_forget_enablements(void);

struct etwas_registration_request {
    WMIDPREQUEST callback;
    void *context;
    const etwas_guid *control;
    TRACE_GUID_REGISTRATION *classes; /* RegHandle of each is filled */
    uint32_t class_count;
};

/*
 * Registers a provider (R190, R193). ERROR_NO_SYSTEM_RESOURCES when a table is full, with nothing
 * registered; else the value of the callback if it ran, or ERROR_SUCCESS.
 */
uint32_t etwas_provider_register(const struct etwas_registration_request *request,
                                 uint64_t *registration);

/* ERROR_INVALID_PARAMETER for what is not a registration. The callback runs no more afterwards. */
uint32_t etwas_provider_unregister(uint64_t registration);

/*
 * The GUID of a class handle. False when the handle is not, or no longer, registered. Lock-free;
 * async-signal-safe.
 */
bool etwas_class_guid(etwas_handle class_handle, etwas_guid *guid);

/*
 * Enables (or with `enable` 0 disables) every provider of a control GUID for a session (R190–R192).
 */
uint32_t etwas_provider_enable(const etwas_guid *control, uint64_t session, bool enable,
                               uint8_t level, uint32_t flags);

/* Disables every provider the session still enables, and calls their callbacks (R141). */
void etwas_providers_disable_session(uint64_t session);

/*
 * Level and flags with which the session of `handle` enables the provider in it. False: it does
 * not.
 */
bool etwas_provider_enablement(uint64_t handle, uint8_t *level, uint32_t *flags);

#endif
