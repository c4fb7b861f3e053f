/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A map from numbers to what has such a node as its first member. Several may have the same number:
 * the newest is found, and the others behind it. Nobody but its caller touches it at a time.
 */
#ifndef ETWAS_SYSTEM_NAMES_ID_MAP_H
#define ETWAS_SYSTEM_NAMES_ID_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct etwas_id_node {
    struct etwas_id_node *next; /* in its bucket */
    uint32_t id;
};

struct etwas_id_map {
    struct etwas_id_node **buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t count;
};

/* False: no memory. */
bool etwas_id_map_init(struct etwas_id_map *map);

/* What is in it is the caller's. */
void etwas_id_map_free(struct etwas_id_map *map);

void etwas_id_map_add(struct etwas_id_map *map, struct etwas_id_node *node);
void etwas_id_map_remove(struct etwas_id_map *map, struct etwas_id_node *node);

/* NULL: there is none, or no other. */
struct etwas_id_node *etwas_id_map_find(const struct etwas_id_map *map, uint32_t id);
struct etwas_id_node *etwas_id_map_find_next(const struct etwas_id_node *node);

/* The one after this in no special order; NULL: the first, or there is none. */
struct etwas_id_node *etwas_id_map_after(const struct etwas_id_map *map,
                                         const struct etwas_id_node *node);

#endif
