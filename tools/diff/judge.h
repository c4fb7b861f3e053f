/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_DIFF_JUDGE_H
#define ETWAS_TOOLS_DIFF_JUDGE_H

/*
 * Whether two sides differ, and in which of many rows. What is taken as independent is a unit, a
 * run or a block of time, and never an event: those of one run are alike for reasons of that run.
 *
 * Units are dealt to the two sides anew, many times. A row differs as surely as its difference is
 * larger than the largest of all rows in so many of these deals (Westfall and Young's maximum): so
 * the promise is of all rows together, however many there are and however they hang together.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_DIFF_DEALS = 10000,    /* the true one among them */
    ETWAS_DIFF_RESAMPLES = 2000, /* for an interval */
    ETWAS_DIFF_LEAST_UNITS = 4,  /* a side: 70 ways to deal eight */
};

/* Values by row and unit, those of the first side first; NaN: the unit has none. */
struct etwas_diff_table {
    double *values;
    uint32_t rows;
    uint32_t first;  /* units of the first side */
    uint32_t second; /* and of the second */
};

static inline double *etwas_diff_row(const struct etwas_diff_table *table, uint32_t row)
{
    return &table->values[(uint64_t)row * (table->first + table->second)];
}

/* Returns the mean of the units of one side that have a value; NaN if none has. */
double etwas_diff_mean(const double *values, uint32_t count);

/*
 * p[row]: in so large a part of the deals some row differs as much as this one does in truth. False
 * without memory.
 */
bool etwas_diff_judge(const struct etwas_diff_table *table, double *p);

struct etwas_diff_interval {
    double low;
    double high;
};

/*
 * The difference of the sides' means, second - first, or with `is_ratio` second / first: where the
 * middle `confidence` (0.95) of the resampled ones lie. NaN where a side has no value.
 */
struct etwas_diff_interval etwas_diff_interval(const struct etwas_diff_table *table, uint32_t row,
                                               bool is_ratio, double confidence);

#endif
