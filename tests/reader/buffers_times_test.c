/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Buffers read from any place on: their events' times are those of the whole file, and what lies in
 * front costs nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock_snapshots_file.h"

/* ---- times ----------------------------------------------------------------------------------- */

enum {
    SECONDS = 400,
    A_CLOCK_SNAPSHOT_BUFFER = 50, /* seconds of it */
    OLDER = 120 /* seconds: so old are the events of one processor when they are written */
};

/*
 * The wall clock wanders, and once it is set: so whatever clock snapshot is missed, times are
 * others.
 */
static struct etwas_etl_clock_snapshot wandering(int64_t n, uint32_t reason)
{
    struct etwas_etl_clock_snapshot snapshot = clock_snapshot_of(n, reason);

    snapshot.filetime += n * 7919 % 13 * 900 + (n > 222 ? INT64_C(36000000000) : 0);
    snapshot.qpc_ns += n * 104729 % 11 * 70;
    return snapshot;
}

static void put_wandering(int64_t from, int64_t to)
{
    for (int64_t n = from; n <= to; n++) {
        const struct etwas_etl_clock_snapshot snapshot =
            wandering(n, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);

        builder_clock_snapshot(&builder, &snapshot);
    }
}

/* The buffer was collected behind it. */
static void put_event(int64_t halves)
{
    int64_t raw = 1000 + halves * REAL_HZ / 2 + 77;

    if (halves >= 0) {
        builder_number(&builder, raw, (uint32_t)halves);
        builder_header(&builder, builder.buffers)->time_stamp = raw + 5;
    }
}

/*
 * As a session leaves it: each ten seconds a buffer of what was recorded, and one of what a slow
 * processor did long before; now and then a clock snapshot buffer. Buffer 0 has the newest clock
 * snapshots.
 */
static const char *build_times(bool ended, uint64_t *begins)
{
    struct builder_options options = cycles();
    const struct etwas_etl_clock_snapshot started =
        wandering(0, ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED);
    const struct etwas_etl_clock_snapshot end =
        wandering(SECONDS, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED);

    options.end_filetime = ended ? options.end_filetime : 0;
    begin_file(&options);
    builder_clock_snapshot(&builder, &started);
    put_wandering(SECONDS - A_CLOCK_SNAPSHOT_BUFFER + 1, SECONDS - 1);
    if (ended) {
        builder_clock_snapshot(&builder, &end);
    }
    for (int64_t second = 0; second < SECONDS; second += 10) {
        if (second > 0 && second % A_CLOCK_SNAPSHOT_BUFFER == 0) {
            builder_buffer(&builder, 0);
            put_wandering(second - A_CLOCK_SNAPSHOT_BUFFER + 1, second);
        }
        *begins++ = builder.size;
        builder_buffer(&builder, 0);
        for (int64_t halves = 2 * second; halves < 2 * second + 20; halves++) {
            put_event(halves);
        }
        builder_buffer(&builder, 1);
        for (int64_t halves = 2 * second; halves < 2 * second + 20; halves++) {
            put_event(halves - (int64_t)2 * OLDER);
        }
    }
    *begins = 0;
    return finish(1);
}

static const char *build_without_readings(void)
{
    struct builder_options options = builder_defaults();

    options.end_filetime = 0;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    builder_buffer(&builder, 0);
    builder_number(&builder, 2000, 0);
    return finish(0);
}

static etwas_trace_handle asked;   /* the trace whose buffers come */
static etwas_trace_handle knowing; /* the same file, looked through */
static uint64_t compared;

static void on_timed_record(EVENT_RECORD *record)
{
    static const uint32_t clocks[] = {ETWAS_CLOCK_QPC, ETWAS_CLOCK_SYSTEM_TIME,
                                      ETWAS_CLOCK_PROCESS_TRACE};
    int64_t raw = record->EventHeader.TimeStamp.QuadPart;
    int64_t known;

    assert_int_equal(etwas_trace_known_until(asked, &known), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0] && raw <= known; i++) {
        etwas_clock_time is;
        etwas_clock_time ought;

        assert_int_equal(etwas_trace_convert_time(asked, raw, clocks[i], &is), ERROR_SUCCESS);
        assert_int_equal(etwas_trace_convert_time(knowing, raw, clocks[i], &ought), ERROR_SUCCESS);
        assert_int_equal(is.value, ought.value);
        assert_int_equal(is.error_ns, ought.error_ns);
        compared++;
    }
}

static etwas_trace_handle open_timed(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_timed_record,
    };
    etwas_trace_handle trace = OpenTraceA(&logfile);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    return trace;
}

static void compare_times(const char *path, uint64_t from, uint64_t until)
{
    asked = open_timed(path);
    compared = 0;
    assert_int_equal(etwas_trace_process_buffers(asked, from, until, NULL, NULL, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(CloseTrace(asked), ERROR_SUCCESS);
}

/* From any place on, and stretch by stretch on one handle, in whatever order. */
static void times_are_those_of_the_whole_file(void **state)
{
    static uint64_t begins[SECONDS / 10 + 1];

    (void)state;
    for (int ended = 0; ended < 2; ended++) {
        const char *path = build_times(ended != 0, begins);
        etwas_clock_time time;

        knowing = open_timed(path);
        assert_int_equal(etwas_trace_convert_time(knowing, 0, ETWAS_CLOCK_QPC, &time),
                         ERROR_SUCCESS);
        compare_times(path, 0, UINT64_MAX);
        assert_true(compared > 3 * (uint64_t)(2 * SECONDS + 2 * (SECONDS - OLDER) - 10));
        for (size_t i = 0; begins[i] != 0; i++) {
            compare_times(path, begins[i], UINT64_MAX);
            compare_times(path, begins[i], begins[i] + 1);
            assert_true(compared >= 3 * (i + 1 < SECONDS / 10 ? 20 : 18));
        }
        asked = open_timed(path);
        for (size_t i = 0; i < SECONDS / 10; i++) {
            uint64_t from = begins[i * 27 % (SECONDS / 10)];

            assert_int_equal(etwas_trace_process_buffers(asked, from, from + (i % 3) * 16384 + 1,
                                                         NULL, NULL, NULL),
                             ERROR_SUCCESS);
        }
        /* Then all is looked at again. */
        assert_int_equal(ProcessTrace(&asked, 1, NULL, NULL), ERROR_SUCCESS);
        assert_int_equal(CloseTrace(asked), ERROR_SUCCESS);
        assert_int_equal(CloseTrace(knowing), ERROR_SUCCESS);
    }
}

static void the_clocks_are_known_up_to_the_last_reading(void **state)
{
    static uint64_t begins[SECONDS / 10 + 1];
    const char *path = build_times(false, begins);
    etwas_trace_handle trace = open_timed(path);
    int64_t raw;

    (void)state;
    assert_int_equal(etwas_trace_known_until(trace, &raw), ERROR_SUCCESS);
    assert_int_equal(raw, raw_of(SECONDS - 1));
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    trace = open_timed(build_times(true, begins));
    assert_int_equal(etwas_trace_known_until(trace, &raw), ERROR_SUCCESS);
    assert_true(raw == INT64_MAX);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    trace = open_timed(build_without_readings());
    assert_int_equal(etwas_trace_known_until(trace, &raw), ERROR_SUCCESS);
    assert_true(raw == INT64_MAX);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/*
 * `old`: the last buffers have events of so many seconds before. Returns how many bytes were read.
 */
static uint64_t read_the_end(uint32_t buffers, int64_t old)
{
    struct builder_options options = cycles();
    const struct etwas_etl_clock_snapshot started =
        wandering(0, ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED);
    etwas_trace_information information;
    etwas_clock_time time;
    const char *path;
    uint64_t begin;

    options.end_filetime = 0;
    begin_file(&options);
    builder_clock_snapshot(&builder, &started);
    put_wandering(A_CLOCK_SNAPSHOT_BUFFER + 1, A_CLOCK_SNAPSHOT_BUFFER + 20);
    for (uint32_t i = 0; i < buffers; i++) {
        builder_buffer(&builder, 0);
        put_event(20 + i % 50);
    }
    builder_buffer(&builder, 0);
    put_wandering(1, A_CLOCK_SNAPSHOT_BUFFER);
    begin = builder.size;
    for (int64_t i = 0; i < 3; i++) {
        builder_buffer(&builder, 0);
        put_event(2 * (int64_t)A_CLOCK_SNAPSHOT_BUFFER + 20 + i - 2 * old);
    }
    path = finish(1);
    asked = open_timed(path);
    knowing = open_timed(path);
    assert_int_equal(etwas_trace_convert_time(knowing, 0, ETWAS_CLOCK_QPC, &time), ERROR_SUCCESS);
    compared = 0;
    assert_int_equal(etwas_trace_process_buffers(asked, begin, UINT64_MAX, NULL, NULL, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(compared, 3 * 3);
    /* After it no call scans the whole file either. */
    assert_int_equal(etwas_trace_convert_time(asked, raw_of(60), ETWAS_CLOCK_QPC, &time),
                     ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(asked, &information), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(asked), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(knowing), ERROR_SUCCESS);
    return information.bytes_read;
}

static void the_end_of_a_large_file_is_read_as_fast_as_that_of_a_small_one(void **state)
{
    (void)state;
    assert_int_equal(read_the_end(2000, 0), read_the_end(20, 0));
    /* Older stamps than buffer 0 has readings for need those in front, and no more. */
    assert_int_equal(read_the_end(2000, 15), read_the_end(20, 15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_the_whole_file),
        cmocka_unit_test(the_clocks_are_known_up_to_the_last_reading),
        cmocka_unit_test(the_end_of_a_large_file_is_read_as_fast_as_that_of_a_small_one),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
