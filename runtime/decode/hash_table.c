/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/hash_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 64
};

/* Mixes every bit of both into every bit of the result. */
static uint64_t hash_fold(uint64_t left, uint64_t right)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)left * right;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_fold_16(uint64_t hash, const uint8_t *bytes)
{
    uint64_t words[2];

    memcpy(words, bytes, sizeof words);
    return hash_fold(words[0] ^ 0x9E3779B97F4A7C15, words[1] ^ hash);
}

uint64_t etwas_hash_bytes(uint64_t seed, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint8_t last[16] = {0};
    uint64_t hash = seed ^ count;

    for (; count >= sizeof last; count -= sizeof last) {
        hash = hash_fold_16(hash, at);
        at += sizeof last;
    }
    if (count > 0) {
        memcpy(last, at, count);
        hash = hash_fold_16(hash, last);
    }
    return hash_fold(hash ^ 0xD1B54A32D192ED03, seed | 1);
}

void *etwas_hash_table_next(const struct etwas_hash_table *table, uint64_t hash, size_t *cursor)
{
    if (table->capacity == 0) {
        return NULL;
    }
    for (;;) {
        const struct etwas_hash_table_slot *slot =
            &table->slots[(hash + (*cursor)++) & (table->capacity - 1)];

        if (slot->entry == NULL || slot->hash == hash) {
            return slot->entry;
        }
    }
}

static void hash_table_insert(struct etwas_hash_table *table, uint64_t hash, void *entry)
{
    size_t at = hash & (table->capacity - 1);

    while (table->slots[at].entry != NULL) {
        at = (at + 1) & (table->capacity - 1);
    }
    table->slots[at] = (struct etwas_hash_table_slot){.hash = hash, .entry = entry};
}

static bool hash_table_grow(struct etwas_hash_table *table)
{
    struct etwas_hash_table larger = {
        .capacity = table->capacity == 0 ? FIRST_CAPACITY : 2 * table->capacity,
        .count = table->count,
    };

    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].entry != NULL) {
            hash_table_insert(&larger, table->slots[i].hash, table->slots[i].entry);
        }
    }
    free(table->slots);
    *table = larger;
    return true;
}

bool etwas_hash_table_add(struct etwas_hash_table *table, uint64_t hash, void *entry)
{
    if (2 * (table->count + 1) > table->capacity && !hash_table_grow(table)) {
        return false;
    }
    hash_table_insert(table, hash, entry);
    table->count++;
    return true;
}

void etwas_hash_table_free(struct etwas_hash_table *table)
{
    free(table->slots);
    *table = (struct etwas_hash_table){0};
}
