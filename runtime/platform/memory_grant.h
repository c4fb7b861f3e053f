/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a session requests of its memory (ETWAS_MEMORY_*), what was granted, and why the rest was
 * not. Whether pages are huge is not stored here: the system says it at any time
 * (etwas_memory_huge_bytes).
 */
#ifndef ETWAS_PLATFORM_MEMORY_GRANT_H
#define ETWAS_PLATFORM_MEMORY_GRANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/memory.h"

enum {
    ETWAS_MEMORY_TEXT_BYTES = 512, /* the longest sentence */
};

struct etwas_memory_grant {
    uint32_t asked;
    uint32_t refused; /* of PREFAULT, LOCK and NODES */
    int lock_error;   /* of errno */
    int nodes_error;  /* likewise */
    uint64_t lock_bytes;
};

/*
 * Applies PREFAULT and LOCK, as far as `grant` requests them, to a part that begins at a page;
 * called for one part after the other.
 */
void etwas_memory_grant(struct etwas_memory_grant *grant, void *start, size_t bytes);

/* Unlocks a part that stays mapped. */
void etwas_memory_grant_end(const struct etwas_memory_grant *grant, void *start, size_t bytes);

/* The requests that are granted to a region with so many bytes in huge pages. */
uint32_t etwas_memory_granted(const struct etwas_memory_grant *grant, uint64_t huge_bytes);

/* Writes a sentence that says why a request was not granted. */
void etwas_memory_grant_explain(const struct etwas_memory_grant *grant, uint32_t request,
                                bool is_file, char text[ETWAS_MEMORY_TEXT_BYTES]);

#endif
