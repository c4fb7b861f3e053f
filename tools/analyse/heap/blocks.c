/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The tables of blocks and stacks for `etwas stat --heap`. */

#include "analyse/heap/heap.h"

#include "address/symbols.h"
#include "math/array.h"
#include "math/hash.h"

#include <stdlib.h>

/* ---- blocks ---- */

static uint64_t hash_block(uint32_t process, uint64_t address)
{
    return address ^ etwas_hash_number(0, process);
}

/* Returns the allocated block at an address of a process; NULL if there is none. */
static struct etwas_heap_block *find_block(const struct etwas_heap *heap, uint32_t process,
                                           uint64_t address, struct etwas_hash_place *place)
{
    uint32_t number =
        etwas_hash_index_first(&heap->block_places, hash_block(process, address), place);

    while (number != 0 && (heap->blocks[number - 1].address != address ||
                           heap->blocks[number - 1].process != process)) {
        number = etwas_hash_index_next(&heap->block_places, place);
    }
    return number != 0 ? &heap->blocks[number - 1] : NULL;
}

/* Returns an entry for a block, from the free list if possible; NULL if there is no memory. */
static struct etwas_heap_block *make_block(struct etwas_heap *heap,
                                           const struct etwas_heap_block *block)
{
    uint32_t number = heap->free_block != 0 ? heap->free_block : heap->block_count + 1;

    if (!etwas_array_reserve(&heap->blocks, &heap->block_capacity, number, sizeof *heap->blocks) ||
        !etwas_hash_index_add(&heap->block_places, hash_block(block->process, block->address),
                              number)) {
        return NULL;
    }
    if (number == heap->free_block) {
        heap->free_block = (uint32_t)heap->blocks[number - 1].bytes;
    } else {
        heap->block_count++;
    }
    return &heap->blocks[number - 1];
}

static void account_freed(struct etwas_heap *heap, const struct etwas_heap_block *block)
{
    struct etwas_heap_stack *stack;

    if (block->is_left_out) {
        return;
    }
    stack = &heap->stacks[block->stack];
    stack->live_blocks--;
    stack->live_bytes -= block->bytes;
    heap->live_bytes -= block->bytes;
    etwas_heap_process(heap, block->process)->live_bytes -= block->bytes;
}

void etwas_heap_add_block(struct etwas_heap *heap, const struct etwas_heap_block *block)
{
    struct etwas_hash_place place;
    struct etwas_heap_stack *stack;
    struct etwas_heap_block *entry = find_block(heap, block->process, block->address, &place);
    bool is_early = entry != NULL;

    if (is_early) {
        heap->replaced_blocks++;
        account_freed(heap, entry);
    } else {
        entry = make_block(heap, block);
    }
    if (entry == NULL) {
        heap->out_of_memory = true;
        return;
    }
    *entry = *block;
    entry->is_early = is_early;
    if (block->is_left_out) {
        return;
    }
    stack = &heap->stacks[block->stack];
    stack->allocations++;
    stack->allocated_bytes += block->bytes;
    stack->live_blocks++;
    stack->live_bytes += block->bytes;
    heap->live_bytes += block->bytes;
    etwas_heap_process(heap, block->process)->live_bytes += block->bytes;
}

bool etwas_heap_drop_block(struct etwas_heap *heap, uint32_t process, uint64_t address,
                           uint32_t mover)
{
    struct etwas_hash_place place;
    struct etwas_heap_block *block = find_block(heap, process, address, &place);

    if (block == NULL) {
        return false;
    }
    if (block->is_early && mover != 0 && mover != block->thread) {
        block->is_early = false;
        heap->replaced_blocks--;
        heap->frees += !block->is_left_out;
        return true;
    }
    account_freed(heap, block);
    heap->frees += !block->is_left_out;
    etwas_hash_index_remove(&heap->block_places, &place);
    block->bytes = heap->free_block;
    heap->free_block = (uint32_t)(block - heap->blocks) + 1;
    return true;
}

/* ---- stacks ---- */

static bool is_stack(const struct etwas_heap *heap, const struct etwas_heap_stack *stack,
                     const struct etwas_heap_stack *wanted, const uint64_t *frames)
{
    return stack->hash == wanted->hash && stack->process == wanted->process &&
           stack->epoch == wanted->epoch && stack->frame_count == wanted->frame_count &&
           (wanted->frame_count == 0 || memcmp(heap->frames + stack->first_frame, frames,
                                               wanted->frame_count * sizeof *frames) == 0);
}

/* Returns the number of a stack, from 1; 0 if it is new. */
static uint32_t find_stack(const struct etwas_heap *heap, const struct etwas_heap_stack *wanted,
                           const uint64_t *frames)
{
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&heap->stack_places, wanted->hash, &place);

    while (number != 0 && !is_stack(heap, &heap->stacks[number - 1], wanted, frames)) {
        number = etwas_hash_index_next(&heap->stack_places, &place);
    }
    return number;
}

static bool add_stack(struct etwas_heap *heap, const struct etwas_heap_stack *added,
                      const uint64_t *frames)
{
    if (!etwas_array_reserve(&heap->stacks, &heap->stack_capacity, heap->stack_count + 1,
                             sizeof *heap->stacks) ||
        !etwas_array_reserve(&heap->frames, &heap->frame_capacity,
                             heap->frame_count + added->frame_count, sizeof *heap->frames) ||
        !etwas_hash_index_add(&heap->stack_places, added->hash, heap->stack_count + 1)) {
        heap->out_of_memory = true;
        return false;
    }
    if (added->frame_count > 0) {
        memcpy(heap->frames + heap->frame_count, frames, added->frame_count * sizeof *frames);
    }
    heap->frame_count += added->frame_count;
    heap->stacks[heap->stack_count++] = *added;
    return true;
}

bool etwas_heap_find_stack(struct etwas_heap *heap, uint32_t process, const uint64_t *frames,
                           uint32_t count, uint32_t *stack)
{
    const struct etwas_heap_process *its = etwas_heap_process(heap, process);
    struct etwas_heap_stack wanted = {.process = process, .frame_count = count};
    uint32_t number;

    if (its == NULL) {
        return false;
    }
    wanted.epoch = its->epoch;
    wanted.first_frame = heap->frame_count;
    wanted.hash = etwas_hash_number(etwas_hash_number(0, its->epoch + 1), process);
    for (uint32_t i = 0; i < count; i++) {
        wanted.hash = etwas_hash_number(wanted.hash, frames[i]);
    }
    number = find_stack(heap, &wanted, frames);
    if (number == 0 && !add_stack(heap, &wanted, frames)) {
        return false;
    }
    *stack = number != 0 ? number - 1 : heap->stack_count - 1;
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
    etwas_hash_index_clear(&heap->block_places);
    etwas_hash_index_clear(&heap->stack_places);
    free(heap->frames);
    *heap = (struct etwas_heap){.frees = 0};
}
