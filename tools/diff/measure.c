/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads a file and sums up its spans and other events, by class and slice.
 */

#include "diff/diff.h"

#include "event/event.h"
#include "event/names.h"
#include "exit.h"
#include "math/array.h"
#include "trace/moment.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_SLICE_NS = 1000000,
};

struct reading {
    struct etwas_diff *diff;
    struct etwas_diff_run *run;
    etwas_spans *spans;
    struct etwas_window window; /* resolved */
    struct etwas_descriptions descriptions;
    struct etwas_current_event current;
    bool *is_chosen; /* by the place of an open span: whether its START is chosen */
    size_t is_chosen_capacity;
    struct etwas_moment first; /* the moment of the first event */
    int64_t first_ns;          /* its time, as etwas_input_shown_ns returns it */
};

/* Merges adjacent slices in pairs, in all classes. */
static void fold(struct etwas_diff_run *run)
{
    run->slice_ns *= 2;
    for (uint32_t i = 0; i < ETWAS_SPAN_CLASSES; i++) {
        struct etwas_diff_sum *sums = run->sums[i];

        for (uint32_t slice = 0; sums != NULL && slice < ETWAS_DIFF_SLICES; slice++) {
            struct etwas_diff_sum sum = {0};

            if (slice < ETWAS_DIFF_SLICES / 2) {
                sum = sums[2 * slice];
                sum.count += sums[2 * slice + 1].count;
                sum.ns += sums[2 * slice + 1].ns;
                sum.logs += sums[2 * slice + 1].logs;
                sum.errors_ns += sums[2 * slice + 1].errors_ns;
            }
            sums[slice] = sum;
        }
    }
}

static void take_time(struct etwas_diff_run *run, int64_t time_ns)
{
    run->end_ns = time_ns > run->end_ns ? time_ns : run->end_ns;
    while (etwas_input_passed_ns(run->begin_ns, run->end_ns) / (uint64_t)run->slice_ns >=
           ETWAS_DIFF_SLICES) {
        fold(run);
    }
}

/* Converts a time of the file to the scale of moments. The first event is known in both. */
static int64_t moment_at(const struct reading *reading, int64_t time_ns)
{
    int64_t ns;

    if (__builtin_sub_overflow(time_ns, reading->first_ns, &ns) ||
        __builtin_add_overflow(ns, reading->first.ns, &ns)) {
        return reading->first.ns;
    }
    return ns;
}

/*
 * Fills the interval that the file covers within the window. Returns false if the file does not
 * state it.
 */
static bool says_span(const struct reading *reading, const struct etwas_input *input,
                      struct etwas_trace_coverage_span *span)
{
    return input->coverage.is_said && etwas_trace_coverage_span_of(input, &reading->window, span);
}

/*
 * Called at the first event. The run begins with it, or with the coverage if the file states it.
 * How long other sessions ran before their first event is not known.
 */
static void begin_run(struct reading *reading, const struct etwas_input *input,
                      const EVENT_RECORD *record, const struct etwas_moment *moment)
{
    struct etwas_diff_run *run = reading->run;
    struct etwas_trace_coverage_span span;

    reading->first = *moment;
    reading->first_ns = etwas_input_shown_ns(input, record);
    run->has_time = true;
    run->begin_ns =
        says_span(reading, input, &span) ? moment_at(reading, span.from_ns) : moment->ns;
    run->end_ns = run->begin_ns;
}

/* Called after the last event. The run ends with it, or with the coverage of the file. */
static void end_run(const struct reading *reading, const struct etwas_input *input)
{
    struct etwas_trace_coverage_span span;

    if (reading->run->has_time && says_span(reading, input, &span)) {
        take_time(reading->run, moment_at(reading, span.until_ns));
    }
}

/*
 * Returns the sums of the event's class in the event's slice; NULL if there are too many classes,
 * or no memory.
 */
static struct etwas_diff_sum *sum_of(struct reading *reading, const EVENT_RECORD *record,
                                     struct etwas_schema_texts *schema_texts, int64_t time_ns)
{
    struct etwas_diff_run *run = reading->run;
    uint64_t slice = etwas_input_passed_ns(run->begin_ns, time_ns) / (uint64_t)run->slice_ns;
    uint32_t class_index = etwas_span_classes_find(&reading->diff->names, schema_texts, record);

    if (class_index == UINT32_MAX) {
        reading->diff->other_classes++;
        return NULL;
    }
    if (run->sums[class_index] == NULL) {
        run->sums[class_index] = calloc(ETWAS_DIFF_SLICES, sizeof *run->sums[class_index]);
    }
    if (run->sums[class_index] == NULL) {
        reading->diff->out_of_memory = true;
        return NULL;
    }
    return &run->sums[class_index][slice];
}

static void count_span(struct etwas_diff_sum *sum, const etwas_span *span,
                       const struct etwas_moment *moment)
{
    sum->count++;
    if (span != NULL) {
        etwas_clock_time duration = etwas_moment_since(span, moment);
        double duration_ns = (double)duration.value;

        sum->ns += duration_ns;
        sum->logs += log(fmax(duration_ns, 1));
        sum->errors_ns += duration.error_ns == UINT64_MAX ? INFINITY : (double)duration.error_ns;
    }
}

/*
 * Sets *schema_texts to the description of the event. Returns false if the record is not an event
 * but describes the trace or other events.
 */
static bool describe(struct reading *reading, const EVENT_RECORD *record,
                     struct etwas_schema_texts **schema_texts)
{
    *schema_texts = etwas_descriptions_known(&reading->descriptions, record);
    if (*schema_texts != NULL) {
        return true;
    }
    if (etwas_event_is_image(record) || etwas_event_is_of_class(record, &etwas_names_own_class) ||
        etwas_descriptions_add_record(&reading->descriptions, record) == ERROR_SUCCESS) {
        return false;
    }
    *schema_texts = etwas_descriptions_find(&reading->descriptions, record, NULL);
    return true;
}

/* Returns whether --where chooses the event. A span is chosen by its START or its END. */
static bool is_chosen(struct reading *reading, const struct etwas_input *input,
                      const EVENT_RECORD *record, const etwas_span *span,
                      const struct etwas_moment *moment)
{
    etwas_clock_time duration = {0, UINT64_MAX};

    if (span != NULL) {
        duration = etwas_moment_since(span, moment);
    }
    return (span != NULL && span->place < reading->is_chosen_capacity &&
            reading->is_chosen[span->place]) ||
           etwas_condition_holds_for(&reading->diff->where, &reading->current, input, record,
                                     &reading->descriptions, span != NULL ? &duration : NULL);
}

/* Keeps whether --where chooses the START of a span. */
static void keep_choice(struct reading *reading, const struct etwas_input *input,
                        const EVENT_RECORD *record, const etwas_span *span)
{
    if (!etwas_where_is_given(&reading->diff->where)) {
        return;
    }
    if (!etwas_array_reach(&reading->is_chosen, &reading->is_chosen_capacity, span->place,
                           sizeof *reading->is_chosen)) {
        reading->diff->out_of_memory = true;
        return;
    }
    reading->is_chosen[span->place] = etwas_condition_holds_for(
        &reading->diff->where, &reading->current, input, record, &reading->descriptions, NULL);
}

/*
 * A span counts when it ends. A START or END without its counterpart does not count, since the
 * duration is not known.
 */
static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct reading *reading = input->context;
    struct etwas_schema_texts *schema_texts;
    struct etwas_moment moment;
    struct etwas_diff_sum *sum;
    const etwas_span *span;
    uint32_t kind;
    bool counts;

    etwas_descriptions_add_process(&reading->descriptions, input, record);
    if (etwas_event_is_header_class(record) || etwas_trace_coverage_is_window(record) ||
        etwas_trace_coverage_leaves_out_raw(&input->coverage,
                                            record->EventHeader.TimeStamp.QuadPart) ||
        !etwas_window_holds(&reading->window, input, record)) {
        return;
    }
    moment = etwas_moment_of(input, record);
    if (etwas_trace_coverage_is_event(input, record)) {
        if (!reading->run->has_time) {
            begin_run(reading, input, record, &moment);
        }
        take_time(reading->run, moment.ns);
    }
    kind = etwas_spans_take(reading->spans, record, 1, moment.raw, &span);
    counts = kind == ETWAS_SPAN_END;
    if (kind == ETWAS_SPAN_START) {
        etwas_steps_begin(input->steps, span);
        keep_choice(reading, input, record, span);
    }
    if (!counts) {
        span = NULL;
        counts = !etwas_span_name_is_of_span(record);
    }
    /* In a damaged file a time may precede the first one. It is in no slice. */
    if (!counts || !reading->run->has_time || moment.ns < reading->run->begin_ns ||
        !describe(reading, record, &schema_texts) ||
        !is_chosen(reading, input, record, span, &moment)) {
        return;
    }
    sum = sum_of(reading, record, schema_texts, moment.ns);
    if (sum != NULL) {
        count_span(sum, span, &moment);
    }
}

static int read_run(struct etwas_diff *diff, struct etwas_diff_run *run)
{
    static const struct etwas_input_callbacks callbacks = {.record = on_record,
                                                           .time = ETWAS_INPUT_RAW};
    struct reading reading = {.diff = diff, .run = run, .window = diff->window};
    struct etwas_input input;
    struct etwas_input_run files = {.inputs = &input, .count = 1};
    int result;

    if (!etwas_window_resolve(&reading.window, &etwas_diff_command, &run->path, 1, &result)) {
        return result;
    }
    run->slice_ns = FIRST_SLICE_NS;
    result = etwas_input_open(&input, run->path, 1, &callbacks, &reading);
    if (result != ETWAS_EXIT_DONE) {
        return result;
    }
    if (!etwas_descriptions_open(&reading.descriptions, run->path, &diff->field_paths,
                                 &diff->shared) ||
        etwas_spans_open(0, &reading.spans) != ERROR_SUCCESS) {
        diff->out_of_memory = true;
    }
    if (!diff->out_of_memory) {
        if (!etwas_where_wants_all(&diff->where)) {
            etwas_window_narrow(&reading.window, &files);
        }
        etwas_trace_coverage_read_ahead(&input, NULL);
        etwas_progress_start(&files.progress, false);
        result = etwas_input_process(&files);
        end_run(&reading, &input);
        etwas_input_warn(&input);
        run->place = input.place;
        run->events_lost = input.information.lost_events;
        (void)etwas_window_finish(&reading.window, "diff", &run->path, 1);
    }
    diff->out_of_memory |= reading.descriptions.out_of_memory;
    etwas_spans_close(reading.spans);
    etwas_current_event_free(&reading.current);
    free(reading.is_chosen);
    etwas_span_classes_forget(&diff->names);
    etwas_descriptions_report_left_out(reading.descriptions.decoder, reading.descriptions.path);
    etwas_descriptions_close(&reading.descriptions);
    return result;
}

/* ---- all files ------------------------------------------------------------------------------- */

static bool do_overlap(const struct etwas_diff_run *one, const struct etwas_diff_run *other)
{
    return one->has_time && other->has_time && one->begin_ns < other->end_ns &&
           other->begin_ns < one->end_ns;
}

/*
 * Sums up the events that the runs of a side lost. Several files of one session, such as
 * snapshots, count with the largest number alone. Also counts the runs that overlap another one of
 * their session.
 */
static void count_lost(struct etwas_diff *diff, unsigned side)
{
    const struct etwas_diff_run *runs = &diff->runs[side == 0 ? 0 : diff->counts[0]];

    for (uint32_t i = 0; i < diff->counts[side]; i++) {
        uint64_t before = 0;
        bool overlaps = false;

        for (uint32_t j = 0; j < i; j++) {
            if (runs[j].place == runs[i].place) {
                before = runs[j].events_lost > before ? runs[j].events_lost : before;
                overlaps |= do_overlap(&runs[i], &runs[j]);
            }
        }
        diff->overlapping[side] += overlaps;
        diff->events_lost[side] += runs[i].events_lost > before ? runs[i].events_lost - before : 0;
    }
}

static bool make_runs(struct etwas_diff *diff)
{
    uint32_t first = diff->counts[0];
    uint32_t second = diff->counts[1];

    diff->runs = calloc((size_t)first + second, sizeof *diff->runs);
    diff->all_paths = calloc((size_t)first + second, sizeof *diff->all_paths);
    if (diff->runs == NULL || diff->all_paths == NULL || !etwas_span_classes_open(&diff->names)) {
        return false;
    }
    for (uint32_t i = 0; i < first + second; i++) {
        diff->runs[i].path = i < first ? diff->paths[0][i] : diff->paths[1][i - first];
        diff->all_paths[i] = i < second ? diff->paths[1][i] : diff->paths[0][i - second];
    }
    etwas_shared_descriptions_open(&diff->shared, diff->all_paths, first + second);
    return true;
}

int etwas_diff_read(struct etwas_diff *diff)
{
    int result = ETWAS_EXIT_DONE;

    if (!make_runs(diff)) {
        diff->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    for (uint32_t i = 0; i < diff->counts[0] + diff->counts[1] && !diff->out_of_memory; i++) {
        int read = read_run(diff, &diff->runs[i]);

        if (read == ETWAS_EXIT_FAILED) {
            return read;
        }
        diff->has_events[i >= diff->counts[0]] |= diff->runs[i].has_time;
        result = result == ETWAS_EXIT_DONE ? read : result;
    }
    count_lost(diff, 0);
    count_lost(diff, 1);
    return result;
}

void etwas_diff_free(struct etwas_diff *diff)
{
    for (uint32_t i = 0; diff->runs != NULL && i < diff->counts[0] + diff->counts[1]; i++) {
        for (uint32_t class_index = 0; class_index < ETWAS_SPAN_CLASSES; class_index++) {
            free(diff->runs[i].sums[class_index]);
        }
    }
    free(diff->runs);
    free((void *)diff->all_paths);
    free(diff->classes);
    etwas_shared_descriptions_close(&diff->shared);
    etwas_span_classes_close(&diff->names);
}
