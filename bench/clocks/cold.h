/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Times a call of a function that has not been called for long. */
#ifndef ETWAS_BENCH_CLOCKS_COLD_H
#define ETWAS_BENCH_CLOCKS_COLD_H

#include <stdint.h>

typedef int64_t bench_reading(void);

/*
 * Returns the ticks of the cycle counter that a call of `read` takes after other data and other
 * code have passed through the caches, less those of an empty call with warm code. Returns 0 if the
 * difference is negative. Takes some milliseconds.
 */
uint64_t bench_cold_ticks(bench_reading *read);

#endif
