/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Memory that is allocated piece by piece and freed as a whole. */
#ifndef ETWAS_DECODE_ARENA_H
#define ETWAS_DECODE_ARENA_H

#include <stddef.h>

struct etwas_arena_block;

/* All zeroes: empty. */
struct etwas_arena {
    struct etwas_arena_block *newest;
    size_t room; /* bytes left in the newest block */
};

/* Allocates zeroed memory, aligned for any type; NULL: no memory. */
void *etwas_arena_allocate(struct etwas_arena *arena, size_t bytes);

/* Copies a string; NULL: no memory. */
char *etwas_arena_copy_text(struct etwas_arena *arena, const char *text);

void etwas_arena_free(struct etwas_arena *arena);

#endif
