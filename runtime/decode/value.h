/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Converts the bytes of a value by its types. */
#ifndef ETWAS_DECODE_VALUE_H
#define ETWAS_DECODE_VALUE_H

#include <etwas/decode.h>

#include "decode/text_writer.h"

/* The form of the bytes, independent of the out type. */
enum etwas_value_form {
    ETWAS_FORM_INTEGER, /* at most 8 bytes */
    ETWAS_FORM_FLOAT,   /* 4 or 8 */
    ETWAS_FORM_UTF16,
    ETWAS_FORM_UTF8,
    ETWAS_FORM_GUID,
    ETWAS_FORM_FILETIME,
    ETWAS_FORM_SYSTEMTIME,
    ETWAS_FORM_SID, /* may be empty */
    ETWAS_FORM_BINARY,
};

enum etwas_value_form etwas_value_form(const etwas_value *value);

/* The integer of a value of ETWAS_FORM_INTEGER. The bytes of a port are swapped. */
uint64_t etwas_value_unsigned(const etwas_value *value);
int64_t etwas_value_signed(const etwas_value *value);
bool etwas_value_is_signed(const etwas_value *value);

double etwas_value_float(const etwas_value *value);

static inline bool etwas_out_type_is_date(uint16_t out_type)
{
    return out_type == TDH_OUTTYPE_DATETIME ||
           out_type == TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME ||
           out_type == TDH_OUTTYPE_DATETIME_UTC;
}

/* Whether a value prints as a boolean. One that is neither 0 nor 1 prints as a number. */
bool etwas_value_is_boolean(const etwas_value *value);

/* Writes the value's text. */
void etwas_value_write(struct etwas_text_writer *text, const etwas_value *value);

/*
 * Describes a string that is not valid UTF-8 or UTF-16 in words, with its bytes. Writes nothing for
 * a valid one.
 */
void etwas_value_write_odd_string(struct etwas_text_writer *text, const void *bytes, size_t count,
                                  bool is_wide, const char *before, const char *after);

/* Writes a number that printf printed, with the locale's decimal separator replaced by a point. */
void etwas_value_write_number(struct etwas_text_writer *text, const char *printed);

/* Write dates in ISO 8601 (value_time.c). A FILETIME counts 100 ns from 1601 on. */
void etwas_value_write_filetime(struct etwas_text_writer *text, uint64_t filetime, bool is_utc);
void etwas_value_write_systemtime(struct etwas_text_writer *text, const uint8_t *systemtime,
                                  bool is_utc);

/* Write addresses (value_address.c); anything that is not an address as hexadecimal digits. */
void etwas_value_write_ipv4(struct etwas_text_writer *text, const uint8_t *address);
void etwas_value_write_ipv6(struct etwas_text_writer *text, const uint8_t *address, uint32_t bytes);
void etwas_value_write_socket_address(struct etwas_text_writer *text, const uint8_t *address,
                                      uint32_t bytes);

/* Writes an error code (value_error.c): the number, and the name in parentheses if it has one. */
void etwas_value_write_error(struct etwas_text_writer *text, const etwas_value *value);

#endif
