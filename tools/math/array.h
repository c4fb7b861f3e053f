/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_MATH_ARRAY_H
#define ETWAS_TOOLS_MATH_ARRAY_H

/*
 * Arrays that grow. An array is a pointer and a capacity, initially NULL and 0; the caller counts
 * its entries and frees it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ETWAS_ARRAY_FIRST = 64, /* entries of the first allocation */
};

/*
 * Makes room for `count` entries, growing geometrically, so adding entries one by one takes linear
 * time. `array` is the address of the pointer to the array. Entries may move; new ones are
 * uninitialized. Returns false without memory; then the array is unchanged.
 */
static inline bool etwas_array_reserve(void *array, size_t *capacity, size_t count,
                                       size_t entry_bytes)
{
    size_t larger = count > 2 * *capacity ? count : 2 * *capacity;
    void *entries;

    if (count <= *capacity) {
        return true;
    }
    larger = larger > ETWAS_ARRAY_FIRST ? larger : ETWAS_ARRAY_FIRST;
    if (larger > PTRDIFF_MAX / entry_bytes) {
        return false; /* no allocator can provide it, and sanitizers abort on such a request */
    }
    memcpy(&entries, array, sizeof entries);
    entries = realloc(entries, larger * entry_bytes);
    if (entries == NULL) {
        return false;
    }
    memcpy(array, &entries, sizeof entries);
    *capacity = larger;
    return true;
}

/*
 * Makes room for the entry at `index`, in an array that is indexed directly. New entries are zero.
 * Returns false without memory; then the array is unchanged.
 */
static inline bool etwas_array_reach(void *array, size_t *capacity, size_t index,
                                     size_t entry_bytes)
{
    size_t before = *capacity;
    char *entries;

    if (!etwas_array_reserve(array, capacity, index + 1, entry_bytes)) {
        return false;
    }
    if (*capacity > before) {
        memcpy(&entries, array, sizeof entries);
        memset(entries + before * entry_bytes, 0, (*capacity - before) * entry_bytes);
    }
    return true;
}

#endif
