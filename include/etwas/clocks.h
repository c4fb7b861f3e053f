/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock laboratory: which clock may be used on this machine, what reading it costs, and how far
 * it can be trusted. `etwas clocks` prints what these functions find. They are in a library of
 * their own, libetwas-clocks (pkg-config etwas-clocks, etwas::clocks for CMake).
 *
 * Unless a declaration says otherwise, functions may be called from any thread, not from a signal
 * handler, and return ERROR_SUCCESS or a code of <etwas/winerror.h>.
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

/* What is examined: the clocks of sessions, and what a C programmer would consider beside them. */
#define ETWAS_CLOCK_SOURCE_QPC 0u          /* as a session reads it */
#define ETWAS_CLOCK_SOURCE_SYSTEM_TIME 1u  /* likewise */
#define ETWAS_CLOCK_SOURCE_TSC 2u          /* likewise: rdtsc; cntvct_el0 on aarch64 */
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
    double mean; /* of the smallest 99 of 100: what was interrupted is left out */
    double p90;
    double p99;
    double p999;
    double maximum;
} etwas_clock_distribution;

/* How many values were in [from, to), in nanoseconds. Bins ascend and do not overlap. */
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
 * The clock of one processor against that of another. Each bound holds: the true offset is within
 * offset_ns ± bound_ns.
 */
typedef struct etwas_clock_offset {
    uint32_t processor; /* system numbers */
    uint32_t other;
    double offset_ns; /* how far `other` is ahead */
    double bound_ns;  /* at most half of the fastest round trip, and a step of the clock, or of the
                         cycle counter beneath it where that is longer */
    uint64_t rounds;
    uint64_t
        handovers;    /* stamps taken after another that happened before, on the other processor */
    uint64_t smaller; /* of these, smaller than that one */
    double worst_ns;  /* by how much at most */
} etwas_clock_offset;

typedef struct etwas_clock_source_report {
    uint32_t source;     /* ETWAS_CLOCK_SOURCE_* */
    const char *name;    /* "QPC", "CLOCK_BOOTTIME", … static text */
    bool available;      /* all else is 0 where it is not, or was not asked for */
    double tick_ns;      /* what a difference of 1 in its value means */
    bool follows_thread; /* counts one thread's time: cannot be compared between processors */

    /*
     * Cost of one reading, the loop's own cost subtracted. The timer counts in steps that may be as
     * long as a cheap reading, and single readings with it; their mean is finer than that.
     */
    etwas_clock_distribution warm_ns;
    etwas_clock_distribution cold_ns; /* its code and data were put out of the caches before */
    etwas_clock_histogram warm;
    double loop_ns;       /* what was subtracted */
    double timer_step_ns; /* single readings were timed in units of it: the quantiles of cheap ones
                               are multiples of it, less loop_ns; their mean says more */
    double back_to_back_ns; /* mean of readings one after the other, without timing each; the median
                               of many rows of them */

    /*
     * Steps between readings one after the other; those backwards are counted below alone. A
     * counter may add a tick to a second reading before it has moved: then the smallest step is
     * that tick, and says nothing of how finely it tells times apart. unit_ns does: what readings
     * in order are multiples of, a tick more or less; where it moves too seldom to tell, the
     * smallest step.
     */
    double resolution_ns; /* the smallest that is not 0; 0: none was seen */
    double unit_ns;       /* what it really moves by at once */
    uint64_t pairs;
    uint64_t equal_pairs;
    etwas_clock_histogram steps;

    /*
     * Over the whole examination, on threads that the kernel moves as it likes; each reading taken
     * when the one before was done.
     */
    uint64_t readings;
    uint64_t backward_steps;
    double largest_backward_ns;
    uint64_t stalls; /* equal for longer than 10 of its steps, resolution_ns or unit_ns if that
                                is larger, while another clock went on */
    double longest_stall_ns; /* by that clock */

    /* Readings one after the other as a session takes them: they may change places. */
    uint64_t unordered_readings;
    uint64_t unordered_backward_steps; /* no fault of the clock if there are none above */
    double largest_unordered_backward_ns;

    etwas_clock_drift against_raw;      /* CLOCK_MONOTONIC_RAW */
    etwas_clock_drift against_realtime; /* CLOCK_REALTIME */

    /*
     * Pairs of the processors examined; with those left out all there are, n * (n - 1) / 2. Left
     * out is a pair whose threads did not get to run in time, or whose processor was taken away:
     * nothing is known of it. Both 0 for a clock that follows a thread.
     */
    uint32_t offset_count;
    uint32_t offsets_left_out;
    etwas_clock_offset *offsets;
} etwas_clock_source_report;

/* How far stamps are off after a time, converted by one of three rates. */
typedef struct etwas_clock_conversion {
    const char *name; /* "exact frequency", "whole MHz", "calibration"; static text */
    double hz;
    double error_ppm;    /* > 0, stamps gain: against the rate measured over all the time */
    double interval_ppm; /* how well that is known, 95 % */
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
    double seconds;      /* that the examination took */
    uint32_t processors; /* that this process may use, and that were examined */
    uint32_t *processor_numbers;
    uint32_t processors_allowed;    /* that this process may use */
    uint32_t processors_configured; /* that the machine may have, also switched off ones */
    uint32_t processors_online;     /* that are switched on, allowed or not */
    bool all_pairs; /* of those allowed are meant to be examined; false: they are more
                                       than the limit, see the options. See offsets_left_out, too */
    etwas_clock_source_report sources[ETWAS_CLOCK_SOURCES];
    etwas_clock_conversion conversions[ETWAS_CLOCK_CONVERSIONS]; /* of the cycle counter */
    uint32_t recommended_clock; /* ETWAS_CLOCK_*: a session's ClientContext */
    char recommendation[1024];  /* why, in sentences */
    char verdict[2048];         /* what the counter is worth and why, in sentences */
} etwas_clock_report;

typedef struct etwas_clock_options {
    double seconds;              /* about how long all may take, 1 to 3,600; 0: 5 */
    uint32_t sources;            /* bit n: source n; 0: all */
    uint32_t maximum_processors; /* pairs are examined among so many at most; 0: 64 */
} etwas_clock_options;

/* etwas_clock_examine with the size of the caller's struct. */
uint32_t etwas_clock_examine_sized(const etwas_clock_options *options, size_t options_bytes,
                                   etwas_clock_report **report)
    ETWAS_API(etwas_clock_examine_sized);

/*
 * Examines the clocks. Runs threads on every processor the caller may use, with their affinity, and
 * takes about options->seconds, longer on a busy machine; NULL: the defaults. Needs up to 64 MiB of
 * memory meanwhile, to put all else out of the caches. The caller's affinity and signals stay as
 * they are, and no handler runs on the threads. The caller frees the report; after an error *report
 * is what it was. Two examinations at once disturb each other's figures, and nothing else.
 *
 * Errors: ERROR_INVALID_PARAMETER for a NULL `report` and options out of range,
 * ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES (no thread, or the system does not say which
 * processors may be used).
 */
static inline uint32_t etwas_clock_examine(const etwas_clock_options *options,
                                           etwas_clock_report **report)
{
    return etwas_clock_examine_sized(options, sizeof *options, report);
}

/* NULL is allowed. */
void etwas_clock_report_free(etwas_clock_report *report) ETWAS_API(etwas_clock_report_free);

#ifdef __cplusplus
}
#endif

#endif
