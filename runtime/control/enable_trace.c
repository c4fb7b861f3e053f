/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* EnableTrace, EnableTraceEx and EnableTraceEx2. The first two are forms of the third. */
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "control/system_information.h"
#include "platform/wait.h"
#include "provider/enabling.h"
#include "provider/event_filter.h"
#include "provider/event_items.h"
#include "provider/system_providers.h"
#include "session/session.h"
#include "session/sharing.h"

#define KNOWN_PROPERTIES                                                                           \
    (EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_STACK_TRACE | \
     EVENT_ENABLE_PROPERTY_PSM_KEY | EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 |                      \
     EVENT_ENABLE_PROPERTY_PROVIDER_GROUP | EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0 |               \
     EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY |                   \
     EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE | EVENT_ENABLE_PROPERTY_ENABLE_SILOS |                \
     EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING | ETWAS_ENABLE_PROPERTY_COUNTERS)

/* Whether the GUID stands for the whole system; no session can enable that. */
static bool is_of_the_system(const etwas_guid *guid)
{
    return memcmp(guid, &SystemTraceControlGuid, sizeof *guid) == 0 ||
           memcmp(guid, &KernelRundownGuid, sizeof *guid) == 0;
}

/* Reads either version of the structure into the newer one. */
static uint32_t read_parameters(const ENABLE_TRACE_PARAMETERS *given,
                                ENABLE_TRACE_PARAMETERS *parameters)
{
    memset(parameters, 0, sizeof *parameters);
    if (given == NULL) {
        return ERROR_SUCCESS;
    }
    switch (given->Version) {
    case ENABLE_TRACE_PARAMETERS_VERSION:
        memcpy(parameters, given, sizeof(ENABLE_TRACE_PARAMETERS_V1));
        parameters->FilterDescCount = parameters->EnableFilterDesc != NULL ? 1 : 0;
        break;
    case ENABLE_TRACE_PARAMETERS_VERSION_2:
        *parameters = *given;
        break;
    default:
        return ERROR_INVALID_PARAMETER;
    }
    return parameters->ControlFlags != 0 || (parameters->EnableProperty & ~KNOWN_PROPERTIES) != 0
               ? ERROR_INVALID_PARAMETER
               : ERROR_SUCCESS;
}

/*
 * Adds filters and stacks to the enablement; `events` is the parsed filter by event id. Returns
 * ERROR_NOT_SUPPORTED for any property except EVENT_ENABLE_PROPERTY_STACK_TRACE, and for any filter
 * except those by process id, by event id and, for stacks, by event id.
 */
static uint32_t add_system_filters(struct etwas_system_enablement *enablement,
                                   const ENABLE_TRACE_PARAMETERS *parameters,
                                   const struct etwas_event_filter *events)
{
    if ((parameters->EnableProperty & ~EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0 ||
        (events->kinds & ~(uint32_t)(ETWAS_FILTER_EVENTS | ETWAS_FILTER_STACKS)) != 0) {
        return ERROR_NOT_SUPPORTED;
    }
    enablement->has_stacks = parameters->EnableProperty != 0;
    enablement->events = events->events;
    enablement->stacks = events->stacks;
    for (uint32_t index = 0; index < parameters->FilterDescCount; index++) {
        EVENT_FILTER_DESCRIPTOR one;

        memcpy(&one, &parameters->EnableFilterDesc[index], sizeof one); /* it may be misaligned */
        if (one.Type == EVENT_FILTER_TYPE_EXECUTABLE_NAME) {
            return ERROR_NOT_SUPPORTED;
        }
        if (one.Type == EVENT_FILTER_TYPE_PID && one.Size <= sizeof enablement->processes) {
            memcpy(enablement->processes, (const void *)(uintptr_t)one.Ptr, one.Size);
            enablement->process_count = one.Size / (uint32_t)sizeof *enablement->processes;
        }
    }
    return ERROR_SUCCESS;
}

static uint32_t enable_of_system(const struct etwas_enable_request *request, uint32_t of_system,
                                 const ENABLE_TRACE_PARAMETERS *parameters)
{
    const struct etwas_enablement *wanted = &request->enablement;
    struct etwas_system_enablement enablement = {.level = wanted->level,
                                                 .match_any = wanted->match_any_keyword,
                                                 .match_all = wanted->match_all_keyword};
    uint32_t code = add_system_filters(&enablement, parameters, request->filter);

    return code != ERROR_SUCCESS
               ? code
               : etwas_system_information_enable(wanted->session, of_system, request->control_code,
                                                 &enablement);
}

/* Enables providers in this process and, if other processes log into the session, also there. */
static uint32_t enable_of_programs(struct etwas_enable_request *request,
                                   const ENABLE_TRACE_PARAMETERS *parameters)
{
    uint32_t of_others;
    uint32_t code;

    if (request->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER &&
        !etwas_sharing.may_enable(request)) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    code = etwas_provider_enable(request);
    if (code != ERROR_SUCCESS && code != ERROR_TIMEOUT) {
        return code;
    }
    of_others = etwas_sharing.publish_enablement(request, parameters);
    return code != ERROR_SUCCESS ? code : of_others;
}

uint32_t EnableTraceEx2(etwas_trace_handle handle, const etwas_guid *provider,
                        uint32_t control_code, uint8_t level, uint64_t match_any_keyword,
                        uint64_t match_all_keyword, uint32_t timeout_ms,
                        ENABLE_TRACE_PARAMETERS *given)
{
    ENABLE_TRACE_PARAMETERS parameters;
    struct etwas_event_filter filter = {0};
    struct etwas_enable_request request = {.control = provider,
                                           .control_code = control_code,
                                           .timeout_ms = timeout_ms,
                                           .filter = &filter,
                                           .enablement = {.session = handle,
                                                          .match_any_keyword = match_any_keyword,
                                                          .match_all_keyword = match_all_keyword,
                                                          .level = level}};
    struct etwas_session_key key;
    uint32_t of_system;
    uint32_t code;

    if (provider == NULL || !etwas_writer_key_of(handle, &key) ||
        control_code > EVENT_CONTROL_CODE_CAPTURE_STATE || is_of_the_system(provider)) {
        return ERROR_INVALID_PARAMETER;
    }
    code = read_parameters(given, &parameters);
    if (code == ERROR_SUCCESS) {
        code = etwas_enable_filters_read(parameters.EnableFilterDesc, parameters.FilterDescCount,
                                         &request.excluded, &filter);
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    request.enablement.property = parameters.EnableProperty;
    request.is_group = (parameters.EnableProperty & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0;
    request.source = parameters.SourceId;
    request.asked_ns = etwas_monotonic_ns();
    if (key.index >= ETWAS_SESSION_ENTRIES) {
        return etwas_sharing.enable(&request, &parameters);
    }
    of_system = etwas_system_provider_of(provider);
    if (of_system != ETWAS_SYSTEM_PROVIDERS) {
        return enable_of_system(&request, of_system, &parameters);
    }
    /* Ids and names are specific to one provider, and a group has no name. */
    if (request.is_group &&
        (filter.kinds & (ETWAS_FILTER_EVENTS | ETWAS_FILTER_NAMES | ETWAS_FILTER_TRIGGERS |
                         ETWAS_FILTER_PATTERNS | ETWAS_FILTER_PROVIDER_NAME)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    /* Before any lock is taken: files are read, and the loader's lock is taken. */
    request.enablement.session = etwas_session_handle(key);
    etwas_enable_request_prepare(&request);
    return enable_of_programs(&request, &parameters);
}

uint32_t EnableTraceEx(const etwas_guid *provider, const etwas_guid *source,
                       etwas_trace_handle handle, uint32_t control_code, uint8_t level,
                       uint64_t match_any_keyword, uint64_t match_all_keyword, uint32_t property,
                       EVENT_FILTER_DESCRIPTOR *filter)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = property,
        .EnableFilterDesc = filter,
        .FilterDescCount = filter != NULL ? 1 : 0,
    };

    (void)source; /* not given to classic providers */
    return EnableTraceEx2(handle, provider, control_code, level, match_any_keyword,
                          match_all_keyword, 0, &parameters);
}

uint32_t EnableTrace(uint32_t control_code, uint32_t flags, uint32_t level,
                     const etwas_guid *control, etwas_trace_handle handle)
{
    return EnableTraceEx2(handle, control, control_code, (uint8_t)level, flags, 0, 0, NULL);
}
