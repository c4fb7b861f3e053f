/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The JSON of Chrome's about:tracing, for what still wants it: spans as asynchronous events, which need
 * not be inside of one another, and all other events as instants of their threads.
 */

#include "commands.h"
#include "convert/convert.h"
#include "json.h"
#include "span_name.h"

/* Microseconds since the first file's session began, to the nanosecond: more digits than a double has left. */
static void put_time(struct etwas_convert *convert)
{
    int64_t start_ns = etwas_input_start_ns(&convert->run.inputs[0]);
    bool is_before = convert->time_ns < start_ns;
    uint64_t ns = is_before ? etwas_input_passed_ns(convert->time_ns, start_ns)
                            : etwas_input_passed_ns(start_ns, convert->time_ns);

    etwas_json_key(convert->output, "ts");
    if (is_before) {
        etwas_output_char(convert->output, '-');
    }
    etwas_output_unsigned(convert->output, ns / 1000);
    etwas_output_format(convert->output, ".%03u", (unsigned)(ns % 1000));
}

static void put_thread(struct etwas_output *output, uint32_t process, uint32_t thread)
{
    etwas_json_number(output, "pid", process != ETWAS_EVENT_UNKNOWN_ID ? process : 0);
    etwas_json_number(output, "tid", thread != ETWAS_EVENT_UNKNOWN_ID ? thread : 0);
}

/* The same of a span's START and END. */
static void put_span_name(struct etwas_convert *convert)
{
    char name[ETWAS_SPAN_NAME_BYTES];

    etwas_span_name_make(name, convert->subject.described, convert->subject.record);
    etwas_json_text(convert->output, "name", name);
}

static void put_name(struct etwas_convert *convert)
{
    struct etwas_event_string name = etwas_subject_string(&convert->subject, ETWAS_PROPERTY_EVENT);

    etwas_json_key(convert->output, "name");
    etwas_output_char(convert->output, '"');
    if (name.text != NULL) {
        etwas_text_utf8(convert->output, ETWAS_TEXT_JSON, name.text, name.bytes);
    } else {
        etwas_subject_put_title(convert->output, ETWAS_TEXT_JSON, &convert->subject);
    }
    etwas_output_char(convert->output, '"');
}

static void put_category(struct etwas_convert *convert)
{
    struct etwas_event_string provider =
        etwas_subject_string(&convert->subject, ETWAS_PROPERTY_PROVIDER);

    if (provider.text != NULL) {
        etwas_json_key(convert->output, "cat");
        etwas_output_char(convert->output, '"');
        etwas_text_utf8(convert->output, ETWAS_TEXT_JSON, provider.text, provider.bytes);
        etwas_output_char(convert->output, '"');
    }
}

static void put_arguments(struct etwas_convert *convert)
{
    struct etwas_fields_rest rest;

    if (convert->subject.described != NULL) {
        etwas_json_key(convert->output, "args");
        etwas_fields_put_json(convert->output, convert->subject.described, convert->subject.record,
                              &rest);
    }
}

static void put_event(struct etwas_convert *convert)
{
    bool is_edge = convert->span_role == ETWAS_SPAN_START || convert->span_role == ETWAS_SPAN_END;
    const struct etwas_event *event = &convert->subject.event;

    etwas_output_text(convert->output, ",\n{\"ph\":\"");
    etwas_output_char(convert->output, !is_edge                                 ? 'i'
                                       : convert->span_role == ETWAS_SPAN_START ? 'b'
                                                                                : 'e');
    etwas_output_char(convert->output, '"');
    put_time(convert);
    put_category(convert);
    if (is_edge) {
        /* Where it began: both ends are of one process, so that they find each other. */
        put_thread(convert->output, convert->span->process, convert->span->thread);
        put_span_name(convert);
        etwas_output_format(convert->output, ",\"id\":\"0x%llx\"",
                            (unsigned long long)convert->span->number);
    } else {
        put_thread(convert->output, event->process, event->thread);
        etwas_json_text(convert->output, "s", "t");
        put_name(convert);
    }
    put_arguments(convert);
    etwas_output_char(convert->output, '}');
}

static void put_gap(struct etwas_convert *convert, const struct etwas_input *input,
                    const etwas_damage *damage)
{
    etwas_output_text(convert->output, ",\n{\"ph\":\"i\",\"s\":\"g\"");
    put_time(convert);
    put_thread(convert->output, ETWAS_EVENT_UNKNOWN_ID, ETWAS_EVENT_UNKNOWN_ID);
    etwas_json_text(convert->output, "name", "damaged");
    etwas_json_key(convert->output, "args");
    etwas_output_text(convert->output, "{\"file\":");
    etwas_json_string(convert->output, input->path);
    etwas_json_text(convert->output, "what", etwas_damage_name(damage->kind));
    etwas_json_number(convert->output, "bytes_skipped", damage->bytes_skipped);
    etwas_output_text(convert->output, "}}");
}

static int run(struct etwas_convert *convert)
{
    static const struct etwas_convert_reader reader = {
        .wants_spans = true, .event = put_event, .gap = put_gap};
    int result;

    etwas_output_text(convert->output, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                                       "{\"ph\":\"M\",\"name\":\"tool\",\"pid\":0,"
                                       "\"args\":{\"name\":\"etwas\"}}");
    result = etwas_convert_read(convert, &reader);
    etwas_output_text(convert->output, "\n]");
    for (uint32_t i = 0; i < convert->run.count; i++) {
        const struct etwas_input *input = &convert->run.inputs[i];

        etwas_output_text(convert->output, i == 0 ? ",\"otherData\":[" : ",");
        etwas_input_put_json(convert->output, input, input->damage_count > 0);
        etwas_json_key(convert->output, "began");
        etwas_output_char(convert->output, '"');
        etwas_text_time_ns(convert->output, etwas_input_start_ns(input));
        etwas_output_text(convert->output, "\"}");
    }
    etwas_output_text(convert->output, convert->run.count > 0 ? "]}\n" : "}\n");
    return result;
}

const struct etwas_convert_target etwas_convert_chrome = {.name = "chrome", .run = run};
