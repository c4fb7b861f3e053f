/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The bytes of a value as what its types say they are. */
#ifndef ETWAS_DECODE_VALUE_H
#define ETWAS_DECODE_VALUE_H

#include <etwas/decode.h>

#include "decode/text_writer.h"

/* What the bytes are, whatever they are shown as. */
enum etwas_value_form {
    ETWAS_FORM_INTEGER, /* at most 8 bytes */
    ETWAS_FORM_FLOAT,   /* 4 or 8 */
    ETWAS_FORM_UTF16,
    ETWAS_FORM_UTF8,
    ETWAS_FORM_GUID,
    ETWAS_FORM_FILETIME,
    ETWAS_FORM_SYSTEMTIME,
    ETWAS_FORM_SID, /* or nothing */
    ETWAS_FORM_BINARY,
};

enum etwas_value_form etwas_value_form(const etwas_value *value);

/* Of integers. A port has its bytes turned. */
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

/* What is said to be a boolean, and is neither 0 nor 1, is the number that it is. */
bool etwas_value_is_boolean(const etwas_value *value);

/* Appends the value's text. */
void etwas_value_write(struct etwas_text_writer *text, const etwas_value *value);

/* What a string is that is no UTF-8, or no UTF-16: in words, and its bytes. Nothing of any other. */
void etwas_value_write_odd_string(struct etwas_text_writer *text, const void *bytes, size_t count,
                                  bool is_wide, const char *before, const char *after);

/* A number that printf made: what the locale puts between its digits becomes a point. */
void etwas_value_write_number(struct etwas_text_writer *text, const char *printed);

/* value_time.c: dates in ISO 8601. FILETIME counts 100 ns from 1601 on. */
void etwas_value_write_filetime(struct etwas_text_writer *text, uint64_t filetime, bool is_utc);
void etwas_value_write_systemtime(struct etwas_text_writer *text, const uint8_t *systemtime,
                                  bool is_utc);

/* value_address.c: what is no such address is given as hexadecimal digits. */
void etwas_value_write_ipv4(struct etwas_text_writer *text, const uint8_t *address);
void etwas_value_write_ipv6(struct etwas_text_writer *text, const uint8_t *address, uint32_t bytes);
void etwas_value_write_socket_address(struct etwas_text_writer *text, const uint8_t *address,
                                      uint32_t bytes);

/* value_error.c: the number, and the name in parentheses if it has one. */
void etwas_value_write_error(struct etwas_text_writer *text, const etwas_value *value);

#endif
