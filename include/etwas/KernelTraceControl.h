/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_KERNELTRACECONTROL_H
#define ETWAS_KERNELTRACECONTROL_H

/*
 * Sessions of kernel events, of heap events, and merged files: ETW's KernelTraceControl.h. This
 * release has the kernel events (docs/reference/kernel-events.md). The other functions check their
 * arguments and return ERROR_NOT_SUPPORTED.
 */

#include <etwas/evntrace.h>
#include <etwas/types.h>

ETWAS_BEGIN_DECLS

#define EVENT_TRACE_TYPE_READYTHREAD 0x32u

/* An event with a stack that is recorded. ETW page: "STACK_TRACING_EVENT_ID". */
typedef struct _STACK_TRACING_EVENT_ID {
    etwas_guid EventGuid;
    uint8_t Type;
    uint8_t Reserved[7];
} STACK_TRACING_EVENT_ID, *PSTACK_TRACING_EVENT_ID;
ETWAS_ASSERT_SIZE(STACK_TRACING_EVENT_ID, 24);

/*
 * Starts the NT Kernel Logger with stacks for cStackTracingEventIds kinds of events
 * (StackTracingEventIds may be NULL with 0). Properties are those of StartTraceW, but the call
 * fills in the name. On failure *TraceHandle is 0.
 *
 * If Wnode.Guid is KernelRundownGuid, it starts a session that records the present state and
 * nothing that happens: processes, threads, images and the system's configuration, whatever
 * EnableFlags has. The caller puts its name at LoggerNameOffset, in UTF-16. The session needs no
 * privilege; without privileges it records what the process may see.
 *
 * A session begins with events of the system's configuration, unless EnableFlags has
 * EVENT_TRACE_FLAG_NO_SYSCONFIG. docs/reference/kernel-events.md says what each flag delivers and
 * needs. The process needs CAP_PERFMON and Linux 6.0, and read access to tracefs for tracepoints.
 * CAP_NET_ADMIN adds the exit statuses of processes. CAP_SYS_PTRACE adds the images that other
 * processes had before. The log file belongs to the user alone (0600).
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: TraceHandle or Properties is NULL; Wnode.Guid is neither
 *   SystemTraceControlGuid nor KernelRundownGuid; or it is the latter and there is no name.
 * ERROR_INVALID_FLAGS: EnableFlags has unknown bits.
 * ERROR_NOT_SUPPORTED: this release lacks a flag or mode of a system logger, or the kernel lacks an
 *   event.
 * ERROR_ACCESS_DENIED: the process may not see the system's events: etwas_kernel_refusal (etwas.h)
 *   says what is missing.
 * ERROR_PATH_NOT_FOUND: tracefs is not mounted.
 * ERROR_ALREADY_EXISTS: the process has one already.
 * ERROR_OUTOFMEMORY: there is not enough memory.
 *
 * Other errors are those of StartTrace.
 *
 * ETW page: "StartKernelTrace".
 */
uint32_t StartKernelTrace(etwas_trace_handle *TraceHandle, EVENT_TRACE_PROPERTIES *Properties,
                          const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                          uint32_t cStackTracingEventIds) ETWAS_API(etwas_StartKernelTrace);

/*
 * Starts a session of the heap events of the running processes Pids. On failure *TraceHandle is 0.
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: TraceHandle, Properties or wszSessionName NULL.
 * ERROR_NOT_SUPPORTED: always otherwise, in this release.
 *
 * ETW page: "StartHeapTrace".
 */
uint32_t StartHeapTrace(etwas_trace_handle *TraceHandle, EVENT_TRACE_PROPERTIES *Properties,
                        const etwas_wchar *wszSessionName, const uint32_t Pids[], uint32_t cPids,
                        const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                        uint32_t cStackTracingEventIds) ETWAS_API(etwas_StartHeapTrace);

/*
 * Changes the processes of a running heap session.
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: Properties or wszSessionName NULL.
 * ERROR_NOT_SUPPORTED: always otherwise, in this release.
 *
 * ETW page: "UpdateHeapTrace".
 */
uint32_t UpdateHeapTrace(EVENT_TRACE_PROPERTIES *Properties, const etwas_wchar *wszSessionName,
                         const uint32_t Pids[], uint32_t cPids,
                         const STACK_TRACING_EVENT_ID StackTracingEventIds[],
                         uint32_t cStackTracingEventIds) ETWAS_API(etwas_UpdateHeapTrace);

/*
 * Merges log files into one. dwExtendedDataFlags says what is added to the merged file.
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: wszMergedFileName or wszTraceFileNames NULL.
 * ERROR_NOT_SUPPORTED: always otherwise, in this release.
 *
 * ETW page: "CreateMergedTraceFile".
 */
uint32_t CreateMergedTraceFile(const etwas_wchar *wszMergedFileName,
                               const etwas_wchar *wszTraceFileNames[], uint32_t cTraceFileNames,
                               uint32_t dwExtendedDataFlags) ETWAS_API(etwas_CreateMergedTraceFile);

ETWAS_END_DECLS

#endif
