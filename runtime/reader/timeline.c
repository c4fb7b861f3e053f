/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* Converts stamps, between the clock snapshots and outside of them. */
#include "reader/timeline.h"

#include "reader/timeline_error.h"

enum {
    NS_PER_FILETIME = 100,
};

#define PPB ETWAS_TIMELINE_PPB
#define UNKNOWN ETWAS_TIMELINE_UNKNOWN

typedef etwas_etl_wide wide;

wide etwas_timeline_moved_ns(const struct etwas_clock_snapshot *from,
                             const struct etwas_clock_snapshot *to)
{
    return ((wide)to->filetime - from->filetime) * NS_PER_FILETIME -
           ((wide)to->qpc_ns - from->qpc_ns);
}

bool etwas_timeline_is_step(const struct etwas_clock_snapshot *from,
                            const struct etwas_clock_snapshot *to)
{
    wide elapsed_ns = (wide)to->qpc_ns - from->qpc_ns;

    return etwas_etl_magnitude(etwas_timeline_moved_ns(from, to)) >
           ETWAS_TIMELINE_STEP_NS + elapsed_ns / ETWAS_TIMELINE_STEP_PARTS;
}

/* ---- the interval of a stamp ----------------------------------------------------------------- */

bool etwas_timeline_is_between(const struct etwas_timeline *timeline, int64_t raw)
{
    return timeline->count > 1 && raw >= timeline->snapshots[0].raw &&
           raw < timeline->snapshots[timeline->count - 1].raw;
}

/* Returns the index of the clock snapshot at which the stamp's interval begins. */
size_t etwas_timeline_find_interval(const struct etwas_timeline *timeline, int64_t raw)
{
    size_t low = 0;
    size_t high = timeline->count - 1;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (timeline->snapshots[middle].raw <= raw) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- the performance counter ----------------------------------------------------------------- */

static wide timeline_interpolate(int64_t raw, int64_t from_raw, int64_t to_raw, int64_t from,
                                 int64_t to)
{
    wide product = ((wide)raw - from_raw) * ((wide)to - from);
    wide span = (wide)to_raw - from_raw;

    if (product >= 0 && product <= INT64_MAX && span <= INT64_MAX) {
        return from + (wide)((uint64_t)product / (uint64_t)span);
    }
    return from + etwas_timeline_floor_divide(product, span);
}

static wide timeline_qpc_between(const struct etwas_timeline *timeline, size_t at, int64_t raw)
{
    const struct etwas_clock_snapshot *snapshots = timeline->snapshots + at;

    return timeline_interpolate(raw, snapshots[0].raw, snapshots[1].raw, snapshots[0].qpc_ns,
                                snapshots[1].qpc_ns);
}

/* Returns the clock snapshot nearest to a stamp outside of all. */
static const struct etwas_clock_snapshot *timeline_nearest_end(
    const struct etwas_timeline *timeline, int64_t raw)
{
    return raw < timeline->snapshots[0].raw ? &timeline->snapshots[0]
                                            : &timeline->snapshots[timeline->count - 1];
}

const struct etwas_timeline_rate *etwas_timeline_rate_near(const struct etwas_timeline *timeline,
                                                           int64_t raw)
{
    return raw < timeline->snapshots[0].raw ? &timeline->before : &timeline->after;
}

static wide timeline_qpc_outside(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_timeline_base *base = &timeline->base;
    const struct etwas_clock_snapshot *end;

    if (base->clock_type == ETWAS_ETL_CLOCK_PERFORMANCE) {
        return etwas_timeline_elapsed_ns(raw, &base->rate);
    }
    if (timeline->count == 0) {
        return base->anchor_qpc_ns +
               etwas_timeline_elapsed_ns((wide)raw - base->anchor_raw, &base->rate);
    }
    end = timeline_nearest_end(timeline, raw);
    return end->qpc_ns +
           etwas_timeline_elapsed_ns((wide)raw - end->raw, etwas_timeline_rate_near(timeline, raw));
}

const struct etwas_clock_snapshot *etwas_timeline_snapshots_around(
    const struct etwas_timeline *timeline, int64_t raw)
{
    return timeline->base.clock_type != ETWAS_ETL_CLOCK_PERFORMANCE &&
                   etwas_timeline_is_between(timeline, raw)
               ? &timeline->snapshots[etwas_timeline_find_interval(timeline, raw)]
               : NULL;
}

wide etwas_timeline_ns(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_clock_snapshot *snapshots = etwas_timeline_snapshots_around(timeline, raw);
    wide start = (wide)timeline->base.start_filetime - ETWAS_ETL_FILETIME_OF_1970;
    wide qpc_ns =
        snapshots != NULL
            ? timeline_qpc_between(timeline, (size_t)(snapshots - timeline->snapshots), raw)
            : timeline_qpc_outside(timeline, raw);

    return start * NS_PER_FILETIME + qpc_ns - timeline->start_qpc_ns;
}

/* ---- conversion ------------------------------------------------------------------------------ */

static etwas_clock_time timeline_qpc_of(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_timeline_base *base = &timeline->base;
    etwas_clock_time time;

    if (base->clock_type == ETWAS_ETL_CLOCK_PERFORMANCE) {
        bool exact = PPB % base->rate.ticks == 0;

        return (etwas_clock_time){etwas_etl_saturate(timeline_qpc_outside(timeline, raw)),
                                  exact ? 0 : 1};
    }
    if (etwas_timeline_is_between(timeline, raw)) {
        size_t at = etwas_timeline_find_interval(timeline, raw);
        wide qpc_ns = timeline_qpc_between(timeline, at, raw);
        wide error = etwas_timeline_error_between(timeline, at, qpc_ns, ETWAS_CLOCK_QPC);

        return (etwas_clock_time){etwas_etl_saturate(qpc_ns),
                                  etwas_timeline_saturate_error(error + timeline->spread_ns)};
    }
    time = (etwas_clock_time){etwas_etl_saturate(timeline_qpc_outside(timeline, raw)), UNKNOWN};
    if (timeline->count > 0) {
        const struct etwas_clock_snapshot *end = timeline_nearest_end(timeline, raw);
        wide distance = etwas_etl_magnitude((wide)time.value - end->qpc_ns);
        uint64_t error_ppb = etwas_timeline_rate_near(timeline, raw)->error_ppb;

        if (raw == end->raw) {
            time.error_ns =
                etwas_timeline_saturate_error((wide)end->qpc_error_ns + timeline->spread_ns);
        } else if (error_ppb != UNKNOWN) {
            /* All of it may be a step of the wall clock that no clock snapshot shows. */
            if (base->clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
                error_ppb = PPB;
            }
            time.error_ns = etwas_timeline_saturate_error(
                distance * (wide)error_ppb / PPB + end->qpc_error_ns + timeline->spread_ns + 2);
        }
    }
    return time;
}

static etwas_clock_time timeline_system_outside(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_clock_snapshot *end = timeline_nearest_end(timeline, raw);
    etwas_clock_time qpc = timeline_qpc_of(timeline, raw);
    wide elapsed = (wide)qpc.value - end->qpc_ns;
    etwas_clock_time time = {
        etwas_etl_saturate(end->filetime + etwas_timeline_floor_divide(elapsed, NS_PER_FILETIME)),
        UNKNOWN,
    };

    if (raw == end->raw) {
        time.error_ns = end->filetime_error_ns;
    } else if (qpc.error_ns != UNKNOWN) {
        time.error_ns = etwas_timeline_saturate_error(
            (wide)qpc.error_ns + end->filetime_error_ns +
            etwas_etl_magnitude(elapsed) * ETWAS_TIMELINE_SLEW_PPB / PPB + NS_PER_FILETIME);
    }
    return time;
}

static etwas_clock_time timeline_system_of(const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_timeline_base *base = &timeline->base;
    size_t at;
    const struct etwas_clock_snapshot *snapshots;

    if (base->clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
        return (etwas_clock_time){raw, 0};
    }
    if (timeline->count == 0) {
        wide elapsed = etwas_timeline_elapsed_ns((wide)raw - base->first_raw, &base->rate);

        return (etwas_clock_time){
            etwas_etl_saturate(base->start_filetime +
                               etwas_timeline_floor_divide(elapsed, NS_PER_FILETIME)),
            UNKNOWN};
    }
    if (!etwas_timeline_is_between(timeline, raw)) {
        return timeline_system_outside(timeline, raw);
    }
    at = etwas_timeline_find_interval(timeline, raw);
    snapshots = &timeline->snapshots[at];
    return (etwas_clock_time){
        etwas_etl_saturate(timeline_interpolate(raw, snapshots[0].raw, snapshots[1].raw,
                                                snapshots[0].filetime, snapshots[1].filetime)),
        etwas_timeline_error_between(timeline, at, timeline_qpc_between(timeline, at, raw),
                                     ETWAS_CLOCK_SYSTEM_TIME)};
}

etwas_clock_time etwas_timeline_convert(const struct etwas_timeline *timeline, int64_t raw,
                                        uint32_t clock)
{
    return clock == ETWAS_CLOCK_QPC ? timeline_qpc_of(timeline, raw)
                                    : timeline_system_of(timeline, raw);
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
    /* An interval that cannot be compared with another has its largest error in its middle. */
    for (size_t i = 0; i + 1 < timeline->count; i++) {
        const struct etwas_clock_snapshot *snapshots = &timeline->snapshots[i];
        int64_t middle = snapshots[0].raw + (snapshots[1].raw - snapshots[0].raw) / 2;
        uint64_t error_ns = etwas_timeline_convert(timeline, middle, clock).error_ns;

        largest = error_ns > largest ? error_ns : largest;
    }
    if (timeline->count == 1) {
        largest = etwas_timeline_convert(timeline, timeline->snapshots[0].raw, clock).error_ns;
    }
    return largest;
}
