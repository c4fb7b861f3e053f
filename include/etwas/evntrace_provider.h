/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_PROVIDER_H
#define ETWAS_EVNTRACE_PROVIDER_H

/*
 * The functions of classic providers in evntrace.h. Include evntrace.h instead.
 */

#include <stdarg.h>

#include <etwas/evntrace_types.h>
#include <etwas/types.h>

ETWAS_BEGIN_DECLS

/*
 * Registers a provider and the event classes of its instances.
 *
 * RequestAddress is called when a session enables or disables the provider, or requests its state
 * (WMI_CAPTURE_STATE). If a session has enabled it already, the callback runs during this call, and
 * this call returns its value. The provider is registered whatever the callback returns.
 * TraceGuidReg holds GuidCount classes, and their RegHandle members are filled. It may be NULL,
 * with GuidCount 0, if only TraceEvent is used. The class GUIDs are copied. MofImagePath and
 * MofResourceName are not used. On failure *RegistrationHandle is 0.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: RequestAddress, ControlGuid or RegistrationHandle is NULL; TraceGuidReg
 *   or a class GUID is NULL although GuidCount is not 0.
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
 * Ends a registration and the handles of its classes. When the call returns, the provider's
 * callback does not run and is not called again. There is one exception: a callback that makes this
 * call, or waits for the thread that makes it, still runs.
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: the handle is 0, or not a registration.
 *
 * ETW page: "UnregisterTraceGuids function".
 */
uint32_t UnregisterTraceGuids(etwas_trace_handle RegistrationHandle)
    ETWAS_API(etwas_UnregisterTraceGuids);

/*
 * Returns the handle of the session that enables the provider, from the Buffer of its control
 * callback. Call it only there. On failure it returns INVALID_PROCESSTRACE_HANDLE, and GetLastError
 * returns ERROR_INVALID_PARAMETER (Buffer is NULL) or ERROR_INVALID_HANDLE (it has no handle).
 *
 * Thread-safe.
 *
 * ETW page: "GetTraceLoggerHandle function".
 */
etwas_trace_handle GetTraceLoggerHandle(void *Buffer) ETWAS_API(etwas_GetTraceLoggerHandle);

/*
 * Return the level and the flags with which the session TraceHandle has the provider enabled. They
 * are the present ones, which may be newer than the request that a callback was called for.
 * TraceHandle is a handle of GetTraceLoggerHandle, which identifies the provider. 0 may be a level,
 * flags, or a failure: call SetLastError(ERROR_SUCCESS) before and GetLastError after.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_HANDLE (GetLastError): TraceHandle is 0, a handle of StartTrace, or of a session
 *   that does not enable the provider. The last case occurs in a callback for WMI_DISABLE_EVENTS,
 *   and if the session was stopped, or superseded by another, meanwhile.
 *
 * ETW pages: "GetTraceEnableLevel function", "GetTraceEnableFlags function".
 */
uint8_t GetTraceEnableLevel(etwas_trace_handle TraceHandle) ETWAS_API(etwas_GetTraceEnableLevel);
uint32_t GetTraceEnableFlags(etwas_trace_handle TraceHandle) ETWAS_API(etwas_GetTraceEnableFlags);

/*
 * Creates an instance of the class RegHandle: fills InstInfo with RegHandle and a number that is
 * unique in the process and never 0. After 4,294,967,295 the numbers restart at 1.
 *
 * Thread-safe and async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: RegHandle or InstInfo is NULL.
 *
 * ETW page: "CreateTraceInstanceId function".
 */
uint32_t CreateTraceInstanceId(etwas_handle RegHandle, EVENT_INSTANCE_INFO *InstInfo)
    ETWAS_API(etwas_CreateTraceInstanceId);

/*
 * Writes an event of an instance to a session.
 *
 * EventTrace is the header, followed by its data. Set Size (bytes of both), Flags
 * (WNODE_FLAG_TRACED_GUID) and RegHandle; the caller may set Class. If Flags has
 * WNODE_FLAG_USE_MOF_PTR, up to 16 MOF_FIELDs follow the header instead. Size includes them, and
 * the data that they point to are recorded in their order, without padding. InstInfo is the
 * instance, which takes precedence over RegHandle, and ParentInstInfo is its parent, or NULL.
 *
 * TraceHandle is the handle of any running session, from the control callback or from StartTrace.
 * The library fills the recorded copy; it may also change the out members of the caller's
 * structure.
 *
 * Thread-safe and async-signal-safe. It may be called between fork and exec, but not in a child of
 * vfork. It never waits for another thread.
 *
 * ERROR_INVALID_PARAMETER: TraceHandle is 0; EventTrace or InstInfo is NULL; a member of InstInfo
 *   is 0; Size is smaller than the header; more than 16 MOF fields, or Size is not a whole number
 *   of them.
 * ERROR_INVALID_FLAGS: Flags lacks WNODE_FLAG_TRACED_GUID.
 * ERROR_INVALID_HANDLE: the session does not run, or RegHandle is not registered.
 * ERROR_MORE_DATA: Size is not below the buffer size less 72 bytes, or the event with its data does
 *   not fit into a buffer or exceeds 65,535 bytes. The event is counted lost (lost_too_large).
 * ERROR_NOT_ENOUGH_MEMORY: there is no free buffer, and the event is counted lost. The code is also
 *   returned if this thread was stopped inside the record for longer than the flusher waits (a
 *   second). In this case the event is counted lost, or recorded if it was complete by then.
 * ERROR_LOG_FILE_FULL: a real-time session has no consumer, and its backlog and buffers are full.
 *   The event is counted lost.
 *
 * ETW page: "TraceEventInstance function".
 */
uint32_t TraceEventInstance(etwas_trace_handle TraceHandle, EVENT_INSTANCE_HEADER *EventTrace,
                            EVENT_INSTANCE_INFO *InstInfo, EVENT_INSTANCE_INFO *ParentInstInfo)
    ETWAS_API(etwas_TraceEventInstance);

/*
 * Writes an event to a session. It is like TraceEventInstance, except for the class: the caller
 * sets Guid, or GuidPtr with WNODE_FLAG_USE_GUID_PTR, and the GUID itself is recorded. Errors are
 * those of TraceEventInstance, and:
 *
 * ERROR_INVALID_FLAG_NUMBER: Flags lacks WNODE_FLAG_TRACED_GUID.
 * ERROR_INVALID_PARAMETER: GuidPtr is 0.
 *
 * ETW page: "TraceEvent function".
 */
uint32_t TraceEvent(etwas_trace_handle TraceHandle, EVENT_TRACE_HEADER *EventTrace)
    ETWAS_API(etwas_TraceEvent);

/*
 * Writes a message to a session: a number, the items that MessageFlags requests, and data from any
 * addresses.
 *
 * TRACE_MESSAGE_SEQUENCE     a number from 1 on, if the session counts messages: within itself with
 *                            EVENT_TRACE_USE_LOCAL_SEQUENCE, together with all such sessions of the
 *                            process with EVENT_TRACE_USE_GLOBAL_SEQUENCE. In other sessions the
 *                            message is recorded without a number and without the flag. A lost
 *                            message uses up its number; a refused one uses none, unless its
 *                            session stops meanwhile. After 4,294,967,295 comes 1.
 * TRACE_MESSAGE_GUID         the class, *MessageGuid
 * TRACE_MESSAGE_COMPONENTID  the first 4 bytes of *MessageGuid; only these are read
 * TRACE_MESSAGE_TIMESTAMP    the time, by the session's clock. TRACE_MESSAGE_PERFORMANCE_TIMESTAMP
 *                            requests the same; the session chooses the clock
 * TRACE_MESSAGE_SYSTEMINFO   the thread and process id of the writer
 * TRACE_MESSAGE_POINTER32    the data are of a 32-bit process. Otherwise TRACE_MESSAGE_POINTER64 is
 *                            recorded, given or not
 *
 * If neither TRACE_MESSAGE_GUID nor _COMPONENTID is set, MessageGuid is not used and may be NULL.
 * The caller chooses MessageNumber. The arguments are pairs of a pointer (void *) and a size
 * (size_t, in bytes), up to 128 that are not empty. The data are recorded in their order, without
 * padding. The first NULL pointer ends the list, whatever follows it: write NULL, (size_t)0.
 *
 * LoggerHandle is the handle of any running session, as for TraceEvent.
 *
 * Thread-safe and async-signal-safe; needs about 4 KB of stack. It may be called between fork and
 * exec, but not in a child of vfork. It never waits for another thread.
 *
 * ERROR_INVALID_HANDLE: LoggerHandle is 0, or the session does not run.
 * ERROR_INVALID_PARAMETER: MessageFlags has other bits, both TRACE_MESSAGE_GUID and _COMPONENTID,
 *   or both TRACE_MESSAGE_POINTER32 and _POINTER64; MessageGuid is NULL although it is used; or
 *   there are too many arguments.
 * ERROR_MORE_DATA: the message does not fit into a buffer, less 72 bytes, or exceeds 65,535 bytes.
 *   It has 8 bytes, the items of MessageFlags (at most 36 bytes), and the data. It is counted lost.
 * ERROR_NOT_ENOUGH_MEMORY, ERROR_LOG_FILE_FULL: as for TraceEventInstance; the message is counted
 *   lost.
 *
 * ETW page: "TraceMessage function".
 */
uint32_t TraceMessage(etwas_trace_handle LoggerHandle, uint32_t MessageFlags,
                      const etwas_guid *MessageGuid, uint16_t MessageNumber, ...)
    ETWAS_API(etwas_TraceMessage);

/*
 * TraceMessage for callers that have the arguments as a va_list. Only va_end may be used on the
 * list afterwards. Errors and safety are those of TraceMessage.
 *
 * ETW page: "TraceMessageVa function".
 */
uint32_t TraceMessageVa(etwas_trace_handle LoggerHandle, uint32_t MessageFlags,
                        const etwas_guid *MessageGuid, uint16_t MessageNumber,
                        va_list MessageArgList) ETWAS_API(etwas_TraceMessageVa);

ETWAS_END_DECLS

#endif
