/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_MOMENT_H
#define ETWAS_TOOLS_TRACE_MOMENT_H

/*
 * When an event was, so that what passed until another can be told with its error.
 */

#include "trace/input.h"
#include "trace/steps.h"

struct etwas_moment {
    const struct etwas_input *input; /* which must have ETWAS_INPUT_RAW or ETWAS_INPUT_BOTH */
    int64_t raw;
    int64_t ns;        /* by the performance counter, of the first file's machine */
    uint64_t error_ns; /* of that; UINT64_MAX: not known */
    uint32_t processor;
    struct etwas_steps_mark steps;
};

/*
 * Of several files which machines they are from, by when these booted, and how far apart the
 * performance counters of these are, by their wall clocks when the sessions began.
 */
void etwas_moments_align(struct etwas_input_run *run);

struct etwas_moment etwas_moment_of(const struct etwas_input *input, const EVENT_RECORD *record);

/*
 * How far what passed from one to the other may be off; UINT64_MAX: not known. Two times of one
 * processor share most of their errors. Those of two processors are at least as uncertain as one of
 * them: so far apart may their clocks be. What two files say is as wrong as both times are, or is
 * not known if they are from two machines. Where the wall clock stamped and was set back in
 * between, it is off by that at least.
 */
uint64_t etwas_moment_error_ns(const struct etwas_moment *from, const struct etwas_moment *to);

/*
 * What passed since the START of a span in the same file, which etwas_steps_begin has got, and
 * whose processor is not known: as if it had been another one. Never less than 0.
 */
etwas_clock_time etwas_moment_since(const etwas_span *span, const struct etwas_moment *moment);

/* The sum of two errors; UINT64_MAX if one is. */
uint64_t etwas_moment_add_errors(uint64_t one, uint64_t other);

#endif
