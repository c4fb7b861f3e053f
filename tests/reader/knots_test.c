/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files with readings of the clocks: in buffer 0, in buffers of their own, cut, contradicting each
 * other, and in files that a session still writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <pthread.h>

#include "builder.h"
#include "collect.h"
#include "etl/clock_record.h"
#include "etl/knot.h"
#include "hostile.h"

#define SECOND INT64_C(1000000000)
#define QPC0 INT64_C(77000000000)
#define REAL_HZ INT64_C(3001500000) /* 500 ppm more than header and calibration say */

static struct builder builder;

/* Second n of a file whose counter began at 1,000. */
static int64_t raw_of(int64_t n)
{
    return 1000 + n * REAL_HZ;
}

static struct etwas_etl_knot knot_of(int64_t n, uint32_t reason)
{
    return (struct etwas_etl_knot){
        .version = ETWAS_ETL_KNOT_VERSION,
        .reason = reason,
        .raw_stamp = raw_of(n),
        .qpc_ns = QPC0 + n * SECOND,
        .filetime = BUILDER_START + n * INT64_C(10000050), /* 5 ppm fast */
        .qpc_error_ns = 25,
        .filetime_error_ns = 125,
    };
}

static void put_knots(int64_t from, int64_t to)
{
    for (int64_t n = from; n <= to; n++) {
        const struct etwas_etl_knot knot = knot_of(n, ETWAS_ETL_KNOT_RUNNING);

        builder_knot(&builder, &knot);
    }
}

static struct builder_options cycles(void)
{
    struct builder_options options = builder_defaults();

    options.clock_type = ETWAS_ETL_CLOCK_CYCLES;
    options.mhz = 3000;
    options.frequency_hz = 3000000000;
    options.buffer_bytes = 8192;
    return options;
}

static void begin(const struct builder_options *options)
{
    const struct etwas_etl_totals totals = {.version = 1};

    builder_begin(&builder, options);
    builder_calibration(&builder);
    builder_totals(&builder, &totals);
}

static void put_trust(void)
{
    const struct etwas_etl_clock_trust trust = {
        .version = ETWAS_ETL_CLOCK_RECORD_VERSION,
        .requested_clock = 3,
        .clock_type = 3,
        .verdict = ETWAS_CLOCK_VERDICT_DOUBTFUL,
        .reasons = ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_HYPERVISOR,
        .stated_by = ETWAS_CLOCK_STATED_HYPERVISOR,
        .frequency_hz = 3000000000,
        .stated_hz = 3001000000,
        .frequency_error_ppb = 2000,
        /* Not ended with 0, as a hostile file has it. */
        .clocksource = {"tsc67890123456789012345678901234"},
        .hypervisor = {"KVMKVMKVM"},
    };

    builder_own(&builder, ETWAS_ETL_CLOCK_RECORD_TYPE, &trust, sizeof trust);
}

/* Events at every half second up to `seconds`, on two processors. */
static void put_events(int64_t seconds)
{
    for (uint16_t processor = 0; processor < 2; processor++) {
        builder_buffer(&builder, processor);
        for (int64_t n = processor; n <= 2 * seconds; n += 2)
            builder_number(&builder, 1000 + n * REAL_HZ / 2, (uint32_t)n);
    }
}

static const char *finish(unsigned slot)
{
    builder_end(&builder);
    const char *path = put_file(slot, builder.bytes, builder.size);

    builder_free(&builder);
    return path;
}

/* Event n, after the header event, was n half seconds after the start, by QPC. */
static void expect_events(int64_t seconds)
{
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 1 + 2 * seconds + 1);
    for (int64_t n = 0; n <= 2 * seconds; n++) {
        const struct collected_event *event = &collected.events[n + 1];

        assert_int_equal(event->number, n);
        assert_int_equal(event->header.TimeStamp.QuadPart, BUILDER_START + n * 5000000);
    }
}

static etwas_trace_clock clock_of(const char *path)
{
    etwas_trace_clock clock;
    etwas_trace_handle trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return clock;
}

static etwas_clock_time time_in(const char *path, int64_t raw, uint32_t clock)
{
    etwas_clock_time time;
    etwas_trace_handle trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_convert_time(trace, raw, clock, &time), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return time;
}

static void expect_near(double value, double wanted, double within)
{
    if (!(value >= wanted - within && value <= wanted + within))
        fail_msg("%f instead of %f", value, wanted);
}

/* ---- where knots are ------------------------------------------------------------------------- */

static void knots_in_buffer_0_put_the_rate_right(void **state)
{
    const struct builder_options options = cycles();

    (void)state;
    begin(&options);
    put_knots(0, 20);
    put_events(20);
    const char *path = finish(0);

    run_file(path);
    expect_events(20);
    assert_int_equal(collected.information.events, 41);
    assert_int_equal(clock_of(path).knots, 21);
    for (int64_t n = 0; n <= 20; n++) {
        etwas_clock_time qpc = time_in(path, raw_of(n) + REAL_HZ / 3, ETWAS_CLOCK_QPC);
        etwas_clock_time system = time_in(path, raw_of(n) + REAL_HZ / 2, ETWAS_CLOCK_SYSTEM_TIME);

        assert_int_equal(qpc.value, QPC0 + n * SECOND + SECOND / 3);
        assert_true(qpc.error_ns <= 1000 || n == 20);
        /* Behind the last knot it goes on as QPC does. */
        assert_int_equal(system.value, BUILDER_START + n * 10000050 + (n < 20 ? 5000025 : 5000000));
    }
}

static void knots_in_buffers_of_their_own_are_found(void **state)
{
    const struct builder_options options = cycles();

    (void)state;
    begin(&options);
    put_knots(0, 0);
    put_knots(50, 50);
    put_events(50);
    builder_buffer(&builder, 0);
    put_knots(1, 49);
    const char *path = finish(0);

    run_file(path);
    expect_events(50);
    assert_int_equal(collected.information.buffers, 4);
    assert_int_equal(collected.information.events, 101);
    assert_int_equal(collected.buffer_count, 4);
    assert_int_equal(clock_of(path).knots, 51);
    assert_int_equal(clock_of(path).knots_unusable, 0);
}

static void a_knot_buffer_that_is_cut_gives_the_knots_before_the_cut(void **state)
{
    const struct builder_options options = cycles();

    (void)state;
    begin(&options);
    put_knots(0, 0);
    builder_buffer(&builder, 0);
    put_knots(1, 40);
    builder_end(&builder);
    for (size_t bytes = 8192; bytes <= 2 * 8192; bytes += 40) {
        size_t whole = bytes < 8192 + 72 ? 0 : (bytes - 8192 - 72) / 96;
        const char *path = put_file(0, builder.bytes, bytes);

        assert_int_equal(clock_of(path).knots, 1 + (whole < 40 ? whole : 40));
    }
    /* The end of its data before the end of a knot, and behind the end of the file. */
    for (uint32_t end = 72; end <= 16384; end += 24) {
        builder_header(&builder, 1)->offset = end;
        builder_header(&builder, 1)->saved_offset = end;
        size_t whole = end > 8192 ? 0 : (end - 72) / 96;
        const char *path = put_file(0, builder.bytes, builder.size);

        assert_int_equal(clock_of(path).knots, 1 + (whole < 40 ? whole : 40));
    }
    builder_free(&builder);
}

/*
 * Buffers of one size: one that says that it is longer would have those behind it read again, and
 * many such would take forever.
 */
static void a_buffer_that_is_too_long_has_no_knots(void **state)
{
    const struct builder_options options = cycles();

    (void)state;
    begin(&options);
    put_knots(0, 0);
    put_events(1);
    builder_buffer(&builder, 0);
    put_knots(1, 40);
    builder_buffer(&builder, 0);
    put_knots(41, 50);
    builder_end(&builder);
    builder_header(&builder, 3)->buffer_bytes = 4 * 8192;
    const char *path = put_file(0, builder.bytes, builder.size);

    assert_int_equal(clock_of(path).knots, 11);
    builder_free(&builder);
}

static void a_million_knots_need_no_more_memory_than_a_few(void **state)
{
    struct builder_options options = cycles();
    etwas_trace_clock clock;

    (void)state;
    options.buffer_bytes = 1 << 20;
    begin(&options);
    put_knots(0, 0);
    for (int64_t n = 1; n < 1000000; n += 10000) {
        builder_buffer(&builder, 0);
        put_knots(n, n + 9999);
    }
    const char *path = finish(0);

    clock = clock_of(path);
    assert_int_equal(clock.knots, 1000001);
    assert_true(clock.seconds > 999900);
    assert_true(clock.tsc_against_calibrated.points <= 24576);
    assert_int_equal(time_in(path, raw_of(123456) + REAL_HZ / 5, ETWAS_CLOCK_QPC).value,
                     QPC0 + 123456 * SECOND + SECOND / 5);
}

static void a_file_that_still_grows_is_known_as_far_as_when_it_is_read(void **state)
{
    struct builder_options options = cycles();
    etwas_trace_clock clock;

    (void)state;
    options.end_filetime = 0;
    begin(&options);
    put_knots(0, 0);
    builder_end(&builder);
    const char *path = put_file(0, builder.bytes, builder.size);

    builder_free(&builder);
    forget_collected();
    etwas_trace_handle trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);

    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    begin(&options);
    put_knots(0, 5);
    put_events(20);
    builder_buffer(&builder, 0);
    put_knots(6, 20);
    (void)finish(0);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    assert_int_equal(clock.knots, 1);
    collected.code = ProcessTrace(&trace, 1, NULL, NULL);
    expect_events(20);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    assert_int_equal(clock.knots, 21);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

/* Killed one second after its last knot: the rate is that of the knots, not that of the header. */
static void a_file_without_an_end_is_converted_by_the_knots_it_has(void **state)
{
    struct builder_options options = cycles();

    (void)state;
    options.end_filetime = 0;
    begin(&options);
    put_knots(0, 3);
    put_events(10);
    const char *path = finish(0);

    run_file(path);
    expect_events(10);
    etwas_clock_time time = time_in(path, raw_of(10), ETWAS_CLOCK_QPC);

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
        put_knots(0, 0);
        put_knots(part * 10 - 10, part * 10 - 1);
        builder_buffer(&builder, 0);
        for (uint32_t n = part * 20 - 20; n < part * 20; n++)
            builder_number(&builder, 1000 + n * REAL_HZ / 2, n);
        paths[3 - part] = finish(part);
    }
    run_files(paths, 3, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
    assert_int_equal(collected.event_count, 3 + 60);
    for (size_t n = 0, at = 0; at < collected.event_count; at++) {
        if (collected.events[at].header.ProviderId.Data1 != builder_class.Data1)
            continue;
        assert_int_equal(collected.events[at].number, n);
        assert_int_equal(collected.events[at].header.TimeStamp.QuadPart,
                         BUILDER_START + (int64_t)n * 5000000);
        n++;
    }
}

static void knots_change_no_times_of_qpc_and_system_time_R151_R152(void **state)
{
    int64_t without[22];

    (void)state;
    for (uint32_t clock = 1; clock <= 2; clock++) {
        for (int round = 0; round < 2; round++) {
            struct builder_options options = cycles();

            options.clock_type = clock;
            begin(&options);
            if (round == 1)
                put_knots(0, 10);
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

static void a_file_without_knots_is_converted_as_before_with_an_unknown_error(void **state)
{
    struct builder_options options = cycles();

    (void)state;
    for (int own = 0; own < 2; own++) {
        builder_begin(&builder, &options);
        if (own == 1)
            builder_calibration(&builder);
        put_events(10);
        const char *path = finish(0);

        run_file(path);
        assert_int_equal(collected.events[1].header.TimeStamp.QuadPart, BUILDER_START);
        assert_int_equal(collected.events[21].header.TimeStamp.QuadPart,
                         BUILDER_START + 10 * 10005000);
        assert_int_equal(clock_of(path).knots, 0);
        assert_false(clock_of(path).noted);
        assert_true(clock_of(path).qpc_error_ns == UINT64_MAX);
        etwas_clock_time qpc = time_in(path, raw_of(10), ETWAS_CLOCK_QPC);
        etwas_clock_time system = time_in(path, raw_of(10), ETWAS_CLOCK_SYSTEM_TIME);

        assert_int_equal(qpc.value, INT64_C(10005000000));
        assert_true(qpc.error_ns == UINT64_MAX && system.error_ns == UINT64_MAX);
        assert_int_equal(system.value, BUILDER_START + 10 * 10005000);
    }
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* The calibration of a file that ended was measured over all of it: against that nothing drifts. */
static void drift_is_told_against_what_the_session_knew_at_its_start(void **state)
{
    struct builder_options options = cycles();

    (void)state;
    options.frequency_hz = 3001500000; /* the rate of the knots */
    for (int noted = 0; noted < 2; noted++) {
        begin(&options);
        if (noted)
            put_trust(); /* 3 GHz */
        put_knots(0, 30);
        etwas_trace_clock clock = clock_of(finish(0));

        assert_true(clock.tsc_against_calibrated.known);
        expect_near(clock.tsc_against_calibrated.ppm, noted ? 500 : 0, 0.001);
    }
}

static void what_the_session_noted_of_its_clock_is_told(void **state)
{
    const struct builder_options options = cycles();

    (void)state;
    begin(&options);
    put_trust();
    put_knots(0, 30);
    etwas_trace_clock clock = clock_of(finish(0));

    assert_true(clock.noted && clock.examined && clock.measured);
    assert_int_equal(clock.clock, ETWAS_CLOCK_TSC);
    assert_int_equal(clock.requested_clock, ETWAS_CLOCK_TSC);
    assert_int_equal(clock.verdict, ETWAS_CLOCK_VERDICT_DOUBTFUL);
    assert_int_equal(clock.reasons, ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_HYPERVISOR);
    assert_int_equal(clock.stated_by, ETWAS_CLOCK_STATED_HYPERVISOR);
    assert_int_equal(clock.frequency_hz, 3000000000);
    assert_int_equal(clock.stated_hz, 3001000000);
    assert_int_equal(clock.frequency_error_ppb, 2000);
    assert_string_equal(clock.clocksource, "tsc6789012345678901234567890123");
    assert_string_equal(clock.hypervisor, "KVMKVMKVM");
    assert_int_equal(clock.knots, 31);
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

    (void)state;
    begin(&options);
    for (int64_t n = 0; n <= 40; n++) {
        struct etwas_etl_knot knot = knot_of(n, ETWAS_ETL_KNOT_RUNNING);

        knot.filetime += (n >= 10 ? 36000000000 : 0) - (n >= 20 ? 15000000 : 0);
        if (n >= 30) { /* half a minute of sleep */
            knot.suspended_ns = 30 * SECOND;
            knot.filetime += 300000000;
        }
        builder_knot(&builder, &knot);
    }
    put_events(40);
    const char *path = finish(0);

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

    (void)state;
    options.buffer_bytes = 65536;
    begin(&options);
    for (int64_t n = 0; n <= 100; n++) {
        struct etwas_etl_knot knot = knot_of(n, ETWAS_ETL_KNOT_RUNNING);

        knot.filetime += n * 10000000 + (n > 77 ? 1000000000 : 0);
        builder_knot(&builder, &knot);
    }
    etwas_trace_clock clock = clock_of(finish(0));

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

    (void)state;
    begin(&options);
    put_knots(0, 1);
    etwas_trace_handle trace = open_collecting(finish(0), PROCESS_TRACE_MODE_EVENT_RECORD);

    assert_int_equal(etwas_trace_convert_time(trace, 1, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_query_clock(trace, NULL), ERROR_INVALID_PARAMETER);
    for (uint32_t other = 0; other < 40; other += 3)
        assert_int_equal(etwas_trace_convert_time(trace, 1, other, &time), ERROR_INVALID_PARAMETER);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_convert_time(trace, 1, 1, &time), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_INVALID_HANDLE);
    trace = OpenTraceA(&live);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_convert_time(trace, 1, 1, &time), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_true(time.value == 7 && time.error_ns == 7);
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
            (clock.knots != 51 && clock.knots != 11))
            (*wrong)++;
    }
    return NULL;
}

/* The knots beside buffer 0 are found by whoever comes first; nobody gets a wrong answer. */
static void others_may_ask_while_a_file_is_read(void **state)
{
    enum {
        THREADS = 3
    };
    struct builder_options options = cycles();
    pthread_t threads[THREADS];
    uint64_t wrong[THREADS] = {0};

    (void)state;
    options.end_filetime = 0; /* looked through again each time */
    begin(&options);
    put_knots(0, 10);
    put_events(50);
    builder_buffer(&builder, 0);
    put_knots(11, 50);
    const char *path = finish(0);

    forget_collected();
    asked = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);
    ck_pr_store_32(&stop_asking, 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &wrong[i]), 0);
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

/* ---- hostile --------------------------------------------------------------------------------- */

/* What a callback and a curious user ask of a file, whatever is in it. */
static void ask_everything(const uint8_t *bytes, size_t size)
{
    static const int64_t stamps[] = {INT64_MIN, -1, 0, 1000, 1000 + 5 * REAL_HZ, INT64_MAX};
    etwas_trace_handle trace =
        open_collecting(put_file(0, bytes, size), PROCESS_TRACE_MODE_EVENT_RECORD);
    etwas_trace_clock clock;
    etwas_clock_time time;

    if (trace == INVALID_PROCESSTRACE_HANDLE)
        return;
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        for (uint32_t other = 1; other <= 2; other++)
            assert_int_equal(etwas_trace_convert_time(trace, stamps[i], other, &time),
                             ERROR_SUCCESS);
    }
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void damaged_knots_do_no_harm(void **state)
{
    static const uint8_t values[] = {0x00, 0x7F, 0x80, 0xFF};
    struct builder_options options = cycles();

    (void)state;
    options.buffer_bytes = 2048;
    begin(&options);
    put_trust();
    put_knots(0, 3);
    put_events(10);
    builder_buffer(&builder, 0);
    put_knots(4, 10);
    builder_end(&builder);
    size_t events = 1 + 21;

    for (size_t at = 0; at < builder.size; at++) {
        uint8_t before = builder.bytes[at];

        if (at > 1800 && at < 3 * 2048)
            continue;
        for (size_t v = 0; v < sizeof values; v++) {
            builder.bytes[at] = values[v];
            ask_everything(builder.bytes, builder.size);
            if (v == at % 4)
                read_hostile(builder.bytes, builder.size, 1);
        }
        builder.bytes[at] = (uint8_t)(before ^ 1u << next_random() % 8);
        ask_everything(builder.bytes, builder.size);
        read_hostile(builder.bytes, builder.size, events - 3);
        builder.bytes[at] = before;
    }
    for (size_t cut = 0; cut < builder.size; cut += 8)
        ask_everything(builder.bytes, cut);
    builder_free(&builder);
}

/* Every number of every knot anything at all: times may be nonsense, and come in order. */
static void knots_of_random_numbers_do_no_harm(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct builder_options options = cycles();
        int64_t before = INT64_MIN;

        options.clock_type = 1 + next_random() % 4;
        begin(&options);
        for (int i = 0; i < 30; i++) {
            struct etwas_etl_knot knot = knot_of(i, 2);
            uint64_t words[6];

            memcpy(words, &knot, sizeof knot);
            for (size_t w = 1; w < 6; w++) {
                if (next_random() % 8 == 0)
                    words[w] =
                        ((uint64_t)next_random() << 32 | next_random()) >> next_random() % 64;
            }
            memcpy(&knot, words, sizeof knot);
            builder_knot(&builder, &knot);
        }
        put_events(20);
        builder_end(&builder);
        ask_everything(builder.bytes, builder.size);
        run_file(put_file(0, builder.bytes, builder.size));
        assert_int_equal(collected.event_count, 42);
        for (size_t i = 1; i < collected.event_count; i++) {
            assert_true(collected.events[i].header.TimeStamp.QuadPart >= before);
            before = collected.events[i].header.TimeStamp.QuadPart;
        }
        builder_free(&builder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knots_in_buffer_0_put_the_rate_right),
        cmocka_unit_test(knots_in_buffers_of_their_own_are_found),
        cmocka_unit_test(a_knot_buffer_that_is_cut_gives_the_knots_before_the_cut),
        cmocka_unit_test(a_buffer_that_is_too_long_has_no_knots),
        cmocka_unit_test(a_million_knots_need_no_more_memory_than_a_few),
        cmocka_unit_test(a_file_that_still_grows_is_known_as_far_as_when_it_is_read),
        cmocka_unit_test(a_file_without_an_end_is_converted_by_the_knots_it_has),
        cmocka_unit_test(the_parts_of_a_set_have_one_timeline_R96),
        cmocka_unit_test(knots_change_no_times_of_qpc_and_system_time_R151_R152),
        cmocka_unit_test(a_file_without_knots_is_converted_as_before_with_an_unknown_error),
        cmocka_unit_test(drift_is_told_against_what_the_session_knew_at_its_start),
        cmocka_unit_test(what_the_session_noted_of_its_clock_is_told),
        cmocka_unit_test(steps_of_the_wall_clock_and_suspends_are_told_apart),
        cmocka_unit_test(more_steps_than_are_kept_are_counted),
        cmocka_unit_test(wrong_questions_are_refused),
        cmocka_unit_test(others_may_ask_while_a_file_is_read),
        cmocka_unit_test(damaged_knots_do_no_harm),
        cmocka_unit_test(knots_of_random_numbers_do_no_harm),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
