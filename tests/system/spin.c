/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/spin.h"

#include <time.h>

enum {
    ROUNDS = 100000 /* without a call of anything */
};

/* The linker's names for the ends of the section that the function is in. */
extern const char __start_etwas_spin[];
extern const char __stop_etwas_spin[];

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t monotonic_raw_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC_RAW);
}

__attribute__((noinline, section("etwas_spin"))) static void spin_around(void)
{
    for (volatile uint32_t round = 0; round < ROUNDS; round++) {
    }
}

void spin_for(struct spin *spin, int64_t run_ns)
{
    int64_t begin_run_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t ran_ns;

    spin->begin_ns = monotonic_raw_ns();
    do {
        spin_around();
        ran_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_run_ns;
    } while (ran_ns < run_ns);
    spin->end_ns = monotonic_raw_ns();
}

bool is_in_spin(uint64_t address)
{
    return address >= (uintptr_t)__start_etwas_spin && address < (uintptr_t)__stop_etwas_spin;
}
