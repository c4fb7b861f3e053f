/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_MATH_HISTOGRAM_H
#define ETWAS_TOOLS_MATH_HISTOGRAM_H

/*
 * Quantiles of any number of values in bounded memory: values below 1,024 are counted one by one,
 * larger ones in cells that are 1/512 of their lower end wide at the most. So a quantile is known
 * to 0.1 %, the least and the largest value exactly. At most 223 kB, a cell's neighbourhood only
 * where there are values.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_HISTOGRAM_CELLS = 512, /* from a power of 2 to the next */
    ETWAS_HISTOGRAM_OCTAVES = 56,
};

/* Zeroed, it is empty. */
struct etwas_histogram {
    uint64_t count;
    uint64_t least;
    uint64_t most;
    double sum;
    uint64_t *octaves[ETWAS_HISTOGRAM_OCTAVES]; /* NULL: no value is there */
};

struct etwas_quantile {
    uint64_t value;
    uint64_t error; /* the true one is within value ± error */
};

/* False without memory: then it has no value more. */
bool etwas_histogram_add(struct etwas_histogram *histogram, uint64_t value);

/*
 * The least value that so many of 1,000 values do not exceed: 500 is the median, 0 the least, 1,000
 * the largest. 0 of none.
 */
struct etwas_quantile etwas_histogram_quantile(const struct etwas_histogram *histogram,
                                               uint32_t per_mille);

/*
 * How many values are from `from` on and below `to`, both of which begin cells: powers of 2 and
 * their 512ths do.
 */
uint64_t etwas_histogram_between(const struct etwas_histogram *histogram, uint64_t from,
                                 uint64_t to);

/* It is empty again. */
void etwas_histogram_free(struct etwas_histogram *histogram);

#endif
