/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/trust.h"

#include <float.h>
#include <stdint.h>

enum {
    MARKS = 3,
    BRACKETS = 32, /* in a mark */
    PAUSE_NS = 10000000,
    ATTEMPTS = 3,
    PAIRS = 64,
};

#define LARGEST_RELATIVE_ERROR 1e-3

struct bracket {
    int64_t before;
    int64_t raw_ns;
    int64_t after;
};

/* A row of readings, one after the other. */
struct mark {
    struct bracket brackets[BRACKETS];
};

struct interval {
    double low;
    double high;
};

/* The steps of the two clocks. */
struct steps {
    double ticks;
    double raw_ns;
};

/* The difference wraps instead of overflowing, because a counter may begin anywhere. */
static double counter_difference(int64_t later, int64_t earlier)
{
    return (double)(int64_t)((uint64_t)later - (uint64_t)earlier);
}

static void mark_read(const struct etwas_machine *machine, struct mark *mark)
{
    for (int index = 0; index < BRACKETS; index++) {
        struct bracket *bracket = &mark->brackets[index];

        bracket->before = machine->counter();
        bracket->raw_ns = machine->raw_ns();
        bracket->after = machine->counter();
    }
}

static bool mark_runs_backwards(const struct mark *mark)
{
    for (int index = 0; index < BRACKETS; index++) {
        const struct bracket *bracket = &mark->brackets[index];

        if (counter_difference(bracket->after, bracket->before) < 0 ||
            (index > 0 && counter_difference(bracket->before, bracket[-1].after) < 0)) {
            return true;
        }
    }
    return false;
}

static double smaller_of_steps(double smallest, double step)
{
    return step > 0 && step < smallest ? step : smallest;
}

/*
 * Returns the smallest steps seen. They are multiples of the clocks' own steps, and so not smaller.
 */
static struct steps marks_smallest_steps(const struct mark *marks)
{
    struct steps smallest = {DBL_MAX, DBL_MAX};

    for (int mark = 0; mark < MARKS; mark++) {
        for (int index = 1; index < BRACKETS; index++) {
            const struct bracket *bracket = &marks[mark].brackets[index];
            double raw_ns = counter_difference(bracket->raw_ns, bracket[-1].raw_ns);
            double inside = counter_difference(bracket->after, bracket->before);
            double outside = counter_difference(bracket->before, bracket[-1].after);

            smallest.raw_ns = smaller_of_steps(smallest.raw_ns, raw_ns);
            smallest.ticks = smaller_of_steps(smaller_of_steps(smallest.ticks, inside), outside);
        }
    }
    return smallest;
}

/* Returns the interval of the rate, in ticks a second, from all pairs of readings of two marks. */
static struct interval interval_between_marks(const struct mark *earlier, const struct mark *later,
                                              struct steps steps)
{
    struct interval interval = {0, DBL_MAX};

    for (int first = 0; first < BRACKETS; first++) {
        const struct bracket *from = &earlier->brackets[first];

        for (int second = 0; second < BRACKETS; second++) {
            const struct bracket *to = &later->brackets[second];
            double raw_ns = counter_difference(to->raw_ns, from->raw_ns);
            double low;
            double high;

            if (raw_ns <= steps.raw_ns) {
                continue;
            }
            low = (counter_difference(to->before, from->after) - steps.ticks) * 1e9 /
                  (raw_ns + steps.raw_ns);
            high = (counter_difference(to->after, from->before) + steps.ticks) * 1e9 /
                   (raw_ns - steps.raw_ns);
            interval.low = low > interval.low ? low : interval.low;
            interval.high = high < interval.high ? high : interval.high;
        }
    }
    return interval;
}

static bool intervals_overlap(struct interval a, struct interval b)
{
    return a.low <= b.high && b.low <= a.high;
}

static struct interval interval_hull(struct interval a, struct interval b)
{
    struct interval both = a;
    const double ends[] = {a.high, b.low, b.high};

    for (int index = 0; index < 3; index++) {
        both.low = ends[index] < both.low ? ends[index] : both.low;
        both.high = ends[index] > both.high ? ends[index] : both.high;
    }
    return both;
}

/*
 * Measures the rate over three marks. Returns whether it is steady: the first half, the second and
 * the whole can have the same rate. They cannot if a counter or a clock stood still in one half, as
 * over a suspend, or jumped.
 */
static bool rate_attempt(const struct etwas_machine *machine, double raw_step_ns,
                         struct interval *interval, bool *backwards)
{
    struct mark marks[MARKS];
    struct interval halves[2];
    struct steps steps = {1, raw_step_ns};
    bool steady;

    for (int mark = 0; mark < MARKS; mark++) {
        if (mark > 0) {
            machine->pause_ns(PAUSE_NS);
        }
        mark_read(machine, &marks[mark]);
        *backwards = *backwards || mark_runs_backwards(&marks[mark]);
    }
    if (raw_step_ns <= 0) {
        steps = marks_smallest_steps(marks);
    }
    *interval = interval_between_marks(&marks[0], &marks[2], steps);
    halves[0] = interval_between_marks(&marks[0], &marks[1], steps);
    halves[1] = interval_between_marks(&marks[1], &marks[2], steps);
    steady = interval->low <= interval->high && intervals_overlap(halves[0], halves[1]) &&
             intervals_overlap(halves[0], *interval) && intervals_overlap(halves[1], *interval);
    if (!steady) {
        *interval = interval_hull(*interval, interval_hull(halves[0], halves[1]));
    }
    return steady;
}

static double rate_fastest_pair_ticks(const struct etwas_machine *machine, bool *backwards)
{
    double fastest = DBL_MAX;
    int64_t last = machine->counter();

    for (int pair = 0; pair < PAIRS; pair++) {
        int64_t now = machine->counter();
        double ticks = counter_difference(now, last);

        *backwards = *backwards || ticks < 0;
        fastest = ticks < fastest ? ticks : fastest;
        last = now;
    }
    return fastest;
}

bool etwas_clock_measure_rate(const struct etwas_machine *machine, double raw_step_ns,
                              struct etwas_clock_rate *rate)
{
    struct interval interval;
    double ticks;

    *rate = (struct etwas_clock_rate){0};
    for (int tried = 0; tried < ATTEMPTS; tried++) {
        if (rate_attempt(machine, raw_step_ns, &interval, &rate->backwards)) {
            break;
        }
    }
    ticks = rate_fastest_pair_ticks(machine, &rate->backwards);
    if (interval.low <= 0 || interval.high >= DBL_MAX ||
        interval.high - interval.low > 2 * LARGEST_RELATIVE_ERROR * interval.low) {
        return false;
    }
    rate->hz = interval.low + (interval.high - interval.low) / 2;
    rate->error_hz = (interval.high - interval.low) / 2;
    rate->reading_ns = ticks * 1e9 / rate->hz;
    return true;
}
