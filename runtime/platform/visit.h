/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Visits: a fence for restartable sequences of any process. (etwas_rseq_fence ends those of this
 * process.)
 *
 * When a thread of this process is scheduled on a processor, the thread that ran there is switched
 * out, and a thread that was switched out inside a sequence continues at its abort point. So after
 * a visit each sequence that had begun on that processor has committed, visibly to the visitor, or
 * will abort; and each that begins sees what was stored before the visit. That needs nothing from
 * the other process, which may be stopped, frozen or unrelated.
 */
#ifndef ETWAS_PLATFORM_VISIT_H
#define ETWAS_PLATFORM_VISIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Visits each processor with wanted[number], for numbers below `count`, at most
 * ETWAS_MOST_PROCESSORS, by threads created for it. Clears wanted[] of each processor that is
 * reached, or offline, where no thread runs. Returns true if all are reached. The others are
 * outside of the processors that this process may use (its cpuset), could not be reached within the
 * timeout, or no thread could be created for them. The caller's thread stays unchanged.
 */
bool etwas_visit_processors(bool *wanted, uint32_t count, uint64_t timeout_ns);

/* Makes visits reach no processor, as if all were outside the cpuset. */
extern bool etwas_visits_fail;

#endif
