/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether a machine's cycle counter can be trusted, and why (etwas_clock_trust of <etwas/etwas.h>).
 */
#ifndef ETWAS_CLOCK_TRUST_H
#define ETWAS_CLOCK_TRUST_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/machine.h"

/*
 * Returns the trust of this process's machine. The first call measures it, which takes some tens of
 * milliseconds. Any thread may call it.
 */
const etwas_clock_trust *etwas_clock_trust_here(void);

/*
 * Returns the same if it was measured already; otherwise the trust according to what the machine
 * states: frequency_hz is 0, and no reason that depends on measuring is set. The first call takes
 * some tenths of a millisecond.
 */
const etwas_clock_trust *etwas_clock_trust_known(void);

/* Measures the counter of `machine` and fills its trust. */
void etwas_clock_trust_of(const struct etwas_machine *machine, etwas_clock_trust *trust);

/* Makes the counter untrusted (false), or lets the machine decide again (true). */
void etwas_clock_allow_tsc(bool allowed);

/*
 * Replaces the machine for trust, and measures it at once; NULL restores the real one. Must not be
 * called while sessions run.
 */
void etwas_clock_replace_machine(const struct etwas_machine *machine);

/*
 * The verdict on a cycle counter by the known facts.
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
 *     none of these                          trusted
 *
 * A guest whose kernel keeps time by the counter is trusted: a hypervisor that moved it without
 * keeping the counter steady would break that kernel's clock, too.
 */

/* Returns the verdict that follows from ETWAS_CLOCK_REASON_* bits. */
uint32_t etwas_clock_trust_verdict(uint32_t reasons);

/* Returns how much more is stated than measured, in ppm; 0 if nothing is stated or measured. */
double etwas_clock_stated_difference_ppm(const etwas_clock_trust *trust);

/* Returns whether a frequency is stated that agrees with the measured one within its bound. */
bool etwas_clock_stated_agrees(const etwas_clock_trust *trust);

/*
 * How fast a machine's counter ticks against CLOCK_MONOTONIC_RAW, with a bound that holds.
 *
 * A reading brackets the kernel's clock with the counter: before ≤ counter at raw_ns ≤ after. Two
 * readings some time apart give
 *
 *     before' − after           after' − before
 *     ───────────────  ≤  rate  ≤  ───────────────
 *      raw' − raw                 raw' − raw
 *
 * each numerator widened by a step of the counter and each denominator by one of the kernel's
 * clock, because both are cut off. The result is what satisfies this for every pair of readings. An
 * interrupted reading has a wide bracket: its bounds are true, but too weak to matter.
 *
 * Worked example: brackets of 50 ns and steps of 1 ns, 20 ms apart, leave ± 2.5 ppm at most.
 */

struct etwas_clock_rate {
    double hz;
    double error_hz;   /* it is within hz ± error_hz */
    double reading_ns; /* the fastest of two readings of the counter, one after the other */
    bool backwards;    /* a reading was smaller than the one before it */
};

/*
 * Measures the rate in some 20 ms. `raw_step_ns` is the step of the kernel's clock if that clock is
 * derived from the counter. Both then have the counter's own steps, which therefore do not matter,
 * even if a processor's counter moves by tens of ticks at once. 0: the kernel's clock is derived
 * from something else, and the smallest steps seen are used. Returns false if no rate is known
 * better than 1,000 ppm; only `backwards` is valid then.
 */
bool etwas_clock_measure_rate(const struct etwas_machine *machine, double raw_step_ns,
                              struct etwas_clock_rate *rate);

/*
 * Which clock a session gets, and whether that may be the cycle counter.
 *
 * The counter is measured when it is first needed, which takes some tens of milliseconds once in a
 * process.
 */

/* Returns whether a session may use the counter: the verdict (clock/trust.h) is not "unusable". */
bool etwas_clock_tsc_trusted(void);

/* Returns the ticks a second; 0 if the counter may not be used. */
uint64_t etwas_clock_tsc_frequency_hz(void);

/*
 * Returns the clock that a session gets for ClientContext `requested` (R150, R153); 0 for unknown
 * values.
 */
uint32_t etwas_clock_select(uint32_t requested);

#endif
