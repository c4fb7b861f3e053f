/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the cycle counter of a machine is worth, and why (etwas_clock_trust of <etwas/etwas.h>). */
#ifndef ETWAS_CLOCK_TRUST_H
#define ETWAS_CLOCK_TRUST_H

#include <etwas/etwas.h>

#include "platform/machine.h"

/*
 * Returns the trust of this process's machine. The first call measures it, which takes some tens of
 * milliseconds. Any thread may call it.
 */
const etwas_clock_trust *etwas_clock_trust_here(void);

/*
 * Returns the same if it was measured already; otherwise what the machine's facts alone say:
 * frequency_hz is 0, and no reason that takes measuring is set. The first call takes some tenths of
 * a millisecond.
 */
const etwas_clock_trust *etwas_clock_trust_known(void);

/* Measures the counter of `machine` and fills its trust. */
void etwas_clock_trust_of(const struct etwas_machine *machine, etwas_clock_trust *trust);

/* Makes the counter untrusted (false), or lets the machine decide again (true). */
void etwas_clock_allow_tsc(bool allowed);

/*
 * Replaces the machine as far as trust goes, and measures it at once; NULL restores the real one.
 * Must not be called while sessions run.
 */
void etwas_clock_replace_machine(const struct etwas_machine *machine);

#endif
