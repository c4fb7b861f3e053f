/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Two threads, each on a processor of its own, hand stamps of one clock to and fro through shared
 * memory: etwas_lab_pairs (lab.h) compares each processor with each other one.
 *
 * Every second round is fenced: the far stamp is surely taken between the near ones, and the
 * bounds of the offset hold (bounds.h). The others read the clock as a session does, without a
 * fence of ours: in them handovers are counted (handover.h), so that a counter that is read before
 * what comes before it shows up there and disturbs no bound.
 *
 *     who                     may
 *     near (the caller)       store `to_far`, load `to_near`; asks, never two things at once
 *     far (a thread)          store `to_near`, load `to_far`; answers what it was asked last
 *
 * Ordering
 *     PUT   stamp, fence_store, turn: who sees a turn sees its stamp. The stamp is the value that
 *           was read, so the clock has been read before the turn can be seen.
 *     TAKE  turn, fence_load, stamp: the other side of PUT, both ways.
 *     ASK   turn seen, etwas_lab_fence, clock: in fenced rounds the clock is not read ahead of the
 *           turn that it waits for. PUT and ASK put `sent` before `answered` before `received`.
 *
 * Progress. Neither side waits for ever for the other to run: it spins a little, then gives the
 * processor away, then naps. Near gives up a question after a while; the answer to it, when it
 * comes, bears an old turn and is not listened to. Far waits until it is told to stop.
 *
 * Left out are pairs with a processor that cannot be pinned to or that was taken away meanwhile,
 * and those in which a thread was away for so long that there was no whole round of either kind.
 */
#ifndef ETWAS_CLOCK_LAB_PAIRS_H
#define ETWAS_CLOCK_LAB_PAIRS_H

#include "clock/lab/lab.h"

/* Pairs among `count` processors. */
static inline uint64_t etwas_lab_pair_count(uint32_t count)
{
    return count < 2 ? 0 : (uint64_t)count * (count - 1) / 2;
}

#endif
