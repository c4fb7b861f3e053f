/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The classes of spans: sorting, and values for output.
 */

#include "analyse/spans/spans.h"

#include <math.h>
#include <stdlib.h>

static const double ns_per_s = 1e9;

bool etwas_spans_class_is_asked_for(const struct etwas_spans_request *request, uint32_t class_index)
{
    return etwas_span_classes_is(&request->names, class_index, request->class_name);
}

static int compare_classes(const void *left, const void *right)
{
    const struct etwas_spans_class *first = *(const struct etwas_spans_class *const *)left;
    const struct etwas_spans_class *second = *(const struct etwas_spans_class *const *)right;

    if (first->durations.sum != second->durations.sum) {
        return first->durations.sum < second->durations.sum ? 1 : -1;
    }
    return first < second ? -1 : 1;
}

const struct etwas_spans_class **etwas_spans_sorted(const struct etwas_spans_request *request,
                                                    uint32_t *count)
{
    const struct etwas_spans_class **sorted =
        calloc((size_t)request->names.count + 1, sizeof(const struct etwas_spans_class *));

    *count = 0;
    for (uint32_t i = 0; sorted != NULL && i < request->names.count; i++) {
        struct etwas_spans_class *its = &request->classes[i];

        its->named = &request->names.all[i];
        if (its->durations.count + its->unfinished + its->unmatched > 0) {
            sorted[(*count)++] = its;
        }
    }
    if (sorted != NULL) {
        qsort(sorted, *count, sizeof(const struct etwas_spans_class *), compare_classes);
    }
    return sorted;
}

const uint32_t etwas_spans_quantiles[ETWAS_SPANS_QUANTILES] = {0, 500, 900, 990, 999, 1000};
const char *const etwas_spans_quantile_names[ETWAS_SPANS_QUANTILES] = {"min", "p50",   "p90",
                                                                       "p99", "p99_9", "max"};

double etwas_spans_seconds(const struct etwas_spans_request *request)
{
    return (double)request->covered_ns / ns_per_s;
}

double etwas_spans_rate(const struct etwas_spans_request *request,
                        const struct etwas_spans_class *its)
{
    return etwas_trace_coverage_rate(its->durations.count - its->outside, request->covered_ns);
}

double etwas_spans_at_once(const struct etwas_spans_request *request,
                           const struct etwas_spans_class *its)
{
    double seconds = etwas_spans_seconds(request);

    return seconds > 0 ? (its->durations.sum - its->outside_ns) / ns_per_s / seconds : NAN;
}
