/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/stream/event_join.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t first;
    uint64_t second;
    uint64_t age; /* the number of the insertion; 0: the entry is free */
    uint64_t value[];
};

struct etwas_event_join {
    size_t entry_bytes;
    size_t value_bytes;
    uint64_t puts;
    uint8_t entries[] __attribute__((aligned(8)));
};

struct etwas_event_join *etwas_event_join_make(size_t value_bytes)
{
    size_t rounded = (value_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    size_t entry_bytes = sizeof(struct entry) + rounded;
    struct etwas_event_join *join =
        calloc(1, sizeof *join + ETWAS_EVENT_JOIN_SETS * ETWAS_EVENT_JOIN_WAYS * entry_bytes);

    if (join != NULL) {
        join->entry_bytes = entry_bytes;
        join->value_bytes = rounded;
    }
    return join;
}

void etwas_event_join_free(struct etwas_event_join *join)
{
    free(join);
}

/* An entry of the set that the two numbers choose. */
static struct entry *entry_at(const struct etwas_event_join *join, uint64_t first, uint64_t second,
                              size_t way)
{
    uint64_t mixed = (first ^ second * UINT64_C(0xFF51AFD7ED558CCD)) * UINT64_C(0x9E3779B97F4A7C15);
    size_t set = (mixed >> 32) % ETWAS_EVENT_JOIN_SETS;

    return (struct entry *)(join->entries +
                            (set * ETWAS_EVENT_JOIN_WAYS + way) * join->entry_bytes);
}

static struct entry *find_entry(const struct etwas_event_join *join, uint64_t first,
                                uint64_t second)
{
    for (size_t way = 0; way < ETWAS_EVENT_JOIN_WAYS; way++) {
        struct entry *entry = entry_at(join, first, second, way);

        if (entry->age != 0 && entry->first == first && entry->second == second) {
            return entry;
        }
    }
    return NULL;
}

void *etwas_event_join_find(const struct etwas_event_join *join, uint64_t first, uint64_t second)
{
    struct entry *entry = find_entry(join, first, second);

    return entry != NULL ? entry->value : NULL;
}

void *etwas_event_join_insert(struct etwas_event_join *join, uint64_t first, uint64_t second)
{
    struct entry *place = find_entry(join, first, second);

    if (place == NULL) {
        place = entry_at(join, first, second, 0);
        for (size_t way = 1; way < ETWAS_EVENT_JOIN_WAYS; way++) {
            struct entry *entry = entry_at(join, first, second, way);

            place = entry->age < place->age ? entry : place;
        }
    }
    place->first = first;
    place->second = second;
    place->age = ++join->puts;
    memset(place->value, 0, join->value_bytes);
    return place->value;
}

void etwas_event_join_remove(struct etwas_event_join *join, uint64_t first, uint64_t second)
{
    struct entry *entry = find_entry(join, first, second);

    if (entry != NULL) {
        entry->age = 0;
    }
}

void etwas_event_join_clear(struct etwas_event_join *join)
{
    memset(join->entries, 0, ETWAS_EVENT_JOIN_SETS * ETWAS_EVENT_JOIN_WAYS * join->entry_bytes);
}
