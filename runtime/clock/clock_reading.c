/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "clock/clock_reading.h"

#include <ck_pr.h>

#include "clock/clock.h"
#include "platform/testpoint.h"

enum {
    ATTEMPTS = 16,
    FILETIME_UNIT_NS = 100,
};

#ifdef ETWAS_TESTPOINTS
uint64_t etwas_clock_suspended_step_ns;
#define SUSPENDED_STEP_NS ((int64_t)ck_pr_load_64(&etwas_clock_suspended_step_ns))
#else
#define SUSPENDED_STEP_NS 0
#endif

/* The value read last; 0 at first. Several threads may store to it, each a correct value. */
static uint64_t last_suspended_ns;

#if defined(__x86_64__)
#define FENCE "lfence"
#else
#define FENCE "isb"
#endif

/* Reads the counter after the code before the call, and before the code after it. */
static int64_t reading_fenced_tsc(void)
{
    int64_t ticks;

    __asm__ volatile(FENCE ::: "memory");
    ticks = etwas_clock_tsc();
    __asm__ volatile(FENCE ::: "memory");
    return ticks;
}

/*
 * Returns the time suspended. The difference of two clocks cannot be read at one moment, but it
 * does not change between suspends. So the last value is kept as long as it is possible, and
 * readings do not jitter. On a machine that was never suspended it is 0 from the first reading on.
 */
static int64_t reading_suspended_ns(void)
{
    int64_t suspended_ns = (int64_t)ck_pr_load_64(&last_suspended_ns);
    int64_t narrowest = INT64_MAX;
    int64_t least = 0;
    int64_t most = 0;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int64_t before = etwas_clock_ns(CLOCK_MONOTONIC);
        int64_t with_suspends = etwas_clock_ns(CLOCK_BOOTTIME);
        int64_t after = etwas_clock_ns(CLOCK_MONOTONIC);

        if (after - before < narrowest) {
            narrowest = after - before;
            least = with_suspends - after;
            most = with_suspends - before;
        }
    }
    if (suspended_ns < least || suspended_ns > most) {
        suspended_ns = least + (most - least) / 2;
        ck_pr_store_64(&last_suspended_ns, (uint64_t)suspended_ns);
    }
    return suspended_ns + SUSPENDED_STEP_NS;
}

static uint32_t reading_saturate_ns(int64_t ns)
{
    return ns < 0 || ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

/*
 * Sets the system time, which was read between `second` and `third`. At qpc_ns it was less by the
 * time in between. The result is rounded, by a known amount.
 */
static void reading_set_filetime(struct etwas_clock_reading *reading, const struct timespec *system,
                                 int64_t second, int64_t third)
{
    int64_t stamp = etwas_clock_filetime_of(system) + ETWAS_CLOCK_SYSTEM_STEP;
    int64_t later_ns = second + (third - second) / 2 - reading->qpc_ns;
    int64_t beyond_ns = system->tv_nsec % FILETIME_UNIT_NS - later_ns;
    /* Rounded downwards first, because division rounds negative numbers upwards. */
    int64_t units = (beyond_ns - (FILETIME_UNIT_NS - 1)) / FILETIME_UNIT_NS;
    int64_t rest_ns = beyond_ns - units * FILETIME_UNIT_NS;

    while (rest_ns > FILETIME_UNIT_NS / 2) {
        units++;
        rest_ns -= FILETIME_UNIT_NS;
    }
    reading->system_stamp = stamp;
    reading->stamp_error_ns = reading_saturate_ns(third - reading->qpc_ns + FILETIME_UNIT_NS);
    reading->filetime = stamp + units;
    reading->filetime_error_ns =
        reading_saturate_ns((third - second + 1) / 2 + (rest_ns < 0 ? -rest_ns : rest_ns));
}

struct etwas_clock_reading etwas_clock_read_together(void)
{
    struct etwas_clock_reading best = {0};
    uint64_t narrowest = UINT64_MAX;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct etwas_clock_reading reading;
        struct timespec system;
        int64_t first;
        int64_t second;
        int64_t third;
        uint64_t width;

        first = etwas_clock_qpc();
        ETWAS_TESTPOINT(ETWAS_POINT_CLOCK_READ);
        reading.tsc = reading_fenced_tsc();
        second = etwas_clock_qpc();
        ETWAS_TESTPOINT(ETWAS_POINT_CLOCK_READ);
        (void)clock_gettime(CLOCK_REALTIME, &system);
        third = etwas_clock_qpc();
        reading.qpc_ns = first + (second - first) / 2;
        /* Halves of odd widths are rounded up. */
        reading.tsc_error_ns = reading_saturate_ns(second - reading.qpc_ns);
        reading_set_filetime(&reading, &system, second, third);
        width = (uint64_t)reading.tsc_error_ns + reading.filetime_error_ns;
        if (width < narrowest) {
            narrowest = width;
            best = reading;
        }
    }
    best.suspended_ns = reading_suspended_ns();
    return best;
}

int64_t etwas_clock_reading_stamp(const struct etwas_clock_reading *reading, uint32_t kind)
{
    if (kind == ETWAS_CLOCK_KIND_TSC) {
        return reading->tsc;
    }
    return kind == ETWAS_CLOCK_KIND_QPC ? reading->qpc_ns : reading->system_stamp;
}

int64_t etwas_clock_reading_filetime(const struct etwas_clock_reading *reading, uint32_t kind)
{
    return kind == ETWAS_CLOCK_KIND_SYSTEM ? reading->system_stamp : reading->filetime;
}

uint32_t etwas_clock_reading_qpc_error_ns(const struct etwas_clock_reading *reading, uint32_t kind)
{
    if (kind == ETWAS_CLOCK_KIND_TSC) {
        return reading->tsc_error_ns;
    }
    return kind == ETWAS_CLOCK_KIND_QPC ? 0 : reading->stamp_error_ns;
}

uint32_t etwas_clock_reading_filetime_error_ns(const struct etwas_clock_reading *reading,
                                               uint32_t kind)
{
    if (kind == ETWAS_CLOCK_KIND_TSC) {
        return reading_saturate_ns((int64_t)reading->tsc_error_ns + reading->filetime_error_ns);
    }
    return kind == ETWAS_CLOCK_KIND_QPC ? reading->filetime_error_ns : 0;
}
