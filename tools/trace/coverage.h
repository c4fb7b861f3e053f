/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_COVERAGE_H
#define ETWAS_TOOLS_TRACE_COVERAGE_H

/*
 * Which time a trace file covers: what every rate is counted over, and where +0 and -0 of a window
 * are.
 *
 * A file that a recorder wrote for a trigger says it, by its event Window: in that time it has what
 * each processor recorded. Of any other it is from the session's start to its end; from the first
 * event where the file begins late, to the last one where the session wrote no end.
 */

#include <etwas/evntcons.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_input;
struct etwas_input_run;
struct etwas_window;

/* Zeroed: nothing is known yet. Times are in nanoseconds since 1970. */
struct etwas_trace_coverage {
    bool is_said; /* by the event Window */
    bool is_none; /* there: no interval has everything */
    int64_t said_from_raw;
    int64_t said_until_raw;
    int64_t said_from_ns; /* after this, */
    int64_t said_until_ns;
    bool has_events; /* asked for or not */
    int64_t first_ns;
    int64_t last_ns;
    bool has_stamps; /* of events that are being read, as TimeStamp has them */
    int64_t first_stamp;
    int64_t last_stamp;
};

struct etwas_trace_coverage_span {
    int64_t from_ns;
    int64_t until_ns;
};

/* Is it an event, and not what the session says of itself, of events or of images? */
bool etwas_trace_coverage_is_event(const struct etwas_input *input, const EVENT_RECORD *record);

/*
 * Does it say what lies where in a program's memory? In a trace of programs that is what its
 * session says of other records; the kernel's sessions record it as they do events.
 */
bool etwas_trace_coverage_is_of_addresses(const struct etwas_input *input,
                                          const EVENT_RECORD *record);

/* Does it say which window of a trigger the file is of, or what of that is missing? */
bool etwas_trace_coverage_is_window(const EVENT_RECORD *record);

/* A record of an input that is being processed. */
void etwas_trace_coverage_add_record(struct etwas_input *input, const EVENT_RECORD *record);

/* Before the input is closed: the times of what was taken. */
void etwas_trace_coverage_end(struct etwas_input *input);

/*
 * Of an open input, before it is processed: what the reading itself cannot know in time. That is
 * what a recorder's file says, and of others the first and the last event where these are wanted
 * and the window may leave them out. Reads the file beside the input's own trace. `window` may be
 * NULL.
 */
void etwas_trace_coverage_read_ahead(struct etwas_input *input, const struct etwas_window *window);

/*
 * So of files that are looked through together, ETWAS_INPUT_FILES at most; `coverage` has one for
 * each path.
 */
void etwas_trace_coverage_read_files(struct etwas_trace_coverage *coverage, char *const *paths,
                                     uint32_t count, bool wants_last);

/* Has the file only what came last: a snapshot, a later part, or what was not overwritten? */
bool etwas_trace_coverage_begins_late(const struct etwas_input *input);

/*
 * What an input that was processed covers of the window, which is resolved, or NULL: of all time.
 * False: nothing, or it is not known.
 */
bool etwas_trace_coverage_span_of(const struct etwas_input *input,
                                  const struct etwas_window *window,
                                  struct etwas_trace_coverage_span *span);

/*
 * Is this time outside of what the file says that it covers? Of files that do not say it nothing
 * is.
 */
static inline bool etwas_trace_coverage_leaves_out(const struct etwas_trace_coverage *coverage,
                                                   int64_t time_ns)
{
    return coverage->is_said &&
           (time_ns <= coverage->said_from_ns || time_ns > coverage->said_until_ns);
}

static inline bool etwas_trace_coverage_leaves_out_raw(const struct etwas_trace_coverage *coverage,
                                                       int64_t raw)
{
    return coverage->is_said && (raw <= coverage->said_from_raw || raw > coverage->said_until_raw);
}

/* What all inputs of a run cover together, in nanoseconds; what two of them cover counts once. */
uint64_t etwas_trace_coverage_together(const struct etwas_input_run *run,
                                       const struct etwas_window *window);

/* A rate over so many nanoseconds; NaN where these are 0. */
double etwas_trace_coverage_rate(uint64_t count, uint64_t covered_ns);

#endif
