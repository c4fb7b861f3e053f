/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The free set: one bit for each buffer says which buffers are probably free, so that a claim finds
 * one without reading every owner word. It is only a hint: the owner word is authoritative, and a
 * thread that takes a bit checks it. A bit may be missing because a writer that took it was
 * suspended. The flusher's next pass sets it again; until then a writer that finds no other buffer
 * scans the owner words before it loses an event. A bit that is set wrongly costs one more search.
 *
 * Lowest first: a session that needs few buffers stays in few, which the caches hold.
 *
 * Lock-free for any number of threads and handlers. Taking pairs with adding: acquire, release.
 */
#ifndef ETWAS_BUFFER_FREE_SET_H
#define ETWAS_BUFFER_FREE_SET_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_FREE_SET_WORD_BITS = 64
};

/* Returns the number of 64-bit words that hold `buffers` bits. */
static inline uint32_t etwas_free_set_words(uint32_t buffers)
{
    return (buffers + ETWAS_FREE_SET_WORD_BITS - 1) / ETWAS_FREE_SET_WORD_BITS;
}

static inline void etwas_free_set_add(uint64_t *set, uint32_t buffer)
{
    ck_pr_fence_release();
    ck_pr_or_64(&set[buffer / ETWAS_FREE_SET_WORD_BITS], UINT64_C(1)
                                                             << buffer % ETWAS_FREE_SET_WORD_BITS);
}

static inline bool etwas_free_set_has(const uint64_t *set, uint32_t buffer)
{
    return (ck_pr_load_64(&set[buffer / ETWAS_FREE_SET_WORD_BITS]) >>
                buffer % ETWAS_FREE_SET_WORD_BITS &
            1) != 0;
}

/* Stripes of a set: every `step`th stripe from `first` on, each of at most one word of bits. */
struct etwas_free_set_stripes {
    uint32_t shift; /* bits of a stripe: 1 << shift */
    uint32_t first;
    uint32_t step;
};

/*
 * Takes the lowest set bit below `buffers` in these stripes. The last stripe may yield a bit above.
 */
static inline bool etwas_free_set_take_from_stripes(uint64_t *set, uint32_t buffers,
                                                    struct etwas_free_set_stripes stripes,
                                                    uint32_t *buffer)
{
    const uint64_t whole = UINT64_MAX >> (ETWAS_FREE_SET_WORD_BITS - (1u << stripes.shift));

    for (uint32_t at = stripes.first << stripes.shift; at < buffers;
         at += stripes.step << stripes.shift) {
        uint32_t index = at / ETWAS_FREE_SET_WORD_BITS;
        uint64_t mask = whole << at % ETWAS_FREE_SET_WORD_BITS;
        uint64_t word = ck_pr_load_64(&set[index]);

        while ((word & mask) != 0) {
            uint64_t lowest = (word & mask) & -(word & mask);

            if (ck_pr_cas_64_value(&set[index], word, word & ~lowest, &word)) {
                ck_pr_fence_acquire();
                *buffer = index * ETWAS_FREE_SET_WORD_BITS + (uint32_t)__builtin_ctzll(lowest);
                return true;
            }
        }
    }
    return false;
}

/* Takes the lowest set bit of the whole set. */
static inline bool etwas_free_set_take(uint64_t *set, uint32_t buffers, uint32_t *buffer)
{
    const struct etwas_free_set_stripes all = {.shift = 6, .step = 1};

    return etwas_free_set_take_from_stripes(set, buffers, all, buffer);
}

#endif
