/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the cycle counter of a machine is worth, and why (etwas_clock_trust of <etwas/clocks.h>).
 *
 *     reason                                 verdict
 *     it could not be calibrated             unusable
 *     the rate follows the power state       unusable
 *     the kernel gave it up                  unusable
 *     readings are emulated                  doubtful
 *     another frequency is stated            doubtful
 *     it ran backwards, in an examination    doubtful; while calibrated, unusable
 *     processors are apart                   doubtful
 *     a guest, whose kernel does not use it  doubtful
 *     nothing of that                        trusted
 *
 * A guest whose kernel keeps time by the counter is trusted: a hypervisor that moved it without
 * keeping the counter steady would break that kernel's clock too.
 */
#ifndef ETWAS_CLOCK_TRUST_H
#define ETWAS_CLOCK_TRUST_H

#include <etwas/clocks.h>

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
const etwas_clock_trust *etwas_clock_trust_so_far(void);

/* Judges `machine`, measuring its counter. */
void etwas_clock_trust_of(const struct etwas_machine *machine, etwas_clock_trust *trust);

/* The verdict that follows from reasons. */
uint32_t etwas_clock_judge(uint32_t reasons);

/* How much more is stated than measured, in ppm; 0 where nothing is stated or measured. */
double etwas_clock_stated_apart_ppm(const etwas_clock_trust *trust);

/* Whether a frequency is stated that agrees with the measured one within the bound of that. */
bool etwas_clock_stated_agrees(const etwas_clock_trust *trust);

#ifdef ETWAS_TESTPOINTS
/*
 * Has the process run on `machine`, judged at once, as far as trust goes; NULL gives back the real
 * one. Not while sessions run.
 */
void etwas_clock_use_machine(const struct etwas_machine *machine);
#endif

#endif
