/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Manifests in chunks: the document up to a byte of 0; the payload of an event of each kind that it
 * describes. The first byte of the document is the one that says how large the chunks are.
 */
#include <stdlib.h>
#include <string.h>

#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void learn_chunk(etwas_decoder *decoder, uint16_t total, uint16_t number, const uint8_t *xml,
                        size_t bytes)
{
    const uint8_t envelope[] = {1,
                                1,
                                0,
                                0x5B,
                                (uint8_t)total,
                                (uint8_t)(total >> 8),
                                (uint8_t)number,
                                (uint8_t)(number >> 8)};
    uint8_t *payload = malloc(sizeof envelope + bytes);
    EVENT_RECORD record = {
        .EventHeader.EventDescriptor = {.Id = 0xFFFE, .Opcode = 0xFE, .Task = 0xFFFE},
        .UserData = payload,
        .UserDataLength = (uint16_t)(sizeof envelope + bytes),
    };

    memcpy(payload, envelope, sizeof envelope);
    memcpy(payload + sizeof envelope, xml, bytes);
    etwas_decoder_learn(decoder, &record);
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size == 0 ? NULL : memchr(data, 0, size);
    size_t bytes = end == NULL ? size : (size_t)(end - data);
    size_t chunk_bytes = bytes == 0 ? 1 : 1 + 64 * (size_t)data[0];
    size_t total = (bytes + chunk_bytes - 1) / chunk_bytes;
    struct input input = {data + bytes, size - bytes};
    etwas_decoder *decoder = open_decoder();
    void *payload;
    uint16_t payload_bytes;

    for (size_t i = 0; i < total && total <= UINT16_MAX; i++) {
        size_t at = i * chunk_bytes;

        learn_chunk(decoder, (uint16_t)total, (uint16_t)i, data + at,
                    bytes - at < chunk_bytes ? bytes - at : chunk_bytes);
    }
    take_u8(&input);
    payload = take_bytes(&input, input.left, &payload_bytes);
    walk_all(decoder, payload, payload_bytes, EVENT_HEADER_FLAG_64_BIT_HEADER);
    etwas_decoder_close(decoder);
    free(payload);
    return 0;
}
