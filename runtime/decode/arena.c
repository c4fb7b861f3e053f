/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 16384
};

struct etwas_arena_block {
    struct etwas_arena_block *older;
    size_t bytes;
    max_align_t content[];
};

void *etwas_arena_allocate(struct etwas_arena *arena, size_t bytes)
{
    const size_t unit = sizeof(max_align_t);
    size_t rounded;

    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    rounded = (bytes + unit - 1) / unit * unit;
    if (rounded > arena->room) {
        size_t content = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
        struct etwas_arena_block *block = calloc(1, sizeof *block + content);

        if (block == NULL) {
            return NULL;
        }
        *block = (struct etwas_arena_block){.older = arena->newest, .bytes = content};
        arena->newest = block;
        arena->room = content;
    }
    arena->room -= rounded;
    return (char *)arena->newest->content + (arena->newest->bytes - arena->room - rounded);
}

char *etwas_arena_copy_text(struct etwas_arena *arena, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = etwas_arena_allocate(arena, bytes);

    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

void etwas_arena_free(struct etwas_arena *arena)
{
    for (struct etwas_arena_block *block = arena->newest; block != NULL;) {
        struct etwas_arena_block *older = block->older;

        free(block);
        block = older;
    }
    *arena = (struct etwas_arena){0};
}
