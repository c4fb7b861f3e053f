/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A span of time of a file: its events are those of the whole file that lie in it, and of our own
 * files little more is read than they take.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"
#include "hostile.h"
#include "reader/index_file.h"

enum {
    EVENTS = 3000,
    FEW_EVENTS = 150,
    STEP = 40, /* ticks of 100 ns from one event to the next */
    FIRST_RAW = 2000
};

/* No stamp that is not damaged is so late. */
#define DAMAGED (BUILDER_START + INT64_C(1000000000000))

static uint32_t whole[COLLECT_EVENTS]; /* what came of the whole file: numbers, */
static int64_t times[COLLECT_EVENTS];  /* and their times */
static size_t whole_count;

static uint32_t wanted_events = EVENTS;
static bool compressed;

/* Three processors; each buffer says when it was collected, or, if `damaged`, some say nonsense. */
static const char *build(uint32_t clock_type, bool own, bool damaged)
{
    struct builder_options options = builder_defaults();
    struct builder builder;
    int64_t collected_at[EVENTS];
    uint32_t buffers = 0;
    uint32_t number = 0;
    int64_t now = FIRST_RAW;
    const char *path;

    options.clock_type = clock_type;
    options.compressed = compressed;
    if (clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
        options.first_raw = options.start_filetime;
        now = options.start_filetime;
    }
    builder_begin(&builder, &options);
    if (own) {
        builder_calibration(&builder);
    }
    while (number < wanted_events) {
        uint32_t length = 1 + next_random() % 40;

        builder_buffer(&builder, (uint16_t)(next_random() % 3));
        for (uint32_t i = 0; i < length && number < wanted_events; i++, number++) {
            now += next_random() % STEP;
            builder_number(&builder, now, number);
        }
        collected_at[buffers++] = now + next_random() % STEP;
    }
    builder_end(&builder);
    for (uint32_t i = 0; i < buffers && !compressed; i++) {
        builder_header(&builder, i + 1)->time_stamp = collected_at[i];
    }
    if (damaged) {
        /* One stamp that cannot be of its buffer, and one buffer without its time. */
        struct etwas_etl_buffer_header *header =
            builder_header(&builder, 1 + next_random() % buffers);

        memset((uint8_t *)header + header->offset - 56 + 16, 0x3F, 7);
        builder_header(&builder, 1 + next_random() % buffers)->time_stamp = 0;
    }
    path = put_file(0, builder.bytes, builder.size);
    builder_free(&builder);
    return path;
}

static void read_whole(const char *path)
{
    run_file(path);
    whole_count = collected.event_count;
    assert_true(whole_count <= COLLECT_EVENTS);
    for (size_t i = 0; i < whole_count; i++) {
        whole[i] = collected.events[i].number;
        times[i] = collected.events[i].header.TimeStamp.QuadPart;
    }
}

/*
 * Returns how many bytes were read. The order is not looked at: a damaged stamp disturbs it where
 * it is met. That of sound files is the order of time, and of the numbers.
 */
static uint64_t compare_span(const char *path, int64_t from, int64_t to)
{
    etwas_filetime start = filetime_of(from);
    etwas_filetime end = filetime_of(to);
    uint8_t came[EVENTS] = {0};
    size_t events = 0;

    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, &start, &end);
    for (size_t i = 0; i < collected.event_count; i++) {
        const EVENT_HEADER *header = &collected.events[i].header;

        if (header->EventDescriptor.Opcode == 1 && header->TimeStamp.QuadPart < DAMAGED) {
            came[collected.events[i].number]++;
            events++;
        }
    }
    for (size_t i = 0; i < whole_count; i++) {
        if (times[i] >= from && times[i] <= to && times[i] < DAMAGED && whole[i] < EVENTS) {
            assert_int_equal(came[whole[i]], 1);
            events--;
        }
    }
    assert_int_equal(events, 0);
    return collected.information.bytes_read;
}

static void compare_spans(const char *path)
{
    read_whole(path);
    for (int i = 0; i < 60; i++) {
        int64_t from = times[next_random() % whole_count] + next_random() % 3 - 1;
        int64_t to = times[next_random() % whole_count] + next_random() % 3 - 1;

        (void)compare_span(path, from < to ? from : to, from < to ? to : from);
    }
    (void)compare_span(path, 0, INT64_MAX);
    (void)compare_span(path, 0, 1);
    (void)compare_span(path, INT64_MAX - 1, INT64_MAX);
}

static void a_span_has_the_events_of_the_whole_file_in_it(void **state)
{
    static const uint32_t clocks[] = {ETWAS_ETL_CLOCK_PERFORMANCE, ETWAS_ETL_CLOCK_SYSTEM,
                                      ETWAS_ETL_CLOCK_CYCLES};

    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        compare_spans(build(clocks[round % 3], round % 4 != 0, false));
        for (size_t i = 1; i + 1 < collected.event_count; i++) {
            assert_true(collected.events[i].number < collected.events[i + 1].number);
        }
    }
}

static void a_damaged_stamp_takes_no_other_event_out_of_a_span(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        compare_spans(build(ETWAS_ETL_CLOCK_PERFORMANCE, true, true));
    }
}

static void little_more_is_read_than_a_span_takes(void **state)
{
    const char *path = build(ETWAS_ETL_CLOCK_PERFORMANCE, true, false);
    uint64_t all;

    (void)state;
    read_whole(path);
    all = collected.information.bytes_read;
    assert_true(compare_span(path, times[whole_count / 2], times[whole_count / 2 + 5]) < all / 4);
    assert_true(compare_span(path, times[whole_count - 2], INT64_MAX) < all / 4);
    assert_true(compare_span(path, 0, times[5]) < all / 4);
}

/* ---- by an index ----------------------------------------------------------------------------- */

static char index_path[256];
static struct index_image {
    struct etwas_index_file_header header;
    struct etwas_index_file_record records[EVENTS];
} image;
static size_t image_bytes;

static void put_index(const void *bytes, size_t size)
{
    int descriptor = open(index_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    assert_int_equal(ftruncate(descriptor, (off_t)size),
                     0); /* not O_TRUNC, which may go to the disk */
    assert_int_equal(close(descriptor), 0);
}

/* What etwas_trace_write_index says of a file. Its index lies beside it then. */
static uint32_t write_index(const char *path)
{
    etwas_trace_handle trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);
    int descriptor;
    uint32_t code;
    ssize_t got;

    (void)snprintf(index_path, sizeof index_path, "%s.index", path);
    descriptor = open(index_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(descriptor >= 0 && trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ftruncate(descriptor, 0), 0);
    code = etwas_trace_write_index(trace, descriptor);
    got = pread(descriptor, &image, sizeof image, 0);
    assert_true(got >= 0);
    image_bytes = (size_t)got;
    assert_int_equal(close(descriptor), 0);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return code;
}

/* Gives the image the checksum that a forger of an index gives it. */
static void sign(void)
{
    image.header.checksum =
        etwas_index_file_checksum(0, image.records, image_bytes - sizeof image.header) ^
        etwas_index_file_checksum(0, &image.header,
                                  offsetof(struct etwas_index_file_header, checksum));
}

static const char *build_few(void)
{
    const char *path;

    wanted_events = FEW_EVENTS;
    path = build(ETWAS_ETL_CLOCK_PERFORMANCE, true, false);
    wanted_events = EVENTS;
    read_whole(path);
    assert_int_equal(write_index(path), ERROR_SUCCESS);
    return path;
}

static void expect_index(const char *path, uint32_t what)
{
    (void)compare_span(path, times[whole_count / 3], times[whole_count / 2]);
    assert_int_equal(collected.information.index_file, what);
    assert_int_equal(collected.code, ERROR_SUCCESS);
}

static void a_span_has_the_same_events_by_an_index(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        const char *path;

        compressed = round % 3 == 2;
        path = build(round % 2 == 0 ? ETWAS_ETL_CLOCK_PERFORMANCE : ETWAS_ETL_CLOCK_CYCLES, true,
                     false);
        compressed = false;
        assert_int_equal(write_index(path), ERROR_SUCCESS);
        compare_spans(path);
        assert_int_equal(collected.information.index_file, ETWAS_INDEX_FILE_USED);
        assert_int_equal(collected.code, ERROR_SUCCESS);
        read_whole(path);
        assert_int_equal(collected.information.index_file, ETWAS_INDEX_FILE_NONE);
        assert_int_equal(unlink(index_path), 0);
    }
}

static void what_is_damaged_is_reported_by_an_index_as_without(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        const char *path = build(ETWAS_ETL_CLOCK_PERFORMANCE, true, true);
        etwas_filetime start = filetime_of(0);
        size_t damages;

        run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, &start, NULL);
        damages = collected.damage_count;
        assert_int_equal(write_index(path), ERROR_SUCCESS);
        run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, &start, NULL);
        assert_int_equal(collected.information.index_file, ETWAS_INDEX_FILE_USED);
        assert_int_equal(collected.damage_count, damages);
        compare_spans(path);
        assert_int_equal(unlink(index_path), 0);
    }
}

static void a_span_by_an_index_reads_what_it_takes(void **state)
{
    const char *path = build(ETWAS_ETL_CLOCK_PERFORMANCE, true, false);
    int64_t from;
    uint64_t without;

    (void)state;
    read_whole(path);
    from = times[whole_count / 2];
    without = compare_span(path, from, from + 5);
    assert_int_equal(write_index(path), ERROR_SUCCESS);
    assert_true(compare_span(path, from, from + 5) < without * 3 / 4);
    assert_int_equal(unlink(index_path), 0);
}

static void an_index_with_any_byte_damaged_is_ignored(void **state)
{
    const char *path = build_few();

    (void)state;
    expect_index(path, ETWAS_INDEX_FILE_USED);
    for (size_t at = 0; at < image_bytes; at++) {
        uint8_t *byte = (uint8_t *)&image + at;

        *byte ^= (uint8_t)(1u << at % 8);
        put_index(&image, image_bytes);
        *byte ^= (uint8_t)(1u << at % 8);
        expect_index(path, ETWAS_INDEX_FILE_IGNORED);
    }
    for (size_t bytes = 0; bytes < image_bytes; bytes += 8) {
        put_index(&image, bytes);
        expect_index(path, ETWAS_INDEX_FILE_IGNORED);
    }
    assert_int_equal(unlink(index_path), 0);
    expect_index(path, ETWAS_INDEX_FILE_NONE);
}

static void an_index_of_what_the_file_was_before_is_ignored(void **state)
{
    const char *path = build_few();
    struct timespec now[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1, .tv_nsec = 1}};
    uint64_t zeroes[512] = {0};
    int descriptor;

    (void)state;
    assert_int_equal(utimensat(AT_FDCWD, path, now, 0), 0);
    expect_index(path, ETWAS_INDEX_FILE_IGNORED);
    assert_int_equal(write_index(path), ERROR_SUCCESS);
    expect_index(path, ETWAS_INDEX_FILE_USED);
    descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(descriptor, zeroes, sizeof zeroes), sizeof zeroes);
    assert_int_equal(close(descriptor), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, now, 0), 0);
    expect_index(path, ETWAS_INDEX_FILE_IGNORED);
    if (geteuid() == 0) {
        assert_int_equal(write_index(path), ERROR_SUCCESS);
        expect_index(path, ETWAS_INDEX_FILE_USED);
        assert_int_equal(chown(index_path, 12345, 0), 0);
        expect_index(path, ETWAS_INDEX_FILE_IGNORED);
    }
    assert_int_equal(unlink(index_path), 0);
}

/*
 * A forged header of one buffer: what of the span is missing then is told, and nothing comes twice.
 */
static void forge(const char *path, size_t record)
{
    struct etwas_index_file_record kept = image.records[record];
    struct etwas_etl_buffer_header *header = &image.records[record].beginning.header;
    etwas_filetime start = filetime_of(times[whole_count / 3]);
    etwas_filetime end = filetime_of(times[whole_count / 2]);
    uint8_t came[EVENTS] = {0};
    size_t whole_events;

    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, &start, &end);
    whole_events = collected.event_count;
    switch (next_random() % 3) {
    case 0:
        header->time_stamp = FIRST_RAW + next_random() % (FEW_EVENTS * STEP);
        break;
    case 1:
        header->sequence_number = next_random() % 10;
        break;
    default:
        memset(header, 0, sizeof *header);
        break;
    }
    sign();
    put_index(&image, image_bytes);
    image.records[record] = kept;
    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, &start, &end);
    assert_int_equal(collected.information.index_file, ETWAS_INDEX_FILE_USED);
    assert_true(collected.event_count == whole_events || collected.damage_count > 0);
    for (size_t i = 1; i < collected.event_count; i++) {
        assert_int_equal(came[collected.events[i].number]++, 0);
    }
    sign();
    put_index(&image, image_bytes);
}

static void what_an_index_says_of_a_buffer_is_confirmed_by_the_buffer(void **state)
{
    const char *path = build_few();
    size_t records = (image_bytes - sizeof image.header) / sizeof image.records[0];

    (void)state;
    for (uint32_t round = 0; round < 300; round++) {
        forge(path, next_random() % records);
    }
    assert_int_equal(unlink(index_path), 0);
}

static void no_index_is_written_of_what_cannot_be_sought(void **state)
{
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    assert_int_equal(write_index(build(ETWAS_ETL_CLOCK_SYSTEM, true, false)), ERROR_NOT_SUPPORTED);
    assert_int_equal(write_index(build(ETWAS_ETL_CLOCK_PERFORMANCE, false, false)),
                     ERROR_NOT_SUPPORTED);
    options.end_filetime = 0;
    builder_begin(&builder, &options);
    builder_calibration(&builder);
    builder_end(&builder);
    assert_int_equal(write_index(put_file(0, builder.bytes, builder.size)), ERROR_NOT_SUPPORTED);
    builder_free(&builder);
    assert_int_equal(image_bytes, 0);
    assert_int_equal(etwas_trace_write_index(1, -1), ERROR_INVALID_HANDLE);
    assert_int_equal(unlink(index_path), 0);
}

static int end(void **state)
{
    (void)state;
    remove_files();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_has_the_events_of_the_whole_file_in_it),
        cmocka_unit_test(a_damaged_stamp_takes_no_other_event_out_of_a_span),
        cmocka_unit_test(little_more_is_read_than_a_span_takes),
        cmocka_unit_test(a_span_has_the_same_events_by_an_index),
        cmocka_unit_test(what_is_damaged_is_reported_by_an_index_as_without),
        cmocka_unit_test(a_span_by_an_index_reads_what_it_takes),
        cmocka_unit_test(an_index_with_any_byte_damaged_is_ignored),
        cmocka_unit_test(an_index_of_what_the_file_was_before_is_ignored),
        cmocka_unit_test(what_an_index_says_of_a_buffer_is_confirmed_by_the_buffer),
        cmocka_unit_test(no_index_is_written_of_what_cannot_be_sought),
    };

    return cmocka_run_group_tests_name("spans of time are sought", tests, NULL, end);
}
