/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What C++ has more than C: temporaries as operands, events in templates, activities.
 */
#include "tracelogging/cpp.h"

#include <string.h>

#include "tracelogging/recorded.h"

TRACELOGGING_DEFINE_PROVIDER(cpp_provider, "Etwas.Test.Cpp",
                             (0xc94e0a37, 0x18fd, 0x4562, 0xb3, 0x0c, 0x61, 0xda, 0x29, 0x7e, 0x85,
                              0x14));

static const etwas_guid some_id = {0xA, 0xB, 0xC, {1, 2, 3, 4, 5, 6, 7, 8}};
static const etwas_guid no_id;

static etwas_trace_handle begin(uint8_t level)
{
    etwas_trace_handle session = start_recording();

    assert_int_equal(TraceLoggingRegister(cpp_provider), 0);
    enable(session, cpp_provider, level, 0, 0);
    return session;
}

static struct recording end(etwas_trace_handle session, size_t count)
{
    struct recording recording;

    TraceLoggingUnregister(cpp_provider);
    recording = stop_recording(session);
    assert_int_equal(recording.count, count);
    return recording;
}

static bool same_activity(const struct recorded *event, const etwas_guid *id)
{
    return memcmp(&event->header.ActivityId, id, sizeof *id) == 0;
}

static void expect_event(const struct recorded *event, uint8_t opcode, uint8_t level,
                         uint64_t keyword)
{
    assert_int_equal(event->header.EventDescriptor.Opcode, opcode);
    assert_int_equal(event->header.EventDescriptor.Level, level);
    assert_int_equal(event->header.EventDescriptor.Keyword, keyword);
}

static void temporaries_live_until_the_event_is_written(void **state)
{
    etwas_trace_handle session = begin(0);
    uint8_t expected[41 + 82 + 42 + 16 + 4] = {0};
    struct recording recording;

    (void)state;
    write_temporaries();
    recording = end(session, 1);
    memset(expected, 'a', 40);
    for (size_t at = 41; at < 41 + 80; at += 2) {
        expected[at] = 'b';
    }
    expected[123] = 40;
    memset(expected + 125, 'c', 40);
    expected[181] = 7;
    expect_bytes("data", recording.events[0].data, expected, sizeof expected);
}

static void templates_and_inline_functions_write_events(void **state)
{
    static const struct {
        const char *schema;
        const char *data;
        size_t bytes;
    } expected[] = {{"\x11\0\0Value\0value\0\x87", "\1\0\0\0", 4},
                    {"\x11\0\0Value\0value\0\x84\2", "x", 1},
                    {"\x11\0\0Value\0value\0\x86\2", "y", 2},
                    {"\x11\0\0Value\0value\0\x84\3", "\1", 1}};
    etwas_trace_handle session = begin(0);
    struct recording recording;

    (void)state;
    write_in_templates();
    recording = end(session, 5);
    for (size_t index = 0; index < 4; index++) {
        expect_bytes("schema", recording.events[index].schema, expected[index].schema, 17);
        expect_bytes("data", recording.events[index].data, expected[index].data,
                     expected[index].bytes);
    }
    expect_name(&recording.events[4], "Inline");
}

static void an_activity_tags_its_events(void **state)
{
    etwas_trace_handle session = begin(0);
    struct recording recording;

    (void)state;
    write_an_activity(&some_id);
    recording = end(session, 3);
    expect_event(&recording.events[0], WINEVENT_OPCODE_START, WINEVENT_LEVEL_WARNING, 6);
    expect_event(&recording.events[1], WINEVENT_OPCODE_INFO, WINEVENT_LEVEL_VERBOSE, 2);
    expect_event(&recording.events[2], WINEVENT_OPCODE_STOP, WINEVENT_LEVEL_ERROR, 6 | 8);
    assert_false(same_activity(&recording.events[0], &no_id));
    assert_true(same_activity(&recording.events[1], &recording.events[0].header.ActivityId));
    assert_true(same_activity(&recording.events[2], &recording.events[0].header.ActivityId));
    assert_non_null(recording.events[0].related);
    assert_memory_equal(recording.events[0].related, &some_id, sizeof some_id);
    assert_null(recording.events[1].related);
    assert_null(recording.events[2].related);
    expect_bytes("field", recording.events[0].data, "\1", 1);
}

/*
 * If an activity is not wanted when it starts, those of its events that are wanted have the
 * thread's id.
 */
static void an_activity_that_nobody_wants_writes_no_start_and_no_stop(void **state)
{
    etwas_trace_handle session = begin(1);
    struct recording recording;

    (void)state;
    write_an_activity(&some_id);
    leave_activities_unstopped();
    recording = end(session, 0);
    assert_int_equal(recording.count, 0);
}

static void activities_of_a_thread_nest(void **state)
{
    etwas_trace_handle session = begin(0);
    struct recording recording;
    const struct recorded *events;

    (void)state;
    write_nested_thread_activities();
    recording = end(session, 7);
    events = recording.events;
    assert_false(same_activity(&events[0], &no_id));
    assert_null(events[0].related);
    assert_false(same_activity(&events[1], &events[0].header.ActivityId));
    assert_non_null(events[1].related);
    assert_memory_equal(events[1].related, &events[0].header.ActivityId, sizeof *events[1].related);
    assert_true(same_activity(&events[2], &events[1].header.ActivityId));
    assert_true(same_activity(&events[3], &events[1].header.ActivityId));
    assert_true(same_activity(&events[4], &events[0].header.ActivityId));
    assert_true(same_activity(&events[5], &events[0].header.ActivityId));
    assert_true(same_activity(&events[6], &no_id));
}

static void an_activity_that_ends_unstopped_is_stopped(void **state)
{
    etwas_guid left = some_id;
    etwas_trace_handle session = begin(0);
    struct recording recording;

    (void)state;
    leave_activities_unstopped();
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &left), ERROR_SUCCESS);
    assert_memory_equal(&left, &no_id, sizeof left);
    recording = end(session, 4);
    expect_name(&recording.events[2], "ActivityStoppedAutomatically");
    expect_event(&recording.events[2], WINEVENT_OPCODE_STOP, WINEVENT_LEVEL_ERROR, 2);
    assert_true(same_activity(&recording.events[2], &recording.events[1].header.ActivityId));
    expect_name(&recording.events[3], "ActivityStoppedAutomatically");
    expect_event(&recording.events[3], WINEVENT_OPCODE_STOP, WINEVENT_LEVEL_INFO, 1);
    assert_true(same_activity(&recording.events[3], &recording.events[0].header.ActivityId));
}

static void a_moved_activity_is_stopped_once(void **state)
{
    etwas_trace_handle session = begin(0);
    struct recording recording;

    (void)state;
    move_an_activity();
    recording = end(session, 2);
    expect_event(&recording.events[1], WINEVENT_OPCODE_STOP, WINEVENT_LEVEL_VERBOSE, 0);
    assert_true(same_activity(&recording.events[1], &recording.events[0].header.ActivityId));
}

static void a_thread_gets_its_id_back(void **state)
{
    etwas_guid left = some_id;
    etwas_trace_handle session = begin(0);
    struct recording recording;

    (void)state;
    set_the_threads_id(&some_id);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &left), ERROR_SUCCESS);
    assert_memory_equal(&left, &no_id, sizeof left);
    recording = end(session, 1);
    assert_true(same_activity(&recording.events[0], &some_id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(temporaries_live_until_the_event_is_written),
        FOLDER_TEST(templates_and_inline_functions_write_events),
        FOLDER_TEST(an_activity_tags_its_events),
        FOLDER_TEST(an_activity_that_nobody_wants_writes_no_start_and_no_stop),
        FOLDER_TEST(activities_of_a_thread_nest),
        FOLDER_TEST(an_activity_that_ends_unstopped_is_stopped),
        FOLDER_TEST(a_moved_activity_is_stopped_once),
        FOLDER_TEST(a_thread_gets_its_id_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
