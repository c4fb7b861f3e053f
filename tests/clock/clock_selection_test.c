/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Which clock a session gets (R150, R153, R155), and how fast the cycle counter ticks. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <etwas/evntrace.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "clock/session_clock.h"
#include "clock/trust.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"

static void *ask_for_frequency(void *frequency_hz)
{
    *(uint64_t *)frequency_hz = etwas_clock_frequency(ETWAS_CLOCK_TSC);
    return NULL;
}

/* The first test: the counter was not asked for before. */
static void threads_that_ask_first_and_together_get_one_answer(void **state)
{
    enum {
        THREADS = 4
    };
    pthread_t threads[THREADS];
    uint64_t frequencies_hz[THREADS];

    (void)state;
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(
            pthread_create(&threads[index], NULL, ask_for_frequency, &frequencies_hz[index]), 0);
    }
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
        assert_true(frequencies_hz[index] == etwas_clock_tsc_frequency_hz());
    }
}

/* Without a TSC to trust, 3 becomes 2 and nothing else changes. */
static void expect_selection(bool trusted)
{
    const uint32_t selected[] = {ETWAS_CLOCK_QPC, ETWAS_CLOCK_QPC, ETWAS_CLOCK_SYSTEM_TIME,
                                 trusted ? ETWAS_CLOCK_TSC : ETWAS_CLOCK_SYSTEM_TIME, 0};

    assert_int_equal(etwas_clock_tsc_trusted(), trusted);
    for (uint32_t clock = 0; clock <= 4; clock++) {
        assert_int_equal(etwas_clock_select(clock), selected[clock]);
        assert_int_equal(etwas_clock_effective(clock), selected[clock]);
    }
    assert_int_equal(etwas_clock_select(UINT32_MAX), 0);
    assert_int_equal(etwas_clock_effective(UINT32_MAX), 0);
    assert_int_equal(etwas_clock_frequency(ETWAS_CLOCK_QPC), 1000000000);
    assert_int_equal(etwas_clock_frequency(ETWAS_CLOCK_SYSTEM_TIME), 10000000);
    assert_int_equal(etwas_clock_frequency(ETWAS_CLOCK_TSC) != 0, trusted);
    assert_true(etwas_clock_frequency(ETWAS_CLOCK_TSC) == etwas_clock_tsc_frequency_hz());
}

static void r150_r153_r155_the_clock_asked_for_or_what_takes_its_place(void **state)
{
    bool trusted = etwas_clock_tsc_trusted();
    uint64_t frequency_hz = etwas_clock_tsc_frequency_hz();

    (void)state;
    expect_selection(trusted);
    etwas_clock_allow_tsc(false);
    expect_selection(false);
    etwas_clock_allow_tsc(true);
    expect_selection(trusted);
    assert_true(etwas_clock_tsc_frequency_hz() == frequency_hz);
}

/* Expects the clock in the counts and in what the file says, which the walker reads too. */
static void expect_clock_everywhere(uint32_t clock, uint32_t effective)
{
    const char *path = folder_path("trace.etl");
    etwas_session_counts counts;
    etwas_trace_handle session = expect_session_has_clock(clock, effective, &counts);
    struct readback result;

    expect_file_is_exact(session, path, &counts);
    walk_back(session, path, true, &result);
    assert_int_equal(result.clock, effective);
    assert_int_equal(result.events, counts.recorded);
}

static void r153_a_session_without_a_cycle_counter_to_trust_says_that_it_has_system_time(
    void **state)
{
    (void)state;
    etwas_clock_allow_tsc(false);
    for (uint32_t clock = 0; clock <= 3; clock++) {
        expect_clock_everywhere(clock, clock == 0 ? 1 : clock == 3 ? 2 : clock);
    }
    etwas_clock_allow_tsc(true);
    expect_clock_everywhere(3, etwas_clock_effective(3));
}

static void r155_an_unknown_clock_starts_no_session_and_makes_no_file(void **state)
{
    static const uint32_t unknown[] = {4, 0x80000001, UINT32_MAX};
    const char *path = folder_path("trace.etl");

    (void)state;
    for (size_t index = 0; index < sizeof unknown / sizeof unknown[0]; index++) {
        const etwas_session_options options = {.clock = unknown[index]};
        etwas_trace_handle session = 1;

        assert_int_equal(etwas_start("unknown clock", path, &options, &session),
                         ERROR_INVALID_PARAMETER);
        assert_int_equal(session, 0);
        assert_int_equal(access(path, F_OK), -1);
    }
}

/* Compared with the kernel's clock over a stretch of our own, longer than the calibration. */
static void the_cycle_counter_ticks_as_fast_as_calibration_says(void **state)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    struct etwas_clock_reading first;
    struct etwas_clock_reading last;
    double seconds;
    double measured_hz;
    double said_hz = (double)etwas_clock_frequency(ETWAS_CLOCK_TSC);

    (void)state;
    if (!etwas_clock_tsc_trusted()) {
        print_message("skipped: the cycle counter is not trusted\n");
        skip();
    }
    first = etwas_clock_read_together();
    (void)nanosleep(&pause, NULL);
    last = etwas_clock_read_together();
    seconds = (double)(last.qpc_ns - first.qpc_ns) / 1e9;
    measured_hz = (double)(last.tsc - first.tsc) / seconds;
    assert_true(measured_hz > 0.99 * said_hz && measured_hz < 1.01 * said_hz);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_ask_first_and_together_get_one_answer),
        cmocka_unit_test(r150_r153_r155_the_clock_asked_for_or_what_takes_its_place),
        FOLDER_TEST(r153_a_session_without_a_cycle_counter_to_trust_says_that_it_has_system_time),
        FOLDER_TEST(r155_an_unknown_clock_starts_no_session_and_makes_no_file),
        cmocka_unit_test(the_cycle_counter_ticks_as_fast_as_calibration_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
