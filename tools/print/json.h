/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_JSON_H
#define ETWAS_TOOLS_PRINT_JSON_H

/*
 * JSON. Each function writes a value after its key or, if the key is NULL, as an element of an
 * array or the outermost value. It writes a comma before it unless it is the first in its object,
 * array or line. Keys must not need escaping. The caller ends objects and arrays with their
 * brackets.
 */

#include "print/output.h"

#include <etwas/types.h>

/* Writes the comma and the key; the caller writes the value. */
void etwas_json_key(struct etwas_output *output, const char *key);

/*
 * Begins an outermost object, with the keys that all of these have: "etwas", the release of the
 * format, and "kind".
 */
void etwas_json_begin(struct etwas_output *output, const char *kind);

void etwas_json_object(struct etwas_output *output, const char *key);
void etwas_json_array(struct etwas_output *output, const char *key);

void etwas_json_null(struct etwas_output *output, const char *key);
void etwas_json_boolean(struct etwas_output *output, const char *key, bool value);

/* Write a number, beyond 2^53 as text. The first two write neither key nor comma. */
void etwas_json_put_unsigned(struct etwas_output *output, uint64_t value);
void etwas_json_put_signed(struct etwas_output *output, int64_t value);
void etwas_json_number(struct etwas_output *output, const char *key, uint64_t value);
void etwas_json_signed(struct etwas_output *output, const char *key, int64_t value);

/* Writes bits, or an address, as "0x1f". */
void etwas_json_bits(struct etwas_output *output, const char *key, uint64_t bits);

/* Writes a number, or null if it is not known. */
void etwas_json_known(struct etwas_output *output, const char *key, bool is_known, uint64_t value);

/* Writes the error of a time; UINT64_MAX, which means not known, becomes null. */
void etwas_json_error(struct etwas_output *output, const char *key, uint64_t error_ns);

/* Writes a number with nine digits; NaN and infinities become null. */
void etwas_json_real(struct etwas_output *output, const char *key, double value);

/* Writes a value in printf format, at most 512 bytes. */
void etwas_json_format(struct etwas_output *output, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void etwas_json_guid(struct etwas_output *output, const char *key, const etwas_guid *guid);

/* Writes a FILETIME as etwas_text_time does. */
void etwas_json_time(struct etwas_output *output, const char *key, int64_t filetime);

/* Writes nanoseconds since 1970 as etwas_text_time_ns does. */
void etwas_json_time_ns(struct etwas_output *output, const char *key, int64_t unix_ns);

/* Writes NUL-terminated UTF-8; NULL becomes null. */
void etwas_json_text(struct etwas_output *output, const char *key, const char *text);

/* Writes words as one, with _ for each space. */
void etwas_json_word(struct etwas_output *output, const char *key, const char *words);

/* Writes the same without a key, and without a comma. */
void etwas_json_string(struct etwas_output *output, const char *text);

/* Writes `units` of little-endian UTF-16. */
void etwas_json_utf16(struct etwas_output *output, const char *key, const void *text, size_t units);

/* Writes two hexadecimal digits for each of `bytes` bytes. */
void etwas_json_hex(struct etwas_output *output, const char *key, const void *data, size_t bytes);

#endif
