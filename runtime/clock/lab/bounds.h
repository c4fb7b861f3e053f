/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Bounds of the offset between the clocks of two processors, by rounds of ping-pong.
 *
 *     near   sent ------------------------------ received
 *                \                              /
 *     far         `------- answered -----------'
 *
 * Let d(t) = far(t) - near(t) be the offset, constant during a round. The answer's stamp was taken
 * after `sent` and before `received`, and near's clock does not run backwards, so at the moment of
 * the answer near's clock stood between the two:
 *
 *     sent <= answered - d <= received      <=>      answered - received <= d <= answered - sent
 *
 * That holds for every round, however long a thread was kept waiting in it. So the offset lies in
 * the intersection of all rounds, which is never wider than the fastest round trip. A stamp is what
 * the clock showed when it last moved, less than one step ago: each end moves outwards by a step.
 *
 *     sent 1000, answered 2050, received 1100      950 <= d <= 1050      1000 ± 50, and a step
 */
#ifndef ETWAS_CLOCK_LAB_BOUNDS_H
#define ETWAS_CLOCK_LAB_BOUNDS_H

#include <etwas/clocks.h>
#include <stdint.h>

/* Stamps in ticks. */
struct etwas_lab_round {
    int64_t sent;
    int64_t answered;
    int64_t received;
};

/* Begins zeroed. In ticks. */
struct etwas_lab_bounds {
    uint64_t rounds; /* rounds that were used */
    int64_t lowest;  /* greatest lower bound of the offset */
    int64_t highest;
    int64_t fastest_lowest; /* bounds by the fastest round */
    int64_t fastest_highest;
};

/* Adds a round. A round in which near's clock ran backwards is left out. */
void etwas_lab_bounds_add(struct etwas_lab_bounds *bounds, const struct etwas_lab_round *round);

/*
 * Fills offset_ns, bound_ns and rounds. There is at least one round. `quantum`, at least 1, is by
 * how many ticks the clock, or the clock from which it is derived, moves at once (read_timing.h).
 * The bound is that of the intersection. An empty intersection means that the offset was not
 * constant. Then the offset is that of the fastest round, and the bound includes what every round
 * allows.
 */
void etwas_lab_bounds_report(const struct etwas_lab_bounds *bounds, double tick_ns, double quantum,
                             etwas_clock_offset *offset);

/*
 * Stamps that crossed from one processor to another: the later stamp was taken after its thread had
 * seen the earlier one, so it should not be smaller.
 */

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
