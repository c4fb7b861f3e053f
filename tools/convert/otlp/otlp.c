/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas convert --to otlp`.
 */

#include "convert/otlp/otlp.h"

#include "exit.h"
#include "print/text.h"

#include <etwas/evntrace.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns a copy of the session's name, as JSON. The input owns the name until it is closed. NULL
 * if memory runs out.
 */
static char *service_of(const struct etwas_input *input)
{
    struct etwas_output text = {.bytes = NULL};
    char *service;
    const etwas_wchar *name = input->logfile.LogfileHeader.LoggerName;
    size_t units = 0;

    while (units < ETWAS_OTLP_SCOPE_BYTES && name[units] != 0) {
        units++;
    }
    etwas_text_utf16(etwas_output_anew(&text), ETWAS_TEXT_JSON, name, units);
    service = etwas_output_copy(&text);
    etwas_output_free(&text);
    return service;
}

static bool begin(struct etwas_convert *convert)
{
    struct etwas_otlp *otlp = convert->state;

    otlp->last_ns = etwas_input_start_ns(&convert->run.inputs[0]);
    for (uint32_t index = 0; index < convert->run.count; index++) {
        const struct etwas_input *input = &convert->run.inputs[index];

        otlp->services[input->number - 1] = service_of(input);
        convert->out_of_memory |= otlp->services[input->number - 1] == NULL;
    }
    return !convert->out_of_memory;
}

/* Spans that are not wanted are followed too: wanted events may be inside them. */
static void on_event(struct etwas_convert *convert)
{
    struct etwas_otlp *otlp = convert->state;

    otlp->last_ns = convert->time_ns;
    if (convert->span_role == ETWAS_SPAN_START || convert->span_role == ETWAS_SPAN_END) {
        etwas_otlp_span(otlp);
    } else if (convert->is_wanted) {
        etwas_otlp_log(otlp);
    }
}

static void on_gap(struct etwas_convert *convert, const struct etwas_input *input,
                   const etwas_damage *damage)
{
    etwas_otlp_log_damage(convert->state, input, damage);
}

static void end(struct etwas_otlp *otlp)
{
    etwas_otlp_end_spans(otlp);
    for (uint32_t index = 0; index < otlp->convert->run.count; index++) {
        etwas_otlp_log_losses(otlp, &otlp->convert->run.inputs[index]);
    }
    etwas_otlp_end_lines(otlp);
}

static int run(struct etwas_convert *convert)
{
    static const struct etwas_convert_reader reader = {
        .wants_spans = true, .begin = begin, .wants_all = true, .event = on_event, .gap = on_gap};
    struct etwas_otlp *otlp = calloc(1, sizeof *otlp);
    int result;

    if (otlp == NULL) {
        convert->out_of_memory = true;
        return ETWAS_EXIT_FAILED;
    }
    otlp->convert = convert;
    convert->state = otlp;
    result = etwas_convert_read(convert, &reader);
    if (!convert->out_of_memory) { /* else the output is dropped */
        end(otlp);
    }
    for (uint32_t place = 0; place < otlp->open_capacity; place++) {
        free(otlp->open[place].text);
    }
    free(otlp->open);
    for (uint32_t index = 0; index < convert->path_count; index++) {
        free(otlp->services[index]);
    }
    for (uint32_t kind = 0; kind < ETWAS_OTLP_KINDS; kind++) {
        free(otlp->batches[kind].bytes);
    }
    etwas_output_free(&otlp->item);
    free(otlp);
    convert->state = NULL;
    return result;
}

const struct etwas_convert_target etwas_convert_otlp = {.name = "otlp", .run = run};
