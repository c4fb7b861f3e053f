/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_TEXT_H
#define ETWAS_TOOLS_PRINT_TEXT_H

/*
 * Writes GUIDs, times and strings from a trace.
 *
 * Strings may come from untrusted files. In text, characters that control a terminal (controls,
 * text direction marks) and invalid ones are written \xNN or \u{N}. In JSON, the former are written
 * \uNNNN, and the latter become U+FFFD.
 */

#include "print/output.h"

#include <etwas/types.h>

enum {
    ETWAS_TEXT_GUID_CHARACTERS = 36,
    ETWAS_TEXT_TIME_CHARACTERS = 30, /* the usual form: 2026-11-21T08:19:17.123456700Z */
    ETWAS_TEXT_POINT_BYTES = 4,      /* most bytes of a code point in UTF-8 */
};

/* Writes the text of a GUID without a NUL, in the form below. */
void etwas_text_guid_characters(char text[ETWAS_TEXT_GUID_CHARACTERS], const etwas_guid *guid);

/* Writes a GUID as 68fdd900-4a3e-11d1-84f4-0000f80464e3. */
void etwas_text_guid(struct etwas_output *output, const etwas_guid *guid);

/* Reads a GUID in that form, optionally in braces. Returns false if the text is not one. */
bool etwas_text_parse_guid(const char *text, etwas_guid *guid);

/*
 * Writes a FILETIME as ISO 8601 in UTC, with nine digits. Outside the years 1601 to 9999, writes @
 * and the number: @-1.
 */
void etwas_text_time(struct etwas_output *output, int64_t filetime);

/*
 * Returns whether a time in nanoseconds since 1970 is the reader's value for times that do not fit
 * into 64 bits: before 1677-09-21 00:12:43, or after 2262-04-11 23:47:16.
 */
static inline bool etwas_text_is_beyond(int64_t unix_ns)
{
    return unix_ns == INT64_MIN || unix_ns == INT64_MAX;
}

/*
 * Writes nanoseconds since 1970 as 2026-11-21T08:19:17.123456789Z, and values beyond as
 * @before-1677-09-21 or @after-2262-04-11.
 */
void etwas_text_time_ns(struct etwas_output *output, int64_t unix_ns);

/* Writes the same in this machine's zone, with its offset: 2026-11-21T09:19:17.123456789+01:00. */
void etwas_text_local_time_ns(struct etwas_output *output, int64_t unix_ns);

enum etwas_text_style {
    ETWAS_TEXT_PLAIN,
    ETWAS_TEXT_WORD,   /* as PLAIN, with spaces escaped: one column of a line */
    ETWAS_TEXT_QUOTED, /* the inside of a quoted string: \" \\ \n \r \t too */
    ETWAS_TEXT_JSON,   /* the inside of a JSON string, without the quotes */
    ETWAS_TEXT_HTML,   /* as PLAIN, with characters special in HTML and SVG escaped */
    ETWAS_TEXT_RAW,    /* unchanged, for comparing: never on a terminal */
};

/* Writes `bytes` of UTF-8, which may be invalid. */
void etwas_text_utf8(struct etwas_output *output, enum etwas_text_style style, const char *text,
                     size_t bytes);

/* Writes NUL-terminated UTF-8 as ETWAS_TEXT_PLAIN. */
void etwas_text_plain(struct etwas_output *output, const char *text);

/* Writes `units` of little-endian UTF-16, which may be unaligned and invalid. */
void etwas_text_utf16(struct etwas_output *output, enum etwas_text_style style, const void *text,
                      size_t units);

/*
 * Returns the length of the text up to `bytes` without a partial character; text[bytes] must be
 * readable.
 */
static inline size_t etwas_text_cut(const char *text, size_t bytes)
{
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xC0) == 0x80) {
        bytes--;
    }
    return bytes;
}

/* Returns the width of UTF-8 in columns, one for each character. */
size_t etwas_text_width(const char *text, size_t bytes);

/* Writes a text padded with spaces to `columns`; a longer one is not cut. */
void etwas_text_left(struct etwas_output *output, const char *text, size_t columns);

/*
 * Writes a text in at most `columns`. The middle of a longer one is replaced by …, or .. if the
 * locale is not UTF-8.
 */
void etwas_text_middle(struct etwas_output *output, const char *text, size_t columns);

/* Writes a code point as UTF-8, without a NUL. Returns its length. */
size_t etwas_text_encode(char text[ETWAS_TEXT_POINT_BYTES], uint32_t point);

/*
 * Converts UTF-8 to NUL-terminated UTF-16, in `room` units. Returns the number of units without the
 * NUL; 0 if the text is empty, too long or not valid.
 */
size_t etwas_text_to_utf16(const char *text, etwas_wchar *units, size_t room);

#endif
