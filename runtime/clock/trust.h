/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the cycle counter of a machine is worth, and why (etwas_clock_trust of <etwas/etwas.h>).
 */
#ifndef ETWAS_CLOCK_TRUST_H
#define ETWAS_CLOCK_TRUST_H

#include <etwas/etwas.h>

#include "platform/machine.h"

/*
 * This process's, found out once, at the first call, which takes some tens of milliseconds. Any
 * thread may ask.
 */
const etwas_clock_trust *etwas_clock_trust_here(void);

/*
 * The same, if it has been found out; else by what the machine says alone: frequency_hz is 0, and
 * no reason that takes measuring is there. Some tenths of a millisecond at the first call.
 */
const etwas_clock_trust *etwas_clock_trust_known(void);

/* Judges `machine`, measuring its counter. */
void etwas_clock_trust_of(const struct etwas_machine *machine, etwas_clock_trust *trust);

#ifdef ETWAS_TESTPOINTS
/* Makes the counter untrusted (false) or gives the decision back to the machine (true). */
void etwas_clock_allow_tsc(bool allowed);

/*
 * Has the process run on `machine`, judged at once, as far as trust goes; NULL gives back the real
 * one. Not while sessions run.
 */
void etwas_clock_replace_machine(const struct etwas_machine *machine);
#endif

#endif
