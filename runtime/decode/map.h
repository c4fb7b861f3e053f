/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A map that was checked: names of values or bits as UTF-8, found by value. */
#ifndef ETWAS_DECODE_MAP_H
#define ETWAS_DECODE_MAP_H

#include <etwas/decode.h>

/*
 * A value may be shown with its name as often as an event has bytes, and bits with all names at once:
 * a map with longer ones makes no sense.
 */
enum {
    ETWAS_MAP_NAME_UNITS = 1024, /* of an entry */
    ETWAS_MAP_BITS = 256,        /* entries for bits */
    ETWAS_MAP_BITS_BYTES = 4096, /* of their names */
};

struct etwas_map_entry {
    uint32_t value; /* or mask */
    const char *text;
};

struct etwas_map {
    struct etwas_map *next; /* the store's: of all */
    bool is_bits;
    uint32_t count;
    const struct etwas_map_entry *entries; /* by ascending value */
    size_t bytes;                          /* of all of it */
    uint32_t info_bytes;
    EVENT_MAP_INFO info; /* last: its entries and strings follow */
};

/*
 * A copy of an EVENT_MAP_INFO, the caller's to free. `info` may be unaligned. ERROR_INVALID_DATA:
 * it makes no sense. ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_map_make(const void *info, size_t bytes, struct etwas_map **map);

/* The map that a field's public pointer is part of. */
const struct etwas_map *etwas_map_of(const EVENT_MAP_INFO *info);

/* The name of a value, or NULL. */
const char *etwas_map_name(const struct etwas_map *map, uint64_t value);

#endif
