/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How long single calls take: a pair of fenced readings of the cycle counter around each call, and
 * a histogram of the differences, less that of an empty pair.
 *
 *     static struct bench_latency latency;                     // 60 KB: not on the stack
 *     struct bench_timer timer = bench_timer_calibrate();
 *
 *     bench_latency_clear(&latency);
 *     BENCH_LATENCY_LOOP(&latency, 1000000, log_one_event(...));
 *     bench_latency_print(&latency, &timer, "tails/lttng_discard");
 *
 * The fences keep a call from overlapping its neighbours. A figure is the time from a call's first
 * instruction to its last, which is longer than the call's share of a loop without readings.
 */
#ifndef ETWAS_BENCH_LATENCY_H
#define ETWAS_BENCH_LATENCY_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rows_json.h"

enum {
    BENCH_LATENCY_EXACT_BITS = 9, /* one count for each value below 512 ticks */
    BENCH_LATENCY_EXACT = 1 << BENCH_LATENCY_EXACT_BITS,
    BENCH_LATENCY_PARTS = BENCH_LATENCY_EXACT / 2, /* counts for each doubling above: 0.4 % wide */
    BENCH_LATENCY_COUNTS =
        BENCH_LATENCY_EXACT + (64 - BENCH_LATENCY_EXACT_BITS) * BENCH_LATENCY_PARTS,
};

/* A zeroed histogram is empty. */
struct bench_latency {
    uint64_t samples;
    uint64_t longest_ticks;
    uint32_t counts[BENCH_LATENCY_COUNTS];
};

struct bench_timer {
    double ns_per_tick;
    uint64_t overhead_ticks; /* median of an empty pair of readings */
};

/* Takes the first reading of a pair. Nothing before it runs late, and nothing after it early. */
static inline uint64_t bench_tick_begin(void)
{
#if defined(__x86_64__)
    uint32_t low;
    uint32_t high;

    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
#else
#error "the latency rows need to know this architecture's cycle counter"
#endif
}

/* Takes the second reading, in the same way, so that a pair is symmetric. */
static inline uint64_t bench_tick_end(void)
{
    return bench_tick_begin();
}

/* Maps ticks 0..511 → 0..511; then 256 counts for each doubling: 512, 513 → 512; 514, 515 → 513. */
static inline uint32_t bench_latency_index(uint64_t ticks)
{
    uint32_t doubling;

    if (ticks < BENCH_LATENCY_EXACT) {
        return (uint32_t)ticks;
    }
    doubling = (uint32_t)(63 - __builtin_clzll(ticks)) - BENCH_LATENCY_EXACT_BITS;
    return BENCH_LATENCY_EXACT + doubling * BENCH_LATENCY_PARTS +
           (uint32_t)(ticks >> (doubling + 1)) - BENCH_LATENCY_PARTS;
}

/* Returns the least ticks counted at `index`. */
static inline uint64_t bench_latency_ticks(uint32_t index)
{
    uint32_t doubling;

    if (index < BENCH_LATENCY_EXACT) {
        return index;
    }
    doubling = (index - BENCH_LATENCY_EXACT) / BENCH_LATENCY_PARTS;
    return (uint64_t)(BENCH_LATENCY_PARTS + (index - BENCH_LATENCY_EXACT) % BENCH_LATENCY_PARTS)
           << (doubling + 1);
}

static inline void bench_latency_add(struct bench_latency *latency, uint64_t ticks)
{
    latency->samples++;
    latency->counts[bench_latency_index(ticks)]++;
    if (ticks > latency->longest_ticks) {
        latency->longest_ticks = ticks;
    }
}

/*
 * Also makes every page of the counts present, so that no measured call causes a page fault there.
 */
static inline void bench_latency_clear(struct bench_latency *latency)
{
    memset(latency, 0, sizeof *latency);
}

/* EVENT is an expression that makes one call, compiled in place. */
#define BENCH_LATENCY_LOOP(LATENCY, COUNT, EVENT)                                                  \
    do {                                                                                           \
        for (uint64_t bench_left = (COUNT); bench_left != 0; bench_left--) {                       \
            uint64_t bench_begin = bench_tick_begin();                                             \
                                                                                                   \
            (void)(EVENT);                                                                         \
            bench_latency_add((LATENCY), bench_tick_end() - bench_begin);                          \
        }                                                                                          \
    } while (0)

/* Returns the ticks that a share (0.99) of the calls did not exceed; 0 if there are no calls. */
static inline uint64_t bench_latency_percentile(const struct bench_latency *latency, double share)
{
    uint64_t below = 0;

    for (uint32_t index = 0; index < BENCH_LATENCY_COUNTS; index++) {
        below += latency->counts[index];
        if (below != 0 && (double)below >= share * (double)latency->samples) {
            return bench_latency_ticks(index);
        }
    }
    return 0;
}

static inline double bench_ticks_ns(const struct bench_timer *timer, uint64_t ticks)
{
    return ticks > timer->overhead_ticks
               ? (double)(ticks - timer->overhead_ticks) * timer->ns_per_tick
               : 0;
}

/* Measures the length of a tick and the overhead, in about 30 ms. */
static inline struct bench_timer bench_timer_calibrate(void)
{
    static struct bench_latency empty;
    struct bench_timer timer;
    struct timespec first;
    struct timespec last;
    uint64_t begin_ticks;
    uint64_t ticks;

    (void)clock_gettime(CLOCK_MONOTONIC, &first);
    begin_ticks = bench_tick_begin();
    bench_latency_clear(&empty);
    BENCH_LATENCY_LOOP(&empty, 500000, 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &last);
    ticks = bench_tick_end() - begin_ticks;
    timer.ns_per_tick =
        ((double)(last.tv_sec - first.tv_sec) * 1e9 + (double)(last.tv_nsec - first.tv_nsec)) /
        (double)ticks;
    timer.overhead_ticks = bench_latency_percentile(&empty, 0.5);
    return timer;
}

/*
 * Returns the counter's step: on some machines it advances by many ticks at once, and no figure is
 * finer. It is the greatest number that divides all differences between readings.
 */
static inline double bench_timer_step_ns(const struct bench_timer *timer)
{
    uint64_t first = bench_tick_begin();
    uint64_t step = 0;

    for (uint32_t count = 0; count < 1000; count++) {
        uint64_t left = bench_tick_begin() - first;

        while (left != 0) {
            uint64_t rest = step % left;

            step = left;
            left = rest;
        }
    }
    return (double)step * timer->ns_per_tick;
}

/* Prints ROW/p50, ROW/p90, ROW/p99, ROW/p99.9, ROW/p99.99 and ROW/max, in ns, one value each. */
static inline void bench_latency_print(const struct bench_latency *latency,
                                       const struct bench_timer *timer, const char *row)
{
    static const struct {
        const char *name;
        double share;
    } wanted[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};
    char name[128];

    for (size_t index = 0; index < sizeof wanted / sizeof wanted[0]; index++) {
        (void)snprintf(name, sizeof name, "%s/%s", row, wanted[index].name);
        bench_row_value(
            name, "ns",
            bench_ticks_ns(timer, bench_latency_percentile(latency, wanted[index].share)));
    }
    (void)snprintf(name, sizeof name, "%s/max", row);
    bench_row_value(name, "ns", bench_ticks_ns(timer, latency->longest_ticks));
}

#endif
