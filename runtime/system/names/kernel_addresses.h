/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records pass through here on their way out, and the kernel's addresses that they name are noted: of
 * samples, frames of stacks and routines, each once. What they are is told when it is asked for
 * (kernel_symbols.h).
 *
 * A set of bounded size; what it has no room for is counted as often as it comes.
 */
#ifndef ETWAS_SYSTEM_NAMES_KERNEL_ADDRESSES_H
#define ETWAS_SYSTEM_NAMES_KERNEL_ADDRESSES_H

#include <stdint.h>

#include "system/stream/emit.h"

enum {
    ETWAS_KERNEL_ADDRESSES = 32768,
};

struct etwas_kernel_addresses {
    struct etwas_emitter emitter;
    struct etwas_emitter *next;
    uint64_t *table; /* open addressing, half full at most; 0: free. NULL until there is one */
    uint32_t count;
    uint32_t left_out;
};

void etwas_kernel_addresses_open(struct etwas_kernel_addresses *addresses,
                                 struct etwas_emitter *next);

/* One of the kernel's half; others are passed over. */
void etwas_kernel_addresses_add(struct etwas_kernel_addresses *addresses, uint64_t address);

/* In ascending order; malloc's. NULL: there are none, or no memory. */
uint64_t *etwas_kernel_addresses_sorted(const struct etwas_kernel_addresses *addresses);

void etwas_kernel_addresses_free(struct etwas_kernel_addresses *addresses);

#endif
