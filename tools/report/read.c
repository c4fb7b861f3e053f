/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the files twice, and passes each event to the parts that count it. */

#include "report/report.h"

#include "event/event.h"
#include "exit.h"

#include <stdlib.h>

struct etwas_report_file *etwas_report_file_of(const struct etwas_report *report,
                                               const struct etwas_input *input)
{
    return report->files[input->number - 1];
}

int etwas_report_result(const struct etwas_input *input)
{
    return input->damage_count > 0 || input->information.damages > 0 ? ETWAS_EXIT_DAMAGED
                                                                     : ETWAS_EXIT_DONE;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void count_record(struct etwas_report *report, struct etwas_report_file *file)
{
    if (etwas_counts_add(&file->counts, report->input, report->record, report->time_ns)) {
        bool is_chosen = etwas_report_is_asked_for(report);

        if (report->is_inside) {
            etwas_report_axis_note(&report->axis, report->time_ns);
        }
        if (is_chosen &&
            (file->asked_for == &file->counts ||
             etwas_counts_add(file->asked_for, report->input, report->record, report->time_ns))) {
            etwas_report_streams_note(report);
        }
    }
    etwas_prove_add(file->session, report->record);
}

static void move_to(struct etwas_report *report, uint32_t column)
{
    if (column > report->axis.now) {
        etwas_report_latencies_close(report);
        etwas_report_heap_close(report, column);
        report->axis.now = column;
    }
}

static void follow(struct etwas_report *report, struct etwas_report_file *file)
{
    if (report->is_inside) {
        move_to(report, etwas_report_axis_column(&report->axis, report->time_ns));
    }
    if (etwas_counts_is_event(&file->counts, report->input, report->record)) {
        etwas_report_losses_add_record(report);
        if (etwas_report_is_asked_for(report)) {
            etwas_report_rates_add_record(report);
            etwas_report_streams_add_record(report);
        }
    }
}

static void on_record(EVENT_RECORD *record)
{
    struct etwas_input *input = record->UserContext;
    struct etwas_report *report = input->context;
    struct etwas_report_file *file = etwas_report_file_of(report, input);

    report->input = input;
    report->record = record;
    report->time_ns = etwas_input_unix_ns(input, record);
    report->moment = etwas_moment_of(input, record);
    etwas_trace_coverage_add_record(input, record);
    if (!report->spans.finds_trees) {
        etwas_descriptions_add_process(etwas_descriptions_of(&report->spans.descriptions, input),
                                       input, record);
    }
    report->is_inside = etwas_window_holds(&report->spans.window, input, record);
    if (report->spans.finds_trees) {
        follow(report, file);
    } else {
        count_record(report, file);
    }
    /* Threads and heap blocks depend on all earlier events, so they are left out of a window. */
    if (!etwas_window_is_set(&report->spans.window)) {
        etwas_heap_add_record(&file->heap.heap, record);
        etwas_cpu_add_record(&file->usage.cpu, input, record, report->time_ns);
    }
    if (report->is_inside && !etwas_event_is_header_class(record)) {
        etwas_spans_follow(&report->spans, record, &report->moment);
    }
}

static void on_damage(const struct etwas_input *input, const etwas_damage *damage)
{
    struct etwas_report *report = input->context;

    if (report->spans.finds_trees) {
        etwas_report_losses_damage(report, input, damage);
    }
}

static void on_span_end(void *context, const struct etwas_spans_open *open, uint64_t duration_ns)
{
    etwas_report_latencies_add_record(context, open, duration_ns);
}

static void on_tree_event(void *context, const struct etwas_spans_open *open)
{
    etwas_report_trees_add_record(context, open);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Prepares a file for the first reading. Returns false without memory. */
static bool add_file(struct etwas_report *report, struct etwas_input *input, uint32_t index)
{
    struct etwas_report_file *file = calloc(1, sizeof *file);
    struct etwas_descriptions *descriptions =
        etwas_descriptions_of(&report->spans.descriptions, input);

    if (file == NULL) {
        return false;
    }
    report->files[input->number - 1] = file;
    file->index = index;
    file->counts.parts = &report->parts;
    file->counts.descriptions = descriptions;
    file->counts.losses = &file->losses;
    file->narrowed.descriptions = descriptions;
    file->narrowed.window = report->spans.window;
    file->asked_for = etwas_report_is_narrowed(report) ? &file->narrowed : &file->counts;
    file->session = etwas_prove_session_of(&report->sessions, input, report->path_count);
    return etwas_trace_losses_read(&file->losses, input->trace) && file->session != NULL &&
           etwas_cpu_open(&file->usage.cpu, input);
}

static void end_file(struct etwas_report *report, struct etwas_input *input)
{
    struct etwas_report_file *file = etwas_report_file_of(report, input);
    int result = etwas_report_result(input);

    file->tells_again = input->information.repeated_lost_events != 0;
    etwas_counts_describe(file->asked_for);
    etwas_prove_end_file(file->session, input, result);
    etwas_cpu_finish(&file->usage.cpu, input, result);
    report->out_of_memory |= file->counts.out_of_memory || file->narrowed.out_of_memory ||
                             file->session->out_of_memory || file->heap.heap.out_of_memory ||
                             file->usage.cpu.schedule.out_of_memory ||
                             file->usage.cpu.processes.out_of_memory;
}

/*
 * Adds to each file's counts what other files of the same place counted, since a record in several
 * files is delivered once.
 */
static void count_beside(struct etwas_report *report)
{
    const struct etwas_input_run *run = &report->spans.run;

    for (uint32_t i = 0; i < run->count; i++) {
        struct etwas_counts *counts = &etwas_report_file_of(report, &run->inputs[i])->counts;

        for (uint32_t j = 0; j < run->count; j++) {
            const struct etwas_input *other = &run->inputs[j];
            const struct etwas_counts *its = &etwas_report_file_of(report, other)->counts;

            if (i != j && other->place == run->inputs[i].place) {
                counts->events_beside += etwas_counts_total(its).events;
                counts->kernel_beside += its->kernel_no_room + its->kernel_lost;
            }
        }
    }
}

static int open_files(struct etwas_report *report, char *const *paths, uint32_t path_count)
{
    const struct etwas_input_callbacks callbacks = {
        .record = on_record, .damage = on_damage, .time = ETWAS_INPUT_BOTH};
    int result = etwas_spans_open_files(&report->spans, paths, path_count, &callbacks, report);

    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        /* The whole file is read, so its first and last event will be found. */
        etwas_trace_coverage_read_ahead(&report->spans.run.inputs[i], NULL);
    }
    report->out_of_memory |= report->spans.out_of_memory || !etwas_report_asked_begin(report);
    return result;
}

static int read_first(struct etwas_report *report, char *const *paths, uint32_t path_count)
{
    struct etwas_input_run *run = &report->spans.run;
    int result = open_files(report, paths, path_count);
    int processed;

    for (uint32_t i = 0; i < run->count && !report->out_of_memory; i++) {
        report->out_of_memory = !add_file(report, &run->inputs[i], i);
    }
    if (run->count == 0 || report->out_of_memory) {
        return ETWAS_EXIT_FAILED;
    }
    processed = etwas_input_process(run);
    report->spans.covered_ns = etwas_trace_coverage_together(run, &report->spans.window);
    etwas_spans_settle(&report->spans);
    for (uint32_t i = 0; i < run->count; i++) {
        end_file(report, &run->inputs[i]);
        etwas_input_warn(&run->inputs[i]);
    }
    count_beside(report);
    for (struct etwas_prove_session *session = report->sessions; session != NULL;
         session = session->next) {
        etwas_prove_judge(session, &report->parts);
    }
    return result == ETWAS_EXIT_DONE ? processed : result;
}

/* Reads again, for what is shown over time. The files' heaps and processors start anew. */
static void read_second(struct etwas_report *report, char *const *paths, uint32_t path_count)
{
    struct etwas_input_run *run = &report->spans.run;

    etwas_spans_begin_again(&report->spans);
    report->spans.listener = (struct etwas_spans_listener){
        .context = report, .ended = on_span_end, .event = on_tree_event};
    (void)open_files(report, paths, path_count);
    for (uint32_t i = 0; i < run->count && !report->out_of_memory; i++) {
        /* A file that could not be opened the first time was not counted. */
        report->out_of_memory = etwas_report_file_of(report, &run->inputs[i]) == NULL;
        if (!report->out_of_memory) {
            etwas_report_usage_choose(report, &run->inputs[i]);
            /* The first reading found out whether another file reports the same losses. */
            report->out_of_memory = !etwas_report_file_of(report, &run->inputs[i])->tells_again &&
                                    !etwas_report_losses_read(report, &run->inputs[i]);
        }
    }
    if (report->out_of_memory) {
        return;
    }
    (void)etwas_input_process(run);
    etwas_report_latencies_close(report);
    etwas_report_heap_close(report, report->axis.columns);
    for (uint32_t i = 0; i < run->count; i++) {
        etwas_report_usage_finish(report, &run->inputs[i]);
    }
}

int etwas_report_read(struct etwas_report *report, char *const *paths, uint32_t count_of_paths)
{
    int result;

    report->path_count = count_of_paths;
    report->out_of_memory = !etwas_parts_read(&report->parts, paths, count_of_paths) ||
                            !etwas_spans_make_room(&report->spans, paths, count_of_paths);
    if (report->out_of_memory) {
        return ETWAS_EXIT_FAILED;
    }
    result = read_first(report, paths, count_of_paths);
    if (report->spans.run.count == 0 || report->out_of_memory) {
        return ETWAS_EXIT_FAILED;
    }
    etwas_report_axis_divide(&report->axis);
    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        etwas_report_heap_choose(report, &report->spans.run.inputs[i]);
    }
    etwas_report_rates_choose(report);
    etwas_report_streams_choose(report);
    etwas_report_latencies_choose(report);
    etwas_report_trees_choose(report);
    if (!report->out_of_memory) {
        read_second(report, paths, count_of_paths);
    }
    report->out_of_memory |= report->spans.out_of_memory || report->current.out_of_memory ||
                             report->spans.current.out_of_memory ||
                             report->filtered.out_of_memory ||
                             !etwas_all_descriptions_are_whole(&report->spans.descriptions);
    return result;
}

void etwas_report_free(struct etwas_report *report)
{
    struct etwas_prove_session *next;

    for (uint32_t i = 0; i < report->path_count && i < ETWAS_INPUT_FILES; i++) {
        struct etwas_report_file *file = report->files[i];

        if (file != NULL) {
            etwas_report_usage_free(&file->usage);
            etwas_heap_clear(&file->heap.heap);
            etwas_counts_clear(&file->counts);
            etwas_counts_clear(&file->narrowed);
            etwas_trace_losses_free(&file->losses);
            free(file->name_rows);
            free(file);
        }
    }
    for (struct etwas_prove_session *session = report->sessions; session != NULL; session = next) {
        next = session->next;
        etwas_prove_clear(session);
        free(session);
    }
    etwas_report_rates_free(report);
    etwas_report_latencies_free(report);
    etwas_report_trees_free(report);
    etwas_current_event_free(&report->current);
    etwas_current_event_free(&report->filtered);
    etwas_output_free(&report->scratch);
    etwas_spans_close(report->durations);
    etwas_parts_free(&report->parts);
    etwas_spans_free_room(&report->spans);
}
