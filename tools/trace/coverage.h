/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_COVERAGE_H
#define ETWAS_TOOLS_TRACE_COVERAGE_H

/*
 * The time that a trace file covers. Every rate is counted over it, and +0 and -0 of a window are
 * its ends.
 *
 * A file that a recorder wrote states its coverage in an event Window: the file has all that each
 * processor recorded in that time. Any other file covers the time from the session's start to its
 * end. If the file begins late, its coverage begins with the first event. If the session wrote no
 * end, it ends with the last event.
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
    bool is_said; /* the event Window states the coverage */
    bool is_none; /* it does, but no interval is complete */
    int64_t said_from_raw;
    int64_t said_until_raw;
    int64_t said_from_ns; /* exclusive */
    int64_t said_until_ns;
    bool has_events; /* selected by the command or not */
    int64_t first_ns;
    int64_t last_ns;
    bool has_stamps; /* events are being read; the two stamps are as in TimeStamp */
    int64_t first_stamp;
    int64_t last_stamp;
};

struct etwas_trace_coverage_span {
    int64_t from_ns;
    int64_t until_ns;
};

/*
 * Returns whether a record is an event of a provider or the kernel, and not one in which the
 * session describes itself, events or images.
 */
bool etwas_trace_coverage_is_event(const struct etwas_input *input, const EVENT_RECORD *record);

/*
 * Returns whether a record describes images or kernel symbols in memory. In a trace of programs the
 * session writes such records itself; in a kernel session they are events.
 */
bool etwas_trace_coverage_is_of_addresses(const struct etwas_input *input,
                                          const EVENT_RECORD *record);

/*
 * Returns whether a record states which window of a recorder the file holds, or what is missing in
 * it.
 */
bool etwas_trace_coverage_is_window(const EVENT_RECORD *record);

/* Adds a record of an input that is being processed. */
void etwas_trace_coverage_add_record(struct etwas_input *input, const EVENT_RECORD *record);

/* Finishes the coverage. Call it before the input is closed. */
void etwas_trace_coverage_end(struct etwas_input *input);

/*
 * Reads ahead what processing the input would find too late: the coverage that a recorder's file
 * states, and in other files the first and last events, if they are needed and the window may
 * exclude them. The input is open and not yet processed; the file is opened a second time. `window`
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
 * Returns whether the file has only the newest events: it is a snapshot or a later part, or older
 * events were overwritten.
 */
bool etwas_trace_coverage_begins_late(const struct etwas_input *input);

/*
 * Finds which part of a resolved window a processed input covers; `window` NULL means all time.
 * Returns false if it covers nothing, or the coverage is not known.
 */
bool etwas_trace_coverage_span_of(const struct etwas_input *input,
                                  const struct etwas_window *window,
                                  struct etwas_trace_coverage_span *span);

/* Returns whether a time is outside the coverage that the file states; false if it states none. */
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
