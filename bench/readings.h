/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads the clocks. The library's own readings are compared with these, which are written
 * independently. They are inline, so that a row times the reading and no call. Each returns one
 * number, as a program that stores a stamp needs it.
 */
#ifndef ETWAS_BENCH_READINGS_H
#define ETWAS_BENCH_READINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Inlined with a constant `clock`, this compiles to the same code as with the number itself. */
static inline int64_t bench_read_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t bench_read_qpc(void)
{
    return bench_read_ns(CLOCK_MONOTONIC_RAW);
}

static inline int64_t bench_read_system(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return 116444736000000000 + (int64_t)now.tv_sec * 10000000 + now.tv_nsec / 100;
}

static inline int64_t bench_read_monotonic(void)
{
    return bench_read_ns(CLOCK_MONOTONIC);
}

static inline int64_t bench_read_monotonic_raw(void)
{
    return bench_read_ns(CLOCK_MONOTONIC_RAW);
}

static inline int64_t bench_read_monotonic_coarse(void)
{
    return bench_read_ns(CLOCK_MONOTONIC_COARSE);
}

static inline int64_t bench_read_realtime(void)
{
    return bench_read_ns(CLOCK_REALTIME);
}

static inline int64_t bench_read_realtime_coarse(void)
{
    return bench_read_ns(CLOCK_REALTIME_COARSE);
}

static inline int64_t bench_read_boottime(void)
{
    return bench_read_ns(CLOCK_BOOTTIME);
}

static inline int64_t bench_read_tai(void)
{
    return bench_read_ns(CLOCK_TAI);
}

static inline int64_t bench_read_thread_cputime(void)
{
    return bench_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

#if defined(__x86_64__)

static inline int64_t bench_read_tsc(void)
{
    return (int64_t)__builtin_ia32_rdtsc();
}

static inline int64_t bench_read_rdtscp(void)
{
    unsigned processor;

    return (int64_t)__builtin_ia32_rdtscp(&processor);
}

/*
 * Reads after everything that the program did before; one statement keeps the fence and the reading
 * together.
 */
static inline int64_t bench_read_lfence_rdtsc(void)
{
    uint32_t low;
    uint32_t high;

    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (int64_t)((uint64_t)high << 32 | low);
}

static inline bool bench_has_rdtscp(void)
{
    const unsigned extended_features = 0x80000001u;
    const unsigned rdtscp = 1u << 27;
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;

    return __get_cpuid(extended_features, &eax, &ebx, &ecx, &edx) != 0 && (edx & rdtscp) != 0;
}

#elif defined(__aarch64__)

static inline int64_t bench_read_tsc(void)
{
    int64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* There is no equivalent: bench_has_rdtscp returns false, and the row is skipped. */
static inline int64_t bench_read_rdtscp(void)
{
    return 0;
}

static inline int64_t bench_read_lfence_rdtsc(void)
{
    int64_t ticks;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
}

static inline bool bench_has_rdtscp(void)
{
    return false;
}

#else
#error "the benchmarks need to know this architecture's cycle counter"
#endif

#endif
