/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/drift.h"

#include <math.h>

#include "clock/lab/tally.h"
#include "clock/student_t.h"

enum {
    POINTS_AT_LEAST = 3,
    BLOCKS = 16,
    TIMES_THE_USUAL_WIDTH = 4,
    TIMES_THE_USUAL_CHANGE = 20,
    POINTS_A_STEP = 8, /* a clock that steps more often just counts coarsely */
};

/* No kernel adjusts its clock faster (500 ppm, and the counter itself may be off as much). */
static const double fastest_adjustment = 1e-3;

static double fit_median(double *values, uint32_t count)
{
    etwas_lab_sort(values, count);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/*
 * Removes points with brackets much wider than usual, and those that are not later than the
 * previous one. Returns how many remain.
 */
static uint32_t fit_drop_interrupted(struct etwas_lab_point *points, uint32_t count,
                                     double *usual_width_ns)
{
    double widths[ETWAS_LAB_POINTS];
    uint32_t kept = 0;

    for (uint32_t index = 0; index < count; index++) {
        widths[index] = points[index].width_ns;
    }
    *usual_width_ns = fit_median(widths, count);
    for (uint32_t index = 0; index < count; index++) {
        bool later = kept == 0 || points[index].at_ns > points[kept - 1].at_ns;

        if (later && points[index].width_ns <= TIMES_THE_USUAL_WIDTH * *usual_width_ns) {
            points[kept++] = points[index];
        }
    }
    return kept;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A run of points between two steps. */
struct segment {
    uint32_t first;
    uint32_t count;
};

/* Returns by how much the change from one point to the next exceeds the usual one. */
static double fit_residual(const struct etwas_lab_point *point, double rate)
{
    return fabs(point[1].ahead_ns - point[0].ahead_ns - rate * (point[1].at_ns - point[0].at_ns));
}

/*
 * Splits the points where the clock or its reference was set: where the change far exceeds the
 * usual scatter, the brackets, the resolution and what an adjusted rate could cause.
 */
static uint32_t fit_cut_at_steps(const struct etwas_lab_point *points, uint32_t count,
                                 double resolution_ns, struct segment *segments)
{
    double values[ETWAS_LAB_POINTS];
    uint32_t used = 1;
    double rate;
    double scatter;

    for (uint32_t index = 0; index + 1 < count; index++) {
        values[index] = (points[index + 1].ahead_ns - points[index].ahead_ns) /
                        (points[index + 1].at_ns - points[index].at_ns);
    }
    rate = fit_median(values, count - 1);
    for (uint32_t index = 0; index + 1 < count; index++) {
        values[index] = fit_residual(&points[index], rate);
    }
    scatter = fit_median(values, count - 1);
    segments[0] = (struct segment){0, 1};
    for (uint32_t index = 0; index + 1 < count; index++) {
        const struct etwas_lab_point *point = &points[index];
        double limit = TIMES_THE_USUAL_CHANGE * scatter + 2 * resolution_ns + point[0].width_ns +
                       point[1].width_ns + fastest_adjustment * (point[1].at_ns - point[0].at_ns);

        if (fit_residual(point, rate) > limit) {
            segments[used++] = (struct segment){index + 1, 0};
        }
        segments[used - 1].count++;
    }
    if (used - 1 > count / POINTS_A_STEP) {
        segments[0] = (struct segment){0, count};
        return 1;
    }
    return used;
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Sums over blocks, each weighted by its points, relative to the mean of its segment. */
struct sums {
    double time_time;
    double time_ahead;
    double ahead_ahead;
    int32_t degrees; /* blocks less one height for each segment */
};

struct block {
    double points;
    double at_ns;
    double ahead_ns;
};

static struct block block_mean(const struct etwas_lab_point *points, uint32_t count)
{
    struct block mean = {.points = count};

    for (uint32_t index = 0; index < count; index++) {
        mean.at_ns += points[index].at_ns / count;
        /* Relative to the first, which is exact even if the clock is far ahead. */
        mean.ahead_ns += (points[index].ahead_ns - points[0].ahead_ns) / count;
    }
    mean.ahead_ns += points[0].ahead_ns;
    return mean;
}

/* At least two blocks if there are two points; otherwise the segment would contribute nothing. */
static uint32_t fit_block_count(uint32_t points, uint32_t all)
{
    uint32_t blocks = (uint32_t)(((uint64_t)BLOCKS * points + all / 2) / all);

    blocks = blocks < 2 ? 2 : blocks;
    return blocks < points ? blocks : points;
}

static void fit_add_segment(struct sums *sums, const struct etwas_lab_point *points, uint32_t count,
                            uint32_t all)
{
    const struct block mean = block_mean(points, count);
    const uint32_t blocks = fit_block_count(count, all);
    uint32_t begin = 0;

    for (uint32_t index = 0; index < blocks; index++) {
        uint32_t end = (uint32_t)((uint64_t)count * (index + 1) / blocks);
        struct block block = block_mean(&points[begin], end - begin);
        double at = block.at_ns - mean.at_ns;
        double ahead = block.ahead_ns - mean.ahead_ns;

        sums->time_time += block.points * at * at;
        sums->time_ahead += block.points * at * ahead;
        sums->ahead_ahead += block.points * ahead * ahead;
        begin = end;
    }
    sums->degrees += (int32_t)blocks - 1;
}

static void fit_line(const struct sums *sums, double *slope, double *interval)
{
    /* The slope takes one degree of freedom. */
    const uint32_t degrees = (uint32_t)sums->degrees - 1;
    double rest;

    *slope = sums->time_ahead / sums->time_time;
    rest = sums->ahead_ahead - *slope * sums->time_ahead;
    rest = rest > 0 ? rest : 0; /* rounding */
    *interval = etwas_student_interval(rest / degrees / sums->time_time, degrees);
}

void etwas_lab_fit(struct etwas_lab_point *points, uint32_t count, double resolution_ns,
                   etwas_clock_drift *drift)
{
    const double ppm = 1e6;
    struct segment segments[ETWAS_LAB_POINTS];
    struct sums sums = {0};
    uint32_t used;
    double usual_width_ns;
    double span_ns;
    double slope;
    double interval;
    double floor;

    *drift = (etwas_clock_drift){0};
    if (count < POINTS_AT_LEAST) {
        return;
    }
    count = fit_drop_interrupted(points, count, &usual_width_ns);
    if (count < POINTS_AT_LEAST) {
        return;
    }
    used = fit_cut_at_steps(points, count, resolution_ns, segments);
    for (uint32_t index = 0; index < used; index++) {
        fit_add_segment(&sums, &points[segments[index].first], segments[index].count, count);
    }
    if (sums.degrees < 2) {
        return;
    }
    fit_line(&sums, &slope, &interval);
    span_ns = points[count - 1].at_ns - points[0].at_ns;
    floor = (usual_width_ns + resolution_ns) / span_ns;
    *drift = (etwas_clock_drift){
        .known = true,
        .ppm = slope * ppm,
        .interval_ppm = (interval > floor ? interval : floor) * ppm,
        .points = count,
        .seconds = span_ns / 1e9,
    };
}
