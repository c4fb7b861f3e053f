/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_INPUT_H
#define ETWAS_TOOLS_TRACE_INPUT_H

/*
 * Trace files as the commands read them: opened, processed, and what was wrong with them kept. Also
 * sessions that run.
 */

#include "cli/progress.h"
#include "print/output.h"
#include "trace/coverage.h"

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

enum {
    ETWAS_INPUT_FILES =
        1000, /* at once; there can be 1,024 open traces, and a file is opened for more than its events */
    ETWAS_INPUT_DAMAGES_KEPT = 20, /* the first ones; a file may have any number */
};

/* What TimeStamp of a record is. */
enum etwas_input_time {
    ETWAS_INPUT_FILETIME,
    ETWAS_INPUT_NANOSECONDS, /* since 1970; FILETIME where the clock knows no more */
    ETWAS_INPUT_RAW,         /* as recorded; the wall clock says what time that was */
    ETWAS_INPUT_BOTH,        /* as recorded, and shown as the two before it are */
};

struct etwas_input;

/* A damage where it is met: between the event before and the next one, of this file. */
typedef void (*etwas_input_damage_callback)(const struct etwas_input *input,
                                            const etwas_damage *damage);

struct etwas_input {
    const char *path; /* or a session's name */
    bool is_session;
    enum etwas_input_time time;
    uint32_t number;             /* of the file on the command line, from 1 */
    void *context;               /* of the command */
    struct etwas_input_run *run; /* while it is processed */
    bool is_coarse;              /* FILETIME says all that the clock does */
    bool is_by_wall_clock;       /* that stamped it, and TimeStamp is raw */
    bool is_kernel;              /* it was recorded by a session of the kernel's events */
    etwas_trace_handle trace;
    uint64_t place;               /* by etwas_parts_place */
    EVENT_TRACE_LOGFILEA logfile; /* OpenTrace's */
    etwas_trace_information information;
    etwas_trace_clock clock;
    etwas_input_damage_callback damage; /* NULL: damages are kept, no more */
    uint32_t machine;                   /* that recorded it, by etwas_moments_align, else 0 */
    int64_t ahead_ns; /* likewise: to its performance counter, for that of the first file */
    struct etwas_trace_coverage coverage;
    etwas_damage damages[ETWAS_INPUT_DAMAGES_KEPT];
    uint64_t damage_count;
    struct etwas_steps *steps; /* while it is read, where is_by_wall_clock; else NULL */
    bool has_end_damage;       /* one that is told when all is read */
    etwas_damage end_damage;
};

/* What the files of one etwas_input_process have in common. */
struct etwas_input_callbacks {
    PEVENT_RECORD_CALLBACK record; /* UserContext is the struct etwas_input */
    enum etwas_input_time time;
    etwas_input_damage_callback damage; /* or NULL */
    bool is_session;                    /* the path is a real-time session's name */
};

/*
 * Opens `path`. `input` must stay where it is until it is closed. Returns ETWAS_EXIT_FINE, or says
 * on standard error what is wrong and returns ETWAS_EXIT_OPEN.
 */
int etwas_input_open(struct etwas_input *input, const char *path, uint32_t number,
                     const struct etwas_input_callbacks *callbacks, void *context);

/* A run over several inputs. */
struct etwas_input_run {
    struct etwas_input *inputs;
    uint32_t count;
    uint32_t sections; /* of each file, of which this reads one; 0: it is not divided */
    bool
        by_buffers; /* of one file: as they lie in it, and of one without an end only what is whole */
    bool
        has_span; /* only events from .. to are wanted, both FILETIMEs, and buffers beside them are not read */
    int64_t from_filetime;
    int64_t to_filetime;
    bool stop;     /* set by a record callback: no more events are wanted */
    bool has_told; /* how many events several files have, or tell of */
    struct etwas_output
        *live; /* of a session: flushed when what has come was given; NULL: of files */
    struct etwas_progress progress;
};

/*
 * What the file says was lost, or overwritten, without what another file of the run tells too:
 * these add up.
 */
static inline uint64_t etwas_input_lost(const struct etwas_input *input)
{
    return input->information.lost_events - input->information.repeated_lost_events;
}

static inline uint64_t etwas_input_overwritten(const struct etwas_input *input)
{
    return input->information.overwritten_events - input->information.repeated_overwritten_events;
}

/*
 * Delivers the events of all inputs in one time order and closes the inputs. Fills `information`,
 * `clock` and the damages. Returns ETWAS_EXIT_FINE, ETWAS_EXIT_DAMAGED, or ETWAS_EXIT_OPEN after a
 * message on standard error.
 */
int etwas_input_process(struct etwas_input_run *run);

/* A record's time in nanoseconds since 1970; of ETWAS_INPUT_RAW by the wall clock. */
int64_t etwas_input_unix_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* Is TimeStamp of its records as recorded? */
static inline bool etwas_input_has_raw(const struct etwas_input *input)
{
    return input->time == ETWAS_INPUT_RAW || input->time == ETWAS_INPUT_BOTH;
}

/* The same by a clock that nobody sets, to subtract. Where it begins is not said. */
int64_t etwas_input_monotonic_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* Finds out how long events were lost, if that is what it says: `lost_ns`. */
struct etwas_kernel_event;
void etwas_input_measure_loss(const struct etwas_input *input, struct etwas_kernel_event *event);

/*
 * A time in nanoseconds since 1970 as FILETIME, and back: outside of the years 1678 to 2261 the
 * nearest inside.
 */
int64_t etwas_input_filetime(int64_t unix_ns);
int64_t etwas_input_ns_of(int64_t filetime);

/*
 * A record's time as etwas_input_print_time shows it, in nanoseconds since 1970: what --from and
 * --to compare.
 */
int64_t etwas_input_shown_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* The same of a TimeStamp. */
int64_t etwas_input_shown_stamp_ns(const struct etwas_input *input, int64_t stamp);

/*
 * From one time to another, which may be as far apart as a damaged file has them; 0 where they turn
 * around.
 */
static inline uint64_t etwas_input_passed_ns(int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

/*
 * Writes a record's time, in UTC; to the nanosecond where the clock has it. Not of ETWAS_INPUT_RAW.
 */
void etwas_input_print_time(struct etwas_output *output, const struct etwas_input *input,
                            const EVENT_RECORD *record);

/* The same of a stamp as recorded, such as stands in a payload. */
void etwas_input_print_stamp(struct etwas_output *output, const struct etwas_input *input,
                             int64_t raw);

/* When the session started, in nanoseconds since 1970. */
int64_t etwas_input_start_ns(const struct etwas_input *input);

/* When it ended; that of 1601 where it wrote no end. */
int64_t etwas_input_end_ns(const struct etwas_input *input);

/*
 * Begins a JSON object about the file: its name, whether it is damaged by `result`, and what was
 * lost.
 */
void etwas_input_print_json(struct etwas_output *output, const struct etwas_input *input,
                            int result);

/* One line for each damage kept and one for the rest, each begun with `prefix`. */
void etwas_input_print_damages(struct etwas_output *output, const struct etwas_input *input,
                               const char *prefix);

/* "etwas COMMAND: PATH: WHAT" on standard error; with `is_note` it is one. */
void etwas_input_report(const struct etwas_input *input, const char *command, bool is_note,
                        const char *what);

/* Says on standard error if a file that was processed has no end. */
void etwas_input_warn_of_end(const struct etwas_input *input);

/* The damages, whether it has no end, and what was lost while recording, on standard error. */
void etwas_input_warn(const struct etwas_input *input);

#endif
