/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/read/times.h"

#include "math/array.h"

#include <stdlib.h>

#define FILETIME_OF_1970 INT64_C(116444736000000000)
#define TICK_NS 100

/* Deviations up to this need no further point: a FILETIME is no more precise. */
#define TOLERANCE_NS 100u

/* ---- samples --------------------------------------------------------------------------------- */

void etwas_ship_samples_begin(struct etwas_ship_samples *samples)
{
    samples->count = 0;
    samples->error_ns = 0;
    samples->failed = false;
}

void etwas_ship_samples_free(struct etwas_ship_samples *samples)
{
    free(samples->at);
}

bool etwas_ship_unix_ns(int64_t filetime, int64_t *unix_ns)
{
    int64_t ticks;

    if (__builtin_sub_overflow(filetime, FILETIME_OF_1970, &ticks) ||
        __builtin_mul_overflow(ticks, TICK_NS, unix_ns)) {
        *unix_ns = filetime < FILETIME_OF_1970 ? INT64_MIN : INT64_MAX;
        return false;
    }
    return true;
}

bool etwas_ship_wall_clock(etwas_trace_handle trace, int64_t raw, int64_t *unix_ns,
                           uint64_t *error_ns)
{
    etwas_clock_time time;

    if (etwas_trace_convert_time(trace, raw, ETWAS_CLOCK_SYSTEM_TIME, &time) != ERROR_SUCCESS) {
        return false;
    }
    *error_ns = etwas_ship_unix_ns(time.value, unix_ns) ? time.error_ns : UINT64_MAX;
    return true;
}

static void take_one(struct etwas_ship_samples *samples, etwas_trace_handle trace, int64_t raw)
{
    struct etwas_ship_sample *sample;
    uint64_t error_ns;

    if (!etwas_array_reserve(&samples->at, &samples->capacity, samples->count + 1,
                             sizeof *samples->at)) {
        samples->failed = true;
        return;
    }
    sample = &samples->at[samples->count];
    sample->raw = raw;
    if (!etwas_ship_wall_clock(trace, raw, &sample->unix_ns, &error_ns)) {
        samples->failed = true;
        return;
    }
    samples->count++;
    samples->error_ns = error_ns > samples->error_ns ? error_ns : samples->error_ns;
}

static uint64_t apart(int64_t left, int64_t right)
{
    return left < right ? (uint64_t)right - (uint64_t)left : (uint64_t)left - (uint64_t)right;
}

/*
 * Takes the first and last stamps, and those at least `near` from the last sample or the next
 * stamp. So an omitted stamp is between two samples less than 2 × near apart, and no longer
 * interval of the clocks is missed.
 */
void etwas_ship_samples_take(struct etwas_ship_samples *samples, etwas_trace_handle trace,
                             const int64_t *stamps, size_t count, uint64_t near)
{
    int64_t last = count > 0 ? stamps[0] : 0;

    for (size_t i = 0; i < count && !samples->failed; i++) {
        if (i == 0 || i + 1 == count || apart(stamps[i], last) >= near ||
            apart(stamps[i + 1], stamps[i]) >= near) {
            take_one(samples, trace, stamps[i]);
            last = stamps[i];
        }
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static int64_t limited(wide value)
{
    if (value > INT64_MAX) {
        return INT64_MAX;
    }
    return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

/*
 * Converts by the segment from point `left` to the next one, in whole nanoseconds, so that every
 * machine computes the same value.
 */
static int64_t on_line(const struct etwas_ship_times *times, uint32_t left, int64_t raw)
{
    int64_t raw_from = times->point[left].raw;
    int64_t from_ns = times->point[left].unix_ns;
    int64_t until_ns = times->point[left + 1].unix_ns;
    uint64_t ticks = apart(raw, raw_from);
    uint64_t width = apart(times->point[left + 1].raw, raw_from);
    uint64_t rise = apart(until_ns, from_ns);
    bool is_later = (raw < raw_from) == (until_ns < from_ns);
    unsigned_wide moved;

    /*
     * Usually the stamp is between the points, and the product fits in 64 bits. That division takes
     * a tenth of the time.
     */
    if (raw >= raw_from && ticks <= width && ticks <= UINT32_MAX && rise <= UINT32_MAX) {
        int64_t near = (int64_t)(ticks * rise / width);

        return is_later ? from_ns + near : from_ns - near;
    }
    moved = (unsigned_wide)ticks * rise / width;
    moved = moved < UINT64_MAX ? moved : UINT64_MAX;
    return limited(is_later ? from_ns + (wide)moved : from_ns - (wide)moved);
}

/*
 * Finds the point to the left of the stamp, among those with a next point. `hint` is the previous
 * result.
 */
static uint32_t find_line(const struct etwas_ship_times *times, int64_t raw, uint32_t hint)
{
    while (hint > 0 && raw < times->point[hint].raw) {
        hint--;
    }
    while (hint + 2 < times->count && raw >= times->point[hint + 1].raw) {
        hint++;
    }
    return hint;
}

void etwas_ship_times_convert(const struct etwas_ship_times *times, int64_t *stamps, size_t count)
{
    uint32_t line = 0;

    for (size_t i = 0; i < count; i++) {
        if (times->count < 2) {
            stamps[i] = times->count == 1 ? times->point[0].unix_ns : 0;
        } else {
            line = find_line(times, stamps[i], line);
            stamps[i] = on_line(times, line, stamps[i]);
        }
    }
}

bool etwas_ship_times_are_sound(const struct etwas_ship_times *times)
{
    if (times->count > ETWAS_SHIP_POINTS) {
        return false;
    }
    for (uint32_t i = 1; i < times->count; i++) {
        if (times->point[i].raw <= times->point[i - 1].raw) {
            return false;
        }
    }
    return true;
}

/* ---- making them ----------------------------------------------------------------------------- */

static int compare_samples(const void *left, const void *right)
{
    const struct etwas_ship_sample *a = left;
    const struct etwas_ship_sample *b = right;

    if (a->raw != b->raw) {
        return a->raw < b->raw ? -1 : 1;
    }
    return (a->unix_ns > b->unix_ns) - (a->unix_ns < b->unix_ns);
}

/* Returns the sample that is farthest from the lines. */
static const struct etwas_ship_sample *farthest(const struct etwas_ship_samples *samples,
                                                const struct etwas_ship_times *times,
                                                uint64_t *deviation_ns)
{
    const struct etwas_ship_sample *found = &samples->at[0];
    uint32_t line = 0;

    *deviation_ns = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const struct etwas_ship_sample *sample = &samples->at[i];
        int64_t ns = times->point[0].unix_ns;
        uint64_t deviation;

        if (times->count > 1) {
            line = find_line(times, sample->raw, line);
            ns = on_line(times, line, sample->raw);
        }
        deviation = apart(ns, sample->unix_ns);
        if (deviation > *deviation_ns) {
            *deviation_ns = deviation;
            found = sample;
        }
    }
    return found;
}

/* Returns false if there is a point with that stamp already. */
static bool insert(struct etwas_ship_times *times, const struct etwas_ship_sample *sample)
{
    uint32_t at = times->count;

    while (at > 0 && times->point[at - 1].raw >= sample->raw) {
        at--;
        if (times->point[at].raw == sample->raw) {
            return false;
        }
    }
    for (uint32_t i = times->count; i > at; i--) {
        times->point[i] = times->point[i - 1];
    }
    times->point[at].raw = sample->raw;
    times->point[at].unix_ns = sample->unix_ns;
    times->count++;
    return true;
}

void etwas_ship_times_make(struct etwas_ship_samples *samples, struct etwas_ship_times *times)
{
    const struct etwas_ship_sample *sample;
    uint64_t deviation_ns = 0;
    uint64_t error_ns;

    *times = (struct etwas_ship_times){.count = 0};
    if (samples->count == 0) {
        return;
    }
    qsort(samples->at, samples->count, sizeof *samples->at, compare_samples);
    (void)insert(times, &samples->at[0]);
    (void)insert(times, &samples->at[samples->count - 1]);
    sample = farthest(samples, times, &deviation_ns);
    while (deviation_ns > TOLERANCE_NS && times->count < ETWAS_SHIP_POINTS &&
           insert(times, sample)) {
        sample = farthest(samples, times, &deviation_ns);
    }
    /* Even if all samples are on the lines, times between them may deviate by the tolerance. */
    deviation_ns = deviation_ns > TOLERANCE_NS ? deviation_ns : TOLERANCE_NS;
    if (__builtin_add_overflow(samples->error_ns, deviation_ns, &error_ns) ||
        error_ns > UINT32_MAX) {
        error_ns = UINT32_MAX;
    }
    times->error_ns = (uint32_t)error_ns;
}
