/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Registers providers, and describes the events of classic ones: RegisterTraceGuids, A and W,
 * UnregisterTraceGuids, etwas_describe_class and etwas_describe_message; EventRegister,
 * EventUnregister and EventSetInformation. EventAccessControl, EventAccessQuery and
 * EventAccessRemove are refused, since permissions mean nothing among the sessions and providers of
 * one process.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "autologger/autologger.h"
#include "control/prepare.h"
#include "platform/sized_struct.h"
#include "provider/callback.h"
#include "provider/describe_class.h"
#include "provider/enabling.h"
#include "provider/event_provider.h"
#include "provider/registration.h"
#include "session/session.h"
#include "session/sharing.h"

/* ---- registering, classic and modern --------------------------------------------------------- */

enum {
    CALLBACK_TIMEOUT_MS = 50
};

/*
 * Publishes providers that now have a name, and lets sessions of other processes enable them by
 * their names, or by a group if `always` is set. On return the callbacks of `provider` (NULL: of
 * any provider with a name) have returned, so that it knows its state before its next event. A
 * callback that another thread runs is waited for at most 50 ms: it may wait for a lock that this
 * thread holds.
 */
static void providers_settle(const etwas_guid *provider, bool always)
{
    uint64_t newest;

    etwas_sharing.publish_providers();
    if (!etwas_sharing.reconcile_named(always)) {
        return;
    }
    etwas_control_lock();
    newest = etwas_callback_newest_request();
    etwas_control_unlock();
    if (provider != NULL) {
        /* Runs its callbacks in this thread, and then waits for one that runs in another. */
        (void)etwas_callbacks_complete(provider, false, newest, 0);
        (void)etwas_callbacks_complete(provider, false, newest, CALLBACK_TIMEOUT_MS);
    } else {
        (void)etwas_provider_complete_named(newest, CALLBACK_TIMEOUT_MS);
    }
}

/*
 * Registers a provider after this process has attached to every session that enables it, and makes
 * it visible to other processes. A host that does not answer costs at most 50 ms.
 */
static uint32_t providers_register_shared(const struct etwas_registration_request *request,
                                          uint64_t *handle)
{
    struct etwas_registering registering;
    uint32_t code;

    etwas_autologgers_begin();
    registering = etwas_sharing.before_registering(request->control);
    code = etwas_provider_register(request, handle);
    etwas_sharing.after_registering(registering);
    if (*handle != 0) {
        etwas_described_name_apply(request);
        providers_settle(request->control, false);
    }
    return code;
}

static uint32_t providers_unregister_shared(uint64_t handle, bool is_modern)
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
    return code == ERROR_SUCCESS ? providers_register_shared(&request, registration) : code;
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
    return providers_unregister_shared(registration, false);
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
        providers_settle(NULL, false);
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

/* ---- EventRegister --------------------------------------------------------------------------- */

uint32_t EventRegister(const etwas_guid *provider, PENABLECALLBACK callback, void *context,
                       REGHANDLE *handle)
{
    const struct etwas_registration_request request = {
        .is_modern = true,
        .enable_callback = callback,
        .context = context,
        .control = provider,
    };
    uint32_t code;

    if (handle == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *handle = 0;
    if (provider == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_prepare_to_serve();
    return code == ERROR_SUCCESS ? providers_register_shared(&request, handle) : code;
}

uint32_t EventUnregister(REGHANDLE handle)
{
    if (handle == 0) {
        return ERROR_SUCCESS;
    }
    return providers_unregister_shared(handle, true) == ERROR_SUCCESS ? ERROR_SUCCESS
                                                                      : ERROR_INVALID_HANDLE;
}

/* ---- EventSetInformation --------------------------------------------------------------------- */

enum {
    TRAITS_HEAD_BYTES = 2, /* their total size */
    TRAIT_HEAD_BYTES = 3,  /* size, type */
};

static uint32_t size_at(const uint8_t *bytes)
{
    uint16_t size;

    memcpy(&size, bytes, sizeof size);
    return size;
}

/*
 * Checks a name with its NUL, then whole traits to the end. *group points to the GUID among them;
 * NULL: there is none.
 */
static uint32_t modern_provider_read_traits(const uint8_t *traits, uint32_t length,
                                            const uint8_t **group)
{
    uint32_t at = TRAITS_HEAD_BYTES;

    *group = NULL;
    if (length <= TRAITS_HEAD_BYTES || size_at(traits) != length) {
        return ERROR_INVALID_PARAMETER;
    }
    while (at < length && traits[at] != 0) {
        at++;
    }
    if (at == length) {
        return ERROR_INVALID_PARAMETER;
    }
    at++;
    while (at < length) {
        uint32_t left = length - at;
        uint32_t size;

        if (left < TRAIT_HEAD_BYTES) {
            return ERROR_INVALID_PARAMETER;
        }
        size = size_at(traits + at);
        if (size < TRAIT_HEAD_BYTES || size > left) {
            return ERROR_INVALID_PARAMETER;
        }
        if (traits[at + 2] == ETW_PROVIDER_TRAIT_TYPE_GROUP) {
            if (*group != NULL || size != TRAIT_HEAD_BYTES + sizeof(etwas_guid)) {
                return ERROR_INVALID_PARAMETER;
            }
            *group = traits + at + TRAIT_HEAD_BYTES;
        }
        at += size;
    }
    return ERROR_SUCCESS;
}

/* Called with the control lock held. */
static uint32_t change_options(struct etwas_event_provider *provider, EVENT_INFO_CLASS class,
                               const void *information)
{
    uint32_t options = ck_pr_load_32(&provider->options);
    uint8_t on;

    if (class == EventProviderSetTraits) {
        if ((options & ETWAS_EVENT_PROVIDER_TRAITS) != 0) {
            return ERROR_INVALID_PARAMETER;
        }
        options |= ETWAS_EVENT_PROVIDER_TRAITS | ETWAS_EVENT_PROVIDER_TYPED;
    } else {
        memcpy(&on, information, sizeof on);
        options &= ~(uint32_t)ETWAS_EVENT_PROVIDER_TYPED;
        options |= on != 0 ? ETWAS_EVENT_PROVIDER_TYPED : 0;
    }
    ck_pr_store_32(&provider->options, options);
    return ERROR_SUCCESS;
}

static uint32_t check_information(EVENT_INFO_CLASS class, const void *information, uint32_t length,
                                  const uint8_t **group)
{
    *group = NULL;
    if (information == NULL && length != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    switch ((uint32_t) class) {
    case EventProviderSetTraits:
        return modern_provider_read_traits(information, length, group);
    case EventProviderUseDescriptorType:
        return length == 1 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
    default:
        return ERROR_NOT_SUPPORTED;
    }
}

uint32_t EventSetInformation(REGHANDLE handle, EVENT_INFO_CLASS class, void *information,
                             uint32_t length)
{
    const uint8_t *found;
    uint32_t code = check_information(class, information, length, &found);
    bool is_traits = class == EventProviderSetTraits;
    bool is_followed = false;
    uint32_t registration;
    uint64_t newest;
    etwas_guid provider = {0};
    etwas_guid group;

    etwas_control_lock();
    registration = etwas_modern_registration_index(handle);
    if (registration == UINT32_MAX) {
        code = ERROR_INVALID_PARAMETER;
    } else if (code == ERROR_SUCCESS) {
        code = change_options(&etwas_event_providers[registration], class, information);
    }
    if (code == ERROR_SUCCESS && is_traits) {
        const uint32_t control = etwas_registrations[registration].control;

        provider = etwas_control_guids[control].guid;
        etwas_control_guid_set_name(&etwas_control_guids[control],
                                    (const char *)information + TRAITS_HEAD_BYTES);
        is_followed = etwas_provider_follow_names(control);
    }
    if (code == ERROR_SUCCESS && found != NULL) {
        memcpy(&group, found, sizeof group);
        etwas_registration_join_group(registration, &group);
    }
    newest = etwas_callback_newest_request();
    etwas_control_unlock();
    if (is_followed) {
        (void)etwas_callbacks_complete(&provider, false, newest, 0);
    }
    if (code == ERROR_SUCCESS && found != NULL) {
        (void)etwas_callbacks_complete(&group, true, newest, 0);
    }
    if (code == ERROR_SUCCESS && is_traits) {
        /* Sessions of other processes may enable the provider's name, or the group. */
        providers_settle(&provider, found != NULL);
    }
    return code;
}

/* ---- access ---------------------------------------------------------------------------------- */

static uint32_t event_access_refuse(const etwas_guid *guid)
{
    return guid != NULL ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
}

uint32_t EventAccessControl(etwas_guid *guid, uint32_t operation, void *sid, uint32_t rights,
                            uint8_t allow)
{
    (void)operation;
    (void)sid;
    (void)rights;
    (void)allow;
    return event_access_refuse(guid);
}

uint32_t EventAccessQuery(etwas_guid *guid, void *descriptor, uint32_t *bytes)
{
    (void)descriptor;
    (void)bytes;
    return event_access_refuse(guid);
}

uint32_t EventAccessRemove(etwas_guid *guid)
{
    return event_access_refuse(guid);
}
