/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "math/hash_table.h"

#include <stdlib.h>

enum {
    FIRST_SLOTS = 64,
    FIRST_SHIFT = 26, /* 32 bits without the 6 that choose one of the first slots */
    LEAST_SHIFT = 1,  /* capacities have 32 bits */
};

static void hash_table_insert(struct etwas_hash_table *table, struct etwas_hash_slot slot)
{
    uint32_t at = slot.hash >> table->shift;

    while (table->slots[at].number != 0) {
        at = (at + 1) & (table->capacity - 1);
    }
    table->slots[at] = slot;
}

static bool hash_table_grow(struct etwas_hash_table *table)
{
    struct etwas_hash_table larger = {
        .capacity = table->capacity > 0 ? 2 * table->capacity : FIRST_SLOTS,
        .shift = table->capacity > 0 ? table->shift - 1 : FIRST_SHIFT,
        .count = table->count,
    };

    if (larger.shift < LEAST_SHIFT) {
        return false;
    }
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].number != 0) {
            hash_table_insert(&larger, table->slots[i]);
        }
    }
    free(table->slots);
    *table = larger;
    return true;
}

bool etwas_hash_table_add(struct etwas_hash_table *table, uint64_t hash, uint32_t number)
{
    if (table->count >= table->capacity / 2 && !hash_table_grow(table)) {
        return false;
    }
    hash_table_insert(table, (struct etwas_hash_slot){etwas_hash_table_mix(hash), number});
    table->count++;
    return true;
}

/* What stands behind the slot, and may not be found across an empty one, moves up. */
void etwas_hash_table_remove(struct etwas_hash_table *table, const struct etwas_hash_place *place)
{
    uint32_t mask = table->capacity - 1;
    uint32_t at = place->at;

    for (uint32_t next = (at + 1) & mask; table->slots[next].number != 0;
         next = (next + 1) & mask) {
        uint32_t first = table->slots[next].hash >> table->shift;

        if (((next - first) & mask) >= ((next - at) & mask)) {
            table->slots[at] = table->slots[next];
            at = next;
        }
    }
    table->slots[at].number = 0;
    table->count--;
}

void etwas_hash_table_clear(struct etwas_hash_table *table)
{
    free(table->slots);
    *table = (struct etwas_hash_table){0};
}
