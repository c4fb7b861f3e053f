/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * How well times between clock snapshots are known, by their errors and by the neighbouring
 * intervals.
 */
#include "reader/timeline_error.h"

enum {
    NS_PER_FILETIME = 100,
    /*
     * Limit of the clock snapshots beside an interval that are used to find a range to compare it
     * with.
     */
    NEIGHBOURS = 64,
};

typedef etwas_etl_wide wide;

static int64_t snapshot_reading(const struct etwas_clock_snapshot *snapshot, uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? snapshot->qpc_ns : snapshot->filetime;
}

static uint32_t snapshot_reading_error_ns(const struct etwas_clock_snapshot *snapshot,
                                          uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? snapshot->qpc_error_ns : snapshot->filetime_error_ns;
}

static wide clock_unit_ns(uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? 1 : NS_PER_FILETIME;
}

static wide snapshot_pair_error_ns(const struct etwas_clock_snapshot *a,
                                   const struct etwas_clock_snapshot *b, uint32_t clock)
{
    return (wide)snapshot_reading_error_ns(a, clock) + snapshot_reading_error_ns(b, clock);
}

/* ---- what an interval gained ----------------------------------------------------------------- */

/*
 * Adds what the interval from `at` on gained or lost against the rate between two other clock
 * snapshots.
 */
static void timeline_compare_intervals(struct etwas_timeline_gain *gain,
                                       const struct etwas_clock_snapshot *at,
                                       const struct etwas_clock_snapshot *from,
                                       const struct etwas_clock_snapshot *to, uint32_t clock)
{
    wide ticks = (wide)at[1].raw - at[0].raw;
    wide other_ticks = (wide)to->raw - from->raw;
    wide here = (wide)snapshot_reading(&at[1], clock) - snapshot_reading(&at[0], clock);
    wide there = (wide)snapshot_reading(to, clock) - snapshot_reading(from, clock);
    wide gained;
    wide noise;

    if (from == to || 2 * other_ticks < ticks) {
        return; /* they lie too close together */
    }
    gained = etwas_etl_magnitude(here - etwas_timeline_floor_divide(there * ticks, other_ticks)) *
             clock_unit_ns(clock);
    noise = snapshot_pair_error_ns(&at[0], &at[1], clock) +
            snapshot_pair_error_ns(from, to, clock) * ticks / other_ticks + 1;
    gain->sides++;
    gain->is_seen = gain->is_seen || gained > noise;
    gain->most_ns = gained + noise > gain->most_ns ? gained + noise : gain->most_ns;
}

wide etwas_timeline_jump_ns(const struct etwas_timeline *timeline,
                            const struct etwas_clock_snapshot *at, uint32_t clock)
{
    const struct etwas_timeline_base *base = &timeline->base;
    wide elapsed = (wide)at[1].qpc_ns - at[0].qpc_ns;
    wide apart;

    if (clock == ETWAS_CLOCK_SYSTEM_TIME || base->clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
        return etwas_timeline_is_step(&at[0], &at[1])
                   ? etwas_etl_magnitude(etwas_timeline_moved_ns(&at[0], &at[1]))
                   : 0;
    }
    apart = etwas_etl_magnitude(
        elapsed - etwas_timeline_elapsed_ns((wide)at[1].raw - at[0].raw, &base->rate));
    return apart > ETWAS_TIMELINE_STEP_NS + elapsed / ETWAS_TIMELINE_STEP_PARTS ? apart : 0;
}

static bool timeline_has_no_jump(const struct etwas_timeline *timeline,
                                 const struct etwas_clock_snapshot *at, uint32_t clock)
{
    return etwas_timeline_jump_ns(timeline, at, clock) == 0;
}

/*
 * Compares with the range before the interval. A longer range knows the rate better: twice as long
 * as the interval, if there is as much. Clock snapshots may lie close together, as at the end of a
 * file: half as long at least.
 */
static void timeline_compare_before(const struct etwas_timeline *timeline, size_t at,
                                    uint32_t clock, struct etwas_timeline_gain *gain)
{
    const struct etwas_clock_snapshot *snapshots = timeline->snapshots;
    wide wanted = ((wide)snapshots[at + 1].raw - snapshots[at].raw) * 2;
    size_t from = at;

    while (from > 0 && at - from < NEIGHBOURS &&
           (wide)snapshots[at].raw - snapshots[from].raw < wanted &&
           timeline_has_no_jump(timeline, &snapshots[from - 1], clock)) {
        from--;
    }
    timeline_compare_intervals(gain, &snapshots[at], &snapshots[from], &snapshots[at], clock);
}

static void timeline_compare_after(const struct etwas_timeline *timeline, size_t at, uint32_t clock,
                                   struct etwas_timeline_gain *gain)
{
    const struct etwas_clock_snapshot *snapshots = timeline->snapshots;
    wide wanted = ((wide)snapshots[at + 1].raw - snapshots[at].raw) * 2;
    size_t to = at + 1;

    while (to + 1 < timeline->count && to - at <= NEIGHBOURS &&
           (wide)snapshots[to].raw - snapshots[at + 1].raw < wanted &&
           timeline_has_no_jump(timeline, &snapshots[to], clock)) {
        to++;
    }
    timeline_compare_intervals(gain, &snapshots[at], &snapshots[at + 1], &snapshots[to], clock);
}

struct etwas_timeline_gain etwas_timeline_gain_of(const struct etwas_timeline *timeline, size_t at,
                                                  uint32_t clock)
{
    struct etwas_timeline_gain gain = {0};

    timeline_compare_before(timeline, at, clock, &gain);
    timeline_compare_after(timeline, at, clock, &gain);
    return gain;
}

wide etwas_timeline_uncompared_gain_ns(const struct etwas_timeline *timeline,
                                       const struct etwas_clock_snapshot *at, wide nearer_ns,
                                       uint32_t clock)
{
    wide jump = etwas_timeline_jump_ns(timeline, at, clock);
    wide noise = snapshot_pair_error_ns(&at[0], &at[1], ETWAS_CLOCK_QPC) +
                 snapshot_pair_error_ns(&at[0], &at[1], ETWAS_CLOCK_SYSTEM_TIME);

    if (clock == ETWAS_CLOCK_SYSTEM_TIME) {
        return etwas_etl_magnitude(etwas_timeline_moved_ns(&at[0], &at[1])) + noise +
               nearer_ns * (jump != 0 ? ETWAS_TIMELINE_SLEW_PPB : ETWAS_TIMELINE_WANDER_PPB) /
                   ETWAS_TIMELINE_PPB +
               1;
    }
    return jump + (jump != 0 ? noise : 0) +
           nearer_ns * ETWAS_TIMELINE_WANDER_PPB / ETWAS_TIMELINE_PPB + 1;
}

/* ---- one time -------------------------------------------------------------------------------- */

uint64_t etwas_timeline_error_between(const struct etwas_timeline *timeline, size_t at, wide qpc_ns,
                                      uint32_t clock)
{
    const struct etwas_clock_snapshot *snapshots = &timeline->snapshots[at];
    uint32_t first = snapshot_reading_error_ns(&snapshots[0], clock);
    uint32_t second = snapshot_reading_error_ns(&snapshots[1], clock);
    struct etwas_timeline_gain gain = etwas_timeline_gain_of(timeline, at, clock);

    if (gain.sides == 0) {
        wide from_first = qpc_ns - snapshots[0].qpc_ns;
        wide to_second = snapshots[1].qpc_ns - qpc_ns;

        gain.most_ns = etwas_timeline_uncompared_gain_ns(
            timeline, snapshots, from_first < to_second ? from_first : to_second, clock);
    }
    return etwas_timeline_saturate_error((first > second ? first : second) + clock_unit_ns(clock) +
                                         gain.most_ns);
}
