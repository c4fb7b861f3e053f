/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_KERNEL_SYMBOLS_H
#define ETWAS_TOOLS_KERNEL_KERNEL_SYMBOLS_H

/*
 * The kernel's functions, from the records with their addresses in a trace
 * (docs/reference/file-format.md).
 */

#include <etwas/evntcons.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_KERNEL_SYMBOLS = 1 << 20, /* further functions of a trace are dropped */
};

struct etwas_kernel_symbol {
    uint64_t address;
    uint64_t bytes;
    uint32_t order;
    char *module; /* "": the kernel itself; shares the name's memory */
    char *name;
};

struct etwas_kernel_symbols {
    struct etwas_kernel_symbol *entries;
    uint32_t count;
    size_t capacity;
    bool is_sorted;
    bool out_of_memory;
};

/* Adds a record of that type (etwas_event_is_kernel_symbol), whose payload may be invalid. */
void etwas_kernel_symbols_add_record(struct etwas_kernel_symbols *symbols,
                                     const EVENT_RECORD *record);

/* Returns the function that contains an address; NULL if it is not known. */
const struct etwas_kernel_symbol *etwas_kernel_symbols_find(struct etwas_kernel_symbols *symbols,
                                                            uint64_t address);

void etwas_kernel_symbols_free(struct etwas_kernel_symbols *symbols);

#endif
