/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_PROTOBUF_H
#define ETWAS_TOOLS_CONVERT_PROTOBUF_H

/*
 * Messages of protocol buffers: fields, each with its number, one behind the other. A message inside of
 * another one is put together first, and then put as bytes.
 */

#include "convert/bytes.h"

enum {
    ETWAS_PROTOBUF_VARINT = 0,
    ETWAS_PROTOBUF_BYTES = 2,
};

/* Seven bits a byte, the lowest first; all but the last byte have the eighth. */
static inline void etwas_protobuf_put_varint(struct etwas_bytes *bytes, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        etwas_bytes_put_u8(bytes, (uint8_t)(value | 0x80));
    }
    etwas_bytes_put_u8(bytes, (uint8_t)value);
}

static inline void etwas_protobuf_put_number(struct etwas_bytes *bytes, uint32_t field,
                                             uint64_t value)
{
    etwas_protobuf_put_varint(bytes, (uint64_t)field << 3 | ETWAS_PROTOBUF_VARINT);
    etwas_protobuf_put_varint(bytes, value);
}

/* A string, bytes, packed numbers, or a message. */
static inline void etwas_protobuf_put_bytes(struct etwas_bytes *bytes, uint32_t field,
                                            const void *data, size_t count)
{
    etwas_protobuf_put_varint(bytes, (uint64_t)field << 3 | ETWAS_PROTOBUF_BYTES);
    etwas_protobuf_put_varint(bytes, count);
    etwas_bytes_put(bytes, data, count);
}

#endif
