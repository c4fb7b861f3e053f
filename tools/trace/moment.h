/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_MOMENT_H
#define ETWAS_TOOLS_TRACE_MOMENT_H

/*
 * The time of an event with its error, so that the error of a duration between two events is known.
 */

#include "trace/input.h"
#include "trace/steps.h"

struct etwas_moment {
    const struct etwas_input *input; /* its time must be ETWAS_INPUT_RAW or ETWAS_INPUT_BOTH */
    int64_t raw;
    int64_t ns;        /* by the performance counter of the first file's machine */
    uint64_t error_ns; /* error of `ns`; UINT64_MAX: not known */
    uint32_t processor;
    struct etwas_steps_mark steps;
};

/*
 * Finds out, by the time of boot, which files of a run come from one machine. Also finds how far
 * apart the machines' performance counters are, by their wall clocks when the sessions began.
 */
void etwas_moments_align(struct etwas_input_run *run);

/* Returns whether two recorded times of boot denote the same boot of one machine. */
bool etwas_moments_are_of_one_boot(int64_t one_filetime, int64_t other_filetime);

struct etwas_moment etwas_moment_of(const struct etwas_input *input, const EVENT_RECORD *record);

/*
 * Returns the error of the time between two moments; UINT64_MAX if it is not known. Two times of
 * one processor share most of their errors. The clocks of two processors may differ by as much as
 * one of the times is uncertain. Between two files the errors add up, and between two machines the
 * error is not known. If the wall clock stamped both and was set back in between, the error is at
 * least that step.
 */
uint64_t etwas_moment_error_ns(const struct etwas_moment *from, const struct etwas_moment *to);

/*
 * Returns the time since the START of a span in the same file; etwas_steps_begin was called for it.
 * The processor of the START is not known, so it is treated as another one. The time is not
 * negative.
 */
etwas_clock_time etwas_moment_since(const etwas_span *span, const struct etwas_moment *moment);

/* Returns the sum of two errors; UINT64_MAX if one of them is. */
uint64_t etwas_moment_add_errors(uint64_t one, uint64_t other);

#endif
