/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The target `chrome`: the JSON of Chrome's about:tracing, for viewers that still need it. Spans
 * are asynchronous events, which need not be nested. All other events are instants of their
 * threads.
 */

#include "convert/convert.h"
#include "event/marks.h"
#include "exit.h"
#include "print/json.h"
#include "trace/span_name.h"

/*
 * Writes microseconds since the session of the first file began, with three decimals. A double
 * would have too few digits.
 */
static void put_time(struct etwas_convert *convert, int64_t time_ns)
{
    int64_t start_ns = etwas_input_start_ns(&convert->run.inputs[0]);
    bool is_before = time_ns < start_ns;
    uint64_t ns = is_before ? etwas_input_passed_ns(time_ns, start_ns)
                            : etwas_input_passed_ns(start_ns, time_ns);

    etwas_json_key(convert->output, "ts");
    if (is_before) {
        etwas_output_char(convert->output, '-');
    }
    etwas_output_unsigned(convert->output, ns / 1000);
    etwas_output_format(convert->output, ".%03u", (unsigned)(ns % 1000));
}

/*
 * Writes the id, or "unknown" as a text, which viewers treat as a separate process. 0 would be an
 * existing process.
 */
static void put_id(struct etwas_output *output, const char *key, uint32_t id)
{
    if (id != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_json_number(output, key, id);
    } else {
        etwas_json_text(output, key, "unknown");
    }
}

static void put_thread(struct etwas_output *output, uint32_t process, uint32_t thread)
{
    put_id(output, "pid", process);
    put_id(output, "tid", thread);
}

/* Writes the span's name, which is the same for START and END. */
static void put_span_name(struct etwas_convert *convert)
{
    char name[ETWAS_SPAN_NAME_BYTES];

    etwas_span_name_make(name, convert->current.schema_texts, convert->current.record);
    etwas_json_text(convert->output, "name", name);
}

static void put_name(struct etwas_convert *convert)
{
    struct etwas_event_string name =
        etwas_current_event_string(&convert->current, ETWAS_PROPERTY_EVENT);

    etwas_json_key(convert->output, "name");
    etwas_output_char(convert->output, '"');
    if (name.text != NULL) {
        etwas_text_utf8(convert->output, ETWAS_TEXT_JSON, name.text, name.bytes);
    } else {
        etwas_current_event_print_title(convert->output, ETWAS_TEXT_JSON, &convert->current);
    }
    etwas_output_char(convert->output, '"');
}

static void put_category(struct etwas_convert *convert)
{
    struct etwas_event_string provider =
        etwas_current_event_string(&convert->current, ETWAS_PROPERTY_PROVIDER);

    if (provider.text != NULL) {
        etwas_json_key(convert->output, "cat");
        etwas_output_char(convert->output, '"');
        etwas_text_utf8(convert->output, ETWAS_TEXT_JSON, provider.text, provider.bytes);
        etwas_output_char(convert->output, '"');
    }
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Writes the members of "args": the fields, and further members with names that no field has. */
struct arguments {
    struct etwas_output *output;
    bool has_any;
};

static void put_key(struct arguments *arguments, const char *key)
{
    etwas_output_text(arguments->output, arguments->has_any ? ",\"" : "\"");
    etwas_output_text(arguments->output, key);
    etwas_output_text(arguments->output, "\":");
    arguments->has_any = true;
}

static void put_text(struct arguments *arguments, const char *key, const char *text, size_t bytes)
{
    put_key(arguments, key);
    etwas_output_char(arguments->output, '"');
    etwas_text_utf8(arguments->output, ETWAS_TEXT_JSON, text, bytes);
    etwas_output_char(arguments->output, '"');
}

static void put_hex(struct arguments *arguments, const char *key, const void *data, size_t bytes)
{
    put_key(arguments, key);
    etwas_output_char(arguments->output, '"');
    etwas_output_hex(arguments->output, data, bytes);
    etwas_output_char(arguments->output, '"');
}

static void put_rest(struct arguments *arguments, const struct etwas_fields_rest *rest)
{
    if (rest->truncated != NULL) {
        put_text(arguments, "etwas.truncated", rest->truncated, strlen(rest->truncated));
    }
    if (rest->undescribed != NULL) {
        put_text(arguments, "etwas.undescribed", rest->undescribed, strlen(rest->undescribed));
    }
    if (rest->truncated != NULL || rest->undescribed != NULL || rest->bytes > 0) {
        put_hex(arguments, "etwas.rest", rest->data, rest->bytes);
    }
}

static void put_odd(struct arguments *arguments, const struct etwas_schema_texts *schema_texts,
                    const struct etwas_fields_rest *rest)
{
    struct etwas_output *words = etwas_output_scratch(arguments->output);

    if (etwas_marks_print_odd(words, schema_texts, rest)) {
        put_text(arguments, "etwas.odd", words->bytes, words->used_bytes);
    }
}

/*
 * Writes the version whose schema was used, if it is another one. null: a built-in schema that
 * combines all known versions.
 */
static void put_version(struct arguments *arguments, const struct etwas_current_event *current)
{
    int version = etwas_marks_version(current->schema_texts, current->record);

    if (version == ETWAS_MARKS_OWN_VERSION) {
        return;
    }
    put_key(arguments, "etwas.decoded_as_version");
    if (version == ETWAS_MARKS_ALL_VERSIONS) {
        etwas_output_text(arguments->output, "null");
    } else {
        etwas_output_signed(arguments->output, version);
    }
}

static void put_payload(struct arguments *arguments, struct etwas_current_event *current)
{
    const EVENT_RECORD *record = current->record;
    struct etwas_event_string message = {NULL, 0};
    struct etwas_fields_rest rest;

    etwas_fields_no_rest(&rest);
    if (current->event.message) {
        message = etwas_current_event_message(current);
    }
    if (message.text != NULL) {
        put_text(arguments, "etwas.text", message.text, message.bytes);
        (void)etwas_current_event_message_rest(current, &rest);
    } else if (current->schema_texts != NULL) {
        arguments->has_any |= etwas_fields_print_json_members(arguments->output,
                                                              current->schema_texts, record, &rest);
    } else if (record->UserDataLength > 0) {
        put_hex(arguments, "etwas.payload", record->UserData, record->UserDataLength);
    }
    put_rest(arguments, &rest);
    if (message.text == NULL) {
        put_odd(arguments, current->schema_texts, &rest);
        put_version(arguments, current);
    }
}

static void put_arguments(struct etwas_convert *convert, uint64_t early_ns)
{
    struct arguments arguments = {convert->output, false};

    etwas_json_key(convert->output, "args");
    etwas_output_char(convert->output, '{');
    put_payload(&arguments, &convert->current);
    if (etwas_text_is_beyond(convert->time_ns)) {
        put_key(&arguments, "etwas.time");
        etwas_output_char(convert->output, '"');
        etwas_text_time_ns(convert->output, convert->time_ns);
        etwas_output_char(convert->output, '"');
    }
    if (early_ns != 0) {
        put_key(&arguments, "etwas.before_start_ns");
        etwas_output_unsigned(convert->output, early_ns);
    }
    etwas_output_char(convert->output, '}');
}

/* ---- events ---------------------------------------------------------------------------------- */

/*
 * Returns by how much an END precedes its START, which happens where time stamps decrease. Viewers
 * drop an end that comes first.
 */
static uint64_t early_ns(const struct etwas_convert *convert)
{
    return convert->span_role == ETWAS_SPAN_END && convert->time_ns < convert->span->start
               ? (uint64_t)convert->span->start - (uint64_t)convert->time_ns
               : 0;
}

static void put_event(struct etwas_convert *convert)
{
    bool is_edge = convert->span_role == ETWAS_SPAN_START || convert->span_role == ETWAS_SPAN_END;
    const struct etwas_event *event = &convert->current.event;
    uint64_t early = early_ns(convert);

    etwas_output_text(convert->output, ",\n{\"ph\":\"");
    etwas_output_char(convert->output, !is_edge                                 ? 'i'
                                       : convert->span_role == ETWAS_SPAN_START ? 'b'
                                                                                : 'e');
    etwas_output_char(convert->output, '"');
    put_time(convert, early != 0 ? convert->span->start : convert->time_ns);
    put_category(convert);
    if (is_edge) {
        /* Both ends use the process and thread of the START, so that viewers match them. */
        put_thread(convert->output, convert->span->process, convert->span->thread);
        put_span_name(convert);
        etwas_output_format(convert->output, ",\"id\":\"0x%llx\"",
                            (unsigned long long)convert->span->number);
    } else {
        put_thread(convert->output, event->process, event->thread);
        etwas_json_text(convert->output, "s", "t");
        put_name(convert);
    }
    put_arguments(convert, early);
    etwas_output_char(convert->output, '}');
}

static void put_gap(struct etwas_convert *convert, const struct etwas_input *input,
                    const etwas_damage *damage)
{
    etwas_output_text(convert->output, ",\n{\"ph\":\"i\",\"s\":\"g\"");
    put_time(convert, convert->time_ns);
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

        if (i == 0) {
            etwas_json_array(convert->output, "otherData");
        }
        etwas_input_print_json(convert->output, input, "trace", input->damage_count > 0);
        etwas_json_time_ns(convert->output, "start_time", etwas_input_start_ns(input));
        etwas_output_char(convert->output, '}');
    }
    etwas_output_text(convert->output, convert->run.count > 0 ? "]}\n" : "}\n");
    return result;
}

const struct etwas_convert_target etwas_convert_chrome = {.name = "chrome", .run = run};
