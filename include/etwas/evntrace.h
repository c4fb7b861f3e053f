/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_H
#define ETWAS_EVNTRACE_H

/*
 * Sessions, classic providers and consumers: ETW's evntrace.h. The controller's functions are here,
 * those of classic providers (evntrace_provider.h) and of consumers (evntrace_consumer.h) in headers
 * that this one includes. What follows holds for all of them.
 *
 * Names ending in A take UTF-8 strings, names ending in W take UTF-16. A name without either is
 * the A function, or the W function where UNICODE or _UNICODE is defined before the first
 * include. Functions return a Win32 code of winerror.h unless stated. Strings and structures
 * belong to the caller and are not kept after the call.
 *
 * A session writes to a file, hands its events to consumers in the process
 * (EVENT_TRACE_REAL_TIME_MODE) or keeps them in memory (EVENT_TRACE_BUFFERING_MODE); docs/modes.md
 * lists every bit of LogFileMode. Sessions, their names and their handles are visible only inside
 * the process that starts them, which has one library at work: what a second copy of it is asked to
 * register, start or control answers ERROR_ALREADY_INITIALIZED (etwas.h says when there is one).
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
 * Properties is one allocation of Wnode.BufferSize bytes: the structure, room for the session
 * name at LoggerNameOffset, and the log file name at LogFileNameOffset (0: no file). Zero it
 * first; 0 means the default. Set Wnode.BufferSize, Wnode.Flags (WNODE_FLAG_TRACED_GUID),
 * Wnode.ClientContext (the clock) and what the session needs. On success the session's name, its
 * GUID, its handle (Wnode.HistoricalContext) and the values as adjusted are in Properties, and
 * *TraceHandle is the handle, never 0. On failure *TraceHandle is 0 and nothing was started. The
 * log file's name stays as the caller wrote it; QUERY returns the one in force.
 *
 * InstanceName is at most 1,024 characters and compares without regard to case. The log file's
 * folder must exist. An existing log file is replaced, or extended with
 * EVENT_TRACE_FILE_MODE_APPEND. With EVENT_TRACE_FILE_MODE_NEWFILE its name holds one `%d` (or
 * `%5d`, `%05d`), which a number from 1 on replaces; for EVENT_TRACE_PRIVATE_LOGGER_MODE `_` and
 * the process id are appended to it. The name that is made has at most 1,024 characters too.
 *
 * With WNODE_FLAG_VERSIONED_PROPERTIES the block is an EVENT_TRACE_PROPERTIES_V2. Its filters are
 * for a private session without EVENT_TRACE_PRIVATE_IN_PROC: of type EVENT_FILTER_TYPE_PID and
 * EVENT_FILTER_TYPE_EXECUTABLE_NAME, at most one of each, of at most 1,024 bytes of data. Where
 * they do not name this process the session starts, answers and stops as any other, but records
 * nothing and has no file; logging to it is ERROR_INVALID_HANDLE. Other processes that they name
 * have sessions of their own if this one and they take part in what shared.h says. LargeMdlPages
 * asks for huge pages.
 *
 * Thread-safe. Not for signal handlers. Not a point of cancellation.
 *
 * ERROR_BAD_LENGTH: Wnode.BufferSize too small, or no room for the session name.
 * ERROR_INVALID_PARAMETER: a NULL argument; a name offset outside the block or inside the
 *   structure; Wnode.Flags without WNODE_FLAG_TRACED_GUID; an unknown ClientContext; modes that
 *   exclude each other; EnableFlags not 0; a name too long; V2 members not as documented; filters
 *   where there may be none, or wrong ones; MaximumFileSize 0 with EVENT_TRACE_FILE_MODE_CIRCULAR,
 *   _NEWFILE or _PREALLOCATE, or too small for the header and one buffer (two, with _CIRCULAR);
 *   EVENT_TRACE_FILE_MODE_APPEND without BufferSize or with another clock than system time, or to a
 *   file with another BufferSize, clock or number of processors.
 * ERROR_NOT_SUPPORTED: a mode this release does not have.
 * ERROR_ALREADY_EXISTS: a running session has this name or this GUID.
 * ERROR_BAD_PATHNAME: LogFileMode and LogFileNameOffset both 0; the log file is in use by another
 *   session; the file name is too long.
 * ERROR_INVALID_NAME: EVENT_TRACE_FILE_MODE_NEWFILE with a file name without exactly one `%d`.
 * ERROR_FILE_CORRUPT: EVENT_TRACE_FILE_MODE_APPEND to what is not a whole trace file.
 * ERROR_PATH_NOT_FOUND: the folder of the log file does not exist.
 * ERROR_ACCESS_DENIED: the log file cannot be created.
 * ERROR_DISK_FULL: MaximumFileSize is not free, or on the file system of / not 200 MB more.
 * ERROR_NO_SYSTEM_RESOURCES: 64 sessions run, 8 system loggers among them, or 8 private ones, or 3 with
 *   EVENT_TRACE_PRIVATE_IN_PROC.
 * ERROR_NOT_ENOUGH_MEMORY: no memory for the buffers.
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
 * InstanceName names the session; where it is NULL, TraceHandle does. Set Wnode.BufferSize,
 * Wnode.Guid and both name offsets in Properties. On success, and with
 * ERROR_MORE_DATA, Properties holds the session's values and statistics as they are after the
 * operation. The file's name is the one in force: with the number of a new-file set's part, and the
 * process id of a private session.
 *
 * EVENT_TRACE_CONTROL_QUERY only reads.
 * EVENT_TRACE_CONTROL_STOP disables the providers still enabled (their callbacks run in this
 *   thread, or are waited for where one runs elsewhere), writes what is recorded, closes the file
 *   and ends the handle. It does not wait for a callback whose thread waits for this one: that
 *   callback is told after the stop. It does not wait for threads that are logging: they get an
 *   error or are counted lost.
 * EVENT_TRACE_CONTROL_FLUSH writes the events recorded so far to the log file, durably. For a
 *   buffering session it writes a snapshot to the log file named in Properties, or else the one
 *   named at the start, and logging goes on.
 * EVENT_TRACE_CONTROL_UPDATE changes what is not 0 in Properties: FlushTimer; MaximumBuffers (below
 *   what is allocated it only stops growth; never below MinimumBuffers; a buffering session has no
 *   use for it); and with LogFileNameOffset the log file: the old one is finished and a new one is
 *   begun (a buffering session writes a snapshot to it). Real time is on afterwards if LogFileMode
 *   has EVENT_TRACE_REAL_TIME_MODE, and off if not; other bits may only repeat the session's own.
 *   Wnode.Flags must hold WNODE_FLAG_TRACED_GUID. In a block that QUERY filled set
 *   LogFileNameOffset to 0 unless the file shall change. Of a private session only FlushTimer and
 *   the file may change. Everything is checked before anything changes. EnableFlags of a system logger
 *   are all that are wanted from now on, 0 too; what system providers are enabled for is wanted besides.
 * EVENT_TRACE_CONTROL_INCREMENT_FILE ends the present file of a new-file set and begins the next.
 * EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME turns real time on and finishes the file, which holds
 *   everything recorded before the call.
 *
 * TraceHandle may also be a LoggerId (TRACE_GUID_PROPERTIES, TRACE_ENABLE_INFO): it means the
 * session that has it at the time of the call.
 *
 * Thread-safe. Not for signal handlers. Not a point of cancellation.
 *
 * ERROR_BAD_LENGTH: Wnode.BufferSize too small, or no room for the names.
 * ERROR_INVALID_PARAMETER: Properties NULL; InstanceName NULL and TraceHandle 0 or neither a handle
 *   nor a LoggerId; a name offset outside the block or inside the structure; filters for a session
 *   that may not have them; an unknown control code; UPDATE of what cannot be changed (modes
 *   other than real-time, MaximumBuffers of a private session, EnableFlags of what is no system
 *   logger); INCREMENT_FILE of a session without EVENT_TRACE_FILE_MODE_NEWFILE. UPDATE of a system
 *   logger's EnableFlags fails as its start does, and then changes nothing.
 * ERROR_INVALID_PARAMETER also: real time for a session whose modes exclude it, or off for one that
 *   has no file.
 * ERROR_LOG_FILE_FULL: FLUSH of a real-time session without a consumer, whose backlog is full.
 * ERROR_WMI_INSTANCE_NOT_FOUND: no such session is running.
 * ERROR_INVALID_HANDLE: the session has stopped because its file is full. STOP also in a child
 *   that a control callback forked meanwhile: the session is the parent's.
 * ERROR_ACTIVE_CONNECTIONS: STOP while the session is being stopped.
 * ERROR_BAD_PATHNAME: FLUSH of a buffering session without a usable file name; UPDATE with the
 *   present file's name or one too long; the file is in use by another session.
 * UPDATE and INCREMENT_FILE: also the codes of StartTrace that concern the log file. The present
 *   file then goes on.
 * ERROR_WRITE_FAULT, ERROR_DISK_FULL: FLUSH, and not everything could be written or made durable.
 *   Of a new-file set also the codes of opening a file.
 * ERROR_MORE_DATA: a name does not fit. The numbers are valid, and the operation was done.
 * ERROR_TIMEOUT: a process of a session of many (shared.h) has not answered in time. QUERY fills in what is known
 *   without it, as QueryAllTraces does.
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
 * Queries every session of the process but private ones, and of those that take part (shared.h). Of one whose
 * process does not answer within a second the block has the name, Wnode's Guid, ClientContext and HistoricalContext,
 * LogFileMode, and the id of that process in LoggerThreadId; BufferSize and the rest are 0.
 *
 * PropertyArray points to PropertyArrayCount blocks. In each set Wnode.BufferSize and both name
 * offsets (0: no name wanted); the call fills them as ControlTrace does, one block a session, from
 * the first on. *LoggerCount receives the number of sessions, also when that is more than there are
 * blocks. Every block is checked before one is filled.
 *
 * Thread-safe. Not for signal handlers.
 *
 * ERROR_INVALID_PARAMETER: PropertyArray, a block or LoggerCount NULL; PropertyArrayCount 0; a name
 *   offset outside the block or inside the structure.
 * ERROR_BAD_LENGTH: Wnode.BufferSize too small.
 * ERROR_MORE_DATA: more sessions than blocks, or a name that does not fit; everything else is
 *   filled.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others, with *LoggerCount set: what another process says of a
 *   session cannot be read, as it is damaged or of another release; or a session could not be asked,
 *   whose block has no name. Everything else is filled.
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
 * Enables a provider in a session, disables it, or asks it for its state.
 *
 * ControlCode (evntprov.h) is
 * - EVENT_CONTROL_CODE_ENABLE_PROVIDER: the session receives the provider's events. A provider that
 *   is not registered yet gets the setting when it registers. Enabling again replaces everything:
 *   level, keywords, properties and filters.
 * - EVENT_CONTROL_CODE_DISABLE_PROVIDER: it receives them no more. Without effect where the session
 *   does not enable the provider.
 * - EVENT_CONTROL_CODE_CAPTURE_STATE: the provider's callback gets WMI_CAPTURE_STATE, or
 *   EVENT_CONTROL_CODE_CAPTURE_STATE. Without effect where the session does not enable the
 *   provider. The level and the keywords of this call are not used.
 *
 * A classic provider has one session at a time: the last one to enable it takes it over. Its
 * callback is told of the new session; the former one is not told, and can disable it no more.
 * GetTraceEnableLevel gives Level, GetTraceEnableFlags the low 32 bits of MatchAnyKeyword, 0 as 0:
 * what they mean, and whether MatchAllKeyword means anything, is for a classic provider to decide.
 *
 * A modern provider (EventRegister in evntprov.h) has up to 8 sessions. Each gets the events that
 * its own level and keywords ask for; PENABLECALLBACK says what the callback is told. Under a GUID
 * that both kinds are registered under, classic providers go by the session that enabled it last.
 *
 * The setting is made, and etwas_enabled (etwas.h) and EventEnabled follow it, before a callback
 * runs. Timeout says what becomes of the callbacks:
 * - 0: they run in this thread, before the call returns; ETW's are asynchronous then. One that
 *   runs in another thread just now is told there, after it has returned, and this call does not
 *   wait for that.
 * - INFINITE (0xFFFFFFFF): they run in this thread, and the call waits for those that run
 *   elsewhere.
 * - else, milliseconds: they run in a thread of the library. When they have not all returned in
 *   time the call returns ERROR_TIMEOUT, and they go on. Inside the provider's own callback they
 *   run in this thread, whatever they take.
 * A registration's callbacks run one after the other, in the order in which the settings were made.
 * A callback that changes the settings of its own provider is called again inside that call. While
 * a callback runs, 16 more requests wait for it; then the newest of those gives way to the next.
 * A thread that runs a registration's callbacks runs what others ask of it meanwhile, too, as long
 * as they keep asking: this call may return later than its own callbacks do.
 *
 * EnableParameters may be NULL. Its Version is ENABLE_TRACE_PARAMETERS_VERSION_2, or
 * ENABLE_TRACE_PARAMETERS_VERSION with an ENABLE_TRACE_PARAMETERS_V1, which has one filter at most.
 * ControlFlags is 0. EnableProperty (evntcons.h) is reported by EnumerateTraceGuidsEx, and says
 * which events of modern providers the session gets, and what is added to them. SourceId is given
 * to modern providers. At most
 * MAX_EVENT_FILTERS_COUNT filters, one of a type: EVENT_FILTER_TYPE_PID (1 to
 * MAX_EVENT_FILTER_PID_COUNT ids of 32 bits) and EVENT_FILTER_TYPE_EXECUTABLE_NAME (UTF-16 with its
 * NUL, names separated by ";", compared with the name of the program's file without regard to
 * case). One of type EVENT_FILTER_TYPE_NONE with nothing in it filters nothing. For a process that
 * one of them, or a filter of the session, excludes, enabling is disabling, and it is not asked for
 * its state.
 *
 * Filters of the events of modern providers (structures in evntprov.h), each for the events that it
 * is about; a FilterIn of 1 wants only those it lists, 0 all but those:
 * - EVENT_FILTER_TYPE_EVENT_ID, an EVENT_FILTER_EVENT_ID of exactly 4 + 2 * Count bytes with 1 to
 *   MAX_EVENT_FILTER_EVENT_ID_COUNT ids: events without metadata (EventSetInformation).
 * - EVENT_FILTER_TYPE_EVENT_NAME, an EVENT_FILTER_EVENT_NAME whose data, of at most
 *   MAX_EVENT_FILTER_EVENT_NAME_SIZE bytes, ends with the last of NameCount names, of which there is
 *   one at least: events with metadata that Level and the keywords of the filter match, by name.
 *   These match as those of this call do, 0 as all.
 * - EVENT_FILTER_TYPE_STACKWALK and _STACKWALK_NAME, the same: which of the events get the stack that
 *   EVENT_ENABLE_PROPERTY_STACK_TRACE asks for. EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, an
 *   EVENT_FILTER_LEVEL_KW: those that its Level and keywords match, or all but those. An event gets
 *   its stack if none of these filters is against it.
 * With EVENT_ENABLE_PROPERTY_PROVIDER_GROUP ProviderId is a group's: every provider that has said in
 * its traits that it belongs to it (EventSetInformation), and whoever says so later, is enabled. A
 * provider that the session enables by itself, too, keeps that setting. Of 8 sessions that a
 * provider has at most, those come first that enable it by itself.
 *
 * A system provider (SystemProcessProviderGuid and the others of evntrace_guids.h) is a part of what a system
 * logger can record, and only such a session can enable it, one with EVENT_TRACE_SYSTEM_LOGGER_MODE or the
 * NT Kernel Logger. Its keywords (evntrace_keywords.h) are wanted beside EnableFlags, which the session keeps and
 * UPDATE changes; what both want is recorded once. What it opens while the session runs begins with what there is.
 * EVENT_CONTROL_CODE_CAPTURE_STATE has what there is told once more (DCStart), SystemConfigProviderGuid tells
 * its part of the configuration whenever it is enabled for it. Its events have no level, and are those of the
 * NT Kernel Logger, with the same classes. Timeout is not used: when the call returns it is done.
 *
 * Filters of a system provider: EVENT_FILTER_TYPE_PID, whose processes' events alone are recorded, any that is
 * listed; a process that has the number later is another. EVENT_FILTER_TYPE_EVENT_ID, where an event's id is its
 * class's group times 256 and its type (docs/kernel-events.md lists them). With EVENT_ENABLE_PROPERTY_STACK_TRACE,
 * the only property it has, events of the provider are followed by their stack, if they can have one: all, or those
 * that EVENT_FILTER_TYPE_STACKWALK lists, beside those of TraceStackTracingInfo. What EnableFlags, too, want
 * of the same kind is not filtered.
 *
 * What a filter leaves out is not written to this session, and counted nowhere; EventEnabled does
 * not look at filters.
 *
 * Thread-safe, also from a control callback. Not for signal handlers.
 *
 * ERROR_INVALID_PARAMETER: ProviderId NULL, SystemTraceControlGuid or KernelRundownGuid; a system
 *   provider for another session than a system logger, or another provider for a system logger; TraceHandle 0 or not a
 *   running session; another ControlCode; Version, ControlFlags or EnableProperty not as above; too
 *   many filters, two of one type, or one whose data is missing, malformed or too long; a filter by
 *   id or name for a group.
 * ERROR_INVALID_HANDLE: the session has stopped because its file is full.
 * ERROR_NOT_SUPPORTED: a filter of another type:
 *   providers get no filter data, nobody looks into payloads, and there are no packages or
 *   containers. Another EnableProperty or filter than those above for a system provider.
 * ERROR_ACCESS_DENIED, ERROR_PATH_NOT_FOUND, ERROR_NO_SYSTEM_RESOURCES: of a system provider what the kernel
 *   refuses, as to StartKernelTrace; everything is as it was. etwas_kernel_refusal says why.
 * ERROR_NOT_ENOUGH_MEMORY: for a filter of events. Nothing was changed.
 * ERROR_NO_SYSTEM_RESOURCES: more than 1,024 providers enabled; 8 other sessions enable this one,
 *   and nobody or a modern provider is registered; or a request for state while so
 *   much waits for a callback that it cannot wait, too. Nothing was changed.
 * ERROR_TIMEOUT: with a Timeout that is not 0, a callback has not returned in time, or it can
 *   return only after this call, because it waits for this thread. The setting was made all the
 *   same.
 *
 * Level and flags of a provider that is not registered may be changed; ERROR_INVALID_FUNCTION and
 * ERROR_WMI_GUID_NOT_FOUND, which the page names for that, are not returned.
 *
 * ETW page: "EnableTraceEx2 function".
 */
uint32_t EnableTraceEx2(etwas_trace_handle TraceHandle, const etwas_guid *ProviderId,
                        uint32_t ControlCode, uint8_t Level, uint64_t MatchAnyKeyword,
                        uint64_t MatchAllKeyword, uint32_t Timeout,
                        ENABLE_TRACE_PARAMETERS *EnableParameters) ETWAS_API(etwas_EnableTraceEx2);

/*
 * EnableTraceEx2 with Timeout 0 and the parameters one by one: IsEnabled is its ControlCode,
 * EnableFilterDesc one filter or NULL. SourceId may be NULL.
 *
 * ETW page: "EnableTraceEx function".
 */
uint32_t EnableTraceEx(const etwas_guid *ProviderId, const etwas_guid *SourceId,
                       etwas_trace_handle TraceHandle, uint32_t IsEnabled, uint8_t Level,
                       uint64_t MatchAnyKeyword, uint64_t MatchAllKeyword, uint32_t EnableProperty,
                       EVENT_FILTER_DESCRIPTOR *EnableFilterDesc) ETWAS_API(etwas_EnableTraceEx);

/*
 * EnableTraceEx2 with Timeout 0 and nothing else: Enable is its ControlCode (1 enables, 0
 * disables), EnableFlag its MatchAnyKeyword, and of EnableLevel the low 8 bits are its Level.
 *
 * ETW page: "EnableTrace function".
 */
uint32_t EnableTrace(uint32_t Enable, uint32_t EnableFlag, uint32_t EnableLevel,
                     const etwas_guid *ControlGuid, etwas_trace_handle TraceHandle)
    ETWAS_API(etwas_EnableTrace);

/*
 * Lists the registered providers of this process and of those that take part (shared.h), and the session that enabled each
 * last; of a provider of another process one that enables it.
 *
 * GuidPropertiesArray points to PropertyArrayCount structures, which are filled; *GuidCount is the
 * number of providers, however many were filled. A provider that is registered several times is
 * there once. The system's providers are not listed.
 *
 * Thread-safe, also from a control callback. Not for signal handlers.
 *
 * ERROR_INVALID_PARAMETER: GuidPropertiesArray, one of its pointers, or GuidCount NULL.
 * ERROR_MORE_DATA: there are more than PropertyArrayCount, which may be 0; so many are filled.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others, with all else filled: what another process says of its providers or
 *   sessions cannot be read, as it is damaged or of another release.
 *
 * ETW page: "EnumerateTraceGuids function".
 */
uint32_t EnumerateTraceGuids(TRACE_GUID_PROPERTIES **GuidPropertiesArray,
                             uint32_t PropertyArrayCount, uint32_t *GuidCount)
    ETWAS_API(etwas_EnumerateTraceGuids);

/*
 * Says which providers there are, in this process and in those that take part (shared.h), or what is known of one.
 *
 * TraceGuidQueryList: an array of the GUIDs that are registered, or enabled beforehand by a session of any of them.
 * TraceGuidQueryProcess: an array of the GUIDs that are registered in this process.
 * TraceGuidQueryInfo, with a GUID in InBuffer: a TRACE_GUID_INFO; then InstanceCount times a
 *   TRACE_PROVIDER_INSTANCE_INFO, each followed by EnableCount times a TRACE_ENABLE_INFO.
 *   NextOffset leads from one instance to the next, and is 0 in the last. There is an instance for
 *   each registration (TRACE_PROVIDER_FLAG_LEGACY: of a classic provider), and one for each other process that
 *   has some, in which IsEnabled is 0 for a session whose pool is of another release, so that nothing is logged to it;
 *   where nobody is registered and a session has enabled the provider beforehand, one with
 *   TRACE_PROVIDER_FLAG_PRE_ENABLE and the process id 0.
 *   A system provider is there while a session enables it, as one instance of the process id 0.
 * TraceGroupQueryList: an array of the GUIDs of groups that have providers, or are enabled.
 * TraceGroupQueryInfo, with a group's GUID in InBuffer: 32 bits, how many bytes of TRACE_ENABLE_INFO
 *   follow; one of these for each session that enables the group; 32 bits, how many GUIDs follow; those
 *   of its registered providers, each once. Nothing is between them: members may be misaligned. Of another process a
 *   provider that is registered in several groups is in one of them.
 * TraceMaxLoggersQuery: a 32-bit number, how many sessions can run at a time.
 *
 * *ReturnLength is the size of the answer in bytes, also where OutBuffer is too small for it, which
 * is then filled in part. OutBufferSize 0, with or without an OutBuffer, asks for the size.
 * InBuffer is read only for TraceGuidQueryInfo and TraceGroupQueryInfo.
 *
 * Thread-safe, also from a control callback. Not for signal handlers.
 *
 * ERROR_INVALID_PARAMETER: another class; ReturnLength NULL; OutBuffer NULL with a size; InBuffer
 *   NULL or too small for a GUID where one is needed.
 * ERROR_INSUFFICIENT_BUFFER: the answer does not fit.
 * ERROR_WMI_GUID_NOT_FOUND: nobody is registered under that GUID and no session enables it, or
 *   there is no such group. *ReturnLength is not changed.
 * ERROR_NOT_ENOUGH_MEMORY: nor is it then.
 * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED and others: what another process says of its providers or sessions cannot be
 *   read, as it is damaged or of another release. The answer lacks it, and is otherwise as with ERROR_SUCCESS; where
 *   nobody else has the GUID, *ReturnLength is not changed.
 *
 * ETW page: "EnumerateTraceGuidsEx function".
 */
uint32_t EnumerateTraceGuidsEx(TRACE_QUERY_INFO_CLASS TraceQueryInfoClass, void *InBuffer,
                               uint32_t InBufferSize, void *OutBuffer, uint32_t OutBufferSize,
                               uint32_t *ReturnLength) ETWAS_API(etwas_EnumerateTraceGuidsEx);

/*
 * Reads a setting. TraceVersionInfo gives a TRACE_VERSION_INFO, whose version is 1 here;
 * TraceMaxLoggersQuery gives a 32-bit number, how many sessions can run at a time. Neither depends
 * on a session, so SessionHandle is not looked at and may be 0. ReturnLength, which may be NULL,
 * gets the size of the setting in bytes, also where InformationLength is too small for it.
 *
 * Of a system logger, TraceSampledProfileIntervalInfo gives a TRACE_PROFILE_INTERVAL, whose Source the
 * caller has set: 0, the timer, is the only one. SessionHandle 0: of those that start next.
 * TraceStackTracingInfo gives an array of CLASSIC_EVENT_ID: which events have stacks.
 * TraceSystemTraceEnableFlagsInfo gives eight masks of 32 bits (PERFINFO_GROUPMASK of other heads): EnableFlags
 * as they are now, and the others as they were set. What system providers are enabled for is not among them.
 * TraceProfileSourceListInfo gives a PROFILE_SOURCE_INFO for each source that samples may come from: the timer,
 * 0, alone in this release. TraceProfileSourceConfigInfo gives the numbers of those in use, of 32 bits each.
 * SessionHandle of both may be 0.
 *
 * Thread-safe, also from a control callback. Not for signal handlers.
 *
 * ERROR_BAD_LENGTH: InformationLength is too small.
 * ERROR_INVALID_PARAMETER: TraceInformation NULL; another Source; SessionHandle of no session that runs.
 * ERROR_NOT_SUPPORTED: another class; a session that is no system logger.
 *
 * ETW page: "TraceQueryInformation function".
 */
uint32_t TraceQueryInformation(etwas_trace_handle SessionHandle, TRACE_INFO_CLASS InformationClass,
                               void *TraceInformation, uint32_t InformationLength,
                               uint32_t *ReturnLength) ETWAS_API(etwas_TraceQueryInformation);

/*
 * Changes a setting of a system logger, also while it runs.
 *
 * TraceSampledProfileIntervalInfo, with a TRACE_PROFILE_INTERVAL: how often EVENT_TRACE_FLAG_PROFILE
 * asks where the processors are, in units of 100 ns, 1,221 to 1,000,000; 10,000 (1 ms) unless it is
 * changed. Source is 0, the timer. SessionHandle 0: for sessions that start from now on.
 *
 * TraceStackTracingInfo, with an array of at most 256 CLASSIC_EVENT_ID: which events have stacks from
 * now on, instead of those before; without any, none. What is not known, or has no stack, is ignored. What
 * happens in the moment of the change may not be recorded.
 *
 * Thread-safe. Not for signal handlers.
 *
 * TraceSystemTraceEnableFlagsInfo, with eight masks of 32 bits: EnableFlags, as UPDATE changes them, and
 * others, of which those bits mean something that are a flag of their own in Windows's kernel (PROFILE 0x2,
 * CSWITCH 0x4, DPC 0x80, DISPATCHER 0x200, INTERRUPT 0x4000 and VIRTUAL_ALLOC 0x8000 of the second; SYSTEMCALL
 * 0x40, the processors' timers 0x40000 and requests 0x400000 of the third). UPDATE to other EnableFlags, or to
 * none, clears them.
 *
 * TraceProfileSourceConfigInfo, with numbers of 32 bits: the sources that samples come from. 0, the timer, is
 * the only one.
 *
 * ERROR_BAD_LENGTH: InformationLength is too small, or no whole number of CLASSIC_EVENT_ID or sources.
 * ERROR_INVALID_PARAMETER: TraceInformation NULL with a length that is not 0; a Source that is not there or an
 *     Interval out of range; too many events; unknown EnableFlags; SessionHandle of no session that runs, or of
 *     one that only runs down where EnableFlags are meant.
 * ERROR_NOT_SUPPORTED: another class; a session that is no system logger; EnableFlags that this release does
 *     not have.
 * The others, of what the kernel refuses, are those of StartKernelTrace.
 *
 * ETW page: "TraceSetInformation function".
 */
uint32_t TraceSetInformation(etwas_trace_handle SessionHandle, TRACE_INFO_CLASS InformationClass,
                             void *TraceInformation, uint32_t InformationLength)
    ETWAS_API(etwas_TraceSetInformation);

ETWAS_END_DECLS

#endif
