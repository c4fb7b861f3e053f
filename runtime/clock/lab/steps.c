/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Rows of readings taken as fast as possible alternate with rows of ordered readings, and are
 * compared afterwards. A step between two rows is not seen. So a coarse clock is read longer,
 * within reason, until it has made some steps, with rows of the first kind only.
 */
#include "clock/lab/steps.h"

#include <math.h>
#include <stdlib.h>

#include "clock/lab/lab.h"
#include "clock/lab/read_timing.h"

enum {
    ROW = 1024,
    FORWARD_WANTED = 4,
    /* Six ticks of a kernel that ticks a hundred times a second. */
    COARSE_NS = 60000000,
};

static void steps_add_forward(struct etwas_lab_steps *steps, uint64_t step)
{
    steps->forward++;
    if (steps->smallest == 0 || step < steps->smallest) {
        steps->smallest = step;
    }
}

static void steps_add_backward(struct etwas_lab_steps *steps, uint64_t step)
{
    steps->backward++;
    if (step > steps->largest_backward) {
        steps->largest_backward = step;
    }
}

/*
 * Equal stamps cost almost nothing here, so that a coarse clock mostly steps in a row, not between
 * two.
 */
void etwas_lab_steps_add_row(struct etwas_lab_steps *steps, const int64_t *stamps, uint32_t count,
                             double tick_ns)
{
    uint64_t equal = 0;

    for (uint32_t index = 1; index < count; index++) {
        /* Unsigned, so that the difference of any two stamps is defined. */
        uint64_t step = (uint64_t)stamps[index] - (uint64_t)stamps[index - 1];

        if (step == 0) {
            equal++;
        } else if (stamps[index] < stamps[index - 1]) {
            steps_add_backward(steps, 0 - step);
        } else {
            steps_add_forward(steps, step);
            etwas_lab_tally_add(&steps->tally, (double)step * tick_ns);
        }
    }
    steps->readings += count;
    steps->equal += equal;
    etwas_lab_tally_add_zeroes(&steps->tally, equal);
}

void etwas_lab_steps_add_ordered_row(struct etwas_lab_steps *steps, const int64_t *stamps,
                                     uint32_t count)
{
    for (uint32_t index = 1; index < count; index++) {
        uint64_t step = (uint64_t)stamps[index] - (uint64_t)stamps[index - 1];

        if (stamps[index] < stamps[index - 1]) {
            steps->ordered_backward++;
            if (0 - step > steps->largest_ordered_backward) {
                steps->largest_ordered_backward = 0 - step;
            }
        } else if (step != 0 && steps->kept < ETWAS_LAB_STEPS_KEPT) {
            steps->kept_steps[steps->kept++] = step;
        }
    }
    steps->ordered_readings += count;
}

void etwas_lab_steps_report(struct etwas_lab_steps *steps, double tick_ns,
                            etwas_clock_source_report *report)
{
    double quantum = etwas_lab_quantum_of(steps->kept_steps, steps->kept);

    report->resolution_ns = (double)steps->smallest * tick_ns;
    report->unit_ns = quantum > 0 ? quantum * tick_ns : report->resolution_ns;
    report->pairs = steps->equal + steps->forward;
    report->equal_pairs = steps->equal;
    etwas_lab_tally_bins(&steps->tally, &report->steps);
    report->unordered_readings += steps->readings;
    report->unordered_backward_steps += steps->backward;
    report->largest_unordered_backward_ns =
        fmax(report->largest_unordered_backward_ns, (double)steps->largest_backward * tick_ns);
    report->readings += steps->ordered_readings;
    report->backward_steps += steps->ordered_backward;
    report->largest_backward_ns =
        fmax(report->largest_backward_ns, (double)steps->largest_ordered_backward * tick_ns);
}

uint32_t etwas_lab_steps(uint32_t source, uint64_t budget_ns, etwas_clock_source_report *report)
{
    const struct etwas_lab_source *what = etwas_lab_source(source);
    struct etwas_lab_steps *steps = calloc(1, sizeof *steps);
    uint64_t now_ns = etwas_lab_now_ns();
    uint64_t end_ns = now_ns + budget_ns;
    int64_t stamps[ROW];

    if (steps == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    do {
        etwas_lab_read_row(what->read, stamps, ROW);
        etwas_lab_steps_add_row(steps, stamps, ROW, what->tick_ns);
        if (steps->ordered_readings == 0 || now_ns < end_ns) {
            etwas_lab_read_in_order(what->read, stamps, ROW);
            etwas_lab_steps_add_ordered_row(steps, stamps, ROW);
        }
        now_ns = etwas_lab_now_ns();
    } while (now_ns < end_ns ||
             (steps->forward < FORWARD_WANTED && now_ns < end_ns + (uint64_t)COARSE_NS));
    etwas_lab_steps_report(steps, what->tick_ns, report);
    free(steps);
    return ERROR_SUCCESS;
}
