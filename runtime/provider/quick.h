/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The fast path into one session: publishes a record whose header is in registers and whose payload
 * is a list of pieces, by the sequence of buffer/quick_rseq.h, into the slot of the processor that
 * runs the caller.
 *
 *     FIND     the slot, and with it the session's clock
 *     PUBLISH  the sequence
 *
 * FIND fails where there is no such sequence, or the session has no rseq slots, or has records with
 * times. If a record is not published here, mostly because the buffer is full, the caller passes it
 * to etwas_publish. Async-signal-safe.
 */
#ifndef ETWAS_PROVIDER_QUICK_H
#define ETWAS_PROVIDER_QUICK_H

#include <stdint.h>

#include "buffer/quick_rseq.h"

/* No Win32 code: the general path decides what happens to the record. */
#define ETWAS_QUICK_NOT UINT32_MAX

#if ETWAS_RSEQ

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdbool.h>

#include "buffer/pool_count.h"
#include "buffer/retention_class.h"
#include "buffer/slot.h"
#include "buffer/switch.h"
#include "clock/clock.h"
#include "platform/rseq.h"
#include "platform/thread.h"
#include "session/handle.h"

struct etwas_quick_target {
    struct etwas_slot *slot;
    uint32_t generation; /* of the session */
    uint32_t kind;       /* the slot's kind; 0: there is none */
    uint32_t clock;
};

/*
 * Finds the clock of a slot's kind. Returns false if events of such slots do not take the fast
 * path.
 */
static inline bool etwas_quick_clock(uint32_t *clock, uint32_t kind)
{
#ifdef ETWAS_TESTPOINTS
    if (etwas_quick_is_off) {
        return false;
    }
#endif
    *clock = ETWAS_CLOCK_KIND_TSC;
    if (__builtin_expect(kind == etwas_slot_kind(ETWAS_CLOCK_KIND_TSC, ETWAS_PROTOCOL_RSEQ), 1)) {
        return true;
    }
    *clock = etwas_kind_clock(kind);
    return etwas_kind_quick_protocol(kind) == ETWAS_PROTOCOL_RSEQ;
}

/*
 * Finds the slot of a session's handle. Returns false if the session is not on the fast path, or
 * has retention classes. Whether the session runs is decided by the sequence.
 */
static inline bool etwas_quick_find(struct etwas_quick_target *target, uint64_t session)
{
    target->generation = etwas_handle_generation(session);
    if (__builtin_expect(target->generation == 0, 0) ||
        __builtin_expect(!etwas_slot_here(session, &target->slot), 0)) {
        *target = (struct etwas_quick_target){0};
        return false;
    }
    target->kind = etwas_slot_kind_of(target->slot);
    return etwas_quick_clock(&target->clock, target->kind);
}

/*
 * Finds the slot of an event's retention class on this processor, and a stamp, after
 * etwas_quick_find has returned false. `index` is the lowest byte of the session's handle; if the
 * caller has that at hand, the look-up does not wait for the kind. Returns false if the events do
 * not take the fast path.
 *
 * The caller has a second copy of the code that follows, so that a session without classes pays
 * nothing. rdtsc waits for the instructions before it, so the arithmetic follows it.
 */
static inline __attribute__((always_inline)) bool etwas_quick_find_class(
    struct etwas_quick_target *target, uint32_t index, const struct etwas_class_attributes *facts,
    int64_t *stamp)
{
    const uint32_t kind = target->kind;
    uint32_t row;

    if (__builtin_expect(etwas_kind_without_classes(kind) !=
                             etwas_slot_kind(ETWAS_CLOCK_KIND_TSC, ETWAS_PROTOCOL_RSEQ),
                         0)) {
        if (etwas_kind_classes(kind) == 0 ||
            !etwas_quick_clock(&target->clock, etwas_kind_without_classes(kind))) {
            return false;
        }
        *stamp = etwas_clock_read(target->clock);
        row = etwas_class_row_of(index, kind, facts->type_and_level, facts->guid, facts->keywords);
    } else {
#ifdef ETWAS_TESTPOINTS
        if (etwas_quick_is_off) {
            return false;
        }
#endif
        row = etwas_class_row(index, kind, facts);
        *stamp = etwas_clock_now(ETWAS_CLOCK_KIND_TSC);
        target->clock = ETWAS_CLOCK_KIND_TSC;
    }
    target->slot = etwas_class_slot(target->slot, row);
    return true;
}

/*
 * Does what etwas_quick_find does for a provider's listener, by the index that
 * etwas_slot_index_here finds.
 */
static inline bool etwas_quick_find_listener(struct etwas_quick_target *target,
                                             struct etwas_slot *slots, uint32_t index,
                                             uint32_t generation, uint32_t kind)
{
    target->slot = &slots[index];
    target->generation = generation;
    target->kind = kind;
    return etwas_quick_clock(&target->clock, kind);
}

/* Whether the current buffer seems to have room. A hint: the sequence decides. */
static inline bool etwas_quick_has_room(const struct etwas_slot *slot, uint32_t units)
{
    return etwas_word_units(ck_pr_load_64(&slot->word)) + units <= etwas_slot_limit_units(slot);
}

typedef enum etwas_quick_rseq etwas_quick_sequence(struct etwas_slot *slot, uint32_t generation,
                                                   const struct etwas_quick_header *header,
                                                   int64_t stamp, const void *pieces,
                                                   uint64_t count);

/*
 * Counts an interruption. Returns ETWAS_QUICK_NOT, mostly because the buffer is full: the general
 * path switches to another.
 */
uint32_t etwas_quick_fail(enum etwas_quick_rseq result, struct etwas_slot *slot);

/*
 * Publishes a record. ERROR_SUCCESS: it is committed. `run` is one of the sequences of
 * buffer/quick_rseq.h.
 */
static inline __attribute__((always_inline)) uint32_t etwas_quick_publish(
    etwas_quick_sequence *run, const struct etwas_quick_target *target,
    const struct etwas_quick_header *header, int64_t stamp, const void *pieces, uint32_t count)
{
    enum etwas_quick_rseq result =
        run(target->slot, target->generation, header, stamp, pieces, count);

    return __builtin_expect(result == ETWAS_QUICK_COMMITTED, 1)
               ? (uint32_t)ERROR_SUCCESS
               : etwas_quick_fail(result, target->slot);
}

#endif

#endif
