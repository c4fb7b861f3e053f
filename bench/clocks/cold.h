/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Timing a call of a function that nobody has called for long.
 */
#ifndef ETWAS_BENCH_CLOCKS_COLD_H
#define ETWAS_BENCH_CLOCKS_COLD_H

#include <stdint.h>

typedef int64_t bench_reading(void);

/*
 * Ticks of the cycle counter that a call of `read` takes, when other data and other code have gone
 * through the caches since the last one; less those of a call that does nothing, its code warm.
 * Takes some milliseconds. 0 where the difference is negative.
 */
uint64_t bench_cold_ticks(bench_reading *read);

#endif
