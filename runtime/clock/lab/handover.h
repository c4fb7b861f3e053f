/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Stamps that crossed from one processor to another: the later stamp was taken after its thread had
 * seen the earlier one, so it should not be smaller.
 */
#ifndef ETWAS_CLOCK_LAB_HANDOVER_H
#define ETWAS_CLOCK_LAB_HANDOVER_H

#include <etwas/clocks.h>
#include <stdint.h>

struct etwas_lab_handovers {
    uint64_t count;
    uint64_t smaller; /* handovers in which the later stamp was smaller */
    uint64_t worst;   /* greatest difference of these, in ticks */
};

static inline void etwas_lab_handover_add(struct etwas_lab_handovers *handovers, int64_t earlier,
                                          int64_t later)
{
    handovers->count++;
    if (later < earlier) {
        /* Unsigned, so that stamps of opposite signs cannot overflow. */
        uint64_t by = (uint64_t)earlier - (uint64_t)later;

        handovers->smaller++;
        handovers->worst = by > handovers->worst ? by : handovers->worst;
    }
}

static inline void etwas_lab_handover_report(const struct etwas_lab_handovers *handovers,
                                             double tick_ns, etwas_clock_offset *offset)
{
    offset->handovers = handovers->count;
    offset->smaller = handovers->smaller;
    offset->worst_ns = (double)handovers->worst * tick_ns;
}

#endif
