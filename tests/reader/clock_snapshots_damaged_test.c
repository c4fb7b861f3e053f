/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Readings of the clocks that are damaged, or of numbers that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "clock_snapshots_file.h"
#include "hostile.h"

/* What a callback and a curious user ask of a file, whatever is in it. */
static void ask_everything(const uint8_t *bytes, size_t size)
{
    static const int64_t stamps[] = {INT64_MIN, -1, 0, 1000, 1000 + 5 * REAL_HZ, INT64_MAX};
    etwas_trace_handle trace =
        open_collecting(put_file(0, bytes, size), PROCESS_TRACE_MODE_EVENT_RECORD);
    etwas_trace_clock clock;
    etwas_clock_time time;

    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        return;
    }
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    for (size_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
        for (uint32_t other = 1; other <= 2; other++) {
            assert_int_equal(etwas_trace_convert_time(trace, stamps[i], other, &time),
                             ERROR_SUCCESS);
        }
        for (size_t j = 0; j < sizeof stamps / sizeof stamps[0]; j++) {
            assert_int_equal(etwas_trace_convert_interval(trace, stamps[i], stamps[j], &time),
                             ERROR_SUCCESS);
        }
    }
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void damaged_clock_snapshots_do_no_harm(void **state)
{
    size_t events;

    static const uint8_t values[] = {0x00, 0x7F, 0x80, 0xFF};
    struct builder_options options = cycles();

    (void)state;
    options.buffer_bytes = 2048;
    begin_file(&options);
    put_trust();
    put_clock_snapshots(0, 3);
    put_events(10);
    builder_buffer(&builder, 0);
    put_clock_snapshots(4, 10);
    builder_end(&builder);
    events = 1 + 21;
    for (size_t at = 0; at < builder.size; at++) {
        uint8_t before = builder.bytes[at];

        if (at > 1800 && at < 3 * 2048) {
            continue;
        }
        for (size_t v = 0; v < sizeof values; v++) {
            builder.bytes[at] = values[v];
            ask_everything(builder.bytes, builder.size);
            if (v == at % 4) {
                read_hostile(builder.bytes, builder.size, 1);
            }
        }
        builder.bytes[at] = (uint8_t)(before ^ 1u << next_random() % 8);
        ask_everything(builder.bytes, builder.size);
        read_hostile(builder.bytes, builder.size, events - 3);
        builder.bytes[at] = before;
    }
    for (size_t cut = 0; cut < builder.size; cut += 8) {
        ask_everything(builder.bytes, cut);
    }
    builder_free(&builder);
}

/*
 * Every number of every clock snapshot anything at all: times may be nonsense, and come in order.
 */
static void clock_snapshots_of_random_numbers_do_no_harm(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct builder_options options = cycles();
        int64_t before = INT64_MIN;

        options.clock_type = 1 + next_random() % 4;
        begin_file(&options);
        for (int i = 0; i < 30; i++) {
            struct etwas_etl_clock_snapshot snapshot = clock_snapshot_of(i, 2);
            uint64_t words[6];

            memcpy(words, &snapshot, sizeof snapshot);
            for (size_t w = 1; w < 6; w++) {
                if (next_random() % 8 == 0) {
                    words[w] =
                        ((uint64_t)next_random() << 32 | next_random()) >> next_random() % 64;
                }
            }
            memcpy(&snapshot, words, sizeof snapshot);
            builder_clock_snapshot(&builder, &snapshot);
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
        cmocka_unit_test(damaged_clock_snapshots_do_no_harm),
        cmocka_unit_test(clock_snapshots_of_random_numbers_do_no_harm),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
