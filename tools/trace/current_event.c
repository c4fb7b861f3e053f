/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Returns the properties and field values of the current event. */

#include "trace/current_event.h"

#include "math/array.h"
#include "trace/moment.h"

#include <etwas/evntrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /*
     * A limit above the longest message of a 64 KB payload: a byte that is not UTF-8 takes 5
     * characters.
     */
    MESSAGE_BYTES = 512 * 1024,
};

/* ---- durations ------------------------------------------------------------------------------- */

static bool is_zero(const etwas_guid *guid)
{
    static const etwas_guid none;

    return memcmp(guid, &none, sizeof none) == 0;
}

/* Finds the event's span by raw stamps if there are any, since only these have a known error. */
static void follow_span(struct etwas_current_event *current, etwas_spans *spans)
{
    const struct etwas_input *input = current->input;
    int64_t time = etwas_input_has_raw(input) ? current->record->EventHeader.TimeStamp.QuadPart
                                              : etwas_input_unix_ns(input, current->record);
    const etwas_span *span;
    struct etwas_moment moment;
    etwas_clock_time passed;
    uint32_t kind;

    (void)etwas_steps_add_record(input->steps, current->record);
    kind = etwas_spans_take(spans, current->record, input->number, time, &span);
    if (kind == ETWAS_SPAN_START) {
        etwas_steps_begin(input->steps, span);
    }
    if (kind != ETWAS_SPAN_END) {
        return;
    }
    current->duration_error_ns = UINT64_MAX;
    if (etwas_input_has_raw(input)) {
        moment = etwas_moment_of(input, current->record);
        passed = etwas_moment_since(span, &moment);
        current->has_duration = true;
        current->duration_ns = passed.value;
        current->duration_error_ns = passed.error_ns;
    } else {
        current->has_duration = !__builtin_sub_overflow(time, span->start, &current->duration_ns);
    }
}

void etwas_current_event_read(struct etwas_current_event *current, const struct etwas_input *input,
                              const EVENT_RECORD *record, struct etwas_descriptions *descriptions,
                              struct etwas_schema_texts *schema_texts, etwas_spans *spans)
{
    current->input = input;
    current->record = record;
    current->descriptions = descriptions;
    current->schema_texts = schema_texts;
    current->has_message = false;
    current->gathered = false;
    current->value_count = 0;
    current->found = UINT32_MAX;
    current->has_duration = false;
    etwas_event_read(record, &current->event);
    if (spans != NULL) {
        follow_span(current, spans);
    }
}

static struct etwas_event_string string_of(const char *text)
{
    struct etwas_event_string string = {NULL, 0};

    if (text != NULL && text[0] != '\0') {
        string.text = text;
        string.bytes = strlen(text);
    }
    return string;
}

void etwas_current_event_find_provider(struct etwas_current_event *current)
{
    if (current->schema_texts == NULL && current->event.provider_name.text == NULL) {
        etwas_decoder_provider(current->descriptions->decoder, current->record, current->provider,
                               sizeof current->provider);
        current->event.provider_name = string_of(current->provider);
    }
}

void etwas_current_event_free(struct etwas_current_event *current)
{
    free(current->values);
    etwas_output_free(&current->name);
    etwas_output_free(&current->message_text);
    etwas_output_free(&current->sides[0]);
    etwas_output_free(&current->sides[1]);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool add_value(struct etwas_current_event *current, uint32_t path, const etwas_value *value)
{
    if (!etwas_array_reserve(&current->values, &current->value_capacity, current->value_count + 1,
                             sizeof *current->values)) {
        current->out_of_memory = true;
        return false;
    }
    current->values[current->value_count++] = (struct etwas_current_event_value){path, *value};
    return true;
}

void etwas_current_event_gather(struct etwas_current_event *current)
{
    const struct etwas_schema_texts *schema_texts = current->schema_texts;
    etwas_fields fields;
    etwas_value value;
    bool more = true;

    if (current->gathered) {
        return;
    }
    current->gathered = true;
    current->cut_path = ETWAS_FIELD_PATH_NONE;
    if (schema_texts == NULL || !schema_texts->asked_for) {
        return;
    }
    etwas_fields_begin(&fields, schema_texts->schema, current->record);
    while (more && etwas_fields_next(&fields, &value)) {
        if (value.token == ETWAS_TOKEN_VALUE) {
            uint32_t path = schema_texts->fields[value.field - schema_texts->schema->fields].path;

            more = path == ETWAS_FIELD_PATH_NONE || add_value(current, path, &value);
        } else if (value.token == ETWAS_TOKEN_TRUNCATED || value.token == ETWAS_TOKEN_UNDESCRIBED) {
            current->cut_path =
                schema_texts->fields[value.field - schema_texts->schema->fields].path;
            etwas_fields_no_rest(&current->cut);
            etwas_fields_note_rest(&value, &current->cut);
        }
    }
}

/* ---- properties ------------------------------------------------------------------------------ */

/* Returns whether the event belongs to an instance that has a parent. */
static bool has_parent(const struct etwas_current_event *current)
{
    const EVENT_EXTENDED_ITEM_INSTANCE *instance = &current->event.instance;

    return current->event.has_instance && !current->event.message &&
           (instance->ParentInstanceId != 0 || !is_zero(&instance->ParentGuid));
}

const etwas_guid *etwas_current_event_guid(const struct etwas_current_event *current,
                                           enum etwas_property property)
{
    const EVENT_HEADER *header = &current->record->EventHeader;

    if (property == ETWAS_PROPERTY_ACTIVITY) {
        return current->event.classic || current->event.message || is_zero(&header->ActivityId)
                   ? NULL
                   : &header->ActivityId;
    }
    if (property == ETWAS_PROPERTY_RELATED_ACTIVITY) {
        return current->event.has_related_activity ? &current->event.related_activity : NULL;
    }
    if (property == ETWAS_PROPERTY_PROVIDER_ID) {
        return current->event.classic || current->event.message ? NULL : &header->ProviderId;
    }
    if (property == ETWAS_PROPERTY_PARENT_CLASS_ID) {
        return has_parent(current) ? &current->event.instance.ParentGuid : NULL;
    }
    if (property == ETWAS_PROPERTY_EVENT_CLASS_ID) {
        return current->event.message && (current->event.message_flags & TRACE_MESSAGE_GUID) == 0
                   ? NULL
                   : &header->ProviderId;
    }
    return NULL;
}

struct etwas_event_string etwas_current_event_string(const struct etwas_current_event *current,
                                                     enum etwas_property property)
{
    const struct etwas_schema_texts *schema_texts = current->schema_texts;
    struct etwas_event_string string;
    const char *slash;

    if (property == ETWAS_PROPERTY_FILE) {
        return string_of(current->input->path);
    }
    if (property == ETWAS_PROPERTY_PROCESS) {
        return string_of(current->event.process == ETWAS_EVENT_UNKNOWN_ID
                             ? NULL
                             : etwas_descriptions_process(current->descriptions, current->input,
                                                          current->record, current->event.process));
    }
    if (property == ETWAS_PROPERTY_THREAD) {
        return string_of(current->event.thread == ETWAS_EVENT_UNKNOWN_ID
                             ? NULL
                             : etwas_descriptions_thread(current->descriptions, current->record,
                                                         current->event.thread));
    }
    if (property == ETWAS_PROPERTY_PROVIDER) {
        return schema_texts != NULL ? string_of(schema_texts->schema->provider)
                                    : current->event.provider_name;
    }
    if (schema_texts != NULL) {
        string = string_of(schema_texts->schema->event);
    } else {
        string = string_of(etwas_event_class_name(&current->event));
        string = string.text != NULL ? string : current->event.event_name;
    }
    if (property == ETWAS_PROPERTY_NAME && string.text != NULL) {
        slash = memrchr(string.text, '/', string.bytes);
        if (slash != NULL) {
            string.bytes -= (size_t)(slash + 1 - string.text);
            string.text = slash + 1;
        }
    }
    return string;
}

struct etwas_event_string etwas_current_event_name(struct etwas_current_event *current,
                                                   enum etwas_property property)
{
    const struct etwas_schema_texts *schema_texts = current->schema_texts;
    struct etwas_event_string name;
    const char *slash;

    if (schema_texts != NULL) {
        return (struct etwas_event_string){schema_texts->texts + schema_texts->name.at,
                                           property == ETWAS_PROPERTY_EVENT_CLASS
                                               ? schema_texts->class_bytes
                                               : schema_texts->name.bytes};
    }
    etwas_current_event_print_title(etwas_output_anew(&current->name), ETWAS_TEXT_RAW, current);
    name = (struct etwas_event_string){current->name.bytes, current->name.used_bytes};
    slash = memrchr(name.text, '/', name.bytes);
    if (property == ETWAS_PROPERTY_EVENT_CLASS && slash != NULL) {
        name.bytes = (size_t)(slash - name.text);
    }
    return name;
}

/* The class is looked up by the START of the parent, which has one and came before. */
struct etwas_event_string etwas_current_event_parent_class(struct etwas_current_event *current)
{
    const etwas_guid *guid = etwas_current_event_guid(current, ETWAS_PROPERTY_PARENT_CLASS_ID);
    EVENT_RECORD start = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER}};
    const struct etwas_schema_texts *schema_texts;

    if (guid == NULL) {
        return (struct etwas_event_string){NULL, 0};
    }
    start.EventHeader.ProviderId = *guid;
    start.EventHeader.EventDescriptor.Opcode = EVENT_TRACE_TYPE_START;
    schema_texts = etwas_descriptions_known(current->descriptions, &start);
    if (schema_texts == NULL) {
        schema_texts = etwas_descriptions_find(current->descriptions, &start, NULL);
    }
    if (schema_texts != NULL) {
        return (struct etwas_event_string){schema_texts->texts + schema_texts->name.at,
                                           schema_texts->class_bytes};
    }
    etwas_text_guid(etwas_output_anew(&current->name), guid);
    return (struct etwas_event_string){current->name.bytes, current->name.used_bytes};
}

struct etwas_event_string etwas_current_event_message(struct etwas_current_event *current)
{
    if (!current->has_message) {
        char *text = etwas_output_room(etwas_output_anew(&current->message_text), MESSAGE_BYTES);
        size_t bytes = etwas_decoder_message(current->descriptions->decoder, current->record, text,
                                             MESSAGE_BYTES);

        current->has_message = true;
        current->message.text = bytes > 0 ? text : NULL;
        current->message.bytes = bytes < MESSAGE_BYTES ? bytes : MESSAGE_BYTES - 1;
    }
    return current->message;
}

bool etwas_current_event_message_rest(struct etwas_current_event *current,
                                      struct etwas_fields_rest *rest)
{
    etwas_value value;

    if (!etwas_decoder_message_rest(current->descriptions->decoder, current->record, &value)) {
        return false;
    }
    snprintf(current->argument, sizeof current->argument, "argument %" PRIu32, value.index);
    etwas_fields_no_rest(rest);
    rest->truncated = value.token == ETWAS_TOKEN_TRUNCATED ? current->argument : NULL;
    rest->data = value.data;
    rest->bytes = value.bytes;
    return true;
}

void etwas_current_event_print_title(struct etwas_output *output, enum etwas_text_style style,
                                     const struct etwas_current_event *current)
{
    const EVENT_HEADER *header = &current->record->EventHeader;
    const struct etwas_event *event = &current->event;

    if (event->message) {
        if ((event->message_flags & TRACE_MESSAGE_GUID) != 0) {
            etwas_text_guid(output, &header->ProviderId);
            etwas_output_char(output, '/');
        } else if ((event->message_flags & TRACE_MESSAGE_COMPONENTID) != 0) {
            etwas_output_text(output, "component:");
            etwas_output_unsigned(output, header->ProviderId.Data1);
            etwas_output_char(output, '/');
        }
        etwas_output_text(output, "message:");
        etwas_output_unsigned(output, header->EventDescriptor.Id);
        return;
    }
    if (!event->classic && event->event_name.text != NULL) {
        etwas_event_print_name(output, style, event);
        return;
    }
    if (etwas_event_has_name(event)) {
        etwas_event_print_name(output, style, event);
    } else {
        etwas_text_guid(output, &header->ProviderId);
    }
    if (etwas_event_type_name(event) == NULL) {
        etwas_output_text(output, event->classic ? "/" : "/#");
        etwas_output_unsigned(output, event->classic ? header->EventDescriptor.Opcode
                                                     : header->EventDescriptor.Id);
    }
}

/* Limits the result to 64 bits, for times too far from the session's start. */
static int64_t since_start_ns(const struct etwas_input *input, int64_t unix_ns)
{
    int64_t since;

    return !__builtin_sub_overflow(unix_ns, etwas_input_start_ns(input), &since) ? since
           : unix_ns < 0                                                         ? INT64_MIN
                                                                                 : INT64_MAX;
}

static void set_signed(struct etwas_where_number *number, int64_t value)
{
    number->kind = value < 0 ? ETWAS_WHERE_SIGNED : ETWAS_WHERE_UNSIGNED;
    number->i = value;
}

static bool number_of_descriptor(const struct etwas_current_event *current,
                                 enum etwas_property property, struct etwas_where_number *number)
{
    const EVENT_DESCRIPTOR *descriptor = &current->record->EventHeader.EventDescriptor;
    bool modern = !current->event.classic && !current->event.message;

    switch (property) {
    case ETWAS_PROPERTY_EVENT_ID:
        number->u = descriptor->Id;
        return modern;
    case ETWAS_PROPERTY_MESSAGE_ID:
        number->u = descriptor->Id;
        return current->event.message;
    case ETWAS_PROPERTY_VERSION:
        number->u = descriptor->Version;
        return !current->event.message;
    case ETWAS_PROPERTY_OPCODE:
        number->u = descriptor->Opcode;
        return !current->event.message;
    case ETWAS_PROPERTY_LEVEL:
        number->u = descriptor->Level;
        return !current->event.message;
    case ETWAS_PROPERTY_KEYWORD:
        number->u = descriptor->Keyword;
        return modern;
    case ETWAS_PROPERTY_TASK:
        number->u = descriptor->Task;
        return modern;
    case ETWAS_PROPERTY_CHANNEL:
        number->u = descriptor->Channel;
        return modern;
    default:
        return false;
    }
}

/* Reads the thread's processor time, if it was recorded. */
static bool number_of_processor_time(const struct etwas_current_event *current,
                                     enum etwas_property property,
                                     struct etwas_where_number *number)
{
    const EVENT_HEADER *header = &current->record->EventHeader;
    uint64_t tick_ns = current->input->logfile.LogfileHeader.TimerResolution * UINT64_C(100);
    bool both = (header->Flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) != 0;

    if (property == ETWAS_PROPERTY_PROCESSOR_TIME) {
        number->u = header->ProcessorTime * tick_ns;
    } else {
        number->u =
            (property == ETWAS_PROPERTY_KERNEL_TIME ? header->KernelTime : header->UserTime) *
            tick_ns;
    }
    return header->ProcessorTime != 0 && both == (property == ETWAS_PROPERTY_PROCESSOR_TIME);
}

/* Reads the instance, or what messages have in its place. */
static bool number_of_instance(const struct etwas_current_event *current,
                               enum etwas_property property, struct etwas_where_number *number)
{
    const struct etwas_event *event = &current->event;

    switch (property) {
    case ETWAS_PROPERTY_INSTANCE:
        number->u = event->instance.InstanceId;
        return event->has_instance && !event->message;
    case ETWAS_PROPERTY_PARENT_INSTANCE:
        number->u = event->instance.ParentInstanceId;
        return has_parent(current);
    case ETWAS_PROPERTY_SEQUENCE:
        number->u = event->instance.InstanceId;
        return event->has_instance && event->message;
    default:
        number->u = current->record->EventHeader.ProviderId.Data1;
        return event->message && (event->message_flags & TRACE_MESSAGE_COMPONENTID) != 0;
    }
}

bool etwas_current_event_number(const struct etwas_current_event *current,
                                const struct etwas_where_operand *operand,
                                struct etwas_where_number *number)
{
    const struct etwas_event *event = &current->event;

    number->kind = ETWAS_WHERE_UNSIGNED;
    switch (operand->property) {
    case ETWAS_PROPERTY_TIME:
        number->i = etwas_input_unix_ns(current->input, current->record);
        if (operand->absolute) {
            number->kind = ETWAS_WHERE_TIME;
        } else {
            set_signed(number, since_start_ns(current->input, number->i));
        }
        return true;
    case ETWAS_PROPERTY_CPU:
        number->u = event->processor;
        return etwas_event_has_processor(current->input->logfile.LogfileHeader.LogFileMode);
    case ETWAS_PROPERTY_PID:
        number->u = event->process;
        return event->process != ETWAS_EVENT_UNKNOWN_ID;
    case ETWAS_PROPERTY_TID:
        number->u = event->thread;
        return event->thread != ETWAS_EVENT_UNKNOWN_ID;
    case ETWAS_PROPERTY_INSTANCE:
    case ETWAS_PROPERTY_PARENT_INSTANCE:
    case ETWAS_PROPERTY_SEQUENCE:
    case ETWAS_PROPERTY_COMPONENT:
        return number_of_instance(current, operand->property, number);
    case ETWAS_PROPERTY_KERNEL_TIME:
    case ETWAS_PROPERTY_USER_TIME:
    case ETWAS_PROPERTY_PROCESSOR_TIME:
        return number_of_processor_time(current, operand->property, number);
    case ETWAS_PROPERTY_PAYLOAD_BYTES:
        number->u = current->record->UserDataLength;
        return true;
    case ETWAS_PROPERTY_DURATION:
        set_signed(number, current->duration_ns);
        return current->has_duration;
    case ETWAS_PROPERTY_DURATION_ERROR:
        number->u = current->duration_error_ns;
        return current->has_duration && number->u != UINT64_MAX;
    default:
        return number_of_descriptor(current, operand->property, number);
    }
}
