/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reading the current buffer of an rseq slot without a sequence: for the flusher, for statistics,
 * and for a writer that prepares a sequence.
 *
 * Which claim of a buffer is current is read in three steps:
 *
 *     b ← slot.word's buffer;  o ← owner[b];  w ← slot.word, again with b in it
 *
 * If owner[b] is still o at some later moment, then b was under that claim all the time, was
 * current in it when w was read, and its link, which ADOPT stored before it made b current, has
 * been constant since then. Without reading o first, a reader could use a link of a claim that
 * never became current: ADOPT stores a link before it commits.
 */
#ifndef ETWAS_BUFFER_CURRENT_H
#define ETWAS_BUFFER_CURRENT_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool.h"
#include "buffer/slot.h"

enum {
    ETWAS_CURRENT_TRIES = 100000, /* a well-behaved writer never changes a slot so often in a row */
};

struct etwas_current {
    uint64_t word;
    uint64_t owner;  /* 0: there is no current buffer */
    uint32_t buffer; /* ETWAS_NO_BUFFER: none */
};

static inline struct etwas_current etwas_current_read(const struct etwas_slot *slot,
                                                      const struct etwas_pool *pool)
{
    struct etwas_current current = {.word = ck_pr_load_64(&slot->word)};
    uint32_t tries = ETWAS_CURRENT_TRIES;
    uint32_t buffer;

    do {
        buffer = etwas_word_buffer(current.word);
        current.owner = 0;
        if (buffer != ETWAS_NO_BUFFER && (!etwas_pool_has_buffer(pool, buffer) || tries-- == 0)) {
            /*
             * The pool belongs to a session that has ended and the word to a later one; or another
             * process has overwritten it.
             */
            current.buffer = ETWAS_NO_BUFFER;
            return current;
        }
        if (buffer != ETWAS_NO_BUFFER) {
            /* Pairs with ADOPT's commit: a reader that sees the buffer sees its owner word. */
            ck_pr_fence_acquire();
            current.owner = ck_pr_load_64(&pool->owners[buffer]);
        }
        ck_pr_fence_acquire();
        current.word = ck_pr_load_64(&slot->word);
    } while (etwas_word_buffer(current.word) != buffer);
    /* Pairs with each commit: the records, the link and the newest stamp are at least as new. */
    ck_pr_fence_acquire();
    current.buffer = buffer;
    return current;
}

/*
 * Whether the buffer is still under that claim; then everything read from it before is true. (It
 * need not be current any more.)
 */
static inline bool etwas_current_is_unchanged(const struct etwas_current *current,
                                              const struct etwas_pool *pool)
{
    ck_pr_fence_acquire();
    return current->buffer == ETWAS_NO_BUFFER ||
           ck_pr_load_64(&pool->owners[current->buffer]) == current->owner;
}

/*
 * Buffering mode: stores how many records were in the slot's next buffer before its claim. They
 * count as replaced from the claim on, though the slot's sums include them only from ADOPT on.
 * Returns false if the slot is changing: the caller reads it again.
 */
static inline bool etwas_current_next_buffer_records(const struct etwas_slot *slot,
                                                     const struct etwas_pool *pool,
                                                     const struct etwas_current *current,
                                                     uint32_t *records)
{
    uint32_t next_buffer = ck_pr_load_32(&slot->next_buffer);
    uint64_t owner;

    *records = 0;
    if (!pool->buffering || !etwas_pool_has_buffer(pool, next_buffer) ||
        next_buffer == current->buffer) {
        return true;
    }
    ck_pr_fence_acquire();
    owner = ck_pr_load_64(&pool->owners[next_buffer]);
    if (!etwas_owner_is_held_by(owner, (uint32_t)(slot - etwas_pool_slot(pool, 0)))) {
        return true;
    }
    ck_pr_fence_acquire();
    *records = ck_pr_load_32(&pool->buffers[next_buffer].end.records);
    ck_pr_fence_acquire();
    return ck_pr_load_64(&pool->owners[next_buffer]) == owner &&
           ck_pr_load_32(&slot->next_buffer) == next_buffer &&
           etwas_word_buffer(ck_pr_load_64(&slot->word)) == current->buffer;
}

#endif
