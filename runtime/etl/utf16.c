/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Each direction decodes one code point at a time, in two passes: to validate and measure, then to
 * write.
 */
#include "etl/utf16.h"

#include <stdint.h>

/* The smallest code point that needs this many bytes; the form of a smaller one is overlong. */
static const uint32_t smallest_of_length[5] = {0, 0, 0x80, 0x800, 0x10000};

size_t etwas_utf8_decode(const unsigned char *text, size_t bytes, uint32_t *point)
{
    uint32_t value;

    unsigned char lead = text[0];
    size_t length = lead < 0x80             ? 1
                    : (lead & 0xE0) == 0xC0 ? 2
                    : (lead & 0xF0) == 0xE0 ? 3
                    : (lead & 0xF8) == 0xF0 ? 4
                                            : 0;

    if (length == 0 || length > bytes) {
        return 0;
    }
    value = length == 1 ? lead : lead & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
        value = value << 6 | (text[i] & 0x3Fu);
    }
    if (value == 0 || value < smallest_of_length[length] || value > 0x10FFFF ||
        (value >= 0xD800 && value <= 0xDFFF)) {
        return 0;
    }
    *point = value;
    return length;
}

size_t etwas_utf16_decode(const etwas_wchar *text, size_t units, uint32_t *point)
{
    uint32_t first = text[0];

    if (first == 0 || (first >= 0xDC00 && first <= 0xDFFF)) {
        return 0;
    }
    if (first < 0xD800 || first > 0xDFFF) {
        *point = first;
        return 1;
    }
    if (units < 2 || text[1] < 0xDC00 || text[1] > 0xDFFF) {
        return 0;
    }
    *point = 0x10000 + ((first - 0xD800) << 10) + (text[1] - 0xDC00u);
    return 2;
}

static size_t utf16_encode_point(uint32_t point, etwas_wchar *out)
{
    if (point < 0x10000) {
        out[0] = (etwas_wchar)point;
        return 1;
    }
    out[0] = (etwas_wchar)(0xD800 + ((point - 0x10000) >> 10));
    out[1] = (etwas_wchar)(0xDC00 + ((point - 0x10000) & 0x3FF));
    return 2;
}

static size_t utf8_length_of_point(uint32_t point)
{
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}

size_t etwas_utf8_encode(uint32_t point, char *out)
{
    static const unsigned char lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t length = utf8_length_of_point(point);

    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (char)(lead[length] | point);
    return length;
}

enum etwas_utf_result etwas_utf8_to_utf16(const char *text, size_t bytes, etwas_wchar *out,
                                          size_t capacity_units, size_t *needed_units)
{
    const unsigned char *input = (const unsigned char *)text;
    size_t needed = 1;
    uint32_t point = 0;

    *needed_units = 0;
    for (size_t at = 0, length; at < bytes; at += length) {
        length = etwas_utf8_decode(input + at, bytes - at, &point);
        if (length == 0) {
            return ETWAS_UTF_INVALID;
        }
        needed += point < 0x10000 ? 1 : 2;
    }
    *needed_units = needed;
    if (needed > capacity_units) {
        return ETWAS_UTF_TOO_LONG;
    }
    for (size_t at = 0; at < bytes;) {
        at += etwas_utf8_decode(input + at, bytes - at, &point);
        out += utf16_encode_point(point, out);
    }
    *out = 0;
    return ETWAS_UTF_OK;
}

enum etwas_utf_result etwas_utf16_to_utf8(const etwas_wchar *text, size_t units, char *out,
                                          size_t capacity_bytes, size_t *needed_bytes)
{
    size_t needed = 1;
    uint32_t point = 0;

    *needed_bytes = 0;
    for (size_t at = 0, length; at < units; at += length) {
        length = etwas_utf16_decode(text + at, units - at, &point);
        if (length == 0) {
            return ETWAS_UTF_INVALID;
        }
        needed += utf8_length_of_point(point);
    }
    *needed_bytes = needed;
    if (needed > capacity_bytes) {
        return ETWAS_UTF_TOO_LONG;
    }
    for (size_t at = 0; at < units;) {
        at += etwas_utf16_decode(text + at, units - at, &point);
        out += etwas_utf8_encode(point, out);
    }
    *out = 0;
    return ETWAS_UTF_OK;
}

size_t etwas_utf16_length(const etwas_wchar *text, size_t limit_units)
{
    size_t units = 0;

    while (units < limit_units && text[units] != 0) {
        units++;
    }
    return units;
}
