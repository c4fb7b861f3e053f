/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the events in order, and collects what is known of each. */

#include "convert/convert.h"
#include "exit.h"
#include "trace/condition.h"

#include <etwas/evntrace.h>
#include <stdio.h>

static void follow_span(struct etwas_convert *convert, const EVENT_RECORD *record, int64_t time_ns)
{
    convert->span_role = etwas_spans_take(convert->spans, record, convert->current.input->number,
                                          time_ns, &convert->span);
    if (convert->span_role == ETWAS_SPAN_END) {
        convert->current.has_duration =
            !__builtin_sub_overflow(time_ns, convert->span->start, &convert->current.duration_ns);
    }
}

static bool holds(struct etwas_convert *convert)
{
    return etwas_window_holds(&convert->window, convert->current.input, convert->current.record) &&
           (!etwas_where_is_given(&convert->where) ||
            etwas_condition_holds(&convert->where, &convert->current));
}

/* Returns whether the record is needed to symbolize addresses in other events. */
static bool is_of_addresses(const EVENT_RECORD *record)
{
    return etwas_event_is_image(record) || etwas_event_is_kernel_symbol(record);
}

static void tell_beside(struct etwas_convert *convert, const struct etwas_input *input,
                        const EVENT_RECORD *record)
{
    if (convert->reader->beside != NULL) {
        convert->reader->beside(convert, input, record);
    }
}

enum {
    NS_OF_SECOND = 1000000000,
};

/*
 * For a clock that counts nanoseconds, shown and recorded times differ by a constant for all events
 * of a file. One time per second is converted by the trace, and its error is used for the others.
 */
static etwas_clock_time time_of(struct etwas_convert *convert, const struct etwas_input *input,
                                int64_t raw)
{
    struct etwas_convert_clock *clock = &convert->clocks[input->number - 1];
    etwas_clock_time time = {0, UINT64_MAX};
    int64_t ns;

    if (clock->is_plain && !__builtin_add_overflow(raw, clock->offset_ns, &ns) &&
        (uint64_t)ns - (uint64_t)clock->asked_ns < NS_OF_SECOND) {
        return (etwas_clock_time){ns, clock->error_ns};
    }
    (void)etwas_trace_convert_time(input->trace, raw, ETWAS_CLOCK_PROCESS_TRACE, &time);
    clock->is_plain = clock->counts_ns && time.error_ns != UINT64_MAX &&
                      !__builtin_sub_overflow(time.value, raw, &clock->offset_ns);
    clock->asked_ns = time.value;
    clock->error_ns = time.error_ns;
    return time;
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct etwas_convert *convert = input->context;
    struct etwas_descriptions *descriptions = etwas_descriptions_of(&convert->descriptions, input);
    struct etwas_schema_texts *schema_texts = etwas_descriptions_known(descriptions, record);
    etwas_clock_time time;
    bool is_header;

    etwas_descriptions_add_process(descriptions, input, record);
    if (schema_texts == NULL) {
        if (etwas_descriptions_add_record(descriptions, record) == ERROR_SUCCESS) {
            tell_beside(convert, input, record);
            return;
        }
        schema_texts = etwas_descriptions_find(descriptions, record, NULL);
    }
    time = time_of(convert, input, record->EventHeader.TimeStamp.QuadPart);
    etwas_current_event_read(&convert->current, input, record, descriptions, schema_texts, NULL);
    etwas_current_event_find_provider(&convert->current);
    convert->time_ns = time.value;
    convert->error_ns = time.error_ns;
    if (convert->spans != NULL) {
        follow_span(convert, record, time.value);
    }
    is_header = etwas_event_is_header_class(record);
    convert->is_wanted = !is_header && holds(convert);
    if (convert->is_wanted || (convert->reader->wants_all && !is_header)) {
        convert->reader->event(convert);
    } else if (is_header || is_of_addresses(record)) {
        tell_beside(convert, input, record);
    }
    convert->run.stop |= convert->output != NULL && convert->output->error != 0;
}

/* Damage that OpenTrace found is reported before the first event. */
static void on_damage(const struct etwas_input *input, const etwas_damage *damage)
{
    struct etwas_convert *convert = input->context;

    if (convert->reader->gap != NULL) {
        convert->reader->gap(convert, input, damage);
    }
}

static bool counts_ns(const struct etwas_input *input)
{
    etwas_trace_information information;

    return etwas_trace_query(input->trace, &information) == ERROR_SUCCESS &&
           information.clock == ETWAS_CLOCK_QPC && information.clock_frequency == NS_OF_SECOND;
}

static int open_inputs(struct etwas_convert *convert)
{
    const struct etwas_input_callbacks callbacks = {
        .record = on_record, .damage = on_damage, .time = ETWAS_INPUT_BOTH};
    int result = etwas_input_open_all(&convert->run, convert->paths, convert->path_count,
                                      &callbacks, convert);

    for (uint32_t i = 0; i < convert->run.count; i++) {
        const struct etwas_input *input = &convert->run.inputs[i];
        struct etwas_trace_losses *losses = &convert->losses[input->number - 1];

        convert->clocks[input->number - 1] =
            (struct etwas_convert_clock){.counts_ns = counts_ns(input)};
        convert->out_of_memory |=
            !etwas_all_descriptions_add(&convert->descriptions, input, &convert->field_paths);
        etwas_trace_losses_free(losses); /* a second pass reads them again */
        convert->out_of_memory |= !etwas_trace_losses_read(losses, input->trace);
    }
    return result;
}

/* Closes inputs that will not be read. Returns `result`. */
static int give_up(struct etwas_convert *convert, int result)
{
    for (uint32_t i = 0; i < convert->run.count; i++) {
        CloseTrace(convert->run.inputs[i].trace);
    }
    etwas_spans_close(convert->spans);
    convert->spans = NULL;
    return result;
}

int etwas_convert_read(struct etwas_convert *convert, const struct etwas_convert_reader *reader)
{
    int result = open_inputs(convert);
    int processed;

    convert->reader = reader;
    convert->run.stop = false;
    if ((reader->wants_spans || convert->where.wants_duration) &&
        etwas_spans_open(0, &convert->spans) != ERROR_SUCCESS) {
        convert->out_of_memory = true;
    }
    if (convert->run.count == 0 || convert->out_of_memory) {
        return give_up(convert, ETWAS_EXIT_FAILED);
    }
    if (reader->begin != NULL && !reader->begin(convert)) {
        return give_up(convert, ETWAS_EXIT_OUTPUT);
    }
    /* Damage before the first event gets this time. */
    convert->time_ns = etwas_input_start_ns(&convert->run.inputs[0]);
    etwas_progress_start(&convert->run.progress, false);
    processed = etwas_input_process(&convert->run);
    etwas_spans_close(convert->spans);
    convert->spans = NULL;
    for (uint32_t i = 0; i < convert->run.count; i++) {
        const struct etwas_input *input = &convert->run.inputs[i];

        etwas_input_warn(input);
        if (input->information.repeated_lost_events != 0) { /* another file has the same losses */
            etwas_trace_losses_free(&convert->losses[input->number - 1]);
        }
    }
    return result == ETWAS_EXIT_DONE ? processed : result;
}

void etwas_convert_free(struct etwas_convert *convert)
{
    etwas_all_descriptions_finish(&convert->descriptions);
    for (uint32_t i = 0; i < ETWAS_INPUT_FILES; i++) {
        etwas_trace_losses_free(&convert->losses[i]);
    }
    etwas_current_event_free(&convert->current);
    etwas_output_free(&convert->scratch);
    etwas_where_clear(&convert->where);
}
