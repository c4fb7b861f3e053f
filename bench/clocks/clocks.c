/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_clocks: what reading each clock costs. It is measured here by other code, to compare
 * with the figures of etwas_clock_examine (<etwas/clocks.h>).
 *
 *     clocks/back_to_back/SOURCE   readings in a loop, timed together; the loop is in the figure,
 *                                  and clocks/back_to_back/nothing is what it takes by itself
 *     clocks/single/SOURCE         readings one by one, each between two fenced readings of the
 *                                  cycle counter, less what an empty pair reads. Nothing overlaps,
 *                                  so it is more than the reading's share of a loop
 *     clocks/cold/SOURCE           a reading after other data and other code have passed through
 *                                  the caches
 *
 * The counter `laboratory` beside each time is the examination's figure for the same: its
 * back_to_back_ns, the mean of its warm_ns or the median of its cold_ns. The same process makes the
 * examination once, before the rows. Takes Google Benchmark's options; report.py runs it.
 */
#include <etwas/clocks.h>
#include <stdio.h>
#include <stdlib.h>

#include "clocks/cold.h"
#include "latency.h"
#include "machine.h"
#include "readings.h"
#include "rows.h"
#include "session.h"
#include "shim/bench.h"

enum {
    LABORATORY_SECONDS = 3, /* enough for some cold readings of each source */
    TRIM_ONE_IN = 20,       /* the slowest single readings, which were interrupted */
    COLD_READINGS = 8,
    ATTEMPTS = 16, /* for a batch that nothing interrupts */
};

enum way {
    BACK_TO_BACK,
    SINGLE,
    COLD
};

static struct bench_timer timer;
static const etwas_clock_report *report;

static void give_laboratory(struct bench_state *state, uint32_t source, enum way way)
{
    const etwas_clock_source_report *found = &report->sources[source];

    if (found->available) {
        bench_counter(state, "laboratory",
                      way == BACK_TO_BACK ? found->back_to_back_ns
                      : way == SINGLE     ? found->warm_ns.mean
                                          : found->cold_ns.median);
    }
}

/*
 * Runs LOOP, which takes about 100 µs, and reports its time. Runs it again if the thread lost the
 * processor meanwhile: milliseconds would then be divided among a few thousand readings.
 */
#define TIME_ALONE(STATE, LOOP)                                                                    \
    for (uint32_t attempt = 1;; attempt++) {                                                       \
        struct bench_thread_counts counts = bench_thread_counts();                                 \
        uint64_t start_ns = bench_now_ns();                                                        \
        uint64_t took_ns;                                                                          \
                                                                                                   \
        LOOP;                                                                                      \
        took_ns = bench_now_ns() - start_ns;                                                       \
        if (attempt == ATTEMPTS || bench_thread_counts().preemptions == counts.preemptions) {      \
            bench_batch_took((STATE), took_ns);                                                    \
            break;                                                                                 \
        }                                                                                          \
    }

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/*
 * Returns the mean of all but the slowest. The median does not work: a counter that advances by
 * many ticks at once shows only multiples of its step, and only the mean lies between them.
 */
static double typical(uint64_t *ticks)
{
    const uint32_t kept = BENCH_BATCH - BENCH_BATCH / TRIM_ONE_IN;
    uint64_t sum = 0;

    qsort(ticks, BENCH_BATCH, sizeof ticks[0], ascending);
    for (uint32_t index = 0; index < kept; index++) {
        sum += ticks[index];
    }
    return (double)sum / kept;
}

static void end_singles(struct bench_state *state, uint64_t *with, uint64_t *without)
{
    double ticks = typical(with) - typical(without);

    bench_batch_took(state, ticks > 0 ? (uint64_t)(ticks * timer.ns_per_tick * BENCH_BATCH) : 0);
}

/* Measures the values of a cold row: each is the median of some readings. */
static void time_cold(struct bench_state *state, bench_reading *read)
{
    while (bench_next_batch(state, COLD_READINGS)) {
        uint64_t ticks[COLD_READINGS];

        for (uint32_t count = 0; count < COLD_READINGS; count++) {
            ticks[count] = bench_cold_ticks(read);
        }
        qsort(ticks, COLD_READINGS, sizeof ticks[0], ascending);
        bench_batch_took(state, (uint64_t)((double)ticks[COLD_READINGS / 2] * timer.ns_per_tick *
                                           COLD_READINGS));
    }
}

/*
 * The bodies of one source, generated by a macro so that the reading is inline. Empty pairs
 * alternate with the others, so that both see the same machine. The function that is called cold
 * has cache lines of its own.
 */
#define BODIES(SOURCE, NUMBER)                                                                     \
    static void back_to_back_##SOURCE(struct bench_state *state, const void *reason)               \
    {                                                                                              \
        if (reason != NULL) {                                                                      \
            bench_fail(state, reason);                                                             \
        }                                                                                          \
        while (bench_next_batch(state, BENCH_BATCH)) {                                             \
            TIME_ALONE(                                                                            \
                state, for (uint32_t count = 0; count < BENCH_BATCH;                               \
                            count++) { bench_keep_value((uint64_t)bench_read_##SOURCE()); })       \
        }                                                                                          \
        give_laboratory(state, NUMBER, BACK_TO_BACK);                                              \
    }                                                                                              \
                                                                                                   \
    static void single_##SOURCE(struct bench_state *state, const void *reason)                     \
    {                                                                                              \
        static uint64_t with[BENCH_BATCH];                                                         \
        static uint64_t without[BENCH_BATCH];                                                      \
                                                                                                   \
        if (reason != NULL) {                                                                      \
            bench_fail(state, reason);                                                             \
        }                                                                                          \
        while (bench_next_batch(state, BENCH_BATCH)) {                                             \
            for (uint32_t count = 0; count < BENCH_BATCH; count++) {                               \
                uint64_t begin = bench_tick_begin();                                               \
                                                                                                   \
                bench_keep_value((uint64_t)bench_read_##SOURCE());                                 \
                with[count] = bench_tick_end() - begin;                                            \
                begin = bench_tick_begin();                                                        \
                without[count] = bench_tick_end() - begin;                                         \
            }                                                                                      \
            end_singles(state, with, without);                                                     \
        }                                                                                          \
        give_laboratory(state, NUMBER, SINGLE);                                                    \
    }                                                                                              \
                                                                                                   \
    static __attribute__((noinline, aligned(64))) int64_t call_##SOURCE(void)                      \
    {                                                                                              \
        return bench_read_##SOURCE();                                                              \
    }                                                                                              \
                                                                                                   \
    static void cold_##SOURCE(struct bench_state *state, const void *reason)                       \
    {                                                                                              \
        if (reason != NULL) {                                                                      \
            bench_fail(state, reason);                                                             \
        }                                                                                          \
        time_cold(state, call_##SOURCE);                                                           \
        give_laboratory(state, NUMBER, COLD);                                                      \
    }

/* The name of a source, its number in <etwas/clocks.h>, and whether this machine has it. */
#define SOURCES(SOURCE)                                                                            \
    SOURCE(qpc, ETWAS_CLOCK_SOURCE_QPC, has_clock(CLOCK_MONOTONIC_RAW))                            \
    SOURCE(system, ETWAS_CLOCK_SOURCE_SYSTEM_TIME, has_clock(CLOCK_REALTIME))                      \
    SOURCE(tsc, ETWAS_CLOCK_SOURCE_TSC, true)                                                      \
    SOURCE(rdtscp, ETWAS_CLOCK_SOURCE_RDTSCP, bench_has_rdtscp())                                  \
    SOURCE(lfence_rdtsc, ETWAS_CLOCK_SOURCE_LFENCE_RDTSC, true)                                    \
    SOURCE(monotonic, ETWAS_CLOCK_SOURCE_MONOTONIC, has_clock(CLOCK_MONOTONIC))                    \
    SOURCE(monotonic_raw, ETWAS_CLOCK_SOURCE_MONOTONIC_RAW, has_clock(CLOCK_MONOTONIC_RAW))        \
    SOURCE(monotonic_coarse, ETWAS_CLOCK_SOURCE_MONOTONIC_COARSE,                                  \
           has_clock(CLOCK_MONOTONIC_COARSE))                                                      \
    SOURCE(realtime, ETWAS_CLOCK_SOURCE_REALTIME, has_clock(CLOCK_REALTIME))                       \
    SOURCE(realtime_coarse, ETWAS_CLOCK_SOURCE_REALTIME_COARSE, has_clock(CLOCK_REALTIME_COARSE))  \
    SOURCE(boottime, ETWAS_CLOCK_SOURCE_BOOTTIME, has_clock(CLOCK_BOOTTIME))                       \
    SOURCE(tai, ETWAS_CLOCK_SOURCE_TAI, has_clock(CLOCK_TAI))                                      \
    SOURCE(thread_cputime, ETWAS_CLOCK_SOURCE_THREAD_CPUTIME, has_clock(CLOCK_THREAD_CPUTIME_ID))

#define SOURCE_BODIES(SOURCE, NUMBER, AVAILABLE) BODIES(SOURCE, NUMBER)

/* clang-format off */
SOURCES(SOURCE_BODIES)
/* clang-format on */

static void nothing(struct bench_state *state, const void *unused)
{
    (void)unused;
    while (bench_next_batch(state, BENCH_BATCH)) {
        TIME_ALONE(
            state,
            for (uint32_t count = 0; count < BENCH_BATCH; count++) { bench_keep_value(count); })
    }
}

static bool has_clock(clockid_t clock)
{
    struct timespec now;

    return clock_gettime(clock, &now) == 0;
}

static void register_rows(void)
{
    static const char missing[] = BENCH_SKIPPED "this machine does not have that clock";

#define SOURCE_ROWS(SOURCE, NUMBER, AVAILABLE)                                                     \
    bench_register("clocks/back_to_back/" #SOURCE, back_to_back_##SOURCE,                          \
                   (AVAILABLE) ? NULL : missing);                                                  \
    bench_register("clocks/single/" #SOURCE, single_##SOURCE, (AVAILABLE) ? NULL : missing);       \
    bench_register_few("clocks/cold/" #SOURCE, cold_##SOURCE, (AVAILABLE) ? NULL : missing,        \
                       COLD_READINGS);

    bench_register("clocks/back_to_back/nothing", nothing, NULL);
    SOURCES(SOURCE_ROWS)
#undef SOURCE_ROWS
}

int main(int argc, char **argv)
{
    const etwas_clock_options options = {.seconds = LABORATORY_SECONDS};
    etwas_clock_report *made;
    uint32_t code;
    int status;

    bench_pin_last();
    timer = bench_timer_calibrate();
    code = etwas_clock_examine(&options, &made);
    if (code != ERROR_SUCCESS) {
        (void)fprintf(stderr, "%s: the laboratory returned %u\n", argv[0], code);
        return 1;
    }
    report = made;
    register_rows();
    status = bench_run(argc, argv);
    etwas_clock_report_free(made);
    return status;
}
