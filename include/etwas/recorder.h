/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_RECORDER_H
#define ETWAS_RECORDER_H

/*
 * The contents of a flight recorder (a session in buffering mode), and triggers that write them to
 * a file. This header is a part of <etwas/etwas.h>, which states what holds for all of its
 * functions.
 */

#include <etwas/describe.h>
#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * How far back a recorder's memory goes now. A processor is covered for a period if nothing that it
 * recorded since then is overwritten. If nothing is overwritten yet, that is the whole session.
 * Lost events are missing in any case; etwas_counts counts them.
 */
typedef struct etwas_retention {
    uint64_t covered_ns; /* the period, back from now, that covers every processor */
    uint64_t longest_ns; /* the same for the processor that goes back farthest */
    /*
     * The number of streams: one for each processor and, in a session with ETWAS_PROTOCOL_RSEQ, the
     * extra one after them. It is 1 for EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING. A session with
     * retention classes has as many for each class: class 0 first, and all extra streams at the
     * end.
     */
    uint32_t streams;
    /*
     * The stream that covers the shortest period, which is a processor's number; one of them if
     * there are several.
     */
    uint32_t shortest;
} etwas_retention;

/* etwas_retention_query with the size of the caller's struct. */
uint32_t etwas_retention_query_sized(etwas_trace_handle session, etwas_retention *retention,
                                     size_t retention_bytes, uint64_t *stream_ns, uint32_t room)
    ETWAS_API(etwas_retention_query_sized);

/*
 * Reports how far back a running recorder goes. `stream_ns` receives for each stream, in the order
 * of the processors, for how many nanoseconds back it is held. It receives at most `room` entries
 * and may be NULL if `room` is 0. Writers log during the call, and nothing is consumed. If they
 * overwrite a buffer that is being examined, the result is the shorter period. The call reads two
 * words of each buffer: some microseconds for a hundred. The host of another process's recorder is
 * queried.
 *
 * ERROR_INVALID_PARAMETER: `retention` is NULL.
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_SUPPORTED: the session is not a recorder.
 *
 * Other errors are those of etwas_counts.
 */
static inline uint32_t etwas_retention_query(etwas_trace_handle session, etwas_retention *retention,
                                             uint64_t *stream_ns, uint32_t room)
{
    return etwas_retention_query_sized(session, retention, sizeof *retention, stream_ns, room);
}

/* ---- triggers ---------------------------------------------------------------------------- */

/*
 * A trigger requests a file from a recorder with the events around a moment: from `before_ms`
 * before it until `after_ms` after it. The session's flusher thread does the work. When it wakes up
 * and finds the trigger, it begins a window: full buffers that belong to the window are kept from
 * being overwritten, and writers continue in the others. When the time is over, it writes the file.
 * Writers never stop, wait or slow down.
 *
 * The file has whole buffers: all that have an event of the window, and therefore also older
 * events. If the window has more events than fit, some are overwritten in spite of this, and the
 * file says so. Its first event, Window, has the interval that every processor covers in full. An
 * event Missing follows for each interval of a processor that is missing
 * (docs/reference/file-format.md).
 *
 * A trigger has one of three results. It begins a window. It joins the open window, and its moment
 * is in that file. It is refused, because it comes too soon or a limit is reached. While a file is
 * written the next triggers wait. etwas_trigger_query counts each result.
 */
typedef struct etwas_trigger_options {
    /*
     * A UTF-8 path in which one `%d` (or `%5d`, `%05d`) becomes the number of the window, from 1.
     * In a private session `_` and the process id are appended. A file with that name is replaced.
     */
    const char *log_file;
    uint32_t before_ms; /* 0: everything that is held */
    /*
     * 0: the file is written at once. If the session is stopped before that time, the file is
     * written then.
     */
    uint32_t after_ms;
    /*
     * A trigger within this time after the beginning of the last window is refused, unless it joins
     * it. 0: no trigger is refused for this.
     */
    uint32_t least_gap_ms;
    /* Triggers are refused when there are this many files; 0: no limit. */
    uint32_t maximum_files;
    /*
     * Triggers are refused if the files, and another one with all buffers of the session, would
     * exceed this size together. Descriptions of events are not counted. 0: no limit.
     */
    uint64_t maximum_kb;
    /*
     * The number of buffers that are never kept for a window, so that writers may continue in them.
     * It is at least three for each stream, plus the share that the extra stream may take. 0: half
     * of the session's buffers.
     *
     * Besides these, a window needs one buffer for each stream, and one more. A recorder that has
     * fewer gets what is missing when it is armed: see etwas_trigger_arm.
     */
    uint32_t spare_buffers;
    /*
     * A value other than 0 propagates each window. It requests snapshots that go back as far from
     * the other recorders of the user (etwas_snapshot_all), into the folder of the log file. The
     * folder is created if it is missing, so `%d` may be in its name; then the files of each window
     * form one time line.
     */
    uint32_t pass_on;
} etwas_trigger_options;

/* etwas_trigger_arm with the size of the caller's struct. */
uint32_t etwas_trigger_arm_sized(etwas_trace_handle session, const etwas_trigger_options *options,
                                 size_t options_bytes) ETWAS_API(etwas_trigger_arm_sized);

/*
 * Arms a recorder: from now on until the session stops, etwas_trigger requests windows from it.
 *
 * A recorder with too few buffers for a window, as with the default MinimumBuffers, gets more, and
 * keeps them: so many that a window can have as many buffers as a writer needs besides. That is
 * limited to four times MinimumBuffers, or eight for each stream if that is more, and to the
 * memory of the machine.
 *
 * ERROR_INVALID_HANDLE: the session does not run.
 * ERROR_NOT_SUPPORTED: the session is not a recorder, has no flusher thread, or its filters exclude
 *   this process.
 * ERROR_ALREADY_EXISTS: it is armed already.
 * ERROR_BAD_PATHNAME: the name is NULL or too long.
 * ERROR_INVALID_NAME: the name does not have exactly one `%d`.
 * ERROR_INVALID_PARAMETER: besides the spare buffers, the session does not have one buffer for each
 *   stream and one more, and cannot get them. etwas_trigger_refusal says how many it needs.
 * ERROR_DISK_FULL: the pool file of a crash-safe session has no space for more buffers.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
static inline uint32_t etwas_trigger_arm(etwas_trace_handle session,
                                         const etwas_trigger_options *options)
{
    return etwas_trigger_arm_sized(session, options, sizeof *options);
}

/*
 * Says why the last etwas_trigger_arm of the calling thread returned ERROR_INVALID_PARAMETER: an
 * English sentence with the number of buffers that the session needs, and how many it has. The text
 * is empty after any other result. `text` receives as much as fits into `room` bytes, with a
 * terminating 0. It may be NULL if `room` is 0. Returns the length of the whole text without its 0,
 * at most 255. Thread-safe; not async-signal-safe.
 */
size_t etwas_trigger_refusal(char *text, size_t room) ETWAS_API(etwas_trigger_refusal);

/*
 * Requests a window around this moment and returns at once. A trigger that is refused, such as one
 * beyond maximum_files, also returns success: etwas_trigger_query counts it. The call takes some
 * ten nanoseconds. If no window is open and the flusher sleeps, it also takes a system call that
 * wakes the flusher, some microseconds. Async-signal-safe; errno is preserved.
 *
 * ERROR_INVALID_HANDLE: the session does not run or is not armed, or the process is a fork's child.
 */
uint32_t etwas_trigger(etwas_trace_handle session) ETWAS_API(etwas_trigger);

/*
 * Two filter types (EVENT_FILTER_DESCRIPTOR) for EnableTraceEx2, in addition to ETW's. They select
 * the events of a modern provider that request a window from this session once they are recorded,
 * as etwas_trigger does. The first has the data of EVENT_FILTER_TYPE_EVENT_ID; events of
 * TraceLogging have no ids. The second has the data of EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW. If
 * both are given, an event has to match both. The session may be armed before or after the call;
 * while it is not armed, no window is requested. All events of the provider then take the slower
 * path of filtered events, in every session that enables it. Without such a filter nothing is
 * checked.
 */
#define ETWAS_FILTER_TYPE_TRIGGER 0x81000000u
#define ETWAS_FILTER_TYPE_TRIGGER_LEVEL_KW 0x82000000u

/*
 * Marks a class: an instance that takes longer than `threshold_us` requests a window from this
 * session, if etwas_trigger_if_slow is called at its end. `class_handle` is that of
 * RegisterTraceGuids; the mark ends with it. A class has one session, the last that was named. A
 * threshold of 0 removes the mark.
 *
 * ERROR_INVALID_PARAMETER: the class is not registered.
 * ERROR_INVALID_HANDLE: the session does not run.
 */
uint32_t etwas_trigger_mark(etwas_trace_handle session, etwas_handle class_handle,
                            uint64_t threshold_us) ETWAS_API(etwas_trigger_mark);

/*
 * Reports the end of an instance of the class and requests a window if the instance was too slow.
 * `start` is the time of its beginning, which the caller has read from the session's own clock
 * (etwas_clock_read with etwas_clock_effective of the requested clock). Call it when the event of
 * the end is logged, so that the window contains it. Returns true if the instance was too slow and
 * a window was requested. Returns false for a class that is not marked, which costs a load and a
 * branch, and for a session that is not armed. A marked class costs a reading of the clock.
 * Async-signal-safe.
 */
bool etwas_trigger_if_slow(etwas_handle class_handle, int64_t start)
    ETWAS_API(etwas_trigger_if_slow);

/* One condition for a field of an event. */
typedef struct etwas_payload_predicate {
    /* The field's name. For a member of a TraceLogging struct it is the member's name. */
    const char *field;
    /*
     * UTF-8: a text; or an integer, decimal or hexadecimal, such as "-3" or "0x1F". BETWEEN and
     * NOTBETWEEN have two integers with a comma between them.
     */
    const char *value;
    uint32_t compare;  /* PAYLOADFIELD_* of <etwas/tdh.h> */
    uint32_t reserved; /* 0 */
} etwas_payload_predicate;

/*
 * The events that a filter applies to, and the conditions for their payload. Classic events are
 * identified by class, type and version, modern ones by provider, id and version. Events of
 * TraceLogging are identified by provider and name.
 */
typedef struct etwas_payload_filter {
    const etwas_guid *guid; /* the class, or the modern provider */
    /* The name of a TraceLogging event, which describes its fields itself; else NULL. */
    const char *event_name;
    /*
     * If event_name is NULL: the fields of the payload from its beginning, as etwas_describe_class
     * takes them. Fields after the last one that a predicate names may be left out.
     */
    const etwas_field_description *fields;
    const etwas_payload_predicate *predicates;
    uint32_t field_count;
    uint32_t predicate_count; /* 1 to 8 */
    uint32_t match_any;       /* not 0: one predicate has to hold; 0: all have to */
    uint32_t event;           /* Class.Type, or the id */
    uint32_t version;         /* Class.Version, or the version of a modern event */
    uint32_t reserved;        /* 0 */
} etwas_payload_filter;

/* etwas_trigger_on_payload with the size of the caller's struct. */
uint32_t etwas_trigger_on_payload_sized(etwas_trace_handle session, etwas_trace_handle recorder,
                                        const etwas_payload_filter *filter, size_t filter_bytes,
                                        const char **fault)
    ETWAS_API(etwas_trigger_on_payload_sized);

/*
 * Adds a payload filter: from now on until `session` stops, each event in it that the filter
 * matches requests a window from `recorder` around the event's own time. `session` has a log file
 * or real time. The thread that drains it, usually its flusher, checks each event before it is
 * written; writers are not affected. Therefore the recorder receives the request only when the
 * event's buffer is full or flushed. FlushTimer limits that delay, and `before_ms` and the
 * recorder's memory have to go back at least as far. The recorder may be armed before or after the
 * call. While it is not armed, matching events are counted as refused.
 *
 * Integers are compared with integers of either sign: EQ, NE, LE, GT, LT, GE, BETWEEN, NOTBETWEEN,
 * MODULO, IS and ISNOT. Strings are compared byte by byte: IS, ISNOT, CONTAINS and DOESNTCONTAIN.
 * An event matches nothing and is counted as unfit if it ends before a field that the decision
 * needs, if that field is an array or has another type, or if an array of structs precedes it.
 *
 * The kernel's events and messages are not checked. The draining thread spends about 10 ns for each
 * event of the session and filter, and 60 ns for an event that the filter applies to. All arguments
 * are copied. A session has at most 64 filters.
 *
 * ERROR_INVALID_PARAMETER: the filter is invalid. *fault receives a sentence that says why, as
 *   static text. In all other cases it receives NULL. `fault` may be NULL.
 * ERROR_INVALID_HANDLE: the session or the recorder does not run.
 * ERROR_NOT_SUPPORTED: `session` has neither a file nor real time, or `recorder` is not a recorder.
 * ERROR_NO_SYSTEM_RESOURCES: the session has 64 filters.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
static inline uint32_t etwas_trigger_on_payload(etwas_trace_handle session,
                                                etwas_trace_handle recorder,
                                                const etwas_payload_filter *filter,
                                                const char **fault)
{
    return etwas_trigger_on_payload_sized(session, recorder, filter, sizeof *filter, fault);
}

/* The results of a session's payload filters, all of them together. */
typedef struct etwas_payload_counts {
    uint64_t tested; /* events that a filter applies to, once for each filter */
    /*
     * The tested events that requested a window from their recorder, which counts them too, or were
     * refused.
     */
    uint64_t matched;
    /* The tested events without the required field, or with a different one. */
    uint64_t unfit;
    uint64_t refused; /* matched, but the recorder was not armed or had ended */
} etwas_payload_counts;

/* etwas_payload_query with the size of the caller's struct. */
uint32_t etwas_payload_query_sized(etwas_trace_handle session, etwas_payload_counts *counts,
                                   size_t counts_bytes) ETWAS_API(etwas_payload_query_sized);

/*
 * Reports the counts of the session with payload filters, all 0 if it has none. For a stopped
 * session it reports the last counts, as long as etwas_counts has its own. Errors are those of
 * etwas_trigger_query.
 */
static inline uint32_t etwas_payload_query(etwas_trace_handle session, etwas_payload_counts *counts)
{
    return etwas_payload_query_sized(session, counts, sizeof *counts);
}

/* The results of the triggers. asked = windows + joined + limited + capped + waiting. */
typedef struct etwas_trigger_counts {
    uint64_t asked;
    uint64_t windows; /* began a window: files + failed + one that is open */
    uint64_t joined;
    uint64_t limited;    /* refused because of least_gap_ms */
    uint64_t capped;     /* refused because of maximum_files or maximum_kb */
    uint64_t waiting;    /* the flusher has not seen them yet */
    uint64_t files;      /* windows written completely */
    uint64_t failed;     /* windows not written, or in part */
    uint64_t bytes;      /* size of all these files together */
    uint32_t last_error; /* code of etwas_snapshot for the last failure; 0: none */
    uint32_t reserved;
    /*
     * Windows that have snapshots of all other recorders, if there are any. One snapshot may serve
     * several windows.
     */
    uint64_t passed_on;
} etwas_trigger_counts;

/* etwas_trigger_query with the size of the caller's struct. */
uint32_t etwas_trigger_query_sized(etwas_trace_handle session, etwas_trigger_counts *counts,
                                   size_t counts_bytes) ETWAS_API(etwas_trigger_query_sized);

/*
 * Reports the counts of a session, all 0 if nothing was armed. For a stopped session it reports the
 * last counts, as long as etwas_counts has its own.
 *
 * ERROR_INVALID_PARAMETER: `counts` is NULL.
 * ERROR_INVALID_HANDLE: the handle is unknown or forgotten.
 */
static inline uint32_t etwas_trigger_query(etwas_trace_handle session, etwas_trigger_counts *counts)
{
    return etwas_trigger_query_sized(session, counts, sizeof *counts);
}

/* ---- all recorders ----------------------------------------------------------------------- */

/* The result of one recorder's snapshot. Its texts are valid until the callback returns. */
typedef struct etwas_snapshot_part {
    const char *session_name; /* UTF-8 */
    /*
     * The file in the folder. It exists if `code` is 0. For ERROR_DISK_FULL and ERROR_WRITE_FAULT
     * it has what could be written.
     */
    const char *log_file;
    uint32_t process_id; /* in the recorder's own PID namespace */
    /*
     * The result: a code of etwas_snapshot or, for a dead process, of etwas_recover.
     *
     * ERROR_TIMEOUT: the recorder's process has not answered within 5 seconds. It writes its file
     *   when it continues.
     * ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED, with `session_name` "" and `process_id` 0: the data
     *   of a process about its session cannot be read, because they are damaged or of another
     *   release. It may not be a recorder.
     */
    uint32_t code;
    /* Its process is dead, and all that the recorder had is recovered. */
    bool is_dead;
} etwas_snapshot_part;

typedef void (*etwas_snapshot_callback)(const etwas_snapshot_part *part, void *context);

/*
 * Requests a snapshot of one window from all recorders of the user: the `before_ns` nanoseconds
 * until now, or everything that is held if it is 0. These are the shared recorders, and those with
 * ETWAS_SHARING_SNAPSHOTS, of any process. The call also recovers the data that crash-safe sessions
 * of dead processes have left in the user's folders. It sends requests to all recorders before it
 * waits for the first answer, for at most 5 seconds.
 *
 * The files are NAME-PID.etl in `folder`, which is created if it is missing (0700). Characters of a
 * session's name that a file name should not have become `_`. The process of each recorder writes
 * its file, which has whole buffers. Its first event, Window, says what it has of the window
 * (docs/reference/file-format.md). `recorders.txt` in the folder has the window in the form that
 * `etwas dump` takes, and a line for each recorder. If there are no recorders, nothing is left
 * behind.
 *
 * `each`, which may be NULL, is called for each of them in this thread. The call does not make the
 * process take part in sharing: it creates no thread, and no file elsewhere. Thread-safe; not
 * async-signal-safe. Returns the first code of a recorder that is not 0, or:
 *
 * ERROR_NOT_FOUND: there are no recorders.
 * ERROR_BAD_PATHNAME: the name is NULL or too long.
 * ERROR_NOT_SUPPORTED: the library was built with -DETWAS_SHARING=OFF.
 * ERROR_WRITE_FAULT and others: `recorders.txt` could not be written, and does not exist.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 *
 * If the folder is unavailable, the code says why.
 */
uint32_t etwas_snapshot_all(const char *folder, uint64_t before_ns, etwas_snapshot_callback each,
                            void *context) ETWAS_API(etwas_snapshot_all);

ETWAS_END_DECLS

#endif
