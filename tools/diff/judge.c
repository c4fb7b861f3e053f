/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "diff/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- chance ---------------------------------------------------------------------------------- */

/* SplitMix64. The seed is fixed, so that the same files give the same answer. */
static uint64_t draw(uint64_t *state)
{
    uint64_t value = *state += UINT64_C(0x9E3779B97F4A7C15);

    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

static uint32_t draw_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((draw(state) >> 32) * bound >> 32);
}

/* ---- differences ----------------------------------------------------------------------------- */

struct moments {
    double count;
    double mean;
    double squares; /* sum of the squared distances from the mean */
};

static void add_value(struct moments *moments, double value)
{
    double apart = value - moments->mean;

    if (!isnan(value)) {
        moments->count++;
        moments->mean += apart / moments->count;
        moments->squares += apart * (value - moments->mean);
    }
}

double etwas_diff_mean(const double *values, uint32_t count)
{
    struct moments moments = {0};

    for (uint32_t i = 0; i < count; i++) {
        add_value(&moments, values[i]);
    }
    return moments.count > 0 ? moments.mean : NAN;
}

/* Returns the absolute value of Welch's t; 0 if a side has fewer than two values. */
static double distance(const struct moments *one, const struct moments *other)
{
    double apart = fabs(one->mean - other->mean);
    double spread;

    if (one->count < 2 || other->count < 2 || apart <= 0) {
        return 0;
    }
    spread = sqrt(one->squares / (one->count - 1) / one->count +
                  other->squares / (other->count - 1) / other->count);
    return spread > apart * 1e-9 ? apart / spread : 1e9;
}

/* The first side gets the first units of `order`, the second side the others. */
static double distance_of(const struct etwas_diff_table *table, uint32_t row, const uint32_t *order)
{
    const double *values = etwas_diff_row(table, row);
    struct moments first = {0};
    struct moments second = {0};

    for (uint32_t i = 0; i < table->first + table->second; i++) {
        add_value(i < table->first ? &first : &second, values[order[i]]);
    }
    return distance(&first, &second);
}

static void deal(uint32_t *order, uint32_t count, uint64_t *state)
{
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = draw_below(state, i + 1);
        uint32_t kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
}

bool etwas_diff_judge(const struct etwas_diff_table *table, double *p)
{
    uint32_t units = table->first + table->second;
    uint32_t *order = malloc((units + 1) * sizeof *order);
    double *truth = malloc((table->rows + 1) * sizeof *truth);
    uint64_t state = 1;

    if (order == NULL || truth == NULL) {
        free(order);
        free(truth);
        return false;
    }
    for (uint32_t i = 0; i < units; i++) {
        order[i] = i;
    }
    for (uint32_t row = 0; row < table->rows; row++) {
        truth[row] = distance_of(table, row, order);
        p[row] = 1;
    }
    for (uint32_t turn = 1; turn < ETWAS_DIFF_DEALS; turn++) {
        double largest = 0;

        deal(order, units, &state);
        for (uint32_t row = 0; row < table->rows; row++) {
            largest = fmax(largest, distance_of(table, row, order));
        }
        for (uint32_t row = 0; row < table->rows; row++) {
            /* The tolerance covers the rounding of the same deal in another order. */
            p[row] += largest >= truth[row] * (1 - 1e-9);
        }
    }
    for (uint32_t row = 0; row < table->rows; row++) {
        p[row] /= ETWAS_DIFF_DEALS;
    }
    free(order);
    free(truth);
    return true;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static int compare_doubles(const void *left, const void *right)
{
    double first = *(const double *)left;
    double second = *(const double *)right;

    return first < second ? -1 : first > second;
}

static double resampled_mean(const double *values, uint32_t count, uint64_t *state)
{
    struct moments moments = {0};

    for (uint32_t i = 0; i < count; i++) {
        add_value(&moments, values[draw_below(state, count)]);
    }
    return moments.count > 0 ? moments.mean : NAN;
}

struct etwas_diff_interval etwas_diff_interval(const struct etwas_diff_table *table, uint32_t row,
                                               bool is_ratio, double confidence)
{
    const double *values = etwas_diff_row(table, row);
    double found[ETWAS_DIFF_RESAMPLES];
    uint32_t count = 0;
    uint64_t state = 1;

    for (uint32_t turn = 0; turn < ETWAS_DIFF_RESAMPLES; turn++) {
        double first = resampled_mean(values, table->first, &state);
        double second = resampled_mean(values + table->first, table->second, &state);
        double value = is_ratio ? second / first : second - first;

        if (!isnan(value)) {
            found[count++] = value;
        }
    }
    if (count == 0) {
        return (struct etwas_diff_interval){NAN, NAN};
    }
    qsort(found, count, sizeof *found, compare_doubles);
    return (struct etwas_diff_interval){found[(uint32_t)((count - 1) * (1 - confidence) / 2)],
                                        found[(uint32_t)ceil((count - 1) * (1 + confidence) / 2)]};
}
