/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/enabling.h"

#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <etwas/winerror.h>

#include "provider/callback.h"
#include "provider/registration.h"
#include "session/session.h"

enum {
    GATE_LEVEL_SHIFT = 32,
    EVERY_LEVEL = 255,
};

static uint32_t enabled_count; /* control GUIDs enabled; under the control lock */

void etwas_providers_forget_enablements(void)
{
    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        etwas_control_guids[control].enablement = (struct etwas_enablement){0};
    }
    enabled_count = 0;
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        ck_pr_store_64(&etwas_registrations[index].provider.gate, 0);
    }
    etwas_callbacks_forget();
}

/* ---- gates and enablements: with the control lock held --------------------------------------- */

/* Level 0 is every level and flags 0 is every flag, so that the gate is one comparison of each. */
static uint64_t gate_of(const struct etwas_enablement *enablement)
{
    uint64_t level = enablement->level != 0 ? enablement->level : EVERY_LEVEL;
    uint32_t flags = etwas_enablement_flags(enablement);

    return (level + 1) << GATE_LEVEL_SHIFT | (flags != 0 ? flags : UINT32_MAX);
}

static void set_gates(uint32_t control, uint64_t gate)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registration_is_under(index, control)) {
            ck_pr_store_64(&etwas_registrations[index].provider.gate, gate);
        }
    }
}

bool etwas_provider_apply(uint32_t registration)
{
    struct etwas_registration *place = &etwas_registrations[registration];
    const struct etwas_enablement *enablement = &etwas_control_guids[place->control].enablement;

    if (enablement->session == 0) {
        return false;
    }
    ck_pr_store_64(&place->provider.gate, gate_of(enablement));
    return etwas_callback_ask(registration, WMI_ENABLE_EVENTS, enablement->session);
}

/* Has every registration asked. False: one has too much to do, and none is asked. */
static bool ask_all(uint32_t control, WMIDPREQUESTCODE request, uint64_t session)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registration_is_under(index, control) &&
            !etwas_callback_can_be_asked(index, request)) {
            return false;
        }
    }
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registration_is_under(index, control)) {
            (void)etwas_callback_ask(index, request, session);
        }
    }
    return true;
}

/* Forgets what the session that enables it asked for. */
static void drop(uint32_t control)
{
    uint64_t session = etwas_control_guids[control].enablement.session;

    etwas_control_guids[control].enablement = (struct etwas_enablement){0};
    enabled_count--;
    set_gates(control, 0);
    (void)ask_all(control, WMI_DISABLE_EVENTS, session);
}

/* ---- what a controller asks for: with the control lock held ---------------------------------- */

static uint32_t enable(const struct etwas_enable_request *request)
{
    uint32_t control = etwas_control_guid_take(request->control);
    bool is_new =
        control == ETWAS_NO_CONTROL_GUID || etwas_control_guids[control].enablement.session == 0;

    if (control == ETWAS_NO_CONTROL_GUID || (is_new && enabled_count == ETWAS_ENABLED_PROVIDERS)) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    enabled_count += is_new ? 1 : 0;
    etwas_control_guids[control].enablement = request->wish;
    set_gates(control, gate_of(&request->wish));
    (void)ask_all(control, WMI_ENABLE_EVENTS, request->wish.session);
    return ERROR_SUCCESS;
}

/* *changed: somebody is to be told. Nobody waits for callbacks that others caused. */
static uint32_t make_change(const struct etwas_enable_request *request, bool excluded,
                            bool *changed)
{
    uint32_t control = etwas_control_guid_find(request->control);
    bool is_ours = control != ETWAS_NO_CONTROL_GUID &&
                   etwas_control_guids[control].enablement.session == request->wish.session;

    *changed = is_ours;
    switch (request->control_code) {
    case EVENT_CONTROL_CODE_ENABLE_PROVIDER:
        if (!excluded) {
            *changed = true;
            return enable(request);
        }
        __attribute__((fallthrough));
    case EVENT_CONTROL_CODE_DISABLE_PROVIDER:
        if (is_ours) {
            drop(control);
        }
        return ERROR_SUCCESS;
    default:
        *changed = is_ours && !excluded;
        if (*changed && !ask_all(control, WMI_CAPTURE_STATE, request->wish.session)) {
            return ERROR_NO_SYSTEM_RESOURCES;
        }
        return ERROR_SUCCESS;
    }
}

/* The session that asks; NULL: it does not run, and *code says which way (R93). */
static const struct etwas_session *find_running(uint64_t handle, uint32_t *code)
{
    struct etwas_session_key key;
    const struct etwas_session *session;

    *code = ERROR_INVALID_PARAMETER;
    if (!etwas_session_key_of(handle, &key)) {
        return NULL;
    }
    session = etwas_session_find(key);
    if (session == NULL && etwas_session_is_remembered(key) &&
        etwas_sessions[key.index].ended_by_full_file) {
        *code = ERROR_INVALID_HANDLE;
    }
    return session != NULL && session->state == ETWAS_SESSION_RUNNING ? session : NULL;
}

/* ---- enabling -------------------------------------------------------------------------------- */

uint32_t etwas_provider_enable(const struct etwas_enable_request *request)
{
    const struct etwas_session *session;
    uint32_t code;
    bool changed = false;

    etwas_control_lock();
    session = find_running(request->wish.session, &code);
    if (session != NULL) {
        code = make_change(request, request->excluded || session->configuration.filtered_out,
                           &changed);
    }
    etwas_control_unlock();
    if (code == ERROR_SUCCESS && changed &&
        !etwas_callbacks_settle(request->control, request->timeout_ms)) {
        code = ERROR_TIMEOUT;
    }
    return code;
}

void etwas_providers_disable_session(uint64_t session)
{
    etwas_control_lock();
    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        if (etwas_control_guids[control].enablement.session == session) {
            etwas_guid guid = etwas_control_guids[control].guid;

            drop(control);
            etwas_control_unlock();
            (void)etwas_callbacks_settle(&guid, ETWAS_WAIT_FOREVER);
            etwas_control_lock();
        }
    }
    etwas_control_unlock();
}

bool etwas_provider_enablement(uint64_t handle, uint8_t *level, uint32_t *flags)
{
    uint32_t index = etwas_handle_registration(handle);
    struct etwas_session_key key;
    bool found = false;

    if (!etwas_session_key_of(handle, &key) || index >= ETWAS_REGISTRATIONS) {
        return false;
    }
    etwas_control_lock();
    if (etwas_registrations[index].used) {
        const struct etwas_enablement *enablement =
            &etwas_control_guids[etwas_registrations[index].control].enablement;

        found = enablement->session == etwas_session_handle(key);
        if (found) {
            *level = enablement->level;
            *flags = etwas_enablement_flags(enablement);
        }
    }
    etwas_control_unlock();
    return found;
}
