/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processes for `etwas stat --heap`, and the images that each of them mapped.
 */

#include "analyse/heap/heap.h"

#include "math/array.h"

#include <stdlib.h>

enum {
    FIRST_PROCESSES = 16, /* a power of two */
};

/* ---- processes ---- */

/* Returns the entry of a process, or the empty entry where it belongs. */
static struct etwas_heap_process *find_process(const struct etwas_heap *heap, uint32_t process)
{
    uint32_t mask = heap->process_capacity - 1;
    uint32_t at = (uint32_t)(process * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;

    while (heap->processes[at].is_taken && heap->processes[at].process != process) {
        at = (at + 1) & mask;
    }
    return &heap->processes[at];
}

/* Makes room for one more entry. Half of the entries stay empty. */
static bool grow_processes(struct etwas_heap *heap)
{
    struct etwas_heap_process *old = heap->processes;
    uint32_t capacity = heap->process_capacity;
    struct etwas_heap_process *larger;

    if (2 * (heap->process_count + 1) <= capacity) {
        return true;
    }
    larger = calloc(capacity == 0 ? FIRST_PROCESSES : 2 * (size_t)capacity, sizeof *larger);
    if (larger == NULL) {
        heap->out_of_memory = true;
        return false;
    }
    heap->processes = larger;
    heap->process_capacity = capacity == 0 ? FIRST_PROCESSES : 2 * capacity;
    for (uint32_t i = 0; i < capacity; i++) {
        if (old[i].is_taken) {
            *find_process(heap, old[i].process) = old[i];
        }
    }
    free(old);
    return true;
}

struct etwas_heap_process *etwas_heap_process(struct etwas_heap *heap, uint32_t process)
{
    struct etwas_heap_process *its =
        heap->process_capacity != 0 ? find_process(heap, process) : NULL;

    if (its != NULL && its->is_taken) {
        return its;
    }
    if (!grow_processes(heap)) {
        return NULL;
    }
    its = find_process(heap, process);
    *its = (struct etwas_heap_process){.is_taken = true, .process = process};
    heap->process_count++;
    return its;
}

/* ---- images ---- */

/* Returns the image with the number; NULL for 0. */
static struct etwas_heap_image *image_of(const struct etwas_heap *heap, uint32_t number)
{
    return number != 0 ? &heap->images[number - 1] : NULL;
}

static bool is_current(const struct etwas_heap_image *image)
{
    return image->last_epoch == UINT32_MAX;
}

static bool is_same(const struct etwas_heap_image *left, const struct etwas_heap_image *right)
{
    return is_current(left) && left->base == right->base && left->bytes == right->bytes &&
           left->build_id_bytes == right->build_id_bytes &&
           memcmp(left->build_id, right->build_id, right->build_id_bytes) == 0 &&
           strcmp(left->path, right->path) == 0;
}

static bool is_known(const struct etwas_heap *heap, const struct etwas_heap_process *its,
                     const struct etwas_heap_image *image)
{
    const struct etwas_heap_image *one = image_of(heap, its->newest_image);

    while (one != NULL && !is_same(one, image)) {
        one = image_of(heap, one->before);
    }
    return one != NULL;
}

/* Ends the images that overlap `image`. Returns whether there were any. */
static bool end_overlapped(struct etwas_heap *heap, const struct etwas_heap_process *its,
                           const struct etwas_heap_image *image)
{
    bool found = false;

    for (struct etwas_heap_image *one = image_of(heap, its->newest_image); one != NULL;
         one = image_of(heap, one->before)) {
        if (is_current(one) && one->base < image->base + image->bytes &&
            image->base < one->base + one->bytes) {
            one->last_epoch = its->epoch;
            found = true;
        }
    }
    return found;
}

void etwas_heap_add_image(struct etwas_heap *heap, const struct etwas_heap_image *image)
{
    struct etwas_heap_process *its = etwas_heap_process(heap, image->process);
    char *path;

    if (its == NULL || is_known(heap, its, image)) {
        return;
    }
    if (heap->image_count == ETWAS_HEAP_IMAGES || its->image_count == ETWAS_HEAP_PROCESS_IMAGES) {
        heap->images_left_out++;
        return;
    }
    path = strdup(image->path);
    if (path == NULL || !etwas_array_reserve(&heap->images, &heap->image_capacity,
                                             heap->image_count + 1, sizeof *heap->images)) {
        heap->out_of_memory = true;
        free(path);
        return;
    }
    heap->images[heap->image_count] = *image;
    heap->images[heap->image_count].path = path;
    heap->images[heap->image_count].before = its->newest_image;
    if (end_overlapped(heap, its, image)) {
        heap->images[heap->image_count].first_epoch = ++its->epoch;
    }
    its->newest_image = ++heap->image_count;
    its->image_count++;
}

/* If several match, the one that was logged first is returned. */
struct etwas_heap_image *etwas_heap_find_image(struct etwas_heap *heap,
                                               const struct etwas_heap_stack *stack,
                                               uint64_t address)
{
    const struct etwas_heap_process *its = etwas_heap_process(heap, stack->process);
    struct etwas_heap_image *found = NULL;

    for (struct etwas_heap_image *one = its != NULL ? image_of(heap, its->newest_image) : NULL;
         one != NULL; one = image_of(heap, one->before)) {
        if (address - one->base < one->bytes && stack->epoch >= one->first_epoch &&
            stack->epoch <= one->last_epoch) {
            found = one;
        }
    }
    return found;
}
