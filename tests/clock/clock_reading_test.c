/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the clocks read, each alone and all three together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>
#include <cmocka.h>
#include <etwas/etwas.h>
#include <stdbool.h>
#include <time.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "clock/trust.h"
#include "platform/testpoint.h"

/* The counter is read without a fence, so two readings need one between them to be in order. */
static int64_t read_in_order(uint32_t kind)
{
    int64_t stamp;

    ck_pr_fence_strict_memory();
    stamp = etwas_clock_now(kind);
    ck_pr_fence_strict_memory();
    return stamp;
}

static void a_clock_that_follows_no_wall_clock_never_runs_backwards(void **state)
{
    enum {
        READINGS = 300000
    };
    static const uint32_t kinds[] = {ETWAS_CLOCK_KIND_QPC, ETWAS_CLOCK_KIND_TSC};

    (void)state;
    for (size_t index = 0; index < 2; index++) {
        int64_t first = read_in_order(kinds[index]);
        int64_t last = first;

        if (kinds[index] == ETWAS_CLOCK_KIND_TSC && !etwas_clock_tsc_trusted()) {
            continue;
        }
        for (int reading = 0; reading < READINGS; reading++) {
            int64_t now = read_in_order(kinds[index]);

            if (now < last) {
                fail_msg("clock %u went from %lld to %lld", kinds[index], (long long)last,
                         (long long)now);
            }
            last = now;
        }
        assert_true(last > first);
    }
}

static int64_t ns_of(clockid_t clock)
{
    struct timespec now;

    assert_int_equal(clock_gettime(clock, &now), 0);
    return (int64_t)now.tv_sec * ETWAS_CLOCK_NS_PER_SECOND + now.tv_nsec;
}

/*
 * R151, R152 and what etwas.h says of each. Attempts, because somebody may set the wall clock
 * meanwhile.
 */
static void each_clock_reads_what_the_system_says(void **state)
{
    bool right = false;
    int64_t before = ns_of(CLOCK_MONOTONIC_RAW);
    int64_t qpc_ns = etwas_clock_read(ETWAS_CLOCK_QPC);

    (void)state;
    assert_true(before <= qpc_ns && qpc_ns <= ns_of(CLOCK_MONOTONIC_RAW));
    for (int attempt = 0; attempt < 5 && !right; attempt++) {
        int64_t filetime;

        before = ns_of(CLOCK_REALTIME) / 100 + ETWAS_CLOCK_UNIX_EPOCH_FILETIME;
        filetime = etwas_clock_read(ETWAS_CLOCK_SYSTEM_TIME);
        right = before <= filetime &&
                filetime <= ns_of(CLOCK_REALTIME) / 100 + ETWAS_CLOCK_UNIX_EPOCH_FILETIME;
    }
    assert_true(right);
    if (etwas_clock_tsc_trusted()) {
        before = read_in_order(ETWAS_CLOCK_KIND_TSC);
        assert_true(before <= etwas_clock_read(ETWAS_CLOCK_TSC));
    }
}

static void an_unknown_clock_reads_0_and_has_no_frequency(void **state)
{
    static const uint32_t unknown[] = {0, 4, 5, 0x80000003, UINT32_MAX};

    (void)state;
    for (size_t index = 0; index < sizeof unknown / sizeof unknown[0]; index++) {
        assert_int_equal(etwas_clock_read(unknown[index]), 0);
        assert_int_equal(etwas_clock_frequency(unknown[index]), 0);
    }
}

static void a_time_becomes_filetime_by_whole_units_of_100_ns(void **state)
{
    static const struct {
        struct timespec time;
        int64_t filetime;
    } rows[] = {
        {{-INT64_C(11644473600), 0}, 0},                                 /* 1601-01-01 */
        {{-INT64_C(11644473600), 100}, 1},                               /* and one unit */
        {{-1, 500000000}, INT64_C(116444735995000000)},                  /* half a second before */
        {{0, 0}, INT64_C(116444736000000000)},                           /* 1970-01-01 */
        {{0, 99}, INT64_C(116444736000000000)},                          /* less than one unit */
        {{0, 100}, INT64_C(116444736000000001)},                         /* exactly one */
        {{0, 199}, INT64_C(116444736000000001)},                         /* not quite two */
        {{0, 999999999}, INT64_C(116444736009999999)},                   /* never the next second */
        {{946684800, 0}, INT64_C(125911584000000000)},                   /* 2000-01-01 */
        {{INT64_C(2147483647), 999999999}, INT64_C(137919572479999999)}, /* 2038-01-19 03:14:07 */
        {{INT64_C(2147483648), 0}, INT64_C(137919572480000000)},         /* 32 bits are over */
        {{INT64_C(253402300799), 999999999}, INT64_C(2650467743999999999)}, /* the end of 9999 */
    };

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        assert_true(etwas_clock_filetime_of(&rows[index].time) == rows[index].filetime);
    }
}

static struct etwas_clock_reading read_one_by_one(void)
{
    struct etwas_clock_reading reading;

    reading.tsc = read_in_order(ETWAS_CLOCK_KIND_TSC);
    reading.qpc_ns = read_in_order(ETWAS_CLOCK_KIND_QPC);
    reading.system_stamp = read_in_order(ETWAS_CLOCK_KIND_SYSTEM);
    return reading;
}

static void three_stamps_read_together_lie_between_readings_before_and_after(void **state)
{
    enum {
        ROUNDS = 200,
        WALL_CLOCK_CHANGES = 5
    };
    bool trusted = etwas_clock_tsc_trusted();
    int wall_clock_outside = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct etwas_clock_reading before = read_one_by_one();
        struct etwas_clock_reading reading = etwas_clock_read_together();
        struct etwas_clock_reading after = read_one_by_one();

        assert_true(!trusted || (before.tsc <= reading.tsc && reading.tsc <= after.tsc));
        assert_true(before.qpc_ns <= reading.qpc_ns && reading.qpc_ns <= after.qpc_ns);
        wall_clock_outside +=
            before.system_stamp > reading.system_stamp || reading.system_stamp > after.system_stamp;
    }
    assert_true(wall_clock_outside < WALL_CLOCK_CHANGES);
}

static void the_stamp_of_a_reading_is_that_of_the_clock_asked_for(void **state)
{
    const struct etwas_clock_reading reading = {
        .tsc = 11, .qpc_ns = 22, .filetime = 32, .system_stamp = 33};

    (void)state;
    assert_int_equal(etwas_clock_reading_stamp(&reading, ETWAS_CLOCK_KIND_QPC), 22);
    assert_int_equal(etwas_clock_reading_stamp(&reading, ETWAS_CLOCK_KIND_SYSTEM), 33);
    assert_int_equal(etwas_clock_reading_stamp(&reading, ETWAS_CLOCK_KIND_TSC), 11);
    assert_int_equal(etwas_clock_reading_filetime(&reading, ETWAS_CLOCK_KIND_QPC), 32);
    assert_int_equal(etwas_clock_reading_filetime(&reading, ETWAS_CLOCK_KIND_SYSTEM), 33);
    assert_int_equal(etwas_clock_reading_filetime(&reading, ETWAS_CLOCK_KIND_TSC), 32);
}

/*
 * From one reading to the next, microseconds later, the system time goes on as the performance
 * counter does; the kernel may slew it by a thousandth at most. A bound that is too good would
 * show.
 */
static void the_system_time_of_a_reading_is_true_within_its_bound(void **state)
{
    enum {
        ROUNDS = 20000,
        WALL_CLOCK_CHANGES = 5
    };
    struct etwas_clock_reading before = etwas_clock_read_together();
    int outside = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct etwas_clock_reading reading = etwas_clock_read_together();
        int64_t passed_ns = reading.qpc_ns - before.qpc_ns;
        int64_t apart_ns = (reading.filetime - before.filetime) * 100 - passed_ns;
        int64_t bound_ns =
            (int64_t)reading.filetime_error_ns + before.filetime_error_ns + passed_ns / 1000 + 1;

        outside += apart_ns > bound_ns || -apart_ns > bound_ns;
        assert_true(reading.stamp_error_ns > 100);
        before = reading;
    }
    assert_true(outside < WALL_CLOCK_CHANGES);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static uint32_t passed;
static uint32_t free_from; /* before this pass each one is held up */

static void hold_up(enum etwas_testpoint point)
{
    const struct timespec pause = {.tv_nsec = 300000};

    if (point == ETWAS_POINT_CLOCK_READ && passed++ < free_from) {
        (void)nanosleep(&pause, NULL);
    }
}

static struct etwas_clock_reading read_held_up(uint32_t passes)
{
    struct etwas_clock_reading reading;

    passed = 0;
    free_from = passes;
    etwas_testpoint_set(hold_up);
    reading = etwas_clock_read_together();
    etwas_testpoint_set(NULL);
    return reading;
}

/* The two passes of each of 16 attempts come before the counter, and before the system time. */
static void a_reading_that_is_interrupted_says_how_much_it_is_worth(void **state)
{
    struct etwas_clock_reading reading = read_held_up(UINT32_MAX);

    (void)state;
    assert_true(reading.tsc_error_ns >= 150000);
    assert_true(reading.filetime_error_ns >= 150000);
    assert_true(reading.stamp_error_ns >= 300000);
    assert_int_equal(passed, 32);
    assert_int_equal(etwas_clock_reading_qpc_error_ns(&reading, ETWAS_CLOCK_KIND_QPC), 0);
    assert_int_equal(etwas_clock_reading_qpc_error_ns(&reading, ETWAS_CLOCK_KIND_TSC),
                     reading.tsc_error_ns);
    assert_int_equal(etwas_clock_reading_qpc_error_ns(&reading, ETWAS_CLOCK_KIND_SYSTEM),
                     reading.stamp_error_ns);
    assert_int_equal(etwas_clock_reading_filetime_error_ns(&reading, ETWAS_CLOCK_KIND_SYSTEM), 0);
    assert_int_equal(etwas_clock_reading_filetime_error_ns(&reading, ETWAS_CLOCK_KIND_TSC),
                     reading.filetime_error_ns + reading.tsc_error_ns);
}

static void of_several_attempts_the_one_that_was_not_interrupted_counts(void **state)
{
    uint32_t narrow = UINT32_MAX;

    (void)state;
    /* One attempt in 16 is left alone; now and then the system interrupts that too. */
    for (int round = 0; round < 20; round++) {
        struct etwas_clock_reading reading = read_held_up(30);

        narrow = reading.tsc_error_ns < narrow ? reading.tsc_error_ns : narrow;
    }
    assert_true(narrow < 150000);
}

/*
 * Two readings bound the rate of the counter; a third between them must fit. If a bound were too
 * good it would not, however long the thread was away.
 */
static void bounds_hold_between_readings_that_were_interrupted_differently(void **state)
{
    uint64_t hz = etwas_clock_tsc_frequency_hz();
    const struct timespec pause = {.tv_nsec = 20000000};
    struct etwas_clock_reading first;
    struct etwas_clock_reading last;

    (void)state;
    if (hz == 0) {
        print_message("skipped: the processor has no cycle counter that can be used\n");
        skip();
    }
    first = read_held_up(0);
    (void)nanosleep(&pause, NULL);
    last = read_held_up(UINT32_MAX);
    {
        double ticks_ns = (double)(last.tsc - first.tsc) * 1e9 / (double)hz;
        double qpc_ns = (double)(last.qpc_ns - first.qpc_ns);
        double bound = first.tsc_error_ns + last.tsc_error_ns;

        /* The frequency is good to 100 ppm at worst. */
        assert_true(ticks_ns - qpc_ns <= bound + qpc_ns / 1e4);
        assert_true(qpc_ns - ticks_ns <= bound + qpc_ns / 1e4);
    }
}

static void the_time_suspended_does_not_jitter_and_jumps_by_what_it_was(void **state)
{
    int64_t before = etwas_clock_read_together().suspended_ns;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        assert_int_equal(etwas_clock_read_together().suspended_ns, before);
    }
    ck_pr_store_64(&etwas_clock_suspended_step_ns, 5);
    assert_int_equal(etwas_clock_read_together().suspended_ns, before + 5);
    ck_pr_store_64(&etwas_clock_suspended_step_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reading_that_is_interrupted_says_how_much_it_is_worth),
        cmocka_unit_test(of_several_attempts_the_one_that_was_not_interrupted_counts),
        cmocka_unit_test(bounds_hold_between_readings_that_were_interrupted_differently),
        cmocka_unit_test(the_time_suspended_does_not_jitter_and_jumps_by_what_it_was),
        cmocka_unit_test(a_clock_that_follows_no_wall_clock_never_runs_backwards),
        cmocka_unit_test(each_clock_reads_what_the_system_says),
        cmocka_unit_test(an_unknown_clock_reads_0_and_has_no_frequency),
        cmocka_unit_test(a_time_becomes_filetime_by_whole_units_of_100_ns),
        cmocka_unit_test(three_stamps_read_together_lie_between_readings_before_and_after),
        cmocka_unit_test(the_stamp_of_a_reading_is_that_of_the_clock_asked_for),
        cmocka_unit_test(the_system_time_of_a_reading_is_true_within_its_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
