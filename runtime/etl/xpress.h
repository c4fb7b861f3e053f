/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Decoder for compressed buffers: "plain LZ77" of the published MS-XCA specification, the Xpress
 * variant without Huffman coding. Its input is hostile: it reads and writes only inside the two
 * ranges it is given, whatever the bytes say, and takes time linear in their sizes.
 */
#ifndef ETWAS_ETL_XPRESS_H
#define ETWAS_ETL_XPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes until `output` is full, the input ends, or a match points before the output's start.
 * Returns the bytes made, all of them right for the input read so far; of a match that goes on
 * behind the output its part in it. *exact: the output is full, no match goes on, and nothing but a
 * closing flag word is left of the input.
 */
size_t etwas_xpress_decode(const uint8_t *input, size_t input_bytes, uint8_t *output,
                           size_t output_bytes, bool *exact);

#endif
