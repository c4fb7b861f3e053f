/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_TEXT_H
#define ETWAS_TOOLS_PRINT_TEXT_H

/*
 * How GUIDs, times and strings from a trace are written.
 *
 * Strings come from files that anyone may have made. Printed as text, whatever could steer a
 * terminal (controls, text direction marks) or is not valid is written \xNN or \u{N}; in JSON, it
 * is written \uNNNN, and what is not valid becomes U+FFFD.
 */

#include "print/output.h"

#include <etwas/types.h>

enum {
    ETWAS_TEXT_GUID_CHARACTERS = 36,
    ETWAS_TEXT_TIME_CHARACTERS = 30, /* of the usual form: 2026-11-21T08:19:17.123456700Z */
    ETWAS_TEXT_POINT_BYTES = 4,      /* of a code point in UTF-8, at most */
};

/* Makes the text of a GUID, without a NUL, in the form of the next one. */
void etwas_text_guid_characters(char text[ETWAS_TEXT_GUID_CHARACTERS], const etwas_guid *guid);

/* Writes a GUID as 68fdd900-4a3e-11d1-84f4-0000f80464e3. */
void etwas_text_guid(struct etwas_output *output, const etwas_guid *guid);

/* Reads a GUID in that form, which braces may enclose. Returns false if the text is none. */
bool etwas_text_parse_guid(const char *text, etwas_guid *guid);

/*
 * Writes a FILETIME by ISO 8601 in UTC, with nine digits. A time outside the years 1601 to
 * 9999 is @ and the count itself: @-1.
 */
void etwas_text_time(struct etwas_output *output, int64_t filetime);

/*
 * Returns whether a time in nanoseconds since 1970 is one that the reader gives for times that 64
 * bits cannot hold: before 1677-09-21 00:12:43, or after 2262-04-11 23:47:16.
 */
static inline bool etwas_text_is_beyond(int64_t unix_ns)
{
    return unix_ns == INT64_MIN || unix_ns == INT64_MAX;
}

/*
 * Writes nanoseconds since 1970 as 2026-11-21T08:19:17.123456789Z, and what 64 bits cannot hold as
 * @before-1677-09-21 or @after-2262-04-11.
 */
void etwas_text_time_ns(struct etwas_output *output, int64_t unix_ns);

/* Writes it in this machine's zone, with its offset: 2026-11-21T09:19:17.123456789+01:00. */
void etwas_text_local_time_ns(struct etwas_output *output, int64_t unix_ns);

enum etwas_text_style {
    ETWAS_TEXT_PLAIN,
    ETWAS_TEXT_WORD,   /* as plain, and spaces are escaped: one column of a line */
    ETWAS_TEXT_QUOTED, /* the inside of a string in quotes: \" \\ \n \r \t too */
    ETWAS_TEXT_JSON,   /* the inside of a JSON string, without the quotes */
    ETWAS_TEXT_HTML,   /* as plain, and what means something to HTML and SVG is escaped */
    ETWAS_TEXT_RAW,    /* as it is, to compare: never for a terminal */
};

/* Writes `bytes` of UTF-8, which need not be valid. */
void etwas_text_utf8(struct etwas_output *output, enum etwas_text_style style, const char *text,
                     size_t bytes);

/* Writes UTF-8 with its NUL as ETWAS_TEXT_PLAIN. */
void etwas_text_plain(struct etwas_output *output, const char *text);

/* Writes `units` of little-endian UTF-16 at any address, which need not be valid. */
void etwas_text_utf16(struct etwas_output *output, enum etwas_text_style style, const void *text,
                      size_t units);

/* Returns where the last character ends that `bytes` do not cut; text[bytes] must be readable. */
static inline size_t etwas_text_cut(const char *text, size_t bytes)
{
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xC0) == 0x80) {
        bytes--;
    }
    return bytes;
}

/* Returns how many columns UTF-8 takes, each character one. */
size_t etwas_text_width(const char *text, size_t bytes);

/* Writes a text filled with blanks up to `columns`; a longer one stays as it is. */
void etwas_text_left(struct etwas_output *output, const char *text, size_t columns);

/*
 * Writes a text that takes at most `columns`: a longer one without its middle, in place of which
 * stands …, or .. where the locale has no UTF-8.
 */
void etwas_text_middle(struct etwas_output *output, const char *text, size_t columns);

/* Writes a code point as UTF-8, without a NUL. Returns how many bytes it has. */
size_t etwas_text_encode(char text[ETWAS_TEXT_POINT_BYTES], uint32_t point);

/*
 * Converts UTF-8 to UTF-16 with its NUL, in `room` units. Returns how many there are without the
 * NUL; 0 if the text is empty, too long or not valid.
 */
size_t etwas_text_to_utf16(const char *text, etwas_wchar *units, size_t room);

#endif
