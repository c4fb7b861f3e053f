/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How each source is read: inline, so that a measuring loop contains the reading itself and not a
 * call of it. Async-signal-safe.
 */
#ifndef ETWAS_CLOCK_LAB_SOURCES_H
#define ETWAS_CLOCK_LAB_SOURCES_H

#include <stdint.h>
#include <time.h>

#include "clock/clock.h"
#include "clock/lab/lab.h"

static inline int64_t etwas_lab_read_system_clock(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * ETWAS_CLOCK_NS_PER_SECOND + now.tv_nsec;
}

static inline int64_t etwas_lab_read_qpc(void)
{
    return etwas_clock_qpc();
}

static inline int64_t etwas_lab_read_system_time(void)
{
    return etwas_clock_system();
}

static inline int64_t etwas_lab_read_tsc(void)
{
    return etwas_clock_tsc();
}

/* Waits until all before it is done, as rdtscp does; what follows may still overtake it. */
static inline int64_t etwas_lab_read_fenced(void)
{
    etwas_lab_fence();
    return etwas_clock_tsc();
}

#if defined(__x86_64__)

static inline int64_t etwas_lab_read_rdtscp(void)
{
    unsigned processor;

    return (int64_t)__builtin_ia32_rdtscp(&processor);
}

#endif

static inline int64_t etwas_lab_read_monotonic(void)
{
    return etwas_lab_read_system_clock(CLOCK_MONOTONIC);
}

static inline int64_t etwas_lab_read_monotonic_raw(void)
{
    return etwas_lab_read_system_clock(CLOCK_MONOTONIC_RAW);
}

static inline int64_t etwas_lab_read_monotonic_coarse(void)
{
    return etwas_lab_read_system_clock(CLOCK_MONOTONIC_COARSE);
}

static inline int64_t etwas_lab_read_realtime(void)
{
    return etwas_lab_read_system_clock(CLOCK_REALTIME);
}

static inline int64_t etwas_lab_read_realtime_coarse(void)
{
    return etwas_lab_read_system_clock(CLOCK_REALTIME_COARSE);
}

static inline int64_t etwas_lab_read_boottime(void)
{
    return etwas_lab_read_system_clock(CLOCK_BOOTTIME);
}

static inline int64_t etwas_lab_read_tai(void)
{
    return etwas_lab_read_system_clock(CLOCK_TAI);
}

static inline int64_t etwas_lab_read_thread_cputime(void)
{
    return etwas_lab_read_system_clock(CLOCK_THREAD_CPUTIME_ID);
}

#endif
