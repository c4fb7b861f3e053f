/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_MATH_HASH_TABLE_H
#define ETWAS_TOOLS_MATH_HASH_TABLE_H

/*
 * A hash table of the numbers of entries, from 1. The entries are the caller's, mostly an array in
 * the order in which they were added (array.h), and so are their keys. A search gives the numbers
 * of all entries whose keys may be the one that is searched for; the caller compares the keys:
 *
 *     struct etwas_hash_place place;
 *     uint32_t number = etwas_hash_table_first(&table, hash, &place);
 *
 *     while (number != 0 && entries[number - 1].key != key) {
 *         number = etwas_hash_table_next(&table, &place);
 *     }
 *
 * A hash is any 64-bit value that equal keys have in common: a small key itself, or what hash.h
 * makes of a longer one. The table mixes it.
 *
 * Open addressing with linear probing; at least half of the slots are empty, so a search ends. Each
 * slot keeps 32 bits of its entry's mixed hash: other keys are hardly ever compared, and growing
 * needs no keys.
 */

#include <stdbool.h>
#include <stdint.h>

struct etwas_hash_slot {
    uint32_t hash;
    uint32_t number; /* 0: the slot is empty */
};

/* Zeroed, it is empty. */
struct etwas_hash_table {
    struct etwas_hash_slot *slots;
    uint32_t capacity; /* a power of 2, or 0 */
    uint32_t shift;    /* a mixed hash without so many low bits is its first slot */
    uint32_t count;    /* slots that are not empty */
};

/* Where a search has come to; valid until the table changes. */
struct etwas_hash_place {
    uint32_t hash;
    uint32_t at;
};

/* Every bit of the hash goes into the high bits, which choose the slot. */
static inline uint32_t etwas_hash_table_mix(uint64_t hash)
{
    return (uint32_t)(hash * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* Returns the number in the first slot from the place on that the hash may have; 0: none has. */
static inline uint32_t etwas_hash_table_probe(const struct etwas_hash_table *table,
                                              struct etwas_hash_place *place)
{
    const struct etwas_hash_slot *slot = &table->slots[place->at];

    while (slot->number != 0 && slot->hash != place->hash) {
        place->at = (place->at + 1) & (table->capacity - 1);
        slot = &table->slots[place->at];
    }
    return slot->number;
}

/* Begins a search. Returns the number of the first entry that has the hash; 0: none has. */
static inline uint32_t etwas_hash_table_first(const struct etwas_hash_table *table, uint64_t hash,
                                              struct etwas_hash_place *place)
{
    if (table->capacity == 0) {
        return 0;
    }
    place->hash = etwas_hash_table_mix(hash);
    place->at = place->hash >> table->shift;
    return etwas_hash_table_probe(table, place);
}

/* Returns the number of the next entry that has the hash; 0: there is no other. */
static inline uint32_t etwas_hash_table_next(const struct etwas_hash_table *table,
                                             struct etwas_hash_place *place)
{
    place->at = (place->at + 1) & (table->capacity - 1);
    return etwas_hash_table_probe(table, place);
}

/* Adds an entry's number, which is not 0. Returns false without memory: nothing has changed. */
bool etwas_hash_table_add(struct etwas_hash_table *table, uint64_t hash, uint32_t number);

/* Puts another entry, which has the same hash, in the place of one that a search has found. */
static inline void etwas_hash_table_replace(struct etwas_hash_table *table,
                                            const struct etwas_hash_place *place, uint32_t number)
{
    table->slots[place->at].number = number;
}

/* Removes the number of an entry that a search has found. */
void etwas_hash_table_remove(struct etwas_hash_table *table, const struct etwas_hash_place *place);

/* Frees the memory; the table is empty, and may be used again. */
void etwas_hash_table_clear(struct etwas_hash_table *table);

#endif
