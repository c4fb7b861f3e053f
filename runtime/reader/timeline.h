/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clocks of a trace over time: clock snapshots in order, and the conversion of stamps between
 * them and outside of them.
 *
 * Between two clock snapshots times are interpolated. The true time is off by no more than
 *
 *     the larger error of the two clock snapshots
 *     + the interval's gain over the interval before it or over the one behind it, whichever is
 *       larger
 *
 * wherever in the interval it was gained: by a rate that changed, a step, a suspend. How well the
 * gain is known, by the errors of the clock snapshots it is computed from, is added.
 *
 * An interval in which the wall clock moved against the performance counter by more than 1 ms and
 * 1,000 ppm contains a step of the wall clock. An interval in which the cycle counter did so
 * against its rate contains a jump of the counter. The intervals beside such an interval are not
 * compared with it.
 *
 * Outside of the clock snapshots the rate of the last second or more continues. It is known to 1
 * ppm and to the errors of the clock snapshots. If the clock snapshots span less, the calibrated
 * rate with its own bound is used, or that of the system time. The system time continues as the
 * performance counter does, give or take 500 ppm, the most that the kernel slews it by. If the
 * system time stamps, everything that passed outside of the clock snapshots may be a step.
 */
#ifndef ETWAS_READER_TIMELINE_H
#define ETWAS_READER_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <etwas/etwas.h>

#include "etl/clock_convert.h"

enum {
    /* drift of two clocks of one machine where nothing was measured */
    ETWAS_TIMELINE_WANDER_PPB = 1000,
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
    /*
     * Keeps a list below 1 MB, whatever a file holds. At one clock snapshot a second they last for
     * seven hours.
     */
    ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT = 24576,
};
_Static_assert(sizeof(struct etwas_clock_snapshot) == 40, "no padding: compared as a whole");
_Static_assert(sizeof(struct etwas_clock_snapshot) * ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT < 1000000,
               "1 MB");

/*
 * Clock snapshots as they are found, in any order. At the limit every second one is dropped,
 * evenly.
 */
struct etwas_clock_snapshot_list {
    struct etwas_clock_snapshot *snapshots; /* free() */
    size_t count;
    size_t capacity;
    uint64_t found;
    uint64_t stride; /* one in so many of those found is kept */
};

/* Adds a copy. Returns false without memory. */
bool etwas_clock_snapshot_list_add(struct etwas_clock_snapshot_list *list,
                                   const struct etwas_clock_snapshot *snapshot);

/* `ticks` of the session's clock take `nanoseconds`, known to error_ppb. Both are at most 2^63. */
struct etwas_timeline_rate {
    uint64_t ticks;
    uint64_t nanoseconds;
    uint64_t error_ppb; /* UINT64_MAX: not known */
};

/* The conversion without clock snapshots. */
struct etwas_timeline_base {
    uint32_t clock_type; /* ETWAS_ETL_CLOCK_*, or unknown */
    struct etwas_timeline_rate rate;
    int64_t first_raw; /* the stamp at start_filetime */
    int64_t start_filetime;
    int64_t anchor_raw; /* the stamp at anchor_qpc_ns; both 0: not known */
    int64_t anchor_qpc_ns;
};

struct etwas_timeline {
    struct etwas_timeline_base base;
    struct etwas_clock_snapshot *snapshots; /* raw and qpc_ns grow from each to the next */
    size_t count;
    /*
     * They are in the order of qpc_ns. A session with system time also has those here after which
     * the wall clock was set back; else it is the same as `snapshots`.
     */
    struct etwas_clock_snapshot *all;
    size_t all_count;
    uint64_t unusable; /* contradict the others, or are out of range */
    uint64_t found;
    /* of a session with system time: how far apart the times are that one stamp may mean */
    uint64_t spread_ns;
    struct etwas_timeline_rate before; /* before the first clock snapshot */
    struct etwas_timeline_rate after;  /* after the last clock snapshot */
    int64_t start_qpc_ns;              /* the performance counter at base.first_raw */
};

/*
 * Makes a timeline of usable clock snapshots of the list, which stays the caller's. NULL without
 * memory.
 */
struct etwas_timeline *etwas_timeline_new(const struct etwas_timeline_base *base,
                                          const struct etwas_clock_snapshot_list *list);
void etwas_timeline_free(struct etwas_timeline *timeline);

/*
 * Returns whether the clock is the cycle counter and the clock snapshots know its rate better than
 * a calibration does.
 */
bool etwas_timeline_has_rate(const struct etwas_timeline *timeline);

/*
 * Returns ProcessTrace's time in nanoseconds since 1970: start_filetime plus what passed since by
 * the performance counter. A larger stamp never gets a smaller time.
 */
etwas_etl_wide etwas_timeline_ns(const struct etwas_timeline *timeline, int64_t raw);

/*
 * Returns the clock snapshot at or before the stamp, of a session whose clock is not the
 * performance counter; the next one lies behind it. NULL if the stamp is not between two.
 */
const struct etwas_clock_snapshot *etwas_timeline_snapshots_around(
    const struct etwas_timeline *timeline, int64_t raw);

/* Converts a stamp to `clock`, which is ETWAS_CLOCK_QPC or ETWAS_CLOCK_SYSTEM_TIME. */
etwas_clock_time etwas_timeline_convert(const struct etwas_timeline *timeline, int64_t raw,
                                        uint32_t clock);

/*
 * Returns what passed from one stamp to another by the performance counter, < 0 if `to` is the
 * earlier. Its error is mostly less than those of both times, which share most of theirs.
 */
etwas_clock_time etwas_timeline_interval(const struct etwas_timeline *timeline, int64_t from,
                                         int64_t to);

/*
 * Returns the largest error of any time between the first and the last clock snapshot; UINT64_MAX
 * without clock snapshots.
 */
uint64_t etwas_timeline_largest_error_ns(const struct etwas_timeline *timeline, uint32_t clock);

/*
 * Returns how far the wall clock moved against the performance counter from one clock snapshot to
 * another.
 */
etwas_etl_wide etwas_timeline_moved_ns(const struct etwas_clock_snapshot *from,
                                       const struct etwas_clock_snapshot *to);

/* Returns whether that is more than drift: a step of the wall clock, or a suspend. */
bool etwas_timeline_is_step(const struct etwas_clock_snapshot *from,
                            const struct etwas_clock_snapshot *to);

#endif
