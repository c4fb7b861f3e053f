/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether the kernel aborts a restartable sequence when another thread of the same processor preempts it. Some do not:
 * on arm64 Linux 6.19, and what came of it until that was mended, aborts only the sequences of threads that it moves. Then
 * two threads would write records into the same place.
 *
 *     SUBJECT   runs one long sequence after the other: check a counter, copy for some ten microseconds, copy the counter
 *     OTHER     pinned to the same processor: sleeps, wakes up, which preempts the subject, counts on
 *
 * A sequence that committed, and whose copy of the counter is not what it checked, was preempted and went on.
 */
#ifndef ETWAS_PLATFORM_RSEQ_TRIAL_H
#define ETWAS_PLATFORM_RSEQ_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/machine.h"
#include "platform/rseq.h"

/* Whether kernels of this release are known to have the fault, or it cannot be read. */
bool etwas_rseq_may_not_abort(enum etwas_architecture architecture, const char *release);

struct etwas_rseq_trial {
    uint32_t aborted;   /* sequences that were preempted, and aborted */
    uint32_t committed; /* that were preempted, and committed all the same: one is enough */
};

/*
 * Tries it, with `run` as etwas_rseq_run, for at most `most_ns`, on the processor that runs the caller. Nothing is found
 * where the other thread never got in: the processor has much to do, or there can be no threads. Starts two threads, which
 * have ended when it returns.
 */
struct etwas_rseq_trial etwas_rseq_trial_run(
    enum etwas_rseq_result (*run)(const struct etwas_rseq_sequence *sequence), uint64_t most_ns);

#endif
