/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The functions of KernelTraceControl.h. Nothing behind them exists in this release; they refuse
 * bad arguments as they always will, so that callers see the same codes later.
 */

#include <etwas/KernelTraceControl.h>

uint32_t StartKernelTrace(etwas_trace_handle *TraceHandle, EVENT_TRACE_PROPERTIES *Properties,
                          const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                          uint32_t cStackTracingEventIds)
{
    (void)StackTracingEventIds;
    (void)cStackTracingEventIds;
    if (TraceHandle != NULL) {
        *TraceHandle = 0;
    }
    if (TraceHandle == NULL || Properties == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    return ERROR_NOT_SUPPORTED;
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
    if (TraceHandle == NULL || Properties == NULL || wszSessionName == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    return ERROR_NOT_SUPPORTED;
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
    if (Properties == NULL || wszSessionName == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    return ERROR_NOT_SUPPORTED;
}

uint32_t CreateMergedTraceFile(const etwas_wchar *wszMergedFileName,
                               const etwas_wchar *wszTraceFileNames[], uint32_t cTraceFileNames,
                               uint32_t dwExtendedDataFlags)
{
    (void)cTraceFileNames;
    (void)dwExtendedDataFlags;
    if (wszMergedFileName == NULL || wszTraceFileNames == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    return ERROR_NOT_SUPPORTED;
}
