/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * All streams of all files in one time order: a binary heap with the earliest record on top.
 *
 * Order: FILETIME; of one, the nanoseconds that the clocks know beyond; then the file's index in the caller's array,
 * the raw stamp, the buffer's sequence number, the processor. A total order, so that the same files are always
 * delivered in the same order. Parts of one set count as one file.
 */
#ifndef ETWAS_READER_MERGE_HEAP_H
#define ETWAS_READER_MERGE_HEAP_H

#include "reader/stream.h"

struct etwas_merge_heap {
    struct etwas_stream **heap; /* room for every stream, the caller's memory */
    size_t count;
};

/* Of two streams with one FILETIME. */
bool etwas_merge_heap_is_before_of_equals(struct etwas_stream *a, struct etwas_stream *b);

/* In one trace FILETIME never goes back where the raw stamp grows, so that says it all, mostly. */
static inline bool etwas_merge_heap_is_before(struct etwas_stream *a, struct etwas_stream *b)
{
    if (a->trace == b->trace && a->key_raw != b->key_raw) {
        return a->key_raw < b->key_raw;
    }
    return a->key_filetime != b->key_filetime ? a->key_filetime < b->key_filetime
                                              : etwas_merge_heap_is_before_of_equals(a, b);
}

void etwas_merge_heap_push(struct etwas_merge_heap *merge, struct etwas_stream *stream);

/* The earliest stream; NULL when none is left. */
struct etwas_stream *etwas_merge_heap_top(const struct etwas_merge_heap *merge);

/* The earliest of the others; NULL when there is none. */
struct etwas_stream *etwas_merge_heap_second(const struct etwas_merge_heap *merge);

/* Moves the top down, after its key has grown. */
void etwas_merge_heap_sift_down(struct etwas_merge_heap *merge);

void etwas_merge_heap_remove_top(struct etwas_merge_heap *merge);

#endif
