/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DIFF_JUDGE_H
#define ETWAS_TOOLS_DIFF_JUDGE_H

/*
 * A permutation test: whether two sides differ, and in which of many rows. Units, which are runs or
 * blocks of time, are taken as independent. Events are not: those of one run have common causes.
 *
 * The units are dealt to the two sides at random, many times. The p of a row is the share of deals
 * in which the largest difference of all rows reaches the row's own (Westfall and Young's maximum).
 * So the confidence holds for all rows together, whatever their number and correlation.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_DIFF_DEALS = 10000,    /* including the original one */
    ETWAS_DIFF_RESAMPLES = 2000, /* for one interval */
    ETWAS_DIFF_LEAST_UNITS = 4,  /* for each side: there are 70 ways to deal 4 + 4 units */
};

/* Values by row and unit, the units of the first side first. NaN: the unit has no value. */
struct etwas_diff_table {
    double *values;
    uint32_t rows;
    uint32_t first;  /* units of the first side */
    uint32_t second; /* units of the second side */
};

static inline double *etwas_diff_row(const struct etwas_diff_table *table, uint32_t row)
{
    return &table->values[(uint64_t)row * (table->first + table->second)];
}

/* Returns the mean of the values that are not NaN; NaN if there are none. */
double etwas_diff_mean(const double *values, uint32_t count);

/*
 * Sets p[row] to the share of deals in which some row differs at least as much as this row does in
 * the original one. Returns false if there is no memory.
 */
bool etwas_diff_judge(const struct etwas_diff_table *table, double *p);

struct etwas_diff_interval {
    double low;
    double high;
};

/*
 * Returns the bootstrap interval of second - first, or second / first with `is_ratio`, of the
 * sides' means. `confidence` is the share of resampled values in it, such as 0.95. NaN: a side has
 * no value.
 */
struct etwas_diff_interval etwas_diff_interval(const struct etwas_diff_table *table, uint32_t row,
                                               bool is_ratio, double confidence);

#endif
