/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A function that does nothing but take time.
 */
#ifndef ETWAS_TESTS_SYSTEM_SPIN_H
#define ETWAS_TESTS_SYSTEM_SPIN_H

#include <stdbool.h>
#include <stdint.h>

struct spin {
    int64_t begin_ns; /* CLOCK_MONOTONIC_RAW */
    int64_t end_ns;
};

int64_t monotonic_raw_ns(void);

/* Until the thread has run so long. */
void spin_for(struct spin *spin, int64_t run_ns);

/* An address in the function that spins. */
bool is_in_spin(uint64_t address);

#endif
