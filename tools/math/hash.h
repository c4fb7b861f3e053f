/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_MATH_HASH_H
#define ETWAS_TOOLS_MATH_HASH_H

/*
 * FNV-1a with 64 bits: the same bytes have the same hash on every machine. Its high bits depend
 * little on the last bytes, so code that uses a few bits must mix them first.
 */

#include <stddef.h>
#include <stdint.h>

#define ETWAS_HASH_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* Returns the hash of earlier data with hash `hash`, followed by these bytes. */
static inline uint64_t etwas_hash(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *byte = data;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/*
 * Returns the hash of earlier data with hash `hash`, followed by a number. It is for tables in
 * memory: faster than etwas_hash, with well mixed high bits.
 */
static inline uint64_t etwas_hash_number(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

#endif
