/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The table of distinct stacks. */

#include "convert/stacks/stacks.h"

#include "math/array.h"
#include "math/hash.h"

static uint64_t hash_stack(const struct etwas_stack *stack, const uint32_t *frames)
{
    uint64_t hash =
        etwas_hash_number(etwas_hash_number(stack->kind, stack->process), stack->thread);

    for (uint32_t i = 0; i < stack->frame_count; i++) {
        hash = etwas_hash_number(hash, frames[i]);
    }
    return hash;
}

static bool is_same(const struct etwas_stacks *stacks, const struct etwas_stack *one,
                    const struct etwas_stack *other, const uint32_t *frames)
{
    return one->kind == other->kind && one->process == other->process &&
           one->thread == other->thread && one->frame_count == other->frame_count &&
           (one->frame_count == 0 || memcmp(stacks->frames + one->frames_at, frames,
                                            one->frame_count * sizeof *frames) == 0);
}

static bool is_full(const struct etwas_stacks *stacks, uint32_t more_frames)
{
    /* One entry is reserved for stacks beyond the limits. */
    return stacks->count >= ETWAS_STACKS - 1 ||
           stacks->frame_count + more_frames >= ETWAS_STACKS_FRAMES;
}

/* Adds a stack, and appends its frames. Returns false if memory runs out. */
static bool add_stack(struct etwas_stacks *stacks, const struct etwas_stack *stack, uint64_t hash,
                      const uint32_t *frames)
{
    struct etwas_stack added = *stack;

    if (!etwas_array_reserve(&stacks->stacks, &stacks->capacity, stacks->count + 1,
                             sizeof *stacks->stacks) ||
        !etwas_array_reserve(&stacks->frames, &stacks->frame_capacity,
                             stacks->frame_count + stack->frame_count, sizeof *stacks->frames) ||
        !etwas_hash_index_add(&stacks->places, hash, stacks->count + 1)) {
        stacks->out_of_memory = true;
        return false;
    }
    added.frames_at = stacks->frame_count;
    memset(added.values, 0, sizeof added.values);
    if (stack->frame_count > 0) {
        memcpy(stacks->frames + added.frames_at, frames, stack->frame_count * sizeof *frames);
    }
    stacks->frame_count += stack->frame_count;
    stacks->stacks[stacks->count++] = added;
    return true;
}

/*
 * Returns the index of the stack, which is added if it is new; UINT32_MAX if there are too many or
 * memory runs out.
 */
static uint32_t find_stack(struct etwas_stacks *stacks, const struct etwas_stack *stack,
                           const uint32_t *frames, bool is_last)
{
    uint64_t hash = hash_stack(stack, frames);
    struct etwas_hash_place place;
    uint32_t number = etwas_hash_index_first(&stacks->places, hash, &place);

    while (number != 0 && !is_same(stacks, &stacks->stacks[number - 1], stack, frames)) {
        number = etwas_hash_index_next(&stacks->places, &place);
    }
    if (number != 0) {
        return number - 1;
    }
    if ((!is_last && is_full(stacks, stack->frame_count)) ||
        !add_stack(stacks, stack, hash, frames)) {
        return UINT32_MAX;
    }
    return stacks->count - 1;
}

void etwas_stacks_add(struct etwas_stacks *stacks, const struct etwas_stack *stack,
                      const uint32_t *frames)
{
    static const uint32_t unknown = UINT32_MAX;
    uint32_t number = find_stack(stacks, stack, frames, false);

    stacks->seen[stack->kind]++;
    if (number == UINT32_MAX && !stacks->out_of_memory) {
        struct etwas_stack beyond = {.kind = stack->kind,
                                     .process = ETWAS_EVENT_UNKNOWN_ID,
                                     .thread = ETWAS_EVENT_UNKNOWN_ID,
                                     .frame_count = 1};

        stacks->beyond++;
        number = find_stack(stacks, &beyond, &unknown, true);
    }
    for (uint32_t i = 0; number != UINT32_MAX && i < ETWAS_STACKS_VALUES; i++) {
        stacks->stacks[number].values[i] += stack->values[i];
    }
}

uint32_t etwas_stacks_number(const struct etwas_stacks *stacks,
                             const struct etwas_hot_function *function)
{
    return function != NULL ? (uint32_t)(function - stacks->functions.functions) : UINT32_MAX;
}

void etwas_stacks_clear(struct etwas_stacks *stacks)
{
    etwas_hot_clear(&stacks->functions);
    free(stacks->stacks);
    etwas_hash_index_clear(&stacks->places);
    free(stacks->frames);
    free(stacks->spans);
    *stacks = (struct etwas_stacks){.count = 0};
}
