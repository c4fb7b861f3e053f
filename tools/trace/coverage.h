/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_COVERAGE_H
#define ETWAS_TOOLS_TRACE_COVERAGE_H

/*
 * The time that a trace file covers. Every rate is counted over it, and +0 and -0 of a window are
 * its ends.
 *
 * A file that a recorder wrote has an event Window that says it: for that time the file has what
 * each processor recorded. Any other file covers the time from the session's start to
 * its end; it begins with the first event if the file begins late, and ends with the last one if
 * the session wrote no end.
 */

#include <etwas/evntcons.h>
#include <stdbool.h>
#include <stdint.h>

struct etwas_input;
struct etwas_input_run;
struct etwas_window;

/*
 * The coverage of one file; all zeroes means that nothing is known. Times are in nanoseconds since
 * 1970.
 */
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

/*
 * Returns whether a record is an event, and not one in which the session describes itself, events
 * or images.
 */
bool etwas_trace_coverage_is_event(const struct etwas_input *input, const EVENT_RECORD *record);

/*
 * Returns whether a record tells what lies where in a program's memory. In a trace of programs the
 * session writes such records about others; sessions of the kernel record them as events.
 */
bool etwas_trace_coverage_is_of_addresses(const struct etwas_input *input,
                                          const EVENT_RECORD *record);

/*
 * Returns whether a record tells which window of a recorder the file is of, or what of that is
 * missing.
 */
bool etwas_trace_coverage_is_window(const EVENT_RECORD *record);

/* Adds a record of an input that is being processed. */
void etwas_trace_coverage_add_record(struct etwas_input *input, const EVENT_RECORD *record);

/* Finishes the coverage. Call it before the input is closed. */
void etwas_trace_coverage_end(struct etwas_input *input);

/*
 * Reads ahead what processing the input would tell too late: what a recorder's file says, and of
 * other files the first and the last event, if these are needed and the window may leave them out.
 * The input is open and not yet processed. Reads the file beside the input's own trace. `window`
 * may be NULL.
 */
void etwas_trace_coverage_read_ahead(struct etwas_input *input, const struct etwas_window *window);

/*
 * Reads the same ahead for several files together, at most ETWAS_INPUT_FILES. `coverage` has one
 * element for each path.
 */
void etwas_trace_coverage_read_files(struct etwas_trace_coverage *coverage, char *const *paths,
                                     uint32_t count, bool wants_last);

/*
 * Returns whether the file has only the newest events: a snapshot, a later part, or what was not
 * overwritten.
 */
bool etwas_trace_coverage_begins_late(const struct etwas_input *input);

/*
 * Finds which part of a resolved window an input covers that was processed; `window` NULL is all
 * time. Returns false if that is nothing, or is not known.
 */
bool etwas_trace_coverage_span_of(const struct etwas_input *input,
                                  const struct etwas_window *window,
                                  struct etwas_trace_coverage_span *span);

/*
 * Returns whether a time is outside of what the file says that it covers; false if the file does
 * not say it.
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

/*
 * Returns how many nanoseconds the inputs of a run cover together; a time that two of them cover
 * counts once.
 */
uint64_t etwas_trace_coverage_together(const struct etwas_input_run *run,
                                       const struct etwas_window *window);

/* Returns a rate over that time; NaN if the time is 0. */
double etwas_trace_coverage_rate(uint64_t count, uint64_t covered_ns);

#endif
