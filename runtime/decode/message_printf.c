/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A message by its format. The format is not given to printf: what it may say is read here, and
 * printf gets a conversion made of that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/message.h"
#include "decode/value.h"

enum {
    LARGEST_WIDTH = 255, /* and precision */
    PRINTED_BYTES = 512, /* the largest double with that precision */
};

struct arguments {
    const uint8_t *at;
    const uint8_t *end;
    bool is_over;
};

struct conversion {
    char flags[6];
    int width;
    int precision; /* -1: none */
    uint32_t bytes;
    bool is_wide;
    char letter; /* 0: none that is known */
};

static int number_at(const char **at)
{
    int number = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++) {
        number = number > LARGEST_WIDTH ? number : 10 * number + (**at - '0');
    }
    return number > LARGEST_WIDTH ? LARGEST_WIDTH : number;
}

/* The bytes of an integer by its length modifier. */
static uint32_t length_at(const char **at, bool *is_long)
{
    static const struct {
        const char *modifier;
        uint32_t bytes;
    } lengths[] = {{"hh", 1}, {"h", 2}, {"ll", 8}, {"l", 8}, {"j", 8}, {"z", 8}, {"t", 8}};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        size_t count = strlen(lengths[i].modifier);

        if (strncmp(*at, lengths[i].modifier, count) == 0) {
            *is_long = **at == 'l';
            *at += count;
            return lengths[i].bytes;
        }
    }
    return 4;
}

/* What stands behind a percent sign; returns where the text goes on. */
static const char *read_conversion(const char *at, struct conversion *conversion)
{
    size_t flags = strspn(at, "-+ #0");

    *conversion = (struct conversion){.precision = -1};
    memcpy(conversion->flags, at,
           flags < sizeof conversion->flags ? flags : sizeof conversion->flags - 1);
    at += flags;
    conversion->width = number_at(&at);
    if (*at == '.') {
        at++;
        conversion->precision = number_at(&at);
    }
    conversion->bytes = length_at(&at, &conversion->is_wide);
    if (*at != 0 && strchr("diuoxXeEfFgGaAcsp%", *at) != NULL) {
        conversion->letter = *at++;
    }
    return at;
}

/* The next `count` bytes; NULL: the payload has ended. */
static const uint8_t *take(struct arguments *arguments, size_t count)
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

/* A format of printf's for one number, which is the widest of its kind. */
static void make_format(char *out, size_t size, const struct conversion *conversion,
                        const char *length)
{
    if (conversion->precision < 0) {
        snprintf(out, size, "%%%s*%s%c", conversion->flags, length, conversion->letter);
    } else {
        snprintf(out, size, "%%%s*.%d%s%c", conversion->flags, conversion->precision, length,
                 conversion->letter);
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_integer(struct etwas_text *text, const struct conversion *conversion,
                        struct arguments *arguments)
{
    const uint8_t *at = take(arguments, conversion->bytes);
    unsigned unused = 64 - 8 * conversion->bytes;
    char printed[PRINTED_BYTES];
    char format[32];
    uint64_t number = 0;

    if (at == NULL) {
        put_missing(text);
        return;
    }
    memcpy(&number, at, conversion->bytes);
    if (conversion->letter == 'd' || conversion->letter == 'i') {
        number = (uint64_t)((int64_t)(number << unused) >> unused);
    }
    make_format(format, sizeof format, conversion, "ll");
    snprintf(printed, sizeof printed, format, conversion->width, (unsigned long long)number);
    etwas_text_put_ascii(text, printed);
}

static void put_float(struct etwas_text *text, const struct conversion *conversion,
                      struct arguments *arguments)
{
    char printed[2 * PRINTED_BYTES];
    char format[32];
    double number;
    const uint8_t *at = take(arguments, sizeof number);

    if (at == NULL) {
        put_missing(text);
        return;
    }
    memcpy(&number, at, sizeof number);
    make_format(format, sizeof format, conversion, "");
    snprintf(printed, sizeof printed, format, conversion->width, number);
    etwas_put_number(text, printed);
}

#pragma GCC diagnostic pop

static void put_blanks(struct etwas_text *text, size_t count)
{
    for (; count > 0; count--) {
        etwas_text_put(text, " ", 1);
    }
}

/* As many blanks as the text is shorter than the width, before it or behind. */
static void put_padded(struct etwas_text *text, const struct conversion *conversion,
                       const uint8_t *bytes, size_t count)
{
    struct etwas_text measured = etwas_text_begin(NULL, 0);
    size_t width = (size_t)conversion->width;
    bool is_left = strchr(conversion->flags, '-') != NULL;

    if (conversion->is_wide) {
        etwas_text_put_utf16(&measured, bytes, count);
    } else {
        etwas_text_put_utf8(&measured, bytes, count);
    }
    width = width > measured.length ? width - measured.length : 0;
    put_blanks(text, is_left ? 0 : width);
    if (conversion->is_wide) {
        etwas_text_put_utf16(text, bytes, count);
    } else {
        etwas_text_put_utf8(text, bytes, count);
    }
    put_blanks(text, is_left ? width : 0);
}

/* To its 0, or to the payload's end; the precision says how much of it is shown. */
static void put_string(struct etwas_text *text, const struct conversion *conversion,
                       struct arguments *arguments)
{
    size_t unit = conversion->is_wide ? 2 : 1;
    size_t most = (size_t)(arguments->end - arguments->at) / unit;
    const uint8_t *at = arguments->at;
    size_t units = 0;
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
    if (conversion->precision >= 0 && (size_t)conversion->precision < units) {
        units = (size_t)conversion->precision;
    }
    put_padded(text, conversion, at, units);
}

static void put_character(struct etwas_text *text, struct conversion *conversion,
                          struct arguments *arguments)
{
    const uint8_t *at = take(arguments, 1);

    conversion->is_wide = false;
    if (at == NULL) {
        put_missing(text);
    } else {
        put_padded(text, conversion, at, 1);
    }
}

static void put_address(struct etwas_text *text, struct arguments *arguments)
{
    uint64_t address;
    const uint8_t *at = take(arguments, sizeof address);

    if (at == NULL) {
        put_missing(text);
        return;
    }
    memcpy(&address, at, sizeof address);
    etwas_text_put_hex(text, address);
}

static void put_conversion(struct etwas_text *text, struct conversion *conversion,
                           struct arguments *arguments)
{
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

void etwas_put_printf(struct etwas_text *text, const char *format, const EVENT_RECORD *record)
{
    struct arguments arguments = {.at = record->UserData};

    arguments.is_over = record->UserData == NULL;
    arguments.end = arguments.at + (arguments.is_over ? 0 : record->UserDataLength);
    while (*format != 0) {
        size_t plain = strcspn(format, "%");
        struct conversion conversion;

        etwas_text_put_utf8(text, format, plain);
        format += plain;
        if (*format != 0) {
            format = read_conversion(format + 1, &conversion);
            put_conversion(text, &conversion, &arguments);
        }
    }
}
