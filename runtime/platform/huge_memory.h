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
 * Maps the region, of region_bytes, with its first `explicit_bytes` in explicit huge pages that are
 * all there. Both are multiples of ETWAS_HUGE_PAGE_BYTES. False: nothing is held.
 */
bool etwas_huge_memory_map(struct etwas_memory *memory, size_t explicit_bytes);

/* In a fork's child: zeroes where the pages were. */
void etwas_huge_memory_forget(const struct etwas_memory *memory);

/* The region stays for ever, also for children, who have nobody to forget it for them. */
void etwas_huge_memory_leak(const struct etwas_memory *memory);

#endif
