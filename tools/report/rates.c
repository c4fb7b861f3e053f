/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The events over time, by name. Kinds with the same name are one, in all files. */

#include "report/report.h"

#include "print/json.h"

#include <stdlib.h>

enum {
    OTHERS = ETWAS_REPORT_NAMES
};

/* A kind of event in a file with its name, while rows are assigned. */
struct kind {
    char *name; /* as in a JSON string, without quotes */
    uint64_t events;
    uint64_t outside;
    struct etwas_report_file *file;
    uint32_t number;
};

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct kind *)left)->name, ((const struct kind *)right)->name);
}

static int compare_events(const void *left, const void *right)
{
    const struct kind *first = left;
    const struct kind *second = right;

    return first->events != second->events ? (first->events < second->events ? 1 : -1)
                                           : compare_names(left, right);
}

static char *name_of(const struct etwas_counts_kind *kind)
{
    struct etwas_output name = {.bytes = NULL};
    char *copy;

    etwas_counts_print_title(etwas_output_anew(&name), ETWAS_TEXT_JSON, kind);
    copy = etwas_output_copy(&name);
    etwas_output_free(&name);
    return copy;
}

static size_t kind_count(const struct etwas_report *report)
{
    size_t count = 0;

    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        count += etwas_report_file_of(report, &report->spans.run.inputs[i])->asked_for->kind_count;
    }
    return count;
}

/* Returns false without memory. */
static bool add_kinds(struct etwas_report_file *file, struct kind *kinds)
{
    struct etwas_counts_kind **sorted = etwas_counts_sorted_kinds(file->asked_for);

    file->name_rows = malloc(file->asked_for->kind_count + 1);
    if (sorted == NULL || file->name_rows == NULL) {
        free(sorted);
        return false;
    }
    memset(file->name_rows, OTHERS, file->asked_for->kind_count);
    file->name_count = file->asked_for->kind_count;
    for (uint32_t i = 0; i < file->asked_for->kind_count; i++) {
        kinds[i] = (struct kind){name_of(sorted[i]), sorted[i]->count.events, sorted[i]->outside,
                                 file, sorted[i]->number};
        if (kinds[i].name == NULL) {
            free(sorted);
            return false;
        }
    }
    free(sorted);
    return true;
}

/* Adds up kinds with the same name in the first of them. They are sorted by name. */
static void add_up(struct kind *kinds, size_t count)
{
    size_t first = 0;

    for (size_t i = 1; i < count; i++) {
        if (strcmp(kinds[i].name, kinds[first].name) != 0) {
            first = i;
        } else {
            kinds[first].events += kinds[i].events;
            kinds[first].outside += kinds[i].outside;
            kinds[i].events = 0;
        }
    }
}

static uint32_t row_of(const struct etwas_report_rates *rates, const char *name)
{
    uint32_t row = 0;

    while (row < rates->count && strcmp(rates->names[row].text, name) != 0) {
        row++;
    }
    return row < rates->count ? row : OTHERS;
}

static void give_rows(struct etwas_report_rates *rates, struct kind *kinds, size_t count)
{
    qsort(kinds, count, sizeof *kinds, compare_names);
    add_up(kinds, count);
    qsort(kinds, count, sizeof *kinds, compare_events);
    for (size_t i = 0; i < count && kinds[i].events > 0; i++) {
        if (rates->count < ETWAS_REPORT_NAMES) {
            rates->names[rates->count++] =
                (struct etwas_report_name){kinds[i].name, kinds[i].events, kinds[i].outside};
        } else {
            rates->other_names++;
            rates->other_events += kinds[i].events;
            rates->other_outside += kinds[i].outside;
        }
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t row = row_of(rates, kinds[i].name);

        kinds[i].file->name_rows[kinds[i].number] = (uint8_t)row;
        if (row == OTHERS || kinds[i].name != rates->names[row].text) {
            free(kinds[i].name);
        }
    }
}

void etwas_report_rates_choose(struct etwas_report *report)
{
    size_t count = kind_count(report);
    struct kind *kinds = calloc(count + 1, sizeof *kinds);
    size_t used = 0;

    report->out_of_memory |= kinds == NULL;
    for (uint32_t i = 0; i < report->spans.run.count && !report->out_of_memory; i++) {
        struct etwas_report_file *file = etwas_report_file_of(report, &report->spans.run.inputs[i]);

        report->out_of_memory = !add_kinds(file, kinds + used);
        report->rates.other_events += file->asked_for->other_kinds.events;
        report->rates.other_outside += file->asked_for->other_outside;
        used += file->asked_for->kind_count;
    }
    if (!report->out_of_memory) {
        give_rows(&report->rates, kinds, count);
    }
    free(kinds);
}

void etwas_report_rates_add_record(struct etwas_report *report)
{
    struct etwas_report_file *file = etwas_report_file_of(report, report->input);
    const struct etwas_counts_kind *kind = etwas_counts_kind_of(file->asked_for, report->record);
    bool is_known = kind != NULL && kind->number < file->name_count;
    uint32_t row = is_known ? file->name_rows[kind->number] : OTHERS;

    report->rates.series[row].at[report->axis.now]++;
}

static void put_rate(struct etwas_output *output, const struct etwas_report *report,
                     const char *key, uint64_t events, uint64_t outside)
{
    etwas_json_real(output, key,
                    etwas_trace_coverage_rate(events - outside, report->spans.covered_ns));
}

void etwas_report_rates_json(struct etwas_output *output, const struct etwas_report *report)
{
    const struct etwas_report_rates *rates = &report->rates;

    etwas_json_array(output, "by_event");
    for (uint32_t i = 0; i < rates->count; i++) {
        etwas_json_object(output, NULL);
        etwas_json_key(output, "event");
        etwas_output_char(output, '"');
        etwas_output_text(output, rates->names[i].text);
        etwas_output_char(output, '"');
        etwas_json_number(output, "events", rates->names[i].events);
        put_rate(output, report, "rate", rates->names[i].events, rates->names[i].outside);
        etwas_report_print_series(output, "over_time", &report->axis, &rates->series[i]);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "other_kinds", rates->other_names);
    etwas_json_number(output, "other_events", rates->other_events);
    put_rate(output, report, "other_rate", rates->other_events, rates->other_outside);
    etwas_report_print_series(output, "other_over_time", &report->axis, &rates->series[OTHERS]);
}

void etwas_report_rates_free(struct etwas_report *report)
{
    for (uint32_t i = 0; i < report->rates.count; i++) {
        free(report->rates.names[i].text);
    }
}
