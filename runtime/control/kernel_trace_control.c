/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The functions of KernelTraceControl.h. Nothing behind them exists in this release; they refuse
 * bad arguments as they always will, so that callers see the same codes later.
 */

#include <etwas/KernelTraceControl.h>
#include <stdbool.h>

static uint32_t refuse_start(etwas_trace_handle *handle, bool is_complete)
{
    if (handle == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *handle = 0;
    return is_complete ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
}

uint32_t StartKernelTrace(etwas_trace_handle *TraceHandle, EVENT_TRACE_PROPERTIES *Properties,
                          const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                          uint32_t cStackTracingEventIds)
{
    (void)StackTracingEventIds;
    (void)cStackTracingEventIds;
    return refuse_start(TraceHandle, Properties != NULL);
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
    return refuse_start(TraceHandle, Properties != NULL && wszSessionName != NULL);
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
