/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/system_information.h"

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <string.h>

#include "control/lifecycle.h"
#include "control/system_request.h"
#include "etl/kernel_class.h"
#include "provider/source.h"
#include "provider/system_providers.h"
#include "session/session.h"
#include "session/sharing.h"

enum {
    SOURCE_TIMER = 0,
    GROUPS = 256,
    GROUP_SHIFT = 8,
    BYTES_PER_KB = 1024,
};

/* Acquires the role of the system logger. Returns NULL and the code if it cannot. */
static struct etwas_session *system_information_acquire(etwas_trace_handle handle, uint32_t *code)
{
    struct etwas_session_key key;
    struct etwas_session *session =
        etwas_session_key_of(handle, &key) ? etwas_lifecycle_acquire_role(key) : NULL;

    if (session == NULL) {
        /* System loggers are not shared. */
        *code = etwas_sharing.is_remote(handle) ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
        return NULL;
    }
    *code = ERROR_SUCCESS;
    if (!session->configuration.system_logger) {
        etwas_lifecycle_release_role(session);
        *code = ERROR_NOT_SUPPORTED;
        return NULL;
    }
    return session;
}

/* R188: a rundown is emitted whatever the flags are. */
static uint32_t first_flags(const struct etwas_configuration *configuration)
{
    const uint32_t there =
        EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD;

    return configuration->enable_flags |
           (configuration->system_logger == ETWAS_SYSTEM_LOGGER_RUNDOWN ? there : 0);
}

/*
 * Sets the profile interval of sessions that start from now on, unless it is 0. Returns the
 * interval in force.
 */
static uint32_t first_interval(uint32_t interval)
{
    static uint32_t first = ETWAS_PROFILE_INTERVAL;

    if (interval != 0) {
        ck_pr_store_32(&first, interval);
    }
    return ck_pr_load_32(&first);
}

void etwas_system_information_first(const struct etwas_configuration *configuration,
                                    struct etwas_system_settings *settings)
{
    *settings = (struct etwas_system_settings){
        .flags = first_flags(configuration),
        .profile_interval = first_interval(0),
        .no_kernel_stacks = configuration->no_kernel_stacks,
    };
}

uint64_t etwas_kernel_keywords(const etwas_guid *guid)
{
    uint32_t provider = guid != NULL ? etwas_system_provider_of(guid) : ETWAS_SYSTEM_PROVIDERS;

    return provider != ETWAS_SYSTEM_PROVIDERS ? etwas_kernel_source.keywords(provider) : 0;
}

static uint32_t system_information_change(struct etwas_session *session,
                                          const struct etwas_system_settings *settings)
{
    struct etwas_unavailability fault;
    uint32_t code = etwas_kernel_source.update(session, settings, &fault);

    etwas_kernel_refusal_store(&fault);
    return code;
}

uint32_t etwas_system_information_set_interval(etwas_trace_handle handle,
                                               const TRACE_PROFILE_INTERVAL *interval)
{
    struct etwas_system_settings settings;
    struct etwas_session *session = NULL;
    uint32_t code = ERROR_SUCCESS;

    if (handle != 0) {
        session = system_information_acquire(handle, &code);
    }
    if (code == ERROR_SUCCESS &&
        (interval->Source != SOURCE_TIMER || interval->Interval < ETWAS_PROFILE_INTERVAL_LEAST ||
         interval->Interval > ETWAS_PROFILE_INTERVAL_MOST)) {
        code = ERROR_INVALID_PARAMETER;
    } else if (session != NULL) {
        settings = etwas_kernel_source.state(session)->settings;
        settings.profile_interval = interval->Interval;
        code = system_information_change(session, &settings);
    } else if (code == ERROR_SUCCESS) {
        (void)first_interval(interval->Interval);
    }
    if (session != NULL) {
        etwas_lifecycle_release_role(session);
    }
    return code;
}

uint32_t etwas_system_information_interval(etwas_trace_handle handle,
                                           TRACE_PROFILE_INTERVAL *interval)
{
    struct etwas_session *session = NULL;
    uint32_t code = ERROR_SUCCESS;

    if (handle != 0) {
        session = system_information_acquire(handle, &code);
    }
    if (code == ERROR_SUCCESS && interval->Source != SOURCE_TIMER) {
        code = ERROR_INVALID_PARAMETER;
    }
    if (code == ERROR_SUCCESS) {
        interval->Interval = session != NULL
                                 ? etwas_kernel_source.state(session)->settings.profile_interval
                                 : first_interval(0);
    }
    if (session != NULL) {
        etwas_lifecycle_release_role(session);
    }
    return code;
}

/* Adds the hook of each group that has the class; images have one class in several groups. */
static void add_hooks(struct etwas_system_settings *settings, const CLASSIC_EVENT_ID *id)
{
    for (uint32_t group = 0; group < GROUPS; group++) {
        const etwas_guid *class_guid = etwas_class_of_hook((uint8_t)group, id->Type);

        if (class_guid != NULL && memcmp(class_guid, &id->EventGuid, sizeof *class_guid) == 0 &&
            settings->stack_count < ETWAS_STACK_HOOKS) {
            settings->stack_hooks[settings->stack_count++] =
                (uint16_t)(group << GROUP_SHIFT | id->Type);
        }
    }
}

uint32_t etwas_system_information_set_stacks(etwas_trace_handle handle, const CLASSIC_EVENT_ID *ids,
                                             uint32_t count)
{
    struct etwas_system_settings settings;
    uint32_t code;
    struct etwas_session *session = system_information_acquire(handle, &code);

    if (session == NULL) {
        return code;
    }
    if (count > ETWAS_STACK_HOOKS) {
        code = ERROR_INVALID_PARAMETER;
    } else {
        settings = etwas_kernel_source.state(session)->settings;
        settings.stack_count = 0;
        for (uint32_t index = 0; index < count; index++) {
            add_hooks(&settings, &ids[index]);
        }
        code = system_information_change(session, &settings);
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_kernel_user_stacks(etwas_trace_handle handle, uint32_t bytes)
{
    struct etwas_system_settings settings;
    uint32_t code;
    struct etwas_session *session = system_information_acquire(handle, &code);

    if (session == NULL) {
        return code == ERROR_INVALID_PARAMETER ? ERROR_INVALID_HANDLE : code;
    }
    if (bytes % 8 != 0 || bytes > ETWAS_USER_STACK_MOST_BYTES ||
        bytes > session->configuration.buffer_size_kb * BYTES_PER_KB / 2) {
        code = ERROR_INVALID_PARAMETER;
    } else {
        settings = etwas_kernel_source.state(session)->settings;
        settings.user_stack_bytes = bytes;
        code = system_information_change(session, &settings);
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_system_information_stacks(etwas_trace_handle handle, CLASSIC_EVENT_ID *ids,
                                         uint32_t *count)
{
    const struct etwas_system_settings *settings;
    uint32_t code;
    struct etwas_session *session = system_information_acquire(handle, &code);

    if (session == NULL) {
        return code;
    }
    settings = &etwas_kernel_source.state(session)->settings;
    *count = settings->stack_count;
    for (uint32_t index = 0; index < settings->stack_count; index++) {
        uint16_t hook = settings->stack_hooks[index];

        ids[index] = (CLASSIC_EVENT_ID){
            .EventGuid = *etwas_class_of_hook((uint8_t)(hook >> GROUP_SHIFT), (uint8_t)hook),
            .Type = (uint8_t)hook};
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_system_information_enable(etwas_trace_handle handle, uint32_t provider,
                                         uint32_t control_code,
                                         const struct etwas_system_enablement *enablement)
{
    struct etwas_system_settings settings;
    uint32_t code;
    struct etwas_session *session = system_information_acquire(handle, &code);

    if (session == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    settings = etwas_kernel_source.state(session)->settings;
    if (session->configuration.system_logger == ETWAS_SYSTEM_LOGGER_RUNDOWN) {
        code = ERROR_INVALID_PARAMETER;
    } else if (control_code == EVENT_CONTROL_CODE_CAPTURE_STATE) {
        etwas_kernel_source.run_down(session, provider);
    } else {
        uint32_t turn = settings.providers[provider].turn + 1;

        settings.providers[provider] = *enablement;
        settings.providers[provider].turn = turn;
        settings.providers[provider].is_enabled =
            control_code != EVENT_CONTROL_CODE_DISABLE_PROVIDER;
        code = system_information_change(session, &settings);
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_system_information_set_flags(etwas_trace_handle handle, const uint32_t *masks)
{
    struct etwas_system_settings settings;
    uint32_t code;
    struct etwas_session *session = system_information_acquire(handle, &code);

    if (session == NULL) {
        return code;
    }
    code = session->configuration.system_logger == ETWAS_SYSTEM_LOGGER_RUNDOWN
               ? ERROR_INVALID_PARAMETER
               : etwas_system_request_check_flags(masks[0]);
    if (code == ERROR_SUCCESS) {
        settings = etwas_kernel_source.state(session)->settings;
        settings.flags = masks[0];
        memcpy(settings.groups, masks + 1, sizeof settings.groups);
        code = system_information_change(session, &settings);
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_system_information_flags(etwas_trace_handle handle, uint32_t *masks)
{
    uint32_t code;
    struct etwas_session *session = system_information_acquire(handle, &code);

    if (session != NULL) {
        const struct etwas_system_settings *settings =
            &etwas_kernel_source.state(session)->settings;

        masks[0] = settings->flags;
        memcpy(masks + 1, settings->groups, sizeof settings->groups);
        etwas_lifecycle_release_role(session);
    }
    return code;
}

uint32_t etwas_system_information_check_sources(etwas_trace_handle handle)
{
    uint32_t code = ERROR_SUCCESS;
    struct etwas_session *session = handle != 0 ? system_information_acquire(handle, &code) : NULL;

    if (session != NULL) {
        etwas_lifecycle_release_role(session);
    }
    return code;
}
