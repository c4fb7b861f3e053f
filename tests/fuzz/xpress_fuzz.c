/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Compressed buffers: u16 the bytes that they promise, and what is to be decompressed; the first of
 * these bytes, compressed by the tests' compressor, and all of them by the library's, come back as
 * they were.
 */
#include <stdlib.h>
#include <string.h>

#include "etl/xpress.h"
#include "reader/compress.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LONGEST_BYTES = 300, /* the tests' compressor is slow */
};

static void decode(const uint8_t *bytes, size_t size, size_t promised)
{
    uint8_t *output = malloc(promised != 0 ? promised : 1);
    bool exact;

    MUST(output != NULL);
    MUST(etwas_xpress_decode(bytes, size, output, promised, &exact) <= promised);
    free(output);
}

static void there_and_back(const uint8_t *bytes, size_t size)
{
    uint8_t *squeezed = malloc(2 * size + 64);
    uint8_t *output = malloc(size + 1);
    size_t made;
    bool exact;

    MUST(squeezed != NULL && output != NULL);
    made = compress(bytes, size, squeezed);
    MUST(etwas_xpress_decode(squeezed, made, output, size, &exact) == size && exact);
    MUST(memcmp(output, bytes, size) == 0);
    free(squeezed);
    free(output);
}

/* Into so much room; there always is enough in an eighth more and 64 bytes. */
static void compress_into(const uint8_t *bytes, size_t size, size_t room)
{
    static uint8_t memory[ETWAS_XPRESS_MEMORY_BYTES];
    uint8_t *squeezed = malloc(room + 1);
    uint8_t *output = malloc(size + 1);
    uint32_t made;
    bool exact;

    MUST(squeezed != NULL && output != NULL);
    made = etwas_xpress_encode(bytes, (uint32_t)size, squeezed, (uint32_t)room, memory);
    MUST(made <= room);
    if (made != 0) {
        MUST(etwas_xpress_decode(squeezed, made, output, size, &exact) == size && exact);
        MUST(memcmp(output, bytes, size) == 0);
    } else {
        MUST(room < size + size / 8 + 64);
    }
    free(squeezed);
    free(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    size_t promised = take_u16(&input);
    uint8_t *bytes = malloc(input.left + 1);

    MUST(bytes != NULL);
    memcpy(bytes, input.at, input.left);
    decode(bytes, input.left, promised);
    if (input.left != 0) {
        there_and_back(bytes, input.left < LONGEST_BYTES ? input.left : LONGEST_BYTES);
        compress_into(bytes, input.left, promised % (2 * input.left));
        compress_into(bytes, input.left, 2 * input.left + 64);
    }
    free(bytes);
    return 0;
}
