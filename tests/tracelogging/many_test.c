/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Batches of events, in C and in C++: what single calls write, at one moment. */
#include "tracelogging/many.h"

#include <string.h>

#include "tracelogging/recorded.h"

ETWAS_TRACELOGGING_PROVIDER(many_provider, "Etwas.Test.Many");

const struct many_values many_values = {
    .number = 0x01020304,
    .array = {1, 2, 3},
    .text = "some text",
    .wide = u"wide text",
    .guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}},
    .ansi = {4, 4, (char *)(uintptr_t) "ansi"},
    .sid = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 1, 2},
    .inet6 = {10, 0, 1, 2, 3, 4, 5, 6},
};
const etwas_guid many_activity = {0xA, 0xB, 0xC, {1, 2, 3, 4, 5, 6, 7, 8}};
const etwas_guid many_related = {0xD, 0xE, 0xF, {8, 8, 8, 8, 8, 8, 8, 8}};
const uint8_t many_counts[] = {1, 2, 3, 3, 16, 0};
uint32_t many_evaluated;

uint32_t many_evaluate(void)
{
    return ++many_evaluated;
}

const etwas_guid *many_evaluate_id(void)
{
    many_evaluated++;
    return &many_activity;
}

static etwas_trace_handle begin(uint8_t level, uint64_t any)
{
    etwas_trace_handle session = start_recording();

    assert_int_equal(TraceLoggingRegister(many_provider), 0);
    enable(session, many_provider, level, any, 0);
    stay_on_one_processor();
    return session;
}

static struct recording end(etwas_trace_handle session, size_t count)
{
    struct recording recording;

    leave_one_processor();
    TraceLoggingUnregister(many_provider);
    recording = stop_recording(session);
    assert_int_equal(recording.count, count);
    return recording;
}

static void expect_same(const struct recorded *event, const struct recorded *single)
{
    EVENT_HEADER header = event->header;

    header.TimeStamp = single->header.TimeStamp;
    assert_memory_equal(&header, &single->header, sizeof header);
    assert_int_equal(event->related != NULL, single->related != NULL);
    if (single->related != NULL) {
        assert_memory_equal(event->related, single->related, sizeof *single->related);
    }
    expect_bytes("traits", event->traits, single->traits.data, single->traits.count);
    expect_bytes("schema", event->schema, single->schema.data, single->schema.count);
    expect_bytes("data", event->data, single->data.data, single->data.count);
}

/* A batch has one stamp, the next one a later one. */
static void expect_one_stamp_a_batch(const struct recorded *event)
{
    int64_t last = 0;

    for (const uint8_t *count = many_counts; *count != 0; count++) {
        int64_t stamp = event->header.TimeStamp.QuadPart;

        assert_true(stamp > last);
        for (uint8_t index = 0; index < *count; index++) {
            assert_int_equal(event++->header.TimeStamp.QuadPart, stamp);
        }
        last = stamp;
    }
}

static void write_and_compare(void (*write)(int singly))
{
    enum {
        EVENTS = 1 + 2 + 3 + 3 + 16
    };
    etwas_trace_handle session = begin(0, 0);
    struct recording recording;

    write(1);
    write(0);
    recording = end(session, (size_t)2 * EVENTS);
    for (size_t index = 0; index < EVENTS; index++) {
        expect_same(&recording.events[EVENTS + index], &recording.events[index]);
    }
    expect_one_stamp_a_batch(&recording.events[EVENTS]);
}

static void a_batch_writes_what_single_calls_do(void **state)
{
    (void)state;
    write_and_compare(write_rows_c);
    write_and_compare(write_rows_cpp);
}

static void write_evaluated(void (*write)(void))
{
    etwas_trace_handle session = begin(3, 0x10);
    struct recording recording;

    many_evaluated = 0;
    write();
    assert_int_equal(many_evaluated, 3);
    disable(session, many_provider);
    write();
    assert_int_equal(many_evaluated, 3);
    recording = end(session, 1);
    write();
    assert_int_equal(many_evaluated, 3);
    expect_bytes("schema", recording.events[0].schema, "\xb\0\0both\0n\0\x8", 11);
}

static void an_event_that_no_session_requests_is_left_out(void **state)
{
    (void)state;
    write_evaluated(write_evaluated_c);
    write_evaluated(write_evaluated_cpp);
}

static void write_short_lived(void (*write)(void))
{
    etwas_trace_handle session = begin(0, 0);
    struct recording recording;

    write();
    recording = end(session, 3);
    expect_bytes("first", recording.events[0].data, "first", 6);
    expect_bytes("second", recording.events[1].data, "\3\0\1\2\3\2\0ab", 9);
    expect_bytes("third", recording.events[2].data, "third", 6);
}

static void operands_live_until_the_batch_is_written(void **state)
{
    (void)state;
    write_short_lived(write_short_lived_c);
    write_short_lived(write_short_lived_cpp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_batch_writes_what_single_calls_do),
        FOLDER_TEST(an_event_that_no_session_requests_is_left_out),
        FOLDER_TEST(operands_live_until_the_batch_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
