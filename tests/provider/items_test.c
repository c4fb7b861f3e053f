/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The extended items that a session asks for with EnableProperty: what they say, their order, and
 * that each session gets its own.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "platform/identity.h"
#include "provider/event_items.h"
#include "provider/modern.h"

#define EVERY_ITEM                                                                                 \
    (EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_PSM_KEY |     \
     EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY |                   \
     EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING | EVENT_ENABLE_PROPERTY_ENABLE_SILOS)

static const etwas_guid related = {0xD, 0xE, 0xF, {8, 8, 8, 8, 8, 8, 8, 8}};
static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 1};

static void enable_items(etwas_trace_handle session, uint32_t property)
{
    assert_int_equal(enable_asking(session, property, NULL, 0), ERROR_SUCCESS);
}

static const uint8_t *item_of(const struct modern_event *event, uint16_t type, uint32_t bytes)
{
    for (uint32_t index = 0; index < event->item_count; index++) {
        if (event->items[index].type == type) {
            assert_int_equal(event->items[index].bytes, bytes);
            return event->items[index].data;
        }
    }
    return NULL;
}

static uint64_t number_in(const struct modern_event *event, uint16_t type)
{
    const uint8_t *data = item_of(event, type, sizeof(uint64_t));
    uint64_t number;

    assert_non_null(data);
    memcpy(&number, data, sizeof number);
    return number;
}

static void expect_types(const struct modern_event *event, const uint16_t *types, size_t count)
{
    assert_int_equal(event->item_count, count);
    for (size_t index = 0; index < count; index++) {
        assert_int_equal(event->items[index].type, types[index]);
    }
}

/* A S-1-22-1-user. */
static void expect_user(const struct modern_event *event)
{
    uint8_t sid[16] = {1, 2, 0, 0, 0, 0, 0, 22, 1};
    uint32_t user = (uint32_t)geteuid();
    const uint8_t *data = item_of(event, EVENT_HEADER_EXT_TYPE_SID, sizeof sid);

    memcpy(sid + 12, &user, sizeof user);
    assert_non_null(data);
    assert_memory_equal(data, sid, sizeof sid);
}

static void items_say_who_writes_and_stand_in_the_order_of_their_types(void **state)
{
    static const uint16_t types[] = {
        EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID,
        EVENT_HEADER_EXT_TYPE_SID,
        EVENT_HEADER_EXT_TYPE_TS_ID,
        EVENT_HEADER_EXT_TYPE_EVENT_KEY,
        EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY,
        EVENT_HEADER_EXT_TYPE_CONTAINER_ID,
        EVENT_HEADER_EXT_TYPE_PROV_TRAITS,
        EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
    };
    uint16_t expected[sizeof types / sizeof types[0]];
    size_t count = 0;
    struct trace trace = begin_trace(64);
    struct etwas_identity identity;
    EVENT_DATA_DESCRIPTOR data[3];
    struct modern_events events;
    uint32_t session_id;
    uint8_t on = 1;

    (void)state;
    etwas_identity_read(&identity);
    for (size_t index = 0; index < sizeof types / sizeof types[0]; index++) {
        if (types[index] != EVENT_HEADER_EXT_TYPE_CONTAINER_ID || identity.container_bytes != 0) {
            expected[count++] = types[index];
        }
    }
    assert_int_equal(EventSetInformation(trace.provider, EventProviderUseDescriptorType, &on, 1),
                     ERROR_SUCCESS);
    EventDataDescCreate(&data[0], "metadata!", 9);
    EventDataDescCreate(&data[1], "traits", 6);
    EventDataDescCreate(&data[2], "payload", 7);
    data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
    data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
    enable_items(trace.session, EVERY_ITEM);
    /* Everything; with nothing before; with nothing behind; alone, and without data. */
    assert_int_equal(EventWriteTransfer(trace.provider, &descriptor, NULL, &related, 3, data),
                     ERROR_SUCCESS);
    assert_int_equal(EventWrite(trace.provider, &descriptor, 3, data), ERROR_SUCCESS);
    assert_int_equal(EventWriteTransfer(trace.provider, &descriptor, NULL, &related, 1, data + 2),
                     ERROR_SUCCESS);
    assert_int_equal(EventWrite(trace.provider, &descriptor, 0, NULL), ERROR_SUCCESS);
    /* Enabling again replaces. */
    enable_items(trace.session, EVENT_ENABLE_PROPERTY_PSM_KEY);
    assert_int_equal(EventWrite(trace.provider, &descriptor, 1, data + 2), ERROR_SUCCESS);
    end_trace(&trace, &events);

    assert_int_equal(events.count, 5);
    expect_types(&events.list[0], expected, count);
    expect_types(&events.list[1], expected + 1, count - 1);
    expect_types(&events.list[2], expected, count - 2);
    expect_types(&events.list[3], expected + 1, count - 3);
    expect_types(&events.list[4], NULL, 0);
    for (uint32_t index = 0; index < 4; index++) {
        expect_user(&events.list[index]);
        assert_true(number_in(&events.list[index], EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY) ==
                    identity.start_key);
        memcpy(&session_id, item_of(&events.list[index], EVENT_HEADER_EXT_TYPE_TS_ID, 4), 4);
        assert_int_equal(session_id, identity.session_id);
        assert_int_equal(events.list[index].bytes, index < 3 ? 7 : 0);
        if (identity.container_bytes != 0) {
            assert_memory_equal(item_of(&events.list[index], EVENT_HEADER_EXT_TYPE_CONTAINER_ID,
                                        identity.container_bytes),
                                identity.container, identity.container_bytes);
        }
    }
    free_modern(&events);
}

static void each_session_gets_the_items_it_asks_for_and_all_the_same_event_key(void **state)
{
    static const uint32_t properties[] = {
        EVENT_ENABLE_PROPERTY_EVENT_KEY, 0,
        EVENT_ENABLE_PROPERTY_EVENT_KEY | EVENT_ENABLE_PROPERTY_SID, EVENT_ENABLE_PROPERTY_TS_ID};
    static const char *const names[] = {"a.etl", "b.etl", "c.etl", "d.etl"};
    static const uint32_t item_counts[] = {1, 0, 2, 1};
    etwas_trace_handle sessions[4];
    struct modern_events events[4];
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    for (uint32_t index = 0; index < 4; index++) {
        sessions[index] = start_session(folder_path(names[index]), NULL);
        enable_items(sessions[index], properties[index]);
    }
    for (uint32_t number = 0; number < 3; number++) {
        assert_int_equal(write_number(provider, 0, 0, number), ERROR_SUCCESS);
    }
    for (uint32_t index = 0; index < 4; index++) {
        stop_session(sessions[index], NULL);
        read_modern(folder_path(names[index]), &events[index]);
        assert_int_equal(events[index].count, 3);
        for (uint32_t number = 0; number < 3; number++) {
            assert_int_equal(events[index].list[number].item_count, item_counts[index]);
            assert_int_equal(events[index].list[number].data[0], number);
        }
    }
    for (uint32_t number = 0; number < 3; number++) {
        assert_true(number_in(&events[0].list[number], EVENT_HEADER_EXT_TYPE_EVENT_KEY) ==
                    number_in(&events[2].list[number], EVENT_HEADER_EXT_TYPE_EVENT_KEY));
        expect_user(&events[2].list[number]);
    }
    for (uint32_t index = 0; index < 4; index++) {
        free_modern(&events[index]);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

enum {
    KEY_THREADS = 4,
    KEYS_A_THREAD = 50,
};

static void *write_numbers(void *argument)
{
    const REGHANDLE *provider = argument;

    for (uint32_t number = 0; number < KEYS_A_THREAD; number++) {
        (void)write_number(*provider, 0, 0, number);
    }
    return NULL;
}

static void no_two_events_have_the_same_key(void **state)
{
    struct trace trace = begin_trace(64);
    pthread_t threads[KEY_THREADS];
    struct modern_events events;

    (void)state;
    enable_items(trace.session, EVENT_ENABLE_PROPERTY_EVENT_KEY);
    for (uint32_t index = 0; index < KEY_THREADS; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, write_numbers, &trace.provider), 0);
    }
    for (uint32_t index = 0; index < KEY_THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    end_trace(&trace, &events);
    assert_int_equal(events.count, KEY_THREADS * KEYS_A_THREAD);
    for (size_t index = 0; index < events.count; index++) {
        uint64_t key = number_in(&events.list[index], EVENT_HEADER_EXT_TYPE_EVENT_KEY);

        assert_true(key != 0);
        for (size_t before = 0; before < index; before++) {
            assert_true(key != number_in(&events.list[before], EVENT_HEADER_EXT_TYPE_EVENT_KEY));
        }
    }
    free_modern(&events);
}

enum {
    BLOCK_KEYS = 1 << 24
};

static uint64_t find_key(void)
{
    struct etwas_event_context facts = {0};

    etwas_event_context_read(&facts, EVENT_ENABLE_PROPERTY_EVENT_KEY, &facts);
    return facts.key;
}

static void *take_keys(void *keys)
{
    uint64_t *taken = keys;

    taken[0] = find_key();
    taken[1] = find_key();
    return NULL;
}

/* However many threads there were, and however many keys one of them takes. */
static void a_thread_that_has_used_up_its_keys_gets_others_that_nobody_has(void **state)
{
    uint64_t others[2];
    uint64_t before = find_key();
    pthread_t thread;
    bool good = true;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, take_keys, others), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(others[0] / BLOCK_KEYS != before / BLOCK_KEYS);
    assert_true(others[1] != others[0]);
    for (uint32_t count = 0; count < BLOCK_KEYS; count++) {
        uint64_t key = find_key();

        good = good && key > before && key / BLOCK_KEYS != others[0] / BLOCK_KEYS;
        before = key;
    }
    assert_true(good);
}

/* R77: every session gets it, and those the items that have room for them. */
static void r77_an_event_that_its_items_make_too_long_is_recorded_without_them(void **state)
{
    static uint8_t bytes[65535 - 80];
    static const uint32_t properties[] = {
        EVENT_ENABLE_PROPERTY_SID, 0, EVENT_ENABLE_PROPERTY_EVENT_KEY, EVENT_ENABLE_PROPERTY_SID};
    static const char *const names[] = {"a.etl", "b.etl", "c.etl", "d.etl"};
    const etwas_session_options options = {.buffer_size_kb = 128};
    etwas_trace_handle sessions[4];
    REGHANDLE provider = begin_modern(NULL);
    EVENT_DATA_DESCRIPTOR data;

    (void)state;
    for (uint32_t index = 0; index < 4; index++) {
        sessions[index] = start_session(folder_path(names[index]), &options);
        enable_items(sessions[index], properties[index]);
    }
    EventDataDescCreate(&data, bytes, sizeof bytes);
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    data.Size -= 16;
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    data.Size -= 8;
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
    for (uint32_t index = 0; index < 4; index++) {
        static const uint32_t item_counts[3][4] = {{0, 0, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 1}};
        etwas_session_counts counts;
        struct modern_events events;

        stop_session(sessions[index], &counts);
        assert_int_equal(counts.recorded, 3);
        assert_int_equal(counts.lost, 0);
        read_modern(folder_path(names[index]), &events);
        assert_int_equal(events.count, 3);
        for (uint32_t event = 0; event < 3; event++) {
            assert_int_equal(events.list[event].bytes,
                             sizeof bytes - (event == 0 ? 0 : 8 + 8 * event));
            assert_int_equal(events.list[event].item_count, item_counts[event][index]);
        }
        free_modern(&events);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(items_say_who_writes_and_stand_in_the_order_of_their_types),
        FOLDER_TEST(each_session_gets_the_items_it_asks_for_and_all_the_same_event_key),
        FOLDER_TEST(no_two_events_have_the_same_key),
        FOLDER_TEST(a_thread_that_has_used_up_its_keys_gets_others_that_nobody_has),
        FOLDER_TEST(r77_an_event_that_its_items_make_too_long_is_recorded_without_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
