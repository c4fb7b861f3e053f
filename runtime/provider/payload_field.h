/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the fields of a payload, one after the other. Payloads are hostile: nothing beyond their
 * end is read, whatever lengths they state, and a field that does not fit ends the reading.
 */
#ifndef ETWAS_PROVIDER_PAYLOAD_FIELD_H
#define ETWAS_PROVIDER_PAYLOAD_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How a field lies in the payload. */
struct etwas_payload_layout {
    uint16_t in_type;      /* one that etwas_in_type knows */
    bool is_array;         /* `count` elements, which may be 0 */
    bool count_is_before;  /* the field before states the count */
    bool length_is_before; /* the field before states the length */
    uint16_t count;
    uint16_t length; /* BINARY: bytes; strings: characters, 0: up to a 0 of their own */
};

struct etwas_payload_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t before; /* the value of the field before, if it is an unsigned integer; else 0 */
};

/* A value, which need not be aligned. A string's excludes its length and its terminating 0. */
struct etwas_payload_value {
    const uint8_t *data;
    size_t bytes;
};

/*
 * Loads an integer of 1, 2, 4 or 8 bytes. The loads have known sizes, because a copy of variable
 * size is a call.
 */
static inline uint64_t etwas_payload_load(const struct etwas_payload_value *value)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    switch (value->bytes) {
    case sizeof(uint8_t):
        return value->data[0];
    case sizeof two:
        memcpy(&two, value->data, sizeof two);
        return two;
    case sizeof four:
        memcpy(&four, value->data, sizeof four);
        return four;
    default:
        memcpy(&eight, value->data, sizeof eight);
        return eight;
    }
}

/*
 * Moves past the next field. Returns false if the payload does not hold all of it. The value of an
 * array is empty.
 */
bool etwas_payload_next(struct etwas_payload_cursor *cursor,
                        const struct etwas_payload_layout *layout,
                        struct etwas_payload_value *value);

enum etwas_payload_kind {
    ETWAS_PAYLOAD_OTHER, /* a value that cannot be compared */
    ETWAS_PAYLOAD_SIGNED,
    ETWAS_PAYLOAD_UNSIGNED,
    ETWAS_PAYLOAD_TEXT,
    ETWAS_PAYLOAD_WIDE_TEXT,
};

/* The kind of an in type's values. */
enum etwas_payload_kind etwas_payload_kind(uint16_t in_type);

#endif
