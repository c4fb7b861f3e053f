/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The functions of KernelTraceControl.h. Functions that this release does not implement already
 * refuse bad arguments with their final codes, so that callers see the same codes later.
 */

#include <etwas/KernelTraceControl.h>
#include <string.h>

#include "control/properties.h"
#include "control/system_information.h"
#include "control/system_request.h"
#include "provider/system_providers.h"

/* R181: the session runs under the caller's own name. */
static uint32_t start_rundown(etwas_trace_handle *handle, EVENT_TRACE_PROPERTIES *properties)
{
    etwas_wchar name[ETWAS_NAME_UNITS + 1];
    uint32_t code = etwas_properties_check(properties);

    if (code == ERROR_SUCCESS) {
        code = etwas_properties_logger_name(properties, ETWAS_NAMES_UTF16, name);
    }
    return code == ERROR_SUCCESS ? StartTraceW(handle, name, properties) : code;
}

/* The session runs; it is stopped on failure. */
static uint32_t kernel_trace_set_stacks(etwas_trace_handle *session,
                                        EVENT_TRACE_PROPERTIES *properties,
                                        const STACK_TRACING_EVENT_ID *ids, uint32_t count)
{
    CLASSIC_EVENT_ID classic[ETWAS_STACK_HOOKS];
    uint32_t code;

    memcpy(classic, ids, count * sizeof *classic);
    code = etwas_system_information_set_stacks(*session, classic, count);
    if (code != ERROR_SUCCESS) {
        (void)StopTraceW(*session, NULL, properties);
        *session = 0;
    }
    return code;
}

uint32_t StartKernelTrace(etwas_trace_handle *TraceHandle, EVENT_TRACE_PROPERTIES *Properties,
                          const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                          uint32_t cStackTracingEventIds)
{
    bool is_rundown;
    uint32_t code;

    if (TraceHandle != NULL) {
        *TraceHandle = 0;
    }
    if (TraceHandle == NULL || Properties == NULL ||
        (StackTracingEventIds == NULL && cStackTracingEventIds != 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    /* R181, R182 */
    is_rundown = memcmp(&Properties->Wnode.Guid, &KernelRundownGuid, sizeof(etwas_guid)) == 0;
    if (!is_rundown &&
        memcmp(&Properties->Wnode.Guid, &SystemTraceControlGuid, sizeof(etwas_guid)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_system_flags_are_known(Properties->EnableFlags)) {
        return ERROR_INVALID_FLAGS;
    }
    if (cStackTracingEventIds > ETWAS_STACK_HOOKS) { /* R189 */
        return ERROR_INVALID_PARAMETER;
    }
    code = is_rundown ? start_rundown(TraceHandle, Properties)
                      : StartTraceW(TraceHandle, KERNEL_LOGGER_NAMEW, Properties);
    if (code == ERROR_SUCCESS && cStackTracingEventIds != 0) {
        code = kernel_trace_set_stacks(TraceHandle, Properties, StackTracingEventIds,
                                       cStackTracingEventIds);
    }
    return code == ERROR_NOT_ENOUGH_MEMORY ? ERROR_OUTOFMEMORY : code;
}

uint32_t StartHeapTrace(etwas_trace_handle *TraceHandle, EVENT_TRACE_PROPERTIES *Properties,
                        const etwas_wchar *wszSessionName, const uint32_t Pids[], uint32_t cPids,
                        const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                        uint32_t cStackTracingEventIds)
{
    (void)Pids;
    (void)cPids;
    (void)StackTracingEventIds;
    (void)cStackTracingEventIds;
    if (TraceHandle != NULL) {
        *TraceHandle = 0;
    }
    return TraceHandle == NULL || Properties == NULL || wszSessionName == NULL
               ? ERROR_INVALID_PARAMETER
               : ERROR_NOT_SUPPORTED;
}

uint32_t UpdateHeapTrace(EVENT_TRACE_PROPERTIES *Properties, const etwas_wchar *wszSessionName,
                         const uint32_t Pids[], uint32_t cPids,
                         const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                         uint32_t cStackTracingEventIds)
{
    (void)Pids;
    (void)cPids;
    (void)StackTracingEventIds;
    (void)cStackTracingEventIds;
    return Properties == NULL || wszSessionName == NULL ? ERROR_INVALID_PARAMETER
                                                        : ERROR_NOT_SUPPORTED;
}

uint32_t CreateMergedTraceFile(const etwas_wchar *wszMergedFileName,
                               const etwas_wchar *wszTraceFileNames[], uint32_t cTraceFileNames,
                               uint32_t dwExtendedDataFlags)
{
    (void)cTraceFileNames;
    (void)dwExtendedDataFlags;
    return wszMergedFileName == NULL || wszTraceFileNames == NULL ? ERROR_INVALID_PARAMETER
                                                                  : ERROR_NOT_SUPPORTED;
}
