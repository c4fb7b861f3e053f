/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * bench/latency.h: which count a call falls into, and what percentiles say. No time is judged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/latency.h"

static struct bench_latency latency;

static void every_duration_falls_into_a_count_that_begins_at_most_half_a_percent_below(void **state)
{
    uint32_t last = 0;

    (void)state;
    for (uint64_t ticks = 0; ticks < UINT64_MAX / 2; ticks += 1 + ticks / 600) {
        uint32_t index = bench_latency_index(ticks);
        uint64_t begin = bench_latency_ticks(index);

        assert_true(index == last || index == last + 1);
        assert_true(index < BENCH_LATENCY_COUNTS);
        assert_true(begin <= ticks && (double)(ticks - begin) <= 0.005 * (double)ticks);
        last = index;
    }
    assert_int_equal(bench_latency_index(UINT64_MAX), BENCH_LATENCY_COUNTS - 1);
}

static void a_percentile_is_what_that_share_of_the_calls_did_not_exceed(void **state)
{
    (void)state;
    bench_latency_clear(&latency);
    assert_int_equal(bench_latency_percentile(&latency, 0.5), 0);
    for (uint64_t ticks = 1; ticks <= 100; ticks++) {
        bench_latency_add(&latency, ticks);
    }
    assert_int_equal(bench_latency_percentile(&latency, 0.5), 50);
    assert_int_equal(bench_latency_percentile(&latency, 0.99), 99);
    assert_int_equal(bench_latency_percentile(&latency, 1), 100);
    bench_latency_add(&latency, 1000001);
    assert_int_equal(latency.longest_ticks, 1000001);
    assert_int_equal(latency.samples, 101);
    bench_latency_clear(&latency);
    assert_int_equal(bench_latency_percentile(&latency, 1), 0);
}

static void the_loop_makes_each_call_once_and_counts_it(void **state)
{
    uint64_t calls = 0;

    (void)state;
    bench_latency_clear(&latency);
    BENCH_LATENCY_LOOP(&latency, 1234, calls++);
    assert_int_equal(calls, 1234);
    assert_int_equal(latency.samples, 1234);
}

static void what_an_empty_pair_of_readings_takes_is_subtracted(void **state)
{
    const struct bench_timer timer = {.ns_per_tick = 0.5, .overhead_ticks = 50};

    (void)state;
    assert_true(bench_ticks_ns(&timer, 150) == 50.0);
    assert_true(bench_ticks_ns(&timer, 50) == 0.0);
    assert_true(bench_ticks_ns(&timer, 10) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            every_duration_falls_into_a_count_that_begins_at_most_half_a_percent_below),
        cmocka_unit_test(a_percentile_is_what_that_share_of_the_calls_did_not_exceed),
        cmocka_unit_test(the_loop_makes_each_call_once_and_counts_it),
        cmocka_unit_test(what_an_empty_pair_of_readings_takes_is_subtracted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
