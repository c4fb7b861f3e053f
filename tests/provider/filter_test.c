/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Filters of single events: by id, by name, and what is refused (C17).
 */
#include <etwas/etwas.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "provider/event_filter.h"
#include "provider/modern.h"
#include "support/hold.h"

static EVENT_FILTER_DESCRIPTOR filter_of(uint32_t type, const void *data, size_t bytes)
{
    return (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)data, (uint32_t)bytes, type};
}

/* ---- data of filters ------------------------------------------------------------------------- */

struct ids {
    uint8_t in;
    uint8_t reserved;
    uint16_t count;
    uint16_t ids[MAX_EVENT_FILTER_EVENT_ID_COUNT + 1];
};

static EVENT_FILTER_DESCRIPTOR id_filter(uint32_t type, const struct ids *ids)
{
    return filter_of(type, ids, offsetof(struct ids, ids) + ids->count * sizeof ids->ids[0]);
}

struct names {
    uint64_t any;
    uint64_t all;
    uint8_t level;
    uint8_t in;
    uint16_t count;
    char names[MAX_EVENT_FILTER_EVENT_NAME_SIZE];
};

/* Names as a literal without its last NUL: "a\0b". */
#define NAME_FILTER(type, data, text)                                                              \
    (memcpy((data)->names, text, sizeof(text)),                                                    \
     filter_of(type, data, offsetof(struct names, names) + sizeof(text)))

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t write_id(REGHANDLE provider, uint16_t id)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = id, .Level = 1, .Keyword = 2};

    return EventWrite(provider, &descriptor, 0, NULL);
}

/* Writes an event with metadata: a size, a tag, and what a literal has after them. */
static uint32_t write_described(REGHANDLE provider, uint8_t level, uint64_t keyword,
                                const char *metadata, uint32_t bytes)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = level, .Keyword = keyword};
    EVENT_DATA_DESCRIPTOR data[2];

    EventDataDescCreate(&data[0], "payload", 7);
    EventDataDescCreate(&data[1], metadata, bytes);
    data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
    return EventWrite(provider, &descriptor, 2, data);
}

static bool passes_name(etwas_trace_handle session, REGHANDLE provider, const char *metadata,
                        uint32_t bytes)
{
    uint64_t before = counts_of(session).recorded;

    assert_int_equal(write_described(provider, 3, 0x10, metadata, bytes), ERROR_SUCCESS);
    return counts_of(session).recorded != before;
}

#define PASSES_NAME(session, provider, text)                                                       \
    passes_name(session, provider, "\0\0" text, sizeof("\0\0" text))

static void turn_types_on(REGHANDLE provider)
{
    uint8_t on = 1;

    assert_int_equal(EventSetInformation(provider, EventProviderUseDescriptorType, &on, 1),
                     ERROR_SUCCESS);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_filter_by_id_lets_in_only_those_or_all_but_those_and_each_session_has_its_own(
    void **state)
{
    struct ids in = {1, 0, 2, {5, 0xFFFF}};
    struct ids out = {0, 0, 1, {5}};
    struct ids most = {1, 0, MAX_EVENT_FILTER_EVENT_ID_COUNT, {0}};
    EVENT_FILTER_DESCRIPTOR filter;
    etwas_trace_handle sessions[4];
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    for (uint32_t index = 0; index < 4; index++) {
        sessions[index] = start_recorder();
    }
    for (uint16_t index = 0; index < MAX_EVENT_FILTER_EVENT_ID_COUNT; index++) {
        most.ids[index] = (uint16_t)(1000 + index);
    }
    filter = id_filter(EVENT_FILTER_TYPE_EVENT_ID, &in);
    assert_int_equal(enable_asking(sessions[0], 0, &filter, 1), ERROR_SUCCESS);
    filter = id_filter(EVENT_FILTER_TYPE_EVENT_ID, &out);
    assert_int_equal(enable_asking(sessions[1], 0, &filter, 1), ERROR_SUCCESS);
    filter = id_filter(EVENT_FILTER_TYPE_EVENT_ID, &most);
    assert_int_equal(enable_asking(sessions[2], 0, &filter, 1), ERROR_SUCCESS);
    assert_int_equal(enable_asking(sessions[3], 0, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 5), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 6), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 0xFFFF), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 1063), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 1064), ERROR_SUCCESS);
    assert_int_equal(counts_of(sessions[0]).recorded, 2);
    assert_int_equal(counts_of(sessions[1]).recorded, 4);
    assert_int_equal(counts_of(sessions[2]).recorded, 1);
    assert_int_equal(counts_of(sessions[3]).recorded, 5);
    /* An id says nothing of an event with metadata. */
    turn_types_on(provider);
    assert_true(PASSES_NAME(sessions[0], provider, "\0name"));
    assert_true(PASSES_NAME(sessions[1], provider, "\0name"));
    /* Enabling again replaces; none is no filter. */
    assert_int_equal(enable_asking(sessions[0], 0, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 6), ERROR_SUCCESS);
    assert_int_equal(counts_of(sessions[0]).recorded, 5);
    for (uint32_t index = 0; index < 4; index++) {
        assert_int_equal(counts_of(sessions[index]).lost, 0);
        stop_session(sessions[index], NULL);
    }
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static void a_filter_by_name_is_about_events_with_metadata_that_its_level_and_keywords_match(
    void **state)
{
    struct names data = {.any = 0x30, .level = 4, .in = 1, .count = 3};
    EVENT_FILTER_DESCRIPTOR filter =
        NAME_FILTER(EVENT_FILTER_TYPE_EVENT_NAME, &data, "first\0\0second name");
    etwas_trace_handle session = start_recorder();
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    turn_types_on(provider);
    assert_int_equal(enable_asking(session, 0, &filter, 1), ERROR_SUCCESS);
    assert_true(PASSES_NAME(session, provider, "\0first"));
    assert_true(PASSES_NAME(session, provider, "\x80\0second name\0field\x04"));
    assert_true(PASSES_NAME(session, provider,
                            "\xFF\xFF\xFF\x7F"
                            "first\0field\x04"));
    assert_true(PASSES_NAME(session, provider, "\0"));
    assert_false(PASSES_NAME(session, provider, "\0firs"));
    assert_false(PASSES_NAME(session, provider, "\0first "));
    assert_false(PASSES_NAME(session, provider, "\0irst"));
    assert_false(PASSES_NAME(session, provider, "\0second"));
    assert_false(PASSES_NAME(session, provider, "\0third"));
    /* Metadata that breaks off. */
    assert_false(passes_name(session, provider, "", 0));
    assert_false(passes_name(session, provider, "\0\0", 2));
    assert_false(passes_name(session, provider, "\0\0\x80\x80", 4));
    assert_false(passes_name(session, provider, "\0\0\0first", 8));
    /* What the filter is not about. */
    assert_int_equal(counts_of(session).recorded, 4);
    assert_int_equal(write_id(provider, 5), ERROR_SUCCESS);
    assert_int_equal(write_described(provider, 5, 0x10, "\0\0\0x", 5), ERROR_SUCCESS);
    assert_int_equal(write_described(provider, 4, 0x40, "\0\0\0x", 5), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 7);
    assert_int_equal(write_described(provider, 4, 0x20, "\0\0\0x", 5), ERROR_SUCCESS);
    assert_int_equal(write_described(provider, 4, 0, "\0\0\0x", 5), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 7);

    data.in = 0;
    assert_int_equal(enable_asking(session, 0, &filter, 1), ERROR_SUCCESS);
    assert_false(PASSES_NAME(session, provider, "\0first"));
    assert_true(PASSES_NAME(session, provider, "\0firs"));
    assert_int_equal(write_described(provider, 5, 0x10, "\0\0\0first", 9), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 9);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* ETWAS_FILTER_TYPE_EVENT_PATTERN: what has no name is not chosen by one. */
static void a_filter_by_patterns_chooses_by_name_and_leaves_ids_to_the_other_filter(void **state)
{
    struct names data = {.level = 4, .in = 1, .count = 3};
    const struct ids ids = {1, 0, 1, {5}};
    EVENT_FILTER_DESCRIPTOR filters[2] = {
        NAME_FILTER(ETWAS_FILTER_TYPE_EVENT_PATTERN, &data, "Order*\0\0?ale"),
        id_filter(EVENT_FILTER_TYPE_EVENT_ID, &ids)};
    etwas_trace_handle session = start_recorder();
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    turn_types_on(provider);
    assert_int_equal(enable_asking(session, 0, filters, 1), ERROR_SUCCESS);
    assert_true(PASSES_NAME(session, provider, "\0Order"));
    assert_true(PASSES_NAME(session, provider, "\0OrderBegin\0field\x04"));
    assert_true(PASSES_NAME(session, provider, "\0Sale"));
    assert_true(PASSES_NAME(session, provider, "\0"));
    assert_false(PASSES_NAME(session, provider, "\0order"));
    assert_false(PASSES_NAME(session, provider, "\0Sales"));
    assert_false(PASSES_NAME(session, provider, "\0ale"));
    assert_false(passes_name(session, provider, "\0\0\0Order", 8));
    assert_int_equal(write_id(provider, 5), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 4);
    /* Events of other levels are not its business. */
    assert_int_equal(write_described(provider, 5, 0x10, "\0\0\0x", 5), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 5);
    assert_int_equal(enable_asking(session, 0, filters, 2), ERROR_SUCCESS);
    assert_true(PASSES_NAME(session, provider, "\0Order"));
    assert_false(PASSES_NAME(session, provider, "\0x"));
    assert_int_equal(write_id(provider, 5), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 6), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 7);
    data.in = 0;
    assert_int_equal(enable_asking(session, 0, filters, 1), ERROR_SUCCESS);
    assert_false(PASSES_NAME(session, provider, "\0Order"));
    assert_true(PASSES_NAME(session, provider, "\0x"));
    assert_int_equal(write_id(provider, 5), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 9);
    filters[1] = filters[0];
    filters[1].Type = EVENT_FILTER_TYPE_EVENT_NAME;
    assert_int_equal(enable_asking(session, 0, filters, 2), ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

enum {
    MANY_NAMES = 800, /* of 5 bytes: more than buckets, and all that a filter takes */
    BUCKET_BYTES = 60,
};

/* So what an event costs does not depend on their number. */
static void an_event_is_compared_with_few_of_many_names(void **state)
{
    struct names data = {.in = 1, .count = MANY_NAMES};
    EVENT_FILTER_DESCRIPTOR filter = filter_of(EVENT_FILTER_TYPE_EVENT_NAME, &data,
                                               offsetof(struct names, names) + 5 * MANY_NAMES);
    struct etwas_event_filter read = {0};
    etwas_trace_handle session = start_recorder();
    REGHANDLE provider = begin_modern(NULL);
    char metadata[8] = {0};

    (void)state;
    for (uint32_t index = 0; index < MANY_NAMES; index++) {
        (void)snprintf(data.names + 5 * (size_t)index, 5, "%04u", 2 * index);
    }
    turn_types_on(provider);
    assert_int_equal(enable_asking(session, 0, &filter, 1), ERROR_SUCCESS);
    for (uint32_t number = 0; number < 2 * MANY_NAMES; number++) {
        (void)snprintf(metadata + 3, 5, "%04u", number);
        assert_int_equal(passes_name(session, provider, metadata, sizeof metadata),
                         number % 2 == 0);
    }
    assert_int_equal(etwas_event_filter_add(&read, &filter), ERROR_SUCCESS);
    for (uint32_t bucket = 0; bucket < ETWAS_NAME_BUCKETS; bucket++) {
        assert_true(read.names.starts[bucket + 1] - read.names.starts[bucket] <= BUCKET_BYTES);
    }
    assert_int_equal(read.names.starts[ETWAS_NAME_BUCKETS], 5 * MANY_NAMES);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static void c17_filters_that_contradict_themselves_are_refused_and_change_nothing(void **state)
{
    static const uint32_t id_types[] = {EVENT_FILTER_TYPE_EVENT_ID, EVENT_FILTER_TYPE_STACKWALK};
    static const uint32_t name_types[] = {EVENT_FILTER_TYPE_EVENT_NAME,
                                          EVENT_FILTER_TYPE_STACKWALK_NAME};
    static const struct ids bad_ids[] = {
        {2, 0, 1, {5}}, {1, 0, 0, {5}}, {1, 0, MAX_EVENT_FILTER_EVENT_ID_COUNT + 1, {5}}};
    const EVENT_FILTER_LEVEL_KW bad_levels = {.FilterIn = 2};
    struct ids ids = {1, 0, 2, {5, 6}};
    struct names names = {.in = 1, .count = 2};
    EVENT_FILTER_DESCRIPTOR filters[6];
    EVENT_FILTER_DESCRIPTOR *filter = &filters[0];
    etwas_trace_handle session = start_recorder();
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    *filter = id_filter(EVENT_FILTER_TYPE_EVENT_ID, &ids);
    assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_SUCCESS);
    for (size_t type = 0; type < 2; type++) {
        for (size_t index = 0; index < sizeof bad_ids / sizeof bad_ids[0]; index++) {
            *filter = id_filter(id_types[type], &bad_ids[index]);
            assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_INVALID_PARAMETER);
        }
        for (uint32_t bytes = 1; bytes < sizeof ids; bytes++) {
            *filter = filter_of(id_types[type], &ids, bytes);
            assert_int_equal(enable_asking(session, 0, filter, 1),
                             bytes == 8 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER);
        }
        *filter = NAME_FILTER(name_types[type], &names, "a\0b");
        assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_SUCCESS);
        for (uint32_t bytes = 1; bytes < sizeof names; bytes++) {
            *filter = filter_of(name_types[type], &names, bytes);
            assert_int_equal(enable_asking(session, 0, filter, 1),
                             bytes == 24 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER);
        }
        names.count = 1;
        *filter = filter_of(name_types[type], &names, 24);
        assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_INVALID_PARAMETER);
        names.count = 0;
        *filter = filter_of(name_types[type], &names, 20);
        assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_INVALID_PARAMETER);
        names.count = 2;
        names.in = 2;
        *filter = filter_of(name_types[type], &names, 24);
        assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_INVALID_PARAMETER);
        names.in = 1;
    }
    *filter = filter_of(EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, &bad_levels, sizeof bad_levels);
    assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_INVALID_PARAMETER);
    *filter = filter_of(EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, &ids, 23);
    assert_int_equal(enable_asking(session, 0, filter, 1), ERROR_INVALID_PARAMETER);

    /* One of each, and no more. */
    filters[0] = id_filter(EVENT_FILTER_TYPE_EVENT_ID, &ids);
    filters[1] = id_filter(EVENT_FILTER_TYPE_STACKWALK, &ids);
    filters[2] = filter_of(EVENT_FILTER_TYPE_EVENT_NAME, &names, 24);
    filters[3] = filter_of(EVENT_FILTER_TYPE_STACKWALK_NAME, &names, 24);
    filters[4] = filter_of(EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, &names, 24);
    filters[5] = filters[0];
    assert_int_equal(enable_asking(session, 0, filters, 6), ERROR_INVALID_PARAMETER);
    assert_int_equal(write_id(provider, 7), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 1); /* the last one was by name */
    assert_int_equal(enable_asking(session, 0, filters, 5), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 7), ERROR_SUCCESS);
    assert_int_equal(write_id(provider, 6), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 2);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* ---- changes while writers write ------------------------------------------------------------- */

static void *write_held(void *argument)
{
    const REGHANDLE *provider = argument;

    hold_me(ETWAS_POINT_FILTER_FOUND);
    assert_int_equal(write_id(*provider, 1), ERROR_SUCCESS);
    return NULL;
}

/*
 * The block that held the filter is another session's by the time the writer reads it. What its own
 * session wants was the same all the time.
 */
static void a_writer_goes_by_no_filter_that_is_not_in_force(void **state)
{
    const struct ids only_1 = {1, 0, 1, {1}};
    const struct ids only_2 = {1, 0, 1, {2}};
    EVENT_FILTER_DESCRIPTOR wants_1 = id_filter(EVENT_FILTER_TYPE_EVENT_ID, &only_1);
    EVENT_FILTER_DESCRIPTOR wants_2 = id_filter(EVENT_FILTER_TYPE_EVENT_ID, &only_2);
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_recorder();
    REGHANDLE provider = begin_modern(NULL);
    pthread_t thread;

    (void)state;
    assert_int_equal(enable_asking(session, 0, &wants_1, 1), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, write_held, &provider), 0);
    hold_wait();
    assert_int_equal(enable_asking(session, 0, &wants_1, 1), ERROR_SUCCESS);
    assert_int_equal(enable_asking(other, 0, &wants_2, 1), ERROR_SUCCESS);
    hold_release();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(counts_of(session).recorded, 1);
    assert_int_equal(counts_of(other).recorded, 0);
    stop_session(session, NULL);
    stop_session(other, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(
            a_filter_by_id_lets_in_only_those_or_all_but_those_and_each_session_has_its_own),
        FOLDER_TEST(
            a_filter_by_name_is_about_events_with_metadata_that_its_level_and_keywords_match),
        FOLDER_TEST(a_filter_by_patterns_chooses_by_name_and_leaves_ids_to_the_other_filter),
        FOLDER_TEST(an_event_is_compared_with_few_of_many_names),
        FOLDER_TEST(c17_filters_that_contradict_themselves_are_refused_and_change_nothing),
        FOLDER_TEST(a_writer_goes_by_no_filter_that_is_not_in_force),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
