/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A checked map: names of values or bits as UTF-8, found by value. */
#ifndef ETWAS_DECODE_MAP_H
#define ETWAS_DECODE_MAP_H

#include <etwas/decode.h>

/*
 * Bounds of a map. An event may have as many values as bytes, each printed with its name, or for
 * bits with all names at once. A map that exceeds a bound is invalid.
 */
enum {
    ETWAS_MAP_NAME_UNITS = 1024, /* of the name of an entry */
    ETWAS_MAP_BITS = 256,        /* entries of a map of bits */
    ETWAS_MAP_BITS_BYTES = 4096, /* all names of a map of bits */
};

struct etwas_map_entry {
    uint32_t value; /* or mask */
    const char *text;
};

struct etwas_map {
    struct etwas_map *next; /* the next of all maps in the store */
    bool is_bits;
    uint32_t count;
    const struct etwas_map_entry *entries; /* by ascending value */
    size_t bytes;                          /* of this allocation */
    uint32_t info_bytes;
    EVENT_MAP_INFO info; /* last: its entries and strings follow */
};

/*
 * Makes a map from an EVENT_MAP_INFO, which may be unaligned and is copied; the caller frees it.
 * ERROR_INVALID_DATA: it is invalid. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_map_make(const void *info, size_t bytes, struct etwas_map **map);

/* The map that contains a field's public EVENT_MAP_INFO. */
const struct etwas_map *etwas_map_of(const EVENT_MAP_INFO *info);

/* The name of a value; NULL: it has none. */
const char *etwas_map_name(const struct etwas_map *map, uint64_t value);

#endif
