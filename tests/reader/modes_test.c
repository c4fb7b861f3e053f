/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the other file modes leave: appended files, new-file sets, one stream for all processors,
 * space set aside; processor times; the totals of a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"
#include "etl/own_record.h"

enum {
    B = 4096,
    IN_BUFFER = 5,
};

static struct builder builder;
static uint32_t number; /* of the last event put */

static void put_buffers(uint32_t count, uint16_t processors)
{
    for (uint32_t i = 0; i < count; i++) {
        builder_buffer(&builder, (uint16_t)(i % processors));
        for (uint32_t j = 0; j < IN_BUFFER; j++) {
            number++;
            builder_number(&builder, 2000 + number, number);
        }
    }
}

static void read_all(void)
{
    run_file(put_file(0, builder.bytes, builder.size));
}

static void assert_events(uint32_t first, uint32_t last)
{
    assert_int_equal(collected.event_count, last - first + 2);
    for (uint32_t i = first; i <= last; i++) {
        assert_int_equal(collected.events[i - first + 1].number, i);
    }
}

static int begin(void **state)
{
    (void)state;
    number = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    builder_free(&builder);
    return 0;
}

/* ---- appended files -------------------------------------------------------------------------- */

/* Three sessions, one after the other: the second and third went on with the numbers. */
static void build_appended(void)
{
    struct builder_options options = builder_defaults();

    options.mode = EVENT_TRACE_FILE_MODE_APPEND;
    options.clock_type = ETWAS_ETL_CLOCK_SYSTEM;
    options.first_raw = 1000;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    put_buffers(4, 3);
    put_buffers(3, 3);
    put_buffers(2, 3);
    builder_end(&builder);
}

static void an_appended_file_is_one_trace_R95(void **state)
{
    (void)state;
    build_appended();
    read_all();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_false(collected.information.unfinished);
    assert_events(1, 9 * IN_BUFFER);
}

/* Some writers leave EndTime and the count of the session before while they append. */
static void an_append_that_never_ended_is_read_by_its_length(void **state)
{
    (void)state;
    build_appended();
    for (uint32_t counted = 1; counted <= 9; counted++) {
        builder_log_header(&builder)->buffers_written = counted;
        read_all();
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_true(collected.information.unfinished);
        assert_events(1, 9 * IN_BUFFER);
    }
}

/* System time may be set back between two sessions: the buffers stay in their order. */
static void time_set_back_between_two_sessions_is_no_damage(void **state)
{
    (void)state;
    build_appended();
    for (uint32_t i = 5; i <= 9; i++) {
        for (uint32_t j = 0; j < IN_BUFFER; j++) {
            struct etwas_etl_full_header *record =
                (struct etwas_etl_full_header *)(void *)(builder.bytes + i * B + 72 + j * 56);

            record->time_stamp -= 1500;
        }
    }
    read_all();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 1 + 9 * IN_BUFFER);
}

static void a_header_that_counts_more_than_is_there_is_damage_also_without_an_end(void **state)
{
    (void)state;
    build_appended();
    builder_log_header(&builder)->end_filetime = 0;
    run_file(put_file(0, builder.bytes, builder.size - B));
    assert_int_equal(collected.code, ERROR_FILE_CORRUPT);
    assert_int_equal(damages_of(ETWAS_DAMAGE_SEQUENCE), 1);
    assert_int_equal(collected.damage_count, 1);
    assert_events(1, 8 * IN_BUFFER);
}

/* ---- new-file sets --------------------------------------------------------------------------- */

/*
 * Parts 1 … 3 of one session at 1 GHz: 100 stamps make one FILETIME, and four events one stamp,
 * also where a part ends.
 */
static void put_part(uint32_t part, unsigned slot, const char **path)
{
    struct builder_options options = builder_defaults();
    const struct etwas_etl_totals totals = {.version = 1, .part = part, .lost_events = part};

    options.mode = EVENT_TRACE_FILE_MODE_NEWFILE;
    options.frequency_hz = 1000000000;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    builder_totals(&builder, &totals);
    builder_buffer(&builder, 0);
    for (uint32_t i = 0; i < 2 * IN_BUFFER; i++) {
        number++;
        builder_number(&builder, 2000 + number / 4, number);
    }
    builder_end(&builder);
    *path = put_file(slot, builder.bytes, builder.size);
    builder_free(&builder);
}

static void parts_of_a_set_are_one_trace_in_whatever_order_they_are_given_R96(void **state)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const char *paths[3];

    (void)state;
    for (uint32_t part = 1; part <= 3; part++) {
        put_part(part, part, &paths[part - 1]);
    }
    for (size_t i = 0; i < 6; i++) {
        const char *given[3] = {paths[orders[i][0]], paths[orders[i][1]], paths[orders[i][2]]};

        run_files(given, 3, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_int_equal(collected.event_count, 3 + 6 * IN_BUFFER);
        for (uint32_t j = 0; j < 6 * IN_BUFFER; j++) {
            assert_int_equal(collected.events[3 + j].number, j + 1);
        }
        assert_int_equal(collected.information.part, orders[i][0] + 1);
        assert_int_equal(collected.information.lost_events, orders[i][0] + 1);
    }
}

/* A part has its clock's rate measured over its own time. The set takes the last one's, so that
 * neither the order nor the times go back where one part ends. */
static void parts_share_the_rate_that_was_measured_longest(void **state)
{
    const char *paths[3];
    int64_t before = INT64_MIN;

    (void)state;
    for (uint32_t part = 1; part <= 3; part++) {
        struct builder_options options = builder_defaults();
        const struct etwas_etl_totals totals = {.version = 1, .part = part};

        options.clock_type = ETWAS_ETL_CLOCK_CYCLES;
        options.frequency_hz = 10000000 + part * 1000;
        builder_begin(&builder, &options);
        builder_calibration(&builder);
        builder_totals(&builder, &totals);
        builder_buffer(&builder, 0);
        for (uint32_t i = 0; i < 20; i++) {
            builder_number(&builder, INT64_C(1000000000) + (part * 20 + i) * 100, part * 20 + i);
        }
        builder_end(&builder);
        paths[3 - part] = put_file(part, builder.bytes, builder.size);
        builder_free(&builder);
    }
    run_files(paths, 3, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 3 + 60);
    for (uint32_t i = 0; i < 60; i++) {
        assert_int_equal(collected.events[3 + i].number, 20 + i);
        assert_true(collected.events[3 + i].header.TimeStamp.QuadPart > before);
        before = collected.events[3 + i].header.TimeStamp.QuadPart;
    }
}

/* ---- one stream, space set aside ------------------------------------------------------------- */

/* R78: with NO_PER_PROCESSOR_BUFFERING no processor is recorded. */
static void one_stream_for_all_processors_keeps_its_order_R78(void **state)
{
    struct builder_options options = builder_defaults();

    (void)state;
    options.mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    options.legacy = true;
    builder_begin(&builder, &options);
    put_buffers(4, 1);
    builder_end(&builder);
    read_all();
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_events(1, 4 * IN_BUFFER);
    assert_int_equal(collected.events[1].context.ProcessorIndex, 0);
}

/* R97: the buffer being written when the session was killed is followed by zeroes. */
static void space_set_aside_ends_the_file_also_in_the_middle_of_a_buffer_R97(void **state)
{
    struct builder_options options = builder_defaults();
    uint8_t *longer = calloc(20, B);

    (void)state;
    assert_non_null(longer);
    options.end_filetime = 0;
    options.mode = EVENT_TRACE_FILE_MODE_PREALLOCATE;
    builder_begin(&builder, &options);
    put_buffers(4, 2);
    builder_end(&builder);
    for (uint32_t kept = 0; kept <= IN_BUFFER; kept++) {
        size_t cut = 4 * B + 72 + kept * 56;

        memcpy(longer, builder.bytes, cut);
        memset(longer + cut, 0, 20 * B - cut);
        run_file(put_file(0, longer, 20 * B));
        assert_int_equal(damages_of(ETWAS_DAMAGE_RECORD), kept < IN_BUFFER);
        assert_int_equal(collected.damage_count, kept < IN_BUFFER);
        assert_events(1, 3 * IN_BUFFER + kept);
    }
    free(longer);
}

/* ---- processor times ------------------------------------------------------------------------- */

static const EVENT_HEADER *read_times(uint32_t mode, uint32_t tick_100ns, bool own)
{
    struct builder_options options = builder_defaults();

    options.mode = mode;
    options.timer_resolution_100ns = tick_100ns;
    builder_begin(&builder, &options);
    if (own) {
        builder_calibration(&builder);
    }
    put_buffers(1, 1);
    builder_end(&builder);
    read_all();
    builder_free(&builder);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    return &collected.events[1].header;
}

static void processor_times_are_delivered_R106(void **state)
{
    const EVENT_HEADER *header = read_times(0, ETWAS_ETL_TIMES_TICK_100NS, true);

    (void)state;
    assert_int_equal(header->KernelTime, 31);
    assert_int_equal(header->UserTime, 32);
    assert_int_equal(header->Flags & EVENT_HEADER_FLAG_NO_CPUTIME, 0);
    assert_int_equal(header->Flags & EVENT_HEADER_FLAG_PRIVATE_SESSION, 0);
    header = read_times(EVENT_TRACE_PRIVATE_LOGGER_MODE, ETWAS_ETL_TIMES_TICK_100NS, true);
    assert_int_equal(header->ProcessorTime, UINT64_C(32) << 32 | 31);
    assert_int_equal(header->Flags & EVENT_HEADER_FLAG_NO_CPUTIME, 0);
    assert_true((header->Flags & EVENT_HEADER_FLAG_PRIVATE_SESSION) != 0);
}

static void times_nobody_took_are_marked_where_the_file_says_so_R106(void **state)
{
    (void)state;
    assert_true((read_times(0, 156250, true)->Flags & EVENT_HEADER_FLAG_NO_CPUTIME) != 0);
    assert_int_equal(read_times(0, 156250, false)->Flags & EVENT_HEADER_FLAG_NO_CPUTIME, 0);
    assert_int_equal(read_times(EVENT_TRACE_PRIVATE_IN_PROC, 156250, true)->Flags &
                         EVENT_HEADER_FLAG_NO_CPUTIME,
                     0);
}

static void processor_times_are_in_the_old_form_too_R106(void **state)
{
    struct builder_options options = builder_defaults();
    const char *path;

    (void)state;
    builder_begin(&builder, &options);
    put_buffers(1, 1);
    builder_end(&builder);
    path = put_file(0, builder.bytes, builder.size);
    run_files(&path, 1, 0, NULL, NULL);
    assert_int_equal(collected.events[1].classic.Header.KernelTime, 31);
    assert_int_equal(collected.events[1].classic.Header.UserTime, 32);
    assert_int_equal(collected.events[1].classic.Header.ProcessorTime, UINT64_C(32) << 32 | 31);
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void read_totals(const struct etwas_etl_totals *totals, size_t bytes, uint8_t type)
{
    struct builder_options options = builder_defaults();

    builder_begin(&builder, &options);
    builder_calibration(&builder);
    builder_own(&builder, type, totals, bytes);
    put_buffers(1, 1);
    builder_end(&builder);
    builder_log_header(&builder)->events_lost = UINT32_MAX;
    builder_log_header(&builder)->end_filetime = 0;
    read_all();
    builder_free(&builder);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    /* Neither delivered nor counted, whatever they say. */
    assert_int_equal(collected.event_count, 1 + IN_BUFFER);
    assert_int_equal(collected.information.events, IN_BUFFER);
}

static void totals_tell_more_than_the_header_can(void **state)
{
    const struct etwas_etl_totals totals = {
        1, 9, UINT64_C(1) << 40, 5, UINT64_C(1) << 33, 8, UINT64_C(1) << 41, 7, 5, 6};

    (void)state;
    read_totals(&totals, sizeof totals, ETWAS_ETL_TOTALS_TYPE);
    assert_int_equal(collected.information.part, 9);
    assert_int_equal(collected.information.overwritten_events, UINT64_C(1) << 40);
    assert_int_equal(collected.information.overwritten_buffers, 5);
    assert_int_equal(collected.information.lost_events, UINT64_C(1) << 33);
    assert_int_equal(collected.information.lost_buffers, 8);
    assert_int_equal(collected.information.attempted_events, UINT64_C(1) << 41);
    assert_int_equal(collected.information.ends,
                     ETWAS_TRACE_ENDS_SESSION | ETWAS_TRACE_IS_RECOVERED);
    assert_int_equal(collected.information.unattached_code, 5);
    assert_int_equal(collected.information.unattached_processes, 6);
}

/* As files have them that were written before it was noted. */
static void totals_without_what_was_attempted_say_the_rest(void **state)
{
    const struct etwas_etl_totals totals = {1, 9, 7, 5, 0, 0, 3, 1, 5, 6};

    (void)state;
    read_totals(&totals, ETWAS_ETL_TOTALS_LEAST_BYTES, ETWAS_ETL_TOTALS_TYPE);
    assert_int_equal(collected.information.overwritten_events, 7);
    assert_int_equal(collected.information.attempted_events, 0);
    assert_int_equal(collected.information.ends, 0);
    assert_int_equal(collected.information.unattached_code, 0);
    assert_int_equal(collected.information.unattached_processes, 0);
}

static void totals_of_another_version_type_or_length_say_nothing(void **state)
{
    struct etwas_etl_totals totals = {1, 9, 1, 1, UINT64_C(1) << 33, 8, 1, 1, 0, 0};

    (void)state;
    for (int way = 0; way < 3; way++) {
        totals.version = way == 0 ? 2 : 1;
        read_totals(&totals, way == 1 ? ETWAS_ETL_TOTALS_LEAST_BYTES - 4 : sizeof totals,
                    way == 2 ? 3 : ETWAS_ETL_TOTALS_TYPE);
        assert_int_equal(collected.information.part, 0);
        assert_int_equal(collected.information.overwritten_events, 0);
        assert_int_equal(collected.information.overwritten_buffers, 0);
        assert_int_equal(collected.information.lost_events, UINT32_MAX);
        assert_int_equal(collected.information.lost_buffers, 0);
    }
}

/* ---- a circular file that is being written --------------------------------------------------- */

static const char *live_path;
static uint32_t live_buffer_bytes;
static uint32_t live_place;
static size_t live_after;
static uint32_t live_seen;

/* Once `live_after` events were seen, a session replaces the buffer in `live_place`. */
static void on_live_record(EVENT_RECORD *record)
{
    struct etwas_etl_buffer_header header;
    long at = (long)live_place * (long)live_buffer_bytes;
    FILE *file;
    size_t left;

    (void)record;
    if (++live_seen != live_after) {
        return;
    }
    file = fopen(live_path, "r+b");
    left = live_buffer_bytes - sizeof header;
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    header.sequence_number += 100;
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(&header, sizeof header, 1, file), 1);
    while (left-- > 0) {
        assert_int_equal(fputc(0x33, file), 0x33);
    }
    assert_int_equal(fclose(file), 0);
}

static void read_live(uint32_t buffer_bytes, uint32_t place, size_t after,
                      etwas_trace_information *information)
{
    struct builder_options options = builder_defaults();
    EVENT_TRACE_LOGFILEA logfile = {.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = on_live_record};
    etwas_trace_handle trace;
    static uint8_t payload[16384];

    options.buffer_bytes = buffer_bytes;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    for (uint32_t i = 0; i < 3; i++) {
        builder_buffer(&builder, 0);
        for (uint32_t j = 0; j < 20; j++) {
            number++;
            builder_classic(&builder, 2000 + number, 1, payload, buffer_bytes / 32);
        }
    }
    builder_end(&builder);
    builder_wrap(&builder, 3, false);
    for (uint32_t i = 1; i <= 3; i++) {
        builder_header(&builder, i)->time_stamp = INT64_MAX;
    }
    live_path = put_file(0, builder.bytes, builder.size);
    live_buffer_bytes = buffer_bytes;
    live_place = place;
    live_after = after;
    live_seen = 0;
    logfile.LogFileName = (char *)(uintptr_t)live_path;
    trace = OpenTraceA(&logfile);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(trace, information), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    builder_free(&builder);
}

static void a_buffer_replaced_before_it_is_read_is_overwritten_and_no_damage(void **state)
{
    etwas_trace_information information;

    (void)state;
    read_live(B, 3, 2, &information);
    assert_int_equal(information.damages, 0);
    assert_int_equal(information.overwritten_buffers, 1);
    assert_int_equal(information.events, 40);
}

/* 512 KB: its window holds the first 8 records of 16 KB. */
static void a_buffer_replaced_while_it_is_read_gives_what_was_read_of_it(void **state)
{
    etwas_trace_information information;

    (void)state;
    read_live(512 * 1024, 2, 1 + 20 + 3, &information);
    assert_int_equal(information.damages, 0);
    assert_int_equal(information.overwritten_buffers, 1);
    assert_in_range(information.events, 40 + 3, 40 + 8);
    assert_int_equal(live_seen, information.events + 1);
}

#define MODES_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODES_TEST(an_appended_file_is_one_trace_R95),
        MODES_TEST(an_append_that_never_ended_is_read_by_its_length),
        MODES_TEST(time_set_back_between_two_sessions_is_no_damage),
        MODES_TEST(a_header_that_counts_more_than_is_there_is_damage_also_without_an_end),
        MODES_TEST(parts_of_a_set_are_one_trace_in_whatever_order_they_are_given_R96),
        MODES_TEST(parts_share_the_rate_that_was_measured_longest),
        MODES_TEST(one_stream_for_all_processors_keeps_its_order_R78),
        MODES_TEST(space_set_aside_ends_the_file_also_in_the_middle_of_a_buffer_R97),
        MODES_TEST(processor_times_are_delivered_R106),
        MODES_TEST(times_nobody_took_are_marked_where_the_file_says_so_R106),
        MODES_TEST(processor_times_are_in_the_old_form_too_R106),
        MODES_TEST(totals_tell_more_than_the_header_can),
        MODES_TEST(totals_without_what_was_attempted_say_the_rest),
        MODES_TEST(totals_of_another_version_type_or_length_say_nothing),
        MODES_TEST(a_buffer_replaced_before_it_is_read_is_overwritten_and_no_damage),
        MODES_TEST(a_buffer_replaced_while_it_is_read_gives_what_was_read_of_it),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
