/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/event_time.h"

typedef etwas_etl_wide wide;

enum {
    NS_PER_FILETIME = 100
};

/*
 * Sets the length of the segment: up to `end_raw`, exclusively, or as long as every value fits in
 * 64 bits.
 */
static bool segment_set_limit(struct etwas_time_segment *segment, wide base_ns, wide rest,
                              wide end_raw)
{
    wide ticks = end_raw - segment->from_raw;
    wide most;

    if (base_ns < 0 || base_ns > INT64_MAX) {
        return false;
    }
    /* Limits the sum that is divided, so that neither the sum nor the time exceeds INT64_MAX. */
    most = ((wide)INT64_MAX - base_ns) * segment->denominator;
    most = most < INT64_MAX ? most : INT64_MAX;
    if (rest > most) {
        return false;
    }
    most = (most - rest) / segment->numerator + 1;
    segment->base_ns = (int64_t)base_ns;
    segment->rest = (uint64_t)rest;
    segment->reciprocal = UINT64_MAX / segment->denominator;
    segment->ticks = (uint64_t)(ticks < most ? ticks : most);
    return true;
}

static bool segment_find_by_clock(struct etwas_time_segment *segment,
                                  const struct etwas_etl_clock *clock, int64_t raw)
{
    uint64_t rest;
    wide units = etwas_etl_clock_passed(clock, raw, &rest) + clock->anchor_filetime -
                 ETWAS_ETL_FILETIME_OF_1970;

    if (clock->numerator > UINT64_MAX / NS_PER_FILETIME) {
        return false;
    }
    segment->numerator = clock->numerator * NS_PER_FILETIME;
    segment->denominator = clock->denominator;
    return segment_set_limit(
        segment, units * NS_PER_FILETIME + (wide)rest * NS_PER_FILETIME / clock->denominator,
        (wide)rest * NS_PER_FILETIME % clock->denominator, (wide)INT64_MAX + 1);
}

/* Finds the segment between two clock snapshots. */
static bool segment_find_by_timeline(struct etwas_time_segment *segment,
                                     const struct etwas_timeline *timeline, int64_t raw)
{
    const struct etwas_clock_snapshot *snapshots = etwas_timeline_snapshots_around(timeline, raw);
    wide start_ns =
        ((wide)timeline->base.start_filetime - ETWAS_ETL_FILETIME_OF_1970) * NS_PER_FILETIME -
        timeline->start_qpc_ns;
    wide product;

    if (snapshots == NULL || snapshots[0].qpc_ns == snapshots[1].qpc_ns) {
        return false;
    }
    segment->numerator = (uint64_t)snapshots[1].qpc_ns - (uint64_t)snapshots[0].qpc_ns;
    segment->denominator = (uint64_t)snapshots[1].raw - (uint64_t)snapshots[0].raw;
    product = ((wide)raw - snapshots[0].raw) * segment->numerator;
    return segment_set_limit(segment,
                             start_ns + snapshots[0].qpc_ns + product / segment->denominator,
                             product % segment->denominator, snapshots[1].raw);
}

bool etwas_time_segment_find(struct etwas_time_segment *segment,
                             const struct etwas_timeline *timeline,
                             const struct etwas_etl_clock *clock, int64_t raw)
{
    *segment = (struct etwas_time_segment){.from_raw = raw};
    return timeline != NULL ? segment_find_by_timeline(segment, timeline, raw)
                            : segment_find_by_clock(segment, clock, raw);
}

/* ---- conversion ------------------------------------------------------------------------------ */

struct etwas_event_time etwas_event_time_by(const struct etwas_etl_clock *clock,
                                            const struct etwas_timeline *timeline)
{
    bool has_rate = timeline != NULL && etwas_timeline_has_rate(timeline);

    return (struct etwas_event_time){.clock = clock, .timeline = has_rate ? timeline : NULL};
}

wide etwas_event_time_ns(const struct etwas_event_time *time, int64_t raw)
{
    return time->timeline != NULL ? etwas_timeline_ns(time->timeline, raw)
                                  : etwas_etl_clock_ns(time->clock, raw);
}

int64_t etwas_event_time_filetime_slow(struct etwas_event_time *time, int64_t raw)
{
    return etwas_time_segment_find(&time->segment, time->timeline, time->clock, raw)
               ? etwas_time_segment_filetime(&time->segment, raw)
               : etwas_etl_filetime_of_ns(etwas_event_time_ns(time, raw));
}

int64_t etwas_event_time_unix_ns_slow(struct etwas_event_time *time, int64_t raw)
{
    return etwas_time_segment_find(&time->segment, time->timeline, time->clock, raw)
               ? etwas_time_segment_unix_ns(&time->segment, raw)
               : etwas_etl_saturate(etwas_event_time_ns(time, raw));
}
