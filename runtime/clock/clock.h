/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The three clocks with which a session can stamp (R150–R153).
 *
 *     1  QPC          CLOCK_MONOTONIC_RAW, ns; never steps, follows no wall clock
 *     2  system time  CLOCK_REALTIME as FILETIME, 100 ns; steps when the wall clock is set
 *     3  TSC          the invariant cycle counter of the processor
 *
 * Reading needs no system call on a machine whose kernel keeps time by the cycle counter: 1 and 2
 * go through the vDSO. Reading is async-signal-safe; calibrating the counter (trust.h) is not.
 */
#ifndef ETWAS_CLOCK_CLOCK_H
#define ETWAS_CLOCK_CLOCK_H

#include <stdint.h>
#include <time.h>

#ifdef ETWAS_TESTPOINTS
#include <ck_pr.h>
/*
 * Added to the system time, in units of 100 ns, so that tests can set the wall clock back and
 * forth.
 */
extern uint64_t etwas_clock_system_step;
#define ETWAS_CLOCK_SYSTEM_STEP ((int64_t)ck_pr_load_64(&etwas_clock_system_step))
#else
#define ETWAS_CLOCK_SYSTEM_STEP 0
#endif

enum {
    ETWAS_CLOCK_KIND_QPC = 1,
    ETWAS_CLOCK_KIND_SYSTEM = 2,
    ETWAS_CLOCK_KIND_TSC = 3,
};

#define ETWAS_CLOCK_NS_PER_SECOND INT64_C(1000000000)
#define ETWAS_CLOCK_FILETIME_PER_SECOND INT64_C(10000000)

/* 1970-01-01 as FILETIME: 369 years with 89 leap days, in units of 100 ns. */
#define ETWAS_CLOCK_UNIX_EPOCH_FILETIME INT64_C(116444736000000000)

/* 1970-01-01 00:00:00.000000100 → 116444736000000001 */
static inline int64_t etwas_clock_filetime_of(const struct timespec *time)
{
    return ETWAS_CLOCK_UNIX_EPOCH_FILETIME +
           (int64_t)time->tv_sec * ETWAS_CLOCK_FILETIME_PER_SECOND + time->tv_nsec / 100;
}

static inline int64_t etwas_clock_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * ETWAS_CLOCK_NS_PER_SECOND + now.tv_nsec;
}

static inline int64_t etwas_clock_qpc(void)
{
    return etwas_clock_ns(CLOCK_MONOTONIC_RAW);
}

static inline int64_t etwas_clock_system(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return etwas_clock_filetime_of(&now) + ETWAS_CLOCK_SYSTEM_STEP;
}

/*
 * Unfenced: the processor may read the counter a few instructions early. Publication keeps stamps
 * in order by comparing each with its slot's newest. A fence would cost as much as the reading.
 */
static inline int64_t etwas_clock_tsc(void)
{
#if defined(__x86_64__)
    return (int64_t)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    int64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "etwas needs to know this architecture's cycle counter"
#endif
}

/*
 * `kind` is one of the three. One benchmark measures a call without its clock. Only for it, the
 * library is also built with a constant, newer than any session's start, instead of the TSC.
 */
static inline int64_t etwas_clock_now(uint32_t kind)
{
    if (__builtin_expect(kind == ETWAS_CLOCK_KIND_TSC, 1)) {
#ifdef ETWAS_BENCH_CONSTANT_CLOCK
        return INT64_C(1) << 62;
#else
        return etwas_clock_tsc();
#endif
    }
    return kind == ETWAS_CLOCK_KIND_QPC ? etwas_clock_qpc() : etwas_clock_system();
}

#endif
