/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/registration.h"

#include <ck_pr.h>
#include <etwas/winerror.h>

#include "provider/callback.h"
#include "provider/control_guid.h"
#include "provider/enabling.h"
#include "provider/event_class.h"
#include "provider/event_provider.h"
#include "session/session.h"

/* Distinguishes a classic registration's handle from a session's, and from a modern one's. */
#define CLASSIC_TAG (UINT64_C(1) << 62)

struct etwas_registration etwas_registrations[ETWAS_REGISTRATIONS];

static uint32_t end; /* under the control lock */

uint32_t etwas_registrations_end(void)
{
    return end;
}

/* ---- handles: with the control lock held ----------------------------------------------------- */

static uint64_t registration_handle_of(uint32_t index)
{
    const struct etwas_registration *registered = &etwas_registrations[index];

    return (registered->is_modern ? ETWAS_EVENT_PROVIDER_TAG : CLASSIC_TAG) |
           (uint64_t)registered->generation << ETWAS_REGISTRATION_INDEX_BITS | (index + 1);
}

static struct etwas_registration *registration_find(uint64_t handle)
{
    uint32_t index = etwas_registration_index(handle);

    if (index >= ETWAS_REGISTRATIONS || !etwas_registrations[index].used ||
        handle != registration_handle_of(index)) {
        return NULL;
    }
    return &etwas_registrations[index];
}

const etwas_provider *etwas_provider_of(etwas_trace_handle handle)
{
    struct etwas_registration *registration;

    etwas_control_lock();
    registration = registration_find(handle);
    etwas_control_unlock();
    return registration != NULL && !registration->is_modern ? &registration->provider : NULL;
}

uint32_t etwas_modern_registration_index(uint64_t handle)
{
    const struct etwas_registration *registration = registration_find(handle);

    return registration != NULL && registration->is_modern
               ? (uint32_t)(registration - etwas_registrations)
               : UINT32_MAX;
}

/* ---- registering ----------------------------------------------------------------------------- */

/* Returns an entry for a registration; UINT32_MAX: none. The control lock is held. */
static uint32_t registration_unused_entry(void)
{
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        /* A callback of the entry's last registration may still run. */
        if (!etwas_registrations[index].used && !etwas_callback_is_running(index)) {
            return index;
        }
    }
    return UINT32_MAX;
}

/* Fills an entry and returns its index; UINT32_MAX: a table is full. The control lock is held. */
static uint32_t registration_claim_entry(const struct etwas_registration_request *request)
{
    uint32_t index = registration_unused_entry();
    uint32_t control = etwas_control_guid_find_or_add(request->control, false);
    struct etwas_registration *registration;

    if (index == UINT32_MAX || control == ETWAS_NO_CONTROL_GUID ||
        !etwas_classes_add(index, request->classes, request->class_count)) {
        return UINT32_MAX;
    }
    etwas_control_guids[control].registrations++;
    etwas_control_guids[control].classic_registrations += request->is_modern ? 0 : 1;
    registration = &etwas_registrations[index];
    registration->used = true;
    registration->generation =
        registration->generation == UINT32_MAX ? 1 : registration->generation + 1;
    registration->control = control;
    registration->group = ETWAS_NO_CONTROL_GUID;
    registration->is_modern = request->is_modern;
    registration->callback = request->callback;
    registration->enable_callback = request->enable_callback;
    registration->context = request->context;
    end = index < end ? end : index + 1;
    if (request->is_modern) {
        etwas_event_provider_open(index, registration_handle_of(index), request->control);
    }
    return index;
}

uint32_t etwas_provider_register(const struct etwas_registration_request *request, uint64_t *handle)
{
    uint32_t code = ERROR_SUCCESS;
    uint32_t index;

    etwas_control_lock();
    index = registration_claim_entry(request);
    if (index == UINT32_MAX) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    } else {
        *handle = registration_handle_of(index);
        if (etwas_registration_apply_enablement(index)) {
            code = etwas_callback_run_queued(index);
        }
    }
    etwas_control_unlock();
    return code;
}

uint32_t etwas_provider_unregister(uint64_t handle, bool is_modern)
{
    struct etwas_registration *registration;

    etwas_control_lock();
    registration = registration_find(handle);
    if (registration != NULL && registration->is_modern != is_modern) {
        registration = NULL;
    }
    if (registration != NULL) {
        uint32_t index = (uint32_t)(registration - etwas_registrations);

        etwas_classes_remove(index);
        ck_pr_store_64(&registration->provider.gate, 0);
        if (is_modern) {
            etwas_event_provider_close(index);
        }
        registration->used = false;
        etwas_control_guids[registration->control].registrations--;
        if (registration->group != ETWAS_NO_CONTROL_GUID) {
            etwas_control_guids[registration->group].registrations--;
        }
        etwas_control_guids[registration->control].classic_registrations -= is_modern ? 0 : 1;
        etwas_callback_end(index);
    }
    etwas_control_unlock();
    return registration != NULL ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}
