/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a stamp means, between the knots and outside of them, and how well that is known. */
#include "reader/timeline.h"

enum {
    NS_PER_FILETIME = 100,
    /* So many knots beside an interval are looked at to find a stretch to compare it with. */
    NEIGHBOURS = 64,
};

#define PPB INT64_C(1000000000)
#define STEP_NS 1000000    /* more than this, */
#define STEP_PARTS 1000    /* and a thousandth of the interval, is a step */
#define UNKNOWN UINT64_MAX /* an error nobody knows */

typedef etwas_etl_wide wide;

static wide floor_divide(wide a, wide b)
{
    return a / b - (a % b < 0);
}

/* Almost every time is within 64 bits, where it takes no division. */
static wide filetime_units(wide ns)
{
    int64_t narrow = (int64_t)ns;

    if (narrow != ns) {
        return floor_divide(ns, NS_PER_FILETIME);
    }
    return narrow / NS_PER_FILETIME - (narrow % NS_PER_FILETIME < 0);
}

/* UNKNOWN says something else. */
static uint64_t saturate_error(wide error_ns)
{
    return error_ns >= (wide)UNKNOWN ? UNKNOWN - 1 : (uint64_t)error_ns;
}

wide etwas_timeline_moved_ns(const struct etwas_timeline_knot *from,
                             const struct etwas_timeline_knot *to)
{
    return ((wide)to->filetime - from->filetime) * NS_PER_FILETIME -
           ((wide)to->qpc_ns - from->qpc_ns);
}

bool etwas_timeline_is_step(const struct etwas_timeline_knot *from,
                            const struct etwas_timeline_knot *to)
{
    wide elapsed_ns = (wide)to->qpc_ns - from->qpc_ns;

    return etwas_etl_magnitude(etwas_timeline_moved_ns(from, to)) >
           STEP_NS + elapsed_ns / STEP_PARTS;
}

/* ---- where a stamp is ------------------------------------------------------------------------ */

static bool is_between(const struct etwas_timeline *timeline, int64_t raw)
{
    return timeline->count > 1 && raw >= timeline->knots[0].raw &&
           raw < timeline->knots[timeline->count - 1].raw;
}

/* The interval of a stamp between the knots: it begins with the knot returned. */
static size_t find_interval(const struct etwas_timeline *timeline, int64_t raw)
{
    size_t low = 0;
    size_t high = timeline->count - 1;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (timeline->knots[middle].raw <= raw) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_in_interval(const struct etwas_timeline *timeline, size_t at, int64_t raw)
{
    return timeline->knots[at].raw <= raw && raw < timeline->knots[at + 1].raw;
}

/* Stamps of a stream come in order: mostly it is where the last was. */
static size_t find_near(const struct etwas_timeline *timeline, int64_t raw, size_t near)
{
    if (near + 1 < timeline->count && is_in_interval(timeline, near, raw)) {
        return near;
    }
    return find_interval(timeline, raw);
}

/* ---- the performance counter ----------------------------------------------------------------- */

/* What passes in so many ticks. |ticks| is below 2^64, and the rate's parts at most 2^63. */
static wide elapsed_ns(wide ticks, const struct etwas_timeline_rate *rate)
{
    return floor_divide(ticks * (wide)rate->nanoseconds, (wide)rate->ticks);
}

static wide interpolate(int64_t raw, int64_t from_raw, int64_t to_raw, int64_t from, int64_t to)
{
    wide product = ((wide)raw - from_raw) * ((wide)to - from);
    wide span = (wide)to_raw - from_raw;

    if (product >= 0 && product <= INT64_MAX && span <= INT64_MAX) {
        return from + (wide)((uint64_t)product / (uint64_t)span);
    }
    return from + floor_divide(product, span);
}

static wide qpc_between(const struct etwas_timeline *timeline, size_t at, int64_t raw)
{
    const struct etwas_timeline_knot *knots = timeline->knots + at;

    return interpolate(raw, knots[0].raw, knots[1].raw, knots[0].qpc_ns, knots[1].qpc_ns);
}

/* The knot nearest to a stamp outside. */
static const struct etwas_timeline_knot *end_near(const struct etwas_timeline *timeline,
                                                  int64_t raw)
{
    return raw < timeline->knots[0].raw ? &timeline->knots[0]
                                        : &timeline->knots[timeline->count - 1];
}

static const struct etwas_timeline_rate *rate_near(const struct etwas_timeline *timeline,
                                                   int64_t raw)
{
    return raw < timeline->knots[0].raw ? &timeline->before : &timeline->after;
}

static wide qpc_outside(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_timeline_base *base = &timeline->base;
    const struct etwas_timeline_knot *end;

    if (base->clock_type == ETWAS_ETL_CLOCK_PERFORMANCE) {
        return elapsed_ns(raw, &base->rate);
    }
    if (timeline->count == 0) {
        return base->anchor_qpc_ns + elapsed_ns((wide)raw - base->anchor_raw, &base->rate);
    }
    end = end_near(timeline, raw);
    return end->qpc_ns + elapsed_ns((wide)raw - end->raw, rate_near(timeline, raw));
}

/* What passed since the session's start, by the performance counter. */
static wide since_start_ns(const struct etwas_timeline *timeline, int64_t raw, size_t *near)
{
    if (timeline->base.clock_type != ETWAS_ETL_CLOCK_PERFORMANCE && is_between(timeline, raw)) {
        *near = find_near(timeline, raw, *near);
        return qpc_between(timeline, *near, raw) - timeline->start_qpc_ns;
    }
    return qpc_outside(timeline, raw) - timeline->start_qpc_ns;
}

int64_t etwas_timeline_filetime(const struct etwas_timeline *timeline, int64_t raw, size_t *near)
{
    return etwas_etl_saturate(timeline->base.start_filetime +
                              filetime_units(since_start_ns(timeline, raw, near)));
}

int64_t etwas_timeline_unix_ns(const struct etwas_timeline *timeline, int64_t raw, size_t *near)
{
    wide start = (wide)timeline->base.start_filetime - ETWAS_ETL_FILETIME_OF_1970;

    return etwas_etl_saturate(start * NS_PER_FILETIME + since_start_ns(timeline, raw, near));
}

/* ---- errors between knots -------------------------------------------------------------------- */

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

/*
 * What the interval from `at` on gained or lost at most against the rate between two other knots,
 * as well as their errors let it be known. -1: they lie too near together to tell.
 */
static wide gain_ns(const struct etwas_timeline_knot *at, const struct etwas_timeline_knot *from,
                    const struct etwas_timeline_knot *to, uint32_t clock)
{
    wide ticks = (wide)at[1].raw - at[0].raw;
    wide other_ticks = (wide)to->raw - from->raw;
    wide here = (wide)reading(&at[1], clock) - reading(&at[0], clock);
    wide there = (wide)reading(to, clock) - reading(from, clock);
    wide gain;

    if (from == to || 2 * other_ticks < ticks) {
        return -1;
    }
    gain = etwas_etl_magnitude(here - floor_divide(there * ticks, other_ticks)) * unit_ns(clock);
    return gain + errors_ns(&at[0], &at[1], clock) +
           errors_ns(from, to, clock) * ticks / other_ticks + 1;
}

/*
 * How far a clock jumped in the interval that begins with a knot; 0: it went on evenly. The wall
 * clock is set, and a cycle counter may go on while the machine is suspended.
 */
static wide jump_ns(const struct etwas_timeline *timeline, const struct etwas_timeline_knot *at,
                    uint32_t clock)
{
    const struct etwas_timeline_base *base = &timeline->base;
    wide elapsed = (wide)at[1].qpc_ns - at[0].qpc_ns;
    wide apart;

    if (clock == ETWAS_CLOCK_SYSTEM_TIME || base->clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
        return etwas_timeline_is_step(&at[0], &at[1])
                   ? etwas_etl_magnitude(etwas_timeline_moved_ns(&at[0], &at[1]))
                   : 0;
    }
    apart = etwas_etl_magnitude(elapsed - elapsed_ns((wide)at[1].raw - at[0].raw, &base->rate));
    return apart > STEP_NS + elapsed / STEP_PARTS ? apart : 0;
}

static bool is_even(const struct etwas_timeline *timeline, const struct etwas_timeline_knot *at,
                    uint32_t clock)
{
    return jump_ns(timeline, at, clock) == 0;
}

/*
 * What is beside an interval tells its rate the better the longer it is: twice as long, if there is
 * as much. Knots may lie near together, as at the end of a file: half as long at least.
 */
static wide gain_before_ns(const struct etwas_timeline *timeline, size_t at, uint32_t clock)
{
    const struct etwas_timeline_knot *knots = timeline->knots;
    wide wanted = ((wide)knots[at + 1].raw - knots[at].raw) * 2;
    size_t from = at;

    while (from > 0 && at - from < NEIGHBOURS && (wide)knots[at].raw - knots[from].raw < wanted &&
           is_even(timeline, &knots[from - 1], clock)) {
        from--;
    }
    return gain_ns(&knots[at], &knots[from], &knots[at], clock);
}

static wide gain_after_ns(const struct etwas_timeline *timeline, size_t at, uint32_t clock)
{
    const struct etwas_timeline_knot *knots = timeline->knots;
    wide wanted = ((wide)knots[at + 1].raw - knots[at].raw) * 2;
    size_t to = at + 1;

    while (to + 1 < timeline->count && to - at <= NEIGHBOURS &&
           (wide)knots[to].raw - knots[at + 1].raw < wanted &&
           is_even(timeline, &knots[to], clock)) {
        to++;
    }
    return gain_ns(&knots[at], &knots[at + 1], &knots[to], clock);
}

/*
 * What an interval that nothing can be compared with may hide, `nearer_ns` from its nearer end. The
 * wall clock may have been slewed by all that it moved.
 */
static wide lonely_gain_ns(const struct etwas_timeline *timeline,
                           const struct etwas_timeline_knot *at, wide nearer_ns, uint32_t clock)
{
    wide jump = jump_ns(timeline, at, clock);
    wide noise = errors_ns(&at[0], &at[1], ETWAS_CLOCK_QPC) +
                 errors_ns(&at[0], &at[1], ETWAS_CLOCK_SYSTEM_TIME);

    if (clock == ETWAS_CLOCK_SYSTEM_TIME) {
        return etwas_etl_magnitude(etwas_timeline_moved_ns(&at[0], &at[1])) + noise +
               nearer_ns * (jump != 0 ? ETWAS_TIMELINE_SLEW_PPB : ETWAS_TIMELINE_WANDER_PPB) / PPB +
               1;
    }
    return jump + (jump != 0 ? noise : 0) + nearer_ns * ETWAS_TIMELINE_WANDER_PPB / PPB + 1;
}

/* `qpc_ns` is a time in the interval that begins with knot `at`. */
static uint64_t error_between(const struct etwas_timeline *timeline, size_t at, wide qpc_ns,
                              uint32_t clock)
{
    const struct etwas_timeline_knot *knots = &timeline->knots[at];
    uint32_t first = reading_error_ns(&knots[0], clock);
    uint32_t second = reading_error_ns(&knots[1], clock);
    wide before = gain_before_ns(timeline, at, clock);
    wide after = gain_after_ns(timeline, at, clock);
    wide gain = before > after ? before : after;

    if (gain < 0) {
        wide from_first = qpc_ns - knots[0].qpc_ns;
        wide to_second = knots[1].qpc_ns - qpc_ns;

        gain =
            lonely_gain_ns(timeline, knots, from_first < to_second ? from_first : to_second, clock);
    }
    return saturate_error((first > second ? first : second) + unit_ns(clock) + gain);
}

/* ---- conversion ------------------------------------------------------------------------------ */

static etwas_clock_time qpc_of(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_timeline_base *base = &timeline->base;
    etwas_clock_time time;

    if (base->clock_type == ETWAS_ETL_CLOCK_PERFORMANCE) {
        bool exact = PPB % base->rate.ticks == 0;

        return (etwas_clock_time){etwas_etl_saturate(qpc_outside(timeline, raw)), exact ? 0 : 1};
    }
    if (is_between(timeline, raw)) {
        size_t at = find_interval(timeline, raw);
        wide qpc_ns = qpc_between(timeline, at, raw);
        wide error = error_between(timeline, at, qpc_ns, ETWAS_CLOCK_QPC);

        return (etwas_clock_time){etwas_etl_saturate(qpc_ns),
                                  saturate_error(error + timeline->spread_ns)};
    }
    time = (etwas_clock_time){etwas_etl_saturate(qpc_outside(timeline, raw)), UNKNOWN};
    if (timeline->count > 0) {
        const struct etwas_timeline_knot *end = end_near(timeline, raw);
        wide distance = etwas_etl_magnitude((wide)time.value - end->qpc_ns);
        uint64_t error_ppb = rate_near(timeline, raw)->error_ppb;

        if (raw == end->raw) {
            time.error_ns = saturate_error((wide)end->qpc_error_ns + timeline->spread_ns);
        } else if (error_ppb != UNKNOWN) {
            time.error_ns = saturate_error(distance * (wide)error_ppb / PPB + end->qpc_error_ns +
                                           timeline->spread_ns + 2);
        }
    }
    return time;
}

static etwas_clock_time system_outside(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_timeline_knot *end = end_near(timeline, raw);
    etwas_clock_time qpc = qpc_of(timeline, raw);
    wide elapsed = (wide)qpc.value - end->qpc_ns;
    etwas_clock_time time = {
        etwas_etl_saturate(end->filetime + floor_divide(elapsed, NS_PER_FILETIME)),
        UNKNOWN,
    };

    if (raw == end->raw) {
        time.error_ns = end->filetime_error_ns;
    } else if (qpc.error_ns != UNKNOWN) {
        time.error_ns = saturate_error(
            (wide)qpc.error_ns + end->filetime_error_ns +
            etwas_etl_magnitude(elapsed) * ETWAS_TIMELINE_SLEW_PPB / PPB + NS_PER_FILETIME);
    }
    return time;
}

static etwas_clock_time system_of(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_timeline_base *base = &timeline->base;
    size_t at;
    const struct etwas_timeline_knot *knots;

    if (base->clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
        return (etwas_clock_time){raw, 0};
    }
    if (timeline->count == 0) {
        wide elapsed = elapsed_ns((wide)raw - base->first_raw, &base->rate);

        return (etwas_clock_time){
            etwas_etl_saturate(base->start_filetime + floor_divide(elapsed, NS_PER_FILETIME)),
            UNKNOWN};
    }
    if (!is_between(timeline, raw)) {
        return system_outside(timeline, raw);
    }
    at = find_interval(timeline, raw);
    knots = &timeline->knots[at];
    return (etwas_clock_time){
        etwas_etl_saturate(
            interpolate(raw, knots[0].raw, knots[1].raw, knots[0].filetime, knots[1].filetime)),
        error_between(timeline, at, qpc_between(timeline, at, raw), ETWAS_CLOCK_SYSTEM_TIME)};
}

etwas_clock_time etwas_timeline_convert(const struct etwas_timeline *timeline, int64_t raw,
                                        uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? qpc_of(timeline, raw) : system_of(timeline, raw);
}

uint64_t etwas_timeline_largest_error_ns(const struct etwas_timeline *timeline, uint32_t clock)
{
    uint32_t type = timeline->base.clock_type;
    uint64_t largest = 0;

    if ((clock == ETWAS_CLOCK_QPC && type == ETWAS_ETL_CLOCK_PERFORMANCE) ||
        (clock == ETWAS_CLOCK_SYSTEM_TIME && type == ETWAS_ETL_CLOCK_SYSTEM)) {
        return etwas_timeline_convert(timeline, 0, clock).error_ns;
    }
    if (timeline->count == 0) {
        return UNKNOWN;
    }
    /* An interval that compares with no other has its largest error in its middle. */
    for (size_t i = 0; i + 1 < timeline->count; i++) {
        const struct etwas_timeline_knot *knots = &timeline->knots[i];
        int64_t middle = knots[0].raw + (knots[1].raw - knots[0].raw) / 2;
        uint64_t error_ns = etwas_timeline_convert(timeline, middle, clock).error_ns;

        largest = error_ns > largest ? error_ns : largest;
    }
    if (timeline->count == 1) {
        largest = etwas_timeline_convert(timeline, timeline->knots[0].raw, clock).error_ns;
    }
    return largest;
}
