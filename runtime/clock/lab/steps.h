/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What successive stamps of one thread differ by. */
#ifndef ETWAS_CLOCK_LAB_STEPS_H
#define ETWAS_CLOCK_LAB_STEPS_H

#include <etwas/clocks.h>
#include <stdint.h>

#include "clock/lab/tally.h"

enum {
    ETWAS_LAB_STEPS_KEPT = 4096,
};

/*
 * Starts zeroed. In ticks of the source, but for the tally. Readings as a session takes them may
 * change places, where nothing keeps them in order: what a clock is blamed for, and what it moves
 * by, is told from readings in order alone.
 */
struct etwas_lab_steps {
    uint64_t readings;
    uint64_t equal; /* of pairs of successive readings */
    uint64_t forward;
    uint64_t backward;
    uint64_t largest_backward;
    uint64_t smallest; /* forward step; 0: none yet */
    struct etwas_lab_tally tally;
    uint64_t ordered_readings;
    uint64_t ordered_backward;
    uint64_t largest_ordered_backward;
    uint32_t kept; /* of the forward steps of those, the first ones */
    uint64_t kept_steps[ETWAS_LAB_STEPS_KEPT];
};

/* Counts one row of stamps; the last of one row and the first of the next are no pair. */
void etwas_lab_steps_add_row(struct etwas_lab_steps *steps, const int64_t *stamps, uint32_t count,
                             double tick_ns);

/* Likewise a row of readings that were kept in order. */
void etwas_lab_steps_add_ordered_row(struct etwas_lab_steps *steps, const int64_t *stamps,
                                     uint32_t count);

/* What was counted, into the report. Sorts the steps that were kept. */
void etwas_lab_steps_report(struct etwas_lab_steps *steps, double tick_ns,
                            etwas_clock_source_report *report);

#endif
