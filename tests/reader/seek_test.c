/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A span of time of a file: its events are those of the whole file that lie in it, and of our own files little more is
 * read than they take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"
#include "hostile.h"

enum {
    EVENTS = 3000,
    STEP = 40, /* ticks of 100 ns from one event to the next */
    FIRST_RAW = 2000
};

/* No stamp that is not damaged is so late. */
#define DAMAGED (BUILDER_START + INT64_C(1000000000000))

static uint32_t whole[COLLECT_EVENTS]; /* what came of the whole file: numbers, */
static int64_t times[COLLECT_EVENTS];  /* and their times */
static size_t whole_count;

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
    if (clock_type == ETWAS_ETL_CLOCK_SYSTEM) {
        options.first_raw = options.start_filetime;
        now = options.start_filetime;
    }
    builder_begin(&builder, &options);
    if (own) {
        builder_calibration(&builder);
    }
    while (number < EVENTS) {
        uint32_t length = 1 + next_random() % 40;

        builder_buffer(&builder, (uint16_t)(next_random() % 3));
        for (uint32_t i = 0; i < length && number < EVENTS; i++, number++) {
            now += next_random() % STEP;
            builder_number(&builder, now, number);
        }
        collected_at[buffers++] = now + next_random() % STEP;
    }
    builder_end(&builder);
    for (uint32_t i = 0; i < buffers; i++) {
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
 * Returns how many bytes were read. The order is not looked at: a damaged stamp disturbs it where it is met. That of
 * sound files is the order of time, and of the numbers.
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
    };

    return cmocka_run_group_tests_name("spans of time are sought", tests, NULL, end);
}
