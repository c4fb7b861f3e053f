/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What stamps mean between clock snapshots, where the clocks behind them are random functions of
 * the counter: the true time is within the error that is stated.
 */
#include "hostile.h"
#include "timeline_scene.h"

__extension__ typedef __int128 wide;

/*
 * A clock as a function of the counter's ticks, in parts of a nanosecond: the rate changes, or it
 * jumps.
 */
struct truth {
    int64_t raw;
    wide time;
    int64_t rate; /* a tick */
};

enum {
    CHANGES = 40
};

#define PARTS INT64_C(1000000000) /* of a nanosecond */

static struct truth truths[2][CHANGES]; /* QPC, system time */
static int changes;

static wide true_time(int clock, int64_t raw)
{
    int i = 0;

    while (i + 1 < changes && truths[clock][i + 1].raw <= raw) {
        i++;
    }
    return truths[clock][i].time + (wide)(raw - truths[clock][i].raw) * truths[clock][i].rate;
}

static int64_t random_between(int64_t least, int64_t most)
{
    return least + (int64_t)(((uint64_t)next_random() << 32 | next_random()) %
                             (uint64_t)(most - least + 1));
}

static int64_t jump_of(int clock)
{
    /* Below and above what counts as a step. The performance counter only goes forward. */
    static const int64_t sizes_ns[] = {0, 0, 0, 0, 50000, 900000, 3000000, SECOND, 3600 * SECOND};
    int64_t size = sizes_ns[next_random() % (clock == 0 ? 5 : 9)];

    return clock == 0 || next_random() % 2 == 0 ? size : -size;
}

/*
 * Up to 180 ppm from three ticks a nanosecond, or so little from what it was that clock snapshots
 * do not show it.
 */
static int64_t changed(int64_t rate)
{
    return rate != 0 && next_random() % 2 == 0
               ? rate + random_between(-300, 300)
               : PARTS / 3 + random_between(-60 * PARTS / 1000000, 60 * PARTS / 1000000);
}

/*
 * Every six seconds or more one thing happens to each clock; three thousand million ticks a second.
 */
static void make_truths(void)
{
    changes = CHANGES;
    for (int clock = 0; clock < 2; clock++) {
        int64_t raw = 1000;
        int64_t rate = 0;
        wide time = clock == 0 ? (wide)random_between(0, 1000) * SECOND * PARTS
                               : (wide)100000000 * SECOND * PARTS;

        for (int i = 0; i < CHANGES; i++) {
            int64_t length = random_between(18, 24) * SECOND;
            bool jumps = next_random() % 2 == 0;

            if (i == 0 || !jumps) {
                rate = changed(rate);
            } else {
                time += (wide)jump_of(clock) * PARTS;
            }
            truths[clock][i] = (struct truth){raw, time, rate};
            raw += length;
            time += (wide)length * rate;
        }
    }
}

static int64_t floor_ns(wide time)
{
    return (int64_t)(time / PARTS - (time % PARTS < 0));
}

/* Clock snapshots 0.5 to 1 s apart, each wrong within its errors. */
static int64_t put_random_clock_snapshots(int64_t most)
{
    int64_t raw = 1000;

    for (int64_t i = 0; i < most; i++) {
        int64_t qpc_error = random_between(0, 100);
        int64_t system_error = random_between(0, 200);
        int64_t qpc_ns = floor_ns(true_time(0, raw)) + random_between(-qpc_error, qpc_error);
        int64_t system_ns =
            floor_ns(true_time(1, raw)) + random_between(-system_error, system_error);
        const struct etwas_clock_snapshot snapshot = {
            raw, qpc_ns, system_ns / 100, 0, (uint32_t)qpc_error + 1, (uint32_t)system_error + 101};

        assert_true(etwas_clock_snapshot_list_add(&clock_snapshot_list, &snapshot));
        raw += random_between(3 * SECOND / 2, 3 * SECOND);
    }
    return clock_snapshot_list.snapshots[clock_snapshot_list.count - 1].raw;
}

static void expect_within(wide value, wide truth, uint64_t error_ns)
{
    wide apart = value > truth ? value - truth : truth - value;

    if (apart > (wide)error_ns * PARTS) {
        fail_msg("%lld ns from the truth, and the error is %llu", (long long)(apart / PARTS),
                 (unsigned long long)error_ns);
    }
}

/* From a nanosecond to some seconds, all lengths alike. */
static int64_t random_length(void)
{
    return random_between(1, INT64_C(3) << random_between(0, 33));
}

static void expect_interval(int64_t from, int64_t to)
{
    etwas_clock_time interval = etwas_timeline_interval(timeline, from, to);

    assert_int_equal(interval.value, qpc_at(to).value - qpc_at(from).value);
    expect_within((wide)interval.value * PARTS, true_time(0, to) - true_time(0, from),
                  interval.error_ns);
    assert_true(interval.error_ns <= qpc_at(from).error_ns + qpc_at(to).error_ns);
    interval = etwas_timeline_interval(timeline, to, from);
    expect_within((wide)interval.value * PARTS, true_time(0, from) - true_time(0, to),
                  interval.error_ns);
}

/* The first and the last interval have a neighbour on one side alone. */
static void what_passed_is_within_its_error(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        int64_t first;
        int64_t last;

        (void)forget(NULL);
        make_truths();
        (void)put_random_clock_snapshots(random_between(6, 300));
        build(ETWAS_ETL_CLOCK_CYCLES);
        timeline->base.rate = (struct etwas_timeline_rate){3, 1, 1000};
        first = timeline->snapshots[1].raw;
        last = timeline->snapshots[timeline->count - 2].raw;
        for (int i = 0; i < 2000; i++) {
            int64_t from = random_between(first, last);
            int64_t to = from + random_length();

            expect_interval(from, to < last ? to : last);
        }
    }
}

/*
 * Clocks that do not jump, at rates within one part in a million, also before the first clock
 * snapshot and after the last.
 */
static void make_calm_truths(void)
{
    make_truths();
    changes = 1;
    truths[0][0].raw = INT64_MIN / 4;
    truths[0][0].time = truths[0][0].raw * (wide)truths[0][0].rate + (wide)SECOND * PARTS * 1000;
    truths[1][0].raw = truths[0][0].raw;
    truths[1][0].time = truths[1][0].raw * (wide)truths[1][0].rate;
}

static void what_passed_of_even_clocks_is_known_well(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        int64_t last;

        (void)forget(NULL);
        make_calm_truths();
        last = put_random_clock_snapshots(random_between(2, 30));
        build(ETWAS_ETL_CLOCK_CYCLES);
        timeline->base.rate = (struct etwas_timeline_rate){3, 1, 1000};
        for (int i = 0; i < 2000; i++) {
            int64_t from = random_between(1000 - SECOND, last + SECOND);
            int64_t to = from + random_length();

            expect_interval(from, to);
            /* Ten microseconds: what both times have in common is gone. */
            if (timeline->count > 3 && from > 1000 && from + 30000 < last) {
                assert_in_range(etwas_timeline_interval(timeline, from, from + 30000).error_ns, 0,
                                10);
            }
        }
    }
}

static void the_true_time_is_within_the_error(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        int64_t last;

        (void)forget(NULL);
        make_truths();
        last = put_random_clock_snapshots(random_between(4, 300));
        build(ETWAS_ETL_CLOCK_CYCLES);
        timeline->base.rate = (struct etwas_timeline_rate){3, 1, 1000};
        assert_int_equal(timeline->unusable, 0);
        for (int i = 0; i < 2000; i++) {
            int64_t raw = random_between(1000, last);
            etwas_clock_time qpc = qpc_at(raw);
            etwas_clock_time system = system_at(raw);

            expect_within((wide)qpc.value * PARTS, true_time(0, raw), qpc.error_ns);
            expect_within((wide)system.value * 100 * PARTS, true_time(1, raw), system.error_ns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMELINE_TEST(the_true_time_is_within_the_error),
        TIMELINE_TEST(what_passed_is_within_its_error),
        TIMELINE_TEST(what_passed_of_even_clocks_is_known_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
