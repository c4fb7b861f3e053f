/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * TraceSetInformation and TraceQueryInformation: settings that EVENT_TRACE_PROPERTIES does not
 * have.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "control/system_information.h"
#include "provider/system_providers.h"
#include "session/session.h"

enum {
    TRACE_PROCESSING_VERSION = 1 /* version of OpenTrace and ProcessTrace here */
};

static uint32_t information_copy_out(void *information, uint32_t room, uint32_t *return_bytes,
                                     const void *value, uint32_t bytes)
{
    if (return_bytes != NULL) {
        *return_bytes = bytes;
    }
    if (room < bytes) {
        return ERROR_BAD_LENGTH;
    }
    if (information == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(information, value, bytes);
    return ERROR_SUCCESS;
}

/* Queries the interval of the source that the block names. */
static uint32_t information_query_interval(etwas_trace_handle session, void *information,
                                           uint32_t room, uint32_t *return_bytes)
{
    TRACE_PROFILE_INTERVAL interval = {0};
    uint32_t code;

    if (information != NULL && room >= sizeof interval) {
        memcpy(&interval, information, sizeof interval);
    }
    code = etwas_system_information_interval(session, &interval);
    return code == ERROR_SUCCESS
               ? information_copy_out(information, room, return_bytes, &interval, sizeof interval)
               : code;
}

static uint32_t information_query_stacks(etwas_trace_handle session, void *information,
                                         uint32_t room, uint32_t *return_bytes)
{
    CLASSIC_EVENT_ID ids[ETWAS_STACK_HOOKS];
    uint32_t count = 0;
    uint32_t code = etwas_system_information_stacks(session, ids, &count);

    return code == ERROR_SUCCESS ? information_copy_out(information, room, return_bytes, ids,
                                                        count * (uint32_t)sizeof *ids)
                                 : code;
}

static uint32_t information_query_flags(etwas_trace_handle session, void *information,
                                        uint32_t room, uint32_t *return_bytes)
{
    uint32_t masks[ETWAS_GROUP_MASKS];
    uint32_t code = etwas_system_information_flags(session, masks);

    return code == ERROR_SUCCESS
               ? information_copy_out(information, room, return_bytes, masks, sizeof masks)
               : code;
}

/* Returns the only source: its number, or a PROFILE_SOURCE_INFO. */
static uint32_t information_query_sources(etwas_trace_handle session, TRACE_INFO_CLASS class,
                                          void *information, uint32_t room, uint32_t *return_bytes)
{
    static const struct timer {
        uint32_t next;
        uint32_t source;
        uint32_t least;
        uint32_t most;
        uint64_t reserved;
        etwas_wchar description[8];
    } timer = {.least = ETWAS_PROFILE_INTERVAL_LEAST,
               .most = ETWAS_PROFILE_INTERVAL_MOST,
               .description = ETWAS_TEXT("Timer")};
    uint32_t code = etwas_system_information_check_sources(session);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    return class == TraceProfileSourceListInfo
               ? information_copy_out(information, room, return_bytes, &timer, sizeof timer)
               : information_copy_out(information, room, return_bytes, &timer.source,
                                      sizeof timer.source);
}

uint32_t TraceQueryInformation(etwas_trace_handle session, TRACE_INFO_CLASS information_class,
                               void *information, uint32_t information_bytes,
                               uint32_t *return_bytes)
{
    static const TRACE_VERSION_INFO version = {.EtwTraceProcessingVersion =
                                                   TRACE_PROCESSING_VERSION};
    static const uint32_t loggers = ETWAS_SESSIONS;

    switch ((uint32_t)information_class) {
    case TraceVersionInfo:
        return information_copy_out(information, information_bytes, return_bytes, &version,
                                    sizeof version);
    case TraceMaxLoggersQuery:
        return information_copy_out(information, information_bytes, return_bytes, &loggers,
                                    sizeof loggers);
    case TraceStackTracingInfo:
        return information_query_stacks(session, information, information_bytes, return_bytes);
    case TraceSystemTraceEnableFlagsInfo:
        return information_query_flags(session, information, information_bytes, return_bytes);
    case TraceProfileSourceConfigInfo:
    case TraceProfileSourceListInfo:
        return information_query_sources(session, information_class, information, information_bytes,
                                         return_bytes);
    case TraceSampledProfileIntervalInfo:
        return information_query_interval(session, information, information_bytes, return_bytes);
    default:
        return ERROR_NOT_SUPPORTED;
    }
}

static uint32_t information_set_interval(etwas_trace_handle session, const void *information,
                                         uint32_t bytes)
{
    TRACE_PROFILE_INTERVAL interval;

    if (bytes < sizeof interval) {
        return ERROR_BAD_LENGTH;
    }
    memcpy(&interval, information, sizeof interval);
    return etwas_system_information_set_interval(session, &interval);
}

static uint32_t information_set_stacks(etwas_trace_handle session, const void *information,
                                       uint32_t bytes)
{
    CLASSIC_EVENT_ID ids[ETWAS_STACK_HOOKS];
    uint32_t count;
    uint32_t code = etwas_system_information_stacks(session, ids, &count);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (bytes % sizeof *ids != 0) {
        return ERROR_BAD_LENGTH;
    }
    if (bytes > sizeof ids) { /* R189 */
        return ERROR_INVALID_PARAMETER;
    }
    if (bytes != 0) {
        memcpy(ids, information, bytes);
    }
    return etwas_system_information_set_stacks(session, ids, bytes / (uint32_t)sizeof *ids);
}

static uint32_t set_flags(etwas_trace_handle session, const void *information, uint32_t bytes)
{
    uint32_t masks[ETWAS_GROUP_MASKS];

    if (bytes < sizeof masks) {
        return ERROR_BAD_LENGTH;
    }
    memcpy(masks, information, sizeof masks);
    return etwas_system_information_set_flags(session, masks);
}

/* The timer is the only source, so nothing changes. */
static uint32_t set_sources(etwas_trace_handle session, const void *information, uint32_t bytes)
{
    uint32_t code = etwas_system_information_check_sources(session);
    uint32_t source;

    if (code == ERROR_SUCCESS && (bytes == 0 || bytes % sizeof source != 0)) {
        code = ERROR_BAD_LENGTH;
    }
    for (uint32_t at = 0; code == ERROR_SUCCESS && at < bytes; at += (uint32_t)sizeof source) {
        memcpy(&source, (const uint8_t *)information + at, sizeof source);
        code = source == 0 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
    }
    return code;
}

uint32_t TraceSetInformation(etwas_trace_handle session, TRACE_INFO_CLASS information_class,
                             void *information, uint32_t information_bytes)
{
    if (information == NULL && information_bytes != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    switch ((uint32_t)information_class) {
    case TraceStackTracingInfo:
        return information_set_stacks(session, information, information_bytes);
    case TraceSystemTraceEnableFlagsInfo:
        return set_flags(session, information, information_bytes);
    case TraceProfileSourceConfigInfo:
        return set_sources(session, information, information_bytes);
    case TraceSampledProfileIntervalInfo:
        return information_set_interval(session, information, information_bytes);
    default:
        return ERROR_NOT_SUPPORTED;
    }
}
