/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/read_timing.h"

#include <stddef.h>

#include "clock/clock.h"
#include "clock/lab/lab.h"

/* Makes the compiler keep the value, and so the reading. */
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

static inline int64_t timer_start(void)
{
    int64_t now;

    etwas_lab_fence();
    now = etwas_clock_tsc();
    etwas_lab_fence();
    return now;
}

/* The next start has the fence after this reading; if there is none, no fence is needed. */
static inline int64_t timer_stop(void)
{
    etwas_lab_fence();
    return etwas_clock_tsc();
}

void etwas_lab_time_each(int64_t (*read)(void), int64_t *ticks, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        int64_t start = timer_start();

        KEEP(read != NULL ? read() : 0);
        ticks[index] = timer_stop() - start;
    }
}

int64_t etwas_lab_time_row(int64_t (*read)(void), uint32_t count)
{
    int64_t start = timer_start();

#pragma GCC unroll 8
    for (uint32_t index = 0; index < count; index++) {
        KEEP(read != NULL ? read() : 0);
    }
    return timer_stop() - start;
}

void etwas_lab_read_row(int64_t (*read)(void), int64_t *stamps, uint32_t count)
{
#pragma GCC unroll 8
    for (uint32_t index = 0; index < count; index++) {
        stamps[index] = read();
    }
}
