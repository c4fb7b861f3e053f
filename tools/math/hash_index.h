/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_MATH_HASH_INDEX_H
#define ETWAS_TOOLS_MATH_HASH_INDEX_H

/*
 * A hash table of entry numbers, from 1. The caller has the entries, mostly in an array in the
 * order in which they were added (array.h), and their keys. A search returns the numbers of all
 * entries that may have the key; the caller compares the keys:
 *
 *     struct etwas_hash_place place;
 *     uint32_t number = etwas_hash_index_first(&index, hash, &place);
 *
 *     while (number != 0 && entries[number - 1].key != key) {
 *         number = etwas_hash_index_next(&index, &place);
 *     }
 *
 * A hash is any 64-bit value that is the same for equal keys: a small key itself, or the hash of a
 * longer one (hash.h). The index mixes it.
 *
 * The table uses open addressing with linear probing. At least half of the slots are empty, so a
 * search ends. Each slot has 32 bits of its entry's mixed hash, so other keys are rarely compared,
 * and growing needs no keys.
 */

#include <stdbool.h>
#include <stdint.h>

struct etwas_hash_slot {
    uint32_t hash;
    uint32_t number; /* 0: the slot is empty */
};

/* All zeroes: it is empty. */
struct etwas_hash_index {
    struct etwas_hash_slot *slots;
    uint32_t capacity; /* a power of 2, or 0 */
    uint32_t shift;    /* right shift of a mixed hash to its first slot */
    uint32_t count;    /* slots that are not empty */
};

/* The position of a search; valid until the index changes. */
struct etwas_hash_place {
    uint32_t hash;
    uint32_t at;
};

/* Mixes all bits of the hash into the high bits, which choose the slot. */
static inline uint32_t etwas_hash_index_mix(uint64_t hash)
{
    return (uint32_t)(hash * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

/* Returns the number in the next matching slot, from the place on; 0 if there is none. */
static inline uint32_t etwas_hash_index_probe(const struct etwas_hash_index *index,
                                              struct etwas_hash_place *place)
{
    const struct etwas_hash_slot *slot = &index->slots[place->at];

    while (slot->number != 0 && slot->hash != place->hash) {
        place->at = (place->at + 1) & (index->capacity - 1);
        slot = &index->slots[place->at];
    }
    return slot->number;
}

/* Begins a search. Returns the number of the first entry with the hash; 0 if there is none. */
static inline uint32_t etwas_hash_index_first(const struct etwas_hash_index *index, uint64_t hash,
                                              struct etwas_hash_place *place)
{
    if (index->capacity == 0) {
        return 0;
    }
    place->hash = etwas_hash_index_mix(hash);
    place->at = place->hash >> index->shift;
    return etwas_hash_index_probe(index, place);
}

/* Returns the number of the next entry with the hash; 0 if there is none. */
static inline uint32_t etwas_hash_index_next(const struct etwas_hash_index *index,
                                             struct etwas_hash_place *place)
{
    place->at = (place->at + 1) & (index->capacity - 1);
    return etwas_hash_index_probe(index, place);
}

/*
 * Adds an entry's number, which must not be 0. Returns false without memory; then nothing has
 * changed.
 */
bool etwas_hash_index_add(struct etwas_hash_index *index, uint64_t hash, uint32_t number);

/* Replaces the entry that a search found by another with the same hash. */
static inline void etwas_hash_index_replace(struct etwas_hash_index *index,
                                            const struct etwas_hash_place *place, uint32_t number)
{
    index->slots[place->at].number = number;
}

/* Removes the entry that a search found. */
void etwas_hash_index_remove(struct etwas_hash_index *index, const struct etwas_hash_place *place);

/* Frees the memory. The index is empty, and can be used again. */
void etwas_hash_index_clear(struct etwas_hash_index *index);

#endif
