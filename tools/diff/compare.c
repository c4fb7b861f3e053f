/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Compares what was read from the files, and finds the classes that differ.
 */

#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>

static const double ns_per_s = 1e9;

/* ---- units ----------------------------------------------------------------------------------- */

/* Returns how many slices a run fills. A last slice that is not full is left out. */
static uint32_t slices_of(const struct etwas_diff_run *run)
{
    return run->has_time ? (uint32_t)(etwas_input_passed_ns(run->begin_ns, run->end_ns) /
                                      (uint64_t)run->slice_ns)
                         : 0;
}

static struct etwas_diff_sum sum_of(const struct etwas_diff_run *run, uint32_t class_index,
                                    uint32_t from, uint32_t to)
{
    struct etwas_diff_sum sum = {0};

    for (uint32_t slice = from; run->sums[class_index] != NULL && slice < to; slice++) {
        sum.count += run->sums[class_index][slice].count;
        sum.ns += run->sums[class_index][slice].ns;
        sum.logs += run->sums[class_index][slice].logs;
        sum.errors_ns += run->sums[class_index][slice].errors_ns;
    }
    return sum;
}

static double value_of(enum etwas_diff_measure measure, const struct etwas_diff_sum *sum,
                       double seconds)
{
    double number = (double)sum->count;

    switch (measure) {
    case ETWAS_DIFF_TYPICAL:
        return sum->count > 0 ? sum->logs / number : NAN;
    case ETWAS_DIFF_MEAN:
        return sum->count > 0 ? sum->ns / number : NAN;
    default:
        return seconds > 0 ? number / seconds : 0;
    }
}

/* Fills the rows of one class: one row for each measure, one value for each unit. */
static void fill(const struct etwas_diff *diff, const struct etwas_diff_table *table,
                 uint32_t first_row, const struct etwas_diff_class *its)
{
    uint32_t unit = 0;

    for (uint32_t i = 0; i < diff->counts[0] + diff->counts[1]; i++) {
        const struct etwas_diff_run *run = &diff->runs[i];
        uint32_t pieces = diff->by_runs ? 1 : slices_of(run);
        double seconds = (double)(diff->by_runs ? etwas_input_passed_ns(run->begin_ns, run->end_ns)
                                                : (uint64_t)run->slice_ns) /
                         ns_per_s;

        for (uint32_t piece = 0; piece < pieces; piece++, unit++) {
            struct etwas_diff_sum sum = diff->by_runs
                                            ? sum_of(run, its->number, 0, ETWAS_DIFF_SLICES)
                                            : sum_of(run, its->number, piece, piece + 1);

            for (unsigned measure = 0; measure < ETWAS_DIFF_MEASURES; measure++) {
                etwas_diff_row(table, first_row + measure)[unit] =
                    its->is_of_span || measure == ETWAS_DIFF_RATE
                        ? value_of((enum etwas_diff_measure)measure, &sum, seconds)
                        : NAN;
            }
        }
    }
}

static void count_units(struct etwas_diff *diff)
{
    diff->by_runs =
        diff->counts[0] >= ETWAS_DIFF_LEAST_UNITS && diff->counts[1] >= ETWAS_DIFF_LEAST_UNITS;
    for (uint32_t i = 0; i < diff->counts[0] + diff->counts[1]; i++) {
        diff->units[i >= diff->counts[0]] += diff->by_runs ? 1 : slices_of(&diff->runs[i]);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

static bool was_there(const struct etwas_diff *diff, uint32_t class_index,
                      struct etwas_diff_class *its)
{
    double errors_ns[2] = {0, 0};

    *its = (struct etwas_diff_class){.number = class_index,
                                     .is_of_span = diff->names.all[class_index].is_of_span};
    for (uint32_t i = 0; i < diff->counts[0] + diff->counts[1]; i++) {
        struct etwas_diff_sum sum = sum_of(&diff->runs[i], class_index, 0, ETWAS_DIFF_SLICES);

        its->counts[i >= diff->counts[0]] += sum.count;
        errors_ns[i >= diff->counts[0]] += sum.errors_ns;
    }
    for (unsigned side = 0; side < 2; side++) {
        its->error_ns[side] =
            its->counts[side] > 0 ? errors_ns[side] / (double)its->counts[side] : 0;
    }
    return its->counts[0] + its->counts[1] > 0;
}

/*
 * Returns whether the clocks' errors alone may explain the difference. Unknown errors explain
 * nothing.
 */
static bool is_within_errors(const struct etwas_diff_class *its, enum etwas_diff_measure measure,
                             const struct etwas_diff_finding *finding)
{
    double error_ns = its->error_ns[0] + its->error_ns[1];

    return measure != ETWAS_DIFF_RATE && isfinite(error_ns) &&
           fabs(finding->second - finding->first) <= error_ns;
}

static void find_quantile(const struct etwas_diff *diff, const struct etwas_diff_table *table,
                          uint32_t row, double p, enum etwas_diff_measure measure,
                          struct etwas_diff_class *its)
{
    struct etwas_diff_finding *finding = &its->findings[measure];
    const double *values = etwas_diff_row(table, row);
    bool is_log = measure == ETWAS_DIFF_TYPICAL;

    finding->first = etwas_diff_mean(values, table->first);
    finding->second = etwas_diff_mean(values + table->first, table->second);
    finding->interval = etwas_diff_interval(table, row, !is_log, diff->confidence);
    if (is_log) {
        finding->first = exp(finding->first);
        finding->second = exp(finding->second);
        finding->interval.low = exp(finding->interval.low);
        finding->interval.high = exp(finding->interval.high);
    }
    finding->ratio = finding->second / finding->first;
    finding->p = p;
    finding->differs =
        p <= 1 - diff->confidence &&
        (finding->ratio >= 1 + diff->effect || finding->ratio <= 1 / (1 + diff->effect)) &&
        !is_within_errors(its, measure, finding);
}

static void weigh(struct etwas_diff_class *its)
{
    double busy[2];

    for (unsigned side = 0; side < 2; side++) {
        const struct etwas_diff_finding *mean = &its->findings[ETWAS_DIFF_MEAN];
        const struct etwas_diff_finding *rate = &its->findings[ETWAS_DIFF_RATE];
        double ns = side == 0 ? mean->first : mean->second;

        busy[side] = isnan(ns) ? 0 : ns / ns_per_s * (side == 0 ? rate->first : rate->second);
    }
    its->weight = fabs(busy[1] - busy[0]);
}

static bool differs(const struct etwas_diff_class *its)
{
    for (unsigned measure = 0; measure < ETWAS_DIFF_MEASURES; measure++) {
        if (its->findings[measure].differs) {
            return true;
        }
    }
    return false;
}

static int by_what_matters(const void *left, const void *right)
{
    const struct etwas_diff_class *first = left;
    const struct etwas_diff_class *second = right;

    if (differs(first) != differs(second)) {
        return differs(first) ? -1 : 1;
    }
    if (first->weight < second->weight || first->weight > second->weight) {
        return first->weight < second->weight ? 1 : -1;
    }
    return first->number < second->number ? -1 : 1;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void judge(struct etwas_diff *diff, const struct etwas_diff_table *table, double *p)
{
    if (!etwas_diff_judge(table, p)) {
        diff->out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < diff->class_count; i++) {
        struct etwas_diff_class *its = &diff->classes[i];

        for (unsigned measure = 0; measure < ETWAS_DIFF_MEASURES; measure++) {
            uint32_t row = i * ETWAS_DIFF_MEASURES + measure;

            find_quantile(diff, table, row, p[row], (enum etwas_diff_measure)measure, its);
        }
        weigh(its);
        diff->differing += differs(its);
    }
    qsort(diff->classes, diff->class_count, sizeof *diff->classes, by_what_matters);
}

bool etwas_diff_compare(struct etwas_diff *diff)
{
    struct etwas_diff_table table = {0};
    double *p;

    count_units(diff);
    diff->classes = calloc((size_t)diff->names.count + 1, sizeof *diff->classes);
    for (uint32_t i = 0; diff->classes != NULL && i < diff->names.count; i++) {
        diff->class_count += was_there(diff, i, &diff->classes[diff->class_count]) &&
                             etwas_span_classes_is(&diff->names, i, diff->class_name);
    }
    if (diff->units[0] < ETWAS_DIFF_LEAST_UNITS || diff->units[1] < ETWAS_DIFF_LEAST_UNITS) {
        return false;
    }
    table.rows = diff->class_count * ETWAS_DIFF_MEASURES;
    table.first = diff->units[0];
    table.second = diff->units[1];
    table.values = calloc((size_t)table.rows * (table.first + table.second) + 1, sizeof(double));
    p = calloc((size_t)table.rows + 1, sizeof *p);
    if (diff->classes == NULL || table.values == NULL || p == NULL) {
        diff->out_of_memory = true;
    } else {
        for (uint32_t i = 0; i < diff->class_count; i++) {
            fill(diff, &table, i * ETWAS_DIFF_MEASURES, &diff->classes[i]);
        }
        judge(diff, &table, p);
    }
    free(table.values);
    free(p);
    return true;
}
