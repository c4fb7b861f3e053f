/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_READING_H
#define ETWAS_READING_H

/*
 * What is known of a trace that is being read: a part of <etwas/etwas.h>, which says what holds for all
 * of its functions.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* ---- what a trace file is and what is wrong with it ------------------------------------------ */

/* What can be wrong somewhere in a trace file. */
typedef enum etwas_damage_kind {
    ETWAS_DAMAGE_NONE = 0,
    ETWAS_DAMAGE_TRUNCATED,     /* the file ends inside a buffer */
    ETWAS_DAMAGE_BUFFER_HEADER, /* a buffer header with impossible sizes, offsets or flags */
    ETWAS_DAMAGE_PROCESSOR,     /* a processor index the header does not allow */
    ETWAS_DAMAGE_COMPRESSION,   /* compressed bytes that do not decompress to what is promised */
    ETWAS_DAMAGE_RECORD,        /* a record with an impossible marker or size */
    ETWAS_DAMAGE_TIME_ORDER,    /* a stamp older than the one before it in the same buffer */
    ETWAS_DAMAGE_SEQUENCE,      /* sequence numbers missing or used twice */
    ETWAS_DAMAGE_READ           /* the system could not read this part of the file */
} etwas_damage_kind;

typedef struct etwas_damage {
    etwas_damage_kind kind;
    uint64_t file_offset;   /* where, from the start of the file */
    uint64_t bytes_skipped; /* what was not delivered because of it; 0 when all was */
} etwas_damage;

/* A short sentence for a kind of damage. Static text; "unknown damage" for an unknown kind. */
const char *etwas_damage_name(etwas_damage_kind kind) ETWAS_API(etwas_damage_name);

typedef void (*etwas_damage_callback)(const etwas_damage *damage, void *context);

/*
 * Has `callback` called, from ProcessTrace's thread, for each damage ProcessTrace meets in this
 * trace, also for what was found by OpenTrace. NULL turns it off. `trace` is OpenTrace's handle.
 * Errors: ERROR_INVALID_HANDLE; ERROR_BUSY while ProcessTrace runs on the handle.
 */
uint32_t etwas_trace_on_damage(etwas_trace_handle trace, etwas_damage_callback callback,
                               void *context) ETWAS_API(etwas_trace_on_damage);

/*
 * ProcessTrace, of more than its 64 files too: of as many as are open, which are 1,024 at most. So much for its
 * limit: each file takes a descriptor from OpenTrace on, and while it is read for each of its processors a buffer's size
 * of memory, at most 128 KiB (a compressed buffer as much as it was).
 *
 * Files that etwas wrote on one machine are on one time line: those that say the same time of its boot, to a second; where the
 * wall clock was set by more between the starts of their sessions they do not. By their headers, as ProcessTrace has it, each
 * is as far from the others as the wall clock has moved against the performance counter between these: by
 * drift, by being set, by all that the machine was suspended. Here, if there are several such sessions, stamps of these counters
 * are times by the newest reading of both clocks in any of the files, so that what was recorded at one moment has one
 * time. The traces keep that: etwas_trace_convert_time with ETWAS_CLOCK_PROCESS_TRACE says the same afterwards.
 *
 * What several files of one session have, such as snapshots that overlap, is delivered once: of that file which was given
 * first, for the others it is counted in repeated_events. The same is what has its processor, its stamp, its place in the
 * buffer and its bytes. What describes events and images, and the file's header, is delivered of each file.
 *
 * Each of such files tells how many events the session has lost, overwritten and attempted so far; a recovered file tells
 * it of the whole session. The greatest count holds: those of the other files are in repeated_lost_events and its like.
 * Files that follow one another in a session, as parts of a set do, each have counts of their own, which add up.
 *
 * ERROR_BAD_LENGTH: `count` 0 or above 1,024; all else as ProcessTrace has it. `traces`, `start` and `end` (UTC, or
 * NULL) stay as they are.
 */
uint32_t etwas_process_traces(const etwas_trace_handle *traces, uint32_t count,
                              const etwas_filetime *start, const etwas_filetime *end)
    ETWAS_API(etwas_process_traces);

/*
 * Has ProcessTrace deliver one section of a trace file alone: `section`, from 0, of `sections`, which are of equal size
 * and side by side in the file. All of them together deliver each event once, so several threads can read a file at a
 * time, each with a handle of its own, where the order of all events does not matter, as in counting. In a section they
 * come in the order of time. Section 0 has the header's event, and the damages of the file as a whole. The numbers of
 * etwas_trace_query that count what is found and read are those of the section, and add up, as overwritten_buffers do;
 * what else the header says is in each. A message without a time of its own that begins a section has the session's
 * start. Section 0 of 1 is the whole file again. Not for a file that is still written: each handle sees its own end of it.
 * Errors: ERROR_INVALID_HANDLE; ERROR_INVALID_PARAMETER when there is no such section, or for a running session;
 * ERROR_BUSY while ProcessTrace runs on the handle.
 */
uint32_t etwas_trace_select_section(etwas_trace_handle trace, uint32_t section, uint32_t sections)
    ETWAS_API(etwas_trace_select_section);

#define ETWAS_INDEX_FILE_NONE 0u    /* there is none, or all of the file was read */
#define ETWAS_INDEX_FILE_USED 1u    /* what lies outside of the wanted span was not looked at */
#define ETWAS_INDEX_FILE_IGNORED 2u /* damaged, not of this file as it is now, or somebody else's */

/* No other file of the session follows: it ended with this one, or goes on for consumers alone. A session of several
 * files, in a new-file set or under names given one after the other, says it in the last; an appended file says it of the
 * session that was appended last, and not while another one is. Snapshots do not say it. */
#define ETWAS_TRACE_ENDS_SESSION 1u
/* etwas_recover made the file of what a session had in memory. Its totals are those of the whole session, whose other files,
 * if it had any, end without saying so. With ETWAS_TRACE_ENDS_SESSION if the process of the session was dead. */
#define ETWAS_TRACE_IS_RECOVERED 2u

/*
 * What is known about an open trace file. Grows while ProcessTrace runs; complete when it returned.
 */
typedef struct etwas_trace_information {
    uint64_t file_bytes;
    uint64_t buffers;         /* whole buffers found, the header buffer included */
    uint64_t buffers_damaged; /* of these, skipped in whole or in part */
    uint64_t events;        /* records delivered, event metadata too, without the header buffer's */
    uint64_t bytes_skipped; /* by damage */
    uint64_t bytes_read;    /* so far, for progress */
    uint64_t damages;       /* number of damages, whatever their kind */
    bool unfinished;        /* the session never wrote its end: EndTime is 0, or the file has more
                                 buffers than its header counts */
    bool compressed;
    bool calibrated;          /* stamps are converted by the file's own exact calibration */
    uint32_t clock;           /* ETWAS_CLOCK_* */
    uint64_t clock_frequency; /* ticks a second, by the calibration or the header. A TSC file with
                                 readings of the clocks is converted by those */

    /* What is not in the file, by its own totals: of an appended file, of all its sessions. A file
     * of another system has no totals: lost is what its header says, overwritten and part are 0. */
    uint64_t lost_events;         /* never got into the file */
    uint64_t lost_buffers;        /* likewise: could not be written */
    uint64_t overwritten_events;  /* were in a circular file until newer ones took their place */
    uint64_t overwritten_buffers; /* likewise; also those a running session replaced while
                                     ProcessTrace read the file */
    uint32_t part;                /* of a new-file set: its serial, from 1; 0: not of a set */
    uint32_t processors;          /* of the computer. An index from here up to the header's
                                     NumberOfProcessors is of the stream of threads that could not
                                     run restartable sequences */
    /* What the session's writers asked it to record while the file was written, by its own count: what
     * the files of a session have of it, and what they have overwritten and lost, is together so much.
     * 0 where the file does not say: a snapshot's, another system's. */
    uint64_t attempted_events;
    uint64_t uncompressed_bytes; /* what the buffers found would take if none were compressed */
    uint32_t index_file;         /* ETWAS_INDEX_FILE_*: what ProcessTrace did with FILE.index */
    uint32_t ends;               /* ETWAS_TRACE_*: what the file is the end of; 0 in a file that is
                                    still written, and in those of an older etwas or another system */
    uint64_t repeated_events; /* not delivered, since etwas_process_traces delivered them of another
                                    file of the same session; in no other count */
    uint32_t protocol;  /* ETWAS_PROTOCOL_* of the session (etwas.h); 0: the file does not say */
    uint32_t sequences; /* ETWAS_SEQUENCES_*: why that is SHARED, where RSEQ was wished */
    /* How much of each count above another file tells too that etwas_process_traces read with this one. Subtract it
     * before the counts of several files are added. 0 until then, and of a file that is read alone. */
    uint64_t repeated_lost_events;
    uint64_t repeated_lost_buffers;
    uint64_t repeated_overwritten_events;
    uint64_t repeated_overwritten_buffers;
    uint64_t repeated_attempted_events;
} etwas_trace_information;

/* etwas_trace_query with the size of the caller's struct. */
uint32_t etwas_trace_query_sized(etwas_trace_handle trace, etwas_trace_information *information,
                                 size_t information_bytes) ETWAS_API(etwas_trace_query_sized);

/* Errors: ERROR_INVALID_PARAMETER for NULL, ERROR_INVALID_HANDLE. May be called from callbacks. */
static inline uint32_t etwas_trace_query(etwas_trace_handle trace,
                                         etwas_trace_information *information)
{
    return etwas_trace_query_sized(trace, information, sizeof *information);
}

/* Why events were lost: ETWAS_LOST_NO_BUFFER is lost_no_buffer of etwas_session_counts, and so on. */
#define ETWAS_LOST_NO_BUFFER 1u
#define ETWAS_LOST_BACKLOG_FULL 2u
#define ETWAS_LOST_WRITE_ERROR 3u
#define ETWAS_LOST_FILE_FULL 4u
#define ETWAS_LOST_ABANDONED 5u
#define ETWAS_LOST_UNDELIVERED 6u
#define ETWAS_LOST_UNATTACHED 7u
#define ETWAS_LOST_TOO_LARGE 8u
#define ETWAS_LOST_WITHHELD 9u
#define ETWAS_LOST_CAUSES 9u

#define ETWAS_LOST_ANYWHERE UINT32_MAX

/* So many events were lost, for one cause, between two moments by the session's clock. */
typedef struct etwas_loss {
    int64_t from_raw;
    int64_t until_raw;
    uint64_t events;
    uint32_t cause;           /* ETWAS_LOST_* */
    uint32_t processor;       /* as events have it; ETWAS_LOST_ANYWHERE: that is not known */
    uint32_t retention_class; /* from 1; 0: of none, or that is not known */
    uint32_t reserved;        /* 0 */
} etwas_loss;

/* A few words for a cause: "no free buffer". Static text; "unknown cause" for an unknown one. */
const char *etwas_lost_name(uint32_t cause) ETWAS_API(etwas_lost_name);

/*
 * When the session of a trace file lost events, as the file said when it was opened, the oldest first. The
 * session looks ten times a second at most, and where there are very many losses neighbours are put together.
 * In a file that was ended they are together lost_events of etwas_trace_query, without what the kernel lost;
 * less where the file is of an older etwas or has no room for them, and none in one of another system.
 * `losses` receives the first `room` of them, *count how many there are. May be called from callbacks.
 * Errors: ERROR_INVALID_PARAMETER for NULL, `losses` only where there is room; ERROR_INVALID_HANDLE;
 * ERROR_MORE_DATA: there was not room for all.
 */
uint32_t etwas_trace_query_losses(etwas_trace_handle trace, etwas_loss *losses, uint32_t room,
                                  uint32_t *count) ETWAS_API(etwas_trace_query_losses);

/*
 * Writes an index of the trace file to `descriptor`, an empty file open for writing; left open. Where that file then
 * lies beside the trace file, as FILE.index, ProcessTrace with StartTime or EndTime finds the buffers of the span in
 * it, and need not look at each buffer of the file. It is of the file as it is now: if that is written to, or copied
 * without its times, the index is ignored. docs/damage.md says what a wrong one can do.
 * Errors: ERROR_INVALID_HANDLE; ERROR_BUSY while ProcessTrace runs on the handle; ERROR_NOT_SUPPORTED for a file that
 * cannot be read by its index: one of another system, without an end, appended to, or with the system's clock;
 * ERROR_NOT_ENOUGH_MEMORY; ERROR_DISK_FULL, ERROR_WRITE_FAULT: part of it may have been written.
 */
uint32_t etwas_trace_write_index(etwas_trace_handle trace, int descriptor)
    ETWAS_API(etwas_trace_write_index);

/* ---- what time it was ------------------------------------------------------------------------ */

/*
 * In EVENT_TRACE_LOGFILE.ProcessTraceMode: TimeStamp of every event is the time that it would have
 * as FILETIME, in nanoseconds since 1970 (UTC): the last two digits are more than a FILETIME can
 * say. What does not fit in 64 bits, before 1677-09-21 and after 2262-04-11, is INT64_MIN or INT64_MAX: no time of its own.
 * PROCESS_TRACE_MODE_RAW_TIMESTAMP goes before it.
 */
#define ETWAS_PROCESS_TRACE_MODE_NANOSECONDS 0x00010000u

/*
 * For etwas_trace_convert_time alone: the time that ProcessTrace gives, which counts from StartTime
 * by QPC, in nanoseconds since 1970. So a stamp in a payload, such as the InitialTime of kernel
 * events, is shown as the events' own times are.
 */
#define ETWAS_CLOCK_PROCESS_TRACE 16u

/* A time and how well it is known: the true one is within value ± error. */
typedef struct etwas_clock_time {
    int64_t value;     /* nanoseconds, of system time FILETIME */
    uint64_t error_ns; /* UINT64_MAX: the file does not say */
} etwas_clock_time;

/*
 * What a raw stamp of this trace (PROCESS_TRACE_MODE_RAW_TIMESTAMP) is by another clock of the
 * machine that recorded it: `clock` is ETWAS_CLOCK_QPC, CLOCK_MONOTONIC_RAW in nanoseconds,
 * ETWAS_CLOCK_SYSTEM_TIME, the wall clock as it was, as FILETIME, or ETWAS_CLOCK_PROCESS_TRACE, with
 * the error that the QPC has. A file of etwas has readings of
 * all clocks, one a second; between two of them is interpolated. Their steps are seen here, while
 * ProcessTrace counts from StartTime by QPC and knows none. A stamp of system time may mean several
 * moments if the wall clock was set back: the error says so. A file without such readings is
 * converted by its header alone, with an unknown error unless `clock` is its own, and a QPC that it
 * does not say begins with 0 at its start.
 *
 * A real-time trace knows what its session has read until now: once a second, of which 256 readings
 * are kept, the newest as they were taken, older ones the wider apart the older they are. What is
 * newer than the last goes on from there at the rate of the seconds before. The trace keeps what it
 * knew when ProcessTrace returned.
 *
 * May be called from callbacks. The first call before ProcessTrace looks the file through,
 * some milliseconds for a gigabyte, while the handle is busy. A file that is being written is known
 * as far as it was then, or when ProcessTrace began. Errors: ERROR_INVALID_PARAMETER for NULL and
 * for another clock; ERROR_INVALID_HANDLE; ERROR_WMI_INSTANCE_NOT_FOUND for a real-time trace that
 * has never been connected: OpenTrace, or else ProcessTrace, does that while the session runs;
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_trace_convert_time(etwas_trace_handle trace, int64_t raw, uint32_t clock,
                                  etwas_clock_time *time) ETWAS_API(etwas_trace_convert_time);

/*
 * What passed from one raw stamp of this trace to another: value receives nanoseconds of QPC, the
 * difference of what etwas_trace_convert_time says of both; < 0 where `to_raw` is the earlier. Its error is
 * smaller than theirs together: what a calibration or a reading of the clocks is off by is in both and
 * cancels. What is left is the error of the rate over the interval, rounding, and, where the clock jumped
 * between the readings beside them, all of the jump; one that is smaller than what these readings are off
 * by themselves is not thought of. 0: the session's clock is the QPC.
 *
 * Both stamps are taken as if one processor had made them: for those of two add what their clocks are
 * apart, which the file does not say. `etwas clocks` measures it; `etwas spans` takes the error of one time
 * for it. Stamps of two traces have only the errors of both times, and those of two machines nothing but
 * the wall clock.
 *
 * As etwas_trace_convert_time, with its errors.
 */
uint32_t etwas_trace_convert_interval(etwas_trace_handle trace, int64_t from_raw, int64_t to_raw,
                                      etwas_clock_time *interval)
    ETWAS_API(etwas_trace_convert_interval);

/* The wall clock was set while the trace was recorded, between two readings of the clocks. */
typedef struct etwas_clock_step {
    int64_t before;  /* the wall clock at the reading before, FILETIME */
    int64_t after;   /* and at the one after it */
    int64_t step_ns; /* > 0: it was set forward */
} etwas_clock_step;

/* How fast a clock runs against another: ppm > 0, it is fast. The interval is of 95 %. */
typedef struct etwas_clock_drift {
    bool known;
    double ppm;
    double interval_ppm; /* half the width */
    uint32_t points;     /* readings the line was fitted to */
    double seconds;      /* between the first and the last */
} etwas_clock_drift;

#define ETWAS_TRACE_CLOCK_STEPS 16u

/*
 * What a file, or a running session, says of its clocks. Texts are UTF-8 and end with 0; any bytes,
 * as files have them.
 */
typedef struct etwas_trace_clock {
    uint32_t clock; /* ETWAS_CLOCK_* */

    /* What the session noted of the cycle counter. */
    bool noted;               /* else all of it is 0 */
    bool examined;            /* else verdict and reasons say nothing */
    bool measured;            /* else nobody had asked for the counter: verdict and reasons are by
                                 what the machine says of it, and its frequency is not known */
    uint32_t requested_clock; /* what the session asked for */
    uint32_t verdict;         /* ETWAS_CLOCK_VERDICT_* */
    uint32_t reasons;         /* ETWAS_CLOCK_REASON_* */
    uint32_t stated_by;       /* ETWAS_CLOCK_STATED_* */
    uint64_t frequency_hz;    /* as calibrated; 0: it could not be, or was not measured */
    uint64_t stated_hz;       /* 0: nothing states one */
    uint32_t frequency_error_ppb;
    char clocksource[32];
    char hypervisor[16];

    /* The readings. */
    uint64_t knots;           /* in the file, or kept by the session */
    uint64_t knots_unusable;  /* of these, contradict the others or are out of range */
    double seconds;           /* between the first and the last, by QPC */
    uint64_t qpc_error_ns;    /* largest error of a time between them; UINT64_MAX: not known */
    uint64_t system_error_ns; /* likewise of system time */
    etwas_clock_drift system_against_qpc;     /* steps and suspends taken out */
    etwas_clock_drift tsc_against_calibrated; /* frequency_hz, or the file's calibration where it
                                                 is 0; ppm > 0: it was faster than that */
    etwas_clock_drift tsc_against_stated;

    uint64_t steps;   /* of the wall clock */
    int64_t steps_ns; /* all together */
    etwas_clock_step largest_step;
    etwas_clock_step step[ETWAS_TRACE_CLOCK_STEPS]; /* the first so many */
    uint64_t suspends;                              /* of the machine */
    uint64_t suspended_ns;                          /* all together */
} etwas_trace_clock;

/* etwas_trace_query_clock with the size of the caller's struct. */
uint32_t etwas_trace_query_clock_sized(etwas_trace_handle trace, etwas_trace_clock *clock,
                                       size_t clock_bytes) ETWAS_API(etwas_trace_query_clock_sized);

/*
 * What is known of a trace's clocks, as far as etwas_trace_convert_time knows it. May be called
 * from callbacks. Errors: ERROR_INVALID_PARAMETER for NULL; ERROR_INVALID_HANDLE;
 * ERROR_WMI_INSTANCE_NOT_FOUND likewise; ERROR_NOT_ENOUGH_MEMORY.
 */
static inline uint32_t etwas_trace_query_clock(etwas_trace_handle trace, etwas_trace_clock *clock)
{
    return etwas_trace_query_clock_sized(trace, clock, sizeof *clock);
}

ETWAS_END_DECLS

#endif
