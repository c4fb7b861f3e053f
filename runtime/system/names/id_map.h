/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A hash table from numbers to objects whose first member is a node. Several may have the same
 * number: the newest is found first. Not thread-safe.
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

/* Returns false if there is no memory. */
bool etwas_id_map_init(struct etwas_id_map *map);

/* Frees the table; the objects belong to the caller. */
void etwas_id_map_free(struct etwas_id_map *map);

void etwas_id_map_add(struct etwas_id_map *map, struct etwas_id_node *node);
void etwas_id_map_remove(struct etwas_id_map *map, struct etwas_id_node *node);

/* Returns the newest object with this number, or the next older one; NULL: there is none. */
struct etwas_id_node *etwas_id_map_find(const struct etwas_id_map *map, uint32_t id);
struct etwas_id_node *etwas_id_map_find_next(const struct etwas_id_node *node);

/*
 * Returns the object after this one, in no special order. `node` NULL: the first. NULL: there is
 * none.
 */
struct etwas_id_node *etwas_id_map_after(const struct etwas_id_map *map,
                                         const struct etwas_id_node *node);

#endif
