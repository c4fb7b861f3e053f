/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A sorted array of functions.
 */

#include "kernel/kernel_symbols.h"

#include "math/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
};

/* The part before its name and module. */
struct payload {
    uint32_t version;
    uint32_t left_out;
    uint64_t address;
    uint64_t bytes;
};

void etwas_kernel_symbols_add_record(struct etwas_kernel_symbols *symbols,
                                     const EVENT_RECORD *record)
{
    struct payload payload;
    const char *names = (const char *)record->UserData + sizeof payload;
    size_t room;
    size_t name_bytes;
    size_t module_bytes;
    char *copy;

    if (record->UserDataLength < sizeof payload) {
        return;
    }
    memcpy(&payload, record->UserData, sizeof payload);
    room = record->UserDataLength - sizeof payload;
    name_bytes = strnlen(names, room) + 1;
    module_bytes = name_bytes < room ? strnlen(names + name_bytes, room - name_bytes) + 1 : room;
    if (payload.version != VERSION || payload.address > UINT64_MAX - payload.bytes ||
        name_bytes >= room || module_bytes > room - name_bytes ||
        symbols->count == ETWAS_KERNEL_SYMBOLS) {
        return;
    }
    copy = malloc(name_bytes + module_bytes);
    if (copy == NULL || !etwas_array_reserve(&symbols->entries, &symbols->capacity,
                                             symbols->count + 1, sizeof *symbols->entries)) {
        free(copy);
        symbols->out_of_memory = true;
        return;
    }
    memcpy(copy, names, name_bytes + module_bytes);
    symbols->entries[symbols->count] = (struct etwas_kernel_symbol){.address = payload.address,
                                                                    .bytes = payload.bytes,
                                                                    .order = symbols->count,
                                                                    .module = copy + name_bytes,
                                                                    .name = copy};
    symbols->count++;
    symbols->is_sorted = false;
}

/* Compares by address; of symbols at one address the one added last counts. */
static int compare(const void *left, const void *right)
{
    const struct etwas_kernel_symbol *one = left;
    const struct etwas_kernel_symbol *other = right;

    if (one->address != other->address) {
        return one->address < other->address ? -1 : 1;
    }
    return one->order < other->order ? -1 : one->order > other->order;
}

const struct etwas_kernel_symbol *etwas_kernel_symbols_find(struct etwas_kernel_symbols *symbols,
                                                            uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = symbols->count;

    if (!symbols->is_sorted && symbols->count > 0) {
        qsort(symbols->entries, symbols->count, sizeof *symbols->entries, compare);
        symbols->is_sorted = true;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (symbols->entries[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0 ||
        address - symbols->entries[low - 1].address >= symbols->entries[low - 1].bytes) {
        return NULL;
    }
    return &symbols->entries[low - 1];
}

void etwas_kernel_symbols_free(struct etwas_kernel_symbols *symbols)
{
    for (uint32_t i = 0; i < symbols->count; i++) {
        free(symbols->entries[i].name);
    }
    free(symbols->entries);
    *symbols = (struct etwas_kernel_symbols){.count = 0};
}
