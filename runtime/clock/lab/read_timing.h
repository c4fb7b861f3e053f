/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The measuring loops. A reading is called through its pointer; the call costs nothing extra,
 * because the processor waits for the counter. NULL reads nothing: that takes the loop's own cost.
 *
 * Time is taken with the cycle counter, the finest there is, with a fence on both sides of the
 * counter's reading: what is timed neither begins before nor ends after it.
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
 * A counter may move by many ticks at once, on each processor at moments of its own, and a clock
 * that is derived from it likewise. Neither the smallest step nor the divisor of all steps shows
 * the quantum: such a counter may add a tick to a second reading before it has moved, so that it
 * never shows the same value twice; a hypervisor may scale it, so that it moves by 24 ticks and by
 * 25 in turn; and a thread that is moved makes one odd step. So the quantum is the largest number
 * of ticks of which nearly all steps are multiples, a tick more or less, between readings that
 * cannot overtake each other and that follow each other at distances that vary.
 *
 *     steps 26, 52, 26, 78      26
 *     steps 24, 49, 25, 73      24.4
 *     steps 20, 31, 37, 44      1
 */

enum {
    /* The quantum of fewer steps is not known. */
    ETWAS_LAB_QUANTUM_STEPS = 16,
};

/*
 * Returns the quantum of which these steps, none of them 0, are multiples; sorts them. 0 if they
 * are too few. It may be too large, but never larger than the shortest of nearly all steps.
 */
double etwas_lab_quantum_of(uint64_t *steps, uint32_t count);

/*
 * Reads the source and returns the quantum of its steps, at least 1. It is 1 for clocks that hardly
 * ever move: coarse ones, which the kernel moves for all processors at once.
 */
double etwas_lab_quantum(int64_t (*read)(void));

/* Takes readings, each after those before it are done, at intervals that vary. */
void etwas_lab_read_in_order(int64_t (*read)(void), int64_t *stamps, uint32_t count);

/*
 * Returns what the cycle counter moves by at once, in nanoseconds; 0: it does not count. Measured
 * once.
 */
double etwas_lab_counter_step_ns(void);

#endif
