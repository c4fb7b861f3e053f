/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Stacks, each once.
 */

#include "convert/stacks/stacks.h"

enum {
    FIRST_ROOM = 1024,
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct etwas_stack *stack, const uint32_t *frames)
{
    uint64_t hash = mix(mix(stack->kind, stack->process), stack->thread);

    for (uint32_t i = 0; i < stack->frame_count; i++) {
        hash = mix(hash, frames[i]);
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

static uint32_t *find_slot(const struct etwas_stacks *stacks, const struct etwas_stack *stack,
                           const uint32_t *frames)
{
    size_t mask = 2 * (size_t)stacks->capacity - 1;
    size_t at = hash_of(stack, frames) & mask;

    while (stacks->table[at] != 0 &&
           !is_same(stacks, &stacks->stacks[stacks->table[at] - 1], stack, frames)) {
        at = (at + 1) & mask;
    }
    return &stacks->table[at];
}

static bool grow(struct etwas_stacks *stacks)
{
    uint32_t capacity = stacks->capacity == 0 ? FIRST_ROOM : 2 * stacks->capacity;
    struct etwas_stack *larger = reallocarray(stacks->stacks, capacity, sizeof *larger);
    uint32_t *table = calloc(2 * (size_t)capacity, sizeof *table);

    stacks->stacks = larger != NULL ? larger : stacks->stacks;
    if (larger == NULL || table == NULL) {
        stacks->out_of_memory = true;
        free(table);
        return false;
    }
    free(stacks->table);
    stacks->table = table;
    stacks->capacity = capacity;
    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct etwas_stack *stack = &stacks->stacks[i];

        *find_slot(stacks, stack, stacks->frames + stack->frames_at) = i + 1;
    }
    return true;
}

/* Keeps a stack's frames behind those of the others. */
static bool keep_frames(struct etwas_stacks *stacks, const uint32_t *frames, uint32_t count)
{
    size_t capacity = 2 * stacks->frame_capacity + count;
    uint32_t *larger;

    if (stacks->frame_capacity - stacks->frame_count < count) {
        larger = reallocarray(stacks->frames, capacity, sizeof *larger);
        if (larger == NULL) {
            stacks->out_of_memory = true;
            return false;
        }
        stacks->frames = larger;
        stacks->frame_capacity = capacity;
    }
    if (count > 0) {
        memcpy(stacks->frames + stacks->frame_count, frames, count * sizeof *frames);
        stacks->frame_count += count;
    }
    return true;
}

static bool is_full(const struct etwas_stacks *stacks, uint32_t more_frames)
{
    /* One is left for what is beyond. */
    return stacks->count >= ETWAS_STACKS - 1 ||
           stacks->frame_count + more_frames >= ETWAS_STACKS_FRAMES;
}

/* The number of the stack, made if it is new; UINT32_MAX: there are too many, or no memory. */
static uint32_t find_stack(struct etwas_stacks *stacks, const struct etwas_stack *stack,
                           const uint32_t *frames, bool is_last)
{
    uint32_t *slot;

    if (stacks->count == stacks->capacity && !grow(stacks)) {
        return UINT32_MAX;
    }
    slot = find_slot(stacks, stack, frames);
    if (*slot != 0) {
        return *slot - 1;
    }
    if (!is_last && is_full(stacks, stack->frame_count)) {
        return UINT32_MAX;
    }
    if (!keep_frames(stacks, frames, stack->frame_count)) {
        return UINT32_MAX;
    }
    stacks->stacks[stacks->count] = *stack;
    stacks->stacks[stacks->count].frames_at = stacks->frame_count - stack->frame_count;
    memset(stacks->stacks[stacks->count].values, 0, sizeof stack->values);
    *slot = ++stacks->count;
    return *slot - 1;
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
    free(stacks->table);
    free(stacks->frames);
    free(stacks->spans);
    *stacks = (struct etwas_stacks){.count = 0};
}
