/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The time that the counts of `etwas stat` cover, and the events that they lack.
 */

#include "analyse/counts/counts.h"

uint64_t etwas_counts_covered_ns(const struct etwas_counts *counts, const struct etwas_input *input)
{
    struct etwas_trace_coverage_span span;

    return etwas_trace_coverage_span_of(input, &counts->window, &span)
               ? etwas_input_passed_ns(span.from_ns, span.until_ns)
               : 0;
}

uint64_t etwas_counts_outside(const struct etwas_counts *counts)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < ETWAS_COUNTS_PROCESSORS; i++) {
        sum += counts->outside[i];
    }
    return sum;
}

/* ---- Missing events ---- */

/* Subtracts. Returns 0 if the counts contradict each other, as those of a damaged file may. */
static uint64_t less(uint64_t count_of, uint64_t part)
{
    return count_of > part ? count_of - part : 0;
}

uint64_t etwas_counts_untold(const struct etwas_counts *counts,
                             const etwas_trace_information *information)
{
    uint64_t untold = less(information->lost_events, information->repeated_lost_events);

    untold = less(untold, counts->losses != NULL ? counts->losses->events : 0);
    return less(less(less(untold, counts->kernel_no_room), counts->kernel_lost),
                counts->kernel_beside);
}

bool etwas_counts_missing(const struct etwas_counts *counts, const struct etwas_input *input,
                          uint64_t *missing)
{
    const etwas_trace_information *information = &input->information;

    if (information->attempted_events == 0 || information->part != 0 || information->unfinished ||
        input->is_kernel || counts->where != NULL || etwas_window_is_set(&counts->window)) {
        return false;
    }
    if (information->repeated_attempted_events != 0) { /* the count of its copy is for both files */
        *missing = 0;
        return true;
    }
    *missing = less(less(less(information->attempted_events, information->overwritten_events),
                         information->lost_events),
                    etwas_counts_total(counts).events + counts->events_beside);
    return true;
}

bool etwas_counts_is_beside_processors(const struct etwas_input *input, uint32_t processor)
{
    return processor >= input->information.processors &&
           processor < input->logfile.LogfileHeader.NumberOfProcessors;
}
