/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A message of a manifest, with an event's fields in it. */
#include <string.h>

#include "decode/message.h"
#include "decode/value.h"

enum {
    INSERTS = 256, /* each goes through the event; more of them are left as they are written */
};

/* The text of the top-level field `wanted`, counted from 1; of an array or a struct its values. */
static bool put_field(struct etwas_text *text, const etwas_schema *schema,
                      const EVENT_RECORD *record, uint32_t wanted)
{
    etwas_fields fields;
    etwas_value value;
    uint32_t field = 0;
    uint32_t depth = 0;
    bool is_first = true;

    etwas_fields_begin(&fields, schema, record);
    while (field <= wanted && etwas_fields_next(&fields, &value)) {
        bool is_begin =
            value.token == ETWAS_TOKEN_ARRAY_BEGIN || value.token == ETWAS_TOKEN_STRUCT_BEGIN;
        bool is_end = value.token == ETWAS_TOKEN_ARRAY_END || value.token == ETWAS_TOKEN_STRUCT_END;

        if (value.token >= ETWAS_TOKEN_TRUNCATED) {
            break;
        }
        field += depth == 0;
        depth += is_begin;
        depth -= is_end;
        if (field == wanted && value.token == ETWAS_TOKEN_VALUE) {
            etwas_text_put(text, ", ", is_first ? 0 : 2);
            etwas_value_put(text, &value);
            is_first = false;
        }
    }
    return field > wanted || (field == wanted && depth == 0);
}

/* What stands behind a percent sign. Returns how many units of it were read; 0: the end. */
static size_t put_escape(struct etwas_text *text, const etwas_wchar *at, size_t units)
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

/* Digits, and what may stand between exclamation marks behind them. */
static size_t read_insert(const etwas_wchar *at, size_t units, uint32_t *insert)
{
    size_t read = 0;
    size_t end;

    *insert = 0;
    for (; read < units && read < 2 && at[read] >= '0' && at[read] <= '9'; read++) {
        *insert = 10 * *insert + (uint32_t)(at[read] - '0');
    }
    if (*insert == 0 || read == units || at[read] != '!') {
        return read;
    }
    for (end = read + 1; end < units && at[end] != '!'; end++) {
    }
    return end < units ? end + 1 : read;
}

void etwas_put_inserts(struct etwas_text *text, const etwas_wchar *message, size_t units,
                       const etwas_schema *schema, const EVENT_RECORD *record)
{
    size_t at = 0;
    unsigned inserts = 0;

    while (at < units) {
        size_t plain = at;
        size_t read;
        uint32_t insert;

        while (at < units && message[at] != '%') {
            at++;
        }
        etwas_text_put_utf16(text, message + plain, at - plain);
        if (at++ >= units) {
            return;
        }
        read = read_insert(message + at, units - at, &insert);
        if (insert == 0) {
            read = put_escape(text, message + at, units - at);
            if (read == 0) {
                return;
            }
        } else if (inserts++ >= INSERTS || !put_field(text, schema, record, insert)) {
            etwas_text_put_utf16(text, message + at - 1, read + 1);
        }
        at += read;
    }
}
