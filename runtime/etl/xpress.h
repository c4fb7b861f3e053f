/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Decoder for compressed buffers: "plain LZ77" of the published MS-XCA specification, the Xpress
 * variant without Huffman coding. Its input is hostile: whatever the bytes are, it accesses only
 * the two given ranges, and takes time linear in their sizes.
 */
#ifndef ETWAS_ETL_XPRESS_H
#define ETWAS_ETL_XPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes until `output` is full, the input ends, or a match points before the output's start.
 * Returns the bytes produced, all of them right for the input read so far. A match that exceeds the
 * output is cut. *exact: the output is full, no match was cut, and only a closing flag word is left
 * of the input.
 */
size_t etwas_xpress_decode(const uint8_t *input, size_t input_bytes, uint8_t *output,
                           size_t output_bytes, bool *exact);

/* The compressor of buffers, for the same format. */

enum {
    /* Working memory, aligned for u32. Its contents mean nothing before or after. */
    ETWAS_XPRESS_MEMORY_BYTES = 16384
};

/*
 * Compresses `byte_count` bytes, 16 MiB at most. Returns the size of the result in `compressed`; 0:
 * it and 32 more bytes do not fit into `room`. Writes nothing after `room`. The ranges do not
 * overlap.
 */
uint32_t etwas_xpress_encode(const void *bytes, uint32_t byte_count, void *compressed,
                             uint32_t room, void *memory);

#endif
