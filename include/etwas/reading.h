/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_READING_H
#define ETWAS_READING_H

/*
 * Information about a trace that is being read. This header is a part of <etwas/etwas.h>, which
 * states what holds for all of its functions.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

/* ---- what a trace file is and what is wrong with it ------------------------------------------ */

/* The kinds of damage in a trace file. */
typedef enum etwas_damage_kind {
    ETWAS_DAMAGE_NONE = 0,
    ETWAS_DAMAGE_TRUNCATED,     /* the file ends inside a buffer */
    ETWAS_DAMAGE_BUFFER_HEADER, /* a buffer header with impossible sizes, offsets or flags */
    ETWAS_DAMAGE_PROCESSOR,     /* a processor index that the header does not allow */
    ETWAS_DAMAGE_COMPRESSION,   /* compressed bytes that do not decompress as stated */
    ETWAS_DAMAGE_RECORD,        /* a record with an impossible marker or size */
    ETWAS_DAMAGE_TIME_ORDER,    /* a stamp older than the one before it in the same buffer */
    ETWAS_DAMAGE_SEQUENCE,      /* sequence numbers that are missing or used twice */
    ETWAS_DAMAGE_READ           /* the system could not read this part of the file */
} etwas_damage_kind;

typedef struct etwas_damage {
    etwas_damage_kind kind;
    uint64_t file_offset;   /* offset from the start of the file */
    uint64_t bytes_skipped; /* bytes not delivered because of it; 0 if none */
} etwas_damage;

/*
 * Returns a short sentence for a kind of damage, or "unknown damage" for an unknown kind. The text
 * is static.
 */
const char *etwas_damage_name(etwas_damage_kind kind) ETWAS_API(etwas_damage_name);

typedef void (*etwas_damage_callback)(const etwas_damage *damage, void *context);

/*
 * Sets a callback that ProcessTrace's thread calls for each damage that ProcessTrace finds in this
 * trace, and for those that OpenTrace found. NULL removes it. `trace` is a handle of OpenTrace.
 *
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_BUSY: ProcessTrace runs on the handle.
 */
uint32_t etwas_trace_on_damage(etwas_trace_handle trace, etwas_damage_callback callback,
                               void *context) ETWAS_API(etwas_trace_on_damage);

/*
 * ProcessTrace for more than its 64 files: for as many as are open, at most 1,024. Each file uses a
 * descriptor from OpenTrace on. While it is read, it uses a buffer of memory for each of its
 * processors, at most 128 KiB (for a compressed buffer its uncompressed size).
 *
 * Files that etwas wrote on one machine form one time line. They are of one machine if their
 * headers give the same boot time, to a second. The boot times differ if the wall clock was set by
 * more between the starts of their sessions. If only their headers are used, as in ProcessTrace,
 * files are apart by as much as the wall clock has moved against the performance counter between
 * their starts: by drift, by being set, and by suspends of the machine. If there are several such
 * sessions, this function converts stamps of these counters by the newest reading of both clocks in
 * any of the files. Events of one moment then have one time. The traces keep this:
 * etwas_trace_convert_time with ETWAS_CLOCK_PROCESS_TRACE gives the same time afterwards.
 *
 * Events that several files of one session have, such as overlapping snapshots, are delivered once.
 * They are delivered from the file that was given first, and counted in repeated_events of the
 * others. Two events are the same if they have the same processor, stamp, position in the buffer
 * and bytes. Descriptions of events and images, and the file's header, are delivered from each
 * file.
 *
 * Each such file states how many events the session has lost, overwritten and attempted so far; a
 * recovered file states it for the whole session. The greatest count is valid: those of the other
 * files are in repeated_lost_events and its like. Consecutive files of a session, such as parts of
 * a set, each have counts of their own, which add up.
 *
 * `traces`, `start` and `end` (UTC, or NULL) are not changed. Errors are those of ProcessTrace,
 * and:
 *
 * ERROR_BAD_LENGTH: `count` is 0 or above 1,024.
 */
uint32_t etwas_process_traces(const etwas_trace_handle *traces, uint32_t count,
                              const etwas_filetime *start, const etwas_filetime *end)
    ETWAS_API(etwas_process_traces);

/*
 * Makes ProcessTrace deliver one section of a trace file alone: number `section`, from 0, of
 * `sections`, which have equal sizes and are adjacent in the file. Together they deliver each event
 * once. Therefore several threads can read a file at a time, each with a handle of its own, if the
 * order of all events does not matter, for example for counting. Within a section events come in
 * the order of time.
 *
 * Section 0 has the header's event, and the damages of the file as a whole. The numbers of
 * etwas_trace_query for what is found and read are those of the section, and add up, as
 * overwritten_buffers does. The other numbers, from the header, are the same in each section. A
 * message without a time of its own that begins a section has the session's start. Section 0 of 1
 * is the whole file again. Do not use it for a file that is still written, because each handle sees
 * another end of it.
 *
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_INVALID_PARAMETER: there is no such section, or the trace is a running session.
 * ERROR_BUSY: ProcessTrace runs on the handle.
 */
uint32_t etwas_trace_select_section(etwas_trace_handle trace, uint32_t section, uint32_t sections)
    ETWAS_API(etwas_trace_select_section);

#define ETWAS_INDEX_FILE_NONE 0u    /* there is none, or the whole file was read */
#define ETWAS_INDEX_FILE_USED 1u    /* buffers outside of the requested span were not read */
#define ETWAS_INDEX_FILE_IGNORED 2u /* damaged, not of this file as it is now, or of another user */

/*
 * No other file of the session follows: it ended with this one, or continues for consumers alone.
 * If a session has several files, in a new-file set or under successive names, the last one has
 * this bit. An appended file has it for the session that was appended last, and not while another
 * one is. Snapshots do not have it.
 */
#define ETWAS_TRACE_ENDS_SESSION 1u
/*
 * etwas_recover made the file from a session's memory. Its totals are those of the whole session.
 * The other files of the session, if any, end without this bit. ETWAS_TRACE_ENDS_SESSION is set too
 * if the process of the session was dead.
 */
#define ETWAS_TRACE_IS_RECOVERED 2u

/*
 * Information about an open trace file. It grows while ProcessTrace runs, and is complete when
 * ProcessTrace has returned.
 */
typedef struct etwas_trace_information {
    uint64_t file_bytes;
    uint64_t buffers;         /* whole buffers found, the header buffer included */
    uint64_t buffers_damaged; /* of these, skipped in whole or in part */
    uint64_t events;          /* records delivered, with metadata, without the header's */
    uint64_t bytes_skipped;   /* because of damage */
    uint64_t bytes_read;      /* so far, for progress */
    uint64_t damages;         /* number of damages, whatever their kind */
    /*
     * The session never wrote its end: EndTime is 0, or the file has more buffers than its header
     * counts.
     */
    bool unfinished;
    bool compressed;
    bool calibrated; /* stamps are converted by the file's own exact calibration */
    uint32_t clock;  /* ETWAS_CLOCK_* */
    /*
     * Ticks a second, by the calibration or the header. A TSC file with readings of the clocks is
     * converted by those.
     */
    uint64_t clock_frequency;

    /*
     * Events that are not in the file, by its own totals. For an appended file these are of all its
     * sessions. A file of another system has no totals: its lost events are those of its header,
     * and overwritten and part are 0.
     */
    uint64_t lost_events;  /* never got into the file */
    uint64_t lost_buffers; /* could not be written to the file */
    /* Replaced by newer ones in a circular file, or in a recorder until it wrote the file. */
    uint64_t overwritten_events;
    /*
     * Replaced by newer ones in a circular file, or replaced by a running session while
     * ProcessTrace read the file.
     */
    uint64_t overwritten_buffers;
    uint32_t part; /* number in a new-file set, from 1; 0: not of a set */
    /*
     * Processors of the computer. An index from this one up to the header's NumberOfProcessors is a
     * stream of threads that cannot run restartable sequences.
     */
    uint32_t processors;
    /*
     * The number of events that were logged to the session while the file was written, by its own
     * count. It is the sum of the events in the session's files and of those they have overwritten
     * and lost. It is 0 if the file does not state it: in a snapshot, or in a file of another
     * system.
     */
    uint64_t attempted_events;
    uint64_t uncompressed_bytes; /* size of the buffers found, if none were compressed */
    /* ETWAS_INDEX_FILE_*: how ProcessTrace used FILE.index. */
    uint32_t index_file;
    /*
     * ETWAS_TRACE_*: what the file is the end of. It is 0 in a file that is still written, and in a
     * file of an older etwas or another system.
     */
    uint32_t ends;
    /*
     * Events that were not delivered, because etwas_process_traces delivered them from another file
     * of the same session. No other count includes them.
     */
    uint64_t repeated_events;
    /* ETWAS_PROTOCOL_* of the session (etwas.h); 0: the file does not state it. */
    uint32_t protocol;
    /* ETWAS_SEQUENCES_*: why the protocol is SHARED although RSEQ was requested. */
    uint32_t sequences;
    /*
     * The part of each count above that another file, which etwas_process_traces read with this
     * one, states too. Subtract it before you add the counts of several files. It is 0 before that
     * call, and for a file that is read alone.
     */
    uint64_t repeated_lost_events;
    uint64_t repeated_lost_buffers;
    uint64_t repeated_overwritten_events;
    uint64_t repeated_overwritten_buffers;
    uint64_t repeated_attempted_events;
    /*
     * Processes that could not log into the session since it began, 65,535 at most. Their events
     * are missing; lost_events includes those that they could report. The number is for the whole
     * session: each of its files states it.
     */
    uint32_t unattached_processes;
    /* The Win32 code of the last of them; shared.h says what each means. 0: all could log. */
    uint32_t unattached_code;
} etwas_trace_information;

/* etwas_trace_query with the size of the caller's struct. */
uint32_t etwas_trace_query_sized(etwas_trace_handle trace, etwas_trace_information *information,
                                 size_t information_bytes) ETWAS_API(etwas_trace_query_sized);

/*
 * Reports the information about an open trace. May be called from callbacks.
 *
 * ERROR_INVALID_PARAMETER: `information` is NULL.
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 */
static inline uint32_t etwas_trace_query(etwas_trace_handle trace,
                                         etwas_trace_information *information)
{
    return etwas_trace_query_sized(trace, information, sizeof *information);
}

/*
 * The causes of lost events: ETWAS_LOST_NO_BUFFER is lost_no_buffer of etwas_session_counts, and so
 * on.
 */
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

/* A number of events that were lost, for one cause, between two moments by the session's clock. */
typedef struct etwas_loss {
    int64_t from_raw;
    int64_t until_raw;
    uint64_t events;
    uint32_t cause;           /* ETWAS_LOST_* */
    uint32_t processor;       /* as in events; ETWAS_LOST_ANYWHERE: unknown */
    uint32_t retention_class; /* from 1; 0: no class, or unknown */
    uint32_t reserved;        /* 0 */
} etwas_loss;

/*
 * Returns a few words for a cause, for example "no free buffer", or "unknown cause" for an unknown
 * one. The text is static.
 */
const char *etwas_lost_name(uint32_t cause) ETWAS_API(etwas_lost_name);

/*
 * Reports when the session of a trace file lost events, as the file stated when it was opened, the
 * oldest first. The session records its losses at most ten times a second. If there are very many,
 * neighbours are combined. In a file with an end, their sum is lost_events of etwas_trace_query,
 * without the events that the kernel lost. The sum is less if the file is of an older etwas or has
 * no room for them. A file of another system has none. `losses` receives the first `room` of them,
 * and *count their number. May be called from callbacks.
 *
 * ERROR_INVALID_PARAMETER: `count` is NULL, or `losses` is NULL and `room` is not 0.
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_MORE_DATA: there are more than `room`.
 */
uint32_t etwas_trace_query_losses(etwas_trace_handle trace, etwas_loss *losses, uint32_t room,
                                  uint32_t *count) ETWAS_API(etwas_trace_query_losses);

/*
 * Writes an index of the trace file to `descriptor`, an empty file that is open for writing and
 * stays open. If that file then lies next to the trace file as FILE.index, ProcessTrace with
 * StartTime or EndTime finds the buffers of the span in it, and does not read every buffer of the
 * file. The index is valid for the file as it is now. It is ignored if the file is written to, or
 * copied without its times. docs/reference/damage.md describes the effects of a wrong index.
 *
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_BUSY: ProcessTrace runs on the handle.
 * ERROR_NOT_SUPPORTED: the file cannot be read by an index: it is of another system, has no end,
 *   was appended to, or has the system's clock.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_DISK_FULL, ERROR_WRITE_FAULT: part of the index may have been written.
 */
uint32_t etwas_trace_write_index(etwas_trace_handle trace, int descriptor)
    ETWAS_API(etwas_trace_write_index);

/* ---- time -------------------------------------------------------------------------------- */

/*
 * A bit of EVENT_TRACE_LOGFILE.ProcessTraceMode. TimeStamp of every event is the time that it would
 * have as FILETIME, in nanoseconds since 1970 (UTC). The last two digits are more precise than a
 * FILETIME. A time that does not fit into 64 bits, before 1677-09-21 or after 2262-04-11, is
 * INT64_MIN or INT64_MAX. PROCESS_TRACE_MODE_RAW_TIMESTAMP takes precedence.
 */
#define ETWAS_PROCESS_TRACE_MODE_NANOSECONDS 0x00010000u

/*
 * A clock for etwas_trace_convert_time alone: the time that ProcessTrace gives, which counts from
 * StartTime by QPC, in nanoseconds since 1970. It shows a stamp in a payload, such as the
 * InitialTime of kernel events, as the events' own times.
 */
#define ETWAS_CLOCK_PROCESS_TRACE 16u

/* A time and its precision: the true time is within value ± error. */
typedef struct etwas_clock_time {
    int64_t value;     /* nanoseconds, of system time FILETIME */
    uint64_t error_ns; /* UINT64_MAX: the file does not state it */
} etwas_clock_time;

/*
 * Converts a raw stamp of this trace (PROCESS_TRACE_MODE_RAW_TIMESTAMP) to another clock of the
 * machine that recorded it. `clock` is one of
 *
 *     ETWAS_CLOCK_QPC             CLOCK_MONOTONIC_RAW in nanoseconds
 *     ETWAS_CLOCK_SYSTEM_TIME     the wall clock at that time, as FILETIME
 *     ETWAS_CLOCK_PROCESS_TRACE   the time that ProcessTrace gives, with the error of the QPC
 *
 * A file of etwas has readings of all clocks, one per second; times between two of them are
 * interpolated. The result includes steps of the wall clock, whereas ProcessTrace counts from
 * StartTime by QPC and knows none. If the wall clock was set back, a stamp of system time may mean
 * several moments, and the error includes that. A file without readings is converted by its header
 * alone. The error is then unknown unless `clock` is its own. A QPC that the header does not state
 * begins with 0 at the file's start.
 *
 * A real-time trace uses the readings of its session until now, one per second. It keeps 256 of
 * them: the newest ones as they were taken, older ones at increasing distances. Stamps after the
 * last reading are converted at the rate of the seconds before. The trace keeps the readings that
 * it had when ProcessTrace returned.
 *
 * The first call before ProcessTrace searches the file, which takes some milliseconds for a
 * gigabyte; the handle is busy meanwhile. For a file that is being written, the function knows what
 * was in it then, or when ProcessTrace began. May be called from callbacks.
 *
 * ERROR_INVALID_PARAMETER: a pointer is NULL, or another clock.
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_WMI_INSTANCE_NOT_FOUND: the real-time trace has never been connected. OpenTrace, or else
 *   ProcessTrace, connects it while the session runs.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_trace_convert_time(etwas_trace_handle trace, int64_t raw, uint32_t clock,
                                  etwas_clock_time *time) ETWAS_API(etwas_trace_convert_time);

/*
 * Computes the time from one raw stamp of this trace to another, in nanoseconds of QPC. It is the
 * difference of what etwas_trace_convert_time gives for both, and is < 0 if `to_raw` is the earlier
 * one. Its error is smaller than the sum of theirs, because the error of a calibration or of a
 * clock reading is in both and cancels. The remaining error is that of the rate over the interval,
 * plus rounding. If the clock jumped between the readings around the stamps, it includes the whole
 * jump, unless the jump is smaller than the errors of these readings. The error is 0 if the
 * session's clock is the QPC.
 *
 * Both stamps are assumed to be of one processor. For stamps of two processors, add the offset of
 * their clocks, which the file does not state. `etwas clocks` measures it; `etwas spans` uses the
 * error of one time for it. For stamps of two traces only the errors of both times are known.
 * Stamps of two machines have only the wall clock in common.
 *
 * May be called from callbacks. Errors are those of etwas_trace_convert_time.
 */
uint32_t etwas_trace_convert_interval(etwas_trace_handle trace, int64_t from_raw, int64_t to_raw,
                                      etwas_clock_time *interval)
    ETWAS_API(etwas_trace_convert_interval);

/*
 * A step of the wall clock between two readings of the clocks: it was set while the trace was
 * recorded.
 */
typedef struct etwas_clock_step {
    int64_t before;  /* the wall clock at the previous reading, FILETIME */
    int64_t after;   /* the wall clock at the next reading */
    int64_t step_ns; /* > 0: it was set forward */
} etwas_clock_step;

/* The rate of a clock against another: it is fast if ppm > 0. The interval is of 95 %. */
typedef struct etwas_clock_drift {
    bool known;
    double ppm;
    double interval_ppm; /* half the width */
    uint32_t points;     /* readings the line was fitted to */
    double seconds;      /* between the first and the last */
} etwas_clock_drift;

#define ETWAS_TRACE_CLOCK_STEPS 16u

/*
 * Information about the clocks of a file or of a running session. Texts are UTF-8 and end with 0.
 * In a damaged file they may have any bytes.
 */
typedef struct etwas_trace_clock {
    uint32_t clock; /* ETWAS_CLOCK_* */

    /* The session's information about the cycle counter. */
    bool noted;    /* false: all of it is 0 */
    bool examined; /* false: verdict and reasons are meaningless */
    /*
     * false: the counter was not used then. Verdict and reasons follow from what the machine
     * states, and its frequency is not known.
     */
    bool measured;
    uint32_t requested_clock; /* the clock that the session requested */
    uint32_t verdict;         /* ETWAS_CLOCK_VERDICT_* */
    uint32_t reasons;         /* ETWAS_CLOCK_REASON_* */
    uint32_t stated_by;       /* ETWAS_CLOCK_STATED_* */
    uint64_t frequency_hz;    /* as calibrated; 0: not calibrated */
    uint64_t stated_hz;       /* 0: nothing states one */
    uint32_t frequency_error_ppb;
    char clocksource[32];
    char hypervisor[16];

    /* The readings. */
    uint64_t clock_snapshots;          /* in the file, or kept by the session */
    uint64_t clock_snapshots_unusable; /* of these, inconsistent or out of range */
    double seconds;                    /* between the first and the last, by QPC */
    uint64_t qpc_error_ns;    /* largest error of a time between them; UINT64_MAX: unknown */
    uint64_t system_error_ns; /* the same for system time */
    etwas_clock_drift system_against_qpc; /* without steps and suspends */
    /*
     * The drift against frequency_hz, or against the file's calibration if that is 0. ppm > 0: the
     * counter was faster.
     */
    etwas_clock_drift tsc_against_calibrated;
    etwas_clock_drift tsc_against_stated;

    uint64_t steps;   /* of the wall clock */
    int64_t steps_ns; /* their sum */
    etwas_clock_step largest_step;
    etwas_clock_step step[ETWAS_TRACE_CLOCK_STEPS]; /* the first of them */
    uint64_t suspends;                              /* of the machine */
    uint64_t suspended_ns;                          /* their sum */
} etwas_trace_clock;

/* etwas_trace_query_clock with the size of the caller's struct. */
uint32_t etwas_trace_query_clock_sized(etwas_trace_handle trace, etwas_trace_clock *clock,
                                       size_t clock_bytes) ETWAS_API(etwas_trace_query_clock_sized);

/*
 * Reports the clocks of a trace, as far as etwas_trace_convert_time knows them. May be called from
 * callbacks.
 *
 * ERROR_INVALID_PARAMETER: `clock` is NULL.
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_WMI_INSTANCE_NOT_FOUND: as for etwas_trace_convert_time.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
static inline uint32_t etwas_trace_query_clock(etwas_trace_handle trace, etwas_trace_clock *clock)
{
    return etwas_trace_query_clock_sized(trace, clock, sizeof *clock);
}

ETWAS_END_DECLS

#endif
