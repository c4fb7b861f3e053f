/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The differences of successive stamps of one thread. */
#ifndef ETWAS_CLOCK_LAB_STEPS_H
#define ETWAS_CLOCK_LAB_STEPS_H

#include <etwas/clocks.h>
#include <stdint.h>

#include "clock/lab/tally.h"

enum {
    ETWAS_LAB_STEPS_KEPT = 4096,
};

/*
 * Begins zeroed. Values are ticks of the source, except in the tally. Readings as a session takes
 * them may be reordered, because nothing keeps them in order. So the verdict on a clock, and its
 * quantum, come only from ordered readings.
 */
struct etwas_lab_steps {
    uint64_t readings;
    uint64_t equal; /* pairs of equal successive readings */
    uint64_t forward;
    uint64_t backward;
    uint64_t largest_backward;
    uint64_t smallest; /* smallest forward step; 0: none yet */
    struct etwas_lab_tally tally;
    uint64_t ordered_readings;
    uint64_t ordered_backward;
    uint64_t largest_ordered_backward;
    uint32_t kept; /* number of stored forward steps of ordered readings, from the first on */
    uint64_t kept_steps[ETWAS_LAB_STEPS_KEPT];
};

/*
 * Counts one row of stamps. The last stamp of one row and the first of the next are not compared.
 */
void etwas_lab_steps_add_row(struct etwas_lab_steps *steps, const int64_t *stamps, uint32_t count,
                             double tick_ns);

/* Counts a row of readings that were kept in order. */
void etwas_lab_steps_add_ordered_row(struct etwas_lab_steps *steps, const int64_t *stamps,
                                     uint32_t count);

/* Fills the report with the counts. Sorts the stored steps. */
void etwas_lab_steps_report(struct etwas_lab_steps *steps, double tick_ns,
                            etwas_clock_source_report *report);

#endif
