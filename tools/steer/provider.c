/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/provider.h"

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
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

/* Text with the hyphens of a GUID is meant as one, even if its digits are wrong. */
static bool looks_like_guid(const char *text)
{
    return strlen(text) == ETWAS_TEXT_GUID_CHARACTERS && text[8] == '-' && text[13] == '-' &&
           text[18] == '-' && text[23] == '-';
}

enum kind {
    NOTHING, /* neither a GUID nor a name */
    GUID_ITSELF,
    NAME,    /* the GUID is made from the name */
    PATTERN, /* likewise, to identify the pattern in requests */
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
    if (strpbrk(text, "*?") != NULL && strlen(text) >= ETWAS_FILTER_PROVIDER_NAME_BYTES) {
        return NOTHING;
    }
    return etwas_name_guid(text, guid) != ERROR_SUCCESS ? NOTHING
           : strpbrk(text, "*?") != NULL                ? PATTERN
                                                        : NAME;
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

/* Notes that the GUID was made from the name, unless a provider with this GUID is registered. */
static void note_made(const char *command, const char *name, const etwas_guid *guid, bool is_known)
{
    struct etwas_steer_standing standing;

    if (!etwas_is_quiet &&
        !(etwas_steer_find_folder(guid, 0, &standing) && standing.is_registered)) {
        etwas_steer_complain(command, name,
                             is_known
                                 ? "note: nobody has registered it yet; it is enabled when a "
                                   "program does. Its GUID is made of the name"
                                 : "not every process's providers can be read, and no other is "
                                   "called so: its GUID is made of the name");
    }
}

bool etwas_steer_find_provider(const char *command, const char *text, bool will_come,
                               struct etwas_steer_target *target)
{
    enum kind kind = read_provider(text, &target->guid);
    etwas_guid found[2];
    uint32_t count = 0;
    uint32_t code = ERROR_NOT_FOUND;

    target->is_pattern = kind == PATTERN;
    target->name = kind == PATTERN ? text : NULL;
    if (kind == NAME) {
        code = etwas_provider_guids(text, found, 2, &count);
    }
    if (count == 2) {
        say_two(command, text, found);
        return false;
    }
    if (count == 1) {
        target->guid = found[0];
    } else if (kind == NAME) {
        target->name = strlen(text) < ETWAS_FILTER_PROVIDER_NAME_BYTES ? text : NULL;
        if (!will_come || code != ERROR_NOT_FOUND) {
            note_made(command, text, &target->guid, code == ERROR_NOT_FOUND);
        }
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
        *bytes = 0; /* in case the GUID has no registration any more */
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

    *standing = (struct etwas_steer_standing){false, false, false};
    for (uint32_t i = 0; info != NULL && i < info->InstanceCount; i++) {
        const TRACE_ENABLE_INFO *enables = (const void *)(instance + 1);

        standing->is_registered |= instance->Pid != 0;
        standing->is_classic |= (instance->Flags & TRACE_PROVIDER_FLAG_LEGACY) != 0;
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
        etwas_steer_complain(
            command, text, "note: nobody has registered it yet; it is enabled when a program does");
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
    uint64_t number;

    if (etwas_value_level_name(text, level)) {
        return true;
    }
    if (!etwas_value_count(text, &number) || number > UINT8_MAX) {
        return false;
    }
    *level = (uint8_t)number;
    return true;
}

/*
 * Copies the text up to a colon, and sets *rest to what follows it, or NULL. Returns false if the
 * part is too long.
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

/*
 * Parses the parts of the text. Returns what a part should have been, as part of a sentence, and
 * leaves that part in `part`; NULL if all are valid.
 */
static const char *read_parts(const char *text, struct etwas_steer_provider *provider,
                              char part[ETWAS_STEER_NAME_BYTES])
{
    etwas_guid guid;
    const char *rest;

    *provider = (struct etwas_steer_provider){.text = text, .level = ETWAS_STEER_ANY_LEVEL};
    part[0] = '\0';
    if (!cut(text, part, &rest) || !etwas_steer_guid(part, &guid)) {
        return "a name or GUID of a provider: PROVIDER[:KEYWORDS[:LEVEL]]";
    }
    if (rest != NULL && (!cut(rest, part, &rest) ||
                         (part[0] != '\0' && !etwas_value_count(part, &provider->keywords)))) {
        return "KEYWORDS, a number such as 0x8. Of all keywords PROVIDER:0:LEVEL chooses a level";
    }
    if (rest != NULL && !etwas_steer_level(rest, &provider->level)) {
        (void)snprintf(part, ETWAS_STEER_NAME_BYTES, "%s", rest);
        return ETWAS_STEER_A_LEVEL;
    }
    return NULL;
}

bool etwas_steer_parse_provider(const char *text, struct etwas_steer_provider *provider)
{
    char part[ETWAS_STEER_NAME_BYTES];

    return read_parts(text, provider, part) == NULL;
}

bool etwas_steer_read_provider(const struct etwas_option_use *use,
                               struct etwas_steer_provider *provider)
{
    char part[ETWAS_STEER_NAME_BYTES];
    const char *expected = read_parts(use->text, provider, part);

    if (expected != NULL) {
        fprintf(stderr, "etwas %s: --%s: '%s': '%s' is not %s\n", use->command, use->option->name,
                use->text, part, expected);
    }
    return expected == NULL;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Returns what is wrong with filters for a system provider; NULL if nothing is. */
static const char *unfit_for_system(const struct etwas_steer_filters *filters)
{
    return filters->name_bytes != 0
               ? "events of the kernel are chosen by ids (docs/reference/kernel-events.md)"
           : filters->program_bytes != 0
               ? "of the kernel's events --pid chooses the processes, and --process does not"
               : NULL;
}

uint32_t etwas_steer_request(TRACEHANDLE session, const struct etwas_steer_target *target,
                             const struct etwas_steer_request *request)
{
    static const struct etwas_steer_filters all;
    EVENT_FILTER_DESCRIPTOR descriptors[ETWAS_STEER_DESCRIPTORS];
    const bool enables = request->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
    const bool is_group = (request->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0;
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = request->property,
        .EnableFilterDesc = descriptors,
        .FilterDescCount =
            etwas_steer_filters_describe(request->filters != NULL ? request->filters : &all,
                                         enables && !is_group ? target->name : NULL,
                                         system_name(&target->guid) != NULL, descriptors),
    };

    return EnableTraceEx2(session, &target->guid, request->control_code, request->level,
                          request->any, request->all, request->timeout_ms, &parameters);
}

/* Notes what has no effect. ETW accepts it silently. */
static void note_in_vain(const char *command, const char *text,
                         const struct etwas_steer_target *target,
                         const struct etwas_steer_request *request)
{
    const struct etwas_steer_filters *filters = request->filters;
    struct etwas_steer_standing standing;
    etwas_guid guid;
    uint32_t count;

    if (etwas_is_quiet) {
        return;
    }
    if (!request->will_come && target->is_pattern &&
        etwas_provider_guids(text, &guid, 1, &count) == ERROR_NOT_FOUND) {
        etwas_steer_complain(command, text,
                             "note: no provider that is registered has such a name; those that "
                             "come are enabled");
    }
    if (!request->will_come && target->name == NULL) {
        etwas_steer_report_unregistered(command, text, &target->guid);
    }
    if (filters != NULL && etwas_steer_filters_choose_events(filters) &&
        etwas_steer_find_folder(&target->guid, 0, &standing) && standing.is_classic) {
        etwas_steer_complain(command, text,
                             "note: it is a classic provider, of which --event chooses nothing: "
                             "all of its events are recorded");
    }
}

bool etwas_steer_enable_target(const char *command, TRACEHANDLE session, const char *text,
                               const struct etwas_steer_target *target,
                               const struct etwas_steer_request *request)
{
    const char *wrong = request->filters != NULL && system_name(&target->guid) != NULL
                            ? unfit_for_system(request->filters)
                            : NULL;
    uint32_t code = wrong == NULL ? etwas_steer_request(session, target, request)
                                  : (uint32_t)ERROR_NOT_SUPPORTED;

    if (code != ERROR_SUCCESS && (code != ERROR_TIMEOUT || !request->may_be_late)) {
        etwas_steer_complain(command, text,
                             wrong != NULL ? wrong : etwas_steer_enable_reason(code));
    }
    if (code != ERROR_SUCCESS && code != ERROR_TIMEOUT) {
        return false;
    }
    if ((request->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) == 0) {
        note_in_vain(command, text, target, request);
    }
    return true;
}

bool etwas_steer_enable(const char *command, TRACEHANDLE session,
                        const struct etwas_steer_provider *provider,
                        const struct etwas_steer_filters *filters, bool will_come)
{
    const struct etwas_steer_request request = {
        .control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
        .level = provider->level,
        .any = provider->keywords,
        .timeout_ms = ETWAS_STEER_PATIENCE_MS,
        .may_be_late = true,
        .will_come = will_come,
        .filters = filters,
    };
    struct etwas_steer_target target;
    char name[ETWAS_STEER_NAME_BYTES];
    const char *rest;

    (void)cut(provider->text, name, &rest); /* it was parsed before */
    return etwas_steer_find_provider(command, name, will_come, &target) &&
           etwas_steer_enable_target(command, session, name, &target, &request);
}

void etwas_steer_provider_text(const struct etwas_steer_provider *provider,
                               char name[ETWAS_STEER_NAME_BYTES])
{
    const char *rest;

    (void)cut(provider->text, name, &rest);
}
