/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A time segment: a range of a trace's clock in which a stamp becomes a time by 64-bit
 * multiplications alone, because a division takes as long as the rest of an event. The result is
 * what the clock (clock_convert.h) or the timeline gives, to the nanosecond:
 *
 *     ns since 1970 = base_ns + floor((rest + (raw - from_raw) × numerator) / denominator)
 */
#ifndef ETWAS_READER_TIME_SEGMENT_H
#define ETWAS_READER_TIME_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "etl/clock_convert.h"

struct etwas_timeline;

struct etwas_time_segment {
    int64_t from_raw;
    uint64_t ticks; /* length of the segment; 0: empty */
    int64_t base_ns;
    uint64_t rest;
    uint64_t numerator;
    uint64_t denominator;
    uint64_t reciprocal; /* floor((2^64 - 1) / denominator) */
};

static inline bool etwas_time_segment_contains(const struct etwas_time_segment *segment,
                                               int64_t raw)
{
    return (uint64_t)raw - (uint64_t)segment->from_raw < segment->ticks;
}

static inline int64_t etwas_time_segment_unix_ns(const struct etwas_time_segment *segment,
                                                 int64_t raw)
{
    uint64_t sum =
        segment->rest + ((uint64_t)raw - (uint64_t)segment->from_raw) * segment->numerator;
    /*
     * The sum is below 2^63, so the product is short by less than one and the quotient by one at
     * most.
     */
    uint64_t quotient = (uint64_t)((etwas_etl_wide)sum * segment->reciprocal >> 64);

    quotient += sum - quotient * segment->denominator >= segment->denominator;
    return segment->base_ns + (int64_t)quotient;
}

/* No segment lies before 1970. */
static inline int64_t etwas_time_segment_filetime(const struct etwas_time_segment *segment,
                                                  int64_t raw)
{
    return ETWAS_ETL_FILETIME_OF_1970 +
           (int64_t)((uint64_t)etwas_time_segment_unix_ns(segment, raw) / 100);
}

/*
 * Finds the segment from `raw` on, by the timeline if there is one, else by the clock. Returns
 * false and an empty segment where the numbers are too large or the timeline does not interpolate.
 */
bool etwas_time_segment_find(struct etwas_time_segment *segment,
                             const struct etwas_timeline *timeline,
                             const struct etwas_etl_clock *clock, int64_t raw);

#endif
