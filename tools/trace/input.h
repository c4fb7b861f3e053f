/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_INPUT_H
#define ETWAS_TOOLS_TRACE_INPUT_H

/*
 * The trace files that a command reads: opens and processes them, and keeps the damage found. Also
 * reads running sessions.
 */

#include "cli/progress.h"
#include "print/output.h"
#include "trace/coverage.h"
#include "trace/losses.h"

#include <etwas/etwas.h>
#include <etwas/evntcons.h>

enum {
    /* Open at once: 1,024 traces can be, and a file is opened for more than its events. */
    ETWAS_INPUT_FILES = 1000,
    ETWAS_INPUT_DAMAGES_KEPT = 20, /* the first ones of each file; it may have any number */
};

/* The unit and clock of a record's TimeStamp. */
enum etwas_input_time {
    ETWAS_INPUT_FILETIME,
    ETWAS_INPUT_NANOSECONDS, /* since 1970; FILETIME if the clock is not more precise */
    ETWAS_INPUT_RAW,         /* as recorded; times are converted by the wall clock of that moment */
    ETWAS_INPUT_BOTH,        /* as recorded; times are shown as the first two show them */
};

struct etwas_input;

/* Called for a damage where it is found, between the events before and after it in the file. */
typedef void (*etwas_input_damage_callback)(const struct etwas_input *input,
                                            const etwas_damage *damage);

struct etwas_input {
    const char *path; /* or a session's name */
    bool is_session;
    enum etwas_input_time time;
    uint32_t number;             /* number on the command line, from 1 */
    void *context;               /* set by the command */
    struct etwas_input_run *run; /* set while it is processed */
    bool is_coarse;              /* FILETIME is as precise as the clock */
    bool is_by_wall_clock;       /* the wall clock stamped it, and TimeStamp is raw */
    bool is_kernel;              /* recorded by a session of the kernel's events */
    etwas_trace_handle trace;
    uint64_t place;               /* from etwas_parts_place */
    EVENT_TRACE_LOGFILEA logfile; /* for OpenTrace */
    etwas_trace_information information;
    etwas_trace_clock clock;
    etwas_input_damage_callback damage; /* NULL: damage is only kept */
    uint32_t machine;                   /* machine that recorded it; etwas_moments_align */
    int64_t ahead_ns; /* likewise: add it to the input's QPC for the first file's */
    struct etwas_trace_coverage coverage;
    etwas_damage damages[ETWAS_INPUT_DAMAGES_KEPT];
    uint64_t damage_count;
    struct etwas_trace_losses *losses; /* the command's, read behind the events; NULL: not wanted */
    struct etwas_steps *steps;         /* set while it is read, if is_by_wall_clock; else NULL */
    bool has_end_damage;               /* end_damage is set, and is reported when all is read */
    etwas_damage end_damage;
};

/* What the inputs of one etwas_input_process have in common. */
struct etwas_input_callbacks {
    PEVENT_RECORD_CALLBACK record; /* UserContext is the struct etwas_input */
    enum etwas_input_time time;
    etwas_input_damage_callback damage; /* or NULL */
    bool is_session;                    /* the path is the name of a real-time session */
};

/*
 * Opens a file or session. `input` must not be moved until it is closed. Returns ETWAS_EXIT_DONE,
 * or ETWAS_EXIT_FAILED after a message on standard error.
 */
int etwas_input_open(struct etwas_input *input, const char *path, uint32_t number,
                     const struct etwas_input_callbacks *callbacks, void *context);

/*
 * Returns whether the kernel's session recorded an open trace, judged by the mode and session name
 * in its header.
 */
bool etwas_input_is_kernel(const EVENT_TRACE_LOGFILEA *logfile);

/* Returns whether the etwas_input_open of this input succeeded. */
static inline bool etwas_input_was_opened(const struct etwas_input *input)
{
    return input->trace != INVALID_PROCESSTRACE_HANDLE;
}

/* A run over several inputs. */
struct etwas_input_run {
    struct etwas_input *inputs;
    uint32_t count;
    uint32_t sections; /* into which each file is divided; this run reads one. 0: not divided */
    /*
     * Deliver the events of the one file in buffer order. If it has no end, only its whole buffers.
     */
    bool by_buffers;
    /* Deliver only events between both FILETIMEs, and skip buffers outside. */
    bool has_span;
    int64_t from_filetime;
    int64_t to_filetime;
    bool stop;           /* a record callback sets it to end the run */
    bool has_complained; /* files that cannot be opened were reported before */
    bool has_told;       /* events and losses in several files were reported */
    struct etwas_output
        *live; /* output of a session, flushed after each buffer; NULL: the inputs are files */
    struct etwas_progress progress;
};

/*
 * Opens files as the inputs of a run, which must have room, and numbers them from 1. A file that
 * cannot be opened is reported on standard error and left out. Returns ETWAS_EXIT_DONE, or
 * ETWAS_EXIT_FAILED if a file was left out.
 */
int etwas_input_open_all(struct etwas_input_run *run, char *const *paths, uint32_t count,
                         const struct etwas_input_callbacks *callbacks, void *context);

/*
 * Return how many events were lost, or overwritten, according to the file. Events that another file
 * of the run counts too are excluded, so the numbers of several files can be added.
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
 * Delivers the events of all inputs in one time order, then closes the inputs. Fills `information`,
 * `clock`, the damages and, where they are wanted, the losses. Returns ETWAS_EXIT_DONE,
 * ETWAS_EXIT_DAMAGED, or ETWAS_EXIT_FAILED after a message on standard error.
 */
int etwas_input_process(struct etwas_input_run *run);

/* Processes one input, and shows the progress. */
int etwas_input_process_one(struct etwas_input *input);

/*
 * Returns a record's time in nanoseconds since 1970: for ETWAS_INPUT_RAW by the wall clock of that
 * moment, else as ProcessTrace reports it.
 */
int64_t etwas_input_unix_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* Returns whether the records' TimeStamp is as recorded. */
static inline bool etwas_input_has_raw(const struct etwas_input *input)
{
    return input->time == ETWAS_INPUT_RAW || input->time == ETWAS_INPUT_BOTH;
}

/*
 * Returns a record's time by the performance counter, for differences; its zero is arbitrary. If
 * TimeStamp is not raw, returns etwas_input_unix_ns.
 */
int64_t etwas_input_monotonic_ns(const struct etwas_input *input, const EVENT_RECORD *record);

/* Sets `lost_ns`, for how long events were lost, of an event that reports a loss. */
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
 * Returns the time between two times, which may be any distance apart in a damaged file; 0 if the
 * second is earlier.
 */
static inline uint64_t etwas_input_passed_ns(int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

/* Returns the time of a raw stamp, such as one in a payload, in nanoseconds since 1970. */
int64_t etwas_input_stamp_ns(const struct etwas_input *input, int64_t raw);

/*
 * Writes a record's time in UTC. The input's time must not be ETWAS_INPUT_RAW.
 */
void etwas_input_print_time(struct etwas_output *output, const struct etwas_input *input,
                            const EVENT_RECORD *record);

/* Writes the time of a raw stamp, such as one in a payload. */
void etwas_input_print_stamp(struct etwas_output *output, const struct etwas_input *input,
                             int64_t raw);

/* Returns when the session started, in nanoseconds since 1970. */
int64_t etwas_input_start_ns(const struct etwas_input *input);

/*
 * Returns when the session ended, in nanoseconds since 1970; if it wrote no end, the time of 1601.
 */
int64_t etwas_input_end_ns(const struct etwas_input *input);

/* Writes JSON keys about processes that could not log, if there were any. */
void etwas_input_json_unattached(struct etwas_output *output, const struct etwas_input *input);

/*
 * Begins a JSON object of a kind about the file: its name, whether it is damaged according to
 * `result`, and the losses.
 */
void etwas_input_print_json(struct etwas_output *output, const struct etwas_input *input,
                            const char *kind, int result);

/* Writes a line for each damage that was kept, and one for the rest, each after `prefix`. */
void etwas_input_print_damages(struct etwas_output *output, const struct etwas_input *input,
                               const char *prefix);

/* Prints "etwas COMMAND: PATH: WHAT" on standard error, marked as a note if is_note. */
void etwas_input_report(const struct etwas_input *input, const char *command, bool is_note,
                        const char *what);

/* Reports on standard error if a processed file has no end. */
void etwas_input_warn_of_end(const struct etwas_input *input);

/* Reports on standard error the damage, a missing end, and what was lost while recording. */
void etwas_input_warn(const struct etwas_input *input);

#endif
