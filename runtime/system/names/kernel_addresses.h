/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * An emitter that remembers the kernel's addresses in the records that it passes on: of samples,
 * frames of stacks and routines, each once. Their functions are emitted on request.
 *
 * The set is bounded. An address that finds no room in it is counted each time.
 */
#ifndef ETWAS_SYSTEM_NAMES_KERNEL_ADDRESSES_H
#define ETWAS_SYSTEM_NAMES_KERNEL_ADDRESSES_H

#include <stdint.h>

#include "system/stream/emit.h"
#include "system/stream/record_builder.h"

enum {
    ETWAS_KERNEL_ADDRESSES = 32768,
};

struct etwas_kernel_addresses {
    struct etwas_emitter emitter;
    struct etwas_emitter *next;
    /* Open addressing, at most half full; 0: a free entry. NULL until the first address. */
    uint64_t *table;
    uint32_t count;
    uint32_t left_out;
};

void etwas_kernel_addresses_open(struct etwas_kernel_addresses *addresses,
                                 struct etwas_emitter *next);

/* Adds an address of the kernel's half; others are ignored. */
void etwas_kernel_addresses_add(struct etwas_kernel_addresses *addresses, uint64_t address);

/*
 * Returns the addresses in ascending order, from malloc. NULL: there are none, or there is no
 * memory.
 */
uint64_t *etwas_kernel_addresses_sorted(const struct etwas_kernel_addresses *addresses);

void etwas_kernel_addresses_free(struct etwas_kernel_addresses *addresses);

/*
 * Emits the functions of the kernel's addresses that records named, as records of our own
 * (etl/own_record.h), so that the trace can be read on another machine, or by a reader that may not
 * see the kernel's symbols.
 */

/*
 * Reads `path`, a file like /proc/kallsyms, once, and emits the functions that contain the
 * addresses, each once and in ascending order. An address further behind a symbol than functions
 * are long is in no function. Emits nothing where the kernel shows no addresses.
 */
void etwas_kernel_symbols_emit(const struct etwas_kernel_addresses *addresses, const char *path,
                               struct etwas_record_builder *record, struct etwas_emitter *emitter);

#endif
