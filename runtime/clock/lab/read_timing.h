/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The measuring loops. A reading is called through its pointer; the call costs nothing beside it, since
 * the processor is waiting for the counter. NULL reads nothing: what that takes is the loop's own cost.
 *
 * Time is taken with the cycle counter, the finest there is, with a fence on both sides of the
 * counter's reading: what is timed neither begins before nor ends after it.
 */
#ifndef ETWAS_CLOCK_LAB_READ_TIMING_H
#define ETWAS_CLOCK_LAB_READ_TIMING_H

#include <stdint.h>

/*
 * Single readings: the ticks of the counter that each took, those of the timing included. One code for
 * all sources, so it can be warm while what it calls is not.
 */
void etwas_lab_time_each(int64_t (*read)(void), int64_t *ticks, uint32_t count);

/* A row of readings: the ticks that all took. */
int64_t etwas_lab_time_row(int64_t (*read)(void), uint32_t count);

/* A row of readings: what was read. */
void etwas_lab_read_row(int64_t (*read)(void), int64_t *stamps, uint32_t count);

#endif
