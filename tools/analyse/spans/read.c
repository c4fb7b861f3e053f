/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the files of `etwas spans`, and allocates the tables of spans. */

#include "analyse/spans/spans.h"

#include "event/event.h"
#include "exit.h"

#include <stdlib.h>

bool etwas_spans_make_room(struct etwas_spans_request *request, char *const *paths, uint32_t count)
{
    etwas_shared_descriptions_open(&request->descriptions.shared, paths, count);
    request->classes = calloc(ETWAS_SPAN_CLASSES, sizeof *request->classes);
    request->trees = calloc((size_t)request->slowest + 1, sizeof *request->trees);
    request->out_of_memory = request->classes == NULL || request->trees == NULL ||
                             !etwas_span_classes_open(&request->names);
    return !request->out_of_memory;
}

void etwas_spans_free_room(struct etwas_spans_request *request)
{
    etwas_all_descriptions_finish(&request->descriptions);
    for (uint32_t i = 0; request->classes != NULL && i < request->names.count; i++) {
        etwas_histogram_free(&request->classes[i].durations);
        etwas_histogram_free(&request->classes[i].selves);
    }
    for (uint32_t i = 0; request->trees != NULL && i < request->tree_count; i++) {
        free(request->trees[i].nodes);
    }
    free(request->trees);
    etwas_span_classes_close(&request->names);
    free(request->classes);
    free(request->open);
    etwas_spans_close(request->spans);
    etwas_current_event_free(&request->current);
    etwas_where_clear(&request->where);
}

int etwas_spans_open_files(struct etwas_spans_request *request, char *const *paths, uint32_t count,
                           const struct etwas_input_callbacks *callbacks, void *context)
{
    int result;

    request->run.count = 0;
    etwas_spans_close(request->spans);
    if (etwas_spans_open(request->most_open, &request->spans) != ERROR_SUCCESS) {
        request->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    result = etwas_input_open_all(&request->run, paths, count, callbacks, context);
    for (uint32_t i = 0; i < request->run.count; i++) {
        request->out_of_memory |= !etwas_all_descriptions_add(
            &request->descriptions, &request->run.inputs[i], &request->paths);
    }
    etwas_moments_align(&request->run);
    etwas_progress_start(&request->run.progress, false);
    return result;
}

/* ---- all files, for `etwas spans` ------------------------------------------------------------ */

static void on_record(EVENT_RECORD *record)
{
    struct etwas_input *input = record->UserContext;
    struct etwas_spans_request *request = input->context;
    struct etwas_moment moment;

    etwas_trace_coverage_add_record(input, record);
    etwas_descriptions_add_process(etwas_descriptions_of(&request->descriptions, input), input,
                                   record);
    if (etwas_event_is_header_class(record) ||
        !etwas_window_holds(&request->window, input, record)) {
        return;
    }
    moment = etwas_moment_of(input, record);
    etwas_spans_follow(request, record, &moment);
}

/* Reads the part of all files that is in the window. */
static int read_files(struct etwas_spans_request *request, char *const *paths, uint32_t count)
{
    const struct etwas_input_callbacks callbacks = {.record = on_record, .time = ETWAS_INPUT_RAW};
    int result = etwas_spans_open_files(request, paths, count, &callbacks, request);
    int processed;

    if (request->run.count == 0 || request->out_of_memory) {
        return result;
    }
    if (!etwas_where_wants_all(&request->where)) {
        etwas_window_narrow(&request->window, &request->run);
    }
    for (uint32_t i = 0; i < request->run.count; i++) {
        etwas_trace_coverage_read_ahead(&request->run.inputs[i], &request->window);
    }
    processed = etwas_input_process(&request->run);
    request->covered_ns = etwas_trace_coverage_together(&request->run, &request->window);
    return result == ETWAS_EXIT_DONE ? processed : result;
}

int etwas_spans_read(struct etwas_spans_request *request, char *const *paths, uint32_t count)
{
    int result;

    if (!etwas_spans_make_room(request, paths, count)) {
        return ETWAS_EXIT_FAILED;
    }
    result = read_files(request, paths, count);
    if (request->run.count == 0 || request->out_of_memory) {
        return result;
    }
    etwas_spans_settle(request);
    if (request->tree_count > 0 && request->where.error == NULL) {
        etwas_spans_begin_again(request);
        result = read_files(request, paths, count);
    }
    for (uint32_t i = 0; i < request->run.count; i++) {
        etwas_input_warn(&request->run.inputs[i]);
        request->events_lost += etwas_input_lost(&request->run.inputs[i]);
    }
    return result;
}
