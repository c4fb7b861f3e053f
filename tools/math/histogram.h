/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_MATH_HISTOGRAM_H
#define ETWAS_TOOLS_MATH_HISTOGRAM_H

/*
 * Quantiles of any number of values in bounded memory. Values below 1,024 are counted exactly.
 * Larger ones are in cells whose width is at most 1/512 of their lower end. So a quantile is exact
 * to 0.1 %, and the minimum and maximum are exact. It takes up to 223 kB, which an octave uses only
 * when it has values.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_HISTOGRAM_CELLS = 512, /* in each octave */
    ETWAS_HISTOGRAM_OCTAVES = 56,
};

/* All zeroes: it is empty. */
struct etwas_histogram {
    uint64_t count;
    uint64_t least;
    uint64_t most;
    double sum;
    uint64_t *octaves[ETWAS_HISTOGRAM_OCTAVES]; /* NULL: the octave has no values */
};

struct etwas_quantile {
    uint64_t value;
    uint64_t error; /* the true value is within value ± error */
};

/* Returns false without memory; then the value was not added. */
bool etwas_histogram_add(struct etwas_histogram *histogram, uint64_t value);

/*
 * Returns the least value that `per_mille` of 1,000 values do not exceed: 500 is the median, 0 the
 * minimum, 1,000 the maximum. Returns 0 if there are no values.
 */
struct etwas_quantile etwas_histogram_quantile(const struct etwas_histogram *histogram,
                                               uint32_t per_mille);

/*
 * Returns how many values are at least `from` and less than `to`. Both must be the beginning of a
 * cell, such as powers of 2 and their multiples by 1/512.
 */
uint64_t etwas_histogram_between(const struct etwas_histogram *histogram, uint64_t from,
                                 uint64_t to);

/* Empties it, and frees its memory. */
void etwas_histogram_free(struct etwas_histogram *histogram);

#endif
