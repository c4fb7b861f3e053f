/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The time of an event as ProcessTrace delivers it: how the stamps of one file or session become
 * times. There is one conversion, etwas_event_time_ns. The timeline converts if it knows the rate
 * of the file's clock, else the header's clock does (etl/clock_convert.h). timeline.h converts
 * stamps to other clocks, and bounds their errors.
 *
 * A time segment is a piece of that conversion: a range of stamps in which 64-bit multiplications
 * alone turn a stamp into a time. They are used because a division takes as long as the rest of an
 * event. The result is the same, to the nanosecond:
 *
 *     ns since 1970 = base_ns + floor((rest + (raw - from_raw) × numerator) / denominator)
 */
#ifndef ETWAS_READER_EVENT_TIME_H
#define ETWAS_READER_EVENT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/timeline.h"

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

/* Returns the FILETIME of a time in a segment. No segment lies before 1970. */
static inline int64_t etwas_time_segment_filetime_of(int64_t unix_ns)
{
    return ETWAS_ETL_FILETIME_OF_1970 + (int64_t)((uint64_t)unix_ns / 100);
}

static inline int64_t etwas_time_segment_filetime(const struct etwas_time_segment *segment,
                                                  int64_t raw)
{
    return etwas_time_segment_filetime_of(etwas_time_segment_unix_ns(segment, raw));
}

/*
 * Finds the segment from `raw` on, by the timeline if there is one, else by the clock. Returns
 * false and an empty segment where the numbers are too large or the timeline does not interpolate.
 */
bool etwas_time_segment_find(struct etwas_time_segment *segment,
                             const struct etwas_timeline *timeline,
                             const struct etwas_etl_clock *clock, int64_t raw);

struct etwas_event_time {
    const struct etwas_etl_clock *clock;
    const struct etwas_timeline *timeline; /* converts instead of `clock`; NULL: there is none */
    struct etwas_time_segment segment;     /* found for the last stamp outside the previous one */
};

/*
 * Returns the conversion by this clock, or by the timeline if that has a rate
 * (etwas_timeline_has_rate). `timeline` may be NULL. The caller keeps both.
 */
struct etwas_event_time etwas_event_time_by(const struct etwas_etl_clock *clock,
                                            const struct etwas_timeline *timeline);

/* Returns the moment of a stamp in nanoseconds since 1970, rounded down. */
etwas_etl_wide etwas_event_time_ns(const struct etwas_event_time *time, int64_t raw);

/*
 * The two functions below for a stamp outside of the time segment: they find the segment from there
 * on, or convert with wider numbers.
 */
int64_t etwas_event_time_filetime_slow(struct etwas_event_time *time, int64_t raw);
int64_t etwas_event_time_unix_ns_slow(struct etwas_event_time *time, int64_t raw);

/* Returns the time of a stamp as callbacks get it. */
static inline int64_t etwas_event_time_filetime(struct etwas_event_time *time, int64_t raw)
{
    return etwas_time_segment_contains(&time->segment, raw)
               ? etwas_time_segment_filetime(&time->segment, raw)
               : etwas_event_time_filetime_slow(time, raw);
}

/* Returns the same in nanoseconds since 1970. */
static inline int64_t etwas_event_time_unix_ns(struct etwas_event_time *time, int64_t raw)
{
    return etwas_time_segment_contains(&time->segment, raw)
               ? etwas_time_segment_unix_ns(&time->segment, raw)
               : etwas_event_time_unix_ns_slow(time, raw);
}

#endif
