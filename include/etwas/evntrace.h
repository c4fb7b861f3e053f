/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_H
#define ETWAS_EVNTRACE_H

/*
 * Sessions, classic providers and consumers: ETW's evntrace.h. This header declares the functions
 * of controllers. It includes those of classic providers (evntrace_provider.h) and of consumers
 * (evntrace_consumer.h). The following holds for all of them.
 *
 * A name ending in A takes UTF-8 strings, a name ending in W takes UTF-16. A name without either is
 * the A function, or the W function if UNICODE or _UNICODE is defined before the first include.
 * Functions return a Win32 code of winerror.h unless stated otherwise. Strings and structures
 * belong to the caller and are not kept after the call.
 *
 * A session writes to a file, hands its events to consumers (EVENT_TRACE_REAL_TIME_MODE), or keeps
 * them in memory (EVENT_TRACE_BUFFERING_MODE). docs/reference/modes.md lists every bit of
 * LogFileMode.
 *
 * Processes of one user that take part in sharing (shared.h) see each other's sessions. A session
 * of StartTrace is visible to all of them under its name, unless it is private or shared.h says
 * otherwise. Any other session is visible only in the process that starts it. One copy of the
 * library is active in a process: a second copy returns ERROR_ALREADY_INITIALIZED for requests to
 * register, start or control anything (etwas.h says when there is one).
 */

#include <etwas/evntprov.h>
#include <etwas/evntrace_constants.h>
#include <etwas/evntrace_consumer.h>
#include <etwas/evntrace_guids.h>
#include <etwas/evntrace_keywords.h>
#include <etwas/evntrace_provider.h>
#include <etwas/evntrace_types.h>
#include <etwas/types.h>
#include <etwas/winerror.h>
#include <etwas/wmistr.h>

ETWAS_BEGIN_DECLS

/*
 * Creates and starts a session.
 *
 * Properties is one allocation of Wnode.BufferSize bytes: the structure, room for the session name
 * at LoggerNameOffset, and the log file name at LogFileNameOffset (0: no file). Zero it first; 0
 * means the default. Set Wnode.BufferSize, Wnode.Flags (WNODE_FLAG_TRACED_GUID),
 * Wnode.ClientContext (the clock) and what the session needs. On success Properties holds the
 * session's name, its GUID, its handle (Wnode.HistoricalContext) and the adjusted values.
 * *TraceHandle is the handle, which is never 0. On failure *TraceHandle is 0 and nothing was
 * started. The log file's name stays as the caller wrote it; QUERY returns the one in force.
 *
 * InstanceName has at most 1,024 characters and compares without regard to case. The log file's
 * folder must exist. An existing log file is replaced, or extended with
 * EVENT_TRACE_FILE_MODE_APPEND. For EVENT_TRACE_FILE_MODE_NEWFILE its name holds one `%d` (or
 * `%5d`, `%05d`), which a number from 1 on replaces. For EVENT_TRACE_PRIVATE_LOGGER_MODE `_` and
 * the process id are appended to it. The resulting name has at most 1,024 characters too.
 *
 * EnableFlags are for a system logger only: a session with EVENT_TRACE_SYSTEM_LOGGER_MODE, or the
 * NT Kernel Logger. They name the kernel events that it records (docs/reference/kernel-events.md).
 *
 * If Wnode.Flags has WNODE_FLAG_VERSIONED_PROPERTIES, the block is an EVENT_TRACE_PROPERTIES_V2.
 * Its filters are for a private session without EVENT_TRACE_PRIVATE_IN_PROC. Their types are
 * EVENT_FILTER_TYPE_PID and EVENT_FILTER_TYPE_EXECUTABLE_NAME: at most one of each, with at most
 * 1,024 bytes of data. If they exclude this process, the session starts, answers and stops as any
 * other, but records nothing and has no file. Logging to it returns ERROR_INVALID_HANDLE. Other
 * processes that the filters name get sessions of their own, if this process and they take part in
 * sharing (shared.h). LargeMdlPages requests huge pages. ExcludeKernelStack limits the stacks of a
 * system logger to their user parts.
 *
 * Thread-safe; not async-signal-safe; no cancellation point.
 *
 * ERROR_BAD_LENGTH: Wnode.BufferSize is too small, or there is no room for the session name.
 * ERROR_INVALID_PARAMETER: an argument is NULL; a name offset is outside the block or inside the
 *   structure; Wnode.Flags lacks WNODE_FLAG_TRACED_GUID; ClientContext is unknown; modes exclude
 *   each other; a name is too long; V2 members are not as documented; filters are malformed or not
 *   allowed here.
 * ERROR_INVALID_PARAMETER, of EnableFlags: they are not 0 and the session is not a system logger,
 *   or they have unknown bits.
 * ERROR_INVALID_PARAMETER, of files: MaximumFileSize is 0 with EVENT_TRACE_FILE_MODE_CIRCULAR,
 *   _NEWFILE or _PREALLOCATE, or is too small for the header and one buffer (two with _CIRCULAR).
 *   EVENT_TRACE_FILE_MODE_APPEND is given without BufferSize, with another clock than system time,
 *   or for a file with another BufferSize, clock or number of processors.
 * ERROR_NOT_SUPPORTED: this release lacks a mode or one of the EnableFlags.
 * ERROR_ALREADY_EXISTS: a running session has this name or this GUID.
 * ERROR_BAD_PATHNAME: LogFileMode and LogFileNameOffset are both 0; another session uses the log
 *   file; or the file name is too long.
 * ERROR_INVALID_NAME: EVENT_TRACE_FILE_MODE_NEWFILE with a file name without exactly one `%d`.
 * ERROR_FILE_CORRUPT: EVENT_TRACE_FILE_MODE_APPEND to a file that is not a whole trace file.
 * ERROR_PATH_NOT_FOUND: the folder of the log file does not exist.
 * ERROR_ACCESS_DENIED: the log file cannot be created.
 * ERROR_DISK_FULL: MaximumFileSize is not free, or the file system of / has less than 200 MB more.
 * ERROR_NO_SYSTEM_RESOURCES: 64 sessions run, or 8 system loggers among them, or 8 private
 *   sessions, or 3 with EVENT_TRACE_PRIVATE_IN_PROC.
 * ERROR_NOT_ENOUGH_MEMORY: there is no memory for the buffers.
 *
 * If the kernel refuses a system logger, errors are those of StartKernelTrace
 * (KernelTraceControl.h).
 *
 * ETW page: "StartTraceW function".
 */
uint32_t StartTraceA(etwas_trace_handle *TraceHandle, const char *InstanceName,
                     EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_StartTraceA);
uint32_t StartTraceW(etwas_trace_handle *TraceHandle, const etwas_wchar *InstanceName,
                     EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_StartTraceW);
uint32_t StartTrace(etwas_trace_handle *TraceHandle, const etwas_tchar *InstanceName,
                    EVENT_TRACE_PROPERTIES *Properties) ETWAS_API_AW(StartTrace);

/*
 * Queries, stops, changes or flushes a session.
 *
 * InstanceName names the session; if it is NULL, TraceHandle does. TraceHandle may also be a
 * LoggerId (TRACE_GUID_PROPERTIES, TRACE_ENABLE_INFO), which means the session that has it at the
 * time of the call. Set Wnode.BufferSize, Wnode.Guid and both name offsets in Properties. On
 * success, and with ERROR_MORE_DATA, Properties holds the session's values and statistics after the
 * operation. The file's name is the one in force: it has the number of a new-file set's part, and
 * the process id of a private session.
 *
 * EVENT_TRACE_CONTROL_QUERY only reads.
 * EVENT_TRACE_CONTROL_STOP disables the providers that are still enabled, writes the recorded
 *   events, closes the file and ends the handle. Callbacks run in this thread; if one runs
 *   elsewhere, the call waits for it. It does not wait for a callback that waits for this thread:
 *   that one is notified after the stop. It does not wait for threads that are logging: they get an
 *   error, or their events are counted lost.
 * EVENT_TRACE_CONTROL_FLUSH writes the events recorded so far to the log file, durably. For a
 *   buffering session it writes a snapshot to the log file named in Properties, or else to the one
 *   named at the start; logging continues.
 * EVENT_TRACE_CONTROL_UPDATE changes the values that are not 0 in Properties, as listed below.
 * EVENT_TRACE_CONTROL_INCREMENT_FILE ends the present file of a new-file set and begins the next.
 * EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME turns real time on and finishes the file, which holds all
 *   events recorded before the call.
 *
 * UPDATE checks everything before it changes anything. Wnode.Flags must hold
 * WNODE_FLAG_TRACED_GUID. For a private session only FlushTimer and the file may change.
 * - FlushTimer.
 * - MaximumBuffers: a value below the number of allocated buffers only stops growth. It is never
 *   below MinimumBuffers. A buffering session does not use it.
 * - LogFileNameOffset: the old log file is finished and a new one is begun. A buffering session
 *   writes a snapshot to it. In a block that QUERY filled, set the offset to 0 to keep the file.
 * - LogFileMode: real time is on afterwards if EVENT_TRACE_REAL_TIME_MODE is set, and off if not.
 *   Other bits may only repeat the session's own.
 * - EnableFlags of a system logger: they replace the old ones, also if they are 0. The events that
 *   system providers request are recorded in addition.
 *
 * Thread-safe; not async-signal-safe; no cancellation point.
 *
 * ERROR_BAD_LENGTH: Wnode.BufferSize is too small, or there is no room for the names.
 * ERROR_INVALID_PARAMETER: Properties is NULL; InstanceName is NULL and TraceHandle is 0, or is
 *   neither a handle nor a LoggerId; a name offset is outside the block or inside the structure;
 *   filters for a session that may not have them; an unknown control code; INCREMENT_FILE of a
 *   session without EVENT_TRACE_FILE_MODE_NEWFILE.
 * ERROR_INVALID_PARAMETER, of UPDATE: modes other than real time, MaximumBuffers of a private
 *   session, or EnableFlags of a session that is not a system logger. Real time is requested for a
 *   session with modes that exclude it, or turned off for one that has no file.
 * ERROR_LOG_FILE_FULL: FLUSH of a real-time session without a consumer and with a full backlog.
 * ERROR_WMI_INSTANCE_NOT_FOUND: no such session runs.
 * ERROR_INVALID_HANDLE: the session has stopped because its file is full. STOP also returns it in a
 *   child that a control callback forked meanwhile: the session belongs to the parent.
 * ERROR_ACTIVE_CONNECTIONS: STOP while the session is being stopped.
 * ERROR_BAD_PATHNAME: FLUSH of a buffering session without a usable file name; UPDATE with the
 *   present file's name, or with one that is too long or in use by another session.
 * ERROR_WRITE_FAULT, ERROR_DISK_FULL: FLUSH could not write everything or make it durable. For a
 *   new-file set it also returns the codes of opening a file.
 * ERROR_MORE_DATA: a name does not fit. The numbers are valid, and the operation was done.
 * ERROR_TIMEOUT: a process of a shared session (shared.h) has not answered in time. QUERY fills in
 *   what is known without it, as QueryAllTraces does.
 *
 * UPDATE and INCREMENT_FILE also return the codes of StartTrace that concern the log file; the
 * present file then continues. UPDATE of a system logger's EnableFlags fails as its start does, and
 * changes nothing then.
 *
 * ETW page: "ControlTraceW function".
 */
uint32_t ControlTraceA(etwas_trace_handle TraceHandle, const char *InstanceName,
                       EVENT_TRACE_PROPERTIES *Properties, uint32_t ControlCode)
    ETWAS_API(etwas_ControlTraceA);
uint32_t ControlTraceW(etwas_trace_handle TraceHandle, const etwas_wchar *InstanceName,
                       EVENT_TRACE_PROPERTIES *Properties, uint32_t ControlCode)
    ETWAS_API(etwas_ControlTraceW);
uint32_t ControlTrace(etwas_trace_handle TraceHandle, const etwas_tchar *InstanceName,
                      EVENT_TRACE_PROPERTIES *Properties, uint32_t ControlCode)
    ETWAS_API_AW(ControlTrace);

/* ControlTrace with EVENT_TRACE_CONTROL_STOP. ETW page: "StopTraceW function". */
uint32_t StopTraceA(etwas_trace_handle TraceHandle, const char *InstanceName,
                    EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_StopTraceA);
uint32_t StopTraceW(etwas_trace_handle TraceHandle, const etwas_wchar *InstanceName,
                    EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_StopTraceW);
uint32_t StopTrace(etwas_trace_handle TraceHandle, const etwas_tchar *InstanceName,
                   EVENT_TRACE_PROPERTIES *Properties) ETWAS_API_AW(StopTrace);

/* ControlTrace with EVENT_TRACE_CONTROL_QUERY. ETW page: "QueryTraceW function". */
uint32_t QueryTraceA(etwas_trace_handle TraceHandle, const char *InstanceName,
                     EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_QueryTraceA);
uint32_t QueryTraceW(etwas_trace_handle TraceHandle, const etwas_wchar *InstanceName,
                     EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_QueryTraceW);
uint32_t QueryTrace(etwas_trace_handle TraceHandle, const etwas_tchar *InstanceName,
                    EVENT_TRACE_PROPERTIES *Properties) ETWAS_API_AW(QueryTrace);

/* ControlTrace with EVENT_TRACE_CONTROL_FLUSH. ETW page: "FlushTraceW function". */
uint32_t FlushTraceA(etwas_trace_handle TraceHandle, const char *InstanceName,
                     EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_FlushTraceA);
uint32_t FlushTraceW(etwas_trace_handle TraceHandle, const etwas_wchar *InstanceName,
                     EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_FlushTraceW);
uint32_t FlushTrace(etwas_trace_handle TraceHandle, const etwas_tchar *InstanceName,
                    EVENT_TRACE_PROPERTIES *Properties) ETWAS_API_AW(FlushTrace);

/* ControlTrace with EVENT_TRACE_CONTROL_UPDATE. ETW page: "UpdateTraceW function". */
uint32_t UpdateTraceA(etwas_trace_handle TraceHandle, const char *InstanceName,
                      EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_UpdateTraceA);
uint32_t UpdateTraceW(etwas_trace_handle TraceHandle, const etwas_wchar *InstanceName,
                      EVENT_TRACE_PROPERTIES *Properties) ETWAS_API(etwas_UpdateTraceW);
uint32_t UpdateTrace(etwas_trace_handle TraceHandle, const etwas_tchar *InstanceName,
                     EVENT_TRACE_PROPERTIES *Properties) ETWAS_API_AW(UpdateTrace);

/*
 * Queries the sessions of this process, except private ones, and those of the processes that take
 * part in sharing (shared.h). If the process of a session does not answer within a second, the
 * session's block has only these values: the name, Wnode's Guid, ClientContext and
 * HistoricalContext, LogFileMode, and the id of that process in LoggerThreadId. BufferSize and the
 * rest are 0.
 *
 * PropertyArray points to PropertyArrayCount blocks. Set Wnode.BufferSize and both name offsets in
 * each block (0: the name is not requested). The call fills one block per session, from the first
 * on, as ControlTrace does. *LoggerCount receives the number of sessions, also if it exceeds the
 * number of blocks. Every block is checked before one is filled.
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: PropertyArray, a block or LoggerCount is NULL; PropertyArrayCount is 0;
 *   a name offset is outside the block or inside the structure.
 * ERROR_BAD_LENGTH: Wnode.BufferSize is too small.
 * ERROR_MORE_DATA: there are more sessions than blocks, or a name does not fit. Everything else is
 *   filled.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others, with *LoggerCount set: another process's data
 *   about a session cannot be read, because they are damaged or of another release; or a session
 *   could not be queried, and its block has no name. Everything else is filled.
 *
 * ETW page: "QueryAllTracesW function".
 */
uint32_t QueryAllTracesA(EVENT_TRACE_PROPERTIES **PropertyArray, uint32_t PropertyArrayCount,
                         uint32_t *LoggerCount) ETWAS_API(etwas_QueryAllTracesA);
uint32_t QueryAllTracesW(EVENT_TRACE_PROPERTIES **PropertyArray, uint32_t PropertyArrayCount,
                         uint32_t *LoggerCount) ETWAS_API(etwas_QueryAllTracesW);
uint32_t QueryAllTraces(EVENT_TRACE_PROPERTIES **PropertyArray, uint32_t PropertyArrayCount,
                        uint32_t *LoggerCount) ETWAS_API_AW(QueryAllTraces);

/*
 * Enables a provider in a session, disables it, or requests its state.
 *
 * ControlCode (evntprov.h) is one of these:
 * - EVENT_CONTROL_CODE_ENABLE_PROVIDER: the session receives the provider's events. A provider that
 *   is not registered yet gets the setting when it registers. Enabling again replaces everything:
 *   level, keywords, properties and filters.
 * - EVENT_CONTROL_CODE_DISABLE_PROVIDER: the session receives them no more. The call has no effect
 *   if the session does not enable the provider.
 * - EVENT_CONTROL_CODE_CAPTURE_STATE: the provider's callback gets WMI_CAPTURE_STATE, or
 *   EVENT_CONTROL_CODE_CAPTURE_STATE. The call has no effect if the session does not enable the
 *   provider. Its level and keywords are not used.
 *
 * A classic provider has one session at a time: the last one that enables it takes it over. Its
 * callback is notified of the new session. The former session is not notified, and can no longer
 * disable the provider. GetTraceEnableLevel returns Level. GetTraceEnableFlags returns the low 32
 * bits of MatchAnyKeyword, 0 as 0. The classic provider decides what they mean, and whether
 * MatchAllKeyword means anything.
 *
 * A modern provider (EventRegister in evntprov.h) has up to 8 sessions. Each gets the events that
 * its own level and keywords match; PENABLECALLBACK says what the callback receives. If both kinds
 * are registered under one GUID, the classic providers follow the session that enabled it last.
 *
 * The setting is made, and etwas_enabled (etwas.h) and EventEnabled reflect it, before a callback
 * runs. Timeout says how callbacks run:
 * - 0: they run in this thread before the call returns; in ETW they are asynchronous. If a callback
 *   of the registration runs in another thread at this time, that thread runs the new one
 *   afterwards, and this call does not wait for it.
 * - INFINITE (0xFFFFFFFF): they run in this thread, and the call waits for those that run
 *   elsewhere.
 * - any other value, in milliseconds: they run in a thread of the library. If they have not all
 *   returned in time, the call returns ERROR_TIMEOUT and they continue. Inside the provider's own
 *   callback they run in this thread, however long they take.
 *
 * A registration's callbacks run one after the other, in the order in which the settings were made.
 * A callback that changes the settings of its own provider is called again inside that call. While
 * a callback runs, 16 more requests wait for it; after that the next request replaces the newest of
 * them. A thread that runs a registration's callbacks also runs those that other threads request
 * meanwhile, as long as they keep coming. Therefore this call may return later than its own
 * callbacks.
 *
 * EnableParameters may be NULL. Its Version is ENABLE_TRACE_PARAMETERS_VERSION_2, or
 * ENABLE_TRACE_PARAMETERS_VERSION with an ENABLE_TRACE_PARAMETERS_V1, which has one filter at most.
 * ControlFlags is 0. EnableProperty (evntcons.h) selects which events of modern providers the
 * session gets, and what is added to them; EnumerateTraceGuidsEx reports it. SourceId is passed to
 * modern providers.
 *
 * There are at most MAX_EVENT_FILTERS_COUNT filters, one of each type. EVENT_FILTER_TYPE_PID has 1
 * to MAX_EVENT_FILTER_PID_COUNT ids of 32 bits. EVENT_FILTER_TYPE_EXECUTABLE_NAME has UTF-16 with
 * its NUL: names separated by ";", which are compared with the name of the program's file without
 * regard to case. An empty filter of type EVENT_FILTER_TYPE_NONE filters nothing. If one of the two
 * filters, or a filter of the session, excludes a process, enabling is disabling in that process,
 * and its state is not requested.
 *
 * The following filters select events of modern providers (structures in evntprov.h). Each applies
 * to a part of the events. A FilterIn of 1 keeps only the listed events, 0 keeps all others.
 * - EVENT_FILTER_TYPE_EVENT_ID applies to events without metadata (EventSetInformation). It has an
 *   EVENT_FILTER_EVENT_ID of exactly 4 + 2 * Count bytes with 1 to MAX_EVENT_FILTER_EVENT_ID_COUNT
 *   ids.
 * - EVENT_FILTER_TYPE_EVENT_NAME applies, by name, to events with metadata that match Level and the
 *   keywords of the filter. These match as those of this call do, 0 as all. The data are an
 *   EVENT_FILTER_EVENT_NAME of at most MAX_EVENT_FILTER_EVENT_NAME_SIZE bytes, which ends with the
 *   last of NameCount names. There is at least one name.
 * - EVENT_FILTER_TYPE_STACKWALK and _STACKWALK_NAME have the same data. They select the events that
 *   get the stack of EVENT_ENABLE_PROPERTY_STACK_TRACE.
 * - EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW has an EVENT_FILTER_LEVEL_KW. It selects by its Level and
 *   keywords. An event gets its stack if none of the three stack filters excludes it.
 *
 * If EnableProperty has EVENT_ENABLE_PROPERTY_PROVIDER_GROUP, ProviderId is the GUID of a group.
 * The call enables every provider that names the group in its traits (EventSetInformation), now or
 * later. A provider that the session also enables by itself keeps that setting. If a provider has
 * more than 8 sessions, those that enable it by itself take precedence.
 *
 * A system provider (SystemProcessProviderGuid and the others of evntrace_guids.h) is a part of the
 * events of a system logger. Only a system logger can enable it: a session with
 * EVENT_TRACE_SYSTEM_LOGGER_MODE, or the NT Kernel Logger. Its keywords (evntrace_keywords.h)
 * request events in addition to EnableFlags, which the session keeps and UPDATE changes. An event
 * that both request is recorded once. Events that the call opens while the session runs begin with
 * the present state. EVENT_CONTROL_CODE_CAPTURE_STATE records the present state again (DCStart).
 * SystemConfigProviderGuid records its part of the configuration whenever it is enabled. The events
 * have no level; they have the classes of the NT Kernel Logger. Timeout is not used: when the call
 * returns, the change is done.
 *
 * A system provider has these filters:
 * - EVENT_FILTER_TYPE_PID: only events of the listed processes are recorded, of which any number
 *   may be listed. A later process with the same number is another process.
 * - EVENT_FILTER_TYPE_EVENT_ID: an event's id is its class's group times 256 plus its type
 *   (docs/reference/kernel-events.md lists them).
 * - EVENT_FILTER_TYPE_STACKWALK: the events that get a stack with
 *   EVENT_ENABLE_PROPERTY_STACK_TRACE, in addition to those of TraceStackTracingInfo. Without this
 *   filter, all events of the provider that can have a stack get one. It is the only property of a
 *   system provider.
 *
 * Events of the same kind that EnableFlags request too are not filtered.
 *
 * Events that a filter excludes are not written to this session and are not counted. EventEnabled
 * does not check filters.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: ProviderId is NULL, SystemTraceControlGuid or KernelRundownGuid; a
 *   system provider for a session that is not a system logger, or another provider for a system
 *   logger; TraceHandle is 0 or not a running session; another ControlCode; Version, ControlFlags
 *   or EnableProperty are not as above; too many filters, two of one type, or one with data that
 *   are missing, malformed or too long; a filter by id or name for a group.
 * ERROR_INVALID_HANDLE: the session has stopped because its file is full.
 * ERROR_NOT_SUPPORTED: a filter of another type (providers get no filter data, payloads are not
 *   filtered, and there are no packages or containers); or another EnableProperty or filter than
 *   those above for a system provider.
 * ERROR_ACCESS_DENIED, ERROR_PATH_NOT_FOUND, ERROR_NO_SYSTEM_RESOURCES: the kernel refuses the
 *   events of a system provider, as for StartKernelTrace. Nothing was changed; etwas_kernel_refusal
 *   says why.
 * ERROR_NOT_ENOUGH_MEMORY: there is no memory for a filter of events. Nothing was changed.
 * ERROR_NO_SYSTEM_RESOURCES: more than 1,024 providers are enabled; 8 other sessions enable this
 *   one, and no provider or a modern one is registered; or too many requests wait for a callback
 *   for a request for state to wait too. Nothing was changed.
 * ERROR_TIMEOUT: with a Timeout that is not 0, a callback has not returned in time, or it can
 *   return only after this call because it waits for this thread. The setting was made.
 *
 * Level and flags of a provider that is not registered may be changed. The ETW page names
 * ERROR_INVALID_FUNCTION and ERROR_WMI_GUID_NOT_FOUND for that case, which are not returned.
 *
 * ETW page: "EnableTraceEx2 function".
 */
uint32_t EnableTraceEx2(etwas_trace_handle TraceHandle, const etwas_guid *ProviderId,
                        uint32_t ControlCode, uint8_t Level, uint64_t MatchAnyKeyword,
                        uint64_t MatchAllKeyword, uint32_t Timeout,
                        ENABLE_TRACE_PARAMETERS *EnableParameters) ETWAS_API(etwas_EnableTraceEx2);

/*
 * EnableTraceEx2 with Timeout 0 and separate parameters. IsEnabled is its ControlCode, and
 * EnableFilterDesc is one filter or NULL. SourceId may be NULL.
 *
 * ETW page: "EnableTraceEx function".
 */
uint32_t EnableTraceEx(const etwas_guid *ProviderId, const etwas_guid *SourceId,
                       etwas_trace_handle TraceHandle, uint32_t IsEnabled, uint8_t Level,
                       uint64_t MatchAnyKeyword, uint64_t MatchAllKeyword, uint32_t EnableProperty,
                       EVENT_FILTER_DESCRIPTOR *EnableFilterDesc) ETWAS_API(etwas_EnableTraceEx);

/*
 * EnableTraceEx2 with Timeout 0 and no EnableParameters. Enable is its ControlCode (1 enables, 0
 * disables), EnableFlag is its MatchAnyKeyword, and the low 8 bits of EnableLevel are its Level.
 *
 * ETW page: "EnableTrace function".
 */
uint32_t EnableTrace(uint32_t Enable, uint32_t EnableFlag, uint32_t EnableLevel,
                     const etwas_guid *ControlGuid, etwas_trace_handle TraceHandle)
    ETWAS_API(etwas_EnableTrace);

/*
 * Lists the registered providers of this process and of those that take part in sharing (shared.h).
 * Each has the session that enabled it last; a provider of another process has one of the sessions
 * that enable it.
 *
 * GuidPropertiesArray points to PropertyArrayCount structures, which are filled. *GuidCount is the
 * number of providers, however many were filled. A provider that is registered several times is
 * listed once. System providers are not listed.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: GuidPropertiesArray, one of its pointers, or GuidCount is NULL.
 * ERROR_MORE_DATA: there are more than PropertyArrayCount providers, which may be 0. That many are
 *   filled.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others, with everything else filled: another
 *   process's data about its providers or sessions cannot be read, because they are damaged or of
 *   another release.
 *
 * ETW page: "EnumerateTraceGuids function".
 */
uint32_t EnumerateTraceGuids(TRACE_GUID_PROPERTIES **GuidPropertiesArray,
                             uint32_t PropertyArrayCount, uint32_t *GuidCount)
    ETWAS_API(etwas_EnumerateTraceGuids);

/*
 * Lists the providers of this process and of those that take part in sharing (shared.h), or
 * describes one of them.
 *
 * TraceGuidQueryList: an array of the GUIDs that are registered, or that a session of one of these
 *   processes has enabled beforehand.
 * TraceGuidQueryProcess: an array of the GUIDs that are registered in this process.
 * TraceGuidQueryInfo, with a GUID in InBuffer: a TRACE_GUID_INFO, then InstanceCount times a
 *   TRACE_PROVIDER_INSTANCE_INFO, each followed by EnableCount times a TRACE_ENABLE_INFO.
 *   NextOffset leads from one instance to the next, and is 0 in the last. Each registration of this
 *   process has an instance (TRACE_PROVIDER_FLAG_LEGACY: a classic provider). Each other process
 *   with a registration has one. In that one IsEnabled is 0 for a session that the process cannot
 *   log to. If no provider is registered and a session has enabled the GUID beforehand, there is
 *   one instance with TRACE_PROVIDER_FLAG_PRE_ENABLE and the process id 0. A system provider is
 *   listed while a session enables it, as one instance with the process id 0.
 * TraceGroupQueryList: an array of the GUIDs of groups that have providers, or that are enabled.
 * TraceGroupQueryInfo, with a group's GUID in InBuffer: the size in bytes of the following
 *   TRACE_ENABLE_INFO structures (32 bits), one such structure for each session that enables the
 *   group, the number of the following GUIDs (32 bits), and the GUIDs of the group's registered
 *   providers, each once. There is no padding, so members may be misaligned. If a provider of
 *   another process is registered in several groups, it is listed in one of them.
 * TraceMaxLoggersQuery: a 32-bit number, the maximum of sessions that run at a time.
 *
 * *ReturnLength receives the size of the answer in bytes, also if OutBuffer is too small. OutBuffer
 * is filled in part then. An OutBufferSize of 0, with or without an OutBuffer, queries the size.
 * InBuffer is read only for TraceGuidQueryInfo and TraceGroupQueryInfo.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: another class; ReturnLength is NULL; OutBuffer is NULL with a size;
 *   InBuffer is NULL or too small for a GUID that is needed.
 * ERROR_INSUFFICIENT_BUFFER: the answer does not fit.
 * ERROR_WMI_GUID_NOT_FOUND: no provider is registered under that GUID and no session enables it, or
 *   there is no such group. *ReturnLength is not changed.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory. *ReturnLength is not changed.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others: another process's data about its providers or
 *   sessions cannot be read, because they are damaged or of another release. The answer lacks them,
 *   and is otherwise as with ERROR_SUCCESS. If no other process has the GUID, *ReturnLength is not
 *   changed.
 *
 * ETW page: "EnumerateTraceGuidsEx function".
 */
uint32_t EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS TraceQueryInfoClass, void *InBuffer,
                               uint32_t InBufferSize, void *OutBuffer, uint32_t OutBufferSize,
                               uint32_t *ReturnLength) ETWAS_API(etwas_EnumerateTraceGuidsEx);

/*
 * Reads a setting. ReturnLength, which may be NULL, receives the size of the setting in bytes, also
 * if InformationLength is too small.
 *
 * These classes do not depend on a session, so SessionHandle may be 0. The first two ignore it.
 * TraceVersionInfo: a TRACE_VERSION_INFO with the version 1. TraceMaxLoggersQuery: a 32-bit number,
 * the maximum of sessions that run at a time. TraceProfileSourceListInfo: a PROFILE_SOURCE_INFO for
 * each source of samples. In this release it is only the timer, 0. TraceProfileSourceConfigInfo:
 * the numbers of the sources in use, 32 bits each.
 *
 * These classes are for a system logger:
 * TraceSampledProfileIntervalInfo: a TRACE_PROFILE_INTERVAL. The caller sets its Source; 0, the
 *   timer, is the only one. If SessionHandle is 0, it is the interval of loggers that start next.
 * TraceStackTracingInfo: an array of CLASSIC_EVENT_ID, the events that have stacks.
 * TraceSystemTraceEnableFlagsInfo: eight masks of 32 bits (PERFINFO_GROUPMASK of other headers).
 *   The first is EnableFlags at this time, the others are as they were set. Events that system
 *   providers request are not included.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_BAD_LENGTH: InformationLength is too small.
 * ERROR_INVALID_PARAMETER: TraceInformation is NULL; another Source; SessionHandle is not a running
 *   session.
 * ERROR_NOT_SUPPORTED: another class, or the session is not a system logger.
 *
 * ETW page: "TraceQueryInformation function".
 */
uint32_t TraceQueryInformation(etwas_trace_handle SessionHandle, TRACE_INFO_CLASS InformationClass,
                               void *TraceInformation, uint32_t InformationLength,
                               uint32_t *ReturnLength) ETWAS_API(etwas_TraceQueryInformation);

/*
 * Changes a setting of a system logger, also while it runs.
 *
 * TraceSampledProfileIntervalInfo, with a TRACE_PROFILE_INTERVAL: the interval at which
 *   EVENT_TRACE_FLAG_PROFILE samples the processors, in units of 100 ns, 1,221 to 1,000,000. The
 *   default is 10,000 (1 ms). Source is 0, the timer. If SessionHandle is 0, it applies to sessions
 *   that start from now on.
 * TraceStackTracingInfo, with an array of at most 256 CLASSIC_EVENT_ID: the events that have stacks
 *   from now on, in place of the previous ones. An empty array ends stacks. Events that are unknown
 *   or have no stack are ignored. Events that happen at the moment of the change may not be
 *   recorded.
 * TraceSystemTraceEnableFlagsInfo, with eight masks of 32 bits: the first is EnableFlags, changed
 *   as by UPDATE. In the others only bits that are flags of their own in the kernel of Windows have
 *   a meaning. These are PROFILE 0x2, CSWITCH 0x4, DPC 0x80, DISPATCHER 0x200, INTERRUPT 0x4000 and
 *   VIRTUAL_ALLOC 0x8000 of the second mask. In the third mask they are SYSTEMCALL 0x40, the
 *   processors' timers 0x40000 and requests 0x400000. UPDATE to other EnableFlags, or to none,
 *   clears them.
 * TraceProfileSourceConfigInfo, with numbers of 32 bits: the sources of samples. 0, the timer, is
 *   the only one.
 *
 * Thread-safe; not async-signal-safe.
 *
 * ERROR_BAD_LENGTH: InformationLength is too small, or not a whole number of CLASSIC_EVENT_ID or
 *   sources.
 * ERROR_INVALID_PARAMETER: TraceInformation is NULL with a length that is not 0; an unknown Source
 *   or an Interval out of range; too many events; unknown EnableFlags; SessionHandle is not a
 *   running session; or EnableFlags are given to a session that only runs down.
 * ERROR_NOT_SUPPORTED: another class; the session is not a system logger; or this release lacks
 *   some of the EnableFlags.
 *
 * If the kernel refuses the change, errors are those of StartKernelTrace.
 *
 * ETW page: "TraceSetInformation function".
 */
uint32_t TraceSetInformation(etwas_trace_handle SessionHandle, TRACE_INFO_CLASS InformationClass,
                             void *TraceInformation, uint32_t InformationLength)
    ETWAS_API(etwas_TraceSetInformation);

ETWAS_END_DECLS

#endif
