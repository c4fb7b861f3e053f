/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 16, /* bins in a nanosecond, and in each doubling */
    PART_BITS = 4,
};

static uint32_t tally_bin_of(double ns)
{
    const double most = (double)(UINT64_C(1) << 59);
    uint64_t parts = (uint64_t)((ns < most ? ns : most - 1024) * PARTS);
    uint32_t shift;

    if (parts < PARTS) {
        return (uint32_t)parts;
    }
    shift = 63u - (uint32_t)__builtin_clzll(parts) - PART_BITS;
    return (shift + 1) * PARTS + (uint32_t)((parts >> shift) & (PARTS - 1));
}

/* Returns where bin `index` begins, in nanoseconds. */
static double tally_bin_start(uint32_t index)
{
    uint32_t shift;

    if (index < PARTS) {
        return (double)index / PARTS;
    }
    shift = index / PARTS - 1;
    return (double)((uint64_t)(PARTS + index % PARTS) << shift) / PARTS;
}

_Static_assert(ETWAS_LAB_TALLY_BINS == (63 - PART_BITS + 1) * PARTS,
               "the last bin ends where 64 bits do");

void etwas_lab_tally_add(struct etwas_lab_tally *tally, double ns)
{
    tally->counts[tally_bin_of(ns)]++;
}

void etwas_lab_tally_add_zeroes(struct etwas_lab_tally *tally, uint64_t count)
{
    tally->counts[0] += count;
}

/* Joins the two neighbours that together contain the fewest. */
static uint32_t tally_join_fewest(etwas_clock_bin *bins, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t index = 1; index + 1 < count; index++) {
        if (bins[index].count + bins[index + 1].count < bins[best].count + bins[best + 1].count) {
            best = index;
        }
    }
    bins[best].to = bins[best + 1].to;
    bins[best].count += bins[best + 1].count;
    memmove(&bins[best + 1], &bins[best + 2], (count - best - 2) * sizeof *bins);
    return count - 1;
}

void etwas_lab_tally_bins(const struct etwas_lab_tally *tally, etwas_clock_histogram *histogram)
{
    etwas_clock_bin bins[ETWAS_LAB_TALLY_BINS];
    uint32_t count = 0;

    for (uint32_t index = 0; index < ETWAS_LAB_TALLY_BINS; index++) {
        if (tally->counts[index] != 0) {
            bins[count++] = (etwas_clock_bin){tally_bin_start(index), tally_bin_start(index + 1),
                                              tally->counts[index]};
        }
    }
    while (count > ETWAS_CLOCK_BINS) {
        count = tally_join_fewest(bins, count);
    }
    histogram->bins = count;
    memcpy(histogram->bin, bins, count * sizeof *bins);
}

static int tally_compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

void etwas_lab_sort(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, tally_compare);
}

/* Returns the smallest value that `permille` of all values do not exceed. */
static double tally_quantile(const double *sorted, uint32_t count, uint32_t permille)
{
    uint64_t rank = ((uint64_t)count * permille + 999) / 1000;

    return sorted[rank > 0 ? rank - 1 : 0];
}

/* The values are sorted. Rounding must not carry the mean beyond them: they may all be equal. */
static double tally_mean_of(const double *values, uint32_t count)
{
    double sum = 0;

    for (uint32_t index = 0; index < count; index++) {
        sum += values[index];
    }
    return fmin(fmax(sum / count, values[0]), values[count - 1]);
}

void etwas_lab_distribution_of(double *values, uint32_t count,
                               etwas_clock_distribution *distribution)
{
    *distribution = (etwas_clock_distribution){.count = count};
    if (count == 0) {
        return;
    }
    etwas_lab_sort(values, count);
    distribution->minimum = values[0];
    distribution->median = tally_quantile(values, count, 500);
    distribution->mean = tally_mean_of(values, count - count / 100);
    distribution->p90 = tally_quantile(values, count, 900);
    distribution->p99 = tally_quantile(values, count, 990);
    distribution->p999 = tally_quantile(values, count, 999);
    distribution->maximum = values[count - 1];
}
