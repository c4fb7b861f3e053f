/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How well times between clock snapshots are known; timeline.h explains how. Included only by
 * timeline.c, timeline_build.c, timeline_error.c and timeline_interval.c.
 */
#ifndef ETWAS_READER_TIMELINE_ERROR_H
#define ETWAS_READER_TIMELINE_ERROR_H

#include "reader/timeline.h"

#define ETWAS_TIMELINE_PPB INT64_C(1000000000)
#define ETWAS_TIMELINE_STEP_NS 1000000 /* more than this, */
#define ETWAS_TIMELINE_STEP_PARTS 1000 /* and a thousandth of the interval, is a step */
#define ETWAS_TIMELINE_UNKNOWN UINT64_MAX

static inline etwas_etl_wide etwas_timeline_floor_divide(etwas_etl_wide a, etwas_etl_wide b)
{
    return a / b - (a % b < 0);
}

/* Limits an error to below ETWAS_TIMELINE_UNKNOWN, which means that the error is not known. */
static inline uint64_t etwas_timeline_saturate_error(etwas_etl_wide error_ns)
{
    return error_ns >= (etwas_etl_wide)ETWAS_TIMELINE_UNKNOWN ? ETWAS_TIMELINE_UNKNOWN - 1
                                                              : (uint64_t)error_ns;
}

/*
 * Returns what passes in so many ticks. |ticks| is below 2^64, and the rate's parts are at most
 * 2^63.
 */
static inline etwas_etl_wide etwas_timeline_elapsed_ns(etwas_etl_wide ticks,
                                                       const struct etwas_timeline_rate *rate)
{
    return etwas_timeline_floor_divide(ticks * (etwas_etl_wide)rate->nanoseconds,
                                       (etwas_etl_wide)rate->ticks);
}

/* ---- timeline.c ---- */

bool etwas_timeline_is_between(const struct etwas_timeline *timeline, int64_t raw);

/*
 * Returns the index of the clock snapshot at which the stamp's interval begins. The stamp lies
 * between two clock snapshots.
 */
size_t etwas_timeline_find_interval(const struct etwas_timeline *timeline, int64_t raw);

/* Returns the rate that holds for a stamp outside of the clock snapshots; there is at least one. */
const struct etwas_timeline_rate *etwas_timeline_rate_near(const struct etwas_timeline *timeline,
                                                           int64_t raw);

/* ---- timeline_error.c ---- */

/*
 * What the interval that begins with clock snapshot `at` gained or lost against the intervals
 * beside it.
 */
struct etwas_timeline_gain {
    etwas_etl_wide most_ns; /* upper bound, with the clock snapshots' errors */
    /* number of sides with an interval to compare with; 0: the other members mean nothing */
    uint32_t sides;
    bool is_seen; /* it gained more than these errors explain */
};

struct etwas_timeline_gain etwas_timeline_gain_of(const struct etwas_timeline *timeline, size_t at,
                                                  uint32_t clock);

/*
 * Returns the same where no interval can be compared with it, at a distance of `nearer_ns` from its
 * nearer end. The wall clock may have been slewed by all that it moved.
 */
etwas_etl_wide etwas_timeline_uncompared_gain_ns(const struct etwas_timeline *timeline,
                                                 const struct etwas_clock_snapshot *at,
                                                 etwas_etl_wide nearer_ns, uint32_t clock);

/*
 * Returns how far a clock jumped in the interval that begins with a clock snapshot; 0 if it ran
 * evenly. The wall clock may be set, and a cycle counter may go on while the machine is suspended.
 */
etwas_etl_wide etwas_timeline_jump_ns(const struct etwas_timeline *timeline,
                                      const struct etwas_clock_snapshot *at, uint32_t clock);

/* Returns the error of a time in the interval that begins with clock snapshot `at`. */
uint64_t etwas_timeline_error_between(const struct etwas_timeline *timeline, size_t at,
                                      etwas_etl_wide qpc_ns, uint32_t clock);

#endif
