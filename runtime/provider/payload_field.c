/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/payload_field.h"

#include <etwas/tdh.h>
#include <etwas/types.h>

#include "provider/in_type.h"

enum {
    SID_HEAD_BYTES = 8,
    SID_PART_BYTES = 4,
    TOKEN_USER_BYTES = 16,
};

/* One element: all that it takes in the payload, and its value in there. */
struct element {
    size_t bytes;
    size_t value_at;
    size_t value_bytes;
};

static size_t left(const struct etwas_payload_walk *walk)
{
    return (size_t)(walk->end - walk->at);
}

static bool fits(const struct etwas_payload_walk *walk, struct element *element, size_t at,
                 size_t value_bytes)
{
    if (at > left(walk) || value_bytes > left(walk) - at) {
        return false;
    }
    *element = (struct element){at + value_bytes, at, value_bytes};
    return true;
}

/* Text up to its 0, of characters of `unit` bytes; the 0 belongs to the element. */
static bool find_end(const struct etwas_payload_walk *walk, size_t unit, size_t most,
                     struct element *element)
{
    for (size_t at = 0; at + unit <= most; at += unit) {
        if (walk->at[at] == 0 && (unit == 1 || walk->at[at + 1] == 0)) {
            *element = (struct element){at + unit, 0, at};
            return true;
        }
    }
    return false;
}

/* Text of `length` characters, of which those before a 0 count; 0: up to a 0 of its own. */
static bool find_string(const struct etwas_payload_walk *walk, size_t unit, size_t length,
                        bool has_length, struct element *element)
{
    struct element all;

    if (!has_length) {
        return find_end(walk, unit, left(walk), element);
    }
    if (!fits(walk, &all, 0, length * unit)) {
        return false;
    }
    *element = find_end(walk, unit, all.bytes, element)
                   ? (struct element){all.bytes, 0, element->value_bytes}
                   : all;
    return true;
}

/* How many bytes a value has that says it itself. */
static bool find_counted(const struct etwas_payload_walk *walk, bool is_reversed,
                         struct element *element)
{
    uint16_t bytes;

    if (left(walk) < sizeof bytes) {
        return false;
    }
    memcpy(&bytes, walk->at, sizeof bytes);
    return fits(walk, element, sizeof bytes, is_reversed ? __builtin_bswap16(bytes) : bytes);
}

static bool find_dump(const struct etwas_payload_walk *walk, struct element *element)
{
    uint32_t bytes;

    if (left(walk) < sizeof bytes) {
        return false;
    }
    memcpy(&bytes, walk->at, sizeof bytes);
    return fits(walk, element, sizeof bytes, bytes);
}

static bool find_sid(const struct etwas_payload_walk *walk, size_t at, struct element *element)
{
    if (left(walk) < at + SID_HEAD_BYTES) {
        return false;
    }
    return fits(walk, element, at, SID_HEAD_BYTES + SID_PART_BYTES * (size_t)walk->at[at + 1]);
}

/* A pointer and attributes, both without meaning, and a SID; or a u32 of 0 and nothing else. */
static bool find_wbem_sid(const struct etwas_payload_walk *walk, struct element *element)
{
    uint32_t first;

    if (left(walk) < sizeof first) {
        return false;
    }
    memcpy(&first, walk->at, sizeof first);
    return first == 0 ? fits(walk, element, 0, sizeof first)
                      : find_sid(walk, TOKEN_USER_BYTES, element);
}

static bool find(const struct etwas_payload_walk *walk, uint16_t in_type, size_t length,
                 bool has_length, struct element *element)
{
    switch (in_type) {
    case TDH_INTYPE_UNICODESTRING:
        return find_string(walk, sizeof(etwas_wchar), length, has_length, element);
    case TDH_INTYPE_ANSISTRING:
        return find_string(walk, 1, length, has_length, element);
    case TDH_INTYPE_BINARY:
        return fits(walk, element, 0, length);
    case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
    case TDH_INTYPE_MANIFEST_COUNTEDBINARY:
    case TDH_INTYPE_COUNTEDSTRING:
    case TDH_INTYPE_COUNTEDANSISTRING:
        return find_counted(walk, false, element);
    case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
    case TDH_INTYPE_REVERSEDCOUNTEDANSISTRING:
        return find_counted(walk, true, element);
    case TDH_INTYPE_NONNULLTERMINATEDSTRING:
    case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
        return fits(walk, element, 0, left(walk));
    case TDH_INTYPE_HEXDUMP:
        return find_dump(walk, element);
    case TDH_INTYPE_SID:
        return find_sid(walk, 0, element);
    case TDH_INTYPE_WBEMSID:
        return find_wbem_sid(walk, element);
    default:
        return fits(walk, element, 0, etwas_in_type(in_type)->bytes);
    }
}

static uint64_t number_in(uint16_t in_type, const struct etwas_payload_value *value)
{
    return etwas_payload_kind(in_type) == ETWAS_PAYLOAD_UNSIGNED ? etwas_payload_load(value) : 0;
}

static bool pass_array(struct etwas_payload_walk *walk, const struct etwas_payload_layout *layout,
                       size_t count, size_t length, bool has_length)
{
    size_t each = etwas_in_type(layout->in_type)->bytes;
    struct element element;

    if (each != 0) {
        if (count > left(walk) / each) {
            return false;
        }
        walk->at += count * each;
        return true;
    }
    for (size_t index = 0; index < count; index++) {
        if (!find(walk, layout->in_type, length, has_length, &element)) {
            return false;
        }
        walk->at += element.bytes;
    }
    return true;
}

bool etwas_payload_next(struct etwas_payload_walk *walk, const struct etwas_payload_layout *layout,
                        struct etwas_payload_value *value)
{
    size_t length = layout->length_is_before ? walk->before : layout->length;
    bool has_length = layout->length_is_before || layout->length != 0;
    struct element element;

    /* A payload has 64 KB: what is longer is not there. It must not wrap when it is multiplied. */
    if (length > UINT16_MAX || (layout->count_is_before && walk->before > UINT16_MAX)) {
        return false;
    }
    *value = (struct etwas_payload_value){walk->at, 0};
    if (layout->is_array) {
        size_t count = layout->count_is_before ? walk->before : layout->count;

        walk->before = 0;
        return pass_array(walk, layout, count, length, has_length);
    }
    if (!find(walk, layout->in_type, length, has_length, &element)) {
        return false;
    }
    *value = (struct etwas_payload_value){walk->at + element.value_at, element.value_bytes};
    walk->at += element.bytes;
    walk->before = number_in(layout->in_type, value);
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
