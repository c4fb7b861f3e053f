/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The output buffer, and numbers in it without printf.
 */

#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct etwas_output *etwas_standard_output(void)
{
    static struct etwas_output output;

    output.descriptor = STDOUT_FILENO;
    return &output;
}

struct etwas_output *etwas_standard_error(void)
{
    static struct etwas_output output;

    output.descriptor = STDERR_FILENO;
    return &output;
}

static void write_all(struct etwas_output *output, const char *bytes, size_t count)
{
    size_t done = 0;

    while (output->error == 0 && done < count) {
        ssize_t written = write(output->descriptor, bytes + done, count - done);

        if (written >= 0) {
            done += (size_t)written;
        } else if (errno != EINTR) {
            output->error = errno;
        }
    }
}

/* In JSON a < is only in strings. */
static void write_in_script(struct etwas_output *output)
{
    const char *at = output->bytes;
    const char *end = output->bytes + output->used_bytes;
    const char *found;

    while ((found = memchr(at, '<', (size_t)(end - at))) != NULL) {
        write_all(output, at, (size_t)(found - at));
        write_all(output, "\\u003c", 6);
        at = found + 1;
    }
    write_all(output, at, (size_t)(end - at));
}

void etwas_output_flush(struct etwas_output *output)
{
    if (output->in_script) {
        write_in_script(output);
    } else {
        write_all(output, output->bytes, output->used_bytes);
    }
    output->used_bytes = 0;
}

bool etwas_output_finish(struct etwas_output *output)
{
    etwas_output_flush(output);
    if (output->error != 0 && output->error != EPIPE) {
        fprintf(stderr, "etwas: cannot write the output: %s\n", strerror(output->error));
    }
    return output->error == 0;
}

void etwas_output_format(struct etwas_output *output, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0) {
        size_t bytes = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;

        etwas_output_bytes(output, text, bytes);
    }
}

const char etwas_output_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

/* The digits of `value` end at text + 20; returns how many there are. */
static unsigned decimal_digits(char text[20], uint64_t value)
{
    unsigned count = 0;

    while (value >= 100) {
        count += 2;
        memcpy(text + 20 - count, etwas_output_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        count += 2;
        memcpy(text + 20 - count, etwas_output_pairs + 2 * value, 2);
        return count;
    }
    count++;
    text[20 - count] = (char)('0' + value);
    return count;
}

void etwas_output_unsigned(struct etwas_output *output, uint64_t value)
{
    char text[20];
    unsigned count = decimal_digits(text, value);

    etwas_output_bytes(output, text + 20 - count, count);
}

void etwas_output_signed(struct etwas_output *output, int64_t value)
{
    if (value < 0) {
        etwas_output_char(output, '-');
        /* 0 - x is right for INT64_MIN too. */
        etwas_output_unsigned(output, UINT64_C(0) - (uint64_t)value);
    } else {
        etwas_output_unsigned(output, (uint64_t)value);
    }
}

void etwas_output_unsigned_wide(struct etwas_output *output, uint64_t value, unsigned width)
{
    char text[20];
    unsigned count = decimal_digits(text, value);

    memset(text, ' ', 20 - count);
    if (count < width) {
        count = width;
    }
    etwas_output_bytes(output, text + 20 - count, count);
}

void etwas_output_hexadecimal(struct etwas_output *output, uint64_t value)
{
    unsigned digits = value != 0 ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
    char *text = etwas_output_room(output, 18);

    text[0] = '0';
    text[1] = 'x';
    for (unsigned i = digits; i > 0; i--) {
        text[1 + i] = "0123456789ABCDEF"[value & 15];
        value >>= 4;
    }
    output->used_bytes += 2 + digits;
}

void etwas_output_hex(struct etwas_output *output, const void *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *source = data;
    char *text = etwas_output_room(output, 2 * bytes);

    for (size_t i = 0; i < bytes; i++) {
        text[2 * i] = digits[source[i] >> 4];
        text[2 * i + 1] = digits[source[i] & 15];
    }
    output->used_bytes += 2 * bytes;
}
