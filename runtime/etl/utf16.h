/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * UTF-8 to UTF-16 and back, with exact validation, into the caller's memory.
 *
 * Names are UTF-16 on disk and in the W functions, UTF-8 in the A functions. Both directions are
 * strict: an overlong form, a lone surrogate, a code point above U+10FFFF or a 0 inside the text is
 * invalid, and then the output is unspecified. No allocation; async-signal-safe.
 *
 * Both functions report the room that the whole result needs, its terminating 0 included, even if
 * it does not fit:
 *     etwas_utf8_to_utf16("aé", 3, NULL, 0, &n)   ETWAS_UTF_TOO_LONG, n = 3
 *     etwas_utf8_to_utf16("aé", 3, out, 3, &n)    ETWAS_UTF_OK,       n = 3, out = 0061 00E9 0000
 */
#ifndef ETWAS_ETL_UTF16_H
#define ETWAS_ETL_UTF16_H

#include <etwas/types.h>

#include <stddef.h>
#include <stdint.h>

enum etwas_utf_result {
    ETWAS_UTF_OK = 0,
    ETWAS_UTF_INVALID,  /* the input is not well-formed; *needed is 0 */
    ETWAS_UTF_TOO_LONG, /* well-formed, but needs more than the capacity; nothing was written */
};

/* `text` has `bytes` bytes and need not be terminated. `out` may be NULL when capacity is 0. */
enum etwas_utf_result etwas_utf8_to_utf16(const char *text, size_t bytes, etwas_wchar *out,
                                          size_t capacity_units, size_t *needed_units);

/* `text` has `units` 16-bit units and need not be terminated. */
enum etwas_utf_result etwas_utf16_to_utf8(const etwas_wchar *text, size_t units, char *out,
                                          size_t capacity_bytes, size_t *needed_bytes);

/* Reads the code point at text[0] into *point; returns its length in bytes, 0 if it is invalid. */
size_t etwas_utf8_decode(const unsigned char *text, size_t bytes, uint32_t *point);

/* Reads the code point at text[0] into *point; returns its length in units, 0 if it is invalid. */
size_t etwas_utf16_decode(const etwas_wchar *text, size_t units, uint32_t *point);

/* Writes a valid code point as up to four bytes; returns how many. */
size_t etwas_utf8_encode(uint32_t point, char *out);

/* Returns the units before the terminating 0, or `limit_units` if there is none among that many. */
size_t etwas_utf16_length(const etwas_wchar *text, size_t limit_units);

#endif
