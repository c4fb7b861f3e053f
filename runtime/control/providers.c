/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableTrace and RegisterTraceGuids, A and W.
 */
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "control/prepare.h"
#include "provider/enabling.h"
#include "provider/registration.h"
#include "session/session.h"

/* A private session that is not for this process: its providers are those of other processes. */
static bool is_filtered_out(struct etwas_session_key key)
{
    const struct etwas_session *session;
    bool filtered_out;

    etwas_control_lock();
    session = etwas_session_find(key);
    filtered_out = session != NULL && session->configuration.filtered_out;
    etwas_control_unlock();
    return filtered_out;
}

uint32_t EnableTrace(uint32_t enable, uint32_t flags, uint32_t level, const etwas_guid *control,
                     etwas_trace_handle handle)
{
    struct etwas_enable_request request = {
        .control = control,
        .control_code =
            enable != 0 ? EVENT_CONTROL_CODE_ENABLE_PROVIDER : EVENT_CONTROL_CODE_DISABLE_PROVIDER,
    };
    struct etwas_session_key key;

    etwas_prepare();
    if (control == NULL || !etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (is_filtered_out(key)) {
        return ERROR_SUCCESS;
    }
    request.wish = (struct etwas_enablement){
        .session = etwas_session_handle(key), .match_any_keyword = flags, .level = (uint8_t)level};
    return etwas_provider_enable(&request);
}

static uint32_t register_provider(const struct etwas_registration_request *request,
                                  etwas_trace_handle *registration)
{
    if (registration == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *registration = 0;
    if (request->callback == NULL || request->control == NULL ||
        (request->class_count != 0 && request->classes == NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < request->class_count; index++) {
        if (request->classes[index].Guid == NULL) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    etwas_prepare();
    return etwas_provider_register(request, registration);
}

uint32_t RegisterTraceGuidsA(WMIDPREQUEST callback, void *context, const etwas_guid *control,
                             uint32_t class_count, TRACE_GUID_REGISTRATION *classes,
                             const char *mof_image_path, const char *mof_resource_name,
                             etwas_trace_handle *registration)
{
    const struct etwas_registration_request request = {callback, context, control, classes,
                                                       class_count};

    (void)mof_image_path;
    (void)mof_resource_name;
    return register_provider(&request, registration);
}

uint32_t RegisterTraceGuidsW(WMIDPREQUEST callback, void *context, const etwas_guid *control,
                             uint32_t class_count, TRACE_GUID_REGISTRATION *classes,
                             const etwas_wchar *mof_image_path,
                             const etwas_wchar *mof_resource_name, etwas_trace_handle *registration)
{
    const struct etwas_registration_request request = {callback, context, control, classes,
                                                       class_count};

    (void)mof_image_path;
    (void)mof_resource_name;
    return register_provider(&request, registration);
}
