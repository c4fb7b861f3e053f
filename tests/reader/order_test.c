/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The order of delivery, the clocks, and the wanted span of time. */
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

static uint64_t random_state = 1181783497276652981u;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

static void assert_numbers(const uint32_t *numbers, size_t count)
{
    assert_int_equal(collected.event_count, count + 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(collected.events[i + 1].number, numbers[i]);
    }
}

static const char *finish(struct builder *builder, unsigned slot)
{
    const char *path;

    builder_end(builder);
    path = put_file(slot, builder->bytes, builder->size);
    builder_free(builder);
    return path;
}

static void processors_are_merged_by_time(void **state)
{
    static const uint32_t expected[] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 1);
    builder_number(&builder, 2020, 2);
    builder_number(&builder, 2040, 4);
    builder_buffer(&builder, 0);
    builder_number(&builder, 2010, 1);
    builder_number(&builder, 2050, 5);
    builder_buffer(&builder, 3);
    builder_number(&builder, 2030, 3);
    builder_number(&builder, 2080, 8);
    builder_buffer(&builder, 1);
    builder_number(&builder, 2060, 6);
    builder_buffer(&builder, 0);
    builder_number(&builder, 2070, 7);
    run_file(finish(&builder, 0));
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_numbers(expected, 8);
    assert_int_equal(collected.information.events, 8);
}

/* I8: the numbers of a processor's buffers order them, not their places in the file. */
static void sequence_numbers_order_the_buffers_of_a_processor(void **state)
{
    static const uint32_t expected[] = {1, 2, 3, 4, 5};
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    builder_begin(&builder, &options);
    for (uint32_t i = 0; i < 5; i++) {
        builder_buffer(&builder, 2);
        builder_number(&builder, 2050 - 10 * i, 5 - i);
    }
    builder_end(&builder);
    for (uint32_t i = 1; i <= 5; i++) {
        builder_header(&builder, i)->sequence_number = 6 - (int64_t)i;
    }
    run_file(put_file(0, builder.bytes, builder.size));
    builder_free(&builder);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_numbers(expected, 5);
}

static void ties_keep_the_order_of_buffers(void **state)
{
    static const uint32_t expected[] = {1, 2, 3, 4, 5, 6};
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 3);
    builder_number(&builder, 2000, 1);
    builder_number(&builder, 2000, 2);
    builder_buffer(&builder, 0);
    builder_number(&builder, 2000, 3);
    builder_number(&builder, 2000, 4);
    builder_buffer(&builder, 1);
    builder_number(&builder, 2000, 5);
    builder_number(&builder, 2000, 6);
    run_file(finish(&builder, 0));
    assert_numbers(expected, 6);
}

/* Stamps closer than the 100 ns of FILETIME. */
static void the_raw_clock_decides_below_100_ns(void **state)
{
    static const uint32_t expected[] = {1, 2, 3, 4};
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    options.frequency_hz = 1000000000;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 3);
    builder_number(&builder, 2002, 2);
    builder_number(&builder, 2004, 4);
    builder_buffer(&builder, 0);
    builder_number(&builder, 2001, 1);
    builder_number(&builder, 2003, 3);
    run_file(finish(&builder, 0));
    assert_numbers(expected, 4);
    assert_int_equal(collected.events[1].header.TimeStamp.QuadPart,
                     collected.events[4].header.TimeStamp.QuadPart);
}

static void random_traces_come_in_time_order_and_whole(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 30; round++) {
        struct builder_options options = builder_defaults();
        struct builder builder;
        int64_t time[8];
        uint32_t count = 0;
        uint64_t sum = 0;

        options.processors = 8;
        options.compressed = round % 3 == 0;
        builder_begin(&builder, &options);
        for (unsigned i = 0; i < 8; i++) {
            time[i] = 2000 + next_random() % 50;
        }
        for (unsigned i = 0; i < 40; i++) {
            uint16_t processor = (uint16_t)(next_random() % 8);

            builder_buffer(&builder, processor);
            for (unsigned j = next_random() % 50; j > 0; j--) {
                time[processor] += next_random() % 4;
                sum += ++count;
                builder_number(&builder, time[processor], count);
            }
        }
        run_file(finish(&builder, 0));
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_int_equal(collected.event_count, count + 1);
        assert_int_equal(collected.information.compressed, options.compressed);
        for (size_t i = 1; i < collected.event_count; i++) {
            sum -= collected.events[i].number;
            assert_true(collected.events[i - 1].header.TimeStamp.QuadPart <=
                        collected.events[i].header.TimeStamp.QuadPart);
        }
        assert_int_equal(sum, 0);
    }
}

/* Files of different clocks have one order: that of FILETIME. */
static void several_files_are_merged_by_time(void **state)
{
    static const uint32_t expected[] = {10, 20, 11, 21, 12, 22};
    struct builder_options options = builder_defaults();
    struct builder builder;
    const char *paths[2];
    const char *swapped[2];

    (void)state;
    builder_begin(&builder, &options); /* 100 ns a tick, from 1000 */
    builder_buffer(&builder, 0);
    builder_number(&builder, 1100, 10);
    builder_number(&builder, 1300, 11);
    builder_number(&builder, 1500, 12);
    paths[0] = finish(&builder, 0);
    options.frequency_hz = 1000000; /* 1 us a tick, from 500 */
    options.first_raw = 500;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 0);
    builder_number(&builder, 520, 20);
    builder_number(&builder, 540, 21);
    builder_number(&builder, 550, 22);
    paths[1] = finish(&builder, 1);
    run_files(paths, 2, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 8);
    for (size_t i = 0; i < 2; i++) {
        assert_memory_equal(&collected.events[i].header.ProviderId, &EventTraceGuid, 16);
    }
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(collected.events[i + 2].number, expected[i]);
    }
    /* The same files the other way around: a tie goes to the file that is first in the array. */
    swapped[0] = paths[1];
    swapped[1] = paths[0];
    run_files(swapped, 2, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
    assert_int_equal(collected.events[2].number, 10);
    assert_int_equal(collected.events[6].number, 22);
    assert_int_equal(collected.events[7].number, 12);
}

/* R99: also when the session holds events older than itself. */
static void the_header_event_comes_before_older_events_R99(void **state)
{
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 0);
    builder_number(&builder, 10, 1);
    builder_number(&builder, 2000, 2);
    run_file(finish(&builder, 0));
    assert_memory_equal(&collected.events[0].header.ProviderId, &EventTraceGuid, 16);
    assert_int_equal(collected.events[0].header.TimeStamp.QuadPart, BUILDER_START);
    assert_int_equal(collected.events[1].number, 1);
    assert_int_equal(collected.events[1].header.TimeStamp.QuadPart, BUILDER_START - 990);
    assert_int_equal(collected.events[2].number, 2);
}

static void a_file_with_nothing_but_its_header_gives_the_header_event(void **state)
{
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    builder_begin(&builder, &options);
    run_file(finish(&builder, 0));
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 1);
    assert_int_equal(collected.information.events, 0);
    assert_int_equal(collected.information.buffers, 1);
    assert_int_equal(collected.buffer_count, 1);
}

struct clock_case {
    uint32_t type;
    int64_t frequency_hz;
    uint32_t mhz;
    int64_t first_raw;
    int64_t raw;
    int64_t filetime;
    uint64_t reported_hz;
    uint32_t nanoseconds; /* more than that */
};

static const struct clock_case clock_cases[] = {
    {1, 10000000, 3000, 1000, 11000, BUILDER_START + 10000, 10000000, 0},
    {1, 1000000000, 3000, 1000, 1000 + 123456, BUILDER_START + 1234, 1000000000, 56},
    {1, 1000000000, 3000, 1000, 1000 - 123456, BUILDER_START - 1235, 1000000000, 44},
    {2, 1000000000, 3000, BUILDER_START, BUILDER_START + 555, BUILDER_START + 555, 10000000, 0},
    {3, 1000000000, 3000, 7000, 7000 + 3000000, BUILDER_START + 10000, 3000000000, 0},
    {3, 1000000000, 3000, 7000, 7000 + 3000100, BUILDER_START + 10000, 3000000000, 33},
};

static void write_clock_case(const struct clock_case *clock, const char **path)
{
    struct builder_options options = builder_defaults();
    struct builder builder;

    options.clock_type = clock->type;
    options.frequency_hz = clock->frequency_hz;
    options.mhz = clock->mhz;
    options.first_raw = clock->first_raw;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 0);
    builder_number(&builder, clock->raw, 1);
    *path = finish(&builder, 0);
}

static void stamps_of_every_clock_become_FILETIME_R157(void **state)
{
    const char *path;

    (void)state;
    for (size_t i = 0; i < sizeof clock_cases / sizeof clock_cases[0]; i++) {
        write_clock_case(&clock_cases[i], &path);
        run_file(path);
        assert_int_equal(collected.events[0].header.TimeStamp.QuadPart, BUILDER_START);
        assert_int_equal(collected.events[1].header.TimeStamp.QuadPart, clock_cases[i].filetime);
        assert_int_equal(collected.information.clock, clock_cases[i].type);
        assert_int_equal(collected.information.clock_frequency, clock_cases[i].reported_hz);
        assert_false(collected.information.calibrated);
        assert_int_equal(collected.buffers[1].current_time, clock_cases[i].filetime);
    }
}

static void stamps_of_every_clock_are_had_to_the_nanosecond(void **state)
{
    const uint32_t mode = PROCESS_TRACE_MODE_EVENT_RECORD | ETWAS_PROCESS_TRACE_MODE_NANOSECONDS;
    const char *path;

    (void)state;
    for (size_t i = 0; i < sizeof clock_cases / sizeof clock_cases[0]; i++) {
        const struct clock_case *clock = &clock_cases[i];
        int64_t since_1970 = clock->filetime - INT64_C(116444736000000000);

        write_clock_case(clock, &path);
        run_files(&path, 1, mode, NULL, NULL);
        assert_int_equal(collected.events[0].header.TimeStamp.QuadPart,
                         100 * (BUILDER_START - INT64_C(116444736000000000)));
        assert_int_equal(collected.events[1].header.TimeStamp.QuadPart,
                         100 * since_1970 + clock->nanoseconds);
        run_files(&path, 1, mode | PROCESS_TRACE_MODE_RAW_TIMESTAMP, NULL, NULL);
        assert_int_equal(collected.events[1].header.TimeStamp.QuadPart, clock->raw);
    }
}

/* R158, R159: the page's four steps, done by the caller, give what the reader gives. */
static void raw_stamps_convert_by_the_pages_steps_R158(void **state)
{
    const char *path;

    (void)state;
    for (size_t i = 0; i < sizeof clock_cases / sizeof clock_cases[0]; i++) {
        const struct clock_case *clock = &clock_cases[i];
        const uint32_t modes[] = {PROCESS_TRACE_MODE_RAW_TIMESTAMP,
                                  PROCESS_TRACE_MODE_RAW_TIMESTAMP |
                                      PROCESS_TRACE_MODE_EVENT_RECORD};

        write_clock_case(clock, &path);
        for (size_t mode = 0; mode < 2; mode++) {
            int64_t first;
            int64_t second;
            double scale;
            int64_t base;
            int64_t filetime;

            run_files(&path, 1, modes[mode], NULL, NULL);
            first = mode == 0 ? collected.events[0].classic.Header.TimeStamp.QuadPart
                              : collected.events[0].header.TimeStamp.QuadPart;
            second = mode == 0 ? collected.events[1].classic.Header.TimeStamp.QuadPart
                               : collected.events[1].header.TimeStamp.QuadPart;
            scale = clock->type == 1   ? 10000000.0 / (double)clock->frequency_hz
                    : clock->type == 2 ? 1.0
                                       : 10.0 / clock->mhz;
            base = BUILDER_START - (int64_t)(scale * (double)first);
            filetime = base + (int64_t)(scale * (double)second);
            assert_int_equal(first, clock->first_raw);
            assert_int_equal(second, clock->raw);
            /* R160: small rounding errors of floating point. */
            assert_true(filetime - clock->filetime <= 32 && clock->filetime - filetime <= 32);
        }
    }
}

/* At 2,994,374,511 Hz and one day, whole MHz are wrong by ten seconds. */
static void the_files_own_calibration_is_used_for_cycles_R153(void **state)
{
    struct builder_options options = builder_defaults();
    struct builder builder;
    const int64_t ticks = 86400 * INT64_C(2994374511);
    struct etwas_etl_calibration_record calibration = {
        .header =
            {
                .size = sizeof calibration,
                .header_type = ETWAS_ETL_FULL_HEADER64,
                .marker_flags = ETWAS_ETL_MARKER_FLAGS,
                .version = ETWAS_ETL_CALIBRATION_VERSION,
                .time_stamp = 1000,
                .guid = etwas_etl_own_class,
            },
        .calibration = {.version = 1,
                        .clock_type = 3,
                        .ticks = 2994374511,
                        .nanoseconds = 1000000000},
    };

    (void)state;
    options.clock_type = 3;
    options.mhz = 2994;
    for (int round = 0; round < 2; round++) {
        int64_t error;

        builder_begin(&builder, &options);
        if (round == 1) {
            builder_raw(&builder, &calibration, sizeof calibration);
        }
        builder_buffer(&builder, 0);
        builder_number(&builder, 1000 + ticks, 1);
        run_file(finish(&builder, 0));
        assert_int_equal(collected.event_count, 2);
        error =
            collected.events[1].header.TimeStamp.QuadPart - BUILDER_START - INT64_C(864000000000);
        assert_int_equal(collected.information.calibrated, round == 1);
        assert_int_equal(collected.information.clock_frequency,
                         round == 1 ? 2994374511 : 2994000000);
        if (round == 1) {
            assert_int_equal(error, 0);
        } else {
            assert_true(error > 10 * INT64_C(10000000));
        }
    }
}

static void only_events_of_the_wanted_time_are_delivered(void **state)
{
    etwas_filetime edge;
    const char *path;

    static const struct {
        int64_t from, to; /* after the start, 0 both: no limit */
        size_t events;
        uint32_t first;
    } table[] = {
        {0, 0, 11, 0},                       /* nothing asked */
        {1001, 1010, 10, 1},                 /* all but the header event */
        {1003, 1005, 3, 3},                  /* both ends are inside */
        {1005, 1005, 1, 5},                  /* one instant */
        {1011, 2000, 0, 0},  {-5, -1, 0, 0}, /* none */
        {0, 1001, 2, 0},                     /* the header event is at the start time */
    };
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    builder_begin(&builder, &options);
    for (uint32_t i = 1; i <= 10; i++) {
        builder_buffer(&builder, (uint16_t)(i % 3));
        builder_number(&builder, 2000 + i, i);
    }
    path = finish(&builder, 0);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        etwas_filetime from = filetime_of(BUILDER_START + table[i].from);
        etwas_filetime to = filetime_of(BUILDER_START + table[i].to);
        bool limited = table[i].from != 0 || table[i].to != 0;

        run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, limited ? &from : NULL,
                  limited ? &to : NULL);
        assert_int_equal(collected.code, ERROR_SUCCESS);
        assert_int_equal(collected.event_count, table[i].events);
        assert_int_equal(collected.buffer_count, 11);
        if (table[i].events > 0 && table[i].first > 0) {
            assert_int_equal(collected.events[0].number, table[i].first);
        }
    }
    /* One end alone. */
    edge = filetime_of(BUILDER_START + 1008);
    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, &edge, NULL);
    assert_int_equal(collected.event_count, 3);
    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, &edge);
    assert_int_equal(collected.event_count, 9);
}

static void a_buffer_is_called_back_after_its_last_event(void **state)
{
    static const size_t events_before[] = {1, 4, 5}; /* buffer 0, processor 1, processor 0 */
    struct builder_options options = builder_defaults();
    struct builder builder;

    (void)state;
    builder_begin(&builder, &options);
    builder_buffer(&builder, 0);
    builder_number(&builder, 2000, 1);
    builder_number(&builder, 2004, 4);
    builder_buffer(&builder, 1);
    builder_number(&builder, 2002, 2);
    builder_number(&builder, 2003, 3);
    run_file(finish(&builder, 0));
    assert_int_equal(collected.buffer_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(collected.buffers[i].buffers_read, i + 1);
        assert_int_equal(collected.buffers[i].buffer_bytes, 4096);
        assert_int_equal(collected.buffers[i].events_before, events_before[i]);
    }
    assert_int_equal(collected.buffers[1].filled, 72 + 2 * 56);
    assert_int_equal(collected.buffers[1].current_time, BUILDER_START + 1003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processors_are_merged_by_time),
        cmocka_unit_test(sequence_numbers_order_the_buffers_of_a_processor),
        cmocka_unit_test(ties_keep_the_order_of_buffers),
        cmocka_unit_test(the_raw_clock_decides_below_100_ns),
        cmocka_unit_test(random_traces_come_in_time_order_and_whole),
        cmocka_unit_test(several_files_are_merged_by_time),
        cmocka_unit_test(the_header_event_comes_before_older_events_R99),
        cmocka_unit_test(a_file_with_nothing_but_its_header_gives_the_header_event),
        cmocka_unit_test(stamps_of_every_clock_become_FILETIME_R157),
        cmocka_unit_test(stamps_of_every_clock_are_had_to_the_nanosecond),
        cmocka_unit_test(raw_stamps_convert_by_the_pages_steps_R158),
        cmocka_unit_test(the_files_own_calibration_is_used_for_cycles_R153),
        cmocka_unit_test(only_events_of_the_wanted_time_are_delivered),
        cmocka_unit_test(a_buffer_is_called_back_after_its_last_event),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
