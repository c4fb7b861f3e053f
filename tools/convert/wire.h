/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_WIRE_H
#define ETWAS_TOOLS_CONVERT_WIRE_H

/*
 * Writes protocol buffers. A message is a sequence of fields, each a tag and a value. A nested
 * message is preceded by its length, which is filled in when the message ends.
 *
 * If the buffer has no room, `is_short` is set; the owner checks it when the message is complete.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ETWAS_WIRE_BYTES = 4 * 1024 * 1024, /* capacity for wires with messages of any kind */
    ETWAS_WIRE_VARINT_BYTES = 10,       /* the longest varint */
};

enum etwas_wire_type {
    ETWAS_WIRE_VARINT = 0,
    ETWAS_WIRE_FIXED64 = 1,
    ETWAS_WIRE_LENGTH = 2,
};

struct etwas_wire {
    uint8_t *bytes;
    size_t capacity;
    size_t used;
    bool is_short; /* there was no room: the contents are incomplete */
};

static inline size_t etwas_wire_encode(uint8_t bytes[ETWAS_WIRE_VARINT_BYTES], uint64_t value)
{
    size_t count = 0;

    /* The common case, often decided at compile time. */
    if (value < 0x80) {
        bytes[0] = (uint8_t)value;
        return 1;
    }
    for (; value >= 0x80; value >>= 7) {
        bytes[count++] = (uint8_t)(value | 0x80);
    }
    bytes[count++] = (uint8_t)value;
    return count;
}

static inline bool etwas_wire_has_room(struct etwas_wire *wire, size_t bytes)
{
    if (wire->capacity - wire->used < bytes + ETWAS_WIRE_VARINT_BYTES) {
        wire->is_short = true;
    }
    return !wire->is_short;
}

static inline void etwas_wire_varint(struct etwas_wire *wire, uint64_t value)
{
    if (etwas_wire_has_room(wire, ETWAS_WIRE_VARINT_BYTES)) {
        wire->used += etwas_wire_encode(wire->bytes + wire->used, value);
    }
}

static inline void etwas_wire_raw(struct etwas_wire *wire, const void *data, size_t bytes)
{
    if (bytes > 0 && etwas_wire_has_room(wire, bytes)) {
        memcpy(wire->bytes + wire->used, data, bytes);
        wire->used += bytes;
    }
}

static inline void etwas_wire_tag(struct etwas_wire *wire, uint32_t field,
                                  enum etwas_wire_type type)
{
    etwas_wire_varint(wire, field << 3 | (uint32_t)type);
}

static inline void etwas_wire_number(struct etwas_wire *wire, uint32_t field, uint64_t value)
{
    if (etwas_wire_has_room(wire, 2 * ETWAS_WIRE_VARINT_BYTES)) {
        uint8_t *at = wire->bytes + wire->used;

        at += etwas_wire_encode(at, field << 3 | (uint32_t)ETWAS_WIRE_VARINT);
        at += etwas_wire_encode(at, value);
        wire->used = (size_t)(at - wire->bytes);
    }
}

/* Encodes small absolute values in few bytes, whatever their sign. */
static inline void etwas_wire_zigzag(struct etwas_wire *wire, uint32_t field, int64_t value)
{
    etwas_wire_number(wire, field, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static inline void etwas_wire_fixed64(struct etwas_wire *wire, uint32_t field, uint64_t value)
{
    etwas_wire_tag(wire, field, ETWAS_WIRE_FIXED64);
    etwas_wire_raw(wire, &value, sizeof value);
}

static inline void etwas_wire_double(struct etwas_wire *wire, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    etwas_wire_fixed64(wire, field, bits);
}

static inline void etwas_wire_bytes(struct etwas_wire *wire, uint32_t field, const void *data,
                                    size_t bytes)
{
    etwas_wire_tag(wire, field, ETWAS_WIRE_LENGTH);
    etwas_wire_varint(wire, bytes);
    etwas_wire_raw(wire, data, bytes);
}

static inline void etwas_wire_text(struct etwas_wire *wire, uint32_t field, const char *text)
{
    etwas_wire_bytes(wire, field, text, strlen(text));
}

/* Begins a nested message. Pass the result to etwas_wire_end. */
static inline size_t etwas_wire_begin(struct etwas_wire *wire, uint32_t field)
{
    etwas_wire_tag(wire, field, ETWAS_WIRE_LENGTH);
    etwas_wire_varint(wire, 0);
    return wire->used;
}

/*
 * Ends a nested message. One byte is reserved for the length, which suffices below 128 bytes;
 * longer messages are moved.
 */
static inline void etwas_wire_end(struct etwas_wire *wire, size_t began)
{
    uint8_t length[ETWAS_WIRE_VARINT_BYTES];
    size_t bytes;
    size_t taken;

    if (wire->is_short) {
        return;
    }
    bytes = wire->used - began;
    taken = etwas_wire_encode(length, bytes);
    if (taken > 1 && etwas_wire_has_room(wire, taken)) {
        memmove(wire->bytes + began + taken - 1, wire->bytes + began, bytes);
        wire->used += taken - 1;
    }
    if (!wire->is_short) {
        memcpy(wire->bytes + began - 1, length, taken);
    }
}

/* Returns false if memory runs out. */
static inline bool etwas_wire_open(struct etwas_wire *wire, size_t capacity)
{
    *wire = (struct etwas_wire){.bytes = (uint8_t *)malloc(capacity), .capacity = capacity};
    return wire->bytes != NULL;
}

static inline void etwas_wire_clear(struct etwas_wire *wire)
{
    wire->used = 0;
    wire->is_short = false;
}

#endif
