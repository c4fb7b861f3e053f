/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_INPUT_H
#define ETWAS_TOOLS_TRACE_INPUT_H

/*
 * Trace files that a command reads: opens and processes them, and keeps what was wrong with them.
 * Also reads sessions that are running.
 */

#include "cli/progress.h"
#include "print/output.h"
#include "trace/coverage.h"

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

enum {
    /* At once: there can be 1,024 open traces, and a file is opened for more than its events. */
    ETWAS_INPUT_FILES = 1000,
    ETWAS_INPUT_DAMAGES_KEPT = 20, /* the first ones; a file may have any number */
};

/* The meaning of a record's TimeStamp. */
enum etwas_input_time {
    ETWAS_INPUT_FILETIME,
    ETWAS_INPUT_NANOSECONDS, /* since 1970; FILETIME where the clock knows no more */
    ETWAS_INPUT_RAW,         /* as recorded; the wall clock says what time that was */
    ETWAS_INPUT_BOTH,        /* as recorded, and shown as the two before it are */
};

struct etwas_input;

/*
 * Is called for a damage where it is found, between the event before and the next one of the file.
 */
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
 * Opens a file or session. `input` must not be moved until it is closed. Returns ETWAS_EXIT_DONE,
 * or ETWAS_EXIT_FAILED after a message on standard error.
 */
int etwas_input_open(struct etwas_input *input, const char *path, uint32_t number,
                     const struct etwas_input_callbacks *callbacks, void *context);

/*
 * Returns whether a session of the kernel's events recorded an open trace, with which the name in
 * the header goes.
 */
bool etwas_input_is_kernel(const EVENT_TRACE_LOGFILEA *logfile);

/* Returns whether etwas_input_open, which was called, could open the input. */
static inline bool etwas_input_was_opened(const struct etwas_input *input)
{
    return input->trace != INVALID_PROCESSTRACE_HANDLE;
}

/* A run over several inputs. */
struct etwas_input_run {
    struct etwas_input *inputs;
    uint32_t count;
    uint32_t sections; /* of each file, of which this reads one; 0: it is not divided */
    /* One file's events in the order of its buffers; without an end, of its whole buffers. */
    bool by_buffers;
    /* Only events between both FILETIMEs are wanted; buffers beside them are not read. */
    bool has_span;
    int64_t from_filetime;
    int64_t to_filetime;
    bool stop;           /* set by a record callback: no more events are wanted */
    bool has_complained; /* of what cannot be opened: it was said before */
    bool has_told;       /* how many events several files have, or tell of */
    struct etwas_output
        *live; /* of a session: flushed when what has come was given; NULL: of files */
    struct etwas_progress progress;
};

/*
 * Opens files as the inputs of a run, for which there is room, and numbers them from 1. A file that
 * cannot be opened is reported on standard error and left out. Returns ETWAS_EXIT_DONE, or
 * ETWAS_EXIT_FAILED if a file was left out.
 */
int etwas_input_open_all(struct etwas_input_run *run, char *const *paths, uint32_t count,
                         const struct etwas_input_callbacks *callbacks, void *context);

/*
 * Returns how many events were lost, or overwritten, by what the file says, without what another
 * file of the run says too; so the numbers of several files can be added.
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
 * `clock` and the damages. Returns ETWAS_EXIT_DONE, ETWAS_EXIT_DAMAGED, or ETWAS_EXIT_FAILED after
 * a message on standard error.
 */
int etwas_input_process(struct etwas_input_run *run);

/* Does the same with one input, and shows the progress. */
int etwas_input_process_one(struct etwas_input *input);

/*
 * Returns a record's time in nanoseconds since 1970, by the wall clock of that moment if the
 * TimeStamp is raw.
 */
int64_t etwas_input_unix_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* Returns whether the TimeStamp of its records is as recorded. */
static inline bool etwas_input_has_raw(const struct etwas_input *input)
{
    return input->time == ETWAS_INPUT_RAW || input->time == ETWAS_INPUT_BOTH;
}

/* Returns a record's time by a clock that nobody sets, for differences. Its zero is arbitrary. */
int64_t etwas_input_monotonic_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* Sets `lost_ns` of an event that tells of a loss: how long events were lost. */
struct etwas_kernel_event;
void etwas_input_measure_loss(const struct etwas_input *input, struct etwas_kernel_event *event);

/*
 * Converts a time in nanoseconds since 1970 to a FILETIME, and back. A time outside of the years
 * 1678 to 2261 becomes the nearest one inside.
 */
int64_t etwas_input_filetime(int64_t unix_ns);
int64_t etwas_input_ns_of(int64_t filetime);

/*
 * Returns a record's time as etwas_input_print_time shows it, in nanoseconds since 1970, which
 * --from and --until compare.
 */
int64_t etwas_input_shown_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* Returns the same for a TimeStamp. */
int64_t etwas_input_shown_stamp_ns(const struct etwas_input *input, int64_t stamp);

/*
 * Returns the time between two times, which a damaged file may have any distance apart; 0 if the
 * second is earlier.
 */
static inline uint64_t etwas_input_passed_ns(int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

/* Returns the time of a stamp as recorded, such as one in a payload, in nanoseconds since 1970. */
int64_t etwas_input_stamp_ns(const struct etwas_input *input, int64_t raw);

/*
 * Writes a record's time in UTC. The input's time must not be ETWAS_INPUT_RAW.
 */
void etwas_input_print_time(struct etwas_output *output, const struct etwas_input *input,
                            const EVENT_RECORD *record);

/* Writes the time of a stamp as recorded, such as one in a payload. */
void etwas_input_print_stamp(struct etwas_output *output, const struct etwas_input *input,
                             int64_t raw);

/* Returns when the session started, in nanoseconds since 1970. */
int64_t etwas_input_start_ns(const struct etwas_input *input);

/*
 * Returns when the session ended, in nanoseconds since 1970; the time of 1601 if it wrote no end.
 */
int64_t etwas_input_end_ns(const struct etwas_input *input);

/* Prints JSON keys about processes that could not log; nothing where all could. */
void etwas_input_json_unattached(struct etwas_output *output, const struct etwas_input *input);

/*
 * Begins a JSON object of a kind about the file: its name, whether it is damaged, by `result`, and
 * what was lost.
 */
void etwas_input_print_json(struct etwas_output *output, const struct etwas_input *input,
                            const char *kind, int result);

/*
 * Writes a line for each damage that was kept, and one for the others, each with `prefix` before
 * it.
 */
void etwas_input_print_damages(struct etwas_output *output, const struct etwas_input *input,
                               const char *prefix);

/* Prints "etwas COMMAND: PATH: WHAT" on standard error, as a note with `is_note`. */
void etwas_input_report(const struct etwas_input *input, const char *command, bool is_note,
                        const char *what);

/* Reports on standard error if a file that was processed has no end. */
void etwas_input_warn_of_end(const struct etwas_input *input);

/*
 * Reports on standard error the damages, whether the file has no end, and what was lost while it
 * was recorded.
 */
void etwas_input_warn(const struct etwas_input *input);

#endif
