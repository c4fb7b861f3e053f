/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Regions in the system's explicit huge pages, for platform/memory.c.
 */
#ifndef ETWAS_PLATFORM_HUGE_MEMORY_H
#define ETWAS_PLATFORM_HUGE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/memory.h"

enum {
    ETWAS_HUGE_PAGE_BYTES = 2 << 20
};

/*
 * Maps the region, of region_bytes, with its first `explicit_bytes` in explicit huge pages that all
 * exist. Both are multiples of ETWAS_HUGE_PAGE_BYTES. Returns false with nothing mapped.
 */
bool etwas_huge_memory_map(struct etwas_memory *memory, size_t explicit_bytes);

/* Replaces the pages by zeroes in a fork's child. */
void etwas_huge_memory_forget(const struct etwas_memory *memory);

/* Keeps the region for ever, also in children, which no handler clears it for. */
void etwas_huge_memory_leak(const struct etwas_memory *memory);

#endif
