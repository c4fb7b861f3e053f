/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clocks of a trace over its time: clock snapshots in order, and what a stamp means between and outside
 * of them.
 *
 * Between two clock snapshots times are interpolated. The true time is off by no more than
 *
 *     the larger error of the two clock snapshots
 *     + what the interval gained over the intervals beside it, by either of them
 *
 * wherever in the interval it was gained: by a rate that changed, a step, a suspend. How well the
 * gain is known, by the errors of the clock snapshots it is taken from, is added.
 *
 * An interval in which the wall clock moved against the performance counter by more than 1 ms and
 * 1,000 ppm has a step of the wall clock in it; one in which the cycle counter did so against its
 * rate, a jump of the counter. Intervals beside it do not compare with it.
 *
 * Outside of the clock snapshots the rate of the last second or more goes on, known to 1 ppm and to the
 * errors of the clock snapshots; without that much, the calibrated rate with its own bound, or that of the
 * system time. The system time goes on as the performance counter does, give or take 500 ppm, the
 * most that it is slewed by. Where it stamps itself, all that passed outside of the clock snapshots may be a step.
 */
#ifndef ETWAS_READER_TIMELINE_H
#define ETWAS_READER_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <etwas/etwas.h>

#include "etl/clock_convert.h"

enum {
    ETWAS_TIMELINE_WANDER_PPB = 1000, /* of two clocks of one machine, where nothing tells */
    ETWAS_TIMELINE_SLEW_PPB = 500000, /* the most the kernel slews the wall clock by */
};

struct etwas_clock_snapshot {
    int64_t raw;
    int64_t qpc_ns;
    int64_t filetime;
    int64_t suspended_ns;
    uint32_t qpc_error_ns;
    uint32_t filetime_error_ns;
};

enum {
    /* Less than 1 MB, whatever a file holds. With one a second: seven hours. */
    ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT = 24576,
};
_Static_assert(sizeof(struct etwas_clock_snapshot) == 40, "no padding: compared as a whole");
_Static_assert(sizeof(struct etwas_clock_snapshot) * ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT < 1000000,
               "1 MB");

/* Clock snapshots as they are found, in any order. Beyond the limit every second one is dropped, evenly. */
struct etwas_clock_snapshot_list {
    struct etwas_clock_snapshot *snapshots; /* free() */
    size_t count;
    size_t capacity;
    uint64_t found;
    uint64_t stride; /* only so many'th of those found is kept */
};

/* False without memory. */
bool etwas_clock_snapshot_list_add(struct etwas_clock_snapshot_list *list,
                                   const struct etwas_clock_snapshot *snapshot);

/* `ticks` of the session's clock take `nanoseconds`, known to error_ppb. Both are at most 2^63. */
struct etwas_timeline_rate {
    uint64_t ticks;
    uint64_t nanoseconds;
    uint64_t error_ppb; /* UINT64_MAX: not known */
};

/* What converts without clock snapshots. */
struct etwas_timeline_base {
    uint32_t clock_type; /* ETWAS_ETL_CLOCK_*, or unknown */
    struct etwas_timeline_rate rate;
    int64_t first_raw; /* that was at start_filetime */
    int64_t start_filetime;
    int64_t anchor_raw; /* that was at anchor_qpc_ns; 0 and 0: nobody knows */
    int64_t anchor_qpc_ns;
};

struct etwas_timeline {
    struct etwas_timeline_base base;
    struct etwas_clock_snapshot *snapshots; /* raw and qpc_ns grow from each to the next */
    size_t count;
    /* By qpc_ns; of a session with system time also those after which the wall clock was set back,
     * else the same as `snapshots`. */
    struct etwas_clock_snapshot *all;
    size_t all_count;
    uint64_t unusable; /* contradict the others, or are out of all range */
    uint64_t found;
    uint64_t spread_ns; /* of a session with system time: a stamp may mean times so far apart */
    struct etwas_timeline_rate before; /* the first clock snapshot */
    struct etwas_timeline_rate after;  /* the last clock snapshot */
    int64_t start_qpc_ns;              /* of base.first_raw */
};

/* Sorts and chooses among the list's clock snapshots, which stay its own. NULL without memory. */
struct etwas_timeline *etwas_timeline_new(const struct etwas_timeline_base *base,
                                          const struct etwas_clock_snapshot_list *list);
void etwas_timeline_free(struct etwas_timeline *timeline);

/* Is its clock the cycle counter, and do its clock snapshots tell the rate of that better than a calibration? */
bool etwas_timeline_has_rate(const struct etwas_timeline *timeline);

/*
 * ProcessTrace's time: start_filetime and what passed since by the performance counter. Of two
 * stamps the larger never gets the smaller time.
 */
int64_t etwas_timeline_filetime(const struct etwas_timeline *timeline, int64_t raw);

/* The same moment in nanoseconds since 1970. */
int64_t etwas_timeline_unix_ns(const struct etwas_timeline *timeline, int64_t raw);

/*
 * Of a session whose clock is no performance counter: the clock snapshot before the stamp, or at it; the one behind is the next.
 * NULL: it is not between two.
 */
const struct etwas_clock_snapshot *etwas_timeline_snapshots_around(
    const struct etwas_timeline *timeline, int64_t raw);

/* `clock` is ETWAS_CLOCK_QPC or ETWAS_CLOCK_SYSTEM_TIME. */
etwas_clock_time etwas_timeline_convert(const struct etwas_timeline *timeline, int64_t raw,
                                        uint32_t clock);

/*
 * What passed from one stamp to another by the performance counter, < 0 where `to` is the earlier. Its error is mostly less than
 * those of both times, which share most of theirs.
 */
etwas_clock_time etwas_timeline_interval(const struct etwas_timeline *timeline, int64_t from,
                                         int64_t to);

/* The largest error of any time between the first and the last clock snapshot; UINT64_MAX without clock snapshots. */
uint64_t etwas_timeline_largest_error_ns(const struct etwas_timeline *timeline, uint32_t clock);

/* How far the wall clock moved against the performance counter from one clock snapshot to another. */
etwas_etl_wide etwas_timeline_moved_ns(const struct etwas_clock_snapshot *from,
                                       const struct etwas_clock_snapshot *to);

/* Is that a step, or a suspend? */
bool etwas_timeline_is_step(const struct etwas_clock_snapshot *from,
                            const struct etwas_clock_snapshot *to);

#endif
