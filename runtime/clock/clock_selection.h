/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which clock a session gets, and whether it may be the cycle counter.
 *
 * Nothing happens before the first question about the counter; that one measures it, which takes
 * some tens of milliseconds, once in a process.
 */
#ifndef ETWAS_CLOCK_CLOCK_SELECTION_H
#define ETWAS_CLOCK_CLOCK_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a session may use the counter: the verdict (clock/trust.h) is not "unusable". */
bool etwas_clock_tsc_trusted(void);

/* Ticks a second; 0 when the counter is not to be trusted. */
uint64_t etwas_clock_tsc_frequency_hz(void);

/*
 * The clock a session gets that asks for ClientContext `requested` (R150, R153); 0 for unknown
 * values.
 */
uint32_t etwas_clock_select(uint32_t requested);

#endif
