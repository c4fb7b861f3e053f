/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Raw stamps to FILETIME: R151, R152, R153, R157, R158. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "etl/clock_convert.h"

#define DAY_SECONDS INT64_C(86400)
#define TEN_YEAR_SECONDS (INT64_C(3653) * DAY_SECONDS)
#define START INT64_C(133500000000000000) /* a day in 2024 */

struct row {
    uint32_t clock_type;
    int64_t frequency_hz;
    uint32_t mhz;
    int64_t seconds;      /* from the anchor */
    int64_t ticks_second; /* of the clock */
};

/* 25 hours is where 64 bits end at 10 MHz; the ten years are 1.3e18 ticks of the fastest clock. */
static const struct row rows[] = {
    {1, 10000000, 1, 25 * 3600, 10000000},
    {1, 10000000, 1, TEN_YEAR_SECONDS, 10000000},
    {1, 1000000000, 1, 25 * 3600, 1000000000},
    {1, 1000000000, 1, TEN_YEAR_SECONDS, 1000000000},
    {1, 3117777, 1, TEN_YEAR_SECONDS, 3117777},
    {1, 1, 1, TEN_YEAR_SECONDS, 1},
    {1, 10000000, 1, 0, 10000000},
    {3, 1, 3000, 25 * 3600, 3000000000},
    {3, 1, 4096, TEN_YEAR_SECONDS, 4096000000},
    {3, 1, 1, TEN_YEAR_SECONDS, 1000000},
};

static void seconds_are_seconds_for_hours_and_for_ten_years_both_ways(void **state)
{
    const int64_t anchors[] = {0, 1, -1, INT64_C(123456789012345)};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t a = 0; a < sizeof anchors / sizeof anchors[0]; a++) {
            const struct row *row = &rows[i];
            struct etwas_etl_clock clock;
            int64_t ticks = row->seconds * row->ticks_second;

            assert_true(etwas_etl_clock_from_header(&clock, row->clock_type, row->frequency_hz,
                                                    row->mhz, anchors[a], START));
            assert_int_equal(etwas_etl_clock_to_filetime(&clock, anchors[a] + ticks),
                             START + row->seconds * 10000000);
            assert_int_equal(etwas_etl_clock_to_filetime(&clock, anchors[a] - ticks),
                             START - row->seconds * 10000000);
        }
    }
}

static void system_time_is_filetime_already(void **state)
{
    const int64_t stamps[] = {INT64_MIN, -1, 0, 1, START, INT64_MAX};
    struct etwas_etl_clock clock;

    (void)state;
    assert_true(etwas_etl_clock_from_header(&clock, 2, 10000000, 3000, START + 5, START));
    for (size_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        assert_int_equal(etwas_etl_clock_to_filetime(&clock, stamps[i]), stamps[i]);
    }
}

static void the_order_of_stamps_survives_rounding(void **state)
{
    struct etwas_etl_clock clock;
    int64_t before;

    (void)state;
    assert_true(etwas_etl_clock_from_header(&clock, 1, 1000000000, 1, 0, START));
    before = etwas_etl_clock_to_filetime(&clock, -1000);
    for (int64_t raw = -999; raw <= 1000; raw++) {
        int64_t now = etwas_etl_clock_to_filetime(&clock, raw);

        assert_true(now == before || now == before + 1);
        assert_int_equal(now - START, raw >= 0 ? raw / 100 : -((-raw + 99) / 100));
        before = now;
    }
}

static void what_does_not_fit_saturates(void **state)
{
    struct etwas_etl_clock clock;

    (void)state;
    assert_true(etwas_etl_clock_from_header(&clock, 1, 1, 1, INT64_MIN, START));
    assert_true(etwas_etl_clock_to_filetime(&clock, INT64_MAX) == INT64_MAX);
    assert_true(etwas_etl_clock_from_header(&clock, 1, 1, 1, INT64_MAX, START));
    assert_true(etwas_etl_clock_to_filetime(&clock, INT64_MIN) == INT64_MIN);
    assert_true(etwas_etl_clock_from_header(&clock, 1, INT64_MAX, 1, INT64_MIN, 0));
    assert_int_equal(etwas_etl_clock_to_filetime(&clock, INT64_MAX), 20000000);
}

static void numbers_that_cannot_be_used_count_a_tick_as_100_ns(void **state)
{
    static const struct {
        uint32_t clock_type;
        int64_t frequency_hz;
        uint32_t mhz;
    } bad[] = {{0, 1, 1}, {4, 1, 1}, {UINT32_MAX, 1, 1}, {1, 0, 1}, {1, -5, 1}, {3, 1, 0}};
    struct etwas_etl_clock clock;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(etwas_etl_clock_from_header(&clock, bad[i].clock_type, bad[i].frequency_hz,
                                                 bad[i].mhz, 100, START));
        assert_int_equal(etwas_etl_clock_to_filetime(&clock, 107), START + 7);
    }
}

static void a_calibration_is_exact_where_whole_megahertz_are_not(void **state)
{
    /* 2,994,374,511 Hz; ten days later whole MHz are off by more than 100 seconds. */
    const struct etwas_etl_calibration calibration = {
        .version = 1, .clock_type = 3, .ticks = 2994374511, .nanoseconds = 1000000000};
    const int64_t ticks = 10 * DAY_SECONDS * INT64_C(2994374511);
    struct etwas_etl_clock clock;

    (void)state;
    assert_true(etwas_etl_clock_from_header(&clock, 3, 1000000000, 2994, 77, START));
    assert_true(etwas_etl_clock_to_filetime(&clock, 77 + ticks) >
                START + (10 * DAY_SECONDS + 100) * 10000000);
    assert_true(etwas_etl_clock_use_calibration(&clock, 3, &calibration));
    assert_int_equal(etwas_etl_clock_to_filetime(&clock, 77 + ticks),
                     START + 10 * DAY_SECONDS * 10000000);
    assert_int_equal(etwas_etl_clock_to_filetime(&clock, 77 - ticks),
                     START - 10 * DAY_SECONDS * 10000000);
}

static void a_calibration_measured_over_years_is_still_used(void **state)
{
    const uint64_t years_ns = (uint64_t)TEN_YEAR_SECONDS * 1000000000;
    const struct etwas_etl_calibration calibration = {
        .version = 1, .clock_type = 3, .ticks = years_ns * 3, .nanoseconds = years_ns};
    struct etwas_etl_clock clock;

    (void)state;
    assert_true(etwas_etl_clock_from_header(&clock, 3, 1, 2999, 0, START));
    assert_true(etwas_etl_clock_use_calibration(&clock, 3, &calibration));
    assert_int_equal(etwas_etl_clock_to_filetime(&clock, INT64_C(3000000000) * DAY_SECONDS),
                     START + DAY_SECONDS * 10000000);
}

static void a_calibration_that_is_not_valid_changes_nothing(void **state)
{
    const struct etwas_etl_calibration bad[] = {
        {.version = 2, .clock_type = 3, .ticks = 3, .nanoseconds = 1},
        {.version = 1, .clock_type = 1, .ticks = 3, .nanoseconds = 1},
        {.version = 1, .clock_type = 3, .ticks = 0, .nanoseconds = 1},
        {.version = 1, .clock_type = 3, .ticks = 3, .nanoseconds = 0},
        {.version = 1, .clock_type = 3, .ticks = UINT64_MAX, .nanoseconds = 1},
        {.version = 1, .clock_type = 3, .ticks = 1, .nanoseconds = UINT64_MAX},
    };
    struct etwas_etl_clock clock;
    struct etwas_etl_clock before;

    (void)state;
    assert_true(etwas_etl_clock_from_header(&clock, 3, 1, 3000, 5, START));
    before = clock;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(etwas_etl_clock_use_calibration(&clock, 3, &bad[i]));
        assert_memory_equal(&clock, &before, sizeof clock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_seconds_for_hours_and_for_ten_years_both_ways),
        cmocka_unit_test(system_time_is_filetime_already),
        cmocka_unit_test(the_order_of_stamps_survives_rounding),
        cmocka_unit_test(what_does_not_fit_saturates),
        cmocka_unit_test(numbers_that_cannot_be_used_count_a_tick_as_100_ns),
        cmocka_unit_test(a_calibration_is_exact_where_whole_megahertz_are_not),
        cmocka_unit_test(a_calibration_measured_over_years_is_still_used),
        cmocka_unit_test(a_calibration_that_is_not_valid_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
