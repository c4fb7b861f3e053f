/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file that is still written, buffer by buffer: what is whole comes once, what is cut comes later and is no damage, and
 * what has been read before costs nothing. And of any file the times of what comes.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "buffers.h"
#include "knots_file.h"

enum {
    IN_BUFFER = 8,
    BUFFERS = 6,
    EVENTS = IN_BUFFER * BUFFERS,
    STEP = 97, /* bytes that the file grows by: no part of a buffer begins at its multiples alone */
};

static uint64_t ends[BUFFERS + 1]; /* of the buffers in the file, buffer 0 first */

/* A session's file without an end, with events 0, 1, 2 … in the order of their place. */
static void build(bool compressed)
{
    struct builder_options options = builder_defaults();
    uint32_t number = 0;

    options.compressed = compressed;
    options.buffer_bytes = 1024;
    options.end_filetime = 0;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        builder_buffer(&builder, (uint16_t)(i % 2));
        for (uint32_t j = 0; j < IN_BUFFER; j++, number++) {
            builder_number(&builder, 2000 + number, number);
        }
    }
    builder_end(&builder);
    run_buffers(put_file(0, builder.bytes, builder.size), 0, UINT64_MAX);
    assert_int_equal(given.count, BUFFERS);
    ends[0] = given.buffers[0].begun.file_offset;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        ends[i + 1] = given.buffers[i].begun.file_offset + given.buffers[i].begun.file_bytes;
    }
}

static uint32_t whole_in(uint64_t bytes)
{
    uint32_t whole = 0;

    while (whole < BUFFERS && ends[whole + 1] <= bytes) {
        whole++;
    }
    return whole;
}

/* Events `first` to `last` - 1 came, in this order, and no damage. */
static void assert_events(uint32_t first, uint32_t last)
{
    assert_int_equal(given.code, ERROR_SUCCESS);
    assert_int_equal(collected.damage_count, 0);
    assert_int_equal(collected.event_count, last - first);
    for (uint32_t i = 0; i < last - first; i++) {
        assert_int_equal(collected.events[i].number, first + i);
    }
}

/* ---- growing --------------------------------------------------------------------------------- */

static void a_file_cut_anywhere_has_its_whole_buffers(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        build(compressed != 0);
        for (uint64_t bytes = ends[0]; bytes <= builder.size; bytes++) {
            run_buffers(put_file(0, builder.bytes, bytes), 0, UINT64_MAX);
            assert_events(0, whole_in(bytes) * IN_BUFFER);
        }
        builder_free(&builder);
    }
}

/* The file is opened anew each time. */
static void read_in_steps_it_is_the_same(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        uint64_t from = 0;
        uint32_t seen = 0;

        build(compressed != 0);
        for (uint64_t bytes = ends[0]; seen < BUFFERS; bytes += STEP) {
            bytes = bytes < builder.size ? bytes : builder.size;
            run_buffers(put_file(0, builder.bytes, bytes), from, UINT64_MAX);
            assert_events(seen * IN_BUFFER, whole_in(bytes) * IN_BUFFER);
            seen = whole_in(bytes);
            from = given.next > 0 ? given.next : from;
        }
        builder_free(&builder);
    }
}

static void one_handle_follows_the_file(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        const char *path;
        etwas_trace_handle trace;
        int file;

        build(compressed != 0);
        path = put_file(0, builder.bytes, ends[0]);
        file = open(path, O_WRONLY | O_CLOEXEC);
        given_forget();
        trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);
        for (uint64_t bytes = ends[0]; bytes < builder.size;) {
            uint64_t more = builder.size - bytes < STEP ? builder.size - bytes : STEP;

            assert_int_equal(pwrite(file, builder.bytes + bytes, more, (off_t)bytes), more);
            bytes += more;
            give_more(trace, given.next, UINT64_MAX);
            assert_events(0, whole_in(bytes) * IN_BUFFER);
            assert_int_equal(collected.information.file_bytes, bytes);
        }
        assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
        (void)close(file);
        builder_free(&builder);
    }
}

/* The space is there from the beginning, zeroes; what is written to it goes from its beginning to its end. */
static void space_set_aside_has_nothing_yet(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        uint8_t *space;

        build(compressed != 0);
        builder_log_header(&builder)->log_file_mode |= EVENT_TRACE_FILE_MODE_PREALLOCATE;
        space = calloc(2, builder.size);
        assert_non_null(space);
        for (uint64_t bytes = ends[0]; bytes <= builder.size; bytes++) {
            uint32_t most = whole_in(bytes);

            memcpy(space, builder.bytes, bytes);
            run_buffers(put_file(0, space, 2 * builder.size), 0, UINT64_MAX);
            /* Where a buffer's last bytes are zeroes, they are there when something is behind it. */
            assert_true(collected.event_count == most * IN_BUFFER || space[ends[most] - 1] == 0);
            assert_events(0, (uint32_t)collected.event_count);
            assert_true(given.count + 1 >= most && given.count <= most);
        }
        free(space);
        builder_free(&builder);
    }
}

/* All of the file is written when the header at this offset has been looked at. */
static uint64_t when = UINT64_MAX;
static const char *written_path;

ssize_t __real_pread(int descriptor, void *target, size_t bytes, off_t offset);
ssize_t __wrap_pread(int descriptor, void *target, size_t bytes, off_t offset);

ssize_t __wrap_pread(int descriptor, void *target, size_t bytes, off_t offset)
{
    ssize_t got = __real_pread(descriptor, target, bytes, offset);

    if ((uint64_t)offset == when && bytes == sizeof(struct etwas_etl_buffer_header)) {
        int file = open(written_path, O_WRONLY | O_CLOEXEC);

        when = UINT64_MAX;
        assert_int_equal(pwrite(file, builder.bytes, builder.size, 0), builder.size);
        (void)close(file);
    }
    return got;
}

/* Where there was nothing a session may have written meanwhile, and more behind it. */
static void nothing_is_left_out_that_was_written_meanwhile(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        uint8_t *space;

        build(compressed != 0);
        builder_log_header(&builder)->log_file_mode |= EVENT_TRACE_FILE_MODE_PREALLOCATE;
        space = calloc(2, builder.size);
        assert_non_null(space);
        memcpy(space, builder.bytes, ends[2]);
        written_path = put_file(0, space, 2 * builder.size);
        when = ends[2];
        run_buffers(written_path, 0, UINT64_MAX);
        assert_true(when == UINT64_MAX);
        assert_events(0, (uint32_t)collected.event_count);
        run_buffers(written_path, given.next, UINT64_MAX);
        assert_true(collected.event_count == 0 || collected.events[0].number == 2 * IN_BUFFER);
        free(space);
        builder_free(&builder);
    }
}

/* What cannot be used is damage when something is behind it. */
static void what_cannot_be_used_at_the_end_is_not_there_yet(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        build(compressed != 0);
        memset(builder.bytes + ends[3], 0x5A, ends[4] - ends[3]);
        run_buffers(put_file(0, builder.bytes, ends[4]), 0, UINT64_MAX);
        assert_events(0, 3 * IN_BUFFER);
        run_buffers(put_file(0, builder.bytes, ends[5]), given.next, UINT64_MAX);
        assert_int_equal(given.code, ERROR_FILE_CORRUPT);
        assert_int_equal(collected.damage_count, 1);
        assert_int_equal(collected.damages[0].kind, ETWAS_DAMAGE_BUFFER_HEADER);
        assert_int_equal(collected.damages[0].file_offset, ends[3]);
        assert_int_equal(collected.damages[0].bytes_skipped, ends[4] - ends[3]);
        assert_int_equal(collected.event_count, IN_BUFFER);
        assert_int_equal(collected.events[0].number, 4 * IN_BUFFER);
        /* It lies between buffers. */
        assert_int_equal(given.buffers[0].ended.damages, 0);
        builder_free(&builder);
    }
}

static void damage_is_counted_where_it_is_met(void **state)
{
    (void)state;
    build(false);
    builder_header(&builder, 3)->saved_offset = 80;
    memset(builder.bytes + ends[3] + 72 + 56, 0, 8);
    run_buffers(put_file(0, builder.bytes, builder.size), 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.damage_count, 2);
    assert_int_equal(given.buffers[2].ended.damages, 1);
    assert_int_equal(given.buffers[2].ended.bytes_skipped, 0);
    assert_int_equal(given.buffers[2].ended.records, IN_BUFFER);
    assert_int_equal(given.buffers[3].ended.damages, 1);
    assert_true(given.buffers[3].ended.bytes_skipped > 0);
    assert_int_equal(given.buffers[4].ended.damages, 0);
    /* From behind them nothing is wrong. */
    run_buffers(put_file(0, builder.bytes, builder.size), ends[4], UINT64_MAX);
    assert_events(4 * IN_BUFFER, EVENTS);
    builder_free(&builder);
}

/* ---- times ----------------------------------------------------------------------------------- */

enum {
    SECONDS = 400,
    A_KNOT_BUFFER = 50, /* seconds of it */
    OLDER = 120         /* seconds: so old are the events of one processor when they are written */
};

/* The wall clock wanders, and once it is set: so whatever knot is missed, times are others. */
static struct etwas_etl_knot wandering(int64_t n, uint32_t reason)
{
    struct etwas_etl_knot knot = knot_of(n, reason);

    knot.filetime += n * 7919 % 13 * 900 + (n > 222 ? INT64_C(36000000000) : 0);
    knot.qpc_ns += n * 104729 % 11 * 70;
    return knot;
}

static void put_wandering(int64_t from, int64_t to)
{
    for (int64_t n = from; n <= to; n++) {
        const struct etwas_etl_knot knot = wandering(n, ETWAS_ETL_KNOT_RUNNING);

        builder_knot(&builder, &knot);
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
 * As a session leaves it: each ten seconds a buffer of what was recorded, and one of what a slow processor did long
 * before; now and then a knot buffer. Buffer 0 has the newest knots.
 */
static const char *build_times(bool ended, uint64_t *begins)
{
    struct builder_options options = cycles();
    const struct etwas_etl_knot started = wandering(0, ETWAS_ETL_KNOT_SESSION_STARTED);
    const struct etwas_etl_knot end = wandering(SECONDS, ETWAS_ETL_KNOT_FILE_ENDED);

    options.end_filetime = ended ? options.end_filetime : 0;
    begin_file(&options);
    builder_knot(&builder, &started);
    put_wandering(SECONDS - A_KNOT_BUFFER + 1, SECONDS - 1);
    if (ended) {
        builder_knot(&builder, &end);
    }
    for (int64_t second = 0; second < SECONDS; second += 10) {
        if (second > 0 && second % A_KNOT_BUFFER == 0) {
            builder_buffer(&builder, 0);
            put_wandering(second - A_KNOT_BUFFER + 1, second);
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
    build(false); /* has no readings */
    trace = open_timed(put_file(0, builder.bytes, builder.size));
    assert_int_equal(etwas_trace_known_until(trace, &raw), ERROR_SUCCESS);
    assert_true(raw == INT64_MAX);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    builder_free(&builder);
}

/* ---- what it costs --------------------------------------------------------------------------- */

/* `old`: the last buffers have events of so many seconds before. Returns how many bytes were read. */
static uint64_t read_the_end(uint32_t buffers, int64_t old)
{
    struct builder_options options = cycles();
    const struct etwas_etl_knot started = wandering(0, ETWAS_ETL_KNOT_SESSION_STARTED);
    etwas_trace_information information;
    etwas_clock_time time;
    const char *path;
    uint64_t begin;

    options.end_filetime = 0;
    begin_file(&options);
    builder_knot(&builder, &started);
    put_wandering(A_KNOT_BUFFER + 1, A_KNOT_BUFFER + 20);
    for (uint32_t i = 0; i < buffers; i++) {
        builder_buffer(&builder, 0);
        put_event(20 + i % 50);
    }
    builder_buffer(&builder, 0);
    put_wandering(1, A_KNOT_BUFFER);
    begin = builder.size;
    for (int64_t i = 0; i < 3; i++) {
        builder_buffer(&builder, 0);
        put_event(2 * (int64_t)A_KNOT_BUFFER + 20 + i - 2 * old);
    }
    path = finish(1);
    asked = open_timed(path);
    knowing = open_timed(path);
    assert_int_equal(etwas_trace_convert_time(knowing, 0, ETWAS_CLOCK_QPC, &time), ERROR_SUCCESS);
    compared = 0;
    assert_int_equal(etwas_trace_process_buffers(asked, begin, UINT64_MAX, NULL, NULL, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(compared, 3 * 3);
    /* Behind it nobody has the file looked through either. */
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
        cmocka_unit_test(a_file_cut_anywhere_has_its_whole_buffers),
        cmocka_unit_test(read_in_steps_it_is_the_same),
        cmocka_unit_test(one_handle_follows_the_file),
        cmocka_unit_test(space_set_aside_has_nothing_yet),
        cmocka_unit_test(nothing_is_left_out_that_was_written_meanwhile),
        cmocka_unit_test(what_cannot_be_used_at_the_end_is_not_there_yet),
        cmocka_unit_test(damage_is_counted_where_it_is_met),
        cmocka_unit_test(times_are_those_of_the_whole_file),
        cmocka_unit_test(the_clocks_are_known_up_to_the_last_reading),
        cmocka_unit_test(the_end_of_a_large_file_is_read_as_fast_as_that_of_a_small_one),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
