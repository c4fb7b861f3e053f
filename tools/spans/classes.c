/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The classes of spans. What a schema's class is, is looked up by name once.
 */

#include "spans/spans.h"

#include <stdlib.h>
#include <string.h>

static const double ns_per_s = 1e9;

static uint32_t find_by_name(struct etwas_spans_request *request,
                             const struct etwas_described *described, const EVENT_RECORD *record)
{
    const etwas_guid *guid = &record->EventHeader.ProviderId;
    char name[ETWAS_SPAN_NAME_BYTES];

    etwas_span_name_make(name, described, record);
    for (uint32_t i = 0; i < request->class_count; i++) {
        const struct etwas_spans_class *known = &request->classes[i];

        if (memcmp(&known->guid, guid, sizeof *guid) == 0 && strcmp(known->name, name) == 0) {
            return i;
        }
    }
    if (request->class_count == ETWAS_SPANS_CLASSES) {
        return UINT32_MAX;
    }
    request->classes[request->class_count].guid = *guid;
    memcpy(request->classes[request->class_count].name, name, sizeof name);
    return request->class_count++;
}

static struct etwas_spans_memo *memo_of(const struct etwas_spans_request *request,
                                        const struct etwas_described *described,
                                        const etwas_guid *guid)
{
    uint64_t words[2];
    uint64_t hash;

    memcpy(words, guid, sizeof words);
    hash = (words[0] ^ words[1] ^ (uintptr_t)described) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        struct etwas_spans_memo *memo = &request->memo[i % ETWAS_SPANS_MEMO];

        if (memo->class_number == 0 ||
            (memo->described == described && memcmp(&memo->guid, guid, sizeof *guid) == 0)) {
            return memo;
        }
    }
}

uint32_t etwas_spans_class(struct etwas_spans_request *request,
                           const struct etwas_described *described, const EVENT_RECORD *record)
{
    const etwas_guid *guid = &record->EventHeader.ProviderId;
    struct etwas_spans_memo *memo = memo_of(request, described, guid);
    uint32_t found;

    if (memo->class_number != 0) {
        return memo->class_number - 1;
    }
    found = find_by_name(request, described, record);
    /* Half of them stay empty, so that a search ends. */
    if (found != UINT32_MAX && request->memo_count < ETWAS_SPANS_MEMO / 2) {
        *memo = (struct etwas_spans_memo){described, *guid, found + 1};
        request->memo_count++;
    }
    return found;
}

bool etwas_spans_class_is_asked_for(const struct etwas_spans_request *request, uint32_t class_index)
{
    return class_index != UINT32_MAX &&
           (request->class_name == NULL ||
            etwas_span_name_is(request->classes[class_index].name,
                               &request->classes[class_index].guid, request->class_name));
}

bool etwas_spans_has_class(const struct etwas_spans_request *request)
{
    for (uint32_t i = 0; i < request->class_count; i++) {
        if (etwas_spans_class_is_asked_for(request, i)) {
            return true;
        }
    }
    return request->other_classes > 0;
}

/* ---- as they are shown ----------------------------------------------------------------------- */

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
        calloc((size_t)request->class_count + 1, sizeof(const struct etwas_spans_class *));

    *count = 0;
    for (uint32_t i = 0; sorted != NULL && i < request->class_count; i++) {
        const struct etwas_spans_class *its = &request->classes[i];

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
    return request->has_time ? (double)(request->end_ns - request->begin_ns) / ns_per_s : 0;
}

double etwas_spans_rate(const struct etwas_spans_request *request,
                        const struct etwas_spans_class *its)
{
    double seconds = etwas_spans_seconds(request);

    return seconds > 0 ? (double)its->durations.count / seconds : 0;
}

double etwas_spans_at_once(const struct etwas_spans_request *request,
                           const struct etwas_spans_class *its)
{
    double seconds = etwas_spans_seconds(request);

    return seconds > 0 ? its->durations.sum / ns_per_s / seconds : 0;
}

uint64_t etwas_spans_error(const struct etwas_spans_class *its, struct etwas_quantile quantile)
{
    uint64_t error_ns;

    return __builtin_add_overflow(its->error_ns, quantile.error, &error_ns) ? UINT64_MAX : error_ns;
}
