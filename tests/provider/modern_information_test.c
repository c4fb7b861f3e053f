/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a provider and a thread set for their events: EventSetInformation, and the thread's activity
 * id (R196).
 */
#include <pthread.h>
#include <string.h>

#include "etl/layout.h"
#include "provider/modern.h"

/* ---- descriptor types and traits ------------------------------------------------------------- */

static const uint8_t traits[] = {12, 0, 'N', 'a', 'm', 'e', 0, 5, 0, 99, 1, 2};

static void types_of_descriptors_mean_something_once_asked_for(void **state)
{
    struct trace trace = begin_trace(64);
    EVENT_DATA_DESCRIPTOR data[4];
    struct modern_events events;
    uint8_t on = 1;
    uint8_t off = 0;

    (void)state;
    EventDataDescCreate(&data[0], "x", 1);
    EventDataDescCreate(&data[1], "metadata!", 9);
    EventDataDescCreate(&data[2], traits, sizeof traits);
    EventDataDescCreate(&data[3], "y", 1);
    data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
    data[2].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 4, data), ERROR_SUCCESS);
    assert_int_equal(
        EventSetInformation(trace.provider, EventProviderUseDescriptorType, &on, sizeof on),
        ERROR_SUCCESS);
    assert_int_equal(
        EventWriteTransfer(trace.provider, &full_descriptor, NULL, &other_activity, 4, data),
        ERROR_SUCCESS);
    data[3].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 4, data),
                     ERROR_INVALID_PARAMETER);
    data[3].Type = EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE;
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 4, data), ERROR_NOT_SUPPORTED);
    data[3].Type = 77;
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 4, data),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(
        EventSetInformation(trace.provider, EventProviderUseDescriptorType, &off, sizeof off),
        ERROR_SUCCESS);
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 4, data), ERROR_SUCCESS);
    end_trace(&trace, &events);

    assert_int_equal(events.count, 3);
    assert_int_equal(events.list[0].item_count, 0);
    assert_int_equal(events.list[0].bytes, 1 + 9 + sizeof traits + 1);
    assert_int_equal(events.list[1].item_count, 3);
    assert_int_equal(events.list[1].items[0].type, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
    assert_int_equal(events.list[1].items[1].type, EVENT_HEADER_EXT_TYPE_PROV_TRAITS);
    assert_int_equal(events.list[1].items[1].bytes, sizeof traits);
    assert_memory_equal(events.list[1].items[1].data, traits, sizeof traits);
    assert_int_equal(events.list[1].items[2].type, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL);
    assert_memory_equal(events.list[1].items[2].data, "metadata!", 9);
    assert_int_equal(events.list[1].bytes, 2);
    assert_memory_equal(events.list[1].data, "xy", 2);
    assert_int_equal(events.list[2].item_count, 0);
    free_modern(&events);
}

/* An extended item as it lies in a record, made beforehand. */
struct item {
    struct etwas_etl_extended_item head;
    uint8_t data[16];
};

static void blocks_that_are_items_come_first_and_none_with_a_type_behind_them(void **state)
{
    static const struct item provider = {
        {sizeof provider, EVENT_HEADER_EXT_TYPE_PROV_TRAITS, ETWAS_ETL_ITEM_LINKAGE, sizeof traits},
        {12, 0, 'N', 'a', 'm', 'e', 0, 5, 0, 99, 1, 2}};
    static const struct item schema = {{sizeof schema, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL, 0, 9},
                                       "metadata!"};
    static const struct {
        uint32_t type;
        uint32_t code;
    } behind[] = {
        {EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE, ERROR_NOT_SUPPORTED},
        {EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM, ERROR_INVALID_PARAMETER},
        {77, ERROR_INVALID_PARAMETER},
        {UINT32_MAX, ERROR_INVALID_PARAMETER},
        {EVENT_DATA_DESCRIPTOR_TYPE_NONE, ERROR_SUCCESS},
    };
    struct trace trace = begin_trace(64);
    EVENT_DATA_DESCRIPTOR data[4];
    struct modern_events events;
    uint8_t on = 1;

    (void)state;
    assert_int_equal(
        EventSetInformation(trace.provider, EventProviderUseDescriptorType, &on, sizeof on),
        ERROR_SUCCESS);
    EventDataDescCreate(&data[0], &provider, sizeof provider);
    EventDataDescCreate(&data[1], &schema, sizeof schema);
    EventDataDescCreate(&data[2], "x", 1);
    EventDataDescCreate(&data[3], "yz", 2);
    data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_ITEM;
    data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM;
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 4, data), ERROR_SUCCESS);
    for (size_t index = 0; index < sizeof behind / sizeof behind[0]; index++) {
        data[3].Reserved = behind[index].type;
        assert_int_equal(EventWrite(trace.provider, &full_descriptor, 4, data), behind[index].code);
        /* The macros write it so. */
        assert_int_equal(EventWriteTransfer(trace.provider, &full_descriptor, NULL, NULL, 4, data),
                         behind[index].code);
    }
    /* Shorter than any that the macros make, and none. */
    data[1].Size = sizeof schema.head;
    assert_int_equal(EventWriteTransfer(trace.provider, &full_descriptor, NULL, NULL, 4, data),
                     ERROR_INVALID_PARAMETER);
    data[1].Ptr = 0;
    assert_int_equal(EventWriteTransfer(trace.provider, &full_descriptor, NULL, NULL, 4, data),
                     ERROR_INVALID_PARAMETER);
    end_trace(&trace, &events);

    assert_int_equal(events.count, 3);
    for (size_t index = 0; index < events.count; index++) {
        assert_int_equal(events.list[index].item_count, 2);
        assert_int_equal(events.list[index].items[0].bytes, sizeof traits);
        assert_memory_equal(events.list[index].items[0].data, traits, sizeof traits);
        assert_int_equal(events.list[index].items[1].bytes, 9);
        assert_memory_equal(events.list[index].items[1].data, "metadata!", 9);
        assert_int_equal(events.list[index].bytes, 3);
        assert_memory_equal(events.list[index].data, "xyz", 3);
    }
    free_modern(&events);
}

static uint32_t set_traits(REGHANDLE provider, const uint8_t *given, uint32_t bytes)
{
    uint8_t copy[64];

    memcpy(copy, given, bytes);
    return EventSetInformation(provider, EventProviderSetTraits, copy, bytes);
}

static void what_cannot_be_set_is_refused_and_traits_can_be_set_once(void **state)
{
    static const uint8_t no_end[] = {5, 0, 'N', 'a', 'm'};
    static const uint8_t cut_trait[] = {7, 0, 'N', 0, 4, 0, 9};
    static const uint8_t cut_head[] = {5, 0, 'N', 0, 4};
    static const uint8_t empty_trait[] = {7, 0, 'N', 0, 2, 0, 9};
    static const uint8_t name_only[] = {3, 0, 0};
    static const uint8_t short_group[] = {22, 0, 'N', 0, 18, 0,  1,  1,  2,  3,  4,
                                          5,  6, 7,   8, 9,  10, 11, 12, 13, 14, 15};
    static const uint8_t two_groups[42] = {42, 0, 'N', 0, 19, 0, 1, [23] = 19, 0, 1};
    REGHANDLE provider = begin_modern(NULL);
    REGHANDLE second = begin_modern(NULL);
    uint8_t on = 1;

    (void)state;
    assert_int_equal(EventSetInformation(0, EventProviderUseDescriptorType, &on, 1),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(provider + 1, EventProviderUseDescriptorType, &on, 1),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(provider, EventProviderUseDescriptorType, NULL, 1),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(provider, EventProviderUseDescriptorType, &on, 2),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(provider, EventProviderUseDescriptorType, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventSetInformation(provider, EventProviderBinaryTrackInfo, NULL, 0),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(EventSetInformation(provider, EventProviderSetReserved1, &on, 1),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(EventSetInformation(provider, MaxEventInfo, &on, 1), ERROR_NOT_SUPPORTED);
    assert_int_equal(set_traits(provider, no_end, sizeof no_end), ERROR_INVALID_PARAMETER);
    assert_int_equal(set_traits(provider, cut_trait, sizeof cut_trait), ERROR_INVALID_PARAMETER);
    assert_int_equal(set_traits(provider, cut_head, sizeof cut_head), ERROR_INVALID_PARAMETER);
    assert_int_equal(set_traits(provider, empty_trait, sizeof empty_trait),
                     ERROR_INVALID_PARAMETER);
    for (uint32_t bytes = 0; bytes < sizeof traits; bytes++) {
        assert_int_equal(set_traits(provider, traits, bytes), ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(set_traits(provider, short_group, sizeof short_group),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(set_traits(provider, two_groups, sizeof two_groups), ERROR_INVALID_PARAMETER);
    assert_int_equal(set_traits(provider, traits, sizeof traits), ERROR_SUCCESS);
    assert_int_equal(set_traits(provider, traits, sizeof traits), ERROR_INVALID_PARAMETER);
    assert_int_equal(set_traits(second, name_only, sizeof name_only), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(second), ERROR_SUCCESS);
}

/* ---- activity ids ---------------------------------------------------------------------------- */

static void *look_at_activity(void *argument)
{
    etwas_guid *found = argument;

    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, found), ERROR_SUCCESS);
    return NULL;
}

static void r196_the_activity_id_is_the_threads_and_starts_as_nothing(void **state)
{
    struct trace trace = begin_trace(64);
    etwas_guid id = own_activity;
    etwas_guid created;
    etwas_guid elsewhere = own_activity;
    struct modern_events events;
    pthread_t thread;

    (void)state;
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &id), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, look_at_activity, &elsewhere), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_guid(&elsewhere, &no_activity);
    assert_int_equal(write_number(trace.provider, 1, 1, 1), ERROR_SUCCESS);

    id = other_activity;
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &id), ERROR_SUCCESS);
    expect_guid(&id, &own_activity);
    assert_int_equal(write_number(trace.provider, 1, 1, 2), ERROR_SUCCESS);

    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &created),
                     ERROR_SUCCESS);
    assert_memory_not_equal(&created, &no_activity, sizeof created);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_SET_ID, &id), ERROR_SUCCESS);
    expect_guid(&id, &other_activity);
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &id), ERROR_SUCCESS);
    assert_memory_not_equal(&id, &no_activity, sizeof id);
    assert_memory_not_equal(&id, &created, sizeof id);
    assert_int_equal(EventWriteString(trace.provider, 1, 1, u"x"), ERROR_SUCCESS);

    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EventActivityIdControl(0, &created), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventActivityIdControl(6, &created), ERROR_INVALID_PARAMETER);
    end_trace(&trace, &events);
    expect_guid(&events.list[0].header.ActivityId, &own_activity);
    expect_guid(&events.list[1].header.ActivityId, &other_activity);
    expect_guid(&events.list[2].header.ActivityId, &id);
    free_modern(&events);
    id = no_activity;
    assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &id), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(types_of_descriptors_mean_something_once_asked_for),
        FOLDER_TEST(blocks_that_are_items_come_first_and_none_with_a_type_behind_them),
        FOLDER_TEST(what_cannot_be_set_is_refused_and_traits_can_be_set_once),
        FOLDER_TEST(r196_the_activity_id_is_the_threads_and_starts_as_nothing),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
