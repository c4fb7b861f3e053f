/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * The error of what passed from one stamp to another. If both lie between the same two clock
 * snapshots, the errors of these are in both times and cancel, except for their part in the rate.
 */
#include "reader/timeline_error.h"

enum {
    /* For more pieces than this, the errors of both times are an equally good bound. */
    MOST_PIECES = 4,
};

/* Decades. Products with a difference of stamps fit in 127 bits. */
#define LARGEST_GAIN_NS (INT64_C(1) << 60)

typedef etwas_etl_wide wide;

/*
 * Returns how far the session's clock may drift from its neighbours' rate in `ns` where nothing was
 * measured.
 */
static wide interval_wander_ns(const struct etwas_timeline *timeline, wide ns)
{
    return ns *
               (timeline->base.clock_type == ETWAS_ETL_CLOCK_SYSTEM ? ETWAS_TIMELINE_SLEW_PPB
                                                                    : ETWAS_TIMELINE_WANDER_PPB) /
               ETWAS_TIMELINE_PPB +
           1;
}

/*
 * Returns the error of a piece of the interval that begins with clock snapshot `at`. Its rate is
 * wrong by the errors of the two clock snapshots. If the rate changed between them, it is also
 * wrong by up to twice what the interval gained over the one beside it, by the better of both
 * sides: half of the interval lies on one side of the change. A jump counts with all that
 * was gained, wherever it was. A jump smaller than the errors of the clock snapshots is ignored.
 */
static wide interval_piece_between_ns(const struct etwas_timeline *timeline, size_t at,
                                      int64_t from, int64_t to)
{
    const struct etwas_clock_snapshot *snapshots = &timeline->snapshots[at];
    wide ticks = (wide)snapshots[1].raw - snapshots[0].raw;
    wide part = (wide)to - from;
    wide part_ns = ((wide)snapshots[1].qpc_ns - snapshots[0].qpc_ns) * part / ticks;
    wide errors_ns = (wide)snapshots[0].qpc_error_ns + snapshots[1].qpc_error_ns;
    struct etwas_timeline_gain gain = etwas_timeline_gain_of(timeline, at, ETWAS_CLOCK_QPC);
    wide jump_ns = gain.most_ns + errors_ns * part / ticks + 1;
    wide steady_ns;

    if (gain.most_ns > LARGEST_GAIN_NS) {
        return jump_ns;
    }
    steady_ns = (errors_ns + 2 * gain.most_ns) * part / ticks + 1;
    if (gain.sides == 0) {
        gain.is_seen = etwas_timeline_jump_ns(timeline, snapshots, ETWAS_CLOCK_QPC) != 0;
        jump_ns += etwas_timeline_uncompared_gain_ns(timeline, snapshots, part_ns, ETWAS_CLOCK_QPC);
    }
    steady_ns += gain.sides < 2 ? interval_wander_ns(timeline, part_ns) : 0;
    return gain.is_seen || (gain.sides != 0 && jump_ns < steady_ns) ? jump_ns : steady_ns;
}

/*
 * Returns the error of a piece outside of the clock snapshots, or without any, by the error of the
 * rate. -1: it is not known. If the wall clock may have been set there, all of the piece may be a
 * step that no clock snapshot shows.
 */
static wide interval_piece_outside_ns(const struct etwas_timeline_rate *rate, bool is_set,
                                      int64_t from, int64_t to)
{
    wide ns = etwas_etl_saturate(etwas_timeline_elapsed_ns((wide)to - from, rate));

    if (rate->error_ppb == ETWAS_TIMELINE_UNKNOWN) {
        return -1;
    }
    if (is_set) {
        return ns + 2;
    }
    return ns * (wide)rate->error_ppb / ETWAS_TIMELINE_PPB + 2;
}

/* Returns the error of the piece that begins with a stamp; *end receives where it ends. */
static wide interval_piece_ns(const struct etwas_timeline *timeline, int64_t from, int64_t *end)
{
    const struct etwas_clock_snapshot *snapshots = timeline->snapshots;
    bool is_set = timeline->base.clock_type == ETWAS_ETL_CLOCK_SYSTEM;
    size_t at;

    if (timeline->count == 0) {
        return interval_piece_outside_ns(&timeline->base.rate, is_set, from, *end);
    }
    if (!etwas_timeline_is_between(timeline, from)) {
        if (snapshots[0].raw > from && snapshots[0].raw < *end) {
            *end = snapshots[0].raw;
        }
        return interval_piece_outside_ns(etwas_timeline_rate_near(timeline, from), is_set, from,
                                         *end);
    }
    at = etwas_timeline_find_interval(timeline, from);
    *end = *end < snapshots[at + 1].raw ? *end : snapshots[at + 1].raw;
    return interval_piece_between_ns(timeline, at, from, *end);
}

/* Returns the sum of the errors of all pieces; -1: not known. */
static wide interval_pieces_ns(const struct etwas_timeline *timeline, int64_t from, int64_t to)
{
    wide error_ns = 1; /* both times are rounded */

    for (int i = 0; i < MOST_PIECES && from < to; i++) {
        int64_t end = to;
        wide piece = interval_piece_ns(timeline, from, &end);

        if (piece < 0) {
            return -1;
        }
        error_ns += piece;
        from = end;
    }
    return from < to ? -1 : error_ns;
}

/* Returns the sum of the errors of both times. */
static uint64_t interval_ends_ns(const struct etwas_timeline *timeline, int64_t from, int64_t to)
{
    uint64_t first = etwas_timeline_convert(timeline, from, ETWAS_CLOCK_QPC).error_ns;
    uint64_t second = etwas_timeline_convert(timeline, to, ETWAS_CLOCK_QPC).error_ns;

    if (first == ETWAS_TIMELINE_UNKNOWN || second == ETWAS_TIMELINE_UNKNOWN) {
        return ETWAS_TIMELINE_UNKNOWN;
    }
    return etwas_timeline_saturate_error((wide)first + second);
}

etwas_clock_time etwas_timeline_interval(const struct etwas_timeline *timeline, int64_t from,
                                         int64_t to)
{
    int64_t first = from < to ? from : to;
    int64_t last = from < to ? to : from;
    wide passed = (wide)etwas_timeline_convert(timeline, to, ETWAS_CLOCK_QPC).value -
                  etwas_timeline_convert(timeline, from, ETWAS_CLOCK_QPC).value;
    etwas_clock_time interval = {etwas_etl_saturate(passed),
                                 interval_ends_ns(timeline, first, last)};
    wide pieces = -1;

    /* If the wall clock was set back, a stamp is no better known than by its own error. */
    if (timeline->spread_ns == 0 && interval.error_ns != 0) {
        pieces = interval_pieces_ns(timeline, first, last);
    }
    if (pieces >= 0 && (uint64_t)etwas_timeline_saturate_error(pieces) < interval.error_ns) {
        interval.error_ns = etwas_timeline_saturate_error(pieces);
    }
    return interval;
}
