/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/payload_field.h"

#include <etwas/tdh.h>
#include <etwas/types.h>

#include "provider/describe_class.h"

enum {
    SID_HEAD_BYTES = 8,
    SID_PART_BYTES = 4,
    TOKEN_USER_BYTES = 16,
};

/* One element: its whole extent in the payload, and the value in it. */
struct field_element {
    size_t bytes;
    size_t value_at;
    size_t value_bytes;
};

static size_t payload_bytes_left(const struct etwas_payload_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

static bool field_fits(const struct etwas_payload_cursor *cursor, struct field_element *element,
                       size_t at, size_t value_bytes)
{
    if (at > payload_bytes_left(cursor) || value_bytes > payload_bytes_left(cursor) - at) {
        return false;
    }
    *element = (struct field_element){at + value_bytes, at, value_bytes};
    return true;
}

/*
 * Finds the end of text that a 0 terminates, with characters of `unit` bytes. The 0 belongs to the
 * element.
 */
static bool field_find_end(const struct etwas_payload_cursor *cursor, size_t unit, size_t most,
                           struct field_element *element)
{
    for (size_t at = 0; at + unit <= most; at += unit) {
        if (cursor->at[at] == 0 && (unit == 1 || cursor->at[at + 1] == 0)) {
            *element = (struct field_element){at + unit, 0, at};
            return true;
        }
    }
    return false;
}

/*
 * Finds text of `length` characters, whose value ends before a 0; length 0: up to a 0 of its own.
 */
static bool field_find_string(const struct etwas_payload_cursor *cursor, size_t unit, size_t length,
                              bool has_length, struct field_element *element)
{
    struct field_element all;

    if (!has_length) {
        return field_find_end(cursor, unit, payload_bytes_left(cursor), element);
    }
    if (!field_fits(cursor, &all, 0, length * unit)) {
        return false;
    }
    *element = field_find_end(cursor, unit, all.bytes, element)
                   ? (struct field_element){all.bytes, 0, element->value_bytes}
                   : all;
    return true;
}

/* Finds the extent of a value that states its own length. */
static bool field_find_counted(const struct etwas_payload_cursor *cursor, bool is_reversed,
                               struct field_element *element)
{
    uint16_t bytes;

    if (payload_bytes_left(cursor) < sizeof bytes) {
        return false;
    }
    memcpy(&bytes, cursor->at, sizeof bytes);
    return field_fits(cursor, element, sizeof bytes,
                      is_reversed ? __builtin_bswap16(bytes) : bytes);
}

static bool field_find_dump(const struct etwas_payload_cursor *cursor,
                            struct field_element *element)
{
    uint32_t bytes;

    if (payload_bytes_left(cursor) < sizeof bytes) {
        return false;
    }
    memcpy(&bytes, cursor->at, sizeof bytes);
    return field_fits(cursor, element, sizeof bytes, bytes);
}

static bool field_find_sid(const struct etwas_payload_cursor *cursor, size_t at,
                           struct field_element *element)
{
    if (payload_bytes_left(cursor) < at + SID_HEAD_BYTES) {
        return false;
    }
    return field_fits(cursor, element, at,
                      SID_HEAD_BYTES + SID_PART_BYTES * (size_t)cursor->at[at + 1]);
}

/* A pointer and attributes, which are ignored, and a SID; or a u32 of 0 alone. */
static bool field_find_wbem_sid(const struct etwas_payload_cursor *cursor,
                                struct field_element *element)
{
    uint32_t first;

    if (payload_bytes_left(cursor) < sizeof first) {
        return false;
    }
    memcpy(&first, cursor->at, sizeof first);
    return first == 0 ? field_fits(cursor, element, 0, sizeof first)
                      : field_find_sid(cursor, TOKEN_USER_BYTES, element);
}

static bool field_find(const struct etwas_payload_cursor *cursor, uint16_t in_type, size_t length,
                       bool has_length, struct field_element *element)
{
    switch (in_type) {
    case TDH_INTYPE_UNICODESTRING:
        return field_find_string(cursor, sizeof(etwas_wchar), length, has_length, element);
    case TDH_INTYPE_ANSISTRING:
        return field_find_string(cursor, 1, length, has_length, element);
    case TDH_INTYPE_BINARY:
        return field_fits(cursor, element, 0, length);
    case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
    case TDH_INTYPE_COUNTEDSTRING:
    case TDH_INTYPE_COUNTEDANSISTRING:
        return field_find_counted(cursor, false, element);
    case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
    case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
        return field_find_counted(cursor, true, element);
    case TDH_INTYPE_NONNULLTERMINATEDSTRING:
    case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
        return field_fits(cursor, element, 0, payload_bytes_left(cursor));
    case TDH_INTYPE_HEXDUMP:
        return field_find_dump(cursor, element);
    case TDH_INTYPE_SID:
        return field_find_sid(cursor, 0, element);
    case TDH_INTYPE_WBEMSID:
        return field_find_wbem_sid(cursor, element);
    default:
        return field_fits(cursor, element, 0, etwas_in_type(in_type)->bytes);
    }
}

static uint64_t field_number(uint16_t in_type, const struct etwas_payload_value *value)
{
    return etwas_payload_kind(in_type) == ETWAS_PAYLOAD_UNSIGNED ? etwas_payload_load(value) : 0;
}

static bool field_skip_array(struct etwas_payload_cursor *cursor,
                             const struct etwas_payload_layout *layout, size_t count, size_t length,
                             bool has_length)
{
    size_t each = etwas_in_type(layout->in_type)->bytes;
    struct field_element element;

    if (each != 0) {
        if (count > payload_bytes_left(cursor) / each) {
            return false;
        }
        cursor->at += count * each;
        return true;
    }
    for (size_t index = 0; index < count; index++) {
        if (!field_find(cursor, layout->in_type, length, has_length, &element)) {
            return false;
        }
        cursor->at += element.bytes;
    }
    return true;
}

bool etwas_payload_next(struct etwas_payload_cursor *cursor,
                        const struct etwas_payload_layout *layout,
                        struct etwas_payload_value *value)
{
    size_t length = layout->length_is_before ? cursor->before : layout->length;
    bool has_length = layout->length_is_before || layout->length != 0;
    struct field_element element;

    /*
     * A payload has at most 64 KB. A greater length does not fit, and could wrap when multiplied.
     */
    if (length > UINT16_MAX || (layout->count_is_before && cursor->before > UINT16_MAX)) {
        return false;
    }
    *value = (struct etwas_payload_value){cursor->at, 0};
    if (layout->is_array) {
        size_t count = layout->count_is_before ? cursor->before : layout->count;

        cursor->before = 0;
        return field_skip_array(cursor, layout, count, length, has_length);
    }
    if (!field_find(cursor, layout->in_type, length, has_length, &element)) {
        return false;
    }
    *value = (struct etwas_payload_value){cursor->at + element.value_at, element.value_bytes};
    cursor->at += element.bytes;
    cursor->before = field_number(layout->in_type, value);
    return true;
}

enum etwas_payload_kind etwas_payload_kind(uint16_t in_type)
{
    switch (in_type) {
    case TDH_INTYPE_INT8:
    case TDH_INTYPE_INT16:
    case TDH_INTYPE_INT32:
    case TDH_INTYPE_INT64:
        return ETWAS_PAYLOAD_SIGNED;
    case TDH_INTYPE_UINT8:
    case TDH_INTYPE_UINT16:
    case TDH_INTYPE_UINT32:
    case TDH_INTYPE_UINT64:
    case TDH_INTYPE_BOOLEAN:
    case TDH_INTYPE_POINTER:
    case TDH_INTYPE_FILETIME:
    case TDH_INTYPE_HEXINT32:
    case TDH_INTYPE_HEXINT64:
    case TDH_INTYPE_UNICODECHAR:
    case TDH_INTYPE_ANSICHAR:
    case TDH_INTYPE_SIZET:
        return ETWAS_PAYLOAD_UNSIGNED;
    case TDH_INTYPE_ANSISTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
    case TDH_INTYPE_COUNTEDANSISTRING:
    case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
    case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
        return ETWAS_PAYLOAD_TEXT;
    case TDH_INTYPE_UNICODESTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
    case TDH_INTYPE_COUNTEDSTRING:
    case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
    case TDH_INTYPE_NONNULLTERMINATEDSTRING:
        return ETWAS_PAYLOAD_WIDE_TEXT;
    default:
        return ETWAS_PAYLOAD_OTHER;
    }
}
