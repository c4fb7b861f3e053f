/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Registering classic providers, and describing their events: RegisterTraceGuids, A and W,
 * UnregisterTraceGuids, etwas_describe_class and etwas_describe_message.
 */
#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "autologger/autologger.h"
#include "control/prepare.h"
#include "control/providers.h"
#include "platform/sized_struct.h"
#include "provider/describe_class.h"
#include "provider/registration.h"
#include "session/sharing.h"

/* ---- registering, classic and modern --------------------------------------------------------- */

uint32_t etwas_register_shared(const struct etwas_registration_request *request, uint64_t *handle)
{
    struct etwas_registering registering;
    uint32_t code;

    etwas_autologgers_begin();
    registering = etwas_sharing.before_registering(request->control);
    code = etwas_provider_register(request, handle);
    etwas_sharing.after_registering(registering);
    if (*handle != 0) {
        etwas_described_name_apply(request);
        etwas_sharing.publish_providers();
    }
    return code;
}

uint32_t etwas_unregister_shared(uint64_t handle, bool is_modern)
{
    uint32_t code = etwas_provider_unregister(handle, is_modern);

    if (code == ERROR_SUCCESS) {
        etwas_sharing.publish_providers();
    }
    return code;
}

/* ---- RegisterTraceGuids ---------------------------------------------------------------------- */

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

/* ---- describing ------------------------------------------------------------------------------ */

static uint32_t describe_class(const etwas_class_description *given, size_t given_bytes,
                               const char **fault)
{
    etwas_class_description description;
    uint32_t code = etwas_prepare_to_serve();

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (!etwas_sized_read(&description, sizeof description, given, given_bytes)) {
        return ERROR_NOT_SUPPORTED;
    }
    *fault = etwas_class_description_check(&description);
    if (*fault != NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_class_describe(&description, fault);
    etwas_sharing.send_descriptions();
    if (code == ERROR_SUCCESS && etwas_described_name_store(&description)) {
        etwas_sharing.publish_providers();
    }
    return code;
}

uint32_t etwas_describe_class_sized(const etwas_class_description *given, size_t given_bytes,
                                    const char **given_fault)
{
    const char *fault = NULL;
    uint32_t code = describe_class(given, given_bytes, &fault);

    if (given_fault != NULL) {
        *given_fault = fault;
    }
    return code;
}

uint32_t etwas_describe_message(const etwas_guid *message_guid, uint16_t number, const char *format)
{
    uint32_t code;

    if (message_guid == NULL || format == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_prepare_to_serve();
    code = code == ERROR_SUCCESS ? etwas_message_describe(message_guid, number, format) : code;
    etwas_sharing.send_descriptions();
    return code;
}
