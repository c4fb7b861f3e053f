/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock laboratory: it finds which clock may be used on this machine, what a reading costs, and
 * how far the clock can be trusted. `etwas clocks` prints the results. The functions are in a
 * library of their own, libetwas-clocks (pkg-config etwas-clocks, etwas::clocks for CMake).
 *
 * Unless a declaration says otherwise, a function may be called from any thread, but not from a
 * signal handler. It returns ERROR_SUCCESS or a code of <etwas/winerror.h>.
 */
#ifndef ETWAS_CLOCKS_H
#define ETWAS_CLOCKS_H

#include <etwas/etwas.h>
#include <etwas/types.h>
#include <etwas/winerror.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The clocks that are examined: those of sessions, and others that a C programmer may consider. */
#define ETWAS_CLOCK_SOURCE_QPC 0u          /* as a session reads it */
#define ETWAS_CLOCK_SOURCE_SYSTEM_TIME 1u  /* as a session reads it */
#define ETWAS_CLOCK_SOURCE_TSC 2u          /* as a session reads it: rdtsc; cntvct_el0 on aarch64 */
#define ETWAS_CLOCK_SOURCE_RDTSCP 3u       /* x86-64 */
#define ETWAS_CLOCK_SOURCE_LFENCE_RDTSC 4u /* x86-64; isb and cntvct_el0 on aarch64 */
#define ETWAS_CLOCK_SOURCE_MONOTONIC 5u
#define ETWAS_CLOCK_SOURCE_MONOTONIC_RAW 6u
#define ETWAS_CLOCK_SOURCE_MONOTONIC_COARSE 7u
#define ETWAS_CLOCK_SOURCE_REALTIME 8u
#define ETWAS_CLOCK_SOURCE_REALTIME_COARSE 9u
#define ETWAS_CLOCK_SOURCE_BOOTTIME 10u
#define ETWAS_CLOCK_SOURCE_TAI 11u
#define ETWAS_CLOCK_SOURCE_THREAD_CPUTIME 12u
#define ETWAS_CLOCK_SOURCES 13u

/* Durations in nanoseconds; all 0 where count is 0. */
typedef struct etwas_clock_distribution {
    uint64_t count;
    double minimum;
    double median;
    double mean; /* of the smallest 99 of 100, without interrupted readings */
    double p90;
    double p99;
    double p999;
    double maximum;
} etwas_clock_distribution;

/* The number of values in [from, to), in nanoseconds. Bins ascend and do not overlap. */
typedef struct etwas_clock_bin {
    double from;
    double to;
    uint64_t count;
} etwas_clock_bin;

#define ETWAS_CLOCK_BINS 64u

typedef struct etwas_clock_histogram {
    uint32_t bins; /* in use */
    etwas_clock_bin bin[ETWAS_CLOCK_BINS];
} etwas_clock_histogram;

/*
 * The offset between the clocks of two processors. Each bound holds: the true offset is within
 * offset_ns ± bound_ns.
 */
typedef struct etwas_clock_offset {
    uint32_t processor; /* system numbers */
    uint32_t other;
    double offset_ns; /* how far `other` is ahead */
    /*
     * At most half of the fastest round trip, plus a step of the clock, or of the underlying cycle
     * counter if that is longer.
     */
    double bound_ns;
    uint64_t rounds;
    uint64_t handovers; /* stamps taken after an earlier one on the other processor */
    uint64_t smaller;   /* of these, smaller than the earlier stamp */
    double worst_ns;    /* the largest difference of these */
} etwas_clock_offset;

typedef struct etwas_clock_source_report {
    uint32_t source;     /* ETWAS_CLOCK_SOURCE_* */
    const char *name;    /* "QPC", "CLOCK_BOOTTIME", … static text */
    bool available;      /* if false, or if not requested, all else is 0 */
    double tick_ns;      /* the meaning of a difference of 1 in its value */
    bool follows_thread; /* counts one thread's time: not comparable between processors */

    /*
     * The cost of one reading, without that of the loop. The timer counts in steps that may be as
     * long as a cheap reading, and so do single readings; their mean is more precise.
     */
    etwas_clock_distribution warm_ns;
    etwas_clock_distribution cold_ns; /* with its code and data flushed from the caches */
    etwas_clock_histogram warm;
    double loop_ns; /* the cost of the loop, which was subtracted */
    /*
     * The unit of the timer for single readings. The quantiles of cheap readings are multiples of
     * it, less loop_ns; their mean is more precise.
     */
    double timer_step_ns;
    /* The mean of consecutive readings without timing each; the median of many rows of them. */
    double back_to_back_ns;

    /*
     * Steps between consecutive readings. Backward steps are counted below alone. A counter may add
     * a tick to a second reading before it has moved. Then the smallest step is that tick, and does
     * not show how finely the counter distinguishes times. unit_ns does: consecutive readings are
     * multiples of it, give or take a tick. If the counter moves too seldom for that, unit_ns is
     * the smallest step.
     */
    double resolution_ns; /* the smallest one above 0; 0: none was seen */
    double unit_ns;       /* the real step of the counter */
    uint64_t pairs;
    uint64_t equal_pairs;
    etwas_clock_histogram steps;

    /*
     * Counts over the whole examination, on threads that the kernel moves as it likes. Each reading
     * was taken when the previous one was complete.
     */
    uint64_t readings;
    uint64_t backward_steps;
    double largest_backward_ns;
    /*
     * Readings that were equal for longer than 10 steps (resolution_ns, or unit_ns if larger) while
     * another clock advanced.
     */
    uint64_t stalls;
    double longest_stall_ns; /* by that clock */

    /* Consecutive readings as a session takes them; their order may change. */
    uint64_t unordered_readings;
    uint64_t unordered_backward_steps; /* no fault of the clock if there are none above */
    double largest_unordered_backward_ns;

    etwas_clock_drift against_raw;      /* CLOCK_MONOTONIC_RAW */
    etwas_clock_drift against_realtime; /* CLOCK_REALTIME */

    /*
     * The pairs of processors that were examined. Together with those left out these are all pairs,
     * n * (n - 1) / 2. A pair is left out if its threads did not run in time, or if one of its
     * processors was taken away; nothing is known of it. Both counts are 0 for a clock that follows
     * a thread.
     */
    uint32_t offset_count;
    uint32_t offsets_left_out;
    etwas_clock_offset *offsets;
} etwas_clock_source_report;

/* The error of stamps after some time, if they are converted by one of three rates. */
typedef struct etwas_clock_conversion {
    const char *name; /* "exact frequency", "whole MHz", "calibration"; static text */
    double hz;
    double error_ppm;    /* against the rate over the whole time; > 0: stamps gain */
    double interval_ppm; /* precision of that, 95 % */
    double after_second_ns;
    double after_minute_ns;
    double after_hour_ns;
    double after_day_ns; /* 25 hours */
} etwas_clock_conversion;

enum {
    ETWAS_CLOCK_CONVERSIONS = 3
};

typedef struct etwas_clock_report {
    etwas_clock_trust trust;
    double seconds;      /* duration of the examination */
    uint32_t processors; /* examined, among those that this process may use */
    uint32_t *processor_numbers;
    uint32_t processors_allowed;    /* that this process may use */
    uint32_t processors_configured; /* that the machine may have, also switched-off ones */
    uint32_t processors_online;     /* that are switched on, allowed or not */
    /*
     * All pairs of the allowed processors were to be examined. false: they exceed the limit of the
     * options. See also offsets_left_out.
     */
    bool all_pairs;
    etwas_clock_source_report sources[ETWAS_CLOCK_SOURCES];
    etwas_clock_conversion conversions[ETWAS_CLOCK_CONVERSIONS]; /* of the cycle counter */
    uint32_t recommended_clock; /* ETWAS_CLOCK_*: a session's ClientContext */
    char recommendation[1024];  /* the reason, in sentences */
    char verdict[2048];         /* the verdict on the counter and its reasons, in sentences */
} etwas_clock_report;

typedef struct etwas_clock_options {
    double seconds;              /* approximate duration, 1 to 3,600; 0: 5 */
    uint32_t sources;            /* bit n: source n; 0: all */
    uint32_t maximum_processors; /* limit of the processors with examined pairs; 0: 64 */
} etwas_clock_options;

/* etwas_clock_examine with the size of the caller's struct. */
uint32_t etwas_clock_examine_sized(const etwas_clock_options *options, size_t options_bytes,
                                   etwas_clock_report **report)
    ETWAS_API(etwas_clock_examine_sized);

/*
 * Examines the clocks. The call runs threads on every processor that the caller may use, with their
 * affinity. It takes about options->seconds, or longer on a busy machine. `options` NULL means the
 * defaults. Meanwhile it needs up to 64 MiB of memory to flush the caches. The caller's affinity
 * and signals do not change, and no handler runs on the threads. The caller frees the report with
 * etwas_clock_report_free; after an error *report is unchanged. Two simultaneous examinations
 * disturb each other's figures, and nothing else.
 *
 * ERROR_INVALID_PARAMETER: `report` is NULL, or options are out of range.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_NO_SYSTEM_RESOURCES: no thread can be created, or the system does not say which processors
 *   may be used.
 */
static inline uint32_t etwas_clock_examine(const etwas_clock_options *options,
                                           etwas_clock_report **report)
{
    return etwas_clock_examine_sized(options, sizeof *options, report);
}

/* Frees a report. NULL is allowed. */
void etwas_clock_report_free(etwas_clock_report *report) ETWAS_API(etwas_clock_report_free);

#ifdef __cplusplus
}
#endif

#endif
