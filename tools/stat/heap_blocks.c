/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The tables of blocks and stacks behind `etwas stat --heap`: open addressing, linear probing. */

#include "stat/heap.h"

#include "address/symbols.h"

#include <stdlib.h>

enum {
    FIRST_CAPACITY = 1024
};

static uint64_t mix(uint64_t value)
{
    value *= UINT64_C(0x9E3779B97F4A7C15);
    return value ^ value >> 32;
}

/* ---- blocks ---- */

static uint64_t home(const struct etwas_heap *heap, uint32_t process, uint64_t address)
{
    return mix(address ^ mix(process)) & (heap->block_capacity - 1);
}

/* The entry of an address of a process, or the empty one where it would be. */
static struct etwas_heap_block *find_block(const struct etwas_heap *heap, uint32_t process,
                                           uint64_t address)
{
    uint64_t at = home(heap, process, address);

    while (heap->blocks[at].address != 0 &&
           (heap->blocks[at].address != address || heap->blocks[at].process != process)) {
        at = (at + 1) & (heap->block_capacity - 1);
    }
    return &heap->blocks[at];
}

/* Makes room for one more: a third of the entries stays empty. */
static bool grow_blocks(struct etwas_heap *heap)
{
    struct etwas_heap_block *old = heap->blocks;
    uint64_t capacity = heap->block_capacity;

    if (heap->block_count + 1 <= capacity / 3 * 2) {
        return true;
    }
    heap->block_capacity = capacity == 0 ? FIRST_CAPACITY : 2 * capacity;
    heap->blocks = calloc(heap->block_capacity, sizeof *heap->blocks);
    if (heap->blocks == NULL) {
        heap->blocks = old;
        heap->block_capacity = capacity;
        heap->out_of_memory = true;
        return false;
    }
    for (uint64_t i = 0; i < capacity; i++) {
        if (old[i].address != 0) {
            *find_block(heap, old[i].process, old[i].address) = old[i];
        }
    }
    free(old);
    return true;
}

static void account_freed(struct etwas_heap *heap, const struct etwas_heap_block *block)
{
    struct etwas_heap_stack *stack = &heap->stacks[block->stack];

    stack->live_blocks--;
    stack->live_bytes -= block->bytes;
    heap->live_bytes -= block->bytes;
    etwas_heap_process(heap, block->process)->live_bytes -= block->bytes;
}

void etwas_heap_add_block(struct etwas_heap *heap, const struct etwas_heap_block *block)
{
    struct etwas_heap_stack *stack = &heap->stacks[block->stack];
    struct etwas_heap_block *entry;
    bool is_early;

    if (!grow_blocks(heap)) {
        return;
    }
    entry = find_block(heap, block->process, block->address);
    is_early = entry->address != 0;
    if (is_early) {
        heap->replaced_blocks++;
        account_freed(heap, entry);
    } else {
        heap->block_count++;
    }
    *entry = *block;
    entry->is_early = is_early;
    stack->allocations++;
    stack->allocated_bytes += block->bytes;
    stack->live_blocks++;
    stack->live_bytes += block->bytes;
    heap->live_bytes += block->bytes;
    etwas_heap_process(heap, block->process)->live_bytes += block->bytes;
}

/* Empties an entry; those behind it that it kept from their homes move up. */
static void remove_entry(struct etwas_heap *heap, uint64_t at)
{
    uint64_t mask = heap->block_capacity - 1;

    for (uint64_t next = (at + 1) & mask; heap->blocks[next].address != 0;
         next = (next + 1) & mask) {
        uint64_t wanted = home(heap, heap->blocks[next].process, heap->blocks[next].address);

        if (((next - wanted) & mask) >= ((next - at) & mask)) {
            heap->blocks[at] = heap->blocks[next];
            at = next;
        }
    }
    heap->blocks[at].address = 0;
    heap->block_count--;
}

bool etwas_heap_drop_block(struct etwas_heap *heap, uint32_t process, uint64_t address,
                           uint32_t mover)
{
    struct etwas_heap_block *block =
        heap->block_capacity > 0 ? find_block(heap, process, address) : NULL;

    if (block == NULL || block->address == 0) {
        return false;
    }
    if (block->is_early && mover != 0 && mover != block->thread) {
        block->is_early = false;
        heap->replaced_blocks--;
        return true;
    }
    account_freed(heap, block);
    remove_entry(heap, (uint64_t)(block - heap->blocks));
    return true;
}

/* ---- stacks ---- */

static bool is_stack(const struct etwas_heap *heap, const struct etwas_heap_stack *stack,
                     const struct etwas_heap_stack *wanted, const uint64_t *frames)
{
    return stack->hash == wanted->hash && stack->process == wanted->process &&
           stack->epoch == wanted->epoch && stack->frame_count == wanted->frame_count &&
           memcmp(heap->frames + stack->first_frame, frames,
                  wanted->frame_count * sizeof *frames) == 0;
}

/*
 * The place of a stack's number, or the empty one (0) where it would be; without frames it is new.
 */
static uint32_t *find_place(const struct etwas_heap *heap, const struct etwas_heap_stack *wanted,
                            const uint64_t *frames)
{
    uint64_t mask = 2 * (uint64_t)heap->stack_capacity - 1;
    uint64_t at = wanted->hash & mask;

    while (heap->stack_places[at] != 0 &&
           (frames == NULL ||
            !is_stack(heap, &heap->stacks[heap->stack_places[at] - 1], wanted, frames))) {
        at = (at + 1) & mask;
    }
    return &heap->stack_places[at];
}

static bool grow_stacks(struct etwas_heap *heap)
{
    uint32_t capacity = heap->stack_capacity == 0 ? FIRST_CAPACITY : 2 * heap->stack_capacity;
    struct etwas_heap_stack *stacks;
    uint32_t *places;

    if (heap->stack_count < heap->stack_capacity) {
        return true;
    }
    stacks = capacity != 0 ? reallocarray(heap->stacks, capacity, sizeof *stacks) : NULL;
    heap->stacks = stacks != NULL ? stacks : heap->stacks;
    places = stacks != NULL ? calloc(2 * (size_t)capacity, sizeof *places) : NULL;
    if (places == NULL) {
        heap->out_of_memory = true;
        return false;
    }
    free(heap->stack_places);
    heap->stack_places = places;
    heap->stack_capacity = capacity;
    for (uint32_t i = 0; i < heap->stack_count; i++) {
        *find_place(heap, &heap->stacks[i], NULL) = i + 1;
    }
    return true;
}

static bool grow_frames(struct etwas_heap *heap, uint32_t count)
{
    uint64_t capacity = heap->frame_capacity;
    uint64_t *frames;

    if (heap->frames != NULL && heap->frame_count + count <= capacity) {
        return true;
    }
    capacity = 2 * capacity + count + 64;
    frames = reallocarray(heap->frames, capacity, sizeof *frames);
    if (frames == NULL) {
        heap->out_of_memory = true;
        return false;
    }
    heap->frames = frames;
    heap->frame_capacity = capacity;
    return true;
}

bool etwas_heap_find_stack(struct etwas_heap *heap, uint32_t process, const uint64_t *frames,
                           uint32_t count, uint32_t *stack)
{
    const struct etwas_heap_process *its = etwas_heap_process(heap, process);
    struct etwas_heap_stack wanted = {.process = process, .frame_count = count};
    uint32_t *place;

    if (its == NULL || !grow_stacks(heap) || !grow_frames(heap, count)) {
        return false;
    }
    wanted.epoch = its->epoch;
    wanted.first_frame = heap->frame_count;
    wanted.hash = mix(mix(its->epoch + 1) ^ process);
    for (uint32_t i = 0; i < count; i++) {
        wanted.hash = mix(wanted.hash ^ frames[i]);
    }
    place = find_place(heap, &wanted, frames);
    if (*place == 0) {
        heap->stacks[heap->stack_count] = wanted;
        memcpy(heap->frames + heap->frame_count, frames, count * sizeof *frames);
        heap->frame_count += count;
        *place = ++heap->stack_count;
    }
    *stack = *place - 1;
    return true;
}

void etwas_heap_clear(struct etwas_heap *heap)
{
    for (uint32_t i = 0; i < heap->image_count; i++) {
        free(heap->images[i].path);
        etwas_symbols_close(heap->images[i].symbols);
    }
    free(heap->images);
    free(heap->processes);
    free(heap->blocks);
    free(heap->stacks);
    free(heap->stack_places);
    free(heap->frames);
    *heap = (struct etwas_heap){.frees = 0};
}
