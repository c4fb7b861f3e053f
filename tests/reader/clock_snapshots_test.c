/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Times by the readings of the clocks in a file: in buffer 0, in buffers of their own, cut, in
 * files that a session still writes, and in sets; and without any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock_snapshots_file.h"

/* ---- where clock snapshots are --------------------------------------------------------------- */

static void clock_snapshots_in_buffer_0_put_the_rate_right(void **state)
{
    const struct builder_options options = cycles();
    const char *path;

    (void)state;
    begin_file(&options);
    put_clock_snapshots(0, 20);
    put_events(20);
    path = finish(0);
    run_file(path);
    expect_events(20);
    assert_int_equal(collected.information.events, 41);
    assert_int_equal(clock_of(path).clock_snapshots, 21);
    for (int64_t n = 0; n <= 20; n++) {
        etwas_clock_time qpc = time_in(path, raw_of(n) + REAL_HZ / 3, ETWAS_CLOCK_QPC);
        etwas_clock_time system = time_in(path, raw_of(n) + REAL_HZ / 2, ETWAS_CLOCK_SYSTEM_TIME);

        assert_int_equal(qpc.value, QPC0 + n * SECOND + SECOND / 3);
        assert_true(qpc.error_ns <= 1000 || n == 20);
        /* System time goes on as QPC does after the last clock snapshot. */
        assert_int_equal(system.value, BUILDER_START + n * 10000050 + (n < 20 ? 5000025 : 5000000));
    }
}

static void times_by_clock_snapshots_are_had_to_the_nanosecond(void **state)
{
    const struct builder_options options = cycles();
    int64_t filetimes[21];
    const char *path;

    (void)state;
    begin_file(&options);
    put_clock_snapshots(0, 20);
    put_events(20);
    path = finish(0);
    run_file(path);
    for (size_t i = 0; i < 21; i++) {
        filetimes[i] = collected.events[1 + i].header.TimeStamp.QuadPart;
    }
    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD | ETWAS_PROCESS_TRACE_MODE_NANOSECONDS,
              NULL, NULL);
    for (size_t i = 0; i < 21; i++) {
        assert_int_equal(collected.events[1 + i].header.TimeStamp.QuadPart / 100,
                         filetimes[i] - INT64_C(116444736000000000));
    }
}

static void clock_snapshots_in_buffers_of_their_own_are_found(void **state)
{
    const struct builder_options options = cycles();
    const char *path;

    (void)state;
    begin_file(&options);
    put_clock_snapshots(0, 0);
    put_clock_snapshots(50, 50);
    put_events(50);
    builder_buffer(&builder, 0);
    put_clock_snapshots(1, 49);
    path = finish(0);
    run_file(path);
    expect_events(50);
    assert_int_equal(collected.information.buffers, 4);
    assert_int_equal(collected.information.events, 101);
    assert_int_equal(collected.buffer_count, 4);
    assert_int_equal(clock_of(path).clock_snapshots, 51);
    assert_int_equal(clock_of(path).clock_snapshots_unusable, 0);
}

static void a_clock_snapshot_buffer_that_is_cut_gives_the_clock_snapshots_before_the_cut(
    void **state)
{
    const struct builder_options options = cycles();

    (void)state;
    begin_file(&options);
    put_clock_snapshots(0, 0);
    builder_buffer(&builder, 0);
    put_clock_snapshots(1, 40);
    builder_end(&builder);
    for (size_t bytes = 8192; bytes <= 2 * 8192; bytes += 40) {
        size_t whole = bytes < 8192 + 72 ? 0 : (bytes - 8192 - 72) / 96;
        const char *path = put_file(0, builder.bytes, bytes);

        assert_int_equal(clock_of(path).clock_snapshots, 1 + (whole < 40 ? whole : 40));
    }
    /* The end of its data before the end of a clock snapshot, and behind the end of the file. */
    for (uint32_t end = 72; end <= 16384; end += 24) {
        size_t whole;
        const char *path;

        builder_header(&builder, 1)->offset = end;
        builder_header(&builder, 1)->saved_offset = end;
        whole = end > 8192 ? 0 : (end - 72) / 96;
        path = put_file(0, builder.bytes, builder.size);
        assert_int_equal(clock_of(path).clock_snapshots, 1 + (whole < 40 ? whole : 40));
    }
    builder_free(&builder);
}

/*
 * Buffers of one size: one that says that it is longer would have those behind it read again, and
 * many such would take forever.
 */
static void a_buffer_that_is_too_long_has_no_clock_snapshots(void **state)
{
    const struct builder_options options = cycles();
    const char *path;

    (void)state;
    begin_file(&options);
    put_clock_snapshots(0, 0);
    put_events(1);
    builder_buffer(&builder, 0);
    put_clock_snapshots(1, 40);
    builder_buffer(&builder, 0);
    put_clock_snapshots(41, 50);
    builder_end(&builder);
    builder_header(&builder, 3)->buffer_bytes = 4 * 8192;
    path = put_file(0, builder.bytes, builder.size);
    assert_int_equal(clock_of(path).clock_snapshots, 11);
    builder_free(&builder);
}

static void a_million_clock_snapshots_need_no_more_memory_than_a_few(void **state)
{
    struct builder_options options = cycles();
    etwas_trace_clock clock;
    const char *path;

    (void)state;
    options.buffer_bytes = 1 << 20;
    begin_file(&options);
    put_clock_snapshots(0, 0);
    for (int64_t n = 1; n < 1000000; n += 10000) {
        builder_buffer(&builder, 0);
        put_clock_snapshots(n, n + 9999);
    }
    path = finish(0);
    clock = clock_of(path);
    assert_int_equal(clock.clock_snapshots, 1000001);
    assert_true(clock.seconds > 999900);
    assert_true(clock.tsc_against_calibrated.points <= 24576);
    assert_int_equal(time_in(path, raw_of(123456) + REAL_HZ / 5, ETWAS_CLOCK_QPC).value,
                     QPC0 + 123456 * SECOND + SECOND / 5);
}

static void a_file_that_still_grows_is_known_as_far_as_when_it_is_read(void **state)
{
    struct builder_options options = cycles();
    etwas_trace_clock clock;
    etwas_trace_handle trace;
    const char *path;

    (void)state;
    options.end_filetime = 0;
    begin_file(&options);
    put_clock_snapshots(0, 0);
    builder_end(&builder);
    path = put_file(0, builder.bytes, builder.size);
    builder_free(&builder);
    forget_collected();
    trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    begin_file(&options);
    put_clock_snapshots(0, 5);
    put_events(20);
    builder_buffer(&builder, 0);
    put_clock_snapshots(6, 20);
    (void)finish(0);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    assert_int_equal(clock.clock_snapshots, 1);
    collected.code = ProcessTrace(&trace, 1, NULL, NULL);
    expect_events(20);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    assert_int_equal(clock.clock_snapshots, 21);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

/*
 * Killed one second after its last clock snapshot: the rate is that of the clock snapshots, not
 * that of the header.
 */
static void a_file_without_an_end_is_converted_by_the_clock_snapshots_it_has(void **state)
{
    struct builder_options options = cycles();
    etwas_clock_time time;
    const char *path;

    (void)state;
    options.end_filetime = 0;
    begin_file(&options);
    put_clock_snapshots(0, 3);
    put_events(10);
    path = finish(0);
    run_file(path);
    expect_events(10);
    time = time_in(path, raw_of(10), ETWAS_CLOCK_QPC);
    assert_int_equal(time.value, QPC0 + 10 * SECOND);
    assert_in_range(time.error_ns, 7000, 7500);
}

/* ---- sets, other clocks, other files --------------------------------------------------------- */

static void the_parts_of_a_set_have_one_timeline_R96(void **state)
{
    struct builder_options options = cycles();
    const char *paths[3];

    (void)state;
    options.mode = EVENT_TRACE_FILE_MODE_NEWFILE;
    for (uint32_t part = 3; part >= 1; part--) {
        const struct etwas_etl_totals totals = {.version = 1, .part = part};

        builder_begin(&builder, &options);
        builder_calibration(&builder);
        builder_totals(&builder, &totals);
        put_clock_snapshots(0, 0);
        put_clock_snapshots(part * 10 - 10, part * 10 - 1);
        builder_buffer(&builder, 0);
        for (uint32_t n = part * 20 - 20; n < part * 20; n++) {
            builder_number(&builder, 1000 + n * REAL_HZ / 2, n);
        }
        paths[3 - part] = finish(part);
    }
    run_files(paths, 3, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
    assert_int_equal(collected.event_count, 3 + 60);
    for (size_t n = 0, at = 0; at < collected.event_count; at++) {
        if (collected.events[at].header.ProviderId.Data1 != builder_class.Data1) {
            continue;
        }
        assert_int_equal(collected.events[at].number, n);
        assert_int_equal(collected.events[at].header.TimeStamp.QuadPart,
                         BUILDER_START + (int64_t)n * 5000000);
        n++;
    }
}

static void clock_snapshots_change_no_times_of_qpc_and_system_time_R151_R152(void **state)
{
    int64_t without[22];

    (void)state;
    for (uint32_t clock = 1; clock <= 2; clock++) {
        for (int round = 0; round < 2; round++) {
            struct builder_options options = cycles();

            options.clock_type = clock;
            begin_file(&options);
            if (round == 1) {
                put_clock_snapshots(0, 10);
            }
            put_events(10);
            run_file(finish(0));
            assert_int_equal(collected.event_count, 22);
            for (size_t i = 0; i < 22; i++) {
                int64_t time = collected.events[i].header.TimeStamp.QuadPart;

                assert_true(round == 0 || time == without[i]);
                without[i] = time;
            }
        }
    }
}

static void a_file_without_clock_snapshots_is_converted_as_before_with_an_unknown_error(
    void **state)
{
    struct builder_options options = cycles();

    (void)state;
    for (int own = 0; own < 2; own++) {
        etwas_clock_time qpc;
        etwas_clock_time system;
        const char *path;

        builder_begin(&builder, &options);
        if (own == 1) {
            builder_calibration(&builder);
        }
        put_events(10);
        path = finish(0);
        run_file(path);
        assert_int_equal(collected.events[1].header.TimeStamp.QuadPart, BUILDER_START);
        assert_int_equal(collected.events[21].header.TimeStamp.QuadPart,
                         BUILDER_START + 10 * 10005000);
        assert_int_equal(clock_of(path).clock_snapshots, 0);
        assert_false(clock_of(path).noted);
        assert_true(clock_of(path).qpc_error_ns == UINT64_MAX);
        qpc = time_in(path, raw_of(10), ETWAS_CLOCK_QPC);
        system = time_in(path, raw_of(10), ETWAS_CLOCK_SYSTEM_TIME);
        assert_int_equal(qpc.value, INT64_C(10005000000));
        assert_true(qpc.error_ns == UINT64_MAX && system.error_ns == UINT64_MAX);
        assert_int_equal(system.value, BUILDER_START + 10 * 10005000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clock_snapshots_in_buffer_0_put_the_rate_right),
        cmocka_unit_test(times_by_clock_snapshots_are_had_to_the_nanosecond),
        cmocka_unit_test(clock_snapshots_in_buffers_of_their_own_are_found),
        cmocka_unit_test(
            a_clock_snapshot_buffer_that_is_cut_gives_the_clock_snapshots_before_the_cut),
        cmocka_unit_test(a_buffer_that_is_too_long_has_no_clock_snapshots),
        cmocka_unit_test(a_million_clock_snapshots_need_no_more_memory_than_a_few),
        cmocka_unit_test(a_file_that_still_grows_is_known_as_far_as_when_it_is_read),
        cmocka_unit_test(a_file_without_an_end_is_converted_by_the_clock_snapshots_it_has),
        cmocka_unit_test(the_parts_of_a_set_have_one_timeline_R96),
        cmocka_unit_test(clock_snapshots_change_no_times_of_qpc_and_system_time_R151_R152),
        cmocka_unit_test(
            a_file_without_clock_snapshots_is_converted_as_before_with_an_unknown_error),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
