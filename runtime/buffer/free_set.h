/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which buffers are probably free: one bit a buffer, so that a claim finds one without looking at
 * every owner word. Only a hint. The owner word says what is true, and whoever takes a bit checks
 * it. A bit may be missing, because a writer that took it went to sleep: the flusher's next pass
 * sets it again, and until then who finds no other buffer looks at the owner words before he loses
 * an event. A bit too many costs the one who takes it another look.
 *
 * Lowest first: a session that needs few buffers stays in few, which the caches hold.
 *
 * Any number of threads and handlers; lock-free. Taking pairs with adding: acquire, release.
 */
#ifndef ETWAS_BUFFER_FREE_SET_H
#define ETWAS_BUFFER_FREE_SET_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_FREE_SET_WORD_BITS = 64
};

/* Words for `buffers` bits. */
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

/* Stripes of a set: every so manieth one, of at most a word of bits each. */
struct etwas_free_set_stripes {
    uint32_t shift; /* bits of a stripe: 1 << shift */
    uint32_t first;
    uint32_t step;
};

/* Takes the lowest of the bits below `buffers` in these stripes; a bit above may come with the last of them. */
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

/* Of all bits. */
static inline bool etwas_free_set_take(uint64_t *set, uint32_t buffers, uint32_t *buffer)
{
    const struct etwas_free_set_stripes all = {.shift = 6, .step = 1};

    return etwas_free_set_take_from_stripes(set, buffers, all, buffer);
}

#endif
