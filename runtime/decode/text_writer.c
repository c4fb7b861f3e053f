/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/text_writer.h"

#include <stdbool.h>
#include <string.h>

#include "etl/utf16.h"

enum {
    REPLACEMENT = 0xFFFD
};

struct etwas_text_writer etwas_text_begin(char *bytes, size_t size)
{
    return (struct etwas_text_writer){.bytes = bytes, .room = size > 0 ? size - 1 : 0};
}

size_t etwas_text_end(struct etwas_text_writer *text, size_t size)
{
    if (size > 0) {
        text->bytes[text->written] = 0;
    }
    return text->length;
}

void etwas_text_put(struct etwas_text_writer *text, const char *bytes, size_t count)
{
    text->length += count;
    if (count > text->room) {
        text->room = 0;
        return;
    }
    if (count > 0) {
        memcpy(text->bytes + text->written, bytes, count);
    }
    text->written += count;
    text->room -= count;
}

void etwas_text_put_ascii(struct etwas_text_writer *text, const char *ascii)
{
    etwas_text_put(text, ascii, strlen(ascii));
}

void etwas_text_put_digits(struct etwas_text_writer *text, uint64_t number, unsigned digits)
{
    char buffer[20];
    size_t at = sizeof buffer;

    while (number > 0 || sizeof buffer - at < digits) {
        buffer[--at] = (char)('0' + number % 10);
        number /= 10;
    }
    etwas_text_put(text, buffer + at, sizeof buffer - at);
}

void etwas_text_put_unsigned(struct etwas_text_writer *text, uint64_t number)
{
    etwas_text_put_digits(text, number, 1);
}

void etwas_text_put_signed(struct etwas_text_writer *text, int64_t number)
{
    if (number < 0) {
        etwas_text_put(text, "-", 1);
    }
    etwas_text_put_unsigned(text, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static const char hex_digits[] = "0123456789ABCDEF";

void etwas_text_put_hex(struct etwas_text_writer *text, uint64_t number)
{
    char buffer[18];
    size_t at = sizeof buffer;

    do {
        buffer[--at] = hex_digits[number & 15];
        number >>= 4;
    } while (number > 0);
    buffer[--at] = 'x';
    buffer[--at] = '0';
    etwas_text_put(text, buffer + at, sizeof buffer - at);
}

void etwas_text_put_bytes(struct etwas_text_writer *text, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char pair[2] = {hex_digits[bytes[i] >> 4], hex_digits[bytes[i] & 15]};

        etwas_text_put(text, pair, sizeof pair);
    }
}

/* Writes single-byte characters, as many as fit. */
static void text_write_run(struct etwas_text_writer *text, const char *ascii, size_t count)
{
    size_t fits = count < text->room ? count : text->room;

    if (fits > 0) {
        memcpy(text->bytes + text->written, ascii, fits);
    }
    text->written += fits;
    text->room -= fits;
    text->length += count;
}

static void text_write_code_point(struct etwas_text_writer *text, uint32_t point)
{
    char bytes[4];

    etwas_text_put(text, bytes, etwas_utf8_encode(point, bytes));
}

static bool text_is_ascii(uint32_t unit)
{
    return unit - 1 < 0x7F;
}

void etwas_text_put_utf8(struct etwas_text_writer *text, const void *utf8, size_t bytes)
{
    const char *at = utf8;
    const char *end = at + bytes;

    while (at < end) {
        const char *run = at;
        uint32_t point = REPLACEMENT;
        size_t length;

        while (at < end && text_is_ascii((unsigned char)*at)) {
            at++;
        }
        text_write_run(text, run, (size_t)(at - run));
        if (at < end) {
            length = etwas_utf8_decode((const unsigned char *)at, (size_t)(end - at), &point);
            text_write_code_point(text, point);
            at += length > 0 ? length : 1;
        }
    }
}

void etwas_text_put_utf16(struct etwas_text_writer *text, const void *utf16, size_t units)
{
    const uint8_t *bytes = utf16;

    for (size_t at = 0; at < units;) {
        etwas_wchar next[2] = {0};
        uint32_t point = REPLACEMENT;
        size_t length;

        memcpy(next, bytes + 2 * at, units - at < 2 ? 2 : 4);
        if (text_is_ascii(next[0]) && text->room > 0) {
            text->bytes[text->written++] = (char)next[0];
            text->room--;
            text->length++;
            at++;
            continue;
        }
        length = etwas_utf16_decode(next, units - at, &point);
        text_write_code_point(text, point);
        at += length > 0 ? length : 1;
    }
}
