/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "math/hash_index.h"

#include <stdlib.h>

enum {
    FIRST_SLOTS = 64,
    FIRST_SHIFT = 26, /* for the first capacity, 2^6: the high 6 of 32 bits choose the slot */
    LEAST_SHIFT = 1,  /* capacities have 32 bits */
};

static void hash_index_insert(struct etwas_hash_index *index, struct etwas_hash_slot slot)
{
    uint32_t at = slot.hash >> index->shift;

    while (index->slots[at].number != 0) {
        at = (at + 1) & (index->capacity - 1);
    }
    index->slots[at] = slot;
}

static bool hash_index_grow(struct etwas_hash_index *index)
{
    struct etwas_hash_index larger = {
        .capacity = index->capacity > 0 ? 2 * index->capacity : FIRST_SLOTS,
        .shift = index->capacity > 0 ? index->shift - 1 : FIRST_SHIFT,
        .count = index->count,
    };

    if (larger.shift < LEAST_SHIFT) {
        return false;
    }
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < index->capacity; i++) {
        if (index->slots[i].number != 0) {
            hash_index_insert(&larger, index->slots[i]);
        }
    }
    free(index->slots);
    *index = larger;
    return true;
}

bool etwas_hash_index_add(struct etwas_hash_index *index, uint64_t hash, uint32_t number)
{
    if (index->count >= index->capacity / 2 && !hash_index_grow(index)) {
        return false;
    }
    hash_index_insert(index, (struct etwas_hash_slot){etwas_hash_index_mix(hash), number});
    index->count++;
    return true;
}

/* Slots after the removed one move up if a search would not find them across an empty slot. */
void etwas_hash_index_remove(struct etwas_hash_index *index, const struct etwas_hash_place *place)
{
    uint32_t mask = index->capacity - 1;
    uint32_t at = place->at;

    for (uint32_t next = (at + 1) & mask; index->slots[next].number != 0;
         next = (next + 1) & mask) {
        uint32_t first = index->slots[next].hash >> index->shift;

        if (((next - first) & mask) >= ((next - at) & mask)) {
            index->slots[at] = index->slots[next];
            at = next;
        }
    }
    index->slots[at].number = 0;
    index->count--;
}

void etwas_hash_index_clear(struct etwas_hash_index *index)
{
    free(index->slots);
    *index = (struct etwas_hash_index){0};
}
