/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Spans in C: their events, ids and parents, and what becomes of the thread's activity. */
#include <etwas/TraceLoggingActivity.h>
#include <string.h>

#include "tracelogging/recorded.h"

ETWAS_TRACELOGGING_PROVIDER(spans, "Etwas.Test.Spans");

static const etwas_guid some_id = {0xA, 0xB, 0xC, {1, 2, 3, 4, 5, 6, 7, 8}};
static const etwas_guid no_id;

static etwas_trace_handle begin(uint8_t level)
{
    etwas_trace_handle session = start_recording();

    assert_int_equal(TraceLoggingRegister(spans), 0);
    enable(session, spans, level, 0, 0);
    stay_on_one_processor();
    return session;
}

static struct recording end(etwas_trace_handle session, size_t count)
{
    struct recording recording;

    leave_one_processor();
    TraceLoggingUnregister(spans);
    recording = stop_recording(session);
    assert_int_equal(recording.count, count);
    return recording;
}

static void expect_threads_id(const etwas_guid *expected)
{
    etwas_guid id;

    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &id), ERROR_SUCCESS);
    assert_memory_equal(&id, expected, sizeof id);
}

/* `parent` NULL: none. */
static void expect_event(const struct recorded *event, uint8_t opcode, const etwas_guid *id,
                         const etwas_guid *parent)
{
    assert_int_equal(event->header.EventDescriptor.Opcode, opcode);
    assert_memory_equal(&event->header.ActivityId, id, sizeof *id);
    if (parent == NULL) {
        assert_null(event->related);
    } else {
        assert_non_null(event->related);
        assert_memory_equal(event->related, parent, sizeof *parent);
    }
}

static void spans_of_a_thread_are_in_each_other(void **state)
{
    etwas_trace_handle session = begin(0);
    struct recording recording;

    (void)state;
    TraceLoggingSpanStart(outer, spans, "Outer", TraceLoggingUInt8(7, "field"));
    TraceLoggingSpanStart(inner, spans, "Inner");
    TraceLoggingWrite(spans, "Event");
    expect_threads_id(&inner.id);
    TraceLoggingSpanStop(inner, "Inner", TraceLoggingUInt8(8, "result"));
    expect_threads_id(&outer.id);
    TraceLoggingSpanStop(outer, "Outer");
    expect_threads_id(&no_id);
    recording = end(session, 5);
    assert_memory_not_equal(&outer.id, &no_id, sizeof no_id);
    assert_memory_not_equal(&outer.id, &inner.id, sizeof no_id);
    expect_event(&recording.events[0], WINEVENT_OPCODE_START, &outer.id, NULL);
    expect_bytes("field", recording.events[0].data, "\7", 1);
    expect_event(&recording.events[1], WINEVENT_OPCODE_START, &inner.id, &outer.id);
    expect_event(&recording.events[2], WINEVENT_OPCODE_INFO, &inner.id, NULL);
    expect_event(&recording.events[3], WINEVENT_OPCODE_STOP, &inner.id, NULL);
    expect_bytes("result", recording.events[3].data, "\x8", 1);
    expect_event(&recording.events[4], WINEVENT_OPCODE_STOP, &outer.id, NULL);
    expect_name(&recording.events[4], "Outer");
}

static void the_parent_of_a_child_is_the_one_that_is_named(void **state)
{
    etwas_trace_handle session = begin(0);
    struct recording recording;

    (void)state;
    TraceLoggingSpanStartChild(root, spans, NULL, "Root");
    TraceLoggingSpanStartChild(child, spans, &root.id, "Child");
    TraceLoggingSpanStartChild(other, spans, &some_id, "Other");
    expect_threads_id(&no_id);
    TraceLoggingSpanStop(root, "Root"); /* in any order */
    TraceLoggingSpanStop(child, "Child");
    TraceLoggingSpanStop(other, "Other");
    TraceLoggingSpanStop(other, "Other"); /* it was stopped */
    recording = end(session, 6);
    expect_event(&recording.events[0], WINEVENT_OPCODE_START, &root.id, NULL);
    expect_event(&recording.events[1], WINEVENT_OPCODE_START, &child.id, &root.id);
    expect_event(&recording.events[2], WINEVENT_OPCODE_START, &other.id, &some_id);
    expect_event(&recording.events[3], WINEVENT_OPCODE_STOP, &root.id, NULL);
    expect_event(&recording.events[4], WINEVENT_OPCODE_STOP, &child.id, NULL);
    expect_event(&recording.events[5], WINEVENT_OPCODE_STOP, &other.id, NULL);
}

static void expect_level(const struct recorded *event, uint8_t level, uint64_t keyword)
{
    assert_int_equal(event->header.EventDescriptor.Level, level);
    assert_int_equal(event->header.EventDescriptor.Keyword, keyword);
}

static void the_stop_has_level_and_keywords_of_the_start(void **state)
{
    etwas_trace_handle session = begin(WINEVENT_LEVEL_INFO);
    struct recording recording;

    (void)state;
    TraceLoggingSpanStart(first, spans, "First", TraceLoggingLevel(WINEVENT_LEVEL_INFO),
                          TraceLoggingKeyword(6));
    TraceLoggingSpanStop(first, "First");
    TraceLoggingSpanStart(second, spans, "Second", TraceLoggingLevel(WINEVENT_LEVEL_INFO),
                          TraceLoggingKeyword(6));
    TraceLoggingSpanStop(second, "Second", TraceLoggingLevel(WINEVENT_LEVEL_ERROR),
                         TraceLoggingKeyword(8));
    recording = end(session, 4);
    expect_level(&recording.events[0], WINEVENT_LEVEL_INFO, 6);
    expect_level(&recording.events[1], WINEVENT_LEVEL_INFO, 6);
    expect_level(&recording.events[3], WINEVENT_LEVEL_ERROR, 6 | 8);
}

/* Its default level is 5. */
static void a_span_that_nobody_wants_changes_nothing(void **state)
{
    etwas_trace_handle session = begin(WINEVENT_LEVEL_INFO);
    uint32_t evaluated = 0;
    struct recording recording;

    (void)state;
    TraceLoggingSpanStart(outer, spans, "Outer", TraceLoggingLevel(WINEVENT_LEVEL_INFO));
    TraceLoggingSpanStart(unwanted, spans, "Unwanted", TraceLoggingUInt32(++evaluated, "n"));
    expect_threads_id(&outer.id);
    assert_memory_equal(&unwanted.id, &no_id, sizeof no_id);
    /* Though it is wanted itself. */
    TraceLoggingSpanStop(unwanted, "Unwanted", TraceLoggingLevel(WINEVENT_LEVEL_ERROR),
                         TraceLoggingUInt32(++evaluated, "n"));
    /* A child of it has no parent. */
    TraceLoggingSpanStartChild(child, spans, &unwanted.id, "Child",
                               TraceLoggingLevel(WINEVENT_LEVEL_INFO));
    expect_threads_id(&outer.id);
    TraceLoggingSpanStop(child, "Child");
    TraceLoggingSpanStop(outer, "Outer");
    expect_threads_id(&no_id);
    assert_int_equal(evaluated, 0);
    recording = end(session, 4);
    expect_event(&recording.events[1], WINEVENT_OPCODE_START, &child.id, NULL);
}

static void a_session_that_loses_interest_leaves_the_threads_activity_right(void **state)
{
    etwas_trace_handle session = begin(0);

    (void)state;
    TraceLoggingSpanStart(outer, spans, "Outer");
    disable(session, spans);
    TraceLoggingSpanStart(inner, spans, "Inner");
    expect_threads_id(&outer.id);
    TraceLoggingSpanStop(inner, "Inner");
    TraceLoggingSpanStop(outer, "Outer");
    expect_threads_id(&no_id);
    (void)end(session, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(spans_of_a_thread_are_in_each_other),
        FOLDER_TEST(the_parent_of_a_child_is_the_one_that_is_named),
        FOLDER_TEST(the_stop_has_level_and_keywords_of_the_start),
        FOLDER_TEST(a_span_that_nobody_wants_changes_nothing),
        FOLDER_TEST(a_session_that_loses_interest_leaves_the_threads_activity_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
