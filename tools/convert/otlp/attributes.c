/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes attributes: those from the event's header, and its fields with their types. In this
 * mapping, 64-bit integers are strings and always signed. Larger numbers are text, as are nested
 * arrays, arrays of structs, and long arrays.
 */

#include "convert/otlp/otlp.h"

#include "event/marks.h"
#include "print/text.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_ELEMENTS = 64,          /* limit of arrays written as arrays */
    MOST_TEXT_BYTES = 64 * 1024, /* limit of an array as text */
    VALUE_BYTES = 256 * 1024,    /* more than the text of the longest payload */
};

/* ---- keys and values ------------------------------------------------------------------------- */

/* Writes a comma, except before the first element of an array. */
static void separate(struct etwas_output *item)
{
    if (item->used_bytes != 0 && item->bytes[item->used_bytes - 1] != '[') {
        etwas_output_char(item, ',');
    }
}

static void begin(struct etwas_output *item, const char *prefix, const char *key, size_t bytes)
{
    separate(item);
    etwas_output_text(item, "{\"key\":\"");
    etwas_output_text(item, prefix);
    etwas_text_utf8(item, ETWAS_TEXT_JSON, key,
                    bytes < ETWAS_OTLP_NAME_BYTES ? bytes : ETWAS_OTLP_NAME_BYTES);
    etwas_output_text(item, "\",\"value\":");
}

static void put_text(struct etwas_output *item, const char *text, size_t bytes)
{
    etwas_output_text(item, "{\"stringValue\":\"");
    etwas_text_utf8(item, ETWAS_TEXT_JSON, text, bytes);
    etwas_output_text(item, "\"}");
}

static void put_signed(struct etwas_output *item, int64_t number)
{
    etwas_output_text(item, "{\"intValue\":\"");
    etwas_output_signed(item, number);
    etwas_output_text(item, "\"}");
}

static void put_double(struct etwas_output *item, double number)
{
    char text[32];

    etwas_output_text(item, "{\"doubleValue\":");
    if (isnan(number)) {
        etwas_output_text(item, "\"NaN\"");
    } else if (isinf(number)) {
        etwas_output_text(item, number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    } else {
        (void)snprintf(text, sizeof text, "%.17g", number);
        etwas_output_text(item, text);
    }
    etwas_output_char(item, '}');
}

static void put_value(struct etwas_output *item, const etwas_value *value)
{
    etwas_number number;
    uint32_t kind =
        value->field->map != NULL ? ETWAS_VALUE_TEXT : etwas_value_number(value, &number);

    if (kind == ETWAS_VALUE_SIGNED || (kind == ETWAS_VALUE_UNSIGNED && number.u <= INT64_MAX)) {
        put_signed(item, kind == ETWAS_VALUE_SIGNED ? number.i : (int64_t)number.u);
    } else if (kind == ETWAS_VALUE_FLOAT) {
        put_double(item, number.f);
    } else if (kind == ETWAS_VALUE_BOOLEAN) {
        etwas_output_text(item, number.u != 0 ? "{\"boolValue\":true}" : "{\"boolValue\":false}");
    } else {
        char *text = etwas_output_room(etwas_output_scratch(item), VALUE_BYTES);
        size_t bytes = etwas_value_text(value, text, VALUE_BYTES);

        put_text(item, text, bytes < VALUE_BYTES ? bytes : VALUE_BYTES - 1);
    }
}

/* Writes bytes in base64, as in proto3's JSON mapping. */
static void put_bytes(struct etwas_output *item, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    etwas_output_text(item, "{\"bytesValue\":\"");
    for (size_t at = 0; at < count; at += 3) {
        size_t left = count - at;
        uint32_t three = (uint32_t)bytes[at] << 16 | (left > 1 ? (uint32_t)bytes[at + 1] << 8 : 0) |
                         (left > 2 ? bytes[at + 2] : 0);

        etwas_output_char(item, digits[three >> 18]);
        etwas_output_char(item, digits[three >> 12 & 63]);
        etwas_output_char(item, left > 1 ? digits[three >> 6 & 63] : '=');
        etwas_output_char(item, left > 2 ? digits[three & 63] : '=');
    }
    etwas_output_text(item, "\"}");
}

void etwas_otlp_text(struct etwas_output *item, const char *key, const char *text, size_t bytes)
{
    begin(item, "", key, strlen(key));
    put_text(item, text, bytes);
    etwas_output_char(item, '}');
}

void etwas_otlp_number(struct etwas_output *item, const char *key, int64_t number)
{
    begin(item, "", key, strlen(key));
    put_signed(item, number);
    etwas_output_char(item, '}');
}

void etwas_otlp_early_time(struct etwas_output *item, const char *key, int64_t time_ns)
{
    if (time_ns <= 0 || etwas_text_is_beyond(time_ns)) {
        begin(item, "", key, strlen(key));
        etwas_output_text(item, "{\"stringValue\":\"");
        etwas_text_time_ns(item, time_ns);
        etwas_output_text(item, "\"}}");
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

struct walk {
    struct etwas_output *item;
    const char *prefix;
    const struct etwas_schema_texts *schema_texts;
    etwas_fields fields;
    uint32_t left_out;
};

static void begin_field(struct walk *walk, const etwas_schema_field *field)
{
    struct etwas_kept_text name =
        walk->schema_texts->fields[field - walk->schema_texts->schema->fields].full;

    begin(walk->item, walk->prefix, walk->schema_texts->texts + name.at, name.bytes);
}

/* Writes the elements up to the end of the array. A truncated array is closed too. */
static void put_elements(struct walk *walk)
{
    etwas_value value;

    etwas_output_text(walk->item, "{\"arrayValue\":{\"values\":[");
    while (etwas_fields_next(&walk->fields, &value) && value.token != ETWAS_TOKEN_ARRAY_END) {
        if (value.token == ETWAS_TOKEN_VALUE && walk->item->used_bytes < ETWAS_OTLP_FIELDS_BYTES) {
            separate(walk->item);
            put_value(walk->item, &value);
        }
    }
    etwas_output_text(walk->item, "]}}");
}

/* Writes the elements as text, which is cut after about MOST_TEXT_BYTES. */
static void put_elements_as_text(struct walk *walk, etwas_value value)
{
    struct etwas_output *text = etwas_output_scratch(walk->item);
    struct etwas_fields_rest rest;
    struct etwas_fields_form form;
    uint32_t depth = 0;
    bool is_cut = false;

    etwas_fields_no_rest(&rest);
    etwas_fields_begin_element(&form, text, walk->schema_texts);
    do {
        depth += value.token == ETWAS_TOKEN_ARRAY_BEGIN;
        depth -= value.token == ETWAS_TOKEN_ARRAY_END;
        is_cut = is_cut || text->used_bytes > MOST_TEXT_BYTES;
        if (!is_cut) {
            etwas_fields_print_token(&form, &value, &rest);
        }
    } while (depth != 0 && etwas_fields_next(&walk->fields, &value));
    if (is_cut) {
        etwas_output_text(text, " …");
    }
    put_text(walk->item, text->bytes, text->used_bytes);
}

static bool is_of_structs(const etwas_value *array)
{
    return (array->field->info->Flags & PropertyStruct) != 0;
}

static void put_own_bytes(struct etwas_output *item, const char *prefix, const char *key,
                          const void *data, size_t bytes)
{
    begin(item, prefix, key, strlen(key));
    put_bytes(item, data, bytes);
    etwas_output_char(item, '}');
}

/*
 * Writes where the payload and its schema disagree, even if the item has no room for more fields.
 */
static void put_rest(struct etwas_output *item, const char *prefix,
                     const struct etwas_fields_rest *rest)
{
    static const char truncated[] = "etwas.truncated";
    static const char undescribed[] = "etwas.undescribed";

    if (rest->truncated != NULL) {
        begin(item, prefix, truncated, sizeof truncated - 1);
        put_text(item, rest->truncated, strlen(rest->truncated));
        etwas_output_char(item, '}');
    }
    if (rest->undescribed != NULL) {
        begin(item, prefix, undescribed, sizeof undescribed - 1);
        put_text(item, rest->undescribed, strlen(rest->undescribed));
        etwas_output_char(item, '}');
    }
    if (rest->truncated != NULL || rest->undescribed != NULL || rest->bytes > 0) {
        put_own_bytes(item, prefix, "etwas.rest", rest->data, rest->bytes);
    }
}

static void put_odd(struct etwas_output *item, const char *prefix,
                    const struct etwas_schema_texts *schema_texts,
                    const struct etwas_fields_rest *rest)
{
    static const char key[] = "etwas.odd";
    struct etwas_output *words = etwas_output_scratch(item);

    if (etwas_marks_print_odd(words, schema_texts, rest)) {
        begin(item, prefix, key, sizeof key - 1);
        put_text(item, words->bytes, words->used_bytes);
        etwas_output_char(item, '}');
    }
}

static void put_field(struct walk *walk, const etwas_value *value)
{
    bool has_room = walk->item->used_bytes < ETWAS_OTLP_FIELDS_BYTES;
    bool is_array = value->token == ETWAS_TOKEN_ARRAY_BEGIN;

    if (value->token != ETWAS_TOKEN_VALUE && !is_array) {
        return; /* a struct: the names of its members include its own */
    }
    if (!has_room) {
        walk->left_out++;
        return;
    }
    begin_field(walk, value->field);
    if (!is_array) {
        put_value(walk->item, value);
    } else if (value->count <= MOST_ELEMENTS && !is_of_structs(value)) {
        put_elements(walk);
    } else {
        put_elements_as_text(walk, *value);
    }
    etwas_output_char(walk->item, '}');
}

/*
 * Writes the payload of an event that has no fields to decode, which includes messages: their text
 * is the body. Returns false if the event has fields.
 */
static bool put_unread(struct etwas_current_event *current, struct etwas_output *item,
                       const char *prefix)
{
    struct etwas_fields_rest rest;

    if (current->event.message && etwas_current_event_message(current).text != NULL) {
        if (etwas_current_event_message_rest(current, &rest)) {
            put_rest(item, prefix, &rest);
        }
        return true;
    }
    if (current->schema_texts == NULL && current->record->UserDataLength != 0) {
        put_own_bytes(item, prefix, "etwas.payload", current->record->UserData,
                      current->record->UserDataLength);
    }
    return current->schema_texts == NULL;
}

static void put_other_version(struct etwas_output *item, const char *prefix,
                              const struct etwas_current_event *current)
{
    static const char key[] = "etwas.decoded_as_version";
    static const char all[] = "all that are known";
    int version = etwas_marks_version(current->schema_texts, current->record);

    if (version == ETWAS_MARKS_OWN_VERSION) {
        return;
    }
    begin(item, prefix, key, sizeof key - 1);
    if (version == ETWAS_MARKS_ALL_VERSIONS) {
        put_text(item, all, sizeof all - 1);
    } else {
        put_signed(item, version);
    }
    etwas_output_char(item, '}');
}

uint32_t etwas_otlp_fields(struct etwas_otlp *otlp, const char *prefix)
{
    struct walk walk;
    struct etwas_current_event *current = &otlp->convert->current;
    struct etwas_output *item = &otlp->item;
    struct etwas_fields_rest rest;
    etwas_value value;

    if (put_unread(current, item, prefix)) {
        return 0;
    }
    walk.item = item;
    walk.prefix = prefix;
    walk.schema_texts = current->schema_texts;
    walk.left_out = 0;
    etwas_fields_begin(&walk.fields, current->schema_texts->schema, current->record);
    while (etwas_fields_next(&walk.fields, &value)) {
        put_field(&walk, &value);
    }
    etwas_fields_find_rest(current->schema_texts, current->record, &rest);
    put_rest(item, prefix, &rest);
    put_odd(item, prefix, current->schema_texts, &rest);
    put_other_version(item, prefix, current);
    return walk.left_out;
}

/* ---- header ---------------------------------------------------------------------------------- */

static void put_guid(struct etwas_output *item, const char *key, const etwas_guid *guid)
{
    if (guid != NULL) {
        begin(item, "", key, strlen(key));
        etwas_output_text(item, "{\"stringValue\":\"");
        etwas_text_guid(item, guid);
        etwas_output_text(item, "\"}}");
    }
}

void etwas_otlp_header(struct etwas_otlp *otlp)
{
    const struct etwas_current_event *current = &otlp->convert->current;
    const EVENT_DESCRIPTOR *descriptor = &current->record->EventHeader.EventDescriptor;
    struct etwas_output *item = &otlp->item;

    if (current->event.thread != ETWAS_EVENT_UNKNOWN_ID) {
        etwas_otlp_number(item, "thread.id", current->event.thread);
    }
    if (etwas_event_has_processor(current->input->logfile.LogfileHeader.LogFileMode)) {
        etwas_otlp_number(item, "etwas.processor", current->event.processor);
    }
    etwas_otlp_number(item, current->event.classic ? "etwas.type" : "etwas.id",
                      current->event.classic ? descriptor->Opcode : descriptor->Id);
    etwas_otlp_number(item, "etwas.level", descriptor->Level);
    if (descriptor->Version != 0 && !current->event.message) {
        etwas_otlp_number(item, "etwas.version", descriptor->Version);
    }
    if (descriptor->Keyword != 0) {
        begin(item, "", "etwas.keyword", strlen("etwas.keyword"));
        etwas_output_text(item, "{\"stringValue\":\"");
        etwas_output_hexadecimal(item, descriptor->Keyword);
        etwas_output_text(item, "\"}}");
    }
    if (current->event.has_instance && !current->event.message) {
        etwas_otlp_number(item, "etwas.instance", current->event.instance.InstanceId);
    }
    put_guid(item, "etwas.activity", etwas_current_event_guid(current, ETWAS_PROPERTY_ACTIVITY));
    put_guid(item, "etwas.related_activity",
             etwas_current_event_guid(current, ETWAS_PROPERTY_RELATED_ACTIVITY));
}
