/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes GUIDs, times and strings. */

#include "print/text.h"

#include "print/terminal.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

void etwas_text_guid_characters(char text[ETWAS_TEXT_GUID_CHARACTERS], const etwas_guid *guid)
{
    static const char digits[] = "0123456789abcdef";
    const uint64_t first = (uint64_t)guid->Data1 << 32 | (uint32_t)guid->Data2 << 16 | guid->Data3;
    size_t at = 0;

    for (unsigned i = 0; i < 16; i++) {
        unsigned byte = i < 8 ? (unsigned)(first >> (56 - 8 * i)) & 0xFF : guid->Data4[i - 8];

        if (i >= 4 && i <= 10 && i % 2 == 0) {
            text[at++] = '-';
        }
        text[at++] = digits[byte >> 4];
        text[at++] = digits[byte & 15];
    }
}

void etwas_text_guid(struct etwas_output *output, const etwas_guid *guid)
{
    etwas_text_guid_characters(etwas_output_room(output, ETWAS_TEXT_GUID_CHARACTERS), guid);
    output->used_bytes += ETWAS_TEXT_GUID_CHARACTERS;
}

bool etwas_text_parse_guid(const char *text, etwas_guid *guid)
{
    static const char form[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    const char *start = text[0] == '{' ? text + 1 : text;

    for (size_t i = 0; i < ETWAS_TEXT_GUID_CHARACTERS; i++) {
        if (form[i] == 'h' ? isxdigit((unsigned char)start[i]) == 0 : start[i] != form[i]) {
            return false;
        }
    }
    if (strcmp(start + ETWAS_TEXT_GUID_CHARACTERS, start > text ? "}" : "") != 0) {
        return false;
    }
    guid->Data1 = (uint32_t)strtoul(start, NULL, 16);
    guid->Data2 = (uint16_t)strtoul(start + 9, NULL, 16);
    guid->Data3 = (uint16_t)strtoul(start + 14, NULL, 16);
    for (size_t i = 0; i < sizeof guid->Data4; i++) {
        const char *pair = start + 19 + 2 * i + (i >= 2 ? 1 : 0);

        guid->Data4[i] = (uint8_t)strtoul((char[]){pair[0], pair[1], '\0'}, NULL, 16);
    }
    return true;
}

#define TICKS_PER_SECOND INT64_C(10000000)
#define NS_PER_SECOND INT64_C(1000000000)
#define NS_A_TICK UINT32_C(100)
#define SECONDS_1601_1970 INT64_C(11644473600)
#define FILETIME_YEAR_9999 INT64_C(2650467743999999999)

static void put_second(char text[19], struct etwas_output_second *last, int64_t unix_second)
{
    if (last->unix_second != unix_second || last->text[0] == '\0') {
        time_t second = unix_second;
        struct tm parts;

        gmtime_r(&second, &parts);
        strftime(last->text, sizeof last->text, "%Y-%m-%dT%H:%M:%S", &parts);
        last->unix_second = unix_second;
    }
    memcpy(text, last->text, 19);
}

/* Writes the second, nine digits of a fraction, and the zone. */
static void put_time(struct etwas_output *output, int64_t unix_second, uint32_t ns)
{
    char *text = etwas_output_room(output, ETWAS_TEXT_TIME_CHARACTERS);

    put_second(text, &output->second, unix_second);
    text[19] = '.';
    text[20] = (char)('0' + ns / 100000000);
    for (unsigned i = 27; i > 20; i -= 2) {
        memcpy(text + i, etwas_output_pairs + 2 * (ns % 100), 2);
        ns /= 100;
    }
    text[29] = 'Z';
    output->used_bytes += ETWAS_TEXT_TIME_CHARACTERS;
}

void etwas_text_time(struct etwas_output *output, int64_t filetime)
{
    if (filetime < 0 || filetime > FILETIME_YEAR_9999) {
        etwas_output_char(output, '@');
        etwas_output_signed(output, filetime);
        return;
    }
    put_time(output, filetime / TICKS_PER_SECOND - SECONDS_1601_1970,
             (uint32_t)(filetime % TICKS_PER_SECOND) * NS_A_TICK);
}

void etwas_text_time_ns(struct etwas_output *output, int64_t unix_ns)
{
    int64_t second = unix_ns / NS_PER_SECOND;
    int64_t fraction = unix_ns % NS_PER_SECOND;

    if (etwas_text_is_beyond(unix_ns)) {
        etwas_output_text(output, unix_ns < 0 ? "@before-1677-09-21" : "@after-2262-04-11");
        return;
    }
    if (fraction < 0) {
        second--;
        fraction += NS_PER_SECOND;
    }
    put_time(output, second, (uint32_t)fraction);
}

void etwas_text_local_time_ns(struct etwas_output *output, int64_t unix_ns)
{
    int64_t fraction = unix_ns % NS_PER_SECOND;
    time_t second = (time_t)(unix_ns / NS_PER_SECOND - (fraction < 0));
    struct tm parts;
    long ahead;

    if (etwas_text_is_beyond(unix_ns) || localtime_r(&second, &parts) == NULL) {
        etwas_text_time_ns(output, unix_ns);
        return;
    }
    ahead = parts.tm_gmtoff < 0 ? -parts.tm_gmtoff / 60 : parts.tm_gmtoff / 60;
    etwas_output_format(output, "%04d-%02d-%02dT%02d:%02d:%02d.%09lld%c%02ld:%02ld",
                        parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                        parts.tm_min, parts.tm_sec,
                        (long long)(fraction < 0 ? fraction + NS_PER_SECOND : fraction),
                        parts.tm_gmtoff < 0 ? '-' : '+', ahead / 60, ahead % 60);
}

/* ---- Strings ---- */

enum {
    REPLACEMENT = 0xFFFD,
    INVALID_UNIT = 0x110000 /* not a code point */
};

/*
 * Returns whether a character can control a terminal: control characters of ASCII and Unicode, line
 * separators, and marks that change the text direction.
 */
static bool steers_a_terminal(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x061C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

size_t etwas_text_encode(char text[ETWAS_TEXT_POINT_BYTES], uint32_t point)
{
    size_t count = 0;

    if (point < 0x80) {
        text[count++] = (char)point;
    } else if (point < 0x800) {
        text[count++] = (char)(0xC0 | point >> 6);
    } else if (point < 0x10000) {
        text[count++] = (char)(0xE0 | point >> 12);
        text[count++] = (char)(0x80 | (point >> 6 & 0x3F));
    } else {
        text[count++] = (char)(0xF0 | point >> 18);
        text[count++] = (char)(0x80 | (point >> 12 & 0x3F));
        text[count++] = (char)(0x80 | (point >> 6 & 0x3F));
    }
    if (point >= 0x80) {
        text[count++] = (char)(0x80 | (point & 0x3F));
    }
    return count;
}

static void put_utf8(struct etwas_output *output, uint32_t point)
{
    output->used_bytes +=
        etwas_text_encode(etwas_output_room(output, ETWAS_TEXT_POINT_BYTES), point);
}

/* Writes a code point as \uNNNN, or as two of these. */
static void put_json_escape(struct etwas_output *output, uint32_t point)
{
    if (point >= 0x10000) {
        etwas_output_format(output, "\\u%04x\\u%04x", 0xD800 + ((point - 0x10000) >> 10),
                            0xDC00 + (point & 0x3FF));
    } else {
        etwas_output_format(output, "\\u%04x", point);
    }
}

/* Returns the letter that stands for a control character after a \; 0 if there is none. */
static char letter_of(uint32_t point)
{
    return (char)(point == '\n' ? 'n' : point == '\r' ? 'r' : point == '\t' ? 't' : 0);
}

static void put_escape(struct etwas_output *output, enum etwas_text_style style, uint32_t point)
{
    if (style == ETWAS_TEXT_JSON) {
        put_json_escape(output, point);
    } else if (style == ETWAS_TEXT_QUOTED && letter_of(point) != 0) {
        etwas_output_char(output, '\\');
        etwas_output_char(output, letter_of(point));
    } else {
        etwas_output_format(output, point < 0x80 ? "\\x%02x" : "\\u{%x}", point);
    }
}

static void put_point(struct etwas_output *output, enum etwas_text_style style, uint32_t point)
{
    if (style == ETWAS_TEXT_RAW) {
        put_utf8(output, point);
    } else if (steers_a_terminal(point) || (style == ETWAS_TEXT_WORD && point == ' ')) {
        put_escape(output, style, point);
    } else if ((style == ETWAS_TEXT_JSON || style == ETWAS_TEXT_QUOTED) &&
               (point == '"' || point == '\\')) {
        etwas_output_char(output, '\\');
        etwas_output_char(output, (char)point);
    } else if (style == ETWAS_TEXT_HTML && point < 0x80 && strchr("<>&\"'", (int)point) != NULL) {
        etwas_output_format(output, "&#%u;", point);
    } else {
        put_utf8(output, point);
    }
}

/*
 * Returns the code point at the start of `bytes` > 0 bytes, INVALID_UNIT if it is not valid, and
 * its length in *taken. Refuses overlong forms and surrogates: "\xC0\x80" is two invalid bytes.
 */
static uint32_t next_utf8(const uint8_t *text, size_t bytes, size_t *taken)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t point;
    size_t length;

    *taken = 1;
    if (text[0] < 0x80) {
        return text[0];
    }
    if (text[0] >= 0xC2 && text[0] < 0xE0) {
        length = 2;
        point = text[0] & 0x1Fu;
    } else if (text[0] >= 0xE0 && text[0] < 0xF0) {
        length = 3;
        point = text[0] & 0x0Fu;
    } else if (text[0] >= 0xF0 && text[0] < 0xF5) {
        length = 4;
        point = text[0] & 0x07u;
    } else {
        return INVALID_UNIT;
    }
    if (length > bytes) {
        return INVALID_UNIT;
    }
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return INVALID_UNIT;
        }
        point = point << 6 | (text[i] & 0x3Fu);
    }
    if (point < smallest[length] || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF) {
        return INVALID_UNIT;
    }
    *taken = length;
    return point;
}

/*
 * Returns the number of leading ASCII characters that no style escapes. Most texts have no others.
 */
static size_t plain_bytes(const uint8_t *text, size_t bytes, enum etwas_text_style style)
{
    size_t count = 0;

    if (style == ETWAS_TEXT_HTML) {
        return 0;
    }
    bytes = bytes < ETWAS_OUTPUT_BYTES ? bytes : ETWAS_OUTPUT_BYTES;
    while (count < bytes && text[count] > ' ' && text[count] < 0x7F && text[count] != '"' &&
           text[count] != '\\') {
        count++;
    }
    return count;
}

void etwas_text_utf8(struct etwas_output *output, enum etwas_text_style style, const char *text,
                     size_t bytes)
{
    const uint8_t *source = (const uint8_t *)text;

    if (style == ETWAS_TEXT_RAW) {
        etwas_output_bytes(output, text, bytes);
        return;
    }
    while (bytes > 0) {
        size_t taken = plain_bytes(source, bytes, style);
        uint32_t point;

        if (taken > 0) {
            etwas_output_bytes(output, source, taken);
            source += taken;
            bytes -= taken;
            continue;
        }
        point = next_utf8(source, bytes, &taken);
        if (point != INVALID_UNIT) {
            put_point(output, style, point);
        } else if (style == ETWAS_TEXT_JSON) {
            put_utf8(output, REPLACEMENT);
        } else {
            etwas_output_format(output, "\\x%02x", *source);
        }
        source += taken;
        bytes -= taken;
    }
}

void etwas_text_plain(struct etwas_output *output, const char *text)
{
    etwas_text_utf8(output, ETWAS_TEXT_PLAIN, text, strlen(text));
}

static uint32_t unit_at(const void *text, size_t index)
{
    uint16_t unit;

    memcpy(&unit, (const char *)text + 2 * index, sizeof unit);
    return unit;
}

void etwas_text_utf16(struct etwas_output *output, enum etwas_text_style style, const void *text,
                      size_t units)
{
    for (size_t i = 0; i < units; i++) {
        uint32_t unit = unit_at(text, i);
        uint32_t low = i + 1 < units ? unit_at(text, i + 1) : 0;

        if (unit < 0xD800 || unit > 0xDFFF) {
            put_point(output, style, unit);
        } else if (unit < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
            put_point(output, style, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            i++;
        } else if (style == ETWAS_TEXT_JSON || style == ETWAS_TEXT_RAW) {
            put_utf8(output, REPLACEMENT);
        } else {
            etwas_output_format(output, "\\u{%x}", unit);
        }
    }
}

size_t etwas_text_to_utf16(const char *text, etwas_wchar *units, size_t room)
{
    size_t bytes = strlen(text);
    size_t used = 0;
    size_t taken;

    for (; bytes > 0; text += taken, bytes -= taken) {
        uint32_t point = next_utf8((const uint8_t *)text, bytes, &taken);

        if (point == INVALID_UNIT || used + (point >= 0x10000) + 1 >= room) {
            return 0;
        }
        if (point >= 0x10000) {
            units[used++] = (etwas_wchar)(0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + (point & 0x3FF);
        }
        units[used++] = (etwas_wchar)point;
    }
    units[used] = 0;
    return used;
}

size_t etwas_text_width(const char *text, size_t bytes)
{
    size_t width = 0;

    for (size_t i = 0; i < bytes; i++) {
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return width;
}

void etwas_text_left(struct etwas_output *output, const char *text, size_t columns)
{
    size_t width = etwas_text_width(text, strlen(text));

    etwas_output_text(output, text);
    etwas_output_blanks(output, width < columns ? columns - width : 0);
}

/* Returns the length of the first `count` characters in bytes. */
static size_t bytes_of(const char *text, size_t count)
{
    size_t bytes = 0;

    while (text[bytes] != '\0' && (((unsigned char)text[bytes] & 0xC0) == 0x80 || count-- > 0)) {
        bytes++;
    }
    return bytes;
}

void etwas_text_middle(struct etwas_output *output, const char *text, size_t columns)
{
    const char *dots = etwas_terminal_has_utf8() ? "…" : "..";
    size_t width = etwas_text_width(text, strlen(text));
    size_t gap = etwas_text_width(dots, strlen(dots));
    size_t kept = columns > gap ? columns - gap : 0;

    if (width <= columns) {
        etwas_output_text(output, text);
        return;
    }
    etwas_output_bytes(output, text, bytes_of(text, kept - kept / 2));
    etwas_output_text(output, dots);
    etwas_output_text(output, text + bytes_of(text, width - kept / 2));
}
