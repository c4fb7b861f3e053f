/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A line through readings of one clock against another, and how well its slope is known.
 *
 * What is fitted is how far the clock is ahead of the reference, over a time that never steps.
 * Readings disturb the line in four ways, each met by itself:
 *
 *     interrupted     the thread lost the processor between the readings of a bracket: it is wide,
 *                     and points much wider than the usual one are left out
 *     set             a wall clock was set, or a machine slept: the points before and after lie on
 *                     lines of one slope, each with its own height; unless the clock does that all
 *                     the time, as a coarse one does
 *     not independent neighbours are off together, so the usual formula would promise too much:
 *                     points are first averaged in some 16 blocks, and the interval is that of the
 *                     blocks' means, with Student's t for so few. It holds when disturbances last
 *                     much shorter than a block
 *     off together    all early points are off one way, all late ones the other: a point may lie
 *                     anywhere in its bracket, and a clock of large steps anywhere in its step. No
 *                     interval is narrower than a bracket and a step over the whole time
 */
#ifndef ETWAS_CLOCK_LAB_FIT_H
#define ETWAS_CLOCK_LAB_FIT_H

#include <etwas/clocks.h>
#include <stdint.h>

enum {
    ETWAS_LAB_POINTS = 1024, /* the most that can be fitted */
};

struct etwas_lab_point {
    double at_ns;    /* since the first, ascending */
    double ahead_ns; /* of the reference, with any constant added */
    double width_ns; /* of the bracket: ahead_ns is known ± half of it */
};

/*
 * Fits a line to `points`, at most ETWAS_LAB_POINTS, and changes them. `resolution_ns` is the
 * smallest step of the clock. The drift is not known with fewer than three points, or if steps
 * leave too few.
 */
void etwas_lab_fit(struct etwas_lab_point *points, uint32_t count, double resolution_ns,
                   etwas_clock_drift *drift);

#endif
