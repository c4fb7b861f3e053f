/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The quick way into one session: a record whose header is in registers and whose payload is
 * listed, by the sequence of buffer/quick_rseq.h, in the slot of the processor that runs the caller.
 *
 * FIND     which slot, and with it what the session's clock is
 * PUBLISH  the sequence
 * SETTLE   what remains if it did not commit: mostly the buffer is full, and another takes its place
 *
 * Where there is no such sequence, or the session has no rseq slots or records with times, nothing
 * is found. Whatever is not published the caller hands to etwas_publish. Async-signal-safe.
 */
#ifndef ETWAS_PROVIDER_QUICK_H
#define ETWAS_PROVIDER_QUICK_H

#include "buffer/quick_rseq.h"

#if ETWAS_QUICK_RSEQ

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool_count.h"
#include "buffer/slot.h"
#include "buffer/switch_rseq.h"
#include "clock/clock.h"
#include "platform/rseq.h"
#include "platform/thread.h"
#include "session/handle.h"

struct etwas_quick_target {
    uint64_t session; /* its handle */
    struct etwas_slot *slot;
    uint64_t gate;
    uint32_t clock;
};

/*
 * False: the session is not to be reached quickly, or does not run. `session` is a session's handle.
 */
static inline bool etwas_quick_find(struct etwas_quick_target *target, uint64_t session)
{
    const uint32_t generation = (uint32_t)(session >> ETWAS_HANDLE_INDEX_BITS);
    const uint32_t commonest = etwas_slot_kind(ETWAS_CLOCK_KIND_TSC, ETWAS_PROTOCOL_RSEQ);
    uint32_t kind;

#ifdef ETWAS_TESTPOINTS
    if (etwas_quick_is_off) {
        return false;
    }
#endif
    target->session = session;
    if (!etwas_slot_here(session, &target->slot)) {
        return false;
    }
    target->gate = ck_pr_load_64(etwas_slot_gate(target->slot));
    target->clock = ETWAS_CLOCK_KIND_TSC;
    if (__builtin_expect(target->gate == etwas_slot_gate_word(generation, commonest), 1)) {
        return true;
    }
    kind = (uint32_t)(target->gate >> 32);
    target->clock = etwas_kind_clock(kind);
    return (uint32_t)target->gate == generation &&
           etwas_kind_quick_protocol(kind) == ETWAS_PROTOCOL_RSEQ;
}

/* A glance at the buffer of the moment. */
static inline bool etwas_quick_has_room(const struct etwas_quick_target *target, uint32_t units)
{
    return etwas_word_units(ck_pr_load_64(&target->slot->word)) + units <=
           ck_pr_load_32(&target->slot->limit_units);
}

/* The ids of the caller as they lie in a record's header; asks for them at a thread's first event. */
static inline uint64_t etwas_quick_ids(void)
{
    uint64_t ids = etwas_thread_ids_word();

    if (__builtin_expect((uint32_t)ids == 0, 0)) {
        etwas_thread_ids_load();
        ids = etwas_thread_ids_word();
    }
    return ids;
}

static inline __m128i etwas_quick_pair(uint64_t low, uint64_t high)
{
    return _mm_set_epi64x((int64_t)high, (int64_t)low);
}

static inline void etwas_quick_count_restart(const struct etwas_slot *slot)
{
    etwas_pool_count_restart(ck_pr_load_ptr(&slot->pool), ck_pr_load_32(&slot->index));
}

/*
 * What follows a sequence that did not commit: an interruption is counted; if there is no room,
 * another buffer takes the place. True: *code says what became of the record. Else the caller hands
 * it to the general way.
 */
bool etwas_quick_settle(enum etwas_quick_rseq result, struct etwas_slot *slot, uint64_t gate,
                        uint32_t units, uint32_t *code);

typedef enum etwas_quick_rseq etwas_quick_sequence(struct etwas_slot *slot,
                                                   uint64_t generation_above,
                                                   const struct etwas_quick_header *header,
                                                   int64_t stamp, const MOF_FIELD *pieces,
                                                   uint64_t count, uint64_t units);

/* True: *code says what became of the record. `run` is one of buffer/quick_rseq.h. */
static inline __attribute__((always_inline)) bool etwas_quick_publish(
    etwas_quick_sequence *run, const struct etwas_quick_target *target,
    const struct etwas_quick_header *header, int64_t stamp, const MOF_FIELD *pieces,
    uint32_t piece_count, uint32_t record_bytes, uint32_t *code)
{
    const uint32_t units = (uint32_t)etwas_etl_round_up_8(record_bytes) / ETWAS_UNIT_BYTES;
    enum etwas_quick_rseq result =
        run(target->slot, target->session, header, stamp, pieces, piece_count, units);

    *code = ERROR_SUCCESS;
    return __builtin_expect(result == ETWAS_QUICK_COMMITTED, 1) ||
           etwas_quick_settle(result, target->slot, target->gate, units, code);
}

#endif

#endif
