/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events as JSON objects, one a line. The keys and their order are part of the command's interface.
 */

#include "dump/dump.h"

#include "event/marks.h"
#include "print/json.h"

/* A message has a class only if it says so. */
static void put_class(struct etwas_output *output, const EVENT_HEADER *header,
                      const struct etwas_event *event)
{
    if (event->message && (event->message_flags & TRACE_MESSAGE_GUID) == 0) {
        etwas_json_null(output, "class");
    } else {
        etwas_json_guid(output, "class", &header->ProviderId);
    }
}

static void put_name(struct etwas_output *output, const struct etwas_event *event)
{
    if (etwas_event_has_name(event)) {
        etwas_json_key(output, "name");
        etwas_output_char(output, '"');
        etwas_event_print_name(output, ETWAS_TEXT_JSON, event);
        etwas_output_char(output, '"');
    }
}

static void put_instance(struct etwas_output *output, const EVENT_EXTENDED_ITEM_INSTANCE *instance)
{
    etwas_json_number(output, "instance", instance->InstanceId);
    etwas_json_number(output, "parent_instance", instance->ParentInstanceId);
    etwas_json_guid(output, "parent_class", &instance->ParentGuid);
}

static void put_milliseconds(struct etwas_output *output, const char *key, uint64_t ticks,
                             uint32_t tick_100ns)
{
    etwas_json_format(output, key, "%.4f", (double)ticks * tick_100ns / 1e4);
}

/* Processor time of the thread, where somebody took it. */
static void put_times(struct etwas_output *output, const EVENT_HEADER *header, uint32_t tick_100ns)
{
    if (header->ProcessorTime == 0) {
        return;
    }
    if ((header->Flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) != 0) {
        put_milliseconds(output, "processor_ms", header->ProcessorTime, tick_100ns);
    } else {
        put_milliseconds(output, "kernel_ms", header->KernelTime, tick_100ns);
        put_milliseconds(output, "user_ms", header->UserTime, tick_100ns);
    }
}

static void put_descriptor(struct etwas_output *output, const EVENT_HEADER *header,
                           const struct etwas_event *event)
{
    static const etwas_guid none;
    const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;

    etwas_json_number(output, "id", descriptor->Id);
    etwas_json_number(output, "channel", descriptor->Channel);
    etwas_json_number(output, "task", descriptor->Task);
    etwas_json_format(output, "keyword", "\"0x%llx\"", (unsigned long long)descriptor->Keyword);
    if (memcmp(&header->ActivityId, &none, sizeof none) != 0) {
        etwas_json_guid(output, "activity", &header->ActivityId);
    }
    if (event->has_related_activity) {
        etwas_json_guid(output, "related_activity", &event->related_activity);
    }
}

static void put_message(struct etwas_output *output, const EVENT_HEADER *header,
                        const struct etwas_event *event)
{
    etwas_json_number(output, "message", header->EventDescriptor.Id);
    if (event->has_instance) {
        etwas_json_number(output, "sequence", event->instance.InstanceId);
    }
    if ((event->message_flags & TRACE_MESSAGE_COMPONENTID) != 0) {
        etwas_json_number(output, "component", header->ProviderId.Data1);
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
        etwas_output_text(output, ",\"symbols\":[\"");
        etwas_addresses_print_stack(output, ETWAS_TEXT_JSON, etwas_dump_addresses(dump), &stack,
                                    dump->current.record->EventHeader.TimeStamp.QuadPart, "\",\"");
        etwas_output_text(output, "\"]");
    }
}

/*
 * Writes all extended items but those that have keys of their own: the instance, a related
 * activity, a message's number, and, unless all is to be in hexadecimal, a stack. A decoded event's
 * items that describe it are left out, too.
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

/* Begins the object. */
static void put_time(struct etwas_dump *dump)
{
    struct etwas_output *output = dump->output;
    const struct etwas_current_event *current = &dump->current;
    etwas_clock_time time;

    etwas_json_object(output, NULL);
    if (dump->clock == ETWAS_DUMP_TIME) {
        etwas_json_key(output, "time");
        etwas_output_char(output, '"');
        etwas_input_print_time(output, current->input, current->record);
        etwas_output_char(output, '"');
        return;
    }
    if (dump->clock == ETWAS_DUMP_RAW) {
        etwas_json_signed(output, "raw_time", current->record->EventHeader.TimeStamp.QuadPart);
        return;
    }
    time = etwas_dump_time(dump);
    if (dump->clock == ETWAS_DUMP_QPC) {
        etwas_json_signed(output, "qpc_ns", time.value);
    } else {
        etwas_json_time(output, "system_time", time.value);
    }
    etwas_json_error(output, "error_ns", time.error_ns);
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

/* What it is called: with --hex in one, by what the record alone says. */
static void put_names(struct etwas_dump *dump)
{
    const struct etwas_current_event *current = &dump->current;

    if (dump->hex) {
        put_name(dump->output, &current->event);
    } else {
        put_string(dump->output, "provider",
                   etwas_current_event_string(current, ETWAS_PROPERTY_PROVIDER));
        put_string(dump->output, "event",
                   etwas_current_event_string(current, ETWAS_PROPERTY_EVENT));
    }
}

static void put_marks(struct etwas_dump *dump, const struct etwas_fields_rest *rest)
{
    etwas_marks_print_json(dump->output, dump->current.schema_texts, dump->current.record, rest);
    etwas_dump_report_rest(dump, rest);
}

/* The formatted text of a message. */
static bool put_message_text(struct etwas_dump *dump)
{
    struct etwas_event_string text = {NULL, 0};
    struct etwas_fields_rest rest;

    if (dump->current.event.message) {
        text = etwas_current_event_message(&dump->current);
        put_string(dump->output, "text", text);
    }
    if (text.text != NULL && etwas_current_event_message_rest(&dump->current, &rest)) {
        put_marks(dump, &rest);
    }
    return text.text != NULL;
}

/* The fields, or what is not decoded. */
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
    struct etwas_output *output = dump->output;
    const struct etwas_current_event *current = &dump->current;
    const struct etwas_event *event = &current->event;
    const EVENT_HEADER *header = &current->record->EventHeader;

    put_time(dump);
    if (dump->several_files) {
        etwas_json_number(output, "file", current->input->number);
    }
    etwas_json_known(output, "processor",
                     etwas_event_has_processor(current->input->logfile.LogfileHeader.LogFileMode),
                     event->processor);
    etwas_json_known(output, "process", event->process != ETWAS_EVENT_UNKNOWN_ID, event->process);
    etwas_json_known(output, "thread", event->thread != ETWAS_EVENT_UNKNOWN_ID, event->thread);
    put_class(output, header, event);
    put_names(dump);
    etwas_json_number(output, "type", header->EventDescriptor.Opcode);
    etwas_json_number(output, "level", header->EventDescriptor.Level);
    etwas_json_number(output, "version", header->EventDescriptor.Version);
    put_times(output, header, current->input->logfile.LogfileHeader.TimerResolution);
    if (event->message) {
        put_message(output, header, event);
    } else if (!event->classic) {
        put_descriptor(output, header, event);
    }
    if (event->has_instance && !event->message) {
        put_instance(output, &event->instance);
    }
    if (current->has_duration) {
        etwas_json_signed(output, "duration_ns", current->duration_ns);
        etwas_json_error(output, "duration_error_ns", current->duration_error_ns);
    }
    put_extended(dump);
    put_payload(dump);
    etwas_output_text(output, "}\n");
}
