/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/id_map.h"

#include <stddef.h>
#include <stdlib.h>

enum {
    FIRST_BUCKETS = 256,
    MOST_IN_BUCKET = 2, /* on average */
};

bool etwas_id_map_init(struct etwas_id_map *map)
{
    *map = (struct etwas_id_map){.buckets = calloc(FIRST_BUCKETS, sizeof *map->buckets),
                                 .bucket_count = FIRST_BUCKETS};
    return map->buckets != NULL;
}

void etwas_id_map_free(struct etwas_id_map *map)
{
    free(map->buckets);
    map->buckets = NULL;
}

static uint32_t id_map_bucket_of(uint32_t id, uint32_t bucket_count)
{
    const uint64_t multiplier = 0x9E3779B97F4A7C15; /* spreads numbers that follow each other */

    return (uint32_t)((id * multiplier) >> 32) & (bucket_count - 1);
}

/* Does nothing without memory; the buckets just become fuller. */
static void grow(struct etwas_id_map *map)
{
    uint32_t bucket_count = 2 * map->bucket_count;
    struct etwas_id_node **buckets = calloc(bucket_count, sizeof *buckets);

    if (buckets == NULL) {
        return;
    }
    for (uint32_t index = 0; index < map->bucket_count; index++) {
        struct etwas_id_node *reversed = NULL;
        struct etwas_id_node *node;

        while ((node = map->buckets[index]) != NULL) {
            map->buckets[index] = node->next;
            node->next = reversed;
            reversed = node;
        }
        while ((node = reversed) != NULL) {
            struct etwas_id_node **bucket = &buckets[id_map_bucket_of(node->id, bucket_count)];

            reversed = node->next;
            node->next = *bucket;
            *bucket = node;
        }
    }
    free(map->buckets);
    map->buckets = buckets;
    map->bucket_count = bucket_count;
}

void etwas_id_map_add(struct etwas_id_map *map, struct etwas_id_node *node)
{
    struct etwas_id_node **bucket;

    if (map->count / MOST_IN_BUCKET >= map->bucket_count && map->bucket_count <= INT32_MAX) {
        grow(map);
    }
    bucket = &map->buckets[id_map_bucket_of(node->id, map->bucket_count)];
    node->next = *bucket;
    *bucket = node;
    map->count++;
}

void etwas_id_map_remove(struct etwas_id_map *map, struct etwas_id_node *node)
{
    struct etwas_id_node **link = &map->buckets[id_map_bucket_of(node->id, map->bucket_count)];

    while (*link != node) {
        link = &(*link)->next;
    }
    *link = node->next;
    map->count--;
}

static struct etwas_id_node *first_of(struct etwas_id_node *node, uint32_t id)
{
    while (node != NULL && node->id != id) {
        node = node->next;
    }
    return node;
}

struct etwas_id_node *etwas_id_map_find(const struct etwas_id_map *map, uint32_t id)
{
    return first_of(map->buckets[id_map_bucket_of(id, map->bucket_count)], id);
}

struct etwas_id_node *etwas_id_map_find_next(const struct etwas_id_node *node)
{
    return first_of(node->next, node->id);
}

struct etwas_id_node *etwas_id_map_after(const struct etwas_id_map *map,
                                         const struct etwas_id_node *node)
{
    uint32_t index = node == NULL ? 0 : id_map_bucket_of(node->id, map->bucket_count) + 1;
    struct etwas_id_node *found = node == NULL ? NULL : node->next;

    while (found == NULL && index < map->bucket_count) {
        found = map->buckets[index++];
    }
    return found;
}
