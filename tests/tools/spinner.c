/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Spins in spin_inside, which spin_outside calls, which main calls, for so many milliseconds of its
 * own processor time.
 */

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sum;

static int64_t used_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

__attribute__((noinline)) void spin_inside(uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        sum += i * i;
    }
}

/* What it does behind the call keeps its frame. */
__attribute__((noinline)) void spin_outside(uint64_t rounds)
{
    spin_inside(rounds);
    sum++;
}

static inline __attribute__((always_inline)) void spin_innermost(void)
{
    sum += sum * sum;
}

static inline __attribute__((always_inline)) void spin_middle(void)
{
    spin_innermost();
}

/* Has no code of its own but its frame. */
__attribute__((noinline)) void spin_around(void)
{
    spin_middle();
}

int main(int argc, char **argv)
{
    int64_t end_ns = (argc > 1 ? atoi(argv[1]) : 100) * INT64_C(1000000);

    while (used_ns() < end_ns) {
        spin_outside(1000000);
        spin_around();
    }
    return 0;
}
