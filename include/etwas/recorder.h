/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_RECORDER_H
#define ETWAS_RECORDER_H

/*
 * What a flight recorder (a session in buffering mode) holds, and triggers that have it written: a part of <etwas/etwas.h>, which says what
 * holds for all of its functions.
 */

#include <etwas/describe.h>
#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * How far back a recorder's memory goes now. "For so long back" means: nothing that the processor
 * recorded since then is overwritten. Where nothing is overwritten yet, that is the whole session.
 * What was lost is missing all the same: etwas_counts counts it.
 */
typedef struct etwas_retention {
    uint64_t covered_ns; /* for so long back everything is held, of every processor */
    uint64_t longest_ns; /* the same of the one processor that goes back farthest */
    uint32_t streams;    /* how many there are: one for each processor and, in a session with
                            ETWAS_PROTOCOL_RSEQ, the extra one behind them; or 1 with
                            EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING; with retention classes so many
                            for each, class 0 first, and all extra ones behind */
    uint32_t shortest;   /* which of them holds the least: a processor's number; of several one */
} etwas_retention;

/* etwas_retention_query with the size of the caller's struct. */
uint32_t etwas_retention_query_sized(etwas_trace_handle session, etwas_retention *retention,
                                     size_t retention_bytes, uint64_t *stream_ns, uint32_t room)
    ETWAS_API(etwas_retention_query_sized);

/*
 * The live gauge of a running recorder. `stream_ns` receives for each stream, in the order of the
 * processors, for how many nanoseconds back it is held, as many as fit into `room` entries; it may be NULL
 * with 0. Writers write meanwhile, and nothing is taken from them; where they overwrite what is just
 * looked at, the answer is the shorter one. Looks at two words of each buffer: some microseconds for a
 * hundred. Of a recorder of another process its host is asked. Errors: ERROR_INVALID_PARAMETER for NULL,
 * ERROR_INVALID_HANDLE for a session that does not run, ERROR_NOT_SUPPORTED for one that is no recorder; those of
 * etwas_counts.
 */
static inline uint32_t etwas_retention_query(etwas_trace_handle session, etwas_retention *retention,
                                             uint64_t *stream_ns, uint32_t room)
{
    return etwas_retention_query_sized(session, retention, sizeof *retention, stream_ns, room);
}

/* ---- triggers -------------------------------------------------------------------------------- */

/*
 * A trigger asks a recorder for a file with what happens around a moment: `before_ms` until the moment and
 * `after_ms` from it on. The session's flusher thread does the work. When it sees the trigger, which takes
 * it as long as it takes a sleeping thread to run, it begins a window: full buffers that belong to it are
 * kept from being overwritten, and writers go on in the others. When the time is over, it writes the file.
 * Writers never stop, wait or slow down.
 *
 * The file holds whole buffers: all that have an event of the window, and so also older events. What was
 * overwritten all the same, because the window has more than fits, the file says: its first event, Window,
 * has the interval that every processor covers in full, and an event Missing follows for each
 * interval of a processor that is not there (docs/file-format.md).
 *
 * What comes of a trigger: it begins a window; or it is joined to the one that is open, and its moment is in that
 * file; or it is refused, since it comes too soon or the cap is reached. While a file is written the next
 * ones wait. etwas_trigger_query counts each of these.
 */
typedef struct etwas_trigger_options {
    const char *
        log_file; /* a UTF-8 path in which one `%d`, also `%5d` or `%05d`, becomes the number of the
                             window, from 1; of a private session `_` and the process id are added. A
                             file of that name is replaced */
    uint32_t before_ms; /* 0: all that is held */
    uint32_t
        after_ms; /* 0: the file is written at once. When the session is stopped before that, it
                             is written then */
    uint32_t
        least_gap_ms; /* a trigger within this after the beginning of the last window is refused, unless
                              it is joined; 0: none is */
    uint32_t maximum_files; /* when there are so many, triggers are refused; 0: no limit */
    uint64_t
        maximum_kb; /* likewise when the files, and another with all buffers of the session, would be
                               larger than this together; descriptions of events not counted; 0: no limit */
    uint32_t
        spare_buffers; /* so many are never kept for a window, that writers may go on in them; 0: half
                               of the session's. At least three for each stream, and the share that the
                               extra stream may take */
    uint32_t pass_on; /* not 0: each window is passed on: the other recorders of the user are asked
                         for snapshots that go back as far (etwas_snapshot_all), into the folder of
                         the log file. That is made if it is missing, so the `%d` may be in its
                         name: then the files of each window are one time line */
} etwas_trigger_options;

/* etwas_trigger_arm with the size of the caller's struct. */
uint32_t etwas_trigger_arm_sized(etwas_trace_handle session, const etwas_trigger_options *options,
                                 size_t options_bytes) ETWAS_API(etwas_trigger_arm_sized);

/*
 * From now on until the session stops etwas_trigger asks it for windows. Errors: ERROR_INVALID_HANDLE for a
 * session that does not run; ERROR_NOT_SUPPORTED for one that is no recorder, has no flusher thread or is
 * filtered out; ERROR_ALREADY_EXISTS when it is armed; ERROR_BAD_PATHNAME for a name that is NULL or too long,
 * ERROR_INVALID_NAME for one without exactly one `%d`; ERROR_INVALID_PARAMETER when the session has
 * not one buffer for each stream beside the spare ones; ERROR_NOT_ENOUGH_MEMORY.
 */
static inline uint32_t etwas_trigger_arm(etwas_trace_handle session,
                                         const etwas_trigger_options *options)
{
    return etwas_trigger_arm_sized(session, options, sizeof *options);
}

/*
 * Asks for a window around this moment. Returns at once: some ten nanoseconds, and when no window is open and
 * the flusher sleeps a system call that wakes it, which takes microseconds. Async-signal-safe, so that the
 * handler of a signal may call it; keeps errno. Errors: ERROR_INVALID_HANDLE for a session that does not run,
 * or is not armed; in a fork's child.
 */
uint32_t etwas_trigger(etwas_trace_handle session) ETWAS_API(etwas_trigger);

/*
 * Two types of EVENT_FILTER_DESCRIPTOR for EnableTraceEx2, beside ETW's: which of a modern provider's events
 * ask this session for a window, once they are recorded, as etwas_trigger does. The first has the data
 * of EVENT_FILTER_TYPE_EVENT_ID, and TraceLogging's events have no ids; the second those of
 * EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW. With both an event has to be what each asks for. It makes no difference
 * whether the session is armed before or after; while it is not, nothing is asked. All events of the
 * provider then go the longer way of filtered ones, for every session that has it enabled; where no
 * such filter is, nothing is looked at.
 */
#define ETWAS_FILTER_TYPE_TRIGGER 0x81000000u
#define ETWAS_FILTER_TYPE_TRIGGER_LEVEL_KW 0x82000000u

/*
 * Marks a class: an instance that takes longer than `threshold_us` asks this session for a window, if
 * etwas_trigger_if_slow is called at its end. `class_handle` is RegisterTraceGuids'; the mark ends with it. One
 * session a class, the last that was named; 0: no more. Errors: ERROR_INVALID_PARAMETER for a class
 * that is not registered, ERROR_INVALID_HANDLE for a session that does not run.
 */
uint32_t etwas_trigger_mark(etwas_trace_handle session, etwas_handle class_handle,
                            uint64_t threshold_us) ETWAS_API(etwas_trigger_mark);

/*
 * An instance of the class ends, that began at `start`, which the caller has read from the session's own clock then
 * (etwas_clock_read; etwas_clock_effective of what the session asked for). Call it when the event of the end
 * is logged, so that it is in the window. Whether it was too slow and the session was asked: false too for
 * a class that is not marked, which costs a load and a branch, and for a session that is not armed.
 * A marked one costs a reading of the clock. Async-signal-safe.
 */
bool etwas_trigger_if_slow(etwas_handle class_handle, int64_t start)
    ETWAS_API(etwas_trigger_if_slow);

/* One question to a field of an event. */
typedef struct etwas_payload_predicate {
    const char *field; /* its name; a member of a TraceLogging struct: the member's */
    const char
        *value; /* UTF-8: an integer, decimal or hexadecimal, as "-3" or "0x1F", two with a comma
                          between them for BETWEEN and NOTBETWEEN; or a text */
    uint32_t compare;  /* PAYLOADFIELD_* of <etwas/tdh.h> */
    uint32_t reserved; /* 0 */
} etwas_payload_predicate;

/*
 * Which events are meant, and what they have to say. Classic events are meant by their class, type and version;
 * modern ones by their provider, id and version, and TraceLogging's by their provider and name.
 */
typedef struct etwas_payload_filter {
    const etwas_guid *guid; /* of the class, or of the modern provider */
    const char *event_name; /* of a TraceLogging event, which says its fields itself; else NULL */
    const etwas_field_description
        *fields; /* those of the payload, from its beginning, as etwas_describe_class takes them;
                   with event_name NULL. Those behind the last that is asked may be left out */
    const etwas_payload_predicate *predicates;
    uint32_t field_count;
    uint32_t predicate_count; /* 1 to 8 */
    uint32_t match_any;       /* not 0: one of the predicates is enough; 0: all have to hold */
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
 * From now on until `session` stops, an event in it that the filter matches asks `recorder` for a window
 * around the event's own time. `session` has a log file or real time; who drains it, mostly its
 * flusher thread, looks at each event before it is written, and its writers take no notice. So the recorder
 * hears of an event when its buffer is full or flushed: FlushTimer says how late that may be, and
 * `before_ms`, and what the recorder holds, have to go back at least as far. It makes no difference whether it is
 * armed before or after; while it is not, the events that match are counted as refused.
 *
 * Integers are compared with integers of either sign: EQ, NE, LE, GT, LT, GE, BETWEEN, NOTBETWEEN, MODULO,
 * and IS and ISNOT; strings, byte by byte, by IS, ISNOT, CONTAINS and DOESNTCONTAIN. An event that ends
 * before a field that it takes to tell, or has it as an array or as another type, matches nothing and is
 * counted as unfit; so is one with an array of structs before that field.
 *
 * The kernel's events and messages are not looked at. What it costs who drains: some 10 ns for each event of
 * the session and filter, and 60 ns for one that is meant. All is copied, and there may be 64 filters in a
 * session.
 *
 * ERROR_INVALID_PARAMETER: the filter makes no sense; *fault, unless `fault` is NULL, is a sentence that
 * says what is wrong, static text; else it is NULL. ERROR_INVALID_HANDLE for a session or recorder that does
 * not run; ERROR_NOT_SUPPORTED when `session` has neither file nor real time, or `recorder` is none;
 * ERROR_NO_SYSTEM_RESOURCES for a 65th filter; ERROR_NOT_ENOUGH_MEMORY.
 */
static inline uint32_t etwas_trigger_on_payload(etwas_trace_handle session,
                                                etwas_trace_handle recorder,
                                                const etwas_payload_filter *filter,
                                                const char **fault)
{
    return etwas_trigger_on_payload_sized(session, recorder, filter, sizeof *filter, fault);
}

/* What came of a session's payload filters, all of them together. */
typedef struct etwas_payload_counts {
    uint64_t tested;  /* events that a filter means, once for each filter */
    uint64_t matched; /* of these: asked their recorder, which counts them too, or were refused */
    uint64_t unfit;   /* of these: the field that was asked is not there, or another */
    uint64_t refused; /* of those that matched: the recorder was not armed, or had ended */
} etwas_payload_counts;

/* etwas_payload_query with the size of the caller's struct. */
uint32_t etwas_payload_query_sized(etwas_trace_handle session, etwas_payload_counts *counts,
                                   size_t counts_bytes) ETWAS_API(etwas_payload_query_sized);

/*
 * The counts of the session whose events are looked at, all 0 where none are; of one that has stopped the last
 * ones, as long as etwas_counts has its. Errors: as etwas_trigger_query.
 */
static inline uint32_t etwas_payload_query(etwas_trace_handle session, etwas_payload_counts *counts)
{
    return etwas_payload_query_sized(session, counts, sizeof *counts);
}

/* What came of the triggers. asked = windows + joined + limited + capped + waiting. */
typedef struct etwas_trigger_counts {
    uint64_t asked;
    uint64_t windows; /* began one: = files + failed, and one that is open */
    uint64_t joined;
    uint64_t limited;    /* refused, by least_gap_ms */
    uint64_t capped;     /* refused, by maximum_files or maximum_kb */
    uint64_t waiting;    /* the flusher has not seen them */
    uint64_t files;      /* written whole */
    uint64_t failed;     /* not, or not whole */
    uint64_t bytes;      /* of all of these together */
    uint32_t last_error; /* why the last one failed: the codes of etwas_snapshot; 0: none did */
    uint32_t reserved;
    uint64_t
        passed_on; /* windows of which all other recorders have snapshots, if there are any; one may be of several */
} etwas_trigger_counts;

/* etwas_trigger_query with the size of the caller's struct. */
uint32_t etwas_trigger_query_sized(etwas_trace_handle session, etwas_trigger_counts *counts,
                                   size_t counts_bytes) ETWAS_API(etwas_trigger_query_sized);

/*
 * The counts of a session, all 0 where nothing was armed; of one that has stopped the last ones, as long
 * as etwas_counts has its. Errors: ERROR_INVALID_PARAMETER for NULL, ERROR_INVALID_HANDLE for a handle
 * unknown or forgotten.
 */
static inline uint32_t etwas_trigger_query(etwas_trace_handle session, etwas_trigger_counts *counts)
{
    return etwas_trigger_query_sized(session, counts, sizeof *counts);
}

/* ---- all recorders ---------------------------------------------------------------------------- */

/* What became of one recorder's snapshot. Its texts are the caller's until the callback returns. */
typedef struct etwas_snapshot_part {
    const char *session_name; /* UTF-8 */
    const char *log_file;     /* in the folder; there is one if `code` is 0, and what could be
                                 written with ERROR_DISK_FULL and ERROR_WRITE_FAULT */
    uint32_t process_id;      /* as the recorder's process sees it */
    uint32_t code; /* ERROR_TIMEOUT: its process has not answered in 5 seconds; it writes its file
                      when it goes on. ERROR_INVALID_DATA, ERROR_NOT_SUPPORTED, `session_name` "" and
                      `process_id` 0: what its process says of it cannot be read, as it is damaged or of another
                      release, nor whether it is a recorder. Codes of etwas_snapshot, or, of what is
                      dead, of etwas_recover */
    bool is_dead;  /* its process is; this is recovered, all that it had */
} etwas_snapshot_part;

typedef void (*etwas_snapshot_callback)(const etwas_snapshot_part *part, void *context);

/*
 * Asks all recorders of the user for a snapshot of one window, the `before_ns` nanoseconds until now (0: all that is
 * held), of whichever process: shared ones, and those with ETWAS_SHARING_SNAPSHOTS. What crash-safe sessions of dead
 * processes have left in the user's folders is recovered, too. All of them are asked before the first answer is waited for,
 * 5 seconds at most. Files are called NAME-PID.etl, in `folder`, which is made if it is missing (0700); what a session's name has
 * that a file's should not is `_`. Each is written by its recorder's process and holds whole buffers, and says by its
 * first event, Window, what it has of the window (docs/file-format.md). `recorders.txt` there has the window as `etwas
 * dump` takes it, and a line for each of them. Where there are none, nothing is left.
 *
 * `each`, which may be NULL, is called with each of them, in this thread. Takes part in nothing: no thread, no file
 * elsewhere. Thread-safe; not async-signal-safe. Errors: the first code of them that is not 0; ERROR_NOT_FOUND: there are no
 * recorders; ERROR_BAD_PATHNAME for NULL and a name too long; why the folder cannot be had;
 * ERROR_WRITE_FAULT and others: `recorders.txt` could not be written, and is not there; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_snapshot_all(const char *folder, uint64_t before_ns, etwas_snapshot_callback each,
                            void *context) ETWAS_API(etwas_snapshot_all);

ETWAS_END_DECLS

#endif
