/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Places in a file, bounds that somebody damaged, and the times of a block. */
#include "ship_whole.h"

#include <etwas/buffers.h>
#include <etwas/evntcons.h>
#include <etwas/evntrace.h>

/* ---- places and bounds ----------------------------------------------------------------------- */

/*
 * From wherever a block ended, what is left can be counted, and its place found by the buffer's
 * number.
 */
static void what_is_left_is_counted(void **state)
{
    const struct etwas_ship_limits some = {777, ETWAS_SHIP_BLOCK_BYTES};
    const char *path = folder_path("l.etl");
    etwas_session_options options = sequential();
    static struct shipped_event event;
    struct etwas_ship_block block = block_open();
    etwas_session_counts counts;
    struct etwas_ship_file *file;
    struct etwas_ship_position found;
    struct etwas_ship_unshipped rest;
    struct rows rows;

    (void)state;
    write_file(path, &options, 3000, &counts);
    file = open_file(path);
    assert_int_equal(etwas_ship_block_next(file, &beginning, &some, &block), ETWAS_SHIP_BLOCK);
    assert_true(etwas_ship_unshipped_count(file, &block.bounds.until, &rest));
    assert_int_equal(rest.events, counts.recorded - block.bounds.rows);
    rows_begin(&rows, block.events);
    while (rows_next_event(&rows, &event)) {
    }
    assert_int_equal(rest.first_buffer, event.buffer);
    assert_true(rest.first_ns != 0 && rest.first_ns <= rest.last_ns);
    assert_true(etwas_ship_find_buffer(file, event.buffer, &found));
    assert_int_equal(found.offset, block.bounds.until.offset);
    assert_int_equal(found.pos, 0);
    assert_false(etwas_ship_find_buffer(file, 1u << 30, &found));

    etwas_columns_reset(block.buffers, &block.buffers->dialect);
    assert_true(etwas_ship_unshipped_row(&rest, block.buffers));
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_STATE),
                     ETWAS_SHIP_STATE_GONE);
    assert_int_equal(buffer_value(block.buffers, 0, ETWAS_SHIP_BUFFER_EVENTS), rest.events);
    etwas_ship_file_close(file);
    block_close(&block);
}

static void places_that_are_not_there_are_refused(void **state)
{
    const char *path = folder_path("p.etl");
    etwas_session_options options = sequential();
    struct etwas_ship_block block = block_open();
    struct etwas_ship_bounds sound;
    struct etwas_ship_bounds bounds;
    struct etwas_ship_file *file;

    (void)state;
    write_file(path, &options, 500, NULL);
    file = open_file(path);
    assert_int_equal(etwas_ship_block_next(file, &beginning, &whole, &block), ETWAS_SHIP_BLOCK);
    sound = block.bounds;
    for (uint32_t round = 0; round < 2000; round++) {
        uint8_t *bytes = (uint8_t *)&bounds;

        bounds = sound;
        for (uint32_t i = 0; i <= round % 3; i++) {
            bytes[draw(sizeof bounds)] ^= (uint8_t)(1u << draw(8));
        }
        if (etwas_ship_block_again(file, &bounds, &block) == ETWAS_SHIP_BLOCK) {
            assert_int_equal(block.events->rows, sound.rows);
        }
    }
    assert_int_equal(etwas_ship_block_again(file, &sound, &block), ETWAS_SHIP_BLOCK);
    assert_int_equal(
        etwas_ship_block_next(file, &(struct etwas_ship_position){1u << 30, 0}, &whole, &block),
        ETWAS_SHIP_FAILED);
    assert_int_equal(
        etwas_ship_block_next(
            file, &(struct etwas_ship_position){sound.until.offset - 8192, 100000}, &whole, &block),
        ETWAS_SHIP_FAILED);
    etwas_ship_file_close(file);
    block_close(&block);
}

/* ---- times ----------------------------------------------------------------------------------- */

struct times {
    etwas_trace_handle trace;
    struct etwas_ship_block block;
    struct rows rows;
    uint32_t count;
    uint32_t held;
    int64_t raw[8192];
};

static uint32_t begin_buffer(const etwas_trace_buffer *buffer, void *context)
{
    struct times *times = context;

    times->held = 0;
    return buffer->kind == ETWAS_BUFFER_EVENTS ? ETWAS_BUFFER_READ : ETWAS_BUFFER_PASS;
}

static void hold_stamp(EVENT_RECORD *record)
{
    struct times *times = record->UserContext;

    times->raw[times->held++] = record->EventHeader.TimeStamp.QuadPart;
}

/* What the library says of each stamp, and the row. */
static uint32_t compare_times(const etwas_trace_buffer *buffer, void *context)
{
    static struct shipped_event event;
    struct times *times = context;

    (void)buffer;
    for (uint32_t i = 0; i < times->held; i++) {
        etwas_clock_time time;
        int64_t unix_ns;

        assert_int_equal(
            etwas_trace_convert_time(times->trace, times->raw[i], ETWAS_CLOCK_SYSTEM_TIME, &time),
            ERROR_SUCCESS);
        unix_ns = (time.value - INT64_C(116444736000000000)) * 100;
        assert_true(rows_next_event(&times->rows, &event));
        assert_true(time.error_ns <= event.error);
        assert_in_range(event.time, unix_ns - event.error, unix_ns + event.error);
        times->count++;
    }
    return ETWAS_BUFFER_READ;
}

static void times_are_within_their_error(void **state)
{
    const char *path = folder_path("t.etl");
    etwas_session_options options = sequential();
    static struct times times;
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = hold_stamp,
        .Context = &times,
    };
    etwas_trace_handle session = start_session(path, &options);
    struct work work[WRITERS];
    struct etwas_ship_file *file;

    (void)state;
    scene_enable(session);
    begin_work(work, session, 15000, true);
    end_work(work);
    stop_session(session, NULL);
    file = open_file(path);
    times.block = block_open();
    assert_int_equal(etwas_ship_block_next(file, &beginning, &whole, &times.block),
                     ETWAS_SHIP_BLOCK);
    rows_begin(&times.rows, times.block.events);
    times.trace = OpenTraceA(&logfile);
    assert_true(times.trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_process_buffers(times.trace, 0, UINT64_MAX, begin_buffer,
                                                 compare_times, &times),
                     ERROR_SUCCESS);
    assert_int_equal(times.count, times.block.events->rows);
    assert_true(times.block.bounds.times.error_ns < UINT32_MAX);
    CloseTrace(times.trace);
    etwas_ship_file_close(file);
    block_close(&times.block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_is_left_is_counted),
        FOLDER_TEST(places_that_are_not_there_are_refused),
        FOLDER_TEST(times_are_within_their_error),
    };

    scene_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
