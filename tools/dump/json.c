/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes events as JSON objects, one a line. The keys and their order are part of the command's
 * interface.
 */

#include "dump/dump.h"

#include "event/marks.h"
#include "print/json.h"

/* Writes a GUID property, if the event has it. */
static void put_guid(struct etwas_dump *dump, enum etwas_property property)
{
    const etwas_guid *guid = etwas_current_event_guid(&dump->current, property);

    if (guid != NULL) {
        etwas_json_guid(dump->output, etwas_property_name(property), guid);
    }
}

/* Writes a numeric property, if the event has it. */
static void put_number(struct etwas_dump *dump, enum etwas_property property)
{
    const struct etwas_where_operand operand = {.source = ETWAS_WHERE_OF_PROPERTY,
                                                .property = property};
    const char *key = etwas_property_name(property);
    struct etwas_where_number number;

    if (!etwas_current_event_number(&dump->current, &operand, &number)) {
        return;
    }
    if (property == ETWAS_PROPERTY_KEYWORD) {
        etwas_json_bits(dump->output, key, number.u);
    } else if (number.kind == ETWAS_WHERE_SIGNED) {
        etwas_json_signed(dump->output, key, number.i);
    } else {
        etwas_json_number(dump->output, key, number.u);
    }
}

static void put_stack(struct etwas_dump *dump)
{
    struct etwas_output *output = dump->output;
    const struct etwas_event_stack stack = etwas_dump_stack(dump);

    if (stack.count == 0) {
        return;
    }
    etwas_output_text(output, ",\"call_stack\":[\"");
    etwas_event_print_stack(output, &stack, "\",\"");
    etwas_output_text(output, "\"]");
    if (dump->symbols) {
        etwas_output_text(output, ",\"call_stack_names\":[\"");
        etwas_addresses_print_stack(output, ETWAS_TEXT_JSON, etwas_dump_addresses(dump), &stack,
                                    dump->current.record->EventHeader.TimeStamp.QuadPart, "\",\"");
        etwas_output_text(output, "\"]");
    }
}

/*
 * Writes the extended items without keys of their own. Others are left out: the instance, a related
 * activity, a message's number, and a stack unless all is in hexadecimal. Items that describe a
 * decoded event are left out, too.
 */
static void put_extended(struct etwas_dump *dump)
{
    struct etwas_output *output = dump->output;
    const EVENT_RECORD *record = dump->current.record;
    bool decoded = dump->current.schema_texts != NULL;
    bool has_any = false;

    if (!dump->hex) {
        put_stack(dump);
    }

    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

        if (item->ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO ||
            (item->ExtType == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID &&
             dump->current.event.has_related_activity) ||
            (!dump->hex && etwas_event_is_stack(item)) ||
            (decoded && (item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL ||
                         item->ExtType == EVENT_HEADER_EXT_TYPE_PROV_TRAITS))) {
            continue;
        }
        if (!has_any) {
            etwas_json_array(output, "extended");
        }
        has_any = true;
        etwas_json_object(output, NULL);
        etwas_json_number(output, "type", item->ExtType);
        etwas_json_hex(output, "data", (const void *)(uintptr_t)item->DataPtr, item->DataSize);
        etwas_output_char(output, '}');
    }
    if (has_any) {
        etwas_output_char(output, ']');
    }
}

static void put_time(struct etwas_dump *dump)
{
    struct etwas_output *output = dump->output;
    const struct etwas_current_event *current = &dump->current;
    etwas_clock_time time;

    if (dump->clock == ETWAS_DUMP_RELATIVE) {
        etwas_json_signed(output, "since_start",
                          etwas_input_shown_ns(current->input, current->record) - dump->first_ns);
        return;
    }
    if (etwas_dump_is_by_trace(dump)) {
        etwas_json_key(output, "time");
        etwas_output_char(output, '"');
        etwas_dump_print_time(output, dump);
        etwas_output_char(output, '"');
        return;
    }
    if (dump->clock == ETWAS_DUMP_RAW) {
        etwas_json_signed(output, "raw_time", current->record->EventHeader.TimeStamp.QuadPart);
        return;
    }
    time = etwas_dump_time(dump);
    if (dump->clock == ETWAS_DUMP_QPC) {
        etwas_json_signed(output, "qpc_time", time.value);
    } else {
        etwas_json_time(output, "system_time", time.value);
    }
    etwas_json_error(output, "time_error", time.error_ns);
}

static void put_string(struct etwas_output *output, const char *key,
                       struct etwas_event_string string)
{
    if (string.text != NULL) {
        etwas_json_key(output, key);
        etwas_output_char(output, '"');
        etwas_text_utf8(output, ETWAS_TEXT_JSON, string.text, string.bytes);
        etwas_output_char(output, '"');
    }
}

/* Writes a string property, if the event has it. */
static void put_property(struct etwas_dump *dump, enum etwas_property property)
{
    put_string(dump->output, etwas_property_name(property),
               etwas_current_event_string(&dump->current, property));
}

/* Writes the event's name as its column shows it, which is escaped already. */
static void put_event(struct etwas_dump *dump)
{
    struct etwas_event_string name = etwas_current_event_name(&dump->current, ETWAS_PROPERTY_EVENT);

    put_string(dump->output, "event", name);
}

static void put_marks(struct etwas_dump *dump, const struct etwas_fields_rest *rest)
{
    etwas_marks_print_json(dump->output, dump->current.schema_texts, dump->current.record, rest);
    etwas_dump_report_rest(dump, rest);
}

/* Writes the formatted text of a message. */
static bool put_message_text(struct etwas_dump *dump)
{
    struct etwas_event_string text = {NULL, 0};
    struct etwas_fields_rest rest;

    if (dump->current.event.message) {
        text = etwas_current_event_message(&dump->current);
        put_string(dump->output, "message", text);
    }
    if (text.text != NULL && etwas_current_event_message_rest(&dump->current, &rest)) {
        put_marks(dump, &rest);
    }
    return text.text != NULL;
}

/* Writes the fields, or the payload that is not decoded. */
static void put_payload(struct etwas_dump *dump)
{
    struct etwas_output *output = dump->output;
    const EVENT_RECORD *record = dump->current.record;
    struct etwas_fields_rest rest;

    if (dump->hex) {
        etwas_json_hex(output, "payload", record->UserData, record->UserDataLength);
        return;
    }
    if (put_message_text(dump)) {
        return;
    }
    if (dump->current.schema_texts == NULL) {
        etwas_json_hex(output, "payload", record->UserData, record->UserDataLength);
        return;
    }
    etwas_json_key(output, "fields");
    etwas_fields_print_json(output, dump->current.schema_texts, record, &rest);
    etwas_dump_print_json_values(dump);
    put_marks(dump, &rest);
}

void etwas_dump_json(struct etwas_dump *dump)
{
    static const enum etwas_property origin[] = {
        ETWAS_PROPERTY_CPU,
        ETWAS_PROPERTY_PID,
        ETWAS_PROPERTY_TID,
    };
    static const enum etwas_property numbers[] = {
        ETWAS_PROPERTY_EVENT_ID,        ETWAS_PROPERTY_VERSION,
        ETWAS_PROPERTY_OPCODE,          ETWAS_PROPERTY_TASK,
        ETWAS_PROPERTY_CHANNEL,         ETWAS_PROPERTY_LEVEL,
        ETWAS_PROPERTY_KEYWORD,         ETWAS_PROPERTY_MESSAGE_ID,
        ETWAS_PROPERTY_SEQUENCE,        ETWAS_PROPERTY_COMPONENT,
        ETWAS_PROPERTY_KERNEL_TIME,     ETWAS_PROPERTY_USER_TIME,
        ETWAS_PROPERTY_PROCESSOR_TIME,  ETWAS_PROPERTY_DURATION,
        ETWAS_PROPERTY_DURATION_ERROR,  ETWAS_PROPERTY_INSTANCE,
        ETWAS_PROPERTY_PARENT_INSTANCE,
    };
    struct etwas_output *output = dump->output;
    const struct etwas_current_event *current = &dump->current;

    etwas_json_begin(output, "event");
    put_time(dump);
    if (dump->several_files) {
        etwas_json_text(output, "file", current->input->path);
    }
    for (size_t i = 0; i < sizeof origin / sizeof *origin; i++) {
        put_number(dump, origin[i]);
    }
    put_property(dump, ETWAS_PROPERTY_PROCESS);
    put_property(dump, ETWAS_PROPERTY_PROVIDER);
    put_guid(dump, ETWAS_PROPERTY_PROVIDER_ID);
    put_event(dump);
    put_guid(dump, ETWAS_PROPERTY_EVENT_CLASS_ID);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        put_number(dump, numbers[i]);
    }
    put_guid(dump, ETWAS_PROPERTY_PARENT_CLASS_ID);
    put_guid(dump, ETWAS_PROPERTY_ACTIVITY);
    put_guid(dump, ETWAS_PROPERTY_RELATED_ACTIVITY);
    put_extended(dump);
    put_payload(dump);
    etwas_output_text(output, "}\n");
}
