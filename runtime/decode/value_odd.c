/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Describes in words what a value's text does not show, and what is invalid in it. */
#include <string.h>

#include "decode/value.h"
#include "etl/utf16.h"

enum {
    SID_REVISION = 1,
    SID_PARTS = 15, /* at most */
};

/* Appends words and bytes to the description, after a comma if it is not empty. */
static void odd_write_bytes(struct etwas_text_writer *text, const char *words, const void *bytes,
                            size_t count)
{
    etwas_text_put_ascii(text, text->length > 0 ? ", " : "");
    etwas_text_put_ascii(text, words);
    etwas_text_put_bytes(text, bytes, count);
}

static bool odd_is_utf16(const uint8_t *bytes, size_t units)
{
    for (size_t at = 0, length; at < units; at += length) {
        etwas_wchar next[2] = {0};
        uint32_t point;

        memcpy(next, bytes + 2 * at, units - at < 2 ? 2 : 4);
        length = etwas_utf16_decode(next, units - at, &point);
        if (length == 0) {
            return false;
        }
    }
    return true;
}

static bool odd_is_utf8(const uint8_t *bytes, size_t count)
{
    for (size_t at = 0, length; at < count; at += length) {
        uint32_t point;

        length = bytes[at] < 0x80 ? 1 : etwas_utf8_decode(bytes + at, count - at, &point);
        if (length == 0) {
            return false;
        }
    }
    return true;
}

/* Describes the bytes after the first 0 of a text of fixed length. */
static void odd_write_behind(struct etwas_text_writer *text, const etwas_value *value)
{
    const uint8_t *behind = (const uint8_t *)value->data + value->bytes;
    uint32_t unit = etwas_value_form(value) == ETWAS_FORM_UTF16 ? 2 : 1;
    uint32_t count = value->behind;

    while (count > 0 && behind[count - 1] == 0) {
        count--;
    }
    if (count > unit) {
        odd_write_bytes(text, "behind its 0: ", behind + unit, count - unit);
    }
}

void etwas_value_write_odd_string(struct etwas_text_writer *text, const void *bytes, size_t count,
                                  bool is_wide, const char *before, const char *after)
{
    if (is_wide ? !odd_is_utf16(bytes, count / 2) : !odd_is_utf8(bytes, count)) {
        etwas_text_put_ascii(text, before);
        etwas_text_put_ascii(text, is_wide ? "not UTF-16: " : "not UTF-8: ");
        etwas_text_put_bytes(text, bytes, count);
        etwas_text_put_ascii(text, after);
    }
}

static void odd_write_utf16(struct etwas_text_writer *text, const etwas_value *value)
{
    if (!odd_is_utf16(value->data, value->bytes / 2)) {
        odd_write_bytes(text, "not UTF-16: ", value->data, value->bytes);
    } else if (value->bytes % 2 != 0) {
        odd_write_bytes(text, "odd byte: ", (const uint8_t *)value->data + value->bytes - 1, 1);
    }
}

static void odd_write_sid(struct etwas_text_writer *text, const etwas_value *value)
{
    const uint8_t *sid = value->data;

    if (value->bytes < 2) {
        return;
    }
    if (sid[0] != SID_REVISION) {
        etwas_text_put_ascii(text, "revision ");
        etwas_text_put_unsigned(text, sid[0]);
        etwas_text_put_ascii(text, ", only 1 is known");
    } else if (sid[1] > SID_PARTS) {
        etwas_text_put_unsigned(text, sid[1]);
        etwas_text_put_ascii(text, " sub-authorities, 15 are allowed");
    }
}

static bool odd_is_date(const etwas_value *value)
{
    static const uint8_t days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    etwas_systemtime time;

    memcpy(&time, value->data, sizeof time);
    return time.wMonth >= 1 && time.wMonth <= 12 && time.wDay >= 1 &&
           time.wDay <= days[time.wMonth - 1] && time.wHour < 24 && time.wMinute < 60 &&
           time.wSecond < 60 && time.wMilliseconds < 1000;
}

size_t etwas_value_odd(const etwas_value *value, char *text, size_t size)
{
    struct etwas_text_writer out = etwas_text_begin(text, size);

    switch (etwas_value_form(value)) {
    case ETWAS_FORM_UTF16:
        odd_write_behind(&out, value);
        odd_write_utf16(&out, value);
        break;
    case ETWAS_FORM_UTF8:
        odd_write_behind(&out, value);
        if (!odd_is_utf8(value->data, value->bytes)) {
            odd_write_bytes(&out, "not UTF-8: ", value->data, value->bytes);
        }
        break;
    case ETWAS_FORM_SID:
        odd_write_sid(&out, value);
        break;
    case ETWAS_FORM_SYSTEMTIME:
        etwas_text_put_ascii(&out, odd_is_date(value) ? "" : "no such date");
        break;
    default:
        break;
    }
    return etwas_text_end(&out, size);
}
