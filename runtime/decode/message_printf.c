/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A message by its format, with the arguments of its payload. */
#include <string.h>

#include "decode/conversion.h"
#include "decode/message.h"
#include "decode/value.h"

struct arguments {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t number; /* of the last that was begun */
    bool is_over;    /* that one is not whole */
};

/* The next `count` bytes; NULL: the payload has ended. */
static const uint8_t *next_bytes(struct arguments *arguments, size_t count)
{
    const uint8_t *at = arguments->at;

    if (arguments->is_over || (size_t)(arguments->end - at) < count) {
        arguments->is_over = true;
        return NULL;
    }
    arguments->at += count;
    return at;
}

static void put_missing(struct etwas_text *text)
{
    etwas_text_put_utf8(text, "\xE2\x80\xA6", 3);
}

/* To its 0, or to the payload's end; the precision says how much of it is shown. */
static void put_string(struct etwas_text *text, const struct etwas_conversion *conversion,
                       struct arguments *arguments)
{
    size_t unit = conversion->is_wide ? 2 : 1;
    size_t most = (size_t)(arguments->end - arguments->at) / unit;
    const uint8_t *at = arguments->at;
    size_t units = 0;
    size_t whole;
    bool ends;

    if (arguments->is_over || most == 0) {
        arguments->is_over = true;
        put_missing(text);
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
    etwas_put_padded(text, conversion, at, units);
    etwas_put_odd_string(text, at, unit * whole, conversion->is_wide, " [", "]");
}

static void put_integer(struct etwas_text *text, const struct etwas_conversion *conversion,
                        struct arguments *arguments)
{
    const uint8_t *at = next_bytes(arguments, conversion->bytes);
    unsigned unused = 64 - 8 * conversion->bytes;
    uint64_t number = 0;

    if (at == NULL) {
        put_missing(text);
        return;
    }
    memcpy(&number, at, conversion->bytes);
    if (conversion->letter == 'd' || conversion->letter == 'i') {
        number = (uint64_t)((int64_t)(number << unused) >> unused);
    }
    etwas_put_integer_by(text, conversion, number);
}

static void put_float(struct etwas_text *text, const struct etwas_conversion *conversion,
                      struct arguments *arguments)
{
    double number;
    const uint8_t *at = next_bytes(arguments, sizeof number);

    if (at == NULL) {
        put_missing(text);
        return;
    }
    memcpy(&number, at, sizeof number);
    etwas_put_double_by(text, conversion, number);
}

static void put_character(struct etwas_text *text, struct etwas_conversion *conversion,
                          struct arguments *arguments)
{
    const uint8_t *at = next_bytes(arguments, 1);

    conversion->is_wide = false;
    if (at == NULL) {
        put_missing(text);
    } else {
        etwas_put_padded(text, conversion, at, 1);
        etwas_put_odd_string(text, at, 1, false, " [", "]");
    }
}

static void put_address(struct etwas_text *text, struct arguments *arguments)
{
    uint64_t address;
    const uint8_t *at = next_bytes(arguments, sizeof address);

    if (at == NULL) {
        put_missing(text);
        return;
    }
    memcpy(&address, at, sizeof address);
    etwas_text_put_hex(text, address);
}

static void put_conversion(struct etwas_text *text, struct etwas_conversion *conversion,
                           struct arguments *arguments)
{
    arguments->number += !arguments->is_over && conversion->letter != '%';
    switch (conversion->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        put_integer(text, conversion, arguments);
        break;
    case 's':
        put_string(text, conversion, arguments);
        break;
    case 'c':
        put_character(text, conversion, arguments);
        break;
    case 'p':
        put_address(text, arguments);
        break;
    case '%':
        etwas_text_put(text, "%", 1);
        break;
    case 0: /* how long its argument is nobody knows: nor where the next one begins */
        arguments->is_over = true;
        put_missing(text);
        break;
    default:
        put_float(text, conversion, arguments);
        break;
    }
}

static bool rest_of(const struct arguments *arguments, etwas_value *rest)
{
    *rest = (etwas_value){0};
    rest->token = arguments->is_over ? ETWAS_TOKEN_TRUNCATED : ETWAS_TOKEN_TRAILING;
    rest->index = arguments->is_over ? arguments->number : 0;
    rest->data = arguments->at;
    rest->bytes = (uint32_t)(arguments->end - arguments->at);
    return arguments->is_over || rest->bytes > 0;
}

bool etwas_put_printf(struct etwas_text *text, const char *format, const EVENT_RECORD *record,
                      etwas_value *rest)
{
    static const uint8_t nothing[1];
    struct arguments arguments = {.at = nothing, .end = nothing};

    if (record->UserData != NULL) {
        arguments.at = record->UserData;
        arguments.end = arguments.at + record->UserDataLength;
    }
    while (*format != 0) {
        size_t plain = strcspn(format, "%");
        struct etwas_conversion conversion;

        etwas_text_put_utf8(text, format, plain);
        format += plain;
        if (*format != 0) {
            format = etwas_read_conversion(format + 1, &conversion);
            put_conversion(text, &conversion, &arguments);
        }
    }
    return rest_of(&arguments, rest);
}
