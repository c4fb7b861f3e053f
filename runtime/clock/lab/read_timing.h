/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The measuring loops. A reading is called through its pointer; the call costs nothing extra,
 * because the processor waits for the counter. NULL reads nothing: that takes the loop's own cost.
 *
 * Time is taken with the cycle counter, the finest there is, with a fence on both sides of the
 * counter's reading: what is timed neither begins before nor ends after it.
 */
#ifndef ETWAS_CLOCK_LAB_READ_TIMING_H
#define ETWAS_CLOCK_LAB_READ_TIMING_H

#include <stdint.h>

/*
 * Times single readings: the ticks of the counter that each took, including those of the timing.
 * All sources share this code, so it can be warm while the timed code is not.
 */
void etwas_lab_time_each(int64_t (*read)(void), int64_t *ticks, uint32_t count);

/* Times a row of readings: returns the ticks that all took. */
int64_t etwas_lab_time_row(int64_t (*read)(void), uint32_t count);

/* Reads a row of stamps. */
void etwas_lab_read_row(int64_t (*read)(void), int64_t *stamps, uint32_t count);

#endif
