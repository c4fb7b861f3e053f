/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the values of an event that --where compares. */

#include "trace/condition.h"

#include "where/option.h"
#include "where/scan.h"

#include <stdio.h>
#include <string.h>

enum {
    /* A limit above the longest text of a value: 2 digits a byte, 4 bytes a UTF-16 unit. */
    TEXT_BYTES = 256 * 1024,
    DATE_BYTES = 40,
};

/*
 * Returns the value of a path by its index, which must be below the count. Callers ask in order of
 * the index, so the search continues from the last hit.
 */
static const etwas_value *value_at(struct etwas_current_event *current, uint32_t path,
                                   uint32_t index)
{
    uint32_t at = 0;
    uint32_t before = 0;

    if (current->found < current->value_count && current->values[current->found].path == path &&
        current->found_index <= index) {
        at = current->found;
        before = current->found_index;
    }
    for (;; at++) {
        if (current->values[at].path == path && before++ == index) {
            current->found = at;
            current->found_index = index;
            return &current->values[at].value;
        }
    }
}

static struct etwas_event_string string_of(struct etwas_current_event *current,
                                           enum etwas_property property)
{
    switch (property) {
    case ETWAS_PROPERTY_MESSAGE:
        return etwas_current_event_message(current);
    case ETWAS_PROPERTY_EVENT:
    case ETWAS_PROPERTY_EVENT_CLASS:
        return etwas_current_event_name(current, property);
    case ETWAS_PROPERTY_PARENT_CLASS:
        return etwas_current_event_parent_class(current);
    default:
        return etwas_current_event_string(current, property);
    }
}

static uint32_t count_values(void *context, const struct etwas_where_operand *operand)
{
    struct etwas_current_event *current = context;
    struct etwas_where_number number;
    uint32_t count = 0;

    if (operand->source == ETWAS_WHERE_OF_PROPERTY) {
        switch (etwas_property_kind(operand->property)) {
        case ETWAS_PROPERTY_IS_STRING:
            return string_of(current, operand->property).text != NULL;
        case ETWAS_PROPERTY_IS_GUID:
            return etwas_current_event_guid(current, operand->property) != NULL;
        default:
            return etwas_current_event_number(current, operand, &number);
        }
    }
    etwas_current_event_gather(current);
    for (uint32_t i = 0; i < current->value_count; i++) {
        count += current->values[i].path == operand->field;
    }
    return count;
}

static struct etwas_where_number number_of_property(const struct etwas_current_event *current,
                                                    const struct etwas_where_operand *operand)
{
    struct etwas_where_number number = {.kind = ETWAS_WHERE_TEXT};
    const etwas_guid *guid = etwas_current_event_guid(current, operand->property);

    if (guid != NULL) {
        number.kind = ETWAS_WHERE_GUID;
        number.guid = *guid;
    } else if (!etwas_current_event_number(current, operand, &number)) {
        number.kind = ETWAS_WHERE_TEXT;
    }
    return number;
}

/* Accepts the text of a date in the same form as --where does. */
static bool read_date(const etwas_value *value, int64_t *unix_ns)
{
    char text[DATE_BYTES];
    uint64_t filetime;

    if (value->field->map == NULL && value->in_type == TDH_INTYPE_FILETIME &&
        value->bytes == sizeof filetime) {
        memcpy(&filetime, value->data, sizeof filetime);
        *unix_ns = etwas_input_ns_of(filetime < INT64_MAX ? (int64_t)filetime : INT64_MAX);
        return true;
    }
    return value->field->map == NULL && value->in_type == TDH_INTYPE_SYSTEMTIME &&
           etwas_value_text(value, text, sizeof text) < sizeof text &&
           etwas_where_date(text, ETWAS_WHERE_UTC, unix_ns);
}

static bool is_error(const etwas_value *value)
{
    return value->out_type == TDH_OUTTYPE_WIN32ERROR || value->out_type == TDH_OUTTYPE_NTSTATUS ||
           value->out_type == TDH_OUTTYPE_HRESULT;
}

static struct etwas_where_number number_of_field(const etwas_value *value)
{
    static const enum etwas_where_kind kinds[] = {
        [ETWAS_VALUE_TEXT] = ETWAS_WHERE_TEXT,        [ETWAS_VALUE_UNSIGNED] = ETWAS_WHERE_UNSIGNED,
        [ETWAS_VALUE_SIGNED] = ETWAS_WHERE_SIGNED,    [ETWAS_VALUE_FLOAT] = ETWAS_WHERE_FLOAT,
        [ETWAS_VALUE_BOOLEAN] = ETWAS_WHERE_UNSIGNED,
    };
    etwas_number found = {.u = 0};
    uint32_t kind = etwas_value_number(value, &found);
    struct etwas_where_number number = {.kind = kinds[kind]};

    number.has_name = kind == ETWAS_VALUE_BOOLEAN || value->field->map != NULL || is_error(value);
    if (number.kind == ETWAS_WHERE_FLOAT) {
        number.f = found.f;
    } else if (number.kind != ETWAS_WHERE_TEXT) {
        number.u = found.u;
    } else if (value->in_type == TDH_INTYPE_GUID && value->bytes == sizeof number.guid) {
        number.kind = ETWAS_WHERE_GUID;
        memcpy(&number.guid, value->data, sizeof number.guid);
    } else if (read_date(value, &number.i)) {
        number.kind = ETWAS_WHERE_TIME;
    }
    return number;
}

static struct etwas_where_number number_at(void *context, const struct etwas_where_operand *operand,
                                           uint32_t index)
{
    struct etwas_current_event *current = context;

    return operand->source == ETWAS_WHERE_OF_PROPERTY
               ? number_of_property(current, operand)
               : number_of_field(value_at(current, operand->field, index));
}

static void put_property(struct etwas_output *text, struct etwas_current_event *current,
                         const struct etwas_where_operand *operand)
{
    const etwas_guid *guid = etwas_current_event_guid(current, operand->property);
    struct etwas_where_number number;
    struct etwas_event_string string;

    if (guid != NULL) {
        etwas_text_guid(text, guid);
    } else if (!etwas_current_event_number(current, operand, &number)) {
        string = string_of(current, operand->property);
        etwas_output_bytes(text, string.text, string.bytes);
    } else if (number.kind == ETWAS_WHERE_SIGNED) {
        etwas_output_signed(text, number.i);
    } else {
        etwas_output_unsigned(text, number.u);
    }
}

/* Returns a GUID without its braces, and an error code that is written as 5(NAME) as NAME alone. */
static const char *bare(const etwas_value *value, char *text, size_t *bytes)
{
    const char *name;

    if (value->in_type == TDH_INTYPE_GUID && *bytes == 38 && text[0] == '{') {
        *bytes = 36;
        text++;
    } else if (is_error(value) && *bytes != 0 && text[*bytes - 1] == ')') {
        name = memchr(text, '(', *bytes);
        if (name != NULL) {
            *bytes -= (size_t)(name + 1 - text) + 1;
            text += name + 1 - text;
        }
    }
    text[*bytes] = '\0';
    return text;
}

static const char *text_at(void *context, const struct etwas_where_operand *operand, uint32_t index,
                           unsigned side, size_t *bytes)
{
    struct etwas_current_event *current = context;
    struct etwas_output *text = etwas_output_anew(&current->sides[side]);
    const etwas_value *value;

    if (operand->source == ETWAS_WHERE_OF_PROPERTY) {
        put_property(text, current, operand);
        *bytes = text->used_bytes;
        etwas_output_char(text, '\0');
        return text->bytes;
    }
    value = value_at(current, operand->field, index);
    *bytes = etwas_value_text(value, etwas_output_room(text, TEXT_BYTES), TEXT_BYTES);
    if (*bytes >= TEXT_BYTES) {
        *bytes = TEXT_BYTES - 1;
    }
    return bare(value, text->bytes, bytes);
}

bool etwas_condition_holds(struct etwas_where *where, struct etwas_current_event *current)
{
    const struct etwas_where_values values = {current, count_values, number_at, text_at};
    struct etwas_event_string name;
    bool holds;

    if (where->error != NULL) {
        return false;
    }
    holds = etwas_where_holds(where, &values);
    where->was_asked = true;
    where->has_held |= holds;
    where->has_process |= where->wants_process && !where->has_process &&
                          etwas_where_asks(where, ETWAS_PROPERTY_PROCESS) &&
                          string_of(current, ETWAS_PROPERTY_PROCESS).text != NULL;
    if (where->error != NULL) {
        name = etwas_current_event_name(current, ETWAS_PROPERTY_EVENT);
        etwas_where_complain(where, name.text, name.bytes);
        current->input->run->stop = true;
    }
    return holds;
}

bool etwas_condition_holds_for(struct etwas_where *where, struct etwas_current_event *current,
                               const struct etwas_input *input, const EVENT_RECORD *record,
                               struct etwas_descriptions *descriptions,
                               const etwas_clock_time *duration)
{
    struct etwas_schema_texts *schema_texts;

    if (!etwas_where_is_given(where)) {
        return true;
    }
    schema_texts = etwas_descriptions_known(descriptions, record);
    if (schema_texts == NULL) {
        schema_texts = etwas_descriptions_find(descriptions, record, NULL);
    }
    etwas_current_event_read(current, input, record, descriptions, schema_texts, NULL);
    if (duration != NULL) {
        current->has_duration = true;
        current->duration_ns = duration->value;
        current->duration_error_ns = duration->error_ns;
    }
    etwas_current_event_find_provider(current);
    return etwas_condition_holds(where, current);
}
