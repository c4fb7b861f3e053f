/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Threads read all sources in turn for a while. There is one thread more than they have processors,
 * so that the kernel moves them. Each compares with its own last reading. The first thread of a run
 * continues from the last reading of the previous run's first, so a source that was set back
 * between two runs is seen once.
 *
 * On a machine with many processors, moves among four are enough.
 */
#include "clock/lab/monotonicity.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "clock/lab/lab.h"

/* ---- one thread and one source --------------------------------------------------------------- */

static uint64_t watch_larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static void watch_add_equal(struct etwas_lab_monotonicity_watch *watch, int64_t before,
                            uint64_t limit)
{
    uint64_t stood = (uint64_t)before - (uint64_t)watch->since;

    /* A reference that itself ran backwards cannot be used. */
    if (before <= watch->since || stood <= limit) {
        return;
    }
    if (!watch->stalled) {
        watch->stalled = true;
        watch->stalls++;
    }
    watch->longest_stall = watch_larger(watch->longest_stall, stood);
}

void etwas_lab_monotonicity_watch_add_reading(struct etwas_lab_monotonicity_watch *watch,
                                              int64_t before, int64_t stamp, int64_t after,
                                              uint64_t limit)
{
    watch->readings++;
    if (watch->begun && stamp == watch->last) {
        watch_add_equal(watch, before, limit);
        return;
    }
    if (watch->begun && stamp < watch->last) {
        watch->backward++;
        watch->largest_backward =
            watch_larger(watch->largest_backward, (uint64_t)watch->last - (uint64_t)stamp);
    }
    watch->begun = true;
    watch->stalled = false;
    watch->last = stamp;
    watch->since = after;
}

void etwas_lab_monotonicity_watch_merge(struct etwas_lab_monotonicity_watch *to,
                                        const struct etwas_lab_monotonicity_watch *from)
{
    to->readings += from->readings;
    to->backward += from->backward;
    to->largest_backward = watch_larger(to->largest_backward, from->largest_backward);
    to->stalls += from->stalls;
    to->longest_stall = watch_larger(to->longest_stall, from->longest_stall);
}

/* ---- all threads and sources ----------------------------------------------------------------- */

enum {
    MOST_THREADS = 5,
    LOOK_EVERY = 64, /* readings between two checks of the time */
    STALL_STEPS = 10,
};

struct watcher {
    struct etwas_lab_monotonicity_watch watches[ETWAS_CLOCK_SOURCES];
    const struct etwas_lab_monotonicity *monotonicity;
    pthread_t thread;
};

struct etwas_lab_monotonicity {
    uint32_t sources;
    uint32_t threads;
    uint64_t slice_ns;
    uint64_t limits[ETWAS_CLOCK_SOURCES]; /* in ticks of the source's reference */
    struct etwas_lab_monotonicity_watch totals[ETWAS_CLOCK_SOURCES];
    struct watcher watchers[MOST_THREADS];
};

static bool source_is_counter(uint32_t source)
{
    return source == ETWAS_CLOCK_SOURCE_TSC || source == ETWAS_CLOCK_SOURCE_RDTSCP ||
           source == ETWAS_CLOCK_SOURCE_LFENCE_RDTSC;
}

/*
 * Returns the reference: the counter and the kernel's raw clock watch each other, and the counter
 * watches all others.
 */
static const struct etwas_lab_source *source_reference(uint32_t source)
{
    const struct etwas_lab_source *counter = etwas_lab_source(ETWAS_CLOCK_SOURCE_TSC);

    return source_is_counter(source) || !counter->available
               ? etwas_lab_source(ETWAS_CLOCK_SOURCE_MONOTONIC_RAW)
               : counter;
}

static int64_t read_in_order(int64_t (*read)(void))
{
    int64_t stamp = read();

    etwas_lab_fence();
    return stamp;
}

static void monotonicity_watch_source(struct etwas_lab_monotonicity_watch *watch, uint32_t source,
                                      uint64_t slice_ns, uint64_t limit)
{
    int64_t (*read)(void) = etwas_lab_source(source)->read;
    int64_t (*reference)(void) = source_reference(source)->read;
    uint64_t end_ns = etwas_lab_now_ns() + slice_ns;

    etwas_lab_fence();
    do {
        int64_t before = read_in_order(reference);

        for (uint32_t reading = 0; reading < LOOK_EVERY; reading++) {
            int64_t stamp = read_in_order(read);
            int64_t after = read_in_order(reference);

            etwas_lab_monotonicity_watch_add_reading(watch, before, stamp, after, limit);
            before = after;
        }
    } while (etwas_lab_now_ns() < end_ns);
}

static void *monotonicity_thread(void *argument)
{
    struct watcher *watcher = argument;
    const struct etwas_lab_monotonicity *monotonicity = watcher->monotonicity;

    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        if ((monotonicity->sources >> source & 1) != 0) {
            monotonicity_watch_source(&watcher->watches[source], source, monotonicity->slice_ns,
                                      monotonicity->limits[source]);
            (void)sched_yield();
        }
    }
    return NULL;
}

/*
 * Keeps the last stamps of the first watcher for sources that continue in another thread; resets
 * the others.
 */
static void monotonicity_restart_watch(struct etwas_lab_monotonicity *monotonicity, uint32_t index)
{
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        struct etwas_lab_monotonicity_watch *watch = &monotonicity->watchers[index].watches[source];
        struct etwas_lab_monotonicity_watch next = {0};

        if (index == 0 && !etwas_lab_source(source)->follows_thread) {
            next.begun = watch->begun;
            next.stalled = watch->stalled;
            next.last = watch->last;
            next.since = watch->since;
        }
        *watch = next;
    }
}

static void monotonicity_sum(struct etwas_lab_monotonicity *monotonicity, uint32_t index)
{
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        etwas_lab_monotonicity_watch_merge(&monotonicity->totals[source],
                                           &monotonicity->watchers[index].watches[source]);
    }
}

struct etwas_lab_monotonicity *etwas_lab_monotonicity_begin(uint32_t sources,
                                                            const struct etwas_lab_cpus *cpus)
{
    struct etwas_lab_monotonicity *monotonicity = calloc(1, sizeof *monotonicity);

    if (monotonicity == NULL) {
        return NULL;
    }
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        if ((sources >> source & 1) != 0 && etwas_lab_source(source)->available) {
            monotonicity->sources |= 1u << source;
        }
    }
    monotonicity->threads = cpus->count < MOST_THREADS ? cpus->count + 1 : MOST_THREADS;
    for (uint32_t index = 0; index < MOST_THREADS; index++) {
        monotonicity->watchers[index].monotonicity = monotonicity;
    }
    return monotonicity;
}

/* Sets the limits of stalls. A source whose steps are not known yet cannot stall. */
static void monotonicity_set_limits(struct etwas_lab_monotonicity *monotonicity,
                                    const etwas_clock_report *report)
{
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        double limit_ns = STALL_STEPS * etwas_lab_step_ns(&report->sources[source]);
        double tick_ns = source_reference(source)->tick_ns;

        monotonicity->limits[source] =
            limit_ns > 0 && tick_ns > 0 ? (uint64_t)(limit_ns / tick_ns) : UINT64_MAX;
    }
}

uint32_t etwas_lab_monotonicity_run(struct etwas_lab_monotonicity *monotonicity, uint64_t budget_ns,
                                    const etwas_clock_report *report)
{
    uint32_t count = (uint32_t)__builtin_popcount(monotonicity->sources);
    uint32_t started = 0;

    if (count == 0) {
        return ERROR_SUCCESS;
    }
    monotonicity_set_limits(monotonicity, report);
    monotonicity->slice_ns = budget_ns / count;
    while (started < monotonicity->threads) {
        struct watcher *watcher = &monotonicity->watchers[started];

        monotonicity_restart_watch(monotonicity, started);
        if (pthread_create(&watcher->thread, NULL, monotonicity_thread, watcher) != 0) {
            break;
        }
        started++;
    }
    for (uint32_t index = 0; index < started; index++) {
        (void)pthread_join(monotonicity->watchers[index].thread, NULL);
        monotonicity_sum(monotonicity, index);
    }
    return started == monotonicity->threads ? ERROR_SUCCESS : ERROR_NO_SYSTEM_RESOURCES;
}

void etwas_lab_monotonicity_end(struct etwas_lab_monotonicity *monotonicity,
                                etwas_clock_report *report)
{
    for (uint32_t source = 0; source < ETWAS_CLOCK_SOURCES; source++) {
        const struct etwas_lab_monotonicity_watch *total = &monotonicity->totals[source];
        etwas_clock_source_report *to = &report->sources[source];
        double backward_ns = (double)total->largest_backward * etwas_lab_source(source)->tick_ns;

        to->readings += total->readings;
        to->backward_steps += total->backward;
        if (backward_ns > to->largest_backward_ns) {
            to->largest_backward_ns = backward_ns;
        }
        to->stalls += total->stalls;
        to->longest_stall_ns = (double)total->longest_stall * source_reference(source)->tick_ns;
    }
    free(monotonicity);
}
