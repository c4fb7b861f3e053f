/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/publish.h"

#include <ck_pr.h>

#include "buffer/pool_join.h"
#include "platform/processor.h"
#include "platform/rseq.h"

#if ETWAS_RSEQ

/* Like LOST of switch_rseq.c: none commits after the end of the session. */
static bool refuse_count_once(struct etwas_slot *slot, uint64_t gate, uint32_t processor,
                              enum etwas_slot_loss cause, uint32_t events)
{
    uint64_t *lost = &slot->counters.lost[cause];
    const struct etwas_rseq_check checks[] = {
        {etwas_slot_gate(slot), gate},
        {lost, ck_pr_load_64(lost)},
    };
    const struct etwas_rseq_sequence sequence = {
        .checks = checks,
        .check_count = sizeof checks / sizeof checks[0],
        .target = lost,
        .value = checks[1].expected + events,
        .processor = processor,
    };

    return etwas_rseq_run(&sequence) == ETWAS_RSEQ_COMMITTED;
}

bool etwas_refuse_rseq(uint32_t session, uint32_t generation, uint32_t first,
                       enum etwas_slot_loss cause, uint32_t events)
{
    for (int attempt = 0; attempt < ETWAS_MAXIMUM_ATTEMPTS; attempt++) {
        uint32_t processor = etwas_processor_of_rseq();
        struct etwas_slot *slot;
        uint64_t gate;

        if (processor >= etwas_slot_count) {
            return false;
        }
        slot = etwas_slot_of(session, first + processor);
        gate = ck_pr_load_64(etwas_slot_gate(slot));
        if ((uint32_t)gate != generation) {
            return false;
        }
        if (refuse_count_once(slot, gate, processor, cause, events)) {
            return true;
        }
    }
    return false;
}

#else

bool etwas_refuse_rseq(uint32_t session, uint32_t generation, uint32_t first,
                       enum etwas_slot_loss cause, uint32_t events)
{
    (void)session;
    (void)generation;
    (void)first;
    (void)cause;
    (void)events;
    return false;
}

#endif

bool etwas_refuse_shared(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                         uint32_t generation, enum etwas_slot_loss cause, uint32_t events)
{
    uint64_t *inside = etwas_guest_inside(attachment);
    uint64_t entered = etwas_guest_enter(inside);
    bool is_open;

    /* V1 of switch_shared.c: the session does not end meanwhile. */
    ck_pr_inc_32(&slot->slow_writers);
    ck_pr_fence_memory();
    is_open = ck_pr_load_32(&slot->gate) == generation;
    if (is_open) {
        ck_pr_add_64(&slot->counters.lost[cause], events);
    }
    ck_pr_fence_release();
    ck_pr_dec_32(&slot->slow_writers); /* V2 */
    etwas_guest_exit(inside, entered);
    return is_open;
}
