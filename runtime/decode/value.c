/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The form of a value: a number, or only text. */
#include "decode/value.h"

#include <string.h>

enum etwas_value_form etwas_value_form(const etwas_value *value)
{
    switch (value->in_type) {
    case TDH_INTYPE_INT8:
    case TDH_INTYPE_UINT8:
        return value->out_type == TDH_OUTTYPE_STRING ? ETWAS_FORM_UTF8 : ETWAS_FORM_INTEGER;
    case TDH_INTYPE_UINT16:
        return value->out_type == TDH_OUTTYPE_STRING ? ETWAS_FORM_UTF16 : ETWAS_FORM_INTEGER;
    case TDH_INTYPE_INT16:
    case TDH_INTYPE_INT32:
    case TDH_INTYPE_UINT32:
    case TDH_INTYPE_INT64:
    case TDH_INTYPE_UINT64:
    case TDH_INTYPE_HEXINT32:
    case TDH_INTYPE_HEXINT64:
    case TDH_INTYPE_BOOLEAN:
        return ETWAS_FORM_INTEGER;
    case TDH_INTYPE_FLOAT:
    case TDH_INTYPE_DOUBLE:
        return ETWAS_FORM_FLOAT;
    case TDH_INTYPE_UNICODESTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
    case TDH_INTYPE_COUNTEDSTRING:
    case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
    case TDH_INTYPE_NONNULLTERMINATEDSTRING:
    case TDH_INTYPE_UNICODECHAR:
        return ETWAS_FORM_UTF16;
    case TDH_INTYPE_ANSISTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
    case TDH_INTYPE_COUNTEDANSISTRING:
    case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
    case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
    case TDH_INTYPE_ANSICHAR:
        return ETWAS_FORM_UTF8;
    case TDH_INTYPE_GUID:
        return ETWAS_FORM_GUID;
    case TDH_INTYPE_FILETIME:
        return ETWAS_FORM_FILETIME;
    case TDH_INTYPE_SYSTEMTIME:
        return ETWAS_FORM_SYSTEMTIME;
    case TDH_INTYPE_SID:
    case TDH_INTYPE_WBEMSID:
        return ETWAS_FORM_SID;
    default:
        return ETWAS_FORM_BINARY;
    }
}

/*
 * Loads an integer. The usual sizes take a single load. Copying bytes one by one into `number` and
 * then loading it as a whole would stall.
 */
static uint64_t value_load(const void *data, size_t bytes)
{
    uint64_t number = 0;
    uint32_t half;
    uint16_t quarter;

    switch (bytes) {
    case 0:
        return 0;
    case sizeof(uint8_t):
        return *(const uint8_t *)data;
    case sizeof quarter:
        memcpy(&quarter, data, sizeof quarter);
        return quarter;
    case sizeof half:
        memcpy(&half, data, sizeof half);
        return half;
    case sizeof number:
        memcpy(&number, data, sizeof number);
        return number;
    default:
        memcpy(&number, data, bytes < sizeof number ? bytes : sizeof number);
        return number;
    }
}

uint64_t etwas_value_unsigned(const etwas_value *value)
{
    uint64_t number = value_load(value->data, value->bytes);

    return value->out_type == TDH_OUTTYPE_PORT && value->bytes == sizeof(uint16_t)
               ? __builtin_bswap16((uint16_t)number)
               : number;
}

int64_t etwas_value_signed(const etwas_value *value)
{
    unsigned unused = value->bytes - 1 < 8 ? 64 - 8 * value->bytes : 0;

    return (int64_t)(etwas_value_unsigned(value) << unused) >> unused;
}

double etwas_value_float(const etwas_value *value)
{
    double wide = 0;
    float narrow;

    if (value->bytes == sizeof narrow) {
        memcpy(&narrow, value->data, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, value->data, value->bytes == sizeof wide ? sizeof wide : 0);
    return wide;
}

bool etwas_value_is_signed(const etwas_value *value)
{
    switch (value->out_type) {
    case TDH_OUTTYPE_BYTE:
    case TDH_OUTTYPE_SHORT:
    case TDH_OUTTYPE_INT:
    case TDH_OUTTYPE_LONG:
        return true;
    case TDH_OUTTYPE_UNSIGNEDBYTE:
    case TDH_OUTTYPE_UNSIGNEDSHORT:
    case TDH_OUTTYPE_UNSIGNEDINT:
    case TDH_OUTTYPE_UNSIGNEDLONG:
    case TDH_OUTTYPE_PID:
    case TDH_OUTTYPE_TID:
    case TDH_OUTTYPE_PORT:
        return false;
    default:
        return value->in_type == TDH_INTYPE_INT8 || value->in_type == TDH_INTYPE_INT16 ||
               value->in_type == TDH_INTYPE_INT32 || value->in_type == TDH_INTYPE_INT64;
    }
}

/* The in type BOOLEAN has no other out type. */
bool etwas_value_is_boolean(const etwas_value *value)
{
    return (value->out_type == TDH_OUTTYPE_BOOLEAN || value->in_type == TDH_INTYPE_BOOLEAN) &&
           etwas_value_unsigned(value) <= 1;
}

/* Whether the out type prints as text that is not a number. */
static bool value_is_only_text(const etwas_value *value)
{
    return (value->out_type == TDH_OUTTYPE_IPV4 && value->bytes == 4) ||
           (etwas_out_type_is_date(value->out_type) && value->bytes == 8);
}

uint32_t etwas_value_number(const etwas_value *value, etwas_number *number)
{
    enum etwas_value_form form = etwas_value_form(value);

    if (form == ETWAS_FORM_FLOAT) {
        number->f = etwas_value_float(value);
        return ETWAS_VALUE_FLOAT;
    }
    if (form != ETWAS_FORM_INTEGER || value_is_only_text(value)) {
        return ETWAS_VALUE_TEXT;
    }
    if (etwas_value_is_boolean(value)) {
        number->u = etwas_value_unsigned(value);
        return ETWAS_VALUE_BOOLEAN;
    }
    if (etwas_value_is_signed(value)) {
        number->i = etwas_value_signed(value);
        return ETWAS_VALUE_SIGNED;
    }
    number->u = etwas_value_unsigned(value);
    return ETWAS_VALUE_UNSIGNED;
}

bool etwas_value_is_string(const etwas_value *value)
{
    enum etwas_value_form form = etwas_value_form(value);

    return form == ETWAS_FORM_UTF8 || form == ETWAS_FORM_UTF16;
}
