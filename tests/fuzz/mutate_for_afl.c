/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A mutator of libFuzzer's kind (etl_mutate.c, pool_mutate.c) as AFL++ calls one: a shared object
 * that AFL_CUSTOM_MUTATOR_LIBRARY names. AFL++ has mutations of its own beside these.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_bytes, const uint8_t *second,
                                 size_t second_bytes, uint8_t *out, size_t room, unsigned seed)
    __attribute__((weak)); /* one of the two has none */

void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *state, uint8_t *bytes, size_t size, uint8_t **made, uint8_t *other,
                       size_t other_bytes, size_t most);
void afl_custom_deinit(void *state);

struct state {
    uint32_t random_state;
    size_t room;
    uint8_t *bytes;
};

static uint32_t next_random(struct state *state)
{
    state->random_state ^= state->random_state << 13;
    state->random_state ^= state->random_state >> 17;
    state->random_state ^= state->random_state << 5;
    return state->random_state;
}

/* The one that the mutator's blind changes come from. */
static struct state *only;

/* In place of libFuzzer's: a byte, or a bit. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
{
    (void)room;
    for (uint32_t times = 1 + next_random(only) % 4; times > 0 && size > 0; times--) {
        uint8_t *at = data + next_random(only) % size;

        *at = (uint8_t)(next_random(only) % 2 == 0 ? *at ^ 1u << next_random(only) % 8
                                                   : next_random(only));
    }
    return size;
}

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    only = calloc(1, sizeof *only);
    if (only != NULL) {
        only->random_state = seed | 1;
    }
    return only;
}

size_t afl_custom_fuzz(void *state, uint8_t *bytes, size_t size, uint8_t **made, uint8_t *other,
                       size_t other_bytes, size_t most)
{
    struct state *own = state;
    size_t room = size > most ? size : most;

    if (room > own->room) {
        uint8_t *larger = realloc(own->bytes, room);

        if (larger == NULL) {
            *made = bytes;
            return size;
        }
        own->bytes = larger;
        own->room = room;
    }
    *made = own->bytes;
    if (other != NULL && LLVMFuzzerCustomCrossOver != NULL && next_random(own) % 8 == 0) {
        return LLVMFuzzerCustomCrossOver(bytes, size, other, other_bytes, own->bytes, room,
                                         next_random(own));
    }
    memcpy(own->bytes, bytes, size);
    return LLVMFuzzerCustomMutator(own->bytes, size, room, next_random(own));
}

void afl_custom_deinit(void *state)
{
    free(((struct state *)state)->bytes);
    free(state);
}
