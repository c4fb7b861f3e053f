/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which clock a session gets, and whether that may be the cycle counter.
 *
 * The counter is measured at the first question about it, which takes some tens of milliseconds
 * once in a process. Nothing happens before.
 */
#ifndef ETWAS_CLOCK_CLOCK_SELECTION_H
#define ETWAS_CLOCK_CLOCK_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

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
