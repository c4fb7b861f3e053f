/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file buffer by buffer: each event once, in the order of its place; any part of it; what is
 * whole of one that grows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "buffers.h"
#include "builder.h"
#include "etl/event_metadata.h"
#include "hostile.h"

enum {
    IN_BUFFER = 10,
    BUFFERS = 12,
    EVENTS = IN_BUFFER * BUFFERS,
};

static struct builder builder;

/*
 * What is not buffer 0 of a file of so many data buffers: events 0, 1, 2 … in the order of their
 * place.
 */
static void put_buffers(uint32_t buffers)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < buffers; i++) {
        builder_buffer(&builder, (uint16_t)(i * 7 % 3));
        for (uint32_t j = 0; j < IN_BUFFER; j++, number++) {
            builder_number(&builder, 2000 + number, number);
        }
    }
}

static void build(bool compressed)
{
    struct builder_options options = builder_defaults();

    options.compressed = compressed;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    put_buffers(BUFFERS);
    builder_end(&builder);
}

static int end(void **state)
{
    (void)state;
    given_begin = NULL;
    given_end = NULL;
    builder_free(&builder);
    return 0;
}

static const char *write_trace(void)
{
    return put_file(0, builder.bytes, builder.size);
}

/* Events `first` to `last` - 1 came, in this order, and no others. */
static void assert_events(uint32_t first, uint32_t last)
{
    assert_int_equal(collected.event_count, last - first);
    for (uint32_t i = 0; i < last - first; i++) {
        assert_int_equal(collected.events[i].number, first + i);
        assert_int_equal(collected.events[i].header.TimeStamp.QuadPart, 2000 + first + i);
    }
}

/* ---- whole files ----------------------------------------------------------------------------- */

static void each_event_comes_once_in_the_order_of_its_place(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        build(compressed != 0);
        compare_with_process_trace(write_trace(), true);
        assert_int_equal(given.code, ERROR_SUCCESS);
        assert_events(0, EVENTS);
        assert_int_equal(given.count, BUFFERS);
        for (uint32_t i = 0; i < BUFFERS; i++) {
            const etwas_trace_buffer *buffer = &given.buffers[i].ended;

            assert_int_equal(buffer->number, i + 1);
            assert_int_equal(buffer->stream, i * 7 % 3);
            assert_int_equal(buffer->processor, i * 7 % 3);
            assert_int_equal(buffer->kind, ETWAS_BUFFER_EVENTS);
            assert_int_equal(buffer->session, 0);
            assert_int_equal(buffer->records, IN_BUFFER);
            assert_int_equal(buffer->damages, 0);
            assert_int_equal(buffer->bytes_skipped, 0);
            assert_int_equal(collected.events[i * IN_BUFFER].context.ProcessorIndex,
                             buffer->processor);
        }
        assert_int_equal(given.next, builder.size);
        builder_free(&builder);
    }
}

static void put_description(const etwas_guid *guid, uint8_t type, uint16_t version)
{
    struct {
        struct etwas_etl_full_header header;
        uint8_t payload[96];
    } record = {
        .header = {.size = sizeof record,
                   .header_type = ETWAS_ETL_FULL_HEADER64,
                   .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                   .type = type,
                   .version = version,
                   .time_stamp = 2000,
                   .guid = *guid},
    };

    builder_raw(&builder, &record, sizeof record);
}

/*
 * Builds a file with buffers of each kind: descriptions, images, clock snapshots and events. If the
 * file is not etwas's own, a reader takes all of them for events.
 */
static void put_kinds(bool own, uint32_t mode)
{
    static const etwas_guid image_class = {
        0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
    static const etwas_guid build_class = {
        0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};
    struct builder_options options = builder_defaults();
    const struct etwas_etl_clock_snapshot snapshot = {.version = ETWAS_ETL_CLOCK_SNAPSHOT_VERSION,
                                                      .reason = ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING,
                                                      .raw_stamp = options.first_raw + 100,
                                                      .qpc_ns = options.first_raw + 100};

    options.mode |= mode;
    options.compressed = (mode & EVENT_TRACE_COMPRESSED_MODE) != 0;
    builder_begin(&builder, &options);
    if (own) {
        builder_calibration(&builder);
    }
    builder_buffer(&builder, 0);
    put_description(&etwas_etl_metadata_class, ETWAS_ETL_EVENT_INFO_TYPE, 0);
    builder_buffer(&builder, 0);
    put_description(&etwas_etl_own_class, ETWAS_ETL_MESSAGE_FORMAT_TYPE, 1);
    builder_buffer(&builder, 0);
    put_description(&image_class, 3, 2);
    put_description(&build_class, 36, 2);
    builder_buffer(&builder, 0);
    put_description(&image_class, 3, 3); /* a system logger's */
    builder_buffer(&builder, 0);
    put_description(&build_class, 36, 2); /* likewise: of the image behind it */
    put_description(&image_class, 3, 3);
    builder_buffer(&builder, 0);
    builder_clock_snapshot(&builder, &snapshot);
    put_buffers(1);
    builder_end(&builder);
}

static void a_buffer_says_what_it_has(void **state)
{
    static const uint32_t plain[] = {ETWAS_BUFFER_DESCRIPTIONS, ETWAS_BUFFER_DESCRIPTIONS,
                                     ETWAS_BUFFER_DESCRIPTIONS, ETWAS_BUFFER_EVENTS,
                                     ETWAS_BUFFER_EVENTS,       ETWAS_BUFFER_READINGS,
                                     ETWAS_BUFFER_EVENTS};
    static const uint32_t relogged[] = {
        ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_EVENTS,   ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_EVENTS,
        ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_READINGS, ETWAS_BUFFER_EVENTS};
    static const uint32_t foreign[] = {
        ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_EVENTS,
        ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_EVENTS, ETWAS_BUFFER_EVENTS};
    static const struct {
        bool own;
        uint32_t mode;
        const uint32_t *kinds;
    } files[] = {{true, 0, plain},
                 {true, EVENT_TRACE_COMPRESSED_MODE, plain},
                 {true, EVENT_TRACE_RELOG_MODE, relogged},
                 {false, 0, foreign}};

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        put_kinds(files[i].own, files[i].mode);
        compare_with_process_trace(write_trace(), true);
        assert_int_equal(given.count, 7);
        for (size_t k = 0; k < 7; k++) {
            assert_int_equal(given.buffers[k].begun.kind, files[i].kinds[k]);
        }
        assert_int_equal(given.buffers[5].ended.records, 0);
        builder_free(&builder);
    }
}

/* Finished: numbered anew in the order of time, which is not that of place. */
static void a_circular_file_that_was_ended_comes_by_place(void **state)
{
    (void)state;
    build(false);
    builder_wrap(&builder, 5, true);
    compare_with_process_trace(write_trace(), true);
    assert_int_equal(given.count, 5);
    assert_int_equal(given.buffers[0].begun.number, 4);
    assert_int_equal(given.buffers[1].begun.number, 5);
    assert_int_equal(given.buffers[2].begun.number, 1);
    assert_int_equal(collected.events[0].number, 10 * IN_BUFFER);
    assert_int_equal(collected.events[2 * IN_BUFFER].number, 7 * IN_BUFFER);
}

static void a_circular_file_without_an_end_is_refused(void **state)
{
    (void)state;
    build(false);
    builder_wrap(&builder, 5, false);
    run_buffers(write_trace(), 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_NOT_SUPPORTED);
    assert_int_equal(given.count, 0);
}

static void the_sessions_of_an_appended_file_are_told_apart(void **state)
{
    struct builder_options options = builder_defaults();

    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        options.mode |= EVENT_TRACE_FILE_MODE_APPEND;
        options.compressed = compressed != 0;
        options.clock_type = ETWAS_ETL_CLOCK_SYSTEM;
        builder_begin(&builder, &options);
        builder_calibration(&builder);
        for (uint32_t session = 0; session < 4; session++) {
            builder.sequence = 0;
            put_buffers(3 + session);
        }
        builder_end(&builder);
        compare_with_process_trace(write_trace(), true);
        assert_int_equal(given.count, 3 + 4 + 5 + 6);
        for (uint32_t i = 0, session = 0, number = 0; i < given.count; i++) {
            assert_int_equal(given.buffers[i].begun.session, session);
            assert_int_equal(given.buffers[i].begun.number, ++number);
            if (number == 3 + session) {
                session++;
                number = 0;
            }
        }
        run_buffers(write_trace(), given.buffers[10].begun.file_offset, UINT64_MAX);
        assert_int_equal(given.buffers[0].begun.session, 2);
        builder_free(&builder);
    }
}

/* ---- parts of files -------------------------------------------------------------------------- */

static void any_stretch_has_the_buffers_that_begin_in_it(void **state)
{
    static uint64_t begins[BUFFERS + 1];

    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        build(compressed != 0);
        run_buffers(write_trace(), 0, UINT64_MAX);
        for (size_t i = 0; i < BUFFERS; i++) {
            begins[i] = given.buffers[i].begun.file_offset;
        }
        begins[BUFFERS] = given.next;
        for (uint32_t from = 0; from <= BUFFERS; from++) {
            for (uint32_t until = from; until <= BUFFERS; until++) {
                run_buffers(write_trace(), begins[from], begins[until]);
                assert_int_equal(given.code, ERROR_SUCCESS);
                assert_events(from * IN_BUFFER, until * IN_BUFFER);
            }
        }
        builder_free(&builder);
    }
}

static void where_buffers_have_one_size_any_offset_will_do(void **state)
{
    (void)state;
    build(false);
    for (uint64_t from = 0; from <= builder.size + 5000; from += 511) {
        uint64_t first = from <= 4096 ? 0 : (from + 4095) / 4096 - 1;

        run_buffers(write_trace(), from, UINT64_MAX);
        assert_int_equal(given.code, ERROR_SUCCESS);
        assert_events(first < BUFFERS ? (uint32_t)first * IN_BUFFER : EVENTS, EVENTS);
    }
}

static uint32_t stop_at_5(const etwas_trace_buffer *buffer)
{
    return buffer->number == 5 ? ETWAS_BUFFER_STOP : ETWAS_BUFFER_READ;
}

static uint32_t pass_even(const etwas_trace_buffer *buffer)
{
    return buffer->number % 2 == 0 ? ETWAS_BUFFER_PASS : ETWAS_BUFFER_READ;
}

static void a_callback_stops_it_before_or_behind_a_buffer(void **state)
{
    (void)state;
    build(false);
    given_begin = stop_at_5;
    run_buffers(write_trace(), 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_CANCELLED);
    assert_events(0, 4 * IN_BUFFER);
    assert_false(given.buffers[4].has_ended);
    given_begin = NULL;
    given_end = stop_at_5;
    run_buffers(write_trace(), 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_CANCELLED);
    assert_events(0, 5 * IN_BUFFER);
    assert_int_equal(given.count, 5);
}

static void what_is_passed_over_is_not_read(void **state)
{
    uint64_t bytes_read;

    (void)state;
    build(false);
    run_buffers(write_trace(), 0, UINT64_MAX);
    bytes_read = collected.information.bytes_read;
    given_begin = pass_even;
    run_buffers(write_trace(), 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, EVENTS / 2);
    assert_int_equal(collected.events[IN_BUFFER].number, 2 * IN_BUFFER);
    assert_false(given.buffers[1].has_ended);
    assert_true(given.buffers[2].has_ended);
    assert_true(collected.information.bytes_read < bytes_read);
}

static void who_gives_no_callbacks_gets_all(void **state)
{
    etwas_trace_handle trace;

    (void)state;
    build(false);
    forget_collected();
    trace = open_collecting(write_trace(), PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_int_equal(etwas_trace_process_buffers(trace, 0, UINT64_MAX, NULL, NULL, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(collected.event_count, EVENTS);
    assert_int_equal(collected.buffer_count, 0);
    /* Stamps are as OpenTrace was asked: FILETIME. */
    assert_true(collected.events[0].header.TimeStamp.QuadPart >= BUILDER_START);
    /* ProcessTrace goes on as ever. */
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 2 * EVENTS + 1);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

/* And each buffer of a stream that cannot be. */
static void what_is_wrong_with_buffer_0_is_told_from_the_beginning_alone(void **state)
{
    (void)state;
    build(false);
    builder_header(&builder, 0)->type = ETWAS_ETL_BUFFER_GENERIC;
    builder_header(&builder, 4)->processor = 77;
    builder_header(&builder, 6)->processor = 77;
    run_buffers(write_trace(), 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_FILE_CORRUPT);
    assert_int_equal(collected.damage_count, 3);
    assert_int_equal(collected.damages[0].file_offset, 0);
    assert_int_equal(damages_of(ETWAS_DAMAGE_PROCESSOR), 2);
    assert_int_equal(given.buffers[3].ended.damages, 1);
    assert_int_equal(given.buffers[5].ended.damages, 1);
    assert_int_equal(given.buffers[5].ended.stream, 77);
    run_buffers(write_trace(), given.buffers[6].begun.file_offset, UINT64_MAX);
    assert_int_equal(given.code, ERROR_SUCCESS);
    assert_int_equal(collected.damage_count, 0);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static etwas_trace_handle opened;

static uint32_t call_again(const etwas_trace_buffer *buffer)
{
    (void)buffer;
    assert_int_equal(etwas_trace_process_buffers(opened, 0, UINT64_MAX, NULL, NULL, NULL),
                     ERROR_BUSY);
    assert_int_equal(ProcessTrace(&opened, 1, NULL, NULL), ERROR_BUSY);
    return ETWAS_BUFFER_READ;
}

static uint32_t close_at_3(const etwas_trace_buffer *buffer)
{
    if (buffer->number == 3) {
        assert_int_equal(CloseTrace(opened), ERROR_CTX_CLOSE_PENDING);
    }
    return ETWAS_BUFFER_READ;
}

static void wrong_calls_are_refused(void **state)
{
    int64_t raw;

    (void)state;
    build(false);
    given_forget();
    opened = open_collecting(write_trace(), PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_int_equal(etwas_trace_process_buffers(opened, 2, 1, NULL, NULL, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_process_buffers(opened + 1, 0, 1, NULL, NULL, NULL),
                     ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trace_known_until(opened + 1, &raw), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_trace_known_until(opened, NULL), ERROR_INVALID_PARAMETER);
    given_begin = call_again;
    give_more(opened, 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_SUCCESS);
    assert_int_equal(CloseTrace(opened), ERROR_SUCCESS);
}

/* The records that are left of the buffer come no more, nor its end. */
static void closing_it_from_a_callback_ends_it(void **state)
{
    (void)state;
    build(false);
    given_forget();
    opened = open_collecting(write_trace(),
                             PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP);
    given_begin = close_at_3;
    give_more(opened, 0, UINT64_MAX);
    assert_int_equal(given.code, ERROR_SUCCESS);
    assert_int_equal(given.count, 3);
    assert_false(given.buffers[2].has_ended);
    assert_events(0, 2 * IN_BUFFER);
    assert_int_equal(CloseTrace(opened), ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_event_comes_once_in_the_order_of_its_place),
        cmocka_unit_test(a_buffer_says_what_it_has),
        cmocka_unit_test_teardown(a_circular_file_that_was_ended_comes_by_place, end),
        cmocka_unit_test_teardown(a_circular_file_without_an_end_is_refused, end),
        cmocka_unit_test(the_sessions_of_an_appended_file_are_told_apart),
        cmocka_unit_test(any_stretch_has_the_buffers_that_begin_in_it),
        cmocka_unit_test_teardown(where_buffers_have_one_size_any_offset_will_do, end),
        cmocka_unit_test_teardown(a_callback_stops_it_before_or_behind_a_buffer, end),
        cmocka_unit_test_teardown(what_is_passed_over_is_not_read, end),
        cmocka_unit_test_teardown(who_gives_no_callbacks_gets_all, end),
        cmocka_unit_test_teardown(what_is_wrong_with_buffer_0_is_told_from_the_beginning_alone,
                                  end),
        cmocka_unit_test_teardown(wrong_calls_are_refused, end),
        cmocka_unit_test_teardown(closing_it_from_a_callback_ends_it, end),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
