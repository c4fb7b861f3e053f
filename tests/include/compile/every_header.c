/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Every public header in one file, as C and as C++. A host's headers may come first: with
 * BESIDE_... the file includes them and checks that they bring the clash they are here for.
 */

#if defined(BESIDE_UNIXODBC)
#include <sql.h>
#include <sqlext.h>
typedef DWORD host_dword;
#elif defined(BESIDE_PCSCLITE)
#include <winscard.h>
#include <wintypes.h>
typedef DWORD host_dword;
#elif defined(BESIDE_WINPR)
#include <stdio.h>
#include <winpr/error.h>
#include <winpr/file.h>
#include <winpr/handle.h>
#include <winpr/synch.h>
#include <winpr/sysinfo.h>
#include <winpr/thread.h>
#include <winpr/windows.h>
#include <winpr/wtypes.h>
typedef DWORD host_dword;
#endif

#include <etwas/KernelTraceControl.h>
#include <etwas/TraceLoggingActivity.h>
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/types.h>
#include <etwas/winerror.h>
#include <etwas/winmeta.h>
#include <etwas/wmistr.h>

#if defined(BESIDE_PCSCLITE)
ETWAS_STATIC_ASSERT(sizeof(host_dword) == 8, "pcsc-lite's DWORD is an unsigned long");
#elif defined(BESIDE_UNIXODBC) || defined(BESIDE_WINPR)
ETWAS_STATIC_ASSERT(sizeof(host_dword) >= 4, "the host has a DWORD");
#endif
#if defined(BESIDE_WINPR)
/* Still winpr's function: ours goes by etwas_GetLastError here. */
DWORD (*host_last_error)(void) = GetLastError;
#endif

uint32_t start(etwas_trace_handle *session, EVENT_TRACE_PROPERTIES *properties);

uint32_t start(etwas_trace_handle *session, EVENT_TRACE_PROPERTIES *properties)
{
    properties->Wnode.BufferSize = (uint32_t)sizeof(EVENT_TRACE_PROPERTIES);
    properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    properties->Wnode.Guid = SystemTraceControlGuid;
    properties->LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    if (StartTraceW(session, ETWAS_TEXT("session"), properties) != ERROR_SUCCESS) {
        return etwas_GetLastError();
    }
    return StopTraceA(*session, "session", properties);
}
