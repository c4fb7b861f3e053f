/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_PROVIDER_H
#define ETWAS_EVNTRACE_PROVIDER_H

/*
 * The functions of classic providers, of evntrace.h; include that.
 */

#include <stdarg.h>

#include <etwas/evntrace_types.h>
#include <etwas/types.h>

ETWAS_BEGIN_DECLS

/*
 * Registers a provider, and the event classes of its instances.
 *
 * RequestAddress is called when a session enables or disables the provider, or asks for its state
 * (WMI_CAPTURE_STATE). Where one has enabled it already, the callback runs during this call and its
 * value is returned here; the provider is registered whatever it returns. TraceGuidReg holds
 * GuidCount classes whose RegHandle is filled; it may be NULL, with GuidCount 0, where only
 * TraceEvent is used. The class GUIDs are copied. MofImagePath and MofResourceName are not used. On
 * failure *RegistrationHandle is 0.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: RequestAddress, ControlGuid or RegistrationHandle NULL; TraceGuidReg
 *   or a class GUID NULL where GuidCount is not 0.
 * ERROR_NO_SYSTEM_RESOURCES: more than 1,024 providers in the process, or too many classes.
 *
 * ETW page: "RegisterTraceGuidsW function".
 */
uint32_t RegisterTraceGuidsA(WMIDPREQUEST RequestAddress, void *RequestContext,
                             const etwas_guid *ControlGuid, uint32_t GuidCount,
                             TRACE_GUID_REGISTRATION *TraceGuidReg, const char *MofImagePath,
                             const char *MofResourceName, etwas_trace_handle *RegistrationHandle)
    ETWAS_API(etwas_RegisterTraceGuidsA);
uint32_t RegisterTraceGuidsW(WMIDPREQUEST RequestAddress, void *RequestContext,
                             const etwas_guid *ControlGuid, uint32_t GuidCount,
                             TRACE_GUID_REGISTRATION *TraceGuidReg, const etwas_wchar *MofImagePath,
                             const etwas_wchar *MofResourceName,
                             etwas_trace_handle *RegistrationHandle)
    ETWAS_API(etwas_RegisterTraceGuidsW);
uint32_t RegisterTraceGuids(WMIDPREQUEST RequestAddress, void *RequestContext,
                            const etwas_guid *ControlGuid, uint32_t GuidCount,
                            TRACE_GUID_REGISTRATION *TraceGuidReg, const etwas_tchar *MofImagePath,
                            const etwas_tchar *MofResourceName,
                            etwas_trace_handle *RegistrationHandle)
    ETWAS_API_AW(RegisterTraceGuids);

/*
 * Ends a registration and its classes' handles. The provider's callback is not called again, and
 * does not run any more once this returns, unless it is what calls this function, or waits for the
 * thread that does.
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: 0, or not a registration.
 *
 * ETW page: "UnregisterTraceGuids function".
 */
uint32_t UnregisterTraceGuids(etwas_trace_handle RegistrationHandle)
    ETWAS_API(etwas_UnregisterTraceGuids);

/*
 * The handle of the session that enables the provider, from the Buffer of its control callback.
 * Call it only there. Where it fails it returns INVALID_PROCESSTRACE_HANDLE, and GetLastError
 * says ERROR_INVALID_PARAMETER (Buffer NULL) or ERROR_INVALID_HANDLE (no handle in it).
 *
 * Thread-safe.
 *
 * ETW page: "GetTraceLoggerHandle function".
 */
etwas_trace_handle GetTraceLoggerHandle(void *Buffer) ETWAS_API(etwas_GetTraceLoggerHandle);

/*
 * The level and the flags that the session TraceHandle has the provider enabled with. They are
 * those of now, which may be newer than the request that a callback was called for. TraceHandle is
 * what GetTraceLoggerHandle gave: it knows the provider. 0 may be a level or flags, or a failure:
 * call SetLastError(ERROR_SUCCESS) before and GetLastError after.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_HANDLE (GetLastError): TraceHandle is 0, StartTrace's, or of a session that does
 *   not enable the provider: in a callback for WMI_DISABLE_EVENTS, and where the session was
 *   stopped, or superseded by another, meanwhile.
 *
 * ETW pages: "GetTraceEnableLevel function", "GetTraceEnableFlags function".
 */
uint8_t GetTraceEnableLevel(etwas_trace_handle TraceHandle) ETWAS_API(etwas_GetTraceEnableLevel);
uint32_t GetTraceEnableFlags(etwas_trace_handle TraceHandle) ETWAS_API(etwas_GetTraceEnableFlags);

/*
 * Makes an instance of the class RegHandle: fills InstInfo with RegHandle and a number that is
 * unique in the process and never 0. After 4,294,967,295 the numbers restart at 1.
 *
 * Thread-safe. Safe in signal handlers.
 *
 * ERROR_INVALID_PARAMETER: RegHandle or InstInfo NULL.
 *
 * ETW page: "CreateTraceInstanceId function".
 */
uint32_t CreateTraceInstanceId(etwas_handle RegHandle, EVENT_INSTANCE_INFO *InstInfo)
    ETWAS_API(etwas_CreateTraceInstanceId);

/*
 * Writes an event of an instance to a session.
 *
 * EventTrace is the header with its data behind it. Set Size (bytes of both), Flags
 * (WNODE_FLAG_TRACED_GUID) and RegHandle; Class is up to the caller. With WNODE_FLAG_USE_MOF_PTR
 * up to 16 MOF_FIELDs are behind the header instead; Size counts them, and the data they point to
 * is recorded in their order, without padding. InstInfo is the instance (it wins over RegHandle)
 * and ParentInstInfo its parent, or NULL.
 *
 * TraceHandle is any running session's handle, from the control callback or from StartTrace. The
 * library fills the recorded copy; it may also change the caller's out members.
 *
 * Thread-safe. Safe in signal handlers and between fork and exec. Not in a child of vfork. Never
 * waits for another thread.
 *
 * ERROR_INVALID_PARAMETER: TraceHandle 0; EventTrace or InstInfo NULL; a member of InstInfo 0;
 *   Size smaller than the header; more than 16 MOF fields, or Size not a whole number of them.
 * ERROR_INVALID_FLAGS: Flags without WNODE_FLAG_TRACED_GUID.
 * ERROR_INVALID_HANDLE: not a running session, or a RegHandle that is not registered.
 * ERROR_MORE_DATA: Size is not below the buffer size less 72 bytes, or the event with its data
 *   does not fit in a buffer or is above 65,535 bytes. The event is counted lost (lost_too_large).
 * ERROR_NOT_ENOUGH_MEMORY: no free buffer; the event is counted lost. Also when this thread was
 *   stopped inside the record for longer than the flusher waits (a second): then the event is
 *   counted lost, or recorded if it was whole by that time.
 * ERROR_LOG_FILE_FULL: a real-time session has no consumer, and its backlog and buffers are full;
 *   the event is counted lost.
 *
 * ETW page: "TraceEventInstance function".
 */
uint32_t TraceEventInstance(etwas_trace_handle TraceHandle, EVENT_INSTANCE_HEADER *EventTrace,
                            EVENT_INSTANCE_INFO *InstInfo, EVENT_INSTANCE_INFO *ParentInstInfo)
    ETWAS_API(etwas_TraceEventInstance);

/*
 * Writes an event to a session. As TraceEventInstance, but for the class: the caller sets Guid, or
 * GuidPtr with WNODE_FLAG_USE_GUID_PTR, and the GUID itself is recorded.
 *
 * ERROR_INVALID_FLAG_NUMBER: Flags without WNODE_FLAG_TRACED_GUID.
 * Other errors as for TraceEventInstance. A GuidPtr of 0 is ERROR_INVALID_PARAMETER.
 *
 * ETW page: "TraceEvent function".
 */
uint32_t TraceEvent(etwas_trace_handle TraceHandle, EVENT_TRACE_HEADER *EventTrace)
    ETWAS_API(etwas_TraceEvent);

/*
 * Writes a message to a session: a number, what MessageFlags ask for, and data from anywhere.
 *
 * TRACE_MESSAGE_SEQUENCE     a number from 1 on, if the session counts messages: within itself with
 *                            EVENT_TRACE_USE_LOCAL_SEQUENCE, with all sessions of the process that
 *                            have EVENT_TRACE_USE_GLOBAL_SEQUENCE with that. In other sessions the
 *                            message is recorded without a number and without the flag. A message
 *                            that is lost leaves its number out; one that is refused takes none,
 *                            unless its session stops meanwhile. After 4,294,967,295 comes 1.
 * TRACE_MESSAGE_GUID         the class, *MessageGuid
 * TRACE_MESSAGE_COMPONENTID  the first 4 bytes of *MessageGuid, which is all that is read then
 * TRACE_MESSAGE_TIMESTAMP    the time, by the session's clock. TRACE_MESSAGE_PERFORMANCE_TIMESTAMP
 *                            asks for the same; the session chooses the clock
 * TRACE_MESSAGE_SYSTEMINFO   who logs: thread and process id
 * TRACE_MESSAGE_POINTER32    the data is of a 32-bit process. Otherwise TRACE_MESSAGE_POINTER64 is
 *                            recorded, given or not
 *
 * Without TRACE_MESSAGE_GUID or _COMPONENTID MessageGuid is not used and may be NULL. MessageNumber
 * is the caller's. The arguments are pairs of a pointer (void *) and a size (size_t, in bytes), up
 * to 128 that are not empty; the data is recorded in their order, without padding. The first NULL
 * pointer ends the list, whatever follows it: write NULL, (size_t)0.
 *
 * LoggerHandle is any running session's, as for TraceEvent.
 *
 * Thread-safe. Safe in signal handlers and between fork and exec; needs about 4 KB of stack. Not in
 * a child of vfork. Never waits for another thread.
 *
 * ERROR_INVALID_HANDLE: LoggerHandle 0, or not a running session.
 * ERROR_INVALID_PARAMETER: MessageFlags with other bits, with TRACE_MESSAGE_GUID and _COMPONENTID,
 *   or with TRACE_MESSAGE_POINTER32 and _POINTER64; MessageGuid NULL though it is used; too many
 *   arguments.
 * ERROR_MORE_DATA: the message does not fit in a buffer, less 72 bytes, or is above 65,535 bytes.
 *   It has 8 bytes, those that MessageFlags ask for (at most 36), and the data. It is counted lost.
 * ERROR_NOT_ENOUGH_MEMORY, ERROR_LOG_FILE_FULL: as for TraceEventInstance; the message is counted
 *   lost.
 *
 * ETW page: "TraceMessage function".
 */
uint32_t TraceMessage(etwas_trace_handle LoggerHandle, uint32_t MessageFlags,
                      const etwas_guid *MessageGuid, uint16_t MessageNumber, ...)
    ETWAS_API(etwas_TraceMessage);

/*
 * TraceMessage for callers that have the arguments as a va_list, of which only va_end may be used
 * afterwards. Errors and safety as there.
 *
 * ETW page: "TraceMessageVa function".
 */
uint32_t TraceMessageVa(etwas_trace_handle LoggerHandle, uint32_t MessageFlags,
                        const etwas_guid *MessageGuid, uint16_t MessageNumber,
                        va_list MessageArgList) ETWAS_API(etwas_TraceMessageVa);

ETWAS_END_DECLS

#endif
