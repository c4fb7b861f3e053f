/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

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
 * clock, because both are cut off. What satisfies this for every pair of readings is the answer. A
 * reading that was interrupted has a wide bracket: what follows from it is true and too weak to
 * matter.
 *
 * Worked example: brackets of 50 ns and steps of 1 ns, 20 ms apart, leave ± 2.5 ppm at most.
 */
#ifndef ETWAS_CLOCK_RATE_H
#define ETWAS_CLOCK_RATE_H

#include <stdbool.h>

#include "platform/machine.h"

struct etwas_clock_rate {
    double hz;
    double error_hz;   /* it is within hz ± error_hz */
    double reading_ns; /* the fastest of two readings of the counter, one after the other */
    bool backwards;    /* a reading was smaller than the one before it */
};

/*
 * Measures the rate in some 20 ms. `raw_step_ns` is the step of the kernel's clock if that clock is
 * made of the counter: the counter's own steps are then in both and do not matter, also where a
 * processor's counter moves by tens of ticks at once. 0: the kernel's clock is made of something
 * else, and the smallest steps that are seen are used. Returns false if no rate is known better
 * than 1,000 ppm; only `backwards` is valid then.
 */
bool etwas_clock_measure_rate(const struct etwas_machine *machine, double raw_step_ns,
                              struct etwas_clock_rate *rate);

#endif
