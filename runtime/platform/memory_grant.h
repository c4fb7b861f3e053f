/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a session asks of its memory beyond having it (ETWAS_MEMORY_*), what it got, and why not the rest. Whether pages are
 * huge ones the system says at any time (etwas_memory_huge_bytes); that one is nowhere kept.
 */
#ifndef ETWAS_PLATFORM_MEMORY_GRANT_H
#define ETWAS_PLATFORM_MEMORY_GRANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/memory.h"

enum {
    ETWAS_MEMORY_TEXT_BYTES = 512, /* room for every sentence */
};

struct etwas_memory_grant {
    uint32_t asked;
    uint32_t refused; /* of PREFAULT, LOCK and NODES */
    int lock_error;   /* of errno */
    int nodes_error;  /* likewise */
    uint64_t lock_bytes;
};

/* PREFAULT and LOCK, as far as `grant` asks for them, of a part that begins at a page: one part after the other. */
void etwas_memory_grant(struct etwas_memory_grant *grant, void *start, size_t bytes);

/* Lets go of a part that stays mapped. */
void etwas_memory_grant_end(const struct etwas_memory_grant *grant, void *start, size_t bytes);

/* What is granted of all that is asked for, to a region with so many bytes in huge pages. */
uint32_t etwas_memory_granted(const struct etwas_memory_grant *grant, uint64_t huge_bytes);

/* A sentence that says why a request, which is asked for and not granted, is not. */
void etwas_memory_grant_explain(const struct etwas_memory_grant *grant, uint32_t request,
                                bool is_file, char text[ETWAS_MEMORY_TEXT_BYTES]);

#endif
