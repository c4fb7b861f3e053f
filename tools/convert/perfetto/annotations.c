/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes an event's data as annotations, with the types of its fields. */

#include "convert/perfetto/perfetto.h"

#include "event/marks.h"

#include <etwas/tdh.h>
#include <etwas/winmeta.h>
#include <stdio.h>

/* Fields of DebugAnnotation. */
enum {
    ANNOTATION_NAME = 1,
    ANNOTATION_BOOLEAN = 2,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_SIGNED = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_TEXT = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_ENTRY = 11,
    ANNOTATION_ELEMENT = 12,
    ANNOTATION_STRING = 17,
};

enum {
    DEPTH = 128,           /* limit of nested arrays and structs; the decoder allows fewer */
    TEXT_BYTES = 1 << 18,  /* more than the text of a value of the longest payload */
    BINARY_BYTES = 64,     /* limit of shown binary data */
    EVENT_BYTES = 2 << 20, /* limit of an event's fields; their names are interned, too */
};

/* ---- single annotations ---------------------------------------------------------------------- */

static size_t begin(struct etwas_perfetto *perfetto, uint32_t field,
                    struct etwas_perfetto_name *name)
{
    size_t began = etwas_wire_begin(&perfetto->event, field);

    if (name != NULL) {
        etwas_wire_number(&perfetto->event, ANNOTATION_NAME, etwas_perfetto_iid(perfetto, name));
    }
    return began;
}

static size_t begin_own(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own)
{
    size_t began = etwas_wire_begin(&perfetto->event, EVENT_ANNOTATION);

    etwas_wire_number(&perfetto->event, ANNOTATION_NAME, own);
    return began;
}

/* Writes numbers above INT64_MAX as text, because readers take them for negative. */
static void put_unsigned(struct etwas_wire *event, uint64_t number)
{
    char text[24];

    if (number <= INT64_MAX) {
        etwas_wire_number(event, ANNOTATION_UNSIGNED, number);
    } else {
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
        etwas_wire_text(event, ANNOTATION_TEXT, text);
    }
}

void etwas_perfetto_annotate_number(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                                    uint64_t number)
{
    size_t began = begin_own(perfetto, own);

    put_unsigned(&perfetto->event, number);
    etwas_wire_end(&perfetto->event, began);
}

static void annotate_bytes(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                           const char *text, size_t bytes)
{
    size_t began = begin_own(perfetto, own);

    etwas_wire_bytes(&perfetto->event, ANNOTATION_TEXT, text, bytes);
    etwas_wire_end(&perfetto->event, began);
}

void etwas_perfetto_annotate_text(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                                  const char *text)
{
    annotate_bytes(perfetto, own, text, strlen(text));
}

/* Returns a GUID's interned text. The last one is cached, since GUIDs often repeat. */
static struct etwas_perfetto_name *guid_name(struct etwas_perfetto *perfetto,
                                             const etwas_guid *guid)
{
    struct etwas_perfetto_guid *last = &perfetto->last_guid;
    char text[ETWAS_TEXT_GUID_CHARACTERS];

    if (last->name != NULL && last->generation == perfetto->names.generation &&
        memcmp(&last->guid, guid, sizeof *guid) == 0) {
        return last->name;
    }
    etwas_text_guid_characters(text, guid);
    *last = (struct etwas_perfetto_guid){
        *guid, perfetto->names.generation,
        etwas_perfetto_name(&perfetto->names, ETWAS_PERFETTO_STRING, text, sizeof text)};
    perfetto->convert->out_of_memory |= last->name == NULL;
    return last->name;
}

static void annotate_guid(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                          const etwas_guid *guid)
{
    struct etwas_perfetto_name *name = guid_name(perfetto, guid);
    size_t began = begin_own(perfetto, own);

    if (name != NULL) {
        etwas_wire_number(&perfetto->event, ANNOTATION_STRING, etwas_perfetto_iid(perfetto, name));
    }
    etwas_wire_end(&perfetto->event, began);
}

/*
 * Returns whether only the first half of the activity id has to be written. A process that counts
 * its activities, as etwas does, uses ids with the same second half, which is written with the
 * process.
 */
static bool is_counted(struct etwas_perfetto_track *process, const uint64_t words[2])
{
    if (process->process == ETWAS_EVENT_UNKNOWN_ID || words[0] > UINT32_MAX || words[1] == 0) {
        return false;
    }
    if (process->activity_maker == 0) {
        process->activity_maker = words[1];
    }
    return process->activity_maker == words[1];
}

static void annotate_activity(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                              uint32_t track, const etwas_guid *id)
{
    uint64_t words[2];
    size_t began;

    memcpy(words, id, sizeof words);
    if (!is_counted(&perfetto->tracks[perfetto->tracks[track].process_track], words)) {
        annotate_guid(perfetto, own, id);
        return;
    }
    began = begin_own(perfetto, own);
    etwas_wire_number(&perfetto->event, ANNOTATION_POINTER, words[0]);
    etwas_wire_end(&perfetto->event, began);
}

static void annotate_hex(struct etwas_perfetto *perfetto, enum etwas_perfetto_own own,
                         const void *data, size_t bytes)
{
    struct etwas_output *text = etwas_output_anew(&perfetto->convert->scratch);

    etwas_output_hex(text, data, bytes < BINARY_BYTES ? bytes : BINARY_BYTES);
    if (bytes > BINARY_BYTES) {
        etwas_output_text(text, "…");
    }
    annotate_bytes(perfetto, own, text->bytes, text->used_bytes);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns whether the value is shown in hexadecimal. */
static bool is_hexadecimal(const etwas_value *value)
{
    switch (value->in_type) {
    case TDH_INTYPE_HEXINT32:
    case TDH_INTYPE_HEXINT64:
    case TDH_INTYPE_POINTER:
        break;
    default:
        return false;
    }
    return value->bytes <= sizeof(uint64_t) && value->field->map == NULL &&
           value->out_type >= TDH_OUTTYPE_HEXINT8 && value->out_type <= TDH_OUTTYPE_HEXINT64;
}

static void put_text(struct etwas_perfetto *perfetto, const etwas_value *value)
{
    char *text = etwas_output_room(etwas_output_anew(&perfetto->convert->scratch), TEXT_BYTES);
    size_t bytes = etwas_value_text(value, text, TEXT_BYTES);

    bytes = bytes < TEXT_BYTES ? bytes : TEXT_BYTES - 1;
    if (value->in_type == TDH_INTYPE_BINARY && value->bytes > BINARY_BYTES &&
        bytes >= 2 * (size_t)value->bytes) {
        static const char more[] = "…";

        bytes -= 2 * ((size_t)value->bytes - BINARY_BYTES);
        memcpy(text + bytes, more, sizeof more);
        bytes += sizeof more - 1;
    }
    etwas_wire_bytes(&perfetto->event, ANNOTATION_TEXT, text, bytes);
}

static void put_value(struct etwas_perfetto *perfetto, const etwas_value *value)
{
    struct etwas_wire *event = &perfetto->event;
    etwas_number number = {.u = 0};

    if (value->field->map != NULL) {
        put_text(perfetto, value);
        return;
    }
    if (is_hexadecimal(value)) {
        memcpy(&number, value->data, value->bytes);
        etwas_wire_number(event, ANNOTATION_POINTER, number.u);
        return;
    }
    switch (etwas_value_number(value, &number)) {
    case ETWAS_VALUE_UNSIGNED:
        put_unsigned(event, number.u);
        break;
    case ETWAS_VALUE_SIGNED:
        etwas_wire_number(event, ANNOTATION_SIGNED, number.u);
        break;
    case ETWAS_VALUE_FLOAT:
        etwas_wire_double(event, ANNOTATION_DOUBLE, number.f);
        break;
    case ETWAS_VALUE_BOOLEAN:
        etwas_wire_number(event, ANNOTATION_BOOLEAN, number.u != 0);
        break;
    default:
        put_text(perfetto, value);
        break;
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The arrays and structs around the next value. */
struct nesting {
    size_t began[DEPTH];
    bool is_array[DEPTH];
    uint32_t depth;
};

/* Returns the protobuf field of the next value in the message around it. */
static uint32_t kind_of_next(const struct nesting *nesting)
{
    return nesting->depth == 0                     ? (uint32_t)EVENT_ANNOTATION
           : nesting->is_array[nesting->depth - 1] ? (uint32_t)ANNOTATION_ELEMENT
                                                   : (uint32_t)ANNOTATION_ENTRY;
}

static size_t begin_next(struct etwas_perfetto *perfetto, const struct nesting *nesting,
                         const struct etwas_perfetto_schema *schema, const etwas_value *value)
{
    bool is_element = nesting->depth > 0 && nesting->is_array[nesting->depth - 1];
    size_t field = (size_t)(value->field - schema->schema_texts->schema->fields);

    return begin(perfetto, kind_of_next(nesting), is_element ? NULL : schema->fields[field]);
}

static void put_rest(struct etwas_perfetto *perfetto, const struct etwas_fields_rest *rest)
{
    if (rest->truncated != NULL) {
        etwas_perfetto_annotate_text(perfetto, ETWAS_PERFETTO_TRUNCATED, rest->truncated);
    }
    if (rest->undescribed != NULL) {
        etwas_perfetto_annotate_text(perfetto, ETWAS_PERFETTO_UNDESCRIBED, rest->undescribed);
    }
    if (rest->truncated != NULL || rest->undescribed != NULL || rest->bytes > 0) {
        annotate_hex(perfetto, ETWAS_PERFETTO_REST, rest->data, rest->bytes);
    }
}

static void put_fields(struct etwas_perfetto *perfetto, const struct etwas_perfetto_schema *schema)
{
    struct etwas_output *words;
    struct nesting nesting; /* left uninitialized: most of it is never used */
    struct etwas_wire *event = &perfetto->event;
    const struct etwas_current_event *current = &perfetto->convert->current;
    struct etwas_fields_rest rest;
    etwas_fields fields;
    etwas_value value;
    size_t began;

    nesting.depth = 0;
    etwas_fields_begin(&fields, schema->schema_texts->schema, perfetto->convert->current.record);
    while (event->used < EVENT_BYTES && etwas_fields_next(&fields, &value)) {
        switch (value.token) {
        case ETWAS_TOKEN_VALUE:
            began = begin_next(perfetto, &nesting, schema, &value);
            put_value(perfetto, &value);
            etwas_wire_end(event, began);
            break;
        case ETWAS_TOKEN_ARRAY_BEGIN:
        case ETWAS_TOKEN_STRUCT_BEGIN:
            if (nesting.depth < DEPTH) {
                nesting.began[nesting.depth] = begin_next(perfetto, &nesting, schema, &value);
                nesting.is_array[nesting.depth] = value.token == ETWAS_TOKEN_ARRAY_BEGIN;
            }
            nesting.depth += nesting.depth < DEPTH;
            break;
        case ETWAS_TOKEN_ARRAY_END:
        case ETWAS_TOKEN_STRUCT_END:
            if (nesting.depth > 0) {
                etwas_wire_end(event, nesting.began[--nesting.depth]);
            }
            break;
        default:
            break; /* written after the fields, which may still be open */
        }
    }
    while (nesting.depth > 0) {
        etwas_wire_end(event, nesting.began[--nesting.depth]);
    }
    if (event->used >= EVENT_BYTES) {
        etwas_perfetto_annotate_text(perfetto, ETWAS_PERFETTO_REST, "too long to be shown");
        return;
    }
    etwas_fields_find_rest(schema->schema_texts, current->record, &rest);
    put_rest(perfetto, &rest);
    words = etwas_output_anew(&perfetto->convert->scratch);
    if (etwas_marks_print_odd(words, schema->schema_texts, &rest)) {
        annotate_bytes(perfetto, ETWAS_PERFETTO_ODD, words->bytes, words->used_bytes);
    }
}

static void put_version(struct etwas_perfetto *perfetto,
                        const struct etwas_schema_texts *schema_texts)
{
    int version = etwas_marks_version(schema_texts, perfetto->convert->current.record);

    if (version == ETWAS_MARKS_ALL_VERSIONS) {
        etwas_perfetto_annotate_text(perfetto, ETWAS_PERFETTO_DECODED_AS, "all that are known");
    } else if (version != ETWAS_MARKS_OWN_VERSION) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_DECODED_AS, (uint64_t)version);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_zero(const etwas_guid *guid)
{
    static const etwas_guid none;

    return memcmp(guid, &none, sizeof none) == 0;
}

size_t etwas_perfetto_annotate_parent(struct etwas_perfetto *perfetto, uint32_t track)
{
    const struct etwas_current_event *current = &perfetto->convert->current;
    const EVENT_EXTENDED_ITEM_INSTANCE *instance = &current->event.instance;
    const etwas_guid *related = etwas_current_event_guid(current, ETWAS_PROPERTY_RELATED_ACTIVITY);
    size_t before = perfetto->event.used;

    if (related != NULL && !is_zero(related)) {
        annotate_activity(perfetto, ETWAS_PERFETTO_RELATED_ACTIVITY, track, related);
    }
    if (current->event.has_instance && instance->ParentInstanceId != 0 && !current->event.message) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_PARENT, instance->ParentInstanceId);
        if (memcmp(&instance->ParentGuid, &current->record->EventHeader.ProviderId,
                   sizeof instance->ParentGuid) != 0) {
            annotate_guid(perfetto, ETWAS_PERFETTO_PARENT_CLASS, &instance->ParentGuid);
        }
    }
    return perfetto->event.used - before;
}

/* Writes which instance or activity the event belongs to. An END needs none: its slice has it. */
static void put_identity(struct etwas_perfetto *perfetto, const struct etwas_current_event *current,
                         uint32_t track)
{
    const etwas_guid *activity = etwas_current_event_guid(current, ETWAS_PROPERTY_ACTIVITY);

    if (current->event.has_instance) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_INSTANCE,
                                       current->event.instance.InstanceId);
    }
    if (activity != NULL) {
        annotate_activity(perfetto, ETWAS_PERFETTO_ACTIVITY, track, activity);
    }
}

/*
 * Writes what is unusual: a warning or worse, a keyword, a later version, another processor than
 * before.
 */
static void put_unusual(struct etwas_perfetto *perfetto, const struct etwas_current_event *current,
                        struct etwas_perfetto_track *track)
{
    const EVENT_DESCRIPTOR *descriptor = &current->record->EventHeader.EventDescriptor;

    if (!current->event.message) {
        if (descriptor->Level >= WINEVENT_LEVEL_CRITICAL &&
            descriptor->Level <= WINEVENT_LEVEL_WARNING) {
            etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_LEVEL, descriptor->Level);
        }
        if (!current->event.classic && descriptor->Keyword != 0) {
            size_t began = begin_own(perfetto, ETWAS_PERFETTO_KEYWORD);

            etwas_wire_number(&perfetto->event, ANNOTATION_POINTER, descriptor->Keyword);
            etwas_wire_end(&perfetto->event, began);
        }
        if (descriptor->Version != 0) {
            etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_VERSION, descriptor->Version);
        }
    }
    if (current->event.processor != track->processor &&
        etwas_event_has_processor(current->input->logfile.LogfileHeader.LogFileMode)) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_PROCESSOR,
                                       current->event.processor);
        track->processor = (uint16_t)current->event.processor;
    }
}

/* Writes the ids of processes and threads that have no track. */
static void put_ids(struct etwas_perfetto *perfetto, const struct etwas_event *event,
                    const struct etwas_perfetto_track *track)
{
    if (event->process != track->process && event->process != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_PROCESS, event->process);
    }
    if (event->thread != track->thread && event->thread != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_perfetto_annotate_number(perfetto, ETWAS_PERFETTO_THREAD, event->thread);
    }
}

static void put_message(struct etwas_perfetto *perfetto, struct etwas_current_event *current,
                        struct etwas_event_string message)
{
    struct etwas_fields_rest rest;

    annotate_bytes(perfetto, ETWAS_PERFETTO_TEXT, message.text, message.bytes);
    if (etwas_current_event_message_rest(current, &rest)) {
        put_rest(perfetto, &rest);
    }
}

/* Writes the time as text if it does not fit into 64 bits; the event itself is at the limit. */
static void put_time(struct etwas_perfetto *perfetto)
{
    struct etwas_output *text = etwas_output_anew(&perfetto->convert->scratch);

    if (etwas_text_is_beyond(perfetto->convert->time_ns)) {
        etwas_text_time_ns(text, perfetto->convert->time_ns);
        annotate_bytes(perfetto, ETWAS_PERFETTO_TIME, text->bytes, text->used_bytes);
    }
}

static void put_payload(struct etwas_perfetto *perfetto, const struct etwas_perfetto_schema *schema)
{
    struct etwas_current_event *current = &perfetto->convert->current;
    struct etwas_event_string message = {NULL, 0};

    put_time(perfetto);
    if (current->event.message) {
        message = etwas_current_event_message(current);
    }
    if (message.text != NULL) {
        put_message(perfetto, current, message);
    } else if (schema->schema_texts == NULL) {
        if (current->record->UserDataLength > 0) {
            annotate_hex(perfetto, ETWAS_PERFETTO_PAYLOAD, current->record->UserData,
                         current->record->UserDataLength);
        }
    } else {
        if (schema->schema_texts->schema->field_count > 0 || current->record->UserDataLength > 0) {
            put_fields(perfetto, schema);
        }
        put_version(perfetto, schema->schema_texts);
    }
}

void etwas_perfetto_annotate(struct etwas_perfetto *perfetto,
                             const struct etwas_perfetto_schema *schema, uint32_t track)
{
    const struct etwas_current_event *current = &perfetto->convert->current;

    if (perfetto->convert->span_role != ETWAS_SPAN_END) {
        put_identity(perfetto, current, track);
    }
    put_payload(perfetto, schema);
    put_unusual(perfetto, current, &perfetto->tracks[track]);
    put_ids(perfetto, &current->event, &perfetto->tracks[track]);
}
