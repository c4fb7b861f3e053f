/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "print/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "print/text.h"

#include <etwas/etwas.h>

#define TEXT_OF(number) #number
#define FORMAT_OF(major, minor) TEXT_OF(major) "." TEXT_OF(minor) /* "0.1" */

/*
 * Larger numbers are written as text, so that programs that read numbers as double keep their
 * digits.
 */
#define MOST_NUMBER (UINT64_C(1) << 53)

/* The last byte written shows whether something precedes the value. */
void etwas_json_key(struct etwas_output *output, const char *key)
{
    char last = etwas_output_last(output);

    if (last != '{' && last != '[' && last != '\n' && last != '\0') {
        etwas_output_char(output, ',');
    }
    if (key != NULL) {
        etwas_output_char(output, '"');
        etwas_output_text(output, key);
        etwas_output_text(output, "\":");
    }
}

void etwas_json_begin(struct etwas_output *output, const char *kind)
{
    etwas_output_text(output, etwas_output_last(output) == '}' ? "," : "");
    etwas_output_text(output,
                      "{\"etwas\":\"" FORMAT_OF(ETWAS_VERSION_MAJOR, ETWAS_VERSION_MINOR) "\"");
    etwas_json_text(output, "kind", kind);
}

void etwas_json_object(struct etwas_output *output, const char *key)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '{');
}

void etwas_json_array(struct etwas_output *output, const char *key)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '[');
}

void etwas_json_null(struct etwas_output *output, const char *key)
{
    etwas_json_key(output, key);
    etwas_output_text(output, "null");
}

void etwas_json_boolean(struct etwas_output *output, const char *key, bool value)
{
    etwas_json_key(output, key);
    etwas_output_text(output, value ? "true" : "false");
}

void etwas_json_put_unsigned(struct etwas_output *output, uint64_t value)
{
    const char *quote = value > MOST_NUMBER ? "\"" : "";

    etwas_output_text(output, quote);
    etwas_output_unsigned(output, value);
    etwas_output_text(output, quote);
}

void etwas_json_put_signed(struct etwas_output *output, int64_t value)
{
    const char *quote = value > (int64_t)MOST_NUMBER || value < -(int64_t)MOST_NUMBER ? "\"" : "";

    etwas_output_text(output, quote);
    etwas_output_signed(output, value);
    etwas_output_text(output, quote);
}

void etwas_json_number(struct etwas_output *output, const char *key, uint64_t value)
{
    etwas_json_key(output, key);
    etwas_json_put_unsigned(output, value);
}

void etwas_json_signed(struct etwas_output *output, const char *key, int64_t value)
{
    etwas_json_key(output, key);
    etwas_json_put_signed(output, value);
}

void etwas_json_bits(struct etwas_output *output, const char *key, uint64_t bits)
{
    etwas_json_format(output, key, "\"0x%" PRIx64 "\"", bits);
}

void etwas_json_word(struct etwas_output *output, const char *key, const char *words)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    for (; *words != '\0'; words++) {
        etwas_output_char(output, *words == ' ' ? '_' : *words);
    }
    etwas_output_char(output, '"');
}

void etwas_json_known(struct etwas_output *output, const char *key, bool is_known, uint64_t value)
{
    if (is_known) {
        etwas_json_number(output, key, value);
    } else {
        etwas_json_null(output, key);
    }
}

void etwas_json_error(struct etwas_output *output, const char *key, uint64_t error_ns)
{
    etwas_json_known(output, key, error_ns != UINT64_MAX, error_ns);
}

void etwas_json_real(struct etwas_output *output, const char *key, double value)
{
    if (isfinite(value)) {
        etwas_json_format(output, key, "%.9g", value);
    } else {
        etwas_json_null(output, key);
    }
}

void etwas_json_format(struct etwas_output *output, const char *key, const char *format, ...)
{
    va_list arguments;

    etwas_json_key(output, key);
    va_start(arguments, format);
    etwas_output_format_list(output, format, arguments);
    va_end(arguments);
}

void etwas_json_guid(struct etwas_output *output, const char *key, const etwas_guid *guid)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    etwas_text_guid(output, guid);
    etwas_output_char(output, '"');
}

void etwas_json_time(struct etwas_output *output, const char *key, int64_t filetime)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    etwas_text_time(output, filetime);
    etwas_output_char(output, '"');
}

void etwas_json_time_ns(struct etwas_output *output, const char *key, int64_t unix_ns)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    etwas_text_time_ns(output, unix_ns);
    etwas_output_char(output, '"');
}

void etwas_json_text(struct etwas_output *output, const char *key, const char *text)
{
    if (text == NULL) {
        etwas_json_null(output, key);
        return;
    }
    etwas_json_key(output, key);
    etwas_json_string(output, text);
}

void etwas_json_string(struct etwas_output *output, const char *text)
{
    etwas_output_char(output, '"');
    etwas_text_utf8(output, ETWAS_TEXT_JSON, text, strlen(text));
    etwas_output_char(output, '"');
}

void etwas_json_utf16(struct etwas_output *output, const char *key, const void *text, size_t units)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    etwas_text_utf16(output, ETWAS_TEXT_JSON, text, units);
    etwas_output_char(output, '"');
}

void etwas_json_hex(struct etwas_output *output, const char *key, const void *data, size_t bytes)
{
    etwas_json_key(output, key);
    etwas_output_char(output, '"');
    etwas_output_hex(output, data, bytes);
    etwas_output_char(output, '"');
}
