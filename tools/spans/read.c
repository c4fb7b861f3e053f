/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Opens the files for their spans, and has the memory for what is known of them. */

#include "spans/spans.h"

#include "commands.h"

#include <stdlib.h>

bool etwas_spans_make_room(struct etwas_spans_request *request)
{
    request->classes = calloc(ETWAS_SPAN_CLASSES, sizeof *request->classes);
    request->trees = calloc((size_t)request->slowest + 1, sizeof *request->trees);
    request->out_of_memory = request->classes == NULL || request->trees == NULL ||
                             !etwas_span_classes_open(&request->names);
    return !request->out_of_memory;
}

void etwas_spans_free_room(struct etwas_spans_request *request)
{
    for (uint32_t i = 0; i < ETWAS_INPUT_FILES; i++) {
        if (request->descriptions[i].decoder != NULL) {
            etwas_descriptions_report_left_out(request->descriptions[i].decoder,
                                               request->descriptions[i].path);
            etwas_descriptions_close(&request->descriptions[i]);
        }
    }
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
        return ETWAS_EXIT_OPEN;
    }
    result = etwas_input_open_all(&request->run, paths, count, callbacks, context);
    for (uint32_t i = 0; i < request->run.count; i++) {
        const struct etwas_input *input = &request->run.inputs[i];
        struct etwas_descriptions *descriptions = &request->descriptions[input->number - 1];

        request->out_of_memory |=
            descriptions->decoder == NULL &&
            !etwas_descriptions_open(descriptions, input->path, &request->paths);
    }
    etwas_moments_align(&request->run);
    etwas_progress_start(&request->run.progress, false);
    return result;
}
