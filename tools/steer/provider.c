/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/provider.h"

#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/quiet.h"
#include "cli/value.h"
#include "print/text.h"
#include "steer/session.h"

enum {
    TRIES = 16,
    MOST_FOUND = 8, /* providers of one name */
};

static const struct system_provider {
    const etwas_guid *guid;
    const char *name;
} system_providers[] = {
    {&SystemAlpcProviderGuid, "SystemAlpcProvider"},
    {&SystemConfigProviderGuid, "SystemConfigProvider"},
    {&SystemCpuProviderGuid, "SystemCpuProvider"},
    {&SystemHypervisorProviderGuid, "SystemHypervisorProvider"},
    {&SystemInterruptProviderGuid, "SystemInterruptProvider"},
    {&SystemIoProviderGuid, "SystemIoProvider"},
    {&SystemIoFilterProviderGuid, "SystemIoFilterProvider"},
    {&SystemLockProviderGuid, "SystemLockProvider"},
    {&SystemMemoryProviderGuid, "SystemMemoryProvider"},
    {&SystemObjectProviderGuid, "SystemObjectProvider"},
    {&SystemPowerProviderGuid, "SystemPowerProvider"},
    {&SystemProcessProviderGuid, "SystemProcessProvider"},
    {&SystemProfileProviderGuid, "SystemProfileProvider"},
    {&SystemRegistryProviderGuid, "SystemRegistryProvider"},
    {&SystemSchedulerProviderGuid, "SystemSchedulerProvider"},
    {&SystemSyscallProviderGuid, "SystemSyscallProvider"},
    {&SystemTimerProviderGuid, "SystemTimerProvider"},
};

enum {
    SYSTEM_PROVIDERS = sizeof system_providers / sizeof *system_providers
};

/* What has its hyphens is meant to be one, also if its digits are none. */
static bool looks_like_guid(const char *text)
{
    return strlen(text) == ETWAS_TEXT_GUID_CHARACTERS && text[8] == '-' && text[13] == '-' &&
           text[18] == '-' && text[23] == '-';
}

enum kind {
    NOTHING, /* neither a GUID nor a name */
    GUID_ITSELF,
    NAME, /* the GUID is made of it */
};

static enum kind read_provider(const char *text, etwas_guid *guid)
{
    if (etwas_text_parse_guid(text, guid)) {
        return GUID_ITSELF;
    }
    if (text[0] == '{' || looks_like_guid(text)) {
        return NOTHING;
    }
    for (size_t i = 0; i < SYSTEM_PROVIDERS; i++) {
        if (strcasecmp(text, system_providers[i].name) == 0) {
            *guid = *system_providers[i].guid;
            return GUID_ITSELF;
        }
    }
    return etwas_name_guid(text, guid) == ERROR_SUCCESS ? NAME : NOTHING;
}

bool etwas_steer_guid(const char *text, etwas_guid *guid)
{
    return read_provider(text, guid) != NOTHING;
}

static void say_two(const char *command, const char *name, const etwas_guid guids[2])
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "%s: '", command);
    etwas_text_plain(errors, name);
    etwas_output_text(errors, "': two providers call themselves so, ");
    etwas_text_guid(errors, &guids[0]);
    etwas_output_text(errors, " and ");
    etwas_text_guid(errors, &guids[1]);
    etwas_output_text(errors, ": which GUID?\n");
    etwas_output_flush(errors);
}

bool etwas_steer_find_provider(const char *command, const char *text, etwas_guid *guid)
{
    enum kind kind = read_provider(text, guid);
    etwas_guid found[2];
    uint32_t count = 0;
    uint32_t code = ERROR_NOT_FOUND;

    if (kind == NAME) {
        code = etwas_provider_guids(text, found, 2, &count);
    }
    if (count == 2) {
        say_two(command, text, found);
        return false;
    }
    if (count == 1) {
        *guid = found[0];
    } else if (kind == NAME && !etwas_is_quiet) {
        etwas_steer_complain(command, text,
                             code == ERROR_NOT_FOUND
                                 ? "nobody has registered it yet: its GUID is made of the name"
                                 : "not every process's providers can be read, and no other is "
                                   "called so: its GUID is made of the name");
    }
    return kind != NOTHING;
}

void *etwas_steer_enumerate(TRACE_QUERY_INFO_CLASS class, etwas_guid *guid, uint32_t *bytes,
                            uint32_t *code)
{
    uint32_t guid_bytes = guid != NULL ? sizeof *guid : 0;
    void *answer = NULL;

    *bytes = 0;
    *code = EnumerateTraceGuidsEx(class, guid, guid_bytes, NULL, 0, bytes);
    for (int i = 0; *code == ERROR_INSUFFICIENT_BUFFER && i < TRIES; i++) {
        uint32_t room = *bytes;

        free(answer);
        answer = malloc(room);
        *bytes = 0; /* where the GUID is nobody's meanwhile */
        *code = answer != NULL ? EnumerateTraceGuidsEx(class, guid, guid_bytes, answer, room, bytes)
                               : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
    }
    if (*code == ERROR_INSUFFICIENT_BUFFER || *code == ERROR_NOT_ENOUGH_MEMORY ||
        *code == ERROR_WMI_GUID_NOT_FOUND || *bytes == 0) {
        free(answer);
        return NULL;
    }
    return answer;
}

bool etwas_steer_find_folder(const etwas_guid *provider, TRACEHANDLE session,
                             struct etwas_steer_standing *standing)
{
    etwas_guid guid = *provider;
    uint32_t bytes;
    uint32_t code;
    TRACE_GUID_INFO *info = etwas_steer_enumerate(TraceGuidQueryInfo, &guid, &bytes, &code);
    const TRACE_PROVIDER_INSTANCE_INFO *instance = info != NULL ? (const void *)(info + 1) : NULL;

    *standing = (struct etwas_steer_standing){false, false};
    for (uint32_t i = 0; info != NULL && i < info->InstanceCount; i++) {
        const TRACE_ENABLE_INFO *enables = (const void *)(instance + 1);

        standing->is_registered |= instance->Pid != 0;
        for (uint32_t j = 0; j < instance->EnableCount; j++) {
            standing->is_enabled |= enables[j].LoggerId == (session & ETWAS_STEER_LOGGER_ID);
        }
        instance = (const void *)((const char *)instance + instance->NextOffset);
    }
    free(info);
    return code == ERROR_SUCCESS || code == ERROR_WMI_GUID_NOT_FOUND;
}

static const char *system_name(const etwas_guid *guid)
{
    for (size_t i = 0; i < SYSTEM_PROVIDERS; i++) {
        if (memcmp(system_providers[i].guid, guid, sizeof *guid) == 0) {
            return system_providers[i].name;
        }
    }
    return NULL;
}

void etwas_steer_report_unregistered(const char *command, const char *text, const etwas_guid *guid)
{
    struct etwas_steer_standing standing;
    etwas_guid named;

    if (!etwas_is_quiet && read_provider(text, &named) == GUID_ITSELF &&
        system_name(guid) == NULL && etwas_steer_find_folder(guid, 0, &standing) &&
        !standing.is_registered) {
        etwas_steer_complain(command, text, "note: nobody has registered it yet");
    }
}

bool etwas_steer_provider_name(const etwas_guid *guid, char name[ETWAS_STEER_PROVIDER_BYTES])
{
    const char *of_system = system_name(guid);

    if (of_system != NULL) {
        (void)snprintf(name, ETWAS_STEER_PROVIDER_BYTES, "%s", of_system);
        return true;
    }
    return etwas_provider_name(guid, name, ETWAS_STEER_PROVIDER_BYTES) == ERROR_SUCCESS;
}

bool etwas_steer_level(const char *text, uint8_t *level)
{
    static const char *const names[] = {"critical", "error", "warning", "information", "verbose"};
    uint64_t number;

    for (uint8_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(text, names[i]) == 0) {
            *level = (uint8_t)(TRACE_LEVEL_CRITICAL + i);
            return true;
        }
    }
    if (!etwas_value_count(text, &number) || number > UINT8_MAX) {
        return false;
    }
    *level = (uint8_t)number;
    return true;
}

/*
 * The first part of the text, and what is behind its colon; NULL: nothing. False: it is too long.
 */
static bool cut(const char *text, char part[ETWAS_STEER_NAME_BYTES], const char **rest)
{
    size_t length = strcspn(text, ":");

    if (length >= ETWAS_STEER_NAME_BYTES) {
        return false;
    }
    memcpy(part, text, length);
    part[length] = '\0';
    *rest = text[length] == ':' ? text + length + 1 : NULL;
    return true;
}

bool etwas_steer_parse_provider(const char *text, struct etwas_steer_provider *provider)
{
    char part[ETWAS_STEER_NAME_BYTES];
    etwas_guid guid;
    const char *rest;

    *provider = (struct etwas_steer_provider){.text = text, .level = ETWAS_STEER_ANY_LEVEL};
    if (!cut(text, part, &rest) || !etwas_steer_guid(part, &guid)) {
        return false;
    }
    if (rest == NULL) {
        return true;
    }
    return cut(rest, part, &rest) &&
           (part[0] == '\0' || etwas_value_count(part, &provider->keywords)) &&
           (rest == NULL || etwas_steer_level(rest, &provider->level));
}

static uint32_t enable(TRACEHANDLE session, const struct etwas_steer_provider *provider,
                       const etwas_guid *guid, EVENT_FILTER_DESCRIPTOR *filter)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableFilterDesc = filter,
                                          .FilterDescCount = filter != NULL};
    uint32_t code =
        EnableTraceEx2(session, guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, provider->level,
                       provider->keywords, 0, ETWAS_STEER_PATIENCE_MS, &parameters);

    /* What takes longer is done all the same. */
    return code == ERROR_TIMEOUT ? (uint32_t)ERROR_SUCCESS : code;
}

bool etwas_steer_enable(const char *command, TRACEHANDLE session,
                        const struct etwas_steer_provider *provider,
                        EVENT_FILTER_DESCRIPTOR *filter)
{
    char name[ETWAS_STEER_NAME_BYTES];
    etwas_guid guid;
    const char *rest;
    uint32_t code;

    (void)cut(provider->text, name, &rest); /* it has been parsed */
    if (!etwas_steer_find_provider(command, name, &guid)) {
        return false;
    }
    code = enable(session, provider, &guid, filter);
    if (code != ERROR_SUCCESS) {
        etwas_steer_complain(command, provider->text, etwas_steer_enable_reason(code));
        return false;
    }
    etwas_steer_report_unregistered(command, name, &guid);
    return true;
}

bool etwas_steer_is_by_name(const struct etwas_steer_provider *provider)
{
    char name[ETWAS_STEER_NAME_BYTES];
    etwas_guid guid;
    const char *rest;

    return cut(provider->text, name, &rest) && read_provider(name, &guid) == NAME;
}

static void say_other(const char *command, const char *name, const etwas_guid *guid)
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "%s: '", command);
    etwas_text_plain(errors, name);
    etwas_output_text(errors, "': a provider that calls itself so has another GUID, ");
    etwas_text_guid(errors, guid);
    etwas_output_text(errors, ": it is enabled, too\n");
    etwas_output_flush(errors);
}

static bool is_among(const struct etwas_steer_others *others, const etwas_guid *guid)
{
    for (uint32_t i = 0; i < others->count; i++) {
        if (memcmp(&others->guids[i], guid, sizeof *guid) == 0) {
            return true;
        }
    }
    return others->count == sizeof others->guids / sizeof *others->guids;
}

void etwas_steer_enable_others(const char *command, TRACEHANDLE session,
                               const struct etwas_steer_provider *provider,
                               EVENT_FILTER_DESCRIPTOR *filter, struct etwas_steer_others *others)
{
    struct etwas_steer_standing standing;
    char name[ETWAS_STEER_NAME_BYTES];
    etwas_guid found[MOST_FOUND];
    etwas_guid made;
    const char *rest;
    uint32_t count = 0;

    (void)cut(provider->text, name, &rest);
    if (read_provider(name, &made) != NAME) {
        return;
    }
    (void)etwas_provider_guids(name, found, MOST_FOUND, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (memcmp(&found[i], &made, sizeof made) == 0 || is_among(others, &found[i]) ||
            !etwas_steer_find_folder(&made, session, &standing) || !standing.is_enabled) {
            continue;
        }
        others->guids[others->count++] = found[i]; /* once: if a user disables it, it stays so */
        if (enable(session, provider, &found[i], filter) == ERROR_SUCCESS) {
            say_other(command, name, &found[i]);
        }
    }
}
