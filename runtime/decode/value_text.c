/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes a value as text, by the form of its bytes and then by its out type. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/map.h"
#include "decode/value.h"

/* ---- integers -------------------------------------------------------------------------------- */

static void value_write_decimal(struct etwas_text_writer *text, const etwas_value *value)
{
    if (etwas_value_is_signed(value)) {
        etwas_text_put_signed(text, etwas_value_signed(value));
    } else {
        etwas_text_put_unsigned(text, etwas_value_unsigned(value));
    }
}

/* Writes the names of the bits, and the rest as a number: Read|Write|0x80. */
static void value_write_bits(struct etwas_text_writer *text, const struct etwas_map *map,
                             uint64_t bits)
{
    uint64_t rest = bits;
    bool is_first = true;

    for (uint32_t i = 0; i < map->count; i++) {
        uint32_t mask = map->entries[i].value;

        if ((bits & mask) == mask && (mask != 0 || bits == 0)) {
            etwas_text_put(text, "|", is_first ? 0 : 1);
            etwas_text_put_ascii(text, map->entries[i].text);
            rest &= ~(uint64_t)mask;
            is_first = false;
        }
    }
    if (rest != 0) {
        etwas_text_put(text, "|", is_first ? 0 : 1);
        etwas_text_put_hex(text, rest);
    } else if (is_first) {
        etwas_text_put(text, "0", 1);
    }
}

/* Writes the name of the value in the field's map. Returns false if it has none. */
static bool value_write_name(struct etwas_text_writer *text, const etwas_value *value)
{
    const struct etwas_map *map;
    const char *name;

    if (value->field == NULL || value->field->map == NULL) {
        return false;
    }
    map = etwas_map_of(value->field->map);
    if (map->is_bits) {
        value_write_bits(text, map, etwas_value_unsigned(value));
        return true;
    }
    name = etwas_map_name(map, etwas_value_unsigned(value));
    if (name != NULL) {
        etwas_text_put_ascii(text, name);
    }
    return name != NULL;
}

/* Whether this integer is shown in hexadecimal, by its out type or else by its in type. */
static bool value_is_hexadecimal(const etwas_value *value)
{
    switch (value->out_type) {
    case TDH_OUTTYPE_HEXINT8:
    case TDH_OUTTYPE_HEXINT16:
    case TDH_OUTTYPE_HEXINT32:
    case TDH_OUTTYPE_HEXINT64:
    case TDH_OUTTYPE_HEXBINARY:
    case TDH_OUTTYPE_ERRORCODE:
    case TDH_OUTTYPE_CODE_POINTER:
        return true;
    case TDH_OUTTYPE_PID:
    case TDH_OUTTYPE_TID:
        return false;
    default:
        return (value->in_type == TDH_INTYPE_HEXINT32 || value->in_type == TDH_INTYPE_HEXINT64) &&
               (value->out_type < TDH_OUTTYPE_BYTE || value->out_type > TDH_OUTTYPE_UNSIGNEDLONG);
    }
}

static bool value_is_error(uint16_t out_type)
{
    return out_type == TDH_OUTTYPE_WIN32ERROR || out_type == TDH_OUTTYPE_NTSTATUS ||
           out_type == TDH_OUTTYPE_HRESULT;
}

/* Writes an integer. An out type that does not fit the in type's width is ignored. */
static void value_write_integer(struct etwas_text_writer *text, const etwas_value *value)
{
    if (value_write_name(text, value)) {
        return;
    }
    if (etwas_value_is_boolean(value)) {
        etwas_text_put_ascii(text, etwas_value_unsigned(value) != 0 ? "true" : "false");
    } else if (value_is_error(value->out_type) && value->bytes == 4) {
        etwas_value_write_error(text, value);
    } else if (value->out_type == TDH_OUTTYPE_IPV4 && value->bytes == 4) {
        etwas_value_write_ipv4(text, value->data);
    } else if (etwas_out_type_is_date(value->out_type) && value->bytes == 8) {
        etwas_value_write_filetime(text, etwas_value_unsigned(value),
                                   value->out_type == TDH_OUTTYPE_DATETIME_UTC);
    } else if (value_is_hexadecimal(value)) {
        etwas_text_put_hex(text, etwas_value_unsigned(value));
    } else {
        value_write_decimal(text, value);
    }
}

/* ---- others ---------------------------------------------------------------------------------- */

void etwas_value_write_number(struct etwas_text_writer *text, const char *printed)
{
    static const char usual[] = " +-0123456789abcdefinpxABCDEFINPX.";
    size_t before = strspn(printed, usual);
    size_t between = strcspn(printed + before, usual);

    etwas_text_put(text, printed, before);
    etwas_text_put(text, ".", between > 0 ? 1 : 0);
    etwas_text_put_ascii(text, printed + before + between);
}

/* Writes the fewest digits that yield the same number again. */
static void value_write_float(struct etwas_text_writer *text, const etwas_value *value)
{
    double number = etwas_value_float(value);
    bool is_narrow = value->bytes == sizeof(float);
    char digits[40];

    for (int precision = 6; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (isnan(number) ||
            (is_narrow ? (double)strtof(digits, NULL) == number : strtod(digits, NULL) == number)) {
            break;
        }
    }
    etwas_value_write_number(text, isnan(number) ? "nan" : digits);
}

/* {00112233-4455-6677-8899-aabbccddeeff}; the first three numbers are little-endian in memory. */
static void value_write_guid(struct etwas_text_writer *text, const uint8_t *bytes)
{
    static const uint8_t order[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    static const char digits[] = "0123456789abcdef";
    char out[38] = "{";
    size_t at = 1;

    for (size_t i = 0; i < sizeof order; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            out[at++] = '-';
        }
        out[at++] = digits[bytes[order[i]] >> 4];
        out[at++] = digits[bytes[order[i]] & 15];
    }
    out[at++] = '}';
    etwas_text_put(text, out, at);
}

/* S-1-authority-part…; an authority beyond 32 bits is hexadecimal. */
static void value_write_sid(struct etwas_text_writer *text, const uint8_t *sid, uint32_t bytes)
{
    uint64_t authority = 0;

    if (bytes < 8 || bytes != 8 + 4u * sid[1]) {
        etwas_text_put_bytes(text, sid, bytes);
        return;
    }
    for (unsigned i = 2; i < 8; i++) {
        authority = authority << 8 | sid[i];
    }
    etwas_text_put_ascii(text, "S-");
    etwas_text_put_unsigned(text, sid[0]);
    etwas_text_put(text, "-", 1);
    if (authority > UINT32_MAX) {
        etwas_text_put_hex(text, authority);
    } else {
        etwas_text_put_unsigned(text, authority);
    }
    for (unsigned i = 0; i < sid[1]; i++) {
        uint32_t part;

        memcpy(&part, sid + 8 + (size_t)4 * i, sizeof part);
        etwas_text_put(text, "-", 1);
        etwas_text_put_unsigned(text, part);
    }
}

static void value_write_binary(struct etwas_text_writer *text, const etwas_value *value)
{
    switch (value->out_type) {
    case TDH_OUTTYPE_IPV4:
        if (value->bytes == 4) {
            etwas_value_write_ipv4(text, value->data);
            return;
        }
        break;
    case TDH_OUTTYPE_IPV6:
        etwas_value_write_ipv6(text, value->data, value->bytes);
        return;
    case TDH_OUTTYPE_SOCKETADDRESS:
        etwas_value_write_socket_address(text, value->data, value->bytes);
        return;
    default:
        break;
    }
    etwas_text_put_bytes(text, value->data, value->bytes);
}

void etwas_value_write(struct etwas_text_writer *text, const etwas_value *value)
{
    bool is_utc = value->out_type == TDH_OUTTYPE_DATETIME_UTC;

    switch (etwas_value_form(value)) {
    case ETWAS_FORM_INTEGER:
        value_write_integer(text, value);
        break;
    case ETWAS_FORM_FLOAT:
        value_write_float(text, value);
        break;
    case ETWAS_FORM_UTF16:
        etwas_text_put_utf16(text, value->data, value->bytes / 2);
        break;
    case ETWAS_FORM_UTF8:
        etwas_text_put_utf8(text, value->data, value->bytes);
        break;
    case ETWAS_FORM_GUID:
        value_write_guid(text, value->data);
        break;
    case ETWAS_FORM_FILETIME:
        etwas_value_write_filetime(text, etwas_value_unsigned(value), is_utc);
        break;
    case ETWAS_FORM_SYSTEMTIME:
        etwas_value_write_systemtime(text, value->data, is_utc);
        break;
    case ETWAS_FORM_SID:
        value_write_sid(text, value->data, value->bytes);
        break;
    case ETWAS_FORM_BINARY:
        value_write_binary(text, value);
        break;
    }
}

size_t etwas_value_text(const etwas_value *value, char *text, size_t size)
{
    struct etwas_text_writer out = etwas_text_begin(text, size);

    etwas_value_write(&out, value);
    return etwas_text_end(&out, size);
}
