/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableTrace, EnableTraceEx and EnableTraceEx2. The first two are forms of the third.
 */
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "control/enable_filter.h"
#include "control/system_information.h"
#include "provider/enabling.h"
#include "provider/event_items.h"
#include "provider/image_records.h"
#include "session/session.h"
#include "system/enablement.h"
#include "system/keywords.h"
#include "system/thread_counters.h"

#define KNOWN_PROPERTIES                                                                           \
    (EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_STACK_TRACE | \
     EVENT_ENABLE_PROPERTY_PSM_KEY | EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 |                      \
     EVENT_ENABLE_PROPERTY_PROVIDER_GROUP | EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0 |               \
     EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY |                   \
     EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE | EVENT_ENABLE_PROPERTY_ENABLE_SILOS |                \
     EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING | ETWAS_ENABLE_PROPERTY_COUNTERS)

/* All of it: no session can have that. */
static bool is_of_the_system(const etwas_guid *guid)
{
    return memcmp(guid, &SystemTraceControlGuid, sizeof *guid) == 0 ||
           memcmp(guid, &KernelRundownGuid, sizeof *guid) == 0;
}

/* The structure in either version, read into the newer one. */
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

uint32_t EnableTraceEx2(etwas_trace_handle handle, const etwas_guid *provider,
                        uint32_t control_code, uint8_t level, uint64_t match_any_keyword,
                        uint64_t match_all_keyword, uint32_t timeout_ms,
                        ENABLE_TRACE_PARAMETERS *given)
{
    ENABLE_TRACE_PARAMETERS parameters;
    struct etwas_enable_request request = {
        .control = provider, .control_code = control_code, .timeout_ms = timeout_ms};
    struct etwas_event_filter filter;
    struct etwas_session_key key;
    uint32_t of_system;
    uint32_t code;

    if (provider == NULL || !etwas_session_key_of(handle, &key) ||
        control_code > EVENT_CONTROL_CODE_CAPTURE_STATE || is_of_the_system(provider)) {
        return ERROR_INVALID_PARAMETER;
    }
    code = read_parameters(given, &parameters);
    memset(&filter, 0, sizeof filter);
    if (code == ERROR_SUCCESS) {
        code = etwas_enable_filters_read(parameters.EnableFilterDesc, parameters.FilterDescCount,
                                         &request.excluded, &filter);
    }
    of_system = etwas_system_provider_of(provider);
    if (code == ERROR_SUCCESS && of_system != ETWAS_SYSTEM_PROVIDERS) {
        struct etwas_system_enablement asked = {
            .level = level, .match_any = match_any_keyword, .match_all = match_all_keyword};

        code = etwas_system_enablement_add(&asked, &parameters, &filter);
        return code != ERROR_SUCCESS
                   ? code
                   : etwas_system_information_enable(handle, of_system, control_code, &asked);
    }
    request.is_group = (parameters.EnableProperty & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP) != 0;
    /* Ids and names mean something in one provider. */
    if (code == ERROR_SUCCESS && request.is_group &&
        (filter.kinds & (ETWAS_FILTER_EVENTS | ETWAS_FILTER_NAMES | ETWAS_FILTER_TRIGGERS)) != 0) {
        code = ERROR_INVALID_PARAMETER;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* Before any lock is taken: files are read, and the loader's lock is taken. */
    if ((parameters.EnableProperty & ETWAS_ITEM_PROPERTIES) != 0) {
        etwas_identity_read(&request.identity);
    }
    if ((parameters.EnableProperty & EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0) {
        etwas_image_records_update();
    }
    if ((parameters.EnableProperty & ETWAS_ENABLE_PROPERTY_COUNTERS) != 0) {
        etwas_thread_counters_prepare();
    }
    request.source = parameters.SourceId;
    request.filter = &filter;
    request.wish = (struct etwas_enablement){
        .session = etwas_session_handle(key),
        .match_any_keyword = match_any_keyword,
        .match_all_keyword = match_all_keyword,
        .property = parameters.EnableProperty,
        .level = level,
    };
    return etwas_provider_enable(&request);
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
