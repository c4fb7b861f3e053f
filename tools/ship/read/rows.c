/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/read/rows.h"

#include "ship/read/values.h"
#include "trace/current_event.h"

#include <etwas/evntrace.h>

static const etwas_guid no_guid;

/* ---- what an event is ------------------------------------------------------------------------ */

static void put_string(struct etwas_columns *columns, uint32_t column,
                       struct etwas_event_string string)
{
    etwas_columns_string(columns, column, string.text, string.text != NULL ? string.bytes : 0);
}

/*
 * Appends the provider, the class, and the title, which distinguishes the event, as in `etwas
 * dump`.
 */
static void put_names(struct etwas_columns *columns, struct etwas_current_event *current)
{
    const struct etwas_schema_texts *schema_texts = current->schema_texts;

    etwas_current_event_find_provider(current);
    put_string(columns, ETWAS_SHIP_EVENT_PROVIDER,
               etwas_current_event_string(current, ETWAS_PROPERTY_PROVIDER));
    put_string(columns, ETWAS_SHIP_EVENT_CLASS,
               etwas_current_event_name(current, ETWAS_PROPERTY_EVENT_CLASS));
    if (schema_texts != NULL) {
        etwas_columns_string(columns, ETWAS_SHIP_EVENT_EVENT,
                             schema_texts->texts + schema_texts->title.at,
                             schema_texts->title.bytes);
        return;
    }
    etwas_current_event_print_title(etwas_output_anew(&current->name), ETWAS_TEXT_WORD, current);
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_EVENT, current->name.bytes,
                         current->name.used_bytes);
}

/* A message has only the id of a descriptor; a classic event only its opcode and level. */
static void put_descriptor(struct etwas_columns *columns, const struct etwas_current_event *current)
{
    const EVENT_DESCRIPTOR *descriptor = &current->record->EventHeader.EventDescriptor;
    bool is_message = current->event.message;
    bool is_modern = !is_message && !current->event.classic;

    etwas_columns_u8(columns, ETWAS_SHIP_EVENT_OPCODE, is_message ? 0 : descriptor->Opcode);
    etwas_columns_u8(columns, ETWAS_SHIP_EVENT_LEVEL, is_message ? 0 : descriptor->Level);
    etwas_columns_u16(columns, ETWAS_SHIP_EVENT_ID, current->event.classic ? 0 : descriptor->Id);
    etwas_columns_u64(columns, ETWAS_SHIP_EVENT_KEYWORD, is_modern ? descriptor->Keyword : 0);
}

/* Messages and classic events have no activity. A message has a class only if it says so. */
static void put_guids(struct etwas_columns *columns, const struct etwas_current_event *current)
{
    const EVENT_HEADER *header = &current->record->EventHeader;
    const struct etwas_event *event = &current->event;
    bool is_modern = !event->message && !event->classic;
    bool has_class = !event->message || (event->message_flags & TRACE_MESSAGE_GUID) != 0;

    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_PROVIDER_ID,
                       is_modern ? &header->ProviderId : &no_guid);
    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_CLASS_ID,
                       has_class ? &header->ProviderId : &no_guid);
    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_ACTIVITY,
                       is_modern ? &header->ActivityId : &no_guid);
    etwas_columns_guid(columns, ETWAS_SHIP_EVENT_RELATED_ACTIVITY,
                       event->has_related_activity ? &event->related_activity : &no_guid);
}

static void put_instance(struct etwas_columns *columns, const struct etwas_event *event)
{
    bool has_parent = event->has_instance && !event->message;

    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_INSTANCE,
                      event->has_instance ? event->instance.InstanceId : 0);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_PARENT_INSTANCE,
                      has_parent ? event->instance.ParentInstanceId : 0);
}

/* ---- what it has ----------------------------------------------------------------------------- */

/*
 * Appends the text of a message if its format is known. Returns the bytes that are not in a text.
 */
static struct etwas_ship_left_over put_message(struct etwas_columns *columns,
                                               struct etwas_current_event *current)
{
    static const char key[] = "message";
    struct etwas_event_string text = etwas_current_event_message(current);
    struct etwas_fields_rest rest;

    if (text.text == NULL) {
        return (struct etwas_ship_left_over){current->record->UserData,
                                             current->record->UserDataLength};
    }
    etwas_columns_text(columns, ETWAS_SHIP_EVENT_TEXTS, key, sizeof key - 1, text.text, text.bytes);
    etwas_fields_no_rest(&rest);
    (void)etwas_current_event_message_rest(current, &rest);
    return (struct etwas_ship_left_over){rest.data, rest.bytes};
}

static void put_payload(struct etwas_columns *columns, struct etwas_ship_learned *learned)
{
    struct etwas_current_event *current = &learned->current;
    const EVENT_RECORD *record = current->record;
    struct etwas_ship_left_over left_over = {record->UserData, record->UserDataLength};

    if (current->event.message) {
        left_over = put_message(columns, current);
    } else if (current->schema_texts != NULL) {
        left_over = etwas_ship_values_put(columns, current->schema_texts, record, &learned->text);
    }
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_PAYLOAD, left_over.data,
                         left_over.data != NULL ? left_over.bytes : 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

void etwas_ship_put_event(struct etwas_columns *columns, const struct etwas_ship_common *common,
                          struct etwas_ship_learned *learned,
                          struct etwas_schema_texts *schema_texts, const EVENT_RECORD *record,
                          uint64_t buffer, uint32_t pos)
{
    const struct etwas_ship_file *file = common->file;
    struct etwas_current_event *current = &learned->current;

    etwas_current_event_read(current, NULL, record, &learned->descriptions, schema_texts, NULL);
    etwas_columns_begin(columns);
    etwas_columns_u16(columns, ETWAS_SHIP_EVENT_DAY, 0);
    etwas_columns_time(columns, ETWAS_SHIP_EVENT_TIME, record->EventHeader.TimeStamp.QuadPart);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_TIME_ERROR, 0);
    etwas_columns_string(columns, ETWAS_SHIP_EVENT_HOST, file->host, file->host_bytes);
    etwas_columns_u64(columns, ETWAS_SHIP_EVENT_SESSION, common->session);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_PART, file->facts.part);
    etwas_columns_u16(columns, ETWAS_SHIP_EVENT_CPU,
                      file->has_cpus ? (uint16_t)current->event.processor : ETWAS_SHIP_UNKNOWN_CPU);
    etwas_columns_u64(columns, ETWAS_SHIP_EVENT_BUFFER, buffer);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_POSITION, pos);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_PID, current->event.process);
    etwas_columns_u32(columns, ETWAS_SHIP_EVENT_TID, current->event.thread);
    put_guids(columns, current);
    put_names(columns, current);
    put_descriptor(columns, current);
    put_instance(columns, &current->event);
    put_payload(columns, learned);
    etwas_columns_end(columns);
}

static void put_losses(struct etwas_columns *columns, const struct etwas_ship_buffer_row *row)
{
    static const uint32_t columns_by_cause[ETWAS_LOST_CAUSES + 1] = {
        [0] = ETWAS_SHIP_BUFFER_LOST_OTHER,
        [ETWAS_LOST_NO_BUFFER] = ETWAS_SHIP_BUFFER_LOST_NO_BUFFER,
        [ETWAS_LOST_BACKLOG_FULL] = ETWAS_SHIP_BUFFER_LOST_BACKLOG_FULL,
        [ETWAS_LOST_WRITE_ERROR] = ETWAS_SHIP_BUFFER_LOST_WRITE_ERROR,
        [ETWAS_LOST_FILE_FULL] = ETWAS_SHIP_BUFFER_LOST_FILE_FULL,
        [ETWAS_LOST_ABANDONED] = ETWAS_SHIP_BUFFER_LOST_ABANDONED,
        [ETWAS_LOST_UNDELIVERED] = ETWAS_SHIP_BUFFER_LOST_UNDELIVERED,
        [ETWAS_LOST_UNATTACHED] = ETWAS_SHIP_BUFFER_LOST_UNATTACHED,
        [ETWAS_LOST_TOO_LARGE] = ETWAS_SHIP_BUFFER_LOST_TOO_LARGE,
        [ETWAS_LOST_WITHHELD] = ETWAS_SHIP_BUFFER_LOST_WITHHELD,
    };

    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_RECORDED, row->recorded);
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_OVERWRITTEN, row->overwritten);
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_LOST, row->lost);
    for (uint32_t cause = 0; cause <= ETWAS_LOST_CAUSES; cause++) {
        etwas_columns_u64(columns, columns_by_cause[cause], row->lost_by[cause]);
    }
}

void etwas_ship_put_buffer(struct etwas_columns *columns, const char *host, const char *name,
                           uint64_t session, uint32_t part, uint32_t day,
                           const struct etwas_ship_buffer_row *row)
{
    etwas_columns_begin(columns);
    etwas_columns_u16(columns, ETWAS_SHIP_BUFFER_DAY, (uint16_t)day);
    etwas_columns_string(columns, ETWAS_SHIP_BUFFER_HOST, host, strlen(host));
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_SESSION, session);
    etwas_columns_u32(columns, ETWAS_SHIP_BUFFER_PART, part);
    etwas_columns_u16(columns, ETWAS_SHIP_BUFFER_CPU, row->cpu);
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_BUFFER, row->buffer);
    etwas_columns_time(columns, ETWAS_SHIP_BUFFER_FIRST_TIME, row->first);
    etwas_columns_time(columns, ETWAS_SHIP_BUFFER_LAST_TIME, row->last);
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_EVENTS, row->events);
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_BYTES, row->bytes);
    etwas_columns_string(columns, ETWAS_SHIP_BUFFER_FILE, name, strlen(name));
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_FILE_POSITION, row->offset);
    etwas_columns_u64(columns, ETWAS_SHIP_BUFFER_DAMAGES, row->damages);
    etwas_columns_u8(columns, ETWAS_SHIP_BUFFER_STATE, (uint8_t)row->state);
    put_losses(columns, row);
    etwas_columns_u8(columns, ETWAS_SHIP_BUFFER_ENDED, row->ended);
    etwas_columns_end(columns);
}
