/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnumerateTraceGuids and EnumerateTraceGuidsEx: the providers that exist, and the sessions that
 * enable them. The providers of the computer are those of this process and of the others that have
 * joined the registry (shared.h). This process's state is read at one moment, under the control
 * lock; the state of the others is read before.
 */
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "control/prepare.h"
#include "platform/thread.h"
#include "provider/control_guid.h"
#include "provider/other_providers.h"
#include "provider/registration.h"
#include "provider/source.h"
#include "provider/system_providers.h"
#include "session/session.h"
#include "session/sharing.h"

/* ---- EnumerateTraceGuids --------------------------------------------------------------------- */

static TRACE_GUID_PROPERTIES properties_of(const struct etwas_control_guid *provider)
{
    const struct etwas_enablement *enablement = etwas_control_guid_newest_enablement(provider);

    return (TRACE_GUID_PROPERTIES){
        .Guid = provider->guid,
        .LoggerId = etwas_enable_info(enablement).LoggerId,
        .EnableLevel = enablement->level,
        .EnableFlags = etwas_enablement_flags(enablement),
        .IsEnable = enablement->session != 0,
    };
}

/*
 * Returns the properties of another process's provider, as enabled by the first shared session that
 * enables it and that it can log into.
 */
static TRACE_GUID_PROPERTIES properties_of_other(const struct etwas_other_processes *others,
                                                 const struct etwas_other_provider *other)
{
    TRACE_GUID_PROPERTIES properties = {.Guid = other->guid};
    struct etwas_other_enablement *enables;
    uint32_t count = etwas_other_processes_enablements(others, &other->guid, false, &enables);

    for (uint32_t index = 0; index < count && !properties.IsEnable; index++) {
        if (etwas_other_process_logs(others, other, &enables[index])) {
            properties.LoggerId = enables[index].info.LoggerId;
            properties.EnableLevel = enables[index].info.Level;
            properties.EnableFlags = (uint32_t)enables[index].info.MatchAnyKeyword;
            properties.IsEnable = 1;
        }
    }
    free(enables);
    return properties;
}

uint32_t EnumerateTraceGuids(TRACE_GUID_PROPERTIES **properties, uint32_t property_count,
                             uint32_t *guid_count)
{
    struct etwas_other_processes others = {0};
    uint32_t found = 0;
    uint32_t code;

    etwas_prepare();
    if (properties == NULL || guid_count == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < property_count; index++) {
        if (properties[index] == NULL) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    code = etwas_sharing.read_others(&others);
    etwas_control_lock();
    for (uint32_t index = 0; index < etwas_control_guids_end(); index++) {
        if (etwas_control_guids[index].registrations == 0 || etwas_control_guids[index].is_group) {
            continue;
        }
        if (found < property_count) {
            *properties[found] = properties_of(&etwas_control_guids[index]);
        }
        found++;
    }
    etwas_other_processes_remove_known(&others, false, true);
    etwas_control_unlock();
    for (uint32_t index = 0; index < others.provider_count; index++) {
        if (found < property_count) {
            *properties[found] = properties_of_other(&others, &others.providers[index]);
        }
        found++;
    }
    etwas_other_processes_free(&others);
    *guid_count = found;
    return found > property_count ? (uint32_t)ERROR_MORE_DATA : code;
}

/* ---- EnumerateTraceGuidsEx: with the control lock held --------------------------------------- */

/* Room for an answer. When it is full it continues counting, so that the required size is known. */
struct guids_result {
    unsigned char *buffer;
    size_t room;
    size_t needed;
    /* The provider in other processes, and its enablements by shared sessions. */
    struct etwas_other_processes others;
    struct etwas_other_enablement *enables;
    uint32_t enable_count;
};

static void guids_append(struct guids_result *result, const void *piece, size_t bytes)
{
    if (bytes != 0 && result->needed + bytes <= result->room) {
        memcpy(result->buffer + result->needed, piece, bytes);
    }
    result->needed += bytes;
}

static void list_guids(struct guids_result *result, bool registered_only, bool groups)
{
    for (uint32_t index = 0; index < etwas_control_guids_end(); index++) {
        const struct etwas_control_guid *provider = &etwas_control_guids[index];

        if (provider->is_group == groups &&
            (provider->registrations != 0 ||
             (!registered_only && etwas_control_guid_is_used(provider)))) {
            guids_append(result, &provider->guid, sizeof provider->guid);
        }
    }
}

/*
 * Lists the GUIDs that this process does not know: those of other processes, and those that their
 * sessions enable.
 */
static void list_others(struct guids_result *result, bool groups)
{
    etwas_other_processes_remove_known(&result->others, groups, false);
    for (uint32_t index = 0; index < result->others.provider_count; index++) {
        guids_append(result, &result->others.providers[index].guid, sizeof(etwas_guid));
    }
}

/* ---- system providers: listed while a system logger enables them ----------------------------- */

/* Returns the session's enablement of a system provider; NULL: it has none. */
static const struct etwas_system_enablement *system_enablement(uint32_t session, uint32_t provider)
{
    const struct etwas_source_state *state = etwas_kernel_source.state(&etwas_sessions[session]);

    return state != NULL && state->settings.providers[provider].is_enabled
               ? &state->settings.providers[provider]
               : NULL;
}

static uint32_t count_system_enablements(uint32_t provider)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        count += system_enablement(index, provider) != NULL;
    }
    return count;
}

static void list_system_providers(struct guids_result *result)
{
    for (uint32_t provider = 0; provider < ETWAS_SYSTEM_PROVIDERS; provider++) {
        if (count_system_enablements(provider) != 0) {
            guids_append(result, etwas_system_provider_guid(provider), sizeof(etwas_guid));
        }
    }
}

/* Describes one instance, which belongs to no process. */
static uint32_t describe_system_provider(struct guids_result *result, uint32_t provider)
{
    const TRACE_GUID_INFO head = {.InstanceCount = 1};
    const TRACE_PROVIDER_INSTANCE_INFO instance = {.EnableCount =
                                                       count_system_enablements(provider)};

    if (instance.EnableCount == 0) {
        return ERROR_WMI_GUID_NOT_FOUND;
    }
    guids_append(result, &head, sizeof head);
    guids_append(result, &instance, sizeof instance);
    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        const struct etwas_system_enablement *enablement = system_enablement(index, provider);

        if (enablement != NULL) {
            const TRACE_ENABLE_INFO enable = {
                .IsEnabled = 1,
                .Level = enablement->level,
                .LoggerId = (uint16_t)(index + 1),
                .EnableProperty = enablement->has_stacks ? EVENT_ENABLE_PROPERTY_STACK_TRACE : 0,
                .MatchAnyKeyword = enablement->match_any,
                .MatchAllKeyword = enablement->match_all};

            guids_append(result, &enable, sizeof enable);
        }
    }
    return ERROR_SUCCESS;
}

/* ---- providers ------------------------------------------------------------------------------- */

static void describe_enablement(struct guids_result *result,
                                const struct etwas_enablement *enablement)
{
    const TRACE_ENABLE_INFO enable = etwas_enable_info(enablement);

    guids_append(result, &enable, sizeof enable);
}

/*
 * Describes one instance of a provider, with the sessions that enable it; for a classic provider
 * only the newest session.
 */
static void describe_instance(struct guids_result *result,
                              const struct etwas_control_guid *provider,
                              TRACE_PROVIDER_INSTANCE_INFO *instance, bool is_last)
{
    const struct etwas_enablement *enablements = provider->enablements;

    instance->EnableCount = provider->enablement_count;
    if ((instance->Flags & TRACE_PROVIDER_FLAG_LEGACY) != 0) {
        enablements = etwas_control_guid_newest_enablement(provider);
        instance->EnableCount = enablements->session != 0 ? 1 : 0;
    }
    instance->NextOffset =
        is_last ? 0
                : (uint32_t)(sizeof *instance + instance->EnableCount * sizeof(TRACE_ENABLE_INFO));
    guids_append(result, instance, sizeof *instance);
    for (uint32_t index = 0; index < instance->EnableCount; index++) {
        describe_enablement(result, &enablements[index]);
    }
}

static bool guids_is_of(const struct etwas_other_provider *other, const etwas_guid *guid,
                        bool is_group)
{
    return other->is_group == is_group && memcmp(&other->guid, guid, sizeof *guid) == 0;
}

static uint32_t count_others(const struct guids_result *result, const etwas_guid *guid)
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < result->others.provider_count; index++) {
        count += guids_is_of(&result->others.providers[index], guid, false);
    }
    return count;
}

/* Describes one block for each other process; a classic provider has the first of the sessions. */
static void describe_others(struct guids_result *result, const etwas_guid *guid, uint32_t left)
{
    for (uint32_t index = 0; index < result->others.provider_count; index++) {
        const struct etwas_other_provider *other = &result->others.providers[index];
        TRACE_PROVIDER_INSTANCE_INFO instance = {.EnableCount = result->enable_count,
                                                 .Pid = other->process_id};

        if (!guids_is_of(other, guid, false)) {
            continue;
        }
        if (other->is_classic) {
            instance.Flags = TRACE_PROVIDER_FLAG_LEGACY;
            instance.EnableCount = instance.EnableCount > 1 ? 1 : instance.EnableCount;
        }
        if (--left != 0) {
            instance.NextOffset =
                (uint32_t)(sizeof instance + instance.EnableCount * sizeof(TRACE_ENABLE_INFO));
        }
        guids_append(result, &instance, sizeof instance);
        for (uint32_t enabling = 0; enabling < instance.EnableCount; enabling++) {
            TRACE_ENABLE_INFO enable = result->enables[enabling].info;

            enable.IsEnabled =
                etwas_other_process_logs(&result->others, other, &result->enables[enabling]);
            guids_append(result, &enable, sizeof enable);
        }
    }
}

/*
 * Whether this process's enablements already include it: those of its own sessions, and of those
 * that it is a guest of.
 */
static bool guids_is_among(const TRACE_ENABLE_INFO *enable,
                           const struct etwas_control_guid *provider)
{
    for (uint32_t index = 0; provider != NULL && index < provider->enablement_count; index++) {
        if (etwas_enable_info(&provider->enablements[index]).LoggerId == enable->LoggerId) {
            return true;
        }
    }
    return false;
}

/*
 * Counts all sessions that enable it, in any process. `provider` NULL: this process does not know
 * it.
 */
static uint32_t count_enables(const struct guids_result *result,
                              const struct etwas_control_guid *provider)
{
    uint32_t count = provider != NULL ? provider->enablement_count : 0;

    for (uint32_t index = 0; index < result->enable_count; index++) {
        count += !guids_is_among(&result->enables[index].info, provider);
    }
    return count;
}

static void describe_enables(struct guids_result *result, const struct etwas_control_guid *provider)
{
    for (uint32_t index = 0; provider != NULL && index < provider->enablement_count; index++) {
        describe_enablement(result, &provider->enablements[index]);
    }
    for (uint32_t index = 0; index < result->enable_count; index++) {
        if (!guids_is_among(&result->enables[index].info, provider)) {
            guids_append(result, &result->enables[index].info, sizeof result->enables[index].info);
        }
    }
}

/*
 * Describes one block for each registration. If a session enables a provider that is not registered
 * yet, there is one block without a process.
 */
static uint32_t describe_provider(struct guids_result *result, const etwas_guid *guid)
{
    uint32_t control = etwas_control_guid_find(guid, false);
    uint32_t of_system = etwas_system_provider_of(guid);
    const struct etwas_control_guid *provider;
    TRACE_PROVIDER_INSTANCE_INFO instance = {0};
    TRACE_GUID_INFO head = {.InstanceCount = 1};
    uint32_t others;
    uint32_t own;

    if (of_system != ETWAS_SYSTEM_PROVIDERS) {
        return describe_system_provider(result, of_system);
    }
    provider = control != ETWAS_NO_CONTROL_GUID ? &etwas_control_guids[control] : NULL;
    own = provider != NULL ? provider->registrations : 0;
    others = count_others(result, guid);
    if (own == 0 && others == 0) {
        instance.Flags = TRACE_PROVIDER_FLAG_PRE_ENABLE;
        instance.EnableCount = count_enables(result, provider);
        if (instance.EnableCount == 0) {
            return ERROR_WMI_GUID_NOT_FOUND;
        }
        guids_append(result, &head, sizeof head);
        guids_append(result, &instance, sizeof instance);
        describe_enables(result, provider);
        return ERROR_SUCCESS;
    }
    head.InstanceCount = own + others;
    guids_append(result, &head, sizeof head);
    instance.Pid = etwas_process_id_peek();
    for (uint32_t index = 0; own != 0 && index < etwas_registrations_end(); index++) {
        if (etwas_registration_is_under(index, control)) {
            instance.Flags = etwas_registrations[index].is_modern ? 0 : TRACE_PROVIDER_FLAG_LEGACY;
            describe_instance(result, provider, &instance, --own == 0 && others == 0);
        }
    }
    describe_others(result, guid, others);
    return ERROR_SUCCESS;
}

/* Lists the providers of a group, each once, in `members`. Returns their number. */
static uint32_t list_members(const struct guids_result *result, const etwas_guid *guid,
                             uint32_t control, etwas_guid *members)
{
    bool is_member[ETWAS_CONTROL_GUIDS] = {false};
    uint32_t count = 0;

    for (uint32_t index = 0; control != ETWAS_NO_CONTROL_GUID && index < etwas_registrations_end();
         index++) {
        if (etwas_registration_is_under(index, control)) {
            is_member[etwas_registrations[index].control] = true;
        }
    }
    for (uint32_t index = 0; index < etwas_control_guids_end(); index++) {
        if (is_member[index]) {
            members[count++] = etwas_control_guids[index].guid;
        }
    }
    for (uint32_t index = 0; index < result->others.provider_count; index++) {
        const struct etwas_other_provider *other = &result->others.providers[index];
        bool is_new = other->has_group && memcmp(&other->group, guid, sizeof *guid) == 0;

        for (uint32_t before = 0; is_new && before < count; before++) {
            is_new = memcmp(&members[before], &other->guid, sizeof other->guid) != 0;
        }
        if (is_new) {
            members[count++] = other->guid;
        }
    }
    return count;
}

/*
 * Describes the sessions that enable a group, and the GUIDs of its providers, both with their
 * sizes.
 */
static uint32_t describe_group(struct guids_result *result, const etwas_guid *guid)
{
    uint32_t control = etwas_control_guid_find(guid, true);
    const struct etwas_control_guid *group =
        control != ETWAS_NO_CONTROL_GUID ? &etwas_control_guids[control] : NULL;
    const uint32_t enable_bytes =
        count_enables(result, group) * (uint32_t)sizeof(TRACE_ENABLE_INFO);
    etwas_guid *members =
        malloc((result->others.provider_count + etwas_control_guids_end() + 1) * sizeof *members);
    uint32_t count;

    if (members == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    count = list_members(result, guid, control, members);
    if (group != NULL || enable_bytes != 0 || count != 0) {
        guids_append(result, &enable_bytes, sizeof enable_bytes);
        describe_enables(result, group);
        guids_append(result, &count, sizeof count);
        guids_append(result, members, count * sizeof *members);
    }
    free(members);
    return result->needed == 0 ? (uint32_t)ERROR_WMI_GUID_NOT_FOUND : (uint32_t)ERROR_SUCCESS;
}

static uint32_t guids_answer(TRACE_QUERY_INFO_CLASS question, const etwas_guid *guid,
                             struct guids_result *result)
{
    const uint32_t loggers = ETWAS_SESSIONS;

    switch ((uint32_t)question) {
    case TraceGuidQueryList:
        list_guids(result, false, false);
        list_others(result, false);
        list_system_providers(result);
        return ERROR_SUCCESS;
    case TraceGuidQueryProcess:
        list_guids(result, true, false);
        return ERROR_SUCCESS;
    case TraceGuidQueryInfo:
        return describe_provider(result, guid);
    case TraceGroupQueryList:
        list_guids(result, false, true);
        list_others(result, true);
        return ERROR_SUCCESS;
    case TraceGroupQueryInfo:
        return describe_group(result, guid);
    case TraceMaxLoggersQuery:
        guids_append(result, &loggers, sizeof loggers);
        return ERROR_SUCCESS;
    default:
        return ERROR_INVALID_PARAMETER;
    }
}

uint32_t EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS question, void *in_buffer, uint32_t in_bytes,
                               void *out_buffer, uint32_t out_bytes, uint32_t *return_bytes)
{
    struct guids_result result = {.buffer = out_buffer, .room = out_bytes};
    etwas_guid guid = {0};
    uint32_t unread = ERROR_SUCCESS;
    uint32_t code = ERROR_SUCCESS;

    etwas_prepare();
    if (return_bytes == NULL || (out_buffer == NULL && out_bytes != 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (question == TraceGuidQueryInfo || question == TraceGroupQueryInfo) {
        if (in_buffer == NULL || in_bytes < sizeof guid) {
            return ERROR_INVALID_PARAMETER;
        }
        memcpy(&guid, in_buffer, sizeof guid);
    }
    if (question != TraceGuidQueryProcess && question != TraceMaxLoggersQuery) {
        unread = etwas_sharing.read_others(&result.others);
        result.enable_count = etwas_other_processes_enablements(
            &result.others, &guid, question == TraceGroupQueryInfo, &result.enables);
        code = unread == ERROR_NOT_ENOUGH_MEMORY || result.enables == NULL
                   ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY
                   : (uint32_t)ERROR_SUCCESS;
    }
    if (code == ERROR_SUCCESS &&
        (question == TraceGuidQueryList || question == TraceGroupQueryList)) {
        code = etwas_other_processes_add_enabled(&result.others);
    }
    etwas_control_lock();
    code = code == ERROR_SUCCESS ? guids_answer(question, &guid, &result) : code;
    etwas_control_unlock();
    etwas_other_processes_free(&result.others);
    free(result.enables);
    if (code != ERROR_SUCCESS) {
        return code == ERROR_WMI_GUID_NOT_FOUND && unread != ERROR_SUCCESS ? unread : code;
    }
    *return_bytes = (uint32_t)result.needed;
    return result.needed > result.room ? (uint32_t)ERROR_INSUFFICIENT_BUFFER : unread;
}
