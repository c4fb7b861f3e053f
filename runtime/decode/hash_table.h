/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Entries by the hash of their key: open addressing, at most half full. The table knows hashes
 * alone; whoever looks an entry up compares the keys.
 *
 *     for (size_t cursor = 0; (entry = etwas_hash_table_next(table, hash, &cursor)) != NULL;)
 *
 * gives every entry of one hash. Keys come from files, so the hash has a secret: nobody can make a
 * file whose keys all have one hash.
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

/* `seed` is the secret, or the hash of what stands before in the key. */
uint64_t etwas_hash_bytes(uint64_t seed, const void *bytes, size_t count);

/* The next entry of that hash, NULL behind the last; *cursor begins as 0. */
void *etwas_hash_table_next(const struct etwas_hash_table *table, uint64_t hash, size_t *cursor);

/* False: no memory. The table keeps the pointer, and never frees it. */
bool etwas_hash_table_add(struct etwas_hash_table *table, uint64_t hash, void *entry);

/* Frees the table, not the entries. */
void etwas_hash_table_free(struct etwas_hash_table *table);

#endif
