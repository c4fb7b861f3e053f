/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Visits: a fence for restartable sequences of any process. (etwas_rseq_fence ends those of this process.)
 *
 * A thread of ours that gets to run on a processor has had the thread switched out that ran there, and a
 * thread that was switched out inside a sequence goes on at its abort point. So when we have been on a
 * processor, each sequence that had begun there before has committed, and we see what, or will abort; and
 * each that begins sees what was stored before the visit. That needs nothing from the other process, which
 * may be stopped, frozen or a stranger.
 */
#ifndef ETWAS_PLATFORM_VISIT_H
#define ETWAS_PLATFORM_VISIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Visits the processors `number` with wanted[number], below `count`, at most ETWAS_MOST_PROCESSORS, by threads
 * made for it. One that is reached is wanted no more, and so is one that is offline, where nobody runs. True: all
 * are reached. Those that are left are outside of the processors that this process may have (its cpuset),
 * could not be had within the patience, or there was no thread to visit them. Nothing of the caller's
 * thread changes.
 */
bool etwas_visit_processors(bool *wanted, uint32_t count, uint64_t timeout_ns);

#ifdef ETWAS_TESTPOINTS
/* Nothing is reached, as where all processors are out of reach. */
extern bool etwas_visits_fail;
#endif

#endif
