/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * RegisterTraceGuids, A and W, and UnregisterTraceGuids.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "control/prepare.h"
#include "control/register.h"
#include "provider/registration.h"

static uint32_t register_provider(WMIDPREQUEST callback, void *context, const etwas_guid *control,
                                  uint32_t class_count, TRACE_GUID_REGISTRATION *classes,
                                  etwas_trace_handle *registration)
{
    const struct etwas_registration_request request = {.callback = callback,
                                                       .context = context,
                                                       .control = control,
                                                       .classes = classes,
                                                       .class_count = class_count};
    uint32_t code;

    if (registration == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *registration = 0;
    if (callback == NULL || control == NULL || (class_count != 0 && classes == NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < class_count; index++) {
        if (classes[index].Guid == NULL) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    code = etwas_prepare_to_serve();
    return code == ERROR_SUCCESS ? etwas_register_shared(&request, registration) : code;
}

uint32_t RegisterTraceGuidsA(WMIDPREQUEST callback, void *context, const etwas_guid *control,
                             uint32_t class_count, TRACE_GUID_REGISTRATION *classes,
                             const char *mof_image_path, const char *mof_resource_name,
                             etwas_trace_handle *registration)
{
    (void)mof_image_path;
    (void)mof_resource_name;
    return register_provider(callback, context, control, class_count, classes, registration);
}

uint32_t RegisterTraceGuidsW(WMIDPREQUEST callback, void *context, const etwas_guid *control,
                             uint32_t class_count, TRACE_GUID_REGISTRATION *classes,
                             const etwas_wchar *mof_image_path,
                             const etwas_wchar *mof_resource_name, etwas_trace_handle *registration)
{
    (void)mof_image_path;
    (void)mof_resource_name;
    return register_provider(callback, context, control, class_count, classes, registration);
}

uint32_t UnregisterTraceGuids(etwas_trace_handle registration)
{
    return etwas_unregister_shared(registration, false);
}
