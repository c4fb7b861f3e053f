/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a file reports about its clocks: rates, errors, steps, suspends; and which threads may ask
 * for it, and when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <pthread.h>

#include "clock_snapshots_file.h"
#include "etl/own_record.h"

static void expect_near(double value, double wanted, double within)
{
    if (!(value >= wanted - within && value <= wanted + within)) {
        fail_msg("%f instead of %f", value, wanted);
    }
}

/* The calibration of a file that ended was measured over all of it: against that nothing drifts. */
static void drift_is_reported_against_what_the_session_knew_at_its_start(void **state)
{
    struct builder_options options = cycles();

    (void)state;
    options.frequency_hz = 3001500000; /* the rate of the clock snapshots */
    for (int noted = 0; noted < 2; noted++) {
        etwas_trace_clock clock;

        begin_file(&options);
        if (noted) {
            put_trust(); /* 3 GHz */
        }
        put_clock_snapshots(0, 30);
        clock = clock_of(finish(0));
        assert_true(clock.tsc_against_calibrated.known);
        expect_near(clock.tsc_against_calibrated.ppm, noted ? 500 : 0, 0.001);
    }
}

static void what_the_session_noted_of_its_clock_is_reported(void **state)
{
    const struct builder_options options = cycles();
    etwas_trace_clock clock;

    (void)state;
    begin_file(&options);
    put_trust();
    put_clock_snapshots(0, 30);
    clock = clock_of(finish(0));
    assert_true(clock.noted && clock.examined && clock.measured);
    assert_int_equal(clock.clock, ETWAS_CLOCK_TSC);
    assert_int_equal(clock.requested_clock, ETWAS_CLOCK_TSC);
    assert_int_equal(clock.verdict, ETWAS_CLOCK_VERDICT_DOUBTFUL);
    assert_int_equal(clock.reasons, ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_HYPERVISOR);
    assert_int_equal(clock.stated_by, ETWAS_CLOCK_STATED_HYPERVISOR);
    assert_int_equal(clock.frequency_hz, 3000000000);
    assert_int_equal(clock.stated_hz, 3001000000);
    assert_int_equal(clock.frequency_error_ppb, 2000);
    assert_string_equal(clock.clocksource, "tsc67890123456789012345678901");
    assert_string_equal(clock.hypervisor, "KVMKVMKVM");
    assert_int_equal(clock.clock_snapshots, 31);
    assert_true(clock.seconds == 30);
    assert_in_range(clock.qpc_error_ns, 25, 200);
    assert_in_range(clock.system_error_ns, 125, 1000);
    assert_true(clock.tsc_against_calibrated.known);
    expect_near(clock.tsc_against_calibrated.ppm, 500, 0.001);
    expect_near(clock.tsc_against_stated.ppm, 500.0 / 3.001, 0.001);
    expect_near(clock.system_against_qpc.ppm, 5, 0.001);
    /* Two readings of 150 ns over 30 s. */
    expect_near(clock.system_against_qpc.interval_ppm, 0.01, 0.001);
    assert_int_equal(clock.system_against_qpc.points, 31);
    assert_int_equal(clock.steps, 0);
    assert_int_equal(clock.suspends, 0);
}

static void steps_of_the_wall_clock_and_suspends_are_told_apart(void **state)
{
    const struct builder_options options = cycles();
    etwas_trace_clock clock;
    const char *path;

    (void)state;
    begin_file(&options);
    for (int64_t n = 0; n <= 40; n++) {
        struct etwas_etl_clock_snapshot snapshot =
            clock_snapshot_of(n, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);

        snapshot.filetime += (n >= 10 ? 36000000000 : 0) - (n >= 20 ? 15000000 : 0);
        if (n >= 30) { /* half a minute of sleep */
            snapshot.suspended_ns = 30 * SECOND;
            snapshot.filetime += 300000000;
        }
        builder_clock_snapshot(&builder, &snapshot);
    }
    put_events(40);
    path = finish(0);
    run_file(path);
    expect_events(40); /* as if nothing had happened */
    clock = clock_of(path);
    assert_int_equal(clock.steps, 2);
    assert_true(llabs(clock.steps_ns - (3600 * SECOND - 3 * SECOND / 2)) < 20000);
    assert_true(llabs(clock.step[0].step_ns - 3600 * SECOND) < 10000);
    assert_int_equal(clock.step[0].before, BUILDER_START + 9 * 10000050);
    assert_int_equal(clock.step[0].after, BUILDER_START + 10 * 10000050 + 36000000000);
    assert_true(llabs(clock.step[1].step_ns + 3 * SECOND / 2) < 10000);
    assert_memory_equal(&clock.largest_step, &clock.step[0], sizeof clock.largest_step);
    assert_int_equal(clock.suspends, 1);
    assert_true(clock.suspended_ns == 30 * (uint64_t)SECOND);
    expect_near(clock.system_against_qpc.ppm, 5, 0.001);
    assert_true(clock.system_error_ns >= 3600 * (uint64_t)SECOND);
    assert_in_range(clock.qpc_error_ns, 25, 200);
    assert_int_equal(time_in(path, raw_of(15), ETWAS_CLOCK_SYSTEM_TIME).value,
                     BUILDER_START + 15 * 10000050 + 36000000000);
}

static void more_steps_than_are_kept_are_counted(void **state)
{
    struct builder_options options = cycles();
    etwas_trace_clock clock;

    (void)state;
    options.buffer_bytes = 65536;
    begin_file(&options);
    for (int64_t n = 0; n <= 100; n++) {
        struct etwas_etl_clock_snapshot snapshot =
            clock_snapshot_of(n, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);

        snapshot.filetime += n * 10000000 + (n > 77 ? 1000000000 : 0);
        builder_clock_snapshot(&builder, &snapshot);
    }
    clock = clock_of(finish(0));
    assert_int_equal(clock.steps, 100);
    assert_int_equal(clock.largest_step.before, BUILDER_START + 77 * 20000050);
    assert_int_equal(clock.step[15].before, BUILDER_START + 15 * 20000050);
}

static void wrong_questions_are_refused(void **state)
{
    const struct builder_options options = cycles();
    EVENT_TRACE_LOGFILEA live = {.LoggerName = (char *)(uintptr_t) "nobody",
                                 .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME};
    etwas_clock_time time = {7, 7};
    etwas_trace_clock clock;
    etwas_trace_handle trace;

    (void)state;
    begin_file(&options);
    put_clock_snapshots(0, 1);
    trace = open_collecting(finish(0), PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_int_equal(etwas_trace_convert_time(trace, 1, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_convert_interval(trace, 1, 2, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_query_clock(trace, NULL), ERROR_INVALID_PARAMETER);
    for (uint32_t other = 0; other < 40; other += 3) {
        assert_int_equal(etwas_trace_convert_time(trace, 1, other, &time), ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_convert_time(trace, 1, 1, &time), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trace_convert_interval(trace, 1, 2, &time), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_INVALID_HANDLE);
    trace = OpenTraceA(&live);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_convert_time(trace, 1, 1, &time), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_true(time.value == 7 && time.error_ns == 7);
}

/*
 * The file has readings of the clocks for a second and more, or fewer, where the header converts.
 */
static void expect_own_times(uint32_t clock_type, int64_t last)
{
    struct builder_options options = cycles();
    const char *path;

    options.clock_type = clock_type;
    begin_file(&options);
    put_clock_snapshots(0, last);
    put_events(20);
    path = finish(0);
    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD | ETWAS_PROCESS_TRACE_MODE_NANOSECONDS,
              NULL, NULL);
    assert_int_equal(collected.event_count, 1 + 2 * 20 + 1);
    for (int64_t n = 0; n <= 40; n++) {
        int64_t raw = 1000 + n * REAL_HZ / 2;
        etwas_clock_time time = time_in(path, raw, ETWAS_CLOCK_PROCESS_TRACE);

        assert_int_equal(time.value, collected.events[n + 1].header.TimeStamp.QuadPart);
        assert_true(time.error_ns == time_in(path, raw, ETWAS_CLOCK_QPC).error_ns);
    }
}

static void a_stamp_is_reported_as_the_events_own_times_are(void **state)
{
    static const uint32_t clock_types[] = {ETWAS_ETL_CLOCK_CYCLES, ETWAS_ETL_CLOCK_PERFORMANCE,
                                           ETWAS_ETL_CLOCK_SYSTEM};

    (void)state;
    for (size_t index = 0; index < sizeof clock_types / sizeof *clock_types; index++) {
        expect_own_times(clock_types[index], 0);
        expect_own_times(clock_types[index], 20);
    }
}

static etwas_trace_handle asked;
static uint32_t stop_asking;

static void *ask_on(void *argument)
{
    etwas_clock_time time;
    etwas_trace_clock clock;
    uint64_t *wrong = argument;

    while (ck_pr_load_32(&stop_asking) == 0) {
        if (etwas_trace_convert_time(asked, raw_of(20), ETWAS_CLOCK_QPC, &time) != ERROR_SUCCESS ||
            time.value != QPC0 + 20 * SECOND ||
            etwas_trace_query_clock(asked, &clock) != ERROR_SUCCESS ||
            (clock.clock_snapshots != 51 && clock.clock_snapshots != 11)) {
            (*wrong)++;
        }
    }
    return NULL;
}

/*
 * The clock snapshots beside buffer 0 are found by the thread that comes first; no thread gets a
 * wrong answer.
 */
static void others_may_ask_while_a_file_is_read(void **state)
{
    enum {
        THREADS = 3
    };
    struct builder_options options = cycles();
    const char *path;
    pthread_t threads[THREADS];
    uint64_t wrong[THREADS] = {0};

    (void)state;
    options.end_filetime = 0; /* looked through again each time */
    begin_file(&options);
    put_clock_snapshots(0, 10);
    put_events(50);
    builder_buffer(&builder, 0);
    put_clock_snapshots(11, 50);
    path = finish(0);
    forget_collected();
    asked = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);
    ck_pr_store_32(&stop_asking, 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &wrong[i]), 0);
    }
    for (int round = 0; round < 200; round++) {
        uint32_t code = ProcessTrace(&asked, 1, NULL, NULL);

        assert_true(code == ERROR_SUCCESS || code == ERROR_BUSY);
    }
    ck_pr_store_32(&stop_asking, 1);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(wrong[i], 0);
    }
    assert_int_equal(CloseTrace(asked), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_is_reported_against_what_the_session_knew_at_its_start),
        cmocka_unit_test(what_the_session_noted_of_its_clock_is_reported),
        cmocka_unit_test(steps_of_the_wall_clock_and_suspends_are_told_apart),
        cmocka_unit_test(more_steps_than_are_kept_are_counted),
        cmocka_unit_test(a_stamp_is_reported_as_the_events_own_times_are),
        cmocka_unit_test(wrong_questions_are_refused),
        cmocka_unit_test(others_may_ask_while_a_file_is_read),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
