/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sorts the stacks for output, and locates their frames.
 */

#include "analyse/heap/heap.h"

#include "address/symbols.h"
#include "event/event.h"

#include <stdlib.h>

static int compare_numbers(uint64_t left, uint64_t right)
{
    return left < right ? 1 : left > right ? -1 : 0;
}

/*
 * Sorts by live bytes, then by allocated bytes, the most first; then by first appearance.
 */
static int compare_stacks(const void *left, const void *right)
{
    const struct etwas_heap_stack *first = *(const struct etwas_heap_stack *const *)left;
    const struct etwas_heap_stack *second = *(const struct etwas_heap_stack *const *)right;
    int order = compare_numbers(first->live_bytes, second->live_bytes);

    if (order == 0) {
        order = compare_numbers(first->allocated_bytes, second->allocated_bytes);
    }
    return order != 0 ? order : first < second ? -1 : 1;
}

const struct etwas_heap_stack **etwas_heap_sorted_stacks(const struct etwas_heap *heap)
{
    const struct etwas_heap_stack **sorted =
        calloc((size_t)heap->stack_count + 1, sizeof(struct etwas_heap_stack *));

    for (uint32_t i = 0; sorted != NULL && i < heap->stack_count; i++) {
        sorted[i] = &heap->stacks[i];
    }
    if (sorted != NULL) {
        qsort(sorted, heap->stack_count, sizeof(struct etwas_heap_stack *), compare_stacks);
    }
    return sorted;
}

/* ---- frames ---- */

/*
 * A frame is a return address. The call before it may be the last instruction of its function, so
 * the byte before the address is looked up.
 */
struct etwas_heap_location etwas_heap_locate(struct etwas_heap *heap,
                                             const struct etwas_heap_stack *stack, uint64_t address)
{
    struct etwas_heap_location location = {.image = NULL};
    struct etwas_heap_image *image;
    bool has_changed;

    if (address == ETWAS_EVENT_CUT) {
        location.has_symbol = true;
        location.symbol = (struct etwas_symbol){.function = ETWAS_EVENT_CUT_NAME};
        return location;
    }
    image = etwas_heap_find_image(heap, stack, address - 1);
    if (image == NULL) {
        return location;
    }
    if (!image->is_asked) {
        image->is_asked = true;
        image->symbols =
            etwas_symbols_open(image->path, image->build_id, image->build_id_bytes, &has_changed);
    }
    location.image = image;
    location.offset = address - image->base;
    location.has_symbol = image->symbols != NULL &&
                          etwas_symbols_find_line(image->symbols, ETWAS_SYMBOLS_FROM_MAPPING,
                                                  location.offset - 1, &location.symbol);
    return location;
}
