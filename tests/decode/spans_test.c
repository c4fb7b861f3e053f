/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Instances and activities from their START to their END, their parents, and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/decode.h>
#include <etwas/evntrace.h>

#include "etl/own_record.h"

enum {
    INFO = 0,
    START = EVENT_TRACE_TYPE_START,
    END = EVENT_TRACE_TYPE_END,
    PROCESS = 10,
    THREAD = 11,
    CHAIN = 1024,
};

static const etwas_guid red = {.Data1 = 1};
static const etwas_guid blue = {.Data1 = 2};

static etwas_spans *spans;

/* An event, and what it is built of. */
struct scene {
    EVENT_RECORD record;
    EVENT_EXTENDED_ITEM_INSTANCE instance;
    etwas_guid related;
    EVENT_HEADER_EXTENDED_DATA_ITEM item;
};

static int open_spans(void **state)
{
    (void)state;
    return etwas_spans_open(0, &spans) == ERROR_SUCCESS ? 0 : -1;
}

static int close_spans(void **state)
{
    (void)state;
    etwas_spans_close(spans);
    return 0;
}

static void reopen(uint32_t most_open)
{
    etwas_spans_close(spans);
    assert_int_equal(etwas_spans_open(most_open, &spans), ERROR_SUCCESS);
}

static void prepare(struct scene *scene, const etwas_guid *guid, uint8_t opcode)
{
    memset(scene, 0, sizeof *scene);
    scene->record.EventHeader.ProviderId = *guid;
    scene->record.EventHeader.EventDescriptor.Opcode = opcode;
    scene->record.EventHeader.ProcessId = PROCESS;
    scene->record.EventHeader.ThreadId = THREAD;
}

static void add_item(struct scene *scene, uint16_t type, const void *data, uint16_t bytes)
{
    scene->item = (EVENT_HEADER_EXTENDED_DATA_ITEM){
        .ExtType = type, .DataSize = bytes, .DataPtr = (uintptr_t)data};
    scene->record.ExtendedData = &scene->item;
    scene->record.ExtendedDataCount = 1;
}

static void prepare_instance(struct scene *scene, const etwas_guid *guid, uint8_t opcode,
                             uint32_t instance, const etwas_guid *parent_guid, uint32_t parent)
{
    prepare(scene, guid, opcode);
    scene->record.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
    scene->instance = (EVENT_EXTENDED_ITEM_INSTANCE){
        .InstanceId = instance,
        .ParentInstanceId = parent,
        .ParentGuid = parent_guid != NULL ? *parent_guid : (etwas_guid){0}};
    add_item(scene, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, &scene->instance, sizeof scene->instance);
}

static void prepare_activity(struct scene *scene, const etwas_guid *provider, uint8_t opcode,
                             uint32_t activity, uint32_t related)
{
    prepare(scene, provider, opcode);
    scene->record.EventHeader.ActivityId.Data1 = activity;
    if (related != 0) {
        scene->related.Data1 = related;
        add_item(scene, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID, &scene->related,
                 sizeof scene->related);
    }
}

static uint32_t take(const struct scene *scene, int64_t time, const etwas_span **span)
{
    return etwas_spans_take(spans, &scene->record, 1, time, span);
}

/* The number of what begins or ends; 0: of nothing. */
static uint64_t instance_at(int64_t time, const etwas_guid *guid, uint8_t opcode, uint32_t number)
{
    const etwas_span *span;
    struct scene scene;

    prepare_instance(&scene, guid, opcode, number, NULL, 0);
    return take(&scene, time, &span) != ETWAS_SPAN_NONE ? span->number : 0;
}

static uint64_t activity_at(int64_t time, const etwas_guid *provider, uint8_t opcode,
                            uint32_t activity)
{
    const etwas_span *span;
    struct scene scene;

    prepare_activity(&scene, provider, opcode, activity, 0);
    return take(&scene, time, &span) != ETWAS_SPAN_NONE ? span->number : 0;
}

static void an_instance_is_from_its_start_to_its_end(void **state)
{
    const etwas_span *span;
    struct scene scene;

    (void)state;
    prepare_instance(&scene, &red, START, 7, NULL, 0);
    assert_int_equal(take(&scene, 100, &span), ETWAS_SPAN_START);
    assert_int_equal(span->number, 1);
    prepare_instance(&scene, &red, END, 7, NULL, 0);
    assert_int_equal(take(&scene, 350, &span), ETWAS_SPAN_END);
    assert_int_equal(span->number, 1);
    assert_int_equal(span->start, 100);
    assert_int_equal(span->instance, 7);
    assert_memory_equal(&span->guid, &red, sizeof red);
    assert_int_equal(span->process, PROCESS);
    assert_int_equal(span->parent, 0);
    assert_int_equal(take(&scene, 360, &span), ETWAS_SPAN_NONE);
    assert_null(span);
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_UNMATCHED), 1);
}

static void instances_are_of_a_class_a_process_and_a_trace(void **state)
{
    const etwas_span *span;
    struct scene scene;

    (void)state;
    assert_int_equal(instance_at(1, &red, START, 1), 1);
    assert_int_equal(instance_at(2, &blue, END, 1), 0);
    assert_int_equal(instance_at(3, &red, END, 2), 0);
    prepare_instance(&scene, &red, END, 1, NULL, 0);
    scene.record.EventHeader.ProcessId++;
    assert_int_equal(take(&scene, 4, &span), ETWAS_SPAN_NONE);
    scene.record.EventHeader.ProcessId--;
    assert_int_equal(etwas_spans_take(spans, &scene.record, 2, 5, &span), ETWAS_SPAN_NONE);
    assert_int_equal(instance_at(6, &red, END, 1), 1);
}

static void activities_are_of_a_provider(void **state)
{
    (void)state;
    assert_int_equal(activity_at(1, &red, START, 5), 1);
    assert_int_equal(activity_at(2, &blue, START, 5), 2);
    assert_int_equal(activity_at(3, &red, END, 5), 1);
    assert_int_equal(activity_at(4, &blue, END, 5), 2);
    assert_int_equal(activity_at(5, &red, START, 0), 0); /* no activity */
}

/* The thread that an event between START and END names had the instance until then. */
static void events_between_say_which_thread_has_it(void **state)
{
    const etwas_span *span;
    struct scene scene;

    (void)state;
    (void)activity_at(1, &red, START, 5);
    prepare_activity(&scene, &blue, INFO, 5, 0); /* of another provider */
    scene.record.EventHeader.ThreadId = 20;
    assert_int_equal(take(&scene, 2, &span), ETWAS_SPAN_INSIDE);
    assert_int_equal(span->last_thread, THREAD);
    prepare_activity(&scene, &red, END, 5, 0);
    scene.record.EventHeader.ThreadId = 30;
    assert_int_equal(take(&scene, 3, &span), ETWAS_SPAN_END);
    assert_int_equal(span->thread, THREAD);
    assert_int_equal(span->last_thread, 20);
    assert_int_equal(activity_at(4, &red, INFO, 5), 0);
}

static void a_parent_is_the_instance_or_activity_that_is_named(void **state)
{
    const etwas_span *span;
    struct scene scene;

    (void)state;
    assert_int_equal(instance_at(1, &red, START, 3), 1);
    prepare_instance(&scene, &blue, START, 1, &red, 3);
    (void)take(&scene, 2, &span);
    assert_int_equal(span->parent, 1);
    assert_int_equal(span->parent_place, 0);
    assert_int_equal(span->place, 1);
    prepare_instance(&scene, &blue, START, 2, &red, 4);
    (void)take(&scene, 3, &span);
    assert_int_equal(span->parent, 0);
    assert_int_equal(activity_at(4, &red, START, 5), 4);
    assert_int_equal(activity_at(5, &blue, START, 5), 5);
    prepare_activity(&scene, &red, START, 6, 5);
    (void)etwas_spans_take(spans, &scene.record, 2, 6, &span);
    assert_int_equal(span->parent, 5); /* the newest of that activity, from another trace */
    assert_int_equal(span->parent_place, 4);
    (void)activity_at(7, &blue, END, 5);
    prepare_activity(&scene, &red, START, 7, 5);
    (void)take(&scene, 8, &span);
    assert_int_equal(span->parent, 4);
}

static void a_second_start_takes_the_place_of_the_first(void **state)
{
    const etwas_span *span;
    struct scene scene;

    (void)state;
    assert_int_equal(instance_at(1, &red, START, 1), 1);
    assert_int_equal(instance_at(5, &red, START, 1), 2);
    prepare_instance(&scene, &red, END, 1, NULL, 0);
    (void)take(&scene, 6, &span);
    assert_int_equal(span->start, 5);
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_REPLACED), 1);
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_STARTED), 2);
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_ENDED), 1);
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_OPEN), 0);
    assert_int_equal(etwas_spans_count(spans, 99), 0);
}

static void what_is_open_at_once_is_bounded_and_the_rest_is_counted(void **state)
{
    (void)state;
    reopen(1000);
    for (uint32_t i = 0; i < 1500; i++) {
        assert_int_equal(instance_at(i, &red, START, i), i < 1000 ? i + 1 : 0);
    }
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_OPEN), 1000);
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_LEFT_OUT), 500);
    for (uint32_t i = 0; i < 1500; i++) {
        assert_int_equal(instance_at(i, &red, END, i), i < 1000 ? i + 1 : 0);
    }
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_UNMATCHED), 500);
    assert_int_equal(instance_at(1, &red, START, 1), 1001); /* there is room again */
}

static void places_are_below_the_bound_and_of_one_span_at_a_time(void **state)
{
    bool taken[64] = {false};
    const etwas_span *span;
    struct scene scene;

    (void)state;
    reopen(64);
    for (uint32_t i = 0; i < 1000; i++) {
        prepare_instance(&scene, &red, START, i, NULL, 0);
        assert_int_equal(take(&scene, i, &span), ETWAS_SPAN_START);
        assert_in_range(span->place, 0, 63);
        assert_false(taken[span->place]);
        taken[span->place] = true;
        if (i >= 63) {
            prepare_instance(&scene, &red, END, i - 63, NULL, 0);
            assert_int_equal(take(&scene, i, &span), ETWAS_SPAN_END);
            taken[span->place] = false;
        }
    }
}

/* Nobody can make it slow. */
static void an_activity_of_very_many_providers_is_bounded(void **state)
{
    etwas_guid provider = {.Data1 = 1};

    (void)state;
    for (uint32_t i = 0; i < 2 * CHAIN; i++) {
        provider.Data1 = i;
        (void)activity_at(i, &provider, START, 5);
    }
    assert_in_range(etwas_spans_count(spans, ETWAS_SPANS_STARTED), CHAIN / 2, CHAIN);
    assert_int_equal(etwas_spans_count(spans, ETWAS_SPANS_STARTED) +
                         etwas_spans_count(spans, ETWAS_SPANS_LEFT_OUT),
                     2 * CHAIN);
    assert_int_not_equal(instance_at(1, &red, START, 1), 0);
}

/* The counters beside a START or END of an instance, or of an activity. */
static uint32_t counters_at(int64_t time, struct etwas_etl_counters counters, uint16_t bytes,
                            const etwas_span **span)
{
    struct scene scene;

    prepare(&scene, &etwas_etl_own_class, ETWAS_ETL_COUNTERS_TYPE);
    scene.record.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
    scene.record.EventHeader.ThreadId = THREAD + 1;
    scene.record.UserData = &counters;
    scene.record.UserDataLength = bytes;
    return take(&scene, time, span);
}

static void counters_are_inside_of_what_they_are_beside(void **state)
{
    const struct etwas_etl_counters of_instance = {.guid = red, .instance = 7};
    const struct etwas_etl_counters of_activity = {.guid = blue, .activity = {.Data1 = 5}};
    const struct etwas_etl_counters of_nobody = {.guid = blue, .instance = 7};
    const uint16_t bytes = sizeof of_instance;
    uint64_t instance = instance_at(1, &red, START, 7);
    uint64_t activity = activity_at(2, &blue, START, 5);
    const etwas_span *span;
    struct scene scene;

    (void)state;
    assert_int_equal(counters_at(3, of_instance, bytes, &span), ETWAS_SPAN_INSIDE);
    assert_int_equal(span->number, instance);
    assert_int_equal(counters_at(4, of_activity, bytes, &span), ETWAS_SPAN_INSIDE);
    assert_int_equal(span->number, activity);
    assert_int_equal(counters_at(5, of_nobody, bytes, &span), ETWAS_SPAN_NONE);
    assert_int_equal(counters_at(6, of_instance, bytes - 1, &span), ETWAS_SPAN_NONE);
    prepare_instance(&scene, &red, END, 7, NULL, 0);
    assert_int_equal(take(&scene, 7, &span), ETWAS_SPAN_END);
    assert_int_equal(span->last_thread, THREAD + 1);
    assert_int_equal(counters_at(8, of_instance, bytes, &span), ETWAS_SPAN_NONE);
}

static void messages_and_cut_items_belong_to_nothing(void **state)
{
    const etwas_span *span;
    struct scene scene;

    (void)state;
    prepare_activity(&scene, &red, START, 5, 0);
    scene.record.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
    assert_int_equal(take(&scene, 1, &span), ETWAS_SPAN_NONE);
    prepare_instance(&scene, &red, START, 1, NULL, 0);
    scene.item.DataSize--;
    assert_int_equal(take(&scene, 1, &span), ETWAS_SPAN_NONE);
    prepare_activity(&scene, &red, START, 6, 5);
    scene.item.DataSize = 15;
    assert_int_equal(take(&scene, 1, &span), ETWAS_SPAN_START);
    assert_int_equal(etwas_spans_open(0, NULL), ERROR_INVALID_PARAMETER);
    etwas_spans_close(NULL);
}

#define SPANS_TEST(test) cmocka_unit_test_setup_teardown(test, open_spans, close_spans)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPANS_TEST(an_instance_is_from_its_start_to_its_end),
        SPANS_TEST(instances_are_of_a_class_a_process_and_a_trace),
        SPANS_TEST(activities_are_of_a_provider),
        SPANS_TEST(events_between_say_which_thread_has_it),
        SPANS_TEST(a_parent_is_the_instance_or_activity_that_is_named),
        SPANS_TEST(a_second_start_takes_the_place_of_the_first),
        SPANS_TEST(what_is_open_at_once_is_bounded_and_the_rest_is_counted),
        SPANS_TEST(places_are_below_the_bound_and_of_one_span_at_a_time),
        SPANS_TEST(an_activity_of_very_many_providers_is_bounded),
        SPANS_TEST(counters_are_inside_of_what_they_are_beside),
        SPANS_TEST(messages_and_cut_items_belong_to_nothing),
    };

    return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
