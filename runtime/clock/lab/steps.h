/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What successive stamps of one thread differ by. */
#ifndef ETWAS_CLOCK_LAB_STEPS_H
#define ETWAS_CLOCK_LAB_STEPS_H

#include <etwas/clocks.h>
#include <stdint.h>

#include "clock/lab/tally.h"

/* Starts zeroed. In ticks of the source, but for the tally. */
struct etwas_lab_steps {
    uint64_t readings;
    uint64_t equal; /* of pairs of successive readings */
    uint64_t forward;
    uint64_t backward;
    uint64_t largest_backward;
    uint64_t smallest; /* forward step; 0: none yet */
    uint64_t unit;     /* all forward steps are multiples of it; 0: none yet */
    struct etwas_lab_tally tally;
};

/* Counts one row of stamps; the last of one row and the first of the next are no pair. */
void etwas_lab_steps_note(struct etwas_lab_steps *steps, const int64_t *stamps, uint32_t count,
                          double tick_ns);

/* What was counted, into the report. */
void etwas_lab_steps_tell(const struct etwas_lab_steps *steps, double tick_ns,
                          etwas_clock_source_report *report);

#endif
