/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The measuring loops, one set for each source with the reading compiled into it, and one set that
 * reads nothing: what that one takes is the loop's own cost.
 *
 * Time is taken with the cycle counter, the finest there is, with a fence on both sides of the
 * counter's reading: what is timed neither begins before nor ends after it.
 */
#ifndef ETWAS_CLOCK_LAB_METER_H
#define ETWAS_CLOCK_LAB_METER_H

#include <stdint.h>

/* Every function takes the source's `read`, which a set with a reading of its own does not use. */
struct etwas_lab_meter {
    /* Single readings: the ticks of the counter that each took, those of the timing included. */
    void (*each)(int64_t (*read)(void), int64_t *ticks, uint32_t count);
    /* A row of readings, `count` a multiple of 8: the ticks that all took. */
    int64_t (*row)(int64_t (*read)(void), uint32_t count);
    /* A row of readings: what was read. */
    void (*stamps)(int64_t (*read)(void), int64_t *stamps, uint32_t count);
};

const struct etwas_lab_meter *etwas_lab_meter(uint32_t source);

/* Reads nothing. */
const struct etwas_lab_meter *etwas_lab_meter_empty(void);

/*
 * Ticks that one call of `read` took, those of the timing included. The code that times is the same
 * for all, so it can be warm while what it calls is not.
 */
int64_t etwas_lab_meter_call(int64_t (*read)(void));

/* For etwas_lab_meter_call: returns 0. */
int64_t etwas_lab_read_nothing(void);

#endif
