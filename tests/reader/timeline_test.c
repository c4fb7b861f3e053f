/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What stamps mean between clock snapshots: made-up timelines whose true times are known. Times
 * must be within the error that is stated, whatever the clocks did.
 */
#include <stdlib.h>

#include "hostile.h"
#include "timeline_scene.h"

static int64_t filetime_at(int64_t raw)
{
    return etwas_etl_filetime_of_ns(etwas_timeline_ns(timeline, raw));
}

/*
 * The counter makes 500 ppm more ticks than it was calibrated for; the wall clock is 20 ppm fast.
 */
static void put_steady(int count)
{
    for (int i = 0; i < count; i++) {
        put(1000 + i * INT64_C(1000500000), 5000 + i * SECOND, START + i * INT64_C(10000200));
    }
}

/* ---- between clock snapshots ----------------------------------------------------------------- */

static void clock_snapshots_put_a_rate_right_that_is_wrong_by_500_ppm(void **state)
{
    (void)state;
    put_steady(1001);
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_true(etwas_timeline_has_rate(timeline));
    for (int64_t half_seconds = 0; half_seconds <= 2000; half_seconds++) {
        int64_t raw = 1000 + half_seconds * 500250000;

        assert_int_equal(qpc_at(raw).value, 5000 + half_seconds * SECOND / 2);
        assert_int_equal(system_at(raw).value, START + half_seconds * 5000100);
        /* FILETIMEs follow QPC, not the wall clock. */
        assert_int_equal(filetime_at(raw), START + half_seconds * 5000000);
        assert_in_range(qpc_at(raw).error_ns, 30, 30 + 4 * 30 + 4);
        assert_in_range(system_at(raw).error_ns, 130, 130 + 4 * 130 + 202);
    }
}

static void times_are_rounded_down_between_clock_snapshots(void **state)
{
    (void)state;
    put(1000, 0, 0);
    put(1003, 10, 2);
    put(1006, 20, 4);
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_int_equal(qpc_at(1000).value, 0);
    assert_int_equal(qpc_at(1001).value, 3);
    assert_int_equal(qpc_at(1002).value, 6);
    assert_int_equal(qpc_at(1003).value, 10);
    assert_int_equal(system_at(1001).value, 0);
    assert_int_equal(system_at(1002).value, 1);
    assert_int_equal(system_at(1003).value, 2);
}

static void ten_years_of_ticks_are_converted_without_an_overflow(void **state)
{
    const int64_t years_ns = 10 * INT64_C(31557600) * SECOND;
    const int64_t ticks = years_ns * 4;

    (void)state;
    put(1000, 5000, START);
    put(1000 + ticks, 5000 + years_ns, START + years_ns / 100);
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_int_equal(qpc_at(1000 + ticks / 4 * 3 + 2).value, 5000 + years_ns / 4 * 3);
    assert_int_equal(filetime_at(1000 + ticks / 2), START + years_ns / 200);
    assert_int_equal(filetime_at(1000 + ticks), START + years_ns / 100);
}

static void a_gap_between_clock_snapshots_is_bridged(void **state)
{
    (void)state;
    put_steady(3);
    for (int i = 3600; i < 3603; i++) {
        put(1000 + i * INT64_C(1000500000), 5000 + i * SECOND, START + i * INT64_C(10000200));
    }
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_int_equal(qpc_at(1000 + 1800 * INT64_C(1000500000)).value, 5000 + 1800 * SECOND);
    /*
     * Nothing beside it is long enough to compare with: 1 ppm of what it is away from a clock
     * snapshot.
     */
    assert_int_equal(qpc_at(1000 + 1800 * INT64_C(1000500000)).error_ns,
                     30 + 1 + (1800 - 2) * 1000 + 1);
}

static void a_counter_that_jumps_disturbs_only_its_interval(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        put(1000 + i * SECOND + (i >= 10 ? 3600 * SECOND : 0), i * SECOND, START + i * 10000000);
    }
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_in_range(qpc_at(1000 + 9 * SECOND + 1800 * SECOND).error_ns, 3600 * SECOND,
                    3600 * SECOND + 3601 * 4 * 130);
    assert_in_range(qpc_at(1000 + 8 * SECOND + SECOND / 2).error_ns, 30, 160);
    assert_in_range(qpc_at(1000 + 3610 * SECOND + SECOND / 2).error_ns, 30, 160);
}

/* ---- outside --------------------------------------------------------------------------------- */

static void outside_of_the_clock_snapshots_their_rate_goes_on_and_the_error_grows(void **state)
{
    int64_t last;

    (void)state;
    put_steady(11);
    build(ETWAS_ETL_CLOCK_CYCLES);
    last = 1000 + 10 * INT64_C(1000500000);
    for (int64_t s = 1; s < 100; s++) {
        etwas_clock_time after = qpc_at(last + s * 1000500000);
        etwas_clock_time before = qpc_at(1000 - s * 1000500000);
        etwas_clock_time system = system_at(last + s * 1000500000);

        assert_int_equal(after.value, 5000 + (10 + s) * SECOND);
        assert_int_equal(before.value, 5000 - s * SECOND);
        /* 1 ppm, and what the two last clock snapshots leave open of the rate. */
        assert_int_equal(after.error_ns, 30 + 2 + s * (1000 + 60 + 1));
        assert_int_equal(before.error_ns, after.error_ns);
        assert_int_equal(system.value, START + 10 * 10000200 + s * 10000000);
        assert_int_equal(system.error_ns - after.error_ns, 130 + 100 + s * 500000);
    }
    assert_int_equal(qpc_at(last).error_ns, 30);
    assert_int_equal(system_at(last).error_ns, 130);
}

static void one_clock_snapshot_goes_on_with_the_calibrated_rate_and_its_bound(void **state)
{
    (void)state;
    put(5000, 9000, START + 77);
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_false(etwas_timeline_has_rate(timeline));
    assert_int_equal(qpc_at(5000 + 2 * SECOND).value, 9000 + 2 * SECOND);
    assert_int_equal(qpc_at(5000 + 2 * SECOND).error_ns, 30 + 2 + 2000);
    assert_int_equal(system_at(5000).value, START + 77);
    assert_int_equal(system_at(5000).error_ns, 130);
    assert_int_equal(etwas_timeline_largest_error_ns(timeline, ETWAS_CLOCK_QPC), 30);
}

static void without_clock_snapshots_the_error_is_not_known(void **state)
{
    (void)state;
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_int_equal(qpc_at(1000 + SECOND).value, 7000 + SECOND);
    assert_true(qpc_at(1000 + SECOND).error_ns == UINT64_MAX);
    assert_int_equal(system_at(1000 + SECOND).value, START + 10000000);
    assert_true(system_at(1000 + SECOND).error_ns == UINT64_MAX);
    assert_true(etwas_timeline_largest_error_ns(timeline, ETWAS_CLOCK_QPC) == UINT64_MAX);
}

static void times_outside_of_64_bits_are_the_nearest_there_are(void **state)
{
    const int64_t edge = INT64_C(1) << 62;

    (void)state;
    put(-10, 1 - edge, 1 - edge);
    put(10, edge - 1, edge - 1);
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_true(qpc_at(INT64_MAX).value == INT64_MAX);
    assert_true(qpc_at(INT64_MIN).value == INT64_MIN);
    assert_true(system_at(INT64_MAX).value > 0);
    assert_true(system_at(INT64_MIN).value < 0);
    assert_true(filetime_at(INT64_MAX) == INT64_MAX);
    assert_true(filetime_at(INT64_MIN) == INT64_MIN);
    assert_int_equal(qpc_at(0).value, 0);
    assert_true(qpc_at(INT64_MAX).error_ns != UINT64_MAX);
}

/* ---- the wall clock -------------------------------------------------------------------------- */

static void a_step_of_the_wall_clock_is_the_error_of_its_interval_alone(void **state)
{
    const int64_t step = 36000000000; /* an hour */

    (void)state;
    for (int i = 0; i < 30; i++) {
        put(1000 + i * SECOND, 5000 + i * SECOND,
            START + i * 10000000 + (i >= 10 ? step : 0) - (i >= 20 ? 2 * step : 0));
    }
    build(ETWAS_ETL_CLOCK_CYCLES);
    for (int i = 0; i < 29; i++) {
        int64_t raw = 1000 + i * SECOND + SECOND / 4;
        uint64_t moved_ns = i == 9 ? 3600 * SECOND : i == 19 ? 7200 * SECOND : 0;

        /*
         * The clock snapshots' errors: its own, its two, half of its neighbours' two, or both where
         * it has but one; and roundings.
         */
        assert_in_range(system_at(raw).error_ns, moved_ns + 4 * 130 + 100 + 1,
                        moved_ns + 5 * 130 + 100 + 1);
        assert_int_equal(qpc_at(raw).value, 5000 + i * SECOND + SECOND / 4);
        assert_int_equal(qpc_at(raw).error_ns, (i == 1 || i == 27 ? 5 : 4) * 30 + 2);
        assert_int_equal(filetime_at(raw), START + i * 10000000 + 2500000);
    }
    assert_int_equal(system_at(1000 + 9 * SECOND + SECOND / 4).value,
                     START + 90000000 + (10000000 + step) / 4);
    assert_int_equal(system_at(1000 + 15 * SECOND).value, START + 150000000 + step);
    assert_int_equal(system_at(1000 + 25 * SECOND).value, START + 250000000 - step);
}

static void a_session_of_system_time_says_when_a_stamp_means_several_moments(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) {
        int64_t filetime = START + i * 10000000 - (i >= 10 ? 50000000 : 0);
        const struct etwas_clock_snapshot snapshot = {filetime, i * SECOND, filetime, 0, 30, 0};

        assert_true(etwas_clock_snapshot_list_add(&clock_snapshot_list, &snapshot));
    }
    build(ETWAS_ETL_CLOCK_SYSTEM);
    assert_int_equal(timeline->all_count, 30);
    assert_int_equal(timeline->unusable, 0);
    assert_true(timeline->count < 30);
    for (int64_t raw = START; raw < START + 240000000; raw += 1234567) {
        etwas_clock_time qpc = qpc_at(raw);
        int64_t error = (int64_t)qpc.error_ns;

        assert_int_equal(system_at(raw).value, raw);
        assert_int_equal(system_at(raw).error_ns, 0);
        /* Before and after it was set back by 5 s. */
        if (raw < START + 90000000) {
            assert_true(llabs(qpc.value - (raw - START) * 100) <= error);
        }
        if (raw >= START + 50000000) {
            assert_true(llabs(qpc.value - (raw - START) * 100 - 5 * SECOND) <= error);
        }
    }
}

/* At 9.3 s the clock is set back by less than a second, the time between two clock snapshots. */
static void so_it_does_where_the_clock_was_set_back_between_clock_snapshots(void **state)
{
    const int64_t back = 4000000;
    const int64_t set_at = START + 93000000;

    (void)state;
    for (int i = 0; i < 30; i++) {
        int64_t filetime = START + i * 10000000 - (i >= 10 ? back : 0);
        const struct etwas_clock_snapshot snapshot = {filetime, i * SECOND, filetime, 0, 30, 0};

        assert_true(etwas_clock_snapshot_list_add(&clock_snapshot_list, &snapshot));
    }
    build(ETWAS_ETL_CLOCK_SYSTEM);
    assert_int_equal(timeline->count, 30);
    for (int64_t raw = START; raw < START + 240000000; raw += 123456) {
        etwas_clock_time qpc = qpc_at(raw);
        int64_t error = (int64_t)qpc.error_ns;

        if (raw < set_at) {
            assert_true(llabs(qpc.value - (raw - START) * 100) <= error);
        }
        if (raw >= set_at - back) {
            assert_true(llabs(qpc.value - (raw - START + back) * 100) <= error);
        }
    }
}

static void stamps_of_qpc_are_exact_by_qpc(void **state)
{
    (void)state;
    put_steady(2);
    build(ETWAS_ETL_CLOCK_PERFORMANCE);
    for (int64_t raw = -5; raw < 5; raw++) {
        assert_int_equal(qpc_at(raw).value, raw);
        assert_int_equal(qpc_at(raw).error_ns, 0);
    }
    assert_true(qpc_at(INT64_MIN).value == INT64_MIN);
    assert_true(qpc_at(INT64_MAX).value == INT64_MAX);
}

/* ---- hostile clock snapshots ----------------------------------------------------------------- */

static void shuffle(void)
{
    for (size_t i = clock_snapshot_list.count - 1; i > 0; i--) {
        size_t j = next_random() % (i + 1);
        struct etwas_clock_snapshot snapshot = clock_snapshot_list.snapshots[i];

        clock_snapshot_list.snapshots[i] = clock_snapshot_list.snapshots[j];
        clock_snapshot_list.snapshots[j] = snapshot;
    }
}

static void expect_steady(int count)
{
    for (int64_t i = 0; i < 2 * count - 2; i++) {
        assert_int_equal(qpc_at(1000 + i * 500250000).value, 5000 + i * SECOND / 2);
    }
}

static void clock_snapshots_in_any_order_and_twice_are_the_same(void **state)
{
    (void)state;
    put_steady(200);
    put_steady(200);
    shuffle();
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_int_equal(timeline->count, 200);
    assert_int_equal(timeline->all_count, 200);
    assert_int_equal(timeline->found, 200);
    assert_int_equal(timeline->unusable, 0);
    expect_steady(200);
}

static void clock_snapshots_that_contradict_the_others_are_left_out(void **state)
{
    static const int64_t extremes[] = {INT64_MIN,        INT64_MIN + 1, -(INT64_C(1) << 62),
                                       INT64_C(1) << 62, INT64_MAX - 1, INT64_MAX};

    (void)state;
    put_steady(200);
    put(1000 + 50 * INT64_C(1000500000) + 7, 5000 + 190 * SECOND, START);
    put(1000 + 150 * INT64_C(1000500000) + 7, 5000 + 3 * SECOND, START);
    put(1000 + 70 * INT64_C(1000500000), 5000 + 71 * SECOND, START);     /* equal stamps */
    put(1000 + 71 * INT64_C(1000500000) - 1, 5000 + 71 * SECOND, START); /* equal QPC */
    for (size_t i = 0; i < sizeof extremes / sizeof extremes[0]; i++) {
        put(extremes[i], 5000, START);
        put(5000, extremes[i], START);
        put(5000, 5000, extremes[i]);
    }
    shuffle();
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_int_equal(timeline->count, 200);
    assert_int_equal(timeline->unusable, 22);
    expect_steady(200);
}

static void a_million_clock_snapshots_are_thinned_evenly(void **state)
{
    enum {
        MILLION = 1000000
    };

    (void)state;
    for (int64_t i = 0; i < MILLION; i++) {
        put(1000 + i * INT64_C(1000500), 5000 + i * INT64_C(1000000), START + i * 10000);
    }
    assert_int_equal(clock_snapshot_list.found, MILLION);
    assert_true(clock_snapshot_list.capacity <= ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT);
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_true(timeline->count > ETWAS_TIMELINE_CLOCK_SNAPSHOTS_LIMIT / 2);
    assert_int_equal(timeline->snapshots[0].raw, 1000);
    assert_true(timeline->snapshots[timeline->count - 1].raw > 1000 + INT64_C(999900) * 1000500);
    for (size_t i = 1; i < timeline->count; i++) {
        assert_true(timeline->snapshots[i].qpc_ns - timeline->snapshots[i - 1].qpc_ns <=
                    64 * SECOND);
    }
    for (int i = 0; i < 100000; i++) {
        uint32_t at = next_random() % MILLION;

        assert_int_equal(qpc_at(1000 + at * INT64_C(1000500)).value, 5000 + at * INT64_C(1000000));
    }
}

static int64_t random_reading(void)
{
    int64_t value = (int64_t)((uint64_t)next_random() << 32 | next_random());

    return value >> next_random() % 64;
}

static int compare_readings(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static void the_order_of_stamps_never_turns_around_R158(void **state)
{
    enum {
        STAMPS = 500
    };
    static const uint32_t types[] = {1, 2, 3, 3, 3, 3, 77};
    int64_t stamps[STAMPS];

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint32_t count = next_random() % 40;
        int64_t before = INT64_MIN;

        (void)forget(NULL);
        for (uint32_t i = 0; i < count; i++) {
            put(random_reading(), random_reading(), random_reading());
        }
        build(types[next_random() % 7]);
        for (size_t i = 0; i < STAMPS; i++) {
            stamps[i] = i < timeline->count
                            ? timeline->snapshots[i].raw + (int)(next_random() % 3) - 1
                            : random_reading();
        }
        qsort(stamps, STAMPS, sizeof stamps[0], compare_readings);
        for (size_t i = 0; i < STAMPS; i++) {
            int64_t time = etwas_etl_filetime_of_ns(etwas_timeline_ns(timeline, stamps[i]));

            assert_true(time >= before);
            before = time;
            (void)qpc_at(stamps[i]);
            (void)system_at(stamps[i]);
        }
        (void)etwas_timeline_largest_error_ns(timeline, ETWAS_CLOCK_QPC);
        (void)etwas_timeline_largest_error_ns(timeline, ETWAS_CLOCK_SYSTEM_TIME);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMELINE_TEST(clock_snapshots_put_a_rate_right_that_is_wrong_by_500_ppm),
        TIMELINE_TEST(times_are_rounded_down_between_clock_snapshots),
        TIMELINE_TEST(ten_years_of_ticks_are_converted_without_an_overflow),
        TIMELINE_TEST(a_gap_between_clock_snapshots_is_bridged),
        TIMELINE_TEST(a_counter_that_jumps_disturbs_only_its_interval),
        TIMELINE_TEST(outside_of_the_clock_snapshots_their_rate_goes_on_and_the_error_grows),
        TIMELINE_TEST(one_clock_snapshot_goes_on_with_the_calibrated_rate_and_its_bound),
        TIMELINE_TEST(without_clock_snapshots_the_error_is_not_known),
        TIMELINE_TEST(times_outside_of_64_bits_are_the_nearest_there_are),
        TIMELINE_TEST(a_step_of_the_wall_clock_is_the_error_of_its_interval_alone),
        TIMELINE_TEST(a_session_of_system_time_says_when_a_stamp_means_several_moments),
        TIMELINE_TEST(so_it_does_where_the_clock_was_set_back_between_clock_snapshots),
        TIMELINE_TEST(stamps_of_qpc_are_exact_by_qpc),
        TIMELINE_TEST(clock_snapshots_in_any_order_and_twice_are_the_same),
        TIMELINE_TEST(clock_snapshots_that_contradict_the_others_are_left_out),
        TIMELINE_TEST(a_million_clock_snapshots_are_thinned_evenly),
        TIMELINE_TEST(the_order_of_stamps_never_turns_around_R158),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
