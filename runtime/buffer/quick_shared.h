/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The common case of the shared protocol (publish_shared.c), inlined into the entry points: the
 * session runs, its buffer has room, the clock does not run behind, and no other writer interferes.
 *
 *     BEGIN     w ← slot.word (L1, acquire); gate; t ← clock
 *     RESERVE   n ← slot.newest; room; t ≥ n; X1; X2
 *     COMMIT    S1, then A1
 *
 * L1, X1, X2, S1 and A1 are those of publish_shared.c and pair as described there. A writer reads
 * everything that it needs of the slot between L1 and X2. The clock is read early, so that the
 * processor fetches it while the caller checks the rest; a stamp that is too old by then is found
 * by RESERVE.
 *
 * In all other cases nothing is reserved, and the caller takes the general way, etwas_publish. At
 * most the slot's newest stamp was raised, to a time that has been. No loop, no call except to the
 * clock. Async-signal-safe.
 */
#ifndef ETWAS_BUFFER_QUICK_SHARED_H
#define ETWAS_BUFFER_QUICK_SHARED_H

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool.h"
#include "buffer/record_walk.h"
#include "buffer/slot.h"
#include "clock/clock.h"
#include "platform/processor.h"
#include "platform/testpoint.h"

struct etwas_quick {
    struct etwas_slot *slot;
    uint64_t word;
    int64_t stamp;
    /* set by RESERVE */
    uint8_t *record;
    uint64_t *commit;
};

/* Returns false if the session does not run, or not in this slot. */
static inline bool etwas_quick_begin(struct etwas_quick *quick, struct etwas_slot *slot,
                                     uint32_t generation)
{
    quick->slot = slot;
    quick->word = ck_pr_load_64(&slot->word); /* L1 */
    ck_pr_fence_acquire();
    ETWAS_TESTPOINT(ETWAS_POINT_RESERVE_LOADED);
    if (__builtin_expect(ck_pr_load_32(&slot->gate) != generation, 0)) {
        return false;
    }
    quick->stamp = etwas_clock_now(etwas_kind_clock(etwas_slot_kind_of(slot)));
    return true;
}

/* Returns false if nothing is reserved. */
static inline bool etwas_quick_reserve(struct etwas_quick *quick,
                                       const struct etwas_attachment *attachment,
                                       uint32_t record_bytes)
{
    uint32_t units = (uint32_t)etwas_etl_round_up_8(record_bytes) / ETWAS_UNIT_BYTES;
    struct etwas_slot *slot = quick->slot;
    uint64_t newest = ck_pr_load_64(&slot->newest);
    uint32_t limit = etwas_slot_limit_units(slot);
    uint32_t first = etwas_word_units(quick->word);
    uint32_t buffer = etwas_slot_buffer(slot, quick->word);
    struct etwas_buffer_control *buffers = ck_pr_load_ptr(&attachment->buffers);
    uint8_t *region = etwas_slot_region(slot);

    if (__builtin_expect((first + units > limit) | (quick->stamp < (int64_t)newest), 0)) {
        return false;
    }
    if (__builtin_expect(!ck_pr_cas_64(&slot->newest, newest, (uint64_t)quick->stamp),
                         0)) { /* X1 */
        return false;
    }
    ETWAS_TESTPOINT(ETWAS_POINT_STAMPED);
    if (__builtin_expect(!ck_pr_cas_64(&slot->word, quick->word, quick->word + units),
                         0)) { /* X2 */
        return false;
    }
    quick->record = region + ((size_t)buffer * limit + first) * ETWAS_UNIT_BYTES;
    quick->commit = &buffers[buffer].commit;
    etwas_record_store_reserved_units(quick->record, units);
    ETWAS_TESTPOINT(ETWAS_POINT_RESERVED);
    return true;
}

/* The record is written, except for its first 8 bytes, marker and class, which are `first_word`. */
static inline uint32_t etwas_quick_commit(const struct etwas_quick *quick, uint64_t first_word,
                                          uint32_t record_bytes)
{
    ETWAS_TESTPOINT(ETWAS_POINT_WRITTEN);
    ck_pr_fence_release();
    ck_pr_store_64((uint64_t *)(void *)quick->record, first_word); /* S1 */
    ETWAS_TESTPOINT(ETWAS_POINT_MARKED);
    /* A1 */
    return etwas_commit_records(quick->commit, 1, (uint32_t)etwas_etl_round_up_8(record_bytes));
}

#endif
