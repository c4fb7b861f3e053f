/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Readings of one source against a reference, each between two readings of the reference, stored
 * until a line is fitted to them.
 *
 *     reference | source | reference      the source was read somewhere between; the middle of the
 *               narrowest of some attempts is taken
 *
 * A track holds a limited number of points. When it is full, of each two neighbours only the one
 * with the narrower bracket is kept. From then on each point is the narrowest of twice as many
 * samples.
 */
#ifndef ETWAS_CLOCK_LAB_DRIFT_H
#define ETWAS_CLOCK_LAB_DRIFT_H

#include <etwas/clocks.h>
#include <stdint.h>

/*
 * A line through readings of one clock against another, and how precisely its slope is known.
 *
 * The line fits how far the clock is ahead of the reference, against a time that never steps.
 * Readings disturb the line in four ways, each of which is handled by itself:
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

enum {
    ETWAS_LAB_POINTS = 1024, /* the most that can be fitted */
};

struct etwas_lab_point {
    double at_ns;    /* since the first point, ascending */
    double ahead_ns; /* ahead of the reference, with any constant added */
    double width_ns; /* width of the bracket: ahead_ns is known ± half of it */
};

/*
 * Fits a line to `points`, at most ETWAS_LAB_POINTS, and changes them. `resolution_ns` is the
 * smallest step of the clock. The drift is not known with fewer than three points, or if steps
 * leave too few.
 */
void etwas_lab_fit(struct etwas_lab_point *points, uint32_t count, double resolution_ns,
                   etwas_clock_drift *drift);

/* ---- tracks ---------------------------------------------------------------------------------- */

struct etwas_lab_track {
    uint32_t count;
    uint32_t stride;  /* samples that make a point; 0: nothing was added yet */
    uint32_t pending; /* samples from which `best` was chosen so far */
    struct etwas_lab_point best;
    struct etwas_lab_point points[ETWAS_LAB_POINTS];
};

/* Adds a sample. A track begins zeroed. */
void etwas_lab_track_add(struct etwas_lab_track *track, const struct etwas_lab_point *point);

/* Makes a point from the pending samples. */
void etwas_lab_track_finish(struct etwas_lab_track *track);

/*
 * How wrong the cycle counter's stamps become if they are converted to time by a rate that differs
 * slightly from the counter's own.
 *
 *     counter runs at 3,000.75 MHz, converted by 3,001 MHz      -83.3 ppm, -7.5 s after 25 hours
 */

/*
 * Fills the conversions by three rates:
 *
 *     exact frequency  what CPUID, the hypervisor or CNTFRQ states; if nothing does, the rate
 *           measured over the whole examination, whose error is the interval alone
 *     whole MHz        the calibrated rate rounded, as CpuSpeedInMHz of a log file header is
 *     calibration      trust->frequency_hz, or, for a counter that is not trusted, 1e9 / tick_ns
 *
 * against_raw was measured for a source with tick_ns a tick. If it is not known, the calibration
 * replaces it, with its own bound. error_ppm > 0: stamps are too late, they gain that much;
 * after_…_ns has the same sign. All members but the names are 0 if the counter has no rate, or one
 * below a megahertz.
 */
void etwas_lab_report_conversions(const etwas_clock_trust *trust,
                                  const etwas_clock_drift *against_raw, double tick_ns,
                                  etwas_clock_conversion *conversions);

#endif
