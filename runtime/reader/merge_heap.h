/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * All streams of all files in one time order: a binary heap with the earliest record on top.
 *
 * The order is FILETIME; of equal ones the nanoseconds that the clocks know beyond it; then the
 * file's index in the caller's array, the raw stamp, the number of the part, the buffer's sequence
 * number and the processor. It is a total order, so the same files are always delivered in the same
 * order. The parts of one set count as one file.
 */
#ifndef ETWAS_READER_MERGE_HEAP_H
#define ETWAS_READER_MERGE_HEAP_H

#include "reader/stream.h"

struct etwas_merge_heap {
    struct etwas_stream **heap; /* room for every stream; the caller owns it */
    size_t count;
};

/* Compares two streams with the same FILETIME. */
bool etwas_merge_heap_is_before_of_equals(struct etwas_stream *a, struct etwas_stream *b);

/*
 * In one trace FILETIME never decreases while the raw stamp grows, so mostly the stamps alone
 * decide.
 */
static inline bool etwas_merge_heap_is_before(struct etwas_stream *a, struct etwas_stream *b)
{
    if (a->trace == b->trace && a->key_raw != b->key_raw) {
        return a->key_raw < b->key_raw;
    }
    return a->key_filetime != b->key_filetime ? a->key_filetime < b->key_filetime
                                              : etwas_merge_heap_is_before_of_equals(a, b);
}

void etwas_merge_heap_push(struct etwas_merge_heap *merge, struct etwas_stream *stream);

/* Returns the earliest stream; NULL when none is left. */
struct etwas_stream *etwas_merge_heap_top(const struct etwas_merge_heap *merge);

/* Returns the earliest of the others; NULL when there is none. */
struct etwas_stream *etwas_merge_heap_second(const struct etwas_merge_heap *merge);

/* Moves the top to its place after its key has grown. */
void etwas_merge_heap_sift_down(struct etwas_merge_heap *merge);

void etwas_merge_heap_remove_top(struct etwas_merge_heap *merge);

#endif
