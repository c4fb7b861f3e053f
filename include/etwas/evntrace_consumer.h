/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_CONSUMER_H
#define ETWAS_EVNTRACE_CONSUMER_H

/*
 * The functions of consumers in evntrace.h. Include evntrace.h instead.
 */

#include <etwas/evntrace_types.h>
#include <etwas/types.h>

ETWAS_BEGIN_DECLS

/*
 * Opens a trace file or a real-time session for ProcessTrace.
 *
 * For a file set LogFileName, ProcessTraceMode and the callbacks; LoggerName must be NULL. For a
 * real-time session set LoggerName, PROCESS_TRACE_MODE_REAL_TIME in ProcessTraceMode and the
 * callbacks; LogFileName must be NULL. The session is one of this process, or a shared one of
 * another (shared.h). It need not run yet. If it runs, its buffers are kept for this trace from
 * here on, and the first trace that is opened also gets the buffers flushed before. Therefore open
 * it shortly before ProcessTrace, or close it.
 *
 * The call fills LogfileHeader and the values that follow from it. Logfile is copied, but its
 * strings are only read during the call. A buffer callback gets the library's copy. On failure the
 * call returns INVALID_PROCESSTRACE_HANDLE, and GetLastError gives the reason.
 *
 * Thread-safe; not async-signal-safe; no cancellation point.
 *
 * ERROR_INVALID_PARAMETER: Logfile is NULL; both names are set; LoggerName without
 *   PROCESS_TRACE_MODE_REAL_TIME, or this without LoggerName; LoggerName is empty, is not UTF-8
 *   (A), or has 4,096 units or more.
 * ERROR_BAD_PATHNAME: there is no LogFileName, or it is invalid, or it does not name a file.
 * ERROR_FILENAME_EXCED_RANGE: LogFileName is longer than the system allows.
 * ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED: the system says so.
 * ERROR_NO_SYSTEM_RESOURCES: there are too many open files; or LoggerName is a session of another
 *   process, and 64 traces of other processes are open.
 * ERROR_FILE_CORRUPT: the file is not a trace file.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory, or 1,024 traces are open.
 * ERROR_ALREADY_INITIALIZED: LoggerName is set, and another copy of the library is active in the
 *   process.
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
 * The events of a session come as its buffers are flushed: first the backlog, then new events,
 * until the session ends or leaves real time. Losses are reported by events of the class Lost_Event
 * (type 32 for events, 33 for buffers, 34 for the backlog), before the events that follow the loss.
 * etwas_counts and QUERY give the numbers. Across processors the events are in time order, except
 * for an event with a writer that was interrupted between reading the clock and recording. A
 * callback that is too slow loses buffers for this trace alone, never for writers or other traces.
 * The event of the log file header is not delivered.
 *
 * The call returns when every event was delivered, when a buffer callback returns 0, or when the
 * traces are closed. Callbacks run in this thread. HandleArray is read at the beginning of the call
 * only. StartTime and EndTime (UTC, or NULL) limit the events that are delivered. If etwas wrote a
 * file with another clock than the system time, buffers outside of the span are not read, and
 * damage in them is not reported.
 *
 * Thread-safe for different handles; one thread at a time processes a handle. The function is not
 * async-signal-safe.
 *
 * ERROR_BAD_LENGTH: HandleCount is 0 or above 64.
 * ERROR_INVALID_PARAMETER: HandleArray is NULL, or a session's handle is among others.
 * ERROR_INVALID_HANDLE: a handle is not an open trace.
 * ERROR_WMI_INSTANCE_NOT_FOUND: no real-time session of that name runs.
 * ERROR_ALREADY_INITIALIZED: the trace is a session's, and another copy of the library is active.
 * ERROR_INVALID_TIME: EndTime is before StartTime.
 * ERROR_BUSY: a handle occurs twice, or ProcessTrace runs on it already.
 * ERROR_CANCELLED: a buffer callback returned 0.
 * ERROR_FILE_CORRUPT: parts of a file were damaged; everything else was delivered.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 *
 * ETW page: "ProcessTrace function".
 */
uint32_t ProcessTrace(etwas_trace_handle *HandleArray, uint32_t HandleCount,
                      etwas_filetime *StartTime, etwas_filetime *EndTime)
    ETWAS_API(etwas_ProcessTrace);

/*
 * Closes a trace of OpenTrace. It may be called in callbacks and while ProcessTrace runs, which
 * then ends. For a file it ends at once. For a session it ends when it has delivered the buffers
 * that it has already taken, up to 32 MB. Callbacks may run until ProcessTrace has returned.
 *
 * Thread-safe; not async-signal-safe; no cancellation point.
 *
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_CTX_CLOSE_PENDING: the trace is closed, but ProcessTrace still runs.
 *
 * ETW page: "CloseTrace function".
 */
uint32_t CloseTrace(etwas_trace_handle TraceHandle) ETWAS_API(etwas_CloseTrace);

/*
 * Sets or removes the callback for the classic events of one class. It is called in every trace
 * that ProcessTrace reads, also if the trace itself has no callback. A trace's own callback gets
 * the event too, and first. A class has one callback, the last one set. Events of EventWrite and
 * messages have no class. New programs should compare the GUID in their own callback.
 *
 * Both functions may be called at any time, also in callbacks. They apply to the events read from
 * then on; a callback that runs continues. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: an argument is NULL.
 * ERROR_WMI_GUID_NOT_FOUND: RemoveTraceCallback of a class without a callback.
 * ERROR_NOT_ENOUGH_MEMORY: SetTraceCallback has not enough memory.
 *
 * ETW pages: "SetTraceCallback function", "RemoveTraceCallback function".
 */
uint32_t SetTraceCallback(const etwas_guid *pGuid, PEVENT_CALLBACK EventCallback)
    ETWAS_API(etwas_SetTraceCallback);
uint32_t RemoveTraceCallback(const etwas_guid *pGuid) ETWAS_API(etwas_RemoveTraceCallback);

/*
 * Queries a trace of OpenTrace. InBuffer is not used. *ReturnLength receives the size of the
 * answer. May be called in callbacks. Thread-safe; not async-signal-safe.
 *
 * - EtwQueryLogFileHeader: a TRACE_LOGFILE_HEADER, as OpenTrace returns it. The trace owns its
 *   names.
 * - EtwQueryPartitionInformation, EtwQueryPartitionInformationV2: their structures, all 0, because
 *   traces are of the host itself.
 *
 * ERROR_INVALID_PARAMETER: ReturnLength is NULL, or OutBuffer is NULL and OutBufferSize is not 0.
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_NOT_SUPPORTED: another class.
 * ERROR_INSUFFICIENT_BUFFER: OutBuffer is too small; *ReturnLength has the required size.
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
