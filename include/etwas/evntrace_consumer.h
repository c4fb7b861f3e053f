/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_CONSUMER_H
#define ETWAS_EVNTRACE_CONSUMER_H

/*
 * The functions of consumers, of evntrace.h; include that.
 */

#include <etwas/evntrace_types.h>
#include <etwas/types.h>

ETWAS_BEGIN_DECLS

/*
 * Opens a trace file for ProcessTrace.
 *
 * For a file set LogFileName, ProcessTraceMode and the callbacks; LoggerName must be NULL. For a
 * running real-time session of this process set LoggerName, PROCESS_TRACE_MODE_REAL_TIME in
 * ProcessTraceMode and the callbacks; LogFileName must be NULL. The session need not run yet. If it
 * does, its buffers are kept for this trace from here on, and the first trace to be opened also
 * gets what was flushed before: open it soon before ProcessTrace, or close it. The call fills
 * LogfileHeader and what follows from it. Logfile is copied, but its strings are only read during
 * the call; a buffer callback gets the library's copy.
 *
 * Returns INVALID_PROCESSTRACE_HANDLE on failure, and GetLastError gives the reason.
 *
 * Thread-safe; not async-signal-safe; no cancellation point.
 *
 * ERROR_INVALID_PARAMETER: Logfile NULL, both names set, LoggerName without
 *   PROCESS_TRACE_MODE_REAL_TIME or this without LoggerName; LoggerName empty, not UTF-8 (A), or
 *   of 4,096 units or more.
 * ERROR_BAD_PATHNAME: no LogFileName, or not a valid one, or of something else than a file.
 * ERROR_FILENAME_EXCED_RANGE: LogFileName is longer than the system takes.
 * ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED: as the system says.
 * ERROR_NO_SYSTEM_RESOURCES: too many open files; of LoggerName, a session of another process, 64 traces of other
 *   processes are open.
 * ERROR_FILE_CORRUPT: not a trace file.
 * ERROR_NOT_ENOUGH_MEMORY: no memory, or 1,024 traces are open.
 * ERROR_ALREADY_INITIALIZED: of LoggerName; another copy of the library is at work in the process.
 *
 * ETW page: "OpenTraceW function".
 */
etwas_trace_handle OpenTraceA(EVENT_TRACE_LOGFILEA *Logfile) ETWAS_API(etwas_OpenTraceA);
etwas_trace_handle OpenTraceW(EVENT_TRACE_LOGFILEW *Logfile) ETWAS_API(etwas_OpenTraceW);
etwas_trace_handle OpenTrace(EVENT_TRACE_LOGFILE *Logfile) ETWAS_API_AW(OpenTrace);

/*
 * Delivers the events of up to 64 open files, or of one running session, to their callbacks in one
 * time order.
 *
 * Of a session the events come as its buffers are flushed: first the backlog, then what is new,
 * until the session ends or leaves real time. That something was lost is told by events of the
 * class Lost_Event (types 32 events, 33 buffers, 34 backlog) before the events that come after; how
 * much, etwas_counts and QUERY tell. Across
 * processors the order is that of time, but for an event whose writer was interrupted between
 * reading the clock and recording it. A callback that does not keep up loses buffers for this trace
 * alone, never for writers or others. No log file header event is delivered.
 *
 * Returns when every event was delivered, or a buffer callback returns 0, or the traces are
 * closed. Callbacks run in this thread. HandleArray is read when the call begins, and not again.
 * StartTime and EndTime (UTC, or NULL) are the first and the last time wanted. Of a file that etwas wrote with
 * another clock than the system time, buffers that lie outside are not read, and what is wrong with them not told.
 *
 * Thread-safe for different handles; a handle is processed by one thread at a time. Not for
 * signal handlers.
 *
 * ERROR_BAD_LENGTH: HandleCount 0 or above 64.
 * ERROR_INVALID_PARAMETER: HandleArray NULL, or a session's handle among others.
 * ERROR_INVALID_HANDLE: a handle is not an open trace.
 * ERROR_WMI_INSTANCE_NOT_FOUND: no real-time session of that name runs.
 * ERROR_ALREADY_INITIALIZED: of a session; as OpenTrace says.
 * ERROR_INVALID_TIME: EndTime before StartTime.
 * ERROR_BUSY: a handle is there twice, or ProcessTrace runs on it already.
 * ERROR_CANCELLED: a buffer callback returned 0.
 * ERROR_FILE_CORRUPT: parts of a file were damaged; everything else was delivered.
 * ERROR_NOT_ENOUGH_MEMORY: no memory.
 *
 * ETW page: "ProcessTrace function".
 */
uint32_t ProcessTrace(etwas_trace_handle *HandleArray, uint32_t HandleCount,
                      etwas_filetime *StartTime, etwas_filetime *EndTime)
    ETWAS_API(etwas_ProcessTrace);

/*
 * Closes a trace of OpenTrace. Allowed in callbacks and while ProcessTrace runs, which then ends:
 * of a file at once, of a session when it has given what it has already taken, up to 32 MB. Until
 * ProcessTrace has returned there may be callbacks.
 *
 * Thread-safe; not async-signal-safe; no cancellation point.
 *
 * ERROR_INVALID_HANDLE: not an open trace.
 * ERROR_CTX_CLOSE_PENDING: done, but ProcessTrace still runs.
 *
 * ETW page: "CloseTrace function".
 */
uint32_t CloseTrace(etwas_trace_handle TraceHandle) ETWAS_API(etwas_CloseTrace);

/*
 * Has EventCallback called for the classic events of one class, in every trace that ProcessTrace
 * reads, until RemoveTraceCallback; also where the trace itself has no callback. A trace's own
 * callback gets the event too, and first. A class has one callback, the last one set. Events of
 * EventWrite and messages have no class. New programs compare the GUID in their own callback.
 *
 * Both may be called at any time, also from callbacks: the events read from then on go by it, and a
 * callback that runs goes on. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: a parameter is NULL.
 * ERROR_WMI_GUID_NOT_FOUND: RemoveTraceCallback of a class that has no callback.
 * ERROR_NOT_ENOUGH_MEMORY: SetTraceCallback.
 *
 * ETW pages: "SetTraceCallback function", "RemoveTraceCallback function".
 */
uint32_t SetTraceCallback(const etwas_guid *pGuid, PEVENT_CALLBACK EventCallback)
    ETWAS_API(etwas_SetTraceCallback);
uint32_t RemoveTraceCallback(const etwas_guid *pGuid) ETWAS_API(etwas_RemoveTraceCallback);

/*
 * What a trace of OpenTrace says of itself; InBuffer is not used. *ReturnLength receives the size
 * of the answer.
 *
 * EtwQueryLogFileHeader: TRACE_LOGFILE_HEADER, as OpenTrace gives it; its names belong to the trace.
 * EtwQueryPartitionInformation, EtwQueryPartitionInformationV2: their structures, all 0: traces are
 *   of the host itself.
 *
 * May be called from callbacks. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: ReturnLength NULL; OutBuffer NULL and OutBufferSize not 0.
 * ERROR_INVALID_HANDLE: not an open trace.
 * ERROR_NOT_SUPPORTED: another class.
 * ERROR_INSUFFICIENT_BUFFER: OutBuffer is too small; *ReturnLength is the size needed.
 *
 * ETW page: "QueryTraceProcessingHandle function".
 */
uint32_t QueryTraceProcessingHandle(etwas_trace_handle ProcessingHandle,
                                    ETW_PROCESS_HANDLE_INFO_TYPE InformationClass, void *InBuffer,
                                    uint32_t InBufferSize, void *OutBuffer, uint32_t OutBufferSize,
                                    uint32_t *ReturnLength)
    ETWAS_API(etwas_QueryTraceProcessingHandle);

ETWAS_END_DECLS

#endif
