/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A hash table of pointers: open addressing, at most half full. The table stores hashes only; its
 * user compares the keys.
 *
 *     for (size_t cursor = 0; (entry = etwas_hash_table_next(table, hash, &cursor)) != NULL;)
 *
 * visits every entry of one hash. Keys come from files, so the hash has a secret seed. Without it,
 * no file can be crafted whose keys all have the same hash.
 */
#ifndef ETWAS_DECODE_HASH_TABLE_H
#define ETWAS_DECODE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_hash_table_slot {
    uint64_t hash;
    void *entry; /* NULL: empty */
};

struct etwas_hash_table {
    struct etwas_hash_table_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* Hashes bytes. `seed` is the secret, or the hash of the part of the key before. */
uint64_t etwas_hash_bytes(uint64_t seed, const void *bytes, size_t count);

/* The next entry of a hash, NULL after the last; *cursor begins as 0. */
void *etwas_hash_table_next(const struct etwas_hash_table *table, uint64_t hash, size_t *cursor);

/* Adds an entry, which the table never frees. Returns false if there is no memory. */
bool etwas_hash_table_add(struct etwas_hash_table *table, uint64_t hash, void *entry);

/* Frees the table, not the entries. */
void etwas_hash_table_free(struct etwas_hash_table *table);

#endif
