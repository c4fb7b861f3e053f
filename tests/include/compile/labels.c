/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Uses every function and GUID we declare. The test looks at the symbols that the object needs:
 * all of them carry our prefix, and the unsuffixed names are the A or the W function.
 */

#include <etwas/KernelTraceControl.h>
#include <etwas/evntrace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*function)(void);
extern const function functions[];
extern const etwas_guid *const guids[];

/* Through void *, so that no compiler calls the casts suspicious. */
#define ADDRESS(name) __extension__(function)(void *) name

const function functions[] = {
#ifdef ONLY_UNSUFFIXED
    ADDRESS(StartTrace), ADDRESS(ControlTrace),       ADDRESS(StopTrace), ADDRESS(QueryTrace),
    ADDRESS(FlushTrace), ADDRESS(RegisterTraceGuids), ADDRESS(OpenTrace),
#else
    ADDRESS(StartTraceA),          ADDRESS(StartTraceW),
    ADDRESS(ControlTraceA),        ADDRESS(ControlTraceW),
    ADDRESS(StopTraceA),           ADDRESS(StopTraceW),
    ADDRESS(QueryTraceA),          ADDRESS(QueryTraceW),
    ADDRESS(FlushTraceA),          ADDRESS(FlushTraceW),
    ADDRESS(EnableTrace),          ADDRESS(RegisterTraceGuidsA),
    ADDRESS(RegisterTraceGuidsW),  ADDRESS(UnregisterTraceGuids),
    ADDRESS(GetTraceLoggerHandle), ADDRESS(GetTraceEnableLevel),
    ADDRESS(GetTraceEnableFlags),  ADDRESS(CreateTraceInstanceId),
    ADDRESS(TraceEventInstance),   ADDRESS(TraceEvent),
    ADDRESS(TraceMessage),         ADDRESS(TraceMessageVa),
    ADDRESS(OpenTraceA),           ADDRESS(OpenTraceW),
    ADDRESS(ProcessTrace),         ADDRESS(CloseTrace),
    ADDRESS(GetLastError),         ADDRESS(SetLastError),
    ADDRESS(StartKernelTrace),     ADDRESS(StartHeapTrace),
    ADDRESS(UpdateHeapTrace),      ADDRESS(CreateMergedTraceFile),
#endif
};

#ifndef ONLY_UNSUFFIXED
const etwas_guid *const guids[] = {&SystemTraceControlGuid, &EventTraceGuid, &StackWalkGuid,
                                   &SystemIoProviderGuid};
#endif

#ifdef __cplusplus
}
#endif
