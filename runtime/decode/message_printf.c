/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes a message by its format, with the arguments in its payload. */
#include <string.h>

#include "decode/message.h"
#include "decode/value.h"

struct printf_arguments {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t number; /* of the argument that was begun last */
    bool is_over;    /* that argument is incomplete */
};

/* Returns the next `count` bytes; NULL: the payload has ended. */
static const uint8_t *printf_next_bytes(struct printf_arguments *arguments, size_t count)
{
    const uint8_t *at = arguments->at;

    if (arguments->is_over || (size_t)(arguments->end - at) < count) {
        arguments->is_over = true;
        return NULL;
    }
    arguments->at += count;
    return at;
}

static void printf_write_missing(struct etwas_text_writer *text)
{
    etwas_text_put_utf8(text, "\xE2\x80\xA6", 3);
}

/* Writes a string up to its 0, or up to the payload's end, cut to the precision. */
static void printf_write_string(struct etwas_text_writer *text,
                                const struct etwas_printf_conversion *conversion,
                                struct printf_arguments *arguments)
{
    size_t unit = conversion->is_wide ? 2 : 1;
    size_t most = (size_t)(arguments->end - arguments->at) / unit;
    const uint8_t *at = arguments->at;
    size_t units = 0;
    size_t whole;
    bool ends;

    if (arguments->is_over || most == 0) {
        arguments->is_over = true;
        printf_write_missing(text);
        return;
    }
    while (units < most && (at[unit * units] != 0 || at[unit * units + unit - 1] != 0)) {
        units++;
    }
    ends = units < most;
    arguments->at += unit * (units + ends);
    whole = units;
    if (conversion->precision >= 0 && (size_t)conversion->precision < units) {
        units = (size_t)conversion->precision;
    }
    etwas_printf_write_padded(text, conversion, at, units);
    etwas_value_write_odd_string(text, at, unit * whole, conversion->is_wide, " [", "]");
}

static void printf_write_integer(struct etwas_text_writer *text,
                                 const struct etwas_printf_conversion *conversion,
                                 struct printf_arguments *arguments)
{
    const uint8_t *at = printf_next_bytes(arguments, conversion->bytes);
    unsigned unused = 64 - 8 * conversion->bytes;
    uint64_t number = 0;

    if (at == NULL) {
        printf_write_missing(text);
        return;
    }
    memcpy(&number, at, conversion->bytes);
    if (conversion->letter == 'd' || conversion->letter == 'i') {
        number = (uint64_t)((int64_t)(number << unused) >> unused);
    }
    etwas_printf_write_integer(text, conversion, number);
}

static void printf_write_float(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion,
                               struct printf_arguments *arguments)
{
    double number;
    const uint8_t *at = printf_next_bytes(arguments, sizeof number);

    if (at == NULL) {
        printf_write_missing(text);
        return;
    }
    memcpy(&number, at, sizeof number);
    etwas_printf_write_double(text, conversion, number);
}

static void printf_write_character(struct etwas_text_writer *text,
                                   struct etwas_printf_conversion *conversion,
                                   struct printf_arguments *arguments)
{
    const uint8_t *at = printf_next_bytes(arguments, 1);

    conversion->is_wide = false;
    if (at == NULL) {
        printf_write_missing(text);
    } else {
        etwas_printf_write_padded(text, conversion, at, 1);
        etwas_value_write_odd_string(text, at, 1, false, " [", "]");
    }
}

static void printf_write_address(struct etwas_text_writer *text, struct printf_arguments *arguments)
{
    uint64_t address;
    const uint8_t *at = printf_next_bytes(arguments, sizeof address);

    if (at == NULL) {
        printf_write_missing(text);
        return;
    }
    memcpy(&address, at, sizeof address);
    etwas_text_put_hex(text, address);
}

static void printf_write_conversion(struct etwas_text_writer *text,
                                    struct etwas_printf_conversion *conversion,
                                    struct printf_arguments *arguments)
{
    arguments->number += !arguments->is_over && conversion->letter != '%';
    switch (conversion->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        printf_write_integer(text, conversion, arguments);
        break;
    case 's':
        printf_write_string(text, conversion, arguments);
        break;
    case 'c':
        printf_write_character(text, conversion, arguments);
        break;
    case 'p':
        printf_write_address(text, arguments);
        break;
    case '%':
        etwas_text_put(text, "%", 1);
        break;
    case 0: /* unknown: neither is the length of its argument, nor where the next one begins */
        arguments->is_over = true;
        printf_write_missing(text);
        break;
    default:
        printf_write_float(text, conversion, arguments);
        break;
    }
}

static bool printf_rest_of(const struct printf_arguments *arguments, etwas_value *rest)
{
    *rest = (etwas_value){0};
    rest->token = arguments->is_over ? ETWAS_TOKEN_TRUNCATED : ETWAS_TOKEN_TRAILING;
    rest->index = arguments->is_over ? arguments->number : 0;
    rest->data = arguments->at;
    rest->bytes = (uint32_t)(arguments->end - arguments->at);
    return arguments->is_over || rest->bytes > 0;
}

bool etwas_message_write_printf(struct etwas_text_writer *text, const char *format,
                                const EVENT_RECORD *record, etwas_value *rest)
{
    static const uint8_t nothing[1];
    struct printf_arguments arguments = {.at = nothing, .end = nothing};

    if (record->UserData != NULL) {
        arguments.at = record->UserData;
        arguments.end = arguments.at + record->UserDataLength;
    }
    while (*format != 0) {
        size_t plain = strcspn(format, "%");
        struct etwas_printf_conversion conversion;

        etwas_text_put_utf8(text, format, plain);
        format += plain;
        if (*format != 0) {
            format = etwas_printf_conversion_read(format + 1, &conversion);
            printf_write_conversion(text, &conversion, &arguments);
        }
    }
    return printf_rest_of(&arguments, rest);
}
