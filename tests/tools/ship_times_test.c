/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The lines by which a block's stamps are converted: never wrong by more than they say, whatever
 * the clocks did.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ship/read/times.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 500,
    ROUNDS = 400,
};

static uint64_t seed = 7;

static uint64_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 20;
}

static uint64_t apart(int64_t left, int64_t right)
{
    return left < right ? (uint64_t)right - (uint64_t)left : (uint64_t)left - (uint64_t)right;
}

static struct etwas_ship_samples samples_of(const struct etwas_ship_sample *at, size_t count)
{
    struct etwas_ship_samples samples = {.at = malloc(count * sizeof *at), .count = count};

    assert_non_null(samples.at);
    memcpy(samples.at, at, count * sizeof *at);
    return samples;
}

/* Makes lines of the samples, and looks where these are on them. */
static struct etwas_ship_times expect_within_error(const struct etwas_ship_sample *at, size_t count,
                                                   uint64_t error_ns)
{
    struct etwas_ship_samples samples = samples_of(at, count);
    struct etwas_ship_times times;

    samples.error_ns = error_ns;
    etwas_ship_times_make(&samples, &times);
    assert_true(etwas_ship_times_are_sound(&times));
    assert_in_range(times.count, 1, ETWAS_SHIP_POINTS);
    for (size_t i = 0; i < count; i++) {
        int64_t converted = at[i].raw;

        etwas_ship_times_convert(&times, &converted, 1);
        if (times.error_ns != UINT32_MAX) {
            assert_true(apart(converted, at[i].unix_ns) + error_ns <= times.error_ns);
        }
    }
    etwas_ship_samples_free(&samples);
    return times;
}

static void a_straight_clock_needs_two_points(void **state)
{
    struct etwas_ship_sample at[SAMPLES];
    struct etwas_ship_times times;

    (void)state;
    for (int64_t i = 0; i < SAMPLES; i++) {
        at[i] = (struct etwas_ship_sample){1000 + i * 30000000, 5000 + i * 10000000};
    }
    times = expect_within_error(at, SAMPLES, 50);
    assert_int_equal(times.count, 2);
    assert_int_equal(times.error_ns, 150);
}

/* Drifts, steps, and stamps in any order. */
static void no_time_is_wrong_by_more_than_it_says(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct etwas_ship_sample at[SAMPLES];
        int64_t raw = (int64_t)draw();
        int64_t ns = (int64_t)draw();
        size_t count = 1 + draw() % SAMPLES;

        for (size_t i = 0; i < count; i++) {
            raw += (int64_t)(draw() % 100000000);
            ns += (int64_t)(draw() % 100000000) - (draw() % 50 == 0 ? 1000000000 : 0);
            at[i] = (struct etwas_ship_sample){raw, ns};
        }
        for (size_t i = 0; i < count; i++) {
            size_t other = draw() % count;
            struct etwas_ship_sample kept = at[i];

            at[i] = at[other];
            at[other] = kept;
        }
        (void)expect_within_error(at, count, draw() % 1000);
    }
}

static void what_is_not_known_stays_so(void **state)
{
    const struct etwas_ship_sample at = {1, 2};

    (void)state;
    assert_int_equal(expect_within_error(&at, 1, UINT64_MAX).error_ns, UINT32_MAX);
    assert_int_equal(expect_within_error(&at, 1, UINT32_MAX).error_ns, UINT32_MAX);
}

/*
 * The samples of a damaged file can be anything: a time that does not fit becomes the nearest one,
 * and no arithmetic fails.
 */
static void the_ends_of_time_can_be_converted(void **state)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};

    (void)state;
    for (size_t i = 0; i < 7 * 7; i++) {
        const struct etwas_ship_sample at[] = {{ends[i % 7], ends[i / 7]},
                                               {ends[i / 7], ends[i % 7]}};
        struct etwas_ship_times times = expect_within_error(at, 2, 0);
        int64_t stamps[7];

        memcpy(stamps, ends, sizeof stamps);
        etwas_ship_times_convert(&times, stamps, 7);
    }
}

/* One stamp that nobody meant is no reason for the others of its block to be wrong. */
static void a_stamp_from_the_end_of_time_spoils_no_other(void **state)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MAX};

    (void)state;
    for (int end = 0; end < 2; end++) {
        struct etwas_ship_sample at[SAMPLES];
        struct etwas_ship_samples samples;
        struct etwas_ship_times times;

        at[0] = (struct etwas_ship_sample){ends[end], ends[end]};
        for (int64_t i = 1; i < SAMPLES; i++) {
            at[i] = (struct etwas_ship_sample){1000000 + i, 1767225600000000000 + 100 * i};
        }
        samples = samples_of(at, SAMPLES);
        etwas_ship_times_make(&samples, &times);
        etwas_ship_samples_free(&samples);
        for (size_t i = 0; i < SAMPLES; i++) {
            int64_t converted = at[i].raw;

            etwas_ship_times_convert(&times, &converted, 1);
            assert_true(apart(converted, at[i].unix_ns) <= 100);
        }
        assert_int_equal(times.error_ns, 100);
    }
}

static void behind_the_last_point_time_ends_where_it_ends(void **state)
{
    static const struct etwas_ship_times late = {
        .count = 2, .point = {{0, INT64_MAX - 10}, {10, INT64_MAX - 5}}};
    static const struct etwas_ship_times early = {
        .count = 2, .point = {{0, INT64_MIN + 5}, {10, INT64_MIN + 10}}};
    int64_t stamps[] = {4, 1000000000};

    (void)state;
    etwas_ship_times_convert(&late, stamps, 2);
    assert_int_equal(stamps[0], INT64_MAX - 8);
    assert_int_equal(stamps[1], INT64_MAX);
    stamps[0] = -1000000000;
    etwas_ship_times_convert(&early, stamps, 1);
    assert_int_equal(stamps[0], INT64_MIN);
}

static void points_that_are_not_in_order_are_refused(void **state)
{
    struct etwas_ship_times times = {.count = 2};

    (void)state;
    assert_false(etwas_ship_times_are_sound(&times));
    times.point[1].raw = 1;
    assert_true(etwas_ship_times_are_sound(&times));
    times.count = ETWAS_SHIP_POINTS + 1;
    assert_false(etwas_ship_times_are_sound(&times));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_clock_needs_two_points),
        cmocka_unit_test(no_time_is_wrong_by_more_than_it_says),
        cmocka_unit_test(what_is_not_known_stays_so),
        cmocka_unit_test(the_ends_of_time_can_be_converted),
        cmocka_unit_test(a_stamp_from_the_end_of_time_spoils_no_other),
        cmocka_unit_test(behind_the_last_point_time_ends_where_it_ends),
        cmocka_unit_test(points_that_are_not_in_order_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
