/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* How well times between knots are known: by the knots, and by the intervals beside theirs. */
#include "reader/timeline_error.h"

enum {
    NS_PER_FILETIME = 100,
    /* So many knots beside an interval are looked at to find a stretch to compare it with. */
    NEIGHBOURS = 64,
};

typedef etwas_etl_wide wide;

static int64_t reading(const struct etwas_timeline_knot *knot, uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? knot->qpc_ns : knot->filetime;
}

static uint32_t reading_error_ns(const struct etwas_timeline_knot *knot, uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? knot->qpc_error_ns : knot->filetime_error_ns;
}

static wide unit_ns(uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? 1 : NS_PER_FILETIME;
}

static wide errors_ns(const struct etwas_timeline_knot *a, const struct etwas_timeline_knot *b,
                      uint32_t clock)
{
    return (wide)reading_error_ns(a, clock) + reading_error_ns(b, clock);
}

/* ---- what an interval gained ----------------------------------------------------------------- */

/* Adds what the interval from `at` on gained or lost against the rate between two other knots. */
static void compare(struct etwas_timeline_gain *gain, const struct etwas_timeline_knot *at,
                    const struct etwas_timeline_knot *from, const struct etwas_timeline_knot *to,
                    uint32_t clock)
{
    wide ticks = (wide)at[1].raw - at[0].raw;
    wide other_ticks = (wide)to->raw - from->raw;
    wide here = (wide)reading(&at[1], clock) - reading(&at[0], clock);
    wide there = (wide)reading(to, clock) - reading(from, clock);
    wide gained;
    wide noise;

    if (from == to || 2 * other_ticks < ticks) {
        return; /* they lie too near together to tell */
    }
    gained = etwas_etl_magnitude(here - etwas_timeline_floor_divide(there * ticks, other_ticks)) *
             unit_ns(clock);
    noise = errors_ns(&at[0], &at[1], clock) + errors_ns(from, to, clock) * ticks / other_ticks + 1;
    gain->sides++;
    gain->is_seen = gain->is_seen || gained > noise;
    gain->most_ns = gained + noise > gain->most_ns ? gained + noise : gain->most_ns;
}

wide etwas_timeline_jump_ns(const struct etwas_timeline *timeline,
                            const struct etwas_timeline_knot *at, uint32_t clock)
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

static bool is_even(const struct etwas_timeline *timeline, const struct etwas_timeline_knot *at,
                    uint32_t clock)
{
    return etwas_timeline_jump_ns(timeline, at, clock) == 0;
}

/*
 * What is beside an interval tells its rate the better the longer it is: twice as long, if there is
 * as much. Knots may lie near together, as at the end of a file: half as long at least.
 */
static void compare_before(const struct etwas_timeline *timeline, size_t at, uint32_t clock,
                           struct etwas_timeline_gain *gain)
{
    const struct etwas_timeline_knot *knots = timeline->knots;
    wide wanted = ((wide)knots[at + 1].raw - knots[at].raw) * 2;
    size_t from = at;

    while (from > 0 && at - from < NEIGHBOURS && (wide)knots[at].raw - knots[from].raw < wanted &&
           is_even(timeline, &knots[from - 1], clock)) {
        from--;
    }
    compare(gain, &knots[at], &knots[from], &knots[at], clock);
}

static void compare_after(const struct etwas_timeline *timeline, size_t at, uint32_t clock,
                          struct etwas_timeline_gain *gain)
{
    const struct etwas_timeline_knot *knots = timeline->knots;
    wide wanted = ((wide)knots[at + 1].raw - knots[at].raw) * 2;
    size_t to = at + 1;

    while (to + 1 < timeline->count && to - at <= NEIGHBOURS &&
           (wide)knots[to].raw - knots[at + 1].raw < wanted &&
           is_even(timeline, &knots[to], clock)) {
        to++;
    }
    compare(gain, &knots[at], &knots[at + 1], &knots[to], clock);
}

struct etwas_timeline_gain etwas_timeline_gain_of(const struct etwas_timeline *timeline, size_t at,
                                                  uint32_t clock)
{
    struct etwas_timeline_gain gain = {0};

    compare_before(timeline, at, clock, &gain);
    compare_after(timeline, at, clock, &gain);
    return gain;
}

wide etwas_timeline_lonely_gain_ns(const struct etwas_timeline *timeline,
                                   const struct etwas_timeline_knot *at, wide nearer_ns,
                                   uint32_t clock)
{
    wide jump = etwas_timeline_jump_ns(timeline, at, clock);
    wide noise = errors_ns(&at[0], &at[1], ETWAS_CLOCK_QPC) +
                 errors_ns(&at[0], &at[1], ETWAS_CLOCK_SYSTEM_TIME);

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
    const struct etwas_timeline_knot *knots = &timeline->knots[at];
    uint32_t first = reading_error_ns(&knots[0], clock);
    uint32_t second = reading_error_ns(&knots[1], clock);
    struct etwas_timeline_gain gain = etwas_timeline_gain_of(timeline, at, clock);

    if (gain.sides == 0) {
        wide from_first = qpc_ns - knots[0].qpc_ns;
        wide to_second = knots[1].qpc_ns - qpc_ns;

        gain.most_ns = etwas_timeline_lonely_gain_ns(
            timeline, knots, from_first < to_second ? from_first : to_second, clock);
    }
    return etwas_timeline_saturate_error((first > second ? first : second) + unit_ns(clock) +
                                         gain.most_ns);
}
