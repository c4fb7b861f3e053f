/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counts of durations: a distribution of durations in memory, and a tally of any number of them.
 * The tally's bins grow with their values; each is at most a sixteenth as wide as its values.
 */
#ifndef ETWAS_CLOCK_LAB_TALLY_H
#define ETWAS_CLOCK_LAB_TALLY_H

#include <etwas/clocks.h>
#include <stdint.h>

enum {
    /* From 0 to 2^59 ns: 16 bins of 1/16 ns, then 16 for each doubling. */
    ETWAS_LAB_TALLY_BINS = 960,
};

struct etwas_lab_tally {
    uint64_t counts[ETWAS_LAB_TALLY_BINS];
};

/* Counts a duration that is not negative. Durations beyond the last bin count in it. */
void etwas_lab_tally_add(struct etwas_lab_tally *tally, double ns);

/* Counts the duration 0 `count` times. */
void etwas_lab_tally_add_zeroes(struct etwas_lab_tally *tally, uint64_t count);

/*
 * Fills the histogram with the bins that are not empty. If they are too many, neighbours with the
 * fewest are joined.
 */
void etwas_lab_tally_bins(const struct etwas_lab_tally *tally, etwas_clock_histogram *histogram);

/* Sorts in ascending order. */
void etwas_lab_sort(double *values, uint32_t count);

/* Fills the distribution and sorts the values. `count` 0 gives zeroes. */
void etwas_lab_distribution_of(double *values, uint32_t count,
                               etwas_clock_distribution *distribution);

#endif
