/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Our headers leave a program's own identifiers alone: unsuffixed names are functions, not macros,
 * and the short names of Windows' headers are not taken. Compiles as C and as C++.
 */

#include <etwas/KernelTraceControl.h>
#include <etwas/TraceLoggingActivity.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/windows_types.h>

#if defined(StartTrace) || defined(StopTrace) || defined(QueryTrace) || defined(FlushTrace) ||     \
    defined(ControlTrace) || defined(RegisterTraceGuids) || defined(OpenTrace) ||                  \
    defined(EVENT_TRACE_LOGFILE) || defined(PEVENT_TRACE_LOGFILE)
#error "an unsuffixed name is a macro"
#endif
#if defined(IN) || defined(OUT) || defined(OPTIONAL) || defined(__in) || defined(__out) ||         \
    defined(interface) || defined(TEXT) || defined(min) || defined(max) || defined(small)
#error "a name that programs use themselves is a macro"
#endif

struct tracer {
    int StartTrace, StopTrace, OpenTrace, IN, OUT, interface;
};

int use(struct tracer StartTrace);

int use(struct tracer StartTrace)
{
    return StartTrace.StartTrace + StartTrace.OpenTrace;
}
