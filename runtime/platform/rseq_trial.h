/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Tests whether the kernel aborts a restartable sequence when another thread of the same processor
 * preempts it. Some kernels do not: on arm64, Linux 6.19 and its derivatives before the fix abort
 * only the sequences of threads that they migrate. Then two threads would write records into the
 * same place.
 *
 *     SUBJECT   runs one long sequence after the other: checks a counter, copies for some ten
 *               microseconds, copies the counter
 *     OTHER     pinned to the same processor: sleeps, wakes up, which preempts the subject,
 *               increments the counter
 *
 * If a sequence committed with a copy of the counter that differs from the checked value, it was
 * preempted and continued.
 */
#ifndef ETWAS_PLATFORM_RSEQ_TRIAL_H
#define ETWAS_PLATFORM_RSEQ_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/machine.h"
#include "platform/rseq.h"

/* Whether kernels of this release are known to have the defect, or the release cannot be parsed. */
bool etwas_rseq_may_not_abort(enum etwas_architecture architecture, const char *release);

struct etwas_rseq_trial {
    uint32_t aborted; /* sequences that were preempted, and aborted */
    /* sequences that were preempted, and committed nevertheless: one is enough */
    uint32_t committed;
};

/*
 * Runs the trial, with `run` as etwas_rseq_run, for at most `most_ns`, on the processor that runs
 * the caller. Both counts are 0 if the other thread was never scheduled: the processor is too busy,
 * or no threads can be created. Starts two threads, which have ended when it returns.
 */
struct etwas_rseq_trial etwas_rseq_trial_run(
    enum etwas_rseq_result (*run)(const struct etwas_rseq_sequence *sequence), uint64_t most_ns);

#endif
