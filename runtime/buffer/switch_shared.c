/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * The slow path of a shared slot.
 *
 *     SWITCH    slow_writers + 1                                        (V1, full)
 *               w ← slot.word; gate ≠ generation → INVALID; room after all → done
 *               n ← a claimed buffer; none, and the word still w → the events are lost
 *               n.previous ← w's buffer and end, and the newest stamp
 *               compare-exchange word: w → {epoch + 1, n, first}        (X3, release)   else again
 *               retire the old buffer: its age ← n's ticket; commit word + the unused rest, closed
 *               slow_writers − 1                                        (V2, release)
 *
 * V1 and the gate's load pair with stop's store of the gate and its load of slow_writers: of a
 * writer that enters and a stop that closes, at least one sees the other. So while a writer is
 * inside past the gate, the pool exists.
 *
 * A writer delayed anywhere here holds at most one buffer, and delays no other: others claim and
 * install their own. If it is delayed between the exchange and the retirement, the old buffer
 * counts as incomplete: the flusher writes its records once its timeout ends, and buffering mode
 * keeps it until the writer goes on.
 */
#include "buffer/switch.h"

#include <ck_pr.h>
#include <etwas/winerror.h>

#include "buffer/pool.h"
#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "buffer/pool_free.h"
#include "buffer/pool_join.h"
#include "platform/testpoint.h"

/* Installs `buffer` in place of `word`, if the slot still holds that word. */
static bool switch_install(struct etwas_slot *slot, struct etwas_pool *pool, uint64_t word,
                           uint32_t buffer)
{
    struct etwas_buffer_control *control = &pool->buffers[buffer];
    uint32_t old = etwas_word_buffer(word);
    uint64_t ticket;

    /*
     * Atomic: a thread that follows links without a claim may read them meanwhile, and then reads
     * them again.
     */
    ck_pr_store_32(&control->link.previous, old);
    control->link.previous_end_units = etwas_word_units(word);
    /*
     * Loaded after the word: every record reserved before that word had announced its stamp. If the
     * word changes meanwhile the exchange fails and the value is not used.
     */
    ck_pr_store_64((uint64_t *)&control->link.previous_newest, ck_pr_load_64(&slot->newest));
    ticket = etwas_pool_renew_ticket(pool, etwas_slot_index(slot), buffer);
    ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_NAMED);
    ck_pr_fence_release();
    if (!ck_pr_cas_64(&slot->word, word, etwas_word_next(word, buffer, ETWAS_FIRST_UNIT))) {
        return false; /* X3 failed */
    }
    ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_INSTALLED);
    if (etwas_pool_has_buffer(pool, old)) {
        ck_pr_store_64(&pool->ages[old], ticket);
        etwas_pool_retire(pool, old, etwas_word_units(word));
        if (pool->buffering) {
            etwas_pool_add_candidate(pool, old, etwas_slot_index(slot), true);
        }
    }
    etwas_pool_wake_if_few(pool, etwas_slot_index(slot));
    return true;
}

static uint32_t switch_as_slow_writer(const struct etwas_attachment *attachment,
                                      struct etwas_slot *slot, uint32_t generation, uint32_t units,
                                      uint64_t close_word, uint32_t events)
{
    struct etwas_pool *pool = NULL;
    uint32_t claimed = ETWAS_NO_BUFFER;
    uint32_t result = ERROR_SUCCESS;

    for (;;) {
        uint64_t word = ck_pr_load_64(&slot->word);
        uint32_t limit;

        ck_pr_fence_acquire();
        if (ck_pr_load_32(&slot->gate) != generation) {
            result = ERROR_INVALID_HANDLE;
            break;
        }
        limit = etwas_slot_limit_units(slot);
        if (units > limit - ETWAS_FIRST_UNIT) {
            result = ERROR_MORE_DATA;
            break;
        }
        if (etwas_word_units(word) + units <= limit && word != close_word) {
            break;
        }
        pool = ck_pr_load_ptr(&attachment->pool);
        if (pool == NULL) { /* a fork's child, without this memory */
            result = ERROR_INVALID_HANDLE;
            break;
        }
        ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_ENTERED);
        if (claimed == ETWAS_NO_BUFFER &&
            !etwas_pool_claim(pool, etwas_slot_index(slot), &claimed)) {
            ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_FOUND_NONE);
            if (ck_pr_load_64(&slot->word) != word) {
                /* the writer that took the last one may have installed it: then there is room */
                continue;
            }
            ck_pr_add_64(etwas_pool_loss(pool, slot, &result), events);
            etwas_pool_wake_flusher(pool);
            break;
        }
        ETWAS_TESTPOINT(ETWAS_POINT_SWITCH_CLAIMED);
        if (switch_install(slot, pool, word, claimed)) {
            claimed = ETWAS_NO_BUFFER;
            break;
        }
    }
    if (claimed != ETWAS_NO_BUFFER) {
        etwas_pool_release(pool, claimed, ETWAS_FIRST_UNIT);
    }
    return result;
}

__attribute__((noinline, cold)) uint32_t etwas_switch_shared(
    const struct etwas_attachment *attachment, struct etwas_slot *slot, uint32_t generation,
    uint32_t units, uint64_t close_word, uint32_t events)
{
    uint64_t *inside = etwas_guest_inside(attachment);
    uint64_t entered = etwas_guest_enter(inside);
    uint32_t result;

    ck_pr_inc_32(&slot->slow_writers); /* V1 */
    ck_pr_fence_memory();
    result = switch_as_slow_writer(attachment, slot, generation, units, close_word, events);
    ck_pr_fence_release();
    ck_pr_dec_32(&slot->slow_writers); /* V2 */
    etwas_guest_exit(inside, entered);
    return result;
}
