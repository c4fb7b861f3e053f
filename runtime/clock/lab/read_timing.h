/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The measuring loops. A reading is called through its pointer, which costs nothing extra, because
 * the processor waits for the counter. NULL reads nothing, which measures the loop's own cost.
 *
 * Time is taken with the cycle counter, the finest clock, with a fence on both sides of its
 * reading. So what is timed neither begins before the first reading nor ends after the last.
 */
#ifndef ETWAS_CLOCK_LAB_READ_TIMING_H
#define ETWAS_CLOCK_LAB_READ_TIMING_H

#include <stdint.h>

/*
 * Times single readings: the ticks of the counter that each took, including those of the timing.
 * All sources share this code, so it can be warm while the timed code is not.
 */
void etwas_lab_time_each(int64_t (*read)(void), int64_t *ticks, uint32_t count);

/* Times a row of readings: returns the ticks that all took. */
int64_t etwas_lab_time_row(int64_t (*read)(void), uint32_t count);

/* Reads a row of stamps. */
void etwas_lab_read_row(int64_t (*read)(void), int64_t *stamps, uint32_t count);

/*
 * The quantum of a clock: by how many ticks it moves at once.
 *
 * A counter may move by many ticks at once, at different moments on each processor, and so may a
 * clock that is derived from it. Neither the smallest step nor the divisor of all steps shows the
 * quantum: such a counter may add a tick to a second reading before it has moved, so that it never
 * shows the same value twice; a hypervisor may scale it, so that it moves by 24 ticks and by 25 in
 * turn; and a thread that is moved makes one odd step. So the quantum is the largest number of
 * ticks of which nearly all steps are multiples, a tick more or less, between readings that cannot
 * overtake each other and that follow each other at distances that vary.
 *
 *     steps 26, 52, 26, 78      26
 *     steps 24, 49, 25, 73      24.4
 *     steps 20, 31, 37, 44      1
 */

enum {
    /* The quantum is not known from fewer steps. */
    ETWAS_LAB_QUANTUM_STEPS = 16,
};

/*
 * Sorts the steps, none of which is 0, and returns the quantum of which they are multiples; 0 if
 * they are too few. It may be too large, but never larger than the shortest of nearly all steps.
 */
double etwas_lab_quantum_of(uint64_t *steps, uint32_t count);

/*
 * Reads the source and returns the quantum of its steps, at least 1. It is 1 for clocks that hardly
 * ever move: coarse ones, which the kernel updates for all processors at once.
 */
double etwas_lab_quantum(int64_t (*read)(void));

/* Takes readings, each after the previous ones are complete, at intervals that vary. */
void etwas_lab_read_in_order(int64_t (*read)(void), int64_t *stamps, uint32_t count);

/*
 * Returns by how much the cycle counter moves at once, in nanoseconds; 0: it does not count.
 * Measured once.
 */
double etwas_lab_counter_step_ns(void);

#endif
