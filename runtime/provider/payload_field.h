/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Going over the fields of a payload, one after the other. Payloads are hostile: whatever lengths are in
 * them, nothing beyond their end is read, and what does not fit ends the walk.
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
    bool is_array;         /* with `count` elements, which may be 0 */
    bool count_is_before;  /* the field before says how many */
    bool length_is_before; /* the field before says the length */
    uint16_t count;
    uint16_t length; /* BINARY: bytes; strings: characters, 0: up to a 0 of their own */
};

struct etwas_payload_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t before; /* what the field before says, if it is an unsigned integer; else 0 */
};

/* Of a string without what counts or ends it. Not aligned. */
struct etwas_payload_value {
    const uint8_t *data;
    size_t bytes;
};

/* An integer of 1, 2, 4 or 8 bytes: loads of known sizes, for a copy of any size is a call. */
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

/* Passes over the next field. False: it is not there whole. Of an array *value is empty. */
bool etwas_payload_next(struct etwas_payload_cursor *walk,
                        const struct etwas_payload_layout *layout,
                        struct etwas_payload_value *value);

enum etwas_payload_kind {
    ETWAS_PAYLOAD_OTHER, /* nothing that is compared */
    ETWAS_PAYLOAD_SIGNED,
    ETWAS_PAYLOAD_UNSIGNED,
    ETWAS_PAYLOAD_TEXT,
    ETWAS_PAYLOAD_WIDE_TEXT,
};

/* What the values of an in type are. */
enum etwas_payload_kind etwas_payload_kind(uint16_t in_type);

#endif
