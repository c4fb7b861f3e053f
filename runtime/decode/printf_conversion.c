/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/message.h"

#include <stdio.h>
#include <string.h>

#include "decode/value.h"

enum {
    PRINTED_BYTES = 1024, /* the largest double with the largest precision takes 566 */
};

static int conversion_number_at(const char **at)
{
    int number = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++) {
        number = number > ETWAS_LARGEST_WIDTH ? number : 10 * number + (**at - '0');
    }
    return number > ETWAS_LARGEST_WIDTH ? ETWAS_LARGEST_WIDTH : number;
}

/* Returns the size of an integer by its length modifier. */
static uint32_t conversion_length_at(const char **at, bool *is_long)
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
    if (**at == 'I') { /* a Windows extension, followed by the number of bits */
        (*at)++;
        return conversion_number_at(at) == 32 ? 4 : 8;
    }
    return 4;
}

const char *etwas_printf_conversion_read(const char *at, struct etwas_printf_conversion *conversion)
{
    size_t flags = strspn(at, "-+ #0");

    *conversion = (struct etwas_printf_conversion){.precision = -1};
    memcpy(conversion->flags, at,
           flags < sizeof conversion->flags ? flags : sizeof conversion->flags - 1);
    at += flags;
    conversion->width = conversion_number_at(&at);
    if (*at == '.') {
        at++;
        conversion->precision = conversion_number_at(&at);
    }
    conversion->bytes = conversion_length_at(&at, &conversion->is_wide);
    if (*at != 0 && strchr("diuoxXeEfFgGaAcsp%", *at) != NULL) {
        conversion->letter = *at++;
    }
    return at;
}

/* Makes a format of printf for one number of the widest type of its kind. */
static void conversion_make_format(char *out, size_t size,
                                   const struct etwas_printf_conversion *conversion,
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

void etwas_printf_write_integer(struct etwas_text_writer *text,
                                const struct etwas_printf_conversion *conversion, uint64_t number)
{
    char printed[PRINTED_BYTES];
    char format[32];

    conversion_make_format(format, sizeof format, conversion, "ll");
    snprintf(printed, sizeof printed, format, conversion->width, (unsigned long long)number);
    etwas_text_put_ascii(text, printed);
}

void etwas_printf_write_double(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion, double number)
{
    char printed[PRINTED_BYTES];
    char format[32];

    conversion_make_format(format, sizeof format, conversion, "");
    snprintf(printed, sizeof printed, format, conversion->width, number);
    etwas_value_write_number(text, printed);
}

#pragma GCC diagnostic pop

static void conversion_write_blanks(struct etwas_text_writer *text, size_t count)
{
    for (; count > 0; count--) {
        etwas_text_put(text, " ", 1);
    }
}

void etwas_printf_write_padded(struct etwas_text_writer *text,
                               const struct etwas_printf_conversion *conversion,
                               const void *characters, size_t count)
{
    void (*put)(struct etwas_text_writer *, const void *, size_t) =
        conversion->is_wide ? etwas_text_put_utf16 : etwas_text_put_utf8;
    struct etwas_text_writer measured = etwas_text_begin(NULL, 0);
    size_t width = (size_t)conversion->width;
    bool is_left = strchr(conversion->flags, '-') != NULL;

    put(&measured, characters, count);
    width = width > measured.length ? width - measured.length : 0;
    conversion_write_blanks(text, is_left ? 0 : width);
    put(text, characters, count);
    conversion_write_blanks(text, is_left ? width : 0);
}
