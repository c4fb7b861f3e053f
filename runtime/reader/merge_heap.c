/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "reader/event_step.h"

static int merge_heap_compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

bool etwas_merge_heap_is_before_of_equals(struct etwas_stream *a, struct etwas_stream *b)
{
    int order = 0;

    if (a->set_number != b->set_number) {
        order = merge_heap_compare(etwas_event_time_unix_ns(&a->time, a->key_raw),
                                   etwas_event_time_unix_ns(&b->time, b->key_raw));
    }
    if (order == 0) {
        order = (a->set_number > b->set_number) - (a->set_number < b->set_number);
    }
    if (order == 0) {
        order = merge_heap_compare(a->key_raw, b->key_raw);
    }
    if (order == 0) {
        order = (a->file_number > b->file_number) - (a->file_number < b->file_number);
    }
    if (order == 0) {
        order = merge_heap_compare(a->buffer->sequence, b->buffer->sequence);
    }
    if (order == 0) {
        order = merge_heap_compare(a->buffer->processor, b->buffer->processor);
    }
    return order < 0;
}

void etwas_merge_heap_push(struct etwas_merge_heap *merge, struct etwas_stream *stream)
{
    size_t at = merge->count++;

    while (at > 0 && etwas_merge_heap_is_before(stream, merge->heap[(at - 1) / 2])) {
        merge->heap[at] = merge->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    merge->heap[at] = stream;
}

struct etwas_stream *etwas_merge_heap_top(const struct etwas_merge_heap *merge)
{
    return merge->count > 0 ? merge->heap[0] : NULL;
}

struct etwas_stream **etwas_merge_heap_second(const struct etwas_merge_heap *merge)
{
    if (merge->count < 2) {
        return NULL;
    }
    return merge->count > 2 && etwas_merge_heap_is_before(merge->heap[2], merge->heap[1])
               ? &merge->heap[2]
               : &merge->heap[1];
}

void etwas_merge_heap_sift_down(struct etwas_merge_heap *merge)
{
    struct etwas_stream *stream = merge->heap[0];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= merge->count) {
            break;
        }
        if (child + 1 < merge->count &&
            etwas_merge_heap_is_before(merge->heap[child + 1], merge->heap[child])) {
            child++;
        }
        if (!etwas_merge_heap_is_before(merge->heap[child], stream)) {
            break;
        }
        merge->heap[at] = merge->heap[child];
        at = child;
    }
    merge->heap[at] = stream;
}

void etwas_merge_heap_remove_top(struct etwas_merge_heap *merge)
{
    merge->heap[0] = merge->heap[--merge->count];
    if (merge->count > 0) {
        etwas_merge_heap_sift_down(merge);
    }
}
