/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Which clock a session gets, what the clocks read, and how fast the cycle counter ticks: R150–R153, R155. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include <etwas/etwas.h>

#include "clock/calibration.h"
#include "clock/clock.h"

static void filetime_counts_100_ns_since_1601(void **state)
{
    static const struct {
        struct timespec time;
        int64_t filetime;
    } rows[] = {
        {{0, 0}, INT64_C(116444736000000000)},
        {{0, 99}, INT64_C(116444736000000000)},
        {{0, 100}, INT64_C(116444736000000001)},
        {{0, 999999999}, INT64_C(116444736009999999)},
        {{1, 0}, INT64_C(116444736010000000)},
        {{951782400, 0}, INT64_C(125962560000000000)},   /* 2000-02-29 */
        {{1704067200, 0}, INT64_C(133485408000000000)},  /* 2024-01-01 */
        {{4102444800, 500}, INT64_C(157469184000000005)}, /* 2100-01-01 */
        {{-11644473600, 0}, 0},                           /* 1601-01-01 */
        {{-1, 500000000}, INT64_C(116444735995000000)},
    };

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        assert_int_equal(etwas_clock_filetime_of(&rows[index].time), rows[index].filetime);
    }
}

/* R150, R153, R155. */
static void a_session_gets_the_clock_it_asks_for_or_the_next_best(void **state)
{
    static const struct {
        uint32_t requested;
        uint32_t trusted;   /* what it gets where the cycle counter can be trusted */
        uint32_t untrusted; /* and where it cannot */
    } rows[] = {
        {0, 1, 1}, {1, 1, 1}, {2, 2, 2}, {3, 3, 2}, {4, 0, 0}, {5, 0, 0}, {UINT32_MAX, 0, 0},
    };
    bool trusted = etwas_clock_tsc_trusted();

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        uint32_t expected = trusted ? rows[index].trusted : rows[index].untrusted;

        assert_int_equal(etwas_clock_effective(rows[index].requested), expected);
        etwas_clock_allow_tsc(false);
        assert_int_equal(etwas_clock_select(rows[index].requested), rows[index].untrusted);
        assert_int_equal(etwas_clock_effective(rows[index].requested), rows[index].untrusted);
        etwas_clock_allow_tsc(true);
    }
}

static void frequencies_are_ticks_a_second_and_0_where_there_is_none(void **state)
{
    (void)state;
    assert_int_equal(etwas_clock_frequency(0), 0);
    assert_int_equal(etwas_clock_frequency(ETWAS_CLOCK_QPC), 1000000000);
    assert_int_equal(etwas_clock_frequency(ETWAS_CLOCK_SYSTEM_TIME), 10000000);
    assert_int_equal(etwas_clock_frequency(4), 0);
    assert_true((etwas_clock_frequency(ETWAS_CLOCK_TSC) != 0) == etwas_clock_tsc_trusted());
    etwas_clock_allow_tsc(false);
    assert_int_equal(etwas_clock_frequency(ETWAS_CLOCK_TSC), 0);
    assert_false(etwas_clock_tsc_trusted());
    etwas_clock_allow_tsc(true);
    assert_int_equal(etwas_clock_read(0), 0);
    assert_int_equal(etwas_clock_read(4), 0);
}

/* R151, R152: each reading lies between two of the system's own. */
static void clocks_read_what_the_system_reads(void **state)
{
    int64_t last = 0;

    (void)state;
    for (int round = 0; round < 10000; round++) {
        struct timespec before;
        struct timespec after;
        int64_t qpc;

        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &before);
        qpc = etwas_clock_read(ETWAS_CLOCK_QPC);
        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &after);
        assert_true(qpc >= before.tv_sec * INT64_C(1000000000) + before.tv_nsec);
        assert_true(qpc <= after.tv_sec * INT64_C(1000000000) + after.tv_nsec);
        assert_true(qpc >= last);
        last = qpc;
    }
    for (int round = 0; round < 1000; round++) {
        struct timespec before;
        struct timespec after;
        int64_t system;

        (void)clock_gettime(CLOCK_REALTIME, &before);
        system = etwas_clock_read(ETWAS_CLOCK_SYSTEM_TIME);
        (void)clock_gettime(CLOCK_REALTIME, &after);
        if (etwas_clock_filetime_of(&after) < etwas_clock_filetime_of(&before)) {
            continue; /* somebody set the clock */
        }
        assert_true(system >= etwas_clock_filetime_of(&before));
        assert_true(system <= etwas_clock_filetime_of(&after));
    }
}

/* Within 1 % over some ms: the calibration is not off, whatever the machine does meanwhile. */
static void the_cycle_counter_ticks_as_fast_as_its_calibration_says(void **state)
{
    const struct timespec pause = {.tv_nsec = 30000000};
    uint64_t frequency = etwas_clock_frequency(ETWAS_CLOCK_TSC);
    struct etwas_clock_reading first;
    struct etwas_clock_reading last;
    double measured;

    (void)state;
    if (frequency == 0) {
        print_message("the cycle counter is not to be trusted here\n");
        skip();
    }
    first = etwas_clock_read_together();
    (void)nanosleep(&pause, NULL);
    last = etwas_clock_read_together();
    measured = (double)(last.tsc - first.tsc) * 1e9 / (double)(last.qpc_ns - first.qpc_ns);
    assert_true(measured > (double)frequency * 0.99);
    assert_true(measured < (double)frequency * 1.01);
    /* Asked again it says the same: calibrated once in a process. */
    assert_int_equal(etwas_clock_frequency(ETWAS_CLOCK_TSC), frequency);
}

static void a_reading_of_all_three_gives_each_clocks_stamp(void **state)
{
    struct etwas_clock_reading reading = {.tsc = 3, .qpc_ns = 1, .filetime = 2};
    struct etwas_clock_reading now = etwas_clock_read_together();

    (void)state;
    for (uint32_t kind = 1; kind <= 3; kind++) {
        assert_int_equal(etwas_clock_reading_stamp(&reading, kind), kind);
    }
    assert_true(llabs(now.qpc_ns - etwas_clock_qpc()) < ETWAS_CLOCK_NS_PER_SECOND * 60);
    assert_true(llabs(now.filetime - etwas_clock_system()) < ETWAS_CLOCK_FILETIME_PER_SECOND * 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filetime_counts_100_ns_since_1601),
        cmocka_unit_test(a_session_gets_the_clock_it_asks_for_or_the_next_best),
        cmocka_unit_test(frequencies_are_ticks_a_second_and_0_where_there_is_none),
        cmocka_unit_test(clocks_read_what_the_system_reads),
        cmocka_unit_test(the_cycle_counter_ticks_as_fast_as_its_calibration_says),
        cmocka_unit_test(a_reading_of_all_three_gives_each_clocks_stamp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
