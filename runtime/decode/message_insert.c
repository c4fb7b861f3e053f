/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes a message of a manifest with an event's fields inserted. */
#include <stdlib.h>
#include <string.h>

#include "decode/message.h"
#include "decode/value.h"

enum {
    /* Limits the tokens and bytes that all inserts read, since each one reads the event anew. */
    EFFORT_BESIDES = 1 << 14,
    EFFORT_OF_BYTE = 16,
    CONVERSION_BYTES = 32, /* longer ones are ignored */
};

/* A message that is being written. */
struct insert_state {
    struct etwas_text_writer *text;
    const etwas_schema *schema;
    const EVENT_RECORD *record;
    size_t effort; /* still allowed */
};

/* An insert after a percent sign: a field's number, and an optional conversion. */
struct insert {
    uint32_t field; /* from 1; 0: not an insert */
    struct etwas_printf_conversion conversion;
    size_t units; /* read */
};

/* ---- values ---------------------------------------------------------------------------------- */

/* Returns the size in bytes of the first `characters` characters. */
static size_t insert_bytes_of(const char *utf8, int characters)
{
    size_t at = 0;

    while (utf8[at] != 0 && (((unsigned char)utf8[at] & 0xC0) == 0x80 || characters-- > 0)) {
        at++;
    }
    return at;
}

/* Writes a value by its types, cut or padded with blanks. */
static void insert_write_text(struct etwas_text_writer *text,
                              const struct etwas_printf_conversion *conversion,
                              const etwas_value *value)
{
    char whole[4 * ETWAS_LARGEST_WIDTH + 1];
    size_t bytes;

    if (conversion->width == 0 && conversion->precision < 0) {
        etwas_value_write(text, value);
        return;
    }
    bytes = etwas_value_text(value, whole, sizeof whole);
    if (bytes >= sizeof whole && conversion->precision < 0) { /* longer than any width */
        etwas_value_write(text, value);
        return;
    }
    etwas_printf_write_padded(
        text, conversion, whole,
        conversion->precision < 0 ? bytes : insert_bytes_of(whole, conversion->precision));
}

static void insert_write_value(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion,
                               const etwas_value *value)
{
    etwas_number number;
    uint32_t kind = etwas_value_number(value, &number);
    bool is_integer = kind != ETWAS_VALUE_TEXT && kind != ETWAS_VALUE_FLOAT;

    if (is_integer && conversion->letter != 0 && strchr("di", conversion->letter) != NULL) {
        etwas_printf_write_integer(text, conversion, number.u);
    } else if (is_integer && conversion->letter != 0 &&
               strchr("uoxX", conversion->letter) != NULL) {
        etwas_printf_write_integer(text, conversion, etwas_value_unsigned(value));
    } else if (kind == ETWAS_VALUE_FLOAT && conversion->letter != 0 &&
               strchr("eEfFgGaA", conversion->letter) != NULL) {
        etwas_printf_write_double(text, conversion, number.f);
    } else {
        insert_write_text(text, conversion, value);
    }
}

/*
 * Writes a top-level field; for an array or a struct, its values. Returns false if the payload does
 * not have the field.
 */
static bool insert_write_field(struct insert_state *inserting, const struct insert *insert)
{
    etwas_fields fields;
    etwas_value value;
    uint32_t field = 0;
    uint32_t depth = 0;
    bool is_first = true;

    etwas_fields_begin(&fields, inserting->schema, inserting->record);
    while (field <= insert->field && inserting->effort > 0 && etwas_fields_next(&fields, &value)) {
        bool is_begin =
            value.token == ETWAS_TOKEN_ARRAY_BEGIN || value.token == ETWAS_TOKEN_STRUCT_BEGIN;
        bool is_end = value.token == ETWAS_TOKEN_ARRAY_END || value.token == ETWAS_TOKEN_STRUCT_END;

        if (value.token >= ETWAS_TOKEN_TRUNCATED) {
            break;
        }
        field += depth == 0;
        depth += is_begin;
        depth -= is_end;
        inserting->effort--;
        if (field == insert->field && value.token == ETWAS_TOKEN_VALUE) {
            etwas_text_put(inserting->text, ", ", is_first ? 0 : 2);
            insert_write_value(inserting->text, &insert->conversion, &value);
            inserting->effort -= value.bytes < inserting->effort ? value.bytes : inserting->effort;
            is_first = false;
        }
    }
    return field > insert->field || (field == insert->field && depth == 0);
}

/* ---- messages -------------------------------------------------------------------------------- */

/*
 * Writes the escape after a percent sign. Returns how many of its units were read; 0: the message
 * ends.
 */
static size_t insert_write_escape(struct etwas_text_writer *text, const etwas_wchar *at,
                                  size_t units)
{
    switch (units == 0 ? 0 : at[0]) {
    case '0':
        return 0;
    case 'n':
        etwas_text_put(text, "\n", 1);
        return 1;
    case 'r':
        etwas_text_put(text, "\r", 1);
        return 1;
    case 't':
        etwas_text_put(text, "\t", 1);
        return 1;
    case 'b':
        etwas_text_put(text, " ", 1);
        return 1;
    default:
        break;
    }
    etwas_text_put_utf16(text, at, units == 0 ? 0 : 1);
    return 1;
}

/* Parses a conversion between exclamation marks; ignores unknown ones. */
static void insert_read_conversion(const etwas_wchar *at, size_t units, struct insert *insert)
{
    char ascii[CONVERSION_BYTES] = "";

    for (size_t i = 0; units < sizeof ascii && i < units; i++) {
        ascii[i] = at[i] < 0x80 ? (char)at[i] : '?';
    }
    etwas_printf_conversion_read(ascii, &insert->conversion);
    insert->conversion.is_wide = false; /* the value's type decides */
}

/* Parses the digits, and an optional conversion between exclamation marks after them. */
static struct insert insert_read(const etwas_wchar *at, size_t units)
{
    struct insert insert = {.conversion.precision = -1};
    size_t end;

    while (insert.units < units && insert.units < 2 && at[insert.units] >= '0' &&
           at[insert.units] <= '9') {
        insert.field = 10 * insert.field + (uint32_t)(at[insert.units++] - '0');
    }
    if (insert.field == 0 || insert.units == units || at[insert.units] != '!') {
        return insert;
    }
    for (end = insert.units + 1; end < units && at[end] != '!'; end++) {
    }
    if (end < units) {
        insert_read_conversion(at + insert.units + 1, end - insert.units - 1, &insert);
        insert.units = end + 1;
    }
    return insert;
}

void etwas_message_write_inserts(struct etwas_text_writer *text, const etwas_wchar *message,
                                 size_t units, const etwas_schema *schema,
                                 const EVENT_RECORD *record)
{
    struct insert_state inserting = {
        text, schema, record, EFFORT_BESIDES + EFFORT_OF_BYTE * (size_t)record->UserDataLength};
    size_t at = 0;

    while (at < units) {
        size_t plain = at;
        struct insert insert;

        while (at < units && message[at] != '%') {
            at++;
        }
        etwas_text_put_utf16(text, message + plain, at - plain);
        if (at++ >= units) {
            return;
        }
        insert = insert_read(message + at, units - at);
        if (insert.field == 0) {
            insert.units = insert_write_escape(text, message + at, units - at);
            if (insert.units == 0) {
                return;
            }
        } else if (!insert_write_field(&inserting, &insert)) {
            etwas_text_put_utf16(text, message + at - 1, insert.units + 1);
        }
        at += insert.units;
    }
}
