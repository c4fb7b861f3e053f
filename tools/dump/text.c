/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events as lines of columns, each column always there.
 */

#include "dump/dump.h"

void etwas_dump_text_title(struct etwas_dump *dump)
{
    static const char *const titles[] = {
        [ETWAS_DUMP_TIME] = "time",
        [ETWAS_DUMP_RAW] = "raw_time",
        [ETWAS_DUMP_QPC] = "qpc_ns error_ns",
        [ETWAS_DUMP_SYSTEM] = "system_time error_ns",
    };

    if (dump->several_files) {
        for (uint32_t i = 0; i < dump->run->count; i++) {
            const struct etwas_input *input = &dump->run->inputs[i];

            etwas_output_format(dump->output, "# file %u: ", input->number);
            etwas_text_utf8(dump->output, ETWAS_TEXT_PLAIN, input->path, strlen(input->path));
            etwas_output_char(dump->output, '\n');
        }
    }
    etwas_output_format(dump->output,
                        "# %s%s cpu process thread class type level instance parent payload\n",
                        dump->several_files ? "file " : "", titles[dump->clock]);
}

static void put_id(struct etwas_output *output, uint32_t id)
{
    if (id == ETWAS_EVENT_UNKNOWN_ID) {
        etwas_output_text(output, "      -");
    } else {
        etwas_output_unsigned_wide(output, id, 7);
    }
}

static void put_class(struct etwas_output *output, const EVENT_RECORD *record,
                      const struct etwas_event *event)
{
    const EVENT_DESCRIPTOR *descriptor = &record->EventHeader.EventDescriptor;

    if (etwas_event_has_name(event)) {
        etwas_event_put_name(output, ETWAS_TEXT_WORD, event);
    } else {
        etwas_text_guid(output, &record->EventHeader.ProviderId);
    }
    etwas_output_char(output, ' ');
    if (!event->classic) {
        etwas_output_char(output, '#');
        etwas_output_unsigned(output, descriptor->Id);
        etwas_output_char(output, '/');
    }
    etwas_output_unsigned(output, descriptor->Opcode);
    etwas_output_char(output, ' ');
    etwas_output_unsigned(output, descriptor->Level);
}

/* Class, type and level: a message has no level, and a class or a component only if it says so. */
static void put_message(struct etwas_output *output, const EVENT_HEADER *header,
                        const struct etwas_event *event)
{
    if ((event->message_flags & TRACE_MESSAGE_GUID) != 0) {
        etwas_text_guid(output, &header->ProviderId);
    } else if ((event->message_flags & TRACE_MESSAGE_COMPONENTID) != 0) {
        etwas_output_text(output, "component:");
        etwas_output_unsigned(output, header->ProviderId.Data1);
    } else {
        etwas_output_char(output, '-');
    }
    etwas_output_text(output, " message:");
    etwas_output_unsigned(output, header->EventDescriptor.Id);
    etwas_output_text(output, " -");
}

static void put_instance(struct etwas_output *output, const struct etwas_event *event)
{
    static const etwas_guid none;

    if (!event->has_instance) {
        etwas_output_text(output, "- -");
        return;
    }
    etwas_output_unsigned(output, event->instance.InstanceId);
    etwas_output_char(output, ' ');
    if (event->instance.ParentInstanceId == 0 &&
        memcmp(&event->instance.ParentGuid, &none, sizeof none) == 0) {
        etwas_output_char(output, '-');
        return;
    }
    etwas_output_unsigned(output, event->instance.ParentInstanceId);
    etwas_output_char(output, '@');
    etwas_text_guid(output, &event->instance.ParentGuid);
}

/* One column, or a time and its error. */
static void put_time(struct etwas_dump *dump, const struct etwas_input *input,
                     const EVENT_RECORD *record)
{
    struct etwas_output *output = dump->output;
    etwas_clock_time time;

    if (dump->clock == ETWAS_DUMP_TIME) {
        etwas_text_time(output, record->EventHeader.TimeStamp.QuadPart);
        return;
    }
    if (dump->clock == ETWAS_DUMP_RAW) {
        etwas_output_signed(output, record->EventHeader.TimeStamp.QuadPart);
        return;
    }
    time = etwas_dump_time(dump, input, record);
    if (dump->clock == ETWAS_DUMP_QPC) {
        etwas_output_signed(output, time.value);
    } else {
        etwas_text_time(output, time.value);
    }
    etwas_output_char(output, ' ');
    if (time.error_ns == UINT64_MAX) {
        etwas_output_char(output, '-');
    } else {
        etwas_output_unsigned(output, time.error_ns);
    }
}

void etwas_dump_text(struct etwas_dump *dump, const struct etwas_input *input,
                     const EVENT_RECORD *record)
{
    struct etwas_output *output = dump->output;
    const EVENT_HEADER *header = &record->EventHeader;
    struct etwas_event event;

    etwas_event_read(record, &event);
    if (dump->several_files) {
        etwas_output_unsigned_wide(output, input->number, 6);
        etwas_output_char(output, ' ');
    }
    put_time(dump, input, record);
    etwas_output_char(output, ' ');
    if (etwas_event_has_processor(input->logfile.LogfileHeader.LogFileMode)) {
        etwas_output_unsigned_wide(output, event.processor, 4);
    } else {
        etwas_output_text(output, "   -");
    }
    etwas_output_char(output, ' ');
    put_id(output, event.process);
    etwas_output_char(output, ' ');
    put_id(output, event.thread);
    etwas_output_char(output, ' ');
    if (event.message) {
        put_message(output, header, &event);
    } else {
        put_class(output, record, &event);
    }
    etwas_output_char(output, ' ');
    put_instance(output, &event);
    etwas_output_char(output, ' ');
    if (record->UserDataLength > 0) {
        etwas_output_hex(output, record->UserData, record->UserDataLength);
    } else {
        etwas_output_char(output, '-');
    }
    etwas_output_char(output, '\n');
}
