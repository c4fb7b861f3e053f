/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the files twice: first to find the slowest spans, then to find where their time went.
 */

#include "analyse/why/why.h"

#include "event/event.h"
#include "exit.h"

#include <stdlib.h>

/* ---- events ---------------------------------------------------------------------------------- */

static void take_span(struct etwas_why *why, const struct etwas_input *input,
                      const EVENT_RECORD *record, int64_t time_ns)
{
    const etwas_span *span;

    switch (etwas_spans_take(why->spans, record, input->number, time_ns, &span)) {
    case ETWAS_SPAN_START:
        etwas_why_start(why, input, record, span, etwas_why_class(why, input, record));
        etwas_why_count(why, input, span, record, time_ns);
        break;
    case ETWAS_SPAN_INSIDE:
        etwas_why_move(why, span, record->EventHeader.ThreadId, time_ns);
        etwas_why_count(why, input, span, record, time_ns);
        break;
    case ETWAS_SPAN_END:
        etwas_why_count(why, input, span, record, time_ns);
        etwas_why_end(why, input, record, span, time_ns);
        break;
    default:
        break;
    }
}

static void take_kernel(struct etwas_why *why, const struct etwas_input *input,
                        const EVENT_RECORD *record, struct etwas_kernel_event *event,
                        int64_t time_ns)
{
    if (why->follows) {
        if (event->kind == ETWAS_KERNEL_CALL_ENTER) {
            etwas_why_learn_calls(why, input, record);
        }
        etwas_why_kernel(why, input, record, event, time_ns);
        return;
    }
    why->kernel_end_ns = time_ns;
    if (event->kind == ETWAS_KERNEL_SWITCH && !why->has_kernel_events) {
        why->has_kernel_events = true;
        why->schedule.begins_late |= etwas_trace_coverage_begins_late(input);
    }
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct etwas_why *why = input->context;
    int64_t time_ns = etwas_input_monotonic_ns(input, record);
    struct etwas_kernel_event event;

    if (etwas_event_is_header_class(record)) {
        return;
    }
    if (!why->window.has_held) {
        (void)etwas_window_holds(&why->window, input, record);
    }
    if (!why->follows) {
        etwas_descriptions_add_process(etwas_descriptions_of(&why->descriptions, input), input,
                                       record);
        etwas_addresses_add_record(&why->addresses[input->number - 1], record);
        etwas_why_take_rung(why, record);
        why->recorded_flags |= etwas_event_kernel_flags(record);
    }
    if (etwas_kernel_is_file_name(record)) {
        etwas_file_names_add_record(&why->file_names, input->number, record, why->follows);
    }
    if (etwas_kernel_read(record, &event)) {
        take_kernel(why, input, record, &event, time_ns);
    } else if (etwas_kernel_is_process(record)) {
        if (why->follows) {
            etwas_processes_follow(&why->processes, &why->schedule, record, time_ns);
        }
    } else {
        take_span(why, input, record, time_ns);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool why_open(struct etwas_why *why)
{
    why->classes = calloc(ETWAS_WHY_CLASSES, sizeof *why->classes);
    why->slow = calloc((size_t)why->slowest + 1, sizeof *why->slow);
    why->chosen = calloc((size_t)why->slowest + 1, sizeof *why->chosen);
    why->runs = calloc(ETWAS_SCHEDULE_PROCESSORS, sizeof(struct etwas_why_runs *));
    why->addresses = calloc(ETWAS_INPUT_FILES, sizeof *why->addresses);
    return why->addresses != NULL && why->classes != NULL && why->slow != NULL &&
           why->chosen != NULL && why->runs != NULL && etwas_schedule_open(&why->schedule) &&
           etwas_processes_open(&why->processes) && etwas_file_names_open(&why->file_names);
}

void etwas_why_free(struct etwas_why *why)
{
    for (uint32_t i = 0; why->runs != NULL && i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        free(why->runs[i]);
    }
    for (uint32_t i = 0; why->addresses != NULL && i < ETWAS_INPUT_FILES; i++) {
        if (why->addresses[i].decoder != NULL) {
            etwas_addresses_close(&why->addresses[i]);
        }
    }
    etwas_all_descriptions_finish(&why->descriptions);
    etwas_current_event_free(&why->current);
    etwas_where_clear(&why->where);
    free(why->addresses);
    free((void *)why->runs);
    free(why->classes);
    free(why->slow);
    free(why->chosen);
    free(why->open);
    free(why->threads);
    etwas_spans_close(why->spans);
    etwas_processes_close(&why->processes);
    etwas_file_names_close(&why->file_names);
    etwas_schedule_close(&why->schedule);
}

/* Opens the descriptions and addresses of the files, unless an earlier reading did. */
static void prepare_inputs(struct etwas_why *why)
{
    for (uint32_t i = 0; i < why->run.count; i++) {
        struct etwas_input *input = &why->run.inputs[i];
        struct etwas_addresses *addresses = &why->addresses[input->number - 1];

        (void)etwas_trace_query(input->trace, &input->information);
        why->out_of_memory |= !etwas_all_descriptions_add(&why->descriptions, input, &why->paths) ||
                              (addresses->decoder == NULL && !etwas_addresses_open(addresses));
    }
}

/* Reads all files, from their beginning to their end. */
static int read_files(struct etwas_why *why, char *const *paths, uint32_t count)
{
    const struct etwas_input_callbacks callbacks = {.record = on_record, .time = ETWAS_INPUT_RAW};
    int result;
    int processed;

    why->run.count = 0;
    why->run.stop = false;
    etwas_spans_close(why->spans);
    if (etwas_spans_open(0, &why->spans) != ERROR_SUCCESS) {
        why->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    result = etwas_input_open_all(&why->run, paths, count, &callbacks, why);
    prepare_inputs(why);
    if (why->run.count == 0) {
        return result;
    }
    etwas_progress_start(&why->run.progress, false);
    processed = etwas_input_process(&why->run);
    return result == ETWAS_EXIT_DONE ? processed : result;
}

int etwas_why_read(struct etwas_why *why, char *const *paths, uint32_t count)
{
    int result;

    etwas_shared_descriptions_open(&why->descriptions.shared, paths, count);
    if (!why_open(why)) {
        why->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    result = read_files(why, paths, count);
    if (why->run.count == 0 || why->out_of_memory || why->where.error != NULL) {
        return result;
    }
    why->follows = true;
    why->other_classes = 0;
    why->schedule.interval = etwas_why_interval;
    why->schedule.context = why;
    result = read_files(why, paths, count);
    for (uint32_t i = 0; i < why->run.count; i++) {
        etwas_input_warn(&why->run.inputs[i]);
        why->events_lost += etwas_input_lost(&why->run.inputs[i]);
    }
    return result;
}
