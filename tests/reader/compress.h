/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A compressor for the tests: plain LZ77, greedy and slow, but it makes every form of a match. */
#ifndef ETWAS_TESTS_READER_COMPRESS_H
#define ETWAS_TESTS_READER_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the bytes made; `output` has room for twice the input and 64 bytes more. */
size_t compress(const uint8_t *input, size_t bytes, uint8_t *output);

#endif
