/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/line.h"

#include "reader/timeline.h"

typedef etwas_etl_wide wide;

enum {
    NS_PER_FILETIME = 100
};

/* Makes it hold up to `end_raw`, exclusively, or for as long as nothing leaves 64 bits. */
static bool limit(struct etwas_line *line, wide base_ns, wide rest, wide end_raw)
{
    wide ticks = end_raw - line->from_raw;
    wide most;

    if (base_ns < 0 || base_ns > INT64_MAX) {
        return false;
    }
    /* Of the sum that is divided: with it neither the sum nor the time is above INT64_MAX. */
    most = ((wide)INT64_MAX - base_ns) * line->denominator;
    most = most < INT64_MAX ? most : INT64_MAX;
    if (rest > most) {
        return false;
    }
    most = (most - rest) / line->numerator + 1;
    line->base_ns = (int64_t)base_ns;
    line->rest = (uint64_t)rest;
    line->reciprocal = UINT64_MAX / line->denominator;
    line->ticks = (uint64_t)(ticks < most ? ticks : most);
    return true;
}

static bool find_by_clock(struct etwas_line *line, const struct etwas_etl_clock *clock, int64_t raw)
{
    uint64_t rest;
    wide units = etwas_etl_clock_passed(clock, raw, &rest) + clock->anchor_filetime -
                 ETWAS_ETL_FILETIME_OF_1970;

    if (clock->numerator > UINT64_MAX / NS_PER_FILETIME) {
        return false;
    }
    line->numerator = clock->numerator * NS_PER_FILETIME;
    line->denominator = clock->denominator;
    return limit(line, units * NS_PER_FILETIME + (wide)rest * NS_PER_FILETIME / clock->denominator,
                 (wide)rest * NS_PER_FILETIME % clock->denominator, (wide)INT64_MAX + 1);
}

/* Between two knots. */
static bool find_by_timeline(struct etwas_line *line, const struct etwas_timeline *timeline,
                             int64_t raw)
{
    const struct etwas_timeline_knot *knots = etwas_timeline_knots_around(timeline, raw);
    wide start_ns =
        ((wide)timeline->base.start_filetime - ETWAS_ETL_FILETIME_OF_1970) * NS_PER_FILETIME -
        timeline->start_qpc_ns;
    wide product;

    if (knots == NULL || knots[0].qpc_ns == knots[1].qpc_ns) {
        return false;
    }
    line->numerator = (uint64_t)knots[1].qpc_ns - (uint64_t)knots[0].qpc_ns;
    line->denominator = (uint64_t)knots[1].raw - (uint64_t)knots[0].raw;
    product = ((wide)raw - knots[0].raw) * line->numerator;
    return limit(line, start_ns + knots[0].qpc_ns + product / line->denominator,
                 product % line->denominator, knots[1].raw);
}

bool etwas_line_find(struct etwas_line *line, const struct etwas_timeline *timeline,
                     const struct etwas_etl_clock *clock, int64_t raw)
{
    *line = (struct etwas_line){.from_raw = raw};
    return timeline != NULL ? find_by_timeline(line, timeline, raw)
                            : find_by_clock(line, clock, raw);
}
