/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which retention class an event is of: the first that it fits, by level, type, GUID and keywords,
 * of each kind of event.
 */
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <string.h>

#include "class_case.h"
#include "support/folder.h"
#include "support/start.h"

static const etwas_guid other = {0x0c1a5500, 0x0002, 0x4000, {0x80, 0, 0, 0, 0, 0, 0, 2}};

enum {
    RARE_TYPE = 77,
    BY_LEVEL = 1,
    BY_TYPE,
    BY_GUID,
    BY_KEYWORD,
    BY_ALL,
    EVERY_CLASS = BY_ALL
};

static const etwas_retention_class all_kinds[] = {
    {.level = 2, .share_percent = 10},
    {.by_type = true, .type = RARE_TYPE, .share_percent = 10},
    {.guid = {0x0c1a5500, 0x0002, 0x4000, {0x80, 0, 0, 0, 0, 0, 0, 2}}, .share_percent = 10},
    {.keywords = 0x30, .share_percent = 10},
    {.guid = {0x0c1a5500, 0x0001, 0x4000, {0x80, 0, 0, 0, 0, 0, 0, 1}},
     .keywords = 0x40,
     .level = 4,
     .by_type = true,
     .type = 9,
     .share_percent = 10},
};

struct classified {
    const etwas_guid *guid;
    uint64_t keyword;
    uint8_t level;
    uint8_t type;
    uint32_t class_number;
};

static uint64_t attempted[EVERY_CLASS + 1];

static etwas_trace_handle start_with_every_class(uint32_t mode)
{
    etwas_session_options options = recorder;

    options.log_file_mode |= mode;
    options.classes = all_kinds;
    options.class_count = EVERY_CLASS;
    memset(attempted, 0, sizeof attempted);
    return start_session(NULL, &options);
}

static void expect_class(etwas_trace_handle session, uint32_t class_number)
{
    attempted[class_number]++;
    for (uint32_t number = 0; number <= EVERY_CLASS; number++) {
        assert_int_equal(state_of(session, number).attempted, attempted[number]);
    }
}

static void classic_events_are_in_the_first_class_that_fits(void **state)
{
    static const struct classified rows[] = {
        {&class_case_guid, 0, 1, 0, BY_LEVEL}, {&class_case_guid, 0, 2, RARE_TYPE, BY_LEVEL},
        {&other, 0, 2, 0, BY_LEVEL},           {&class_case_guid, 0, 0, 0, 0},
        {&class_case_guid, 0, 3, 0, 0},        {&class_case_guid, 0, 255, RARE_TYPE, BY_TYPE},
        {&other, 0, 0, RARE_TYPE, BY_TYPE},    {&other, 0, 3, 1, BY_GUID},
        {&class_case_guid, 0, 4, 9, 0}, /* no keyword */
    };
    etwas_trace_handle session;

    (void)state;
    session = start_with_every_class(0);
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        assert_int_equal(
            log_as(session, rows[index].guid, rows[index].level, rows[index].type, 0, index),
            ERROR_SUCCESS);
        expect_class(session, rows[index].class_number);
    }
    expect_sums(session, EVERY_CLASS);
    stop_session(session, NULL);
}

static uint32_t no_control(WMIDPREQUESTCODE code, void *context, uint32_t *size, void *buffer)
{
    (void)code;
    (void)context;
    (void)size;
    (void)buffer;
    return ERROR_SUCCESS;
}

/* The commonest event, whose class is a registration. */
static void instances_are_in_the_class_of_their_registration(void **state)
{
    TRACE_GUID_REGISTRATION classes[] = {{.Guid = &class_case_guid}, {.Guid = &other}};
    struct {
        EVENT_INSTANCE_HEADER header;
        struct payload payload;
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID}};
    etwas_trace_handle registration;
    etwas_trace_handle session;

    (void)state;
    session = start_with_every_class(0);
    assert_int_equal(RegisterTraceGuidsA(no_control, NULL, &class_case_guid, 2, classes, NULL, NULL,
                                         &registration),
                     ERROR_SUCCESS);
    for (uint32_t index = 0; index < 8; index++) {
        EVENT_INSTANCE_INFO instance;
        EVENT_INSTANCE_INFO parent;

        assert_int_equal(CreateTraceInstanceId(classes[index % 2].RegHandle, &instance),
                         ERROR_SUCCESS);
        assert_int_equal(CreateTraceInstanceId(classes[0].RegHandle, &parent), ERROR_SUCCESS);
        event.header.Class.Level = index < 4 ? 3 : 1;
        event.payload.number = index;
        assert_int_equal(
            TraceEventInstance(session, &event.header, &instance, index % 4 < 2 ? NULL : &parent),
            ERROR_SUCCESS);
        expect_class(session, index >= 4 ? BY_LEVEL : index % 2 == 0 ? 0 : BY_GUID);
    }
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
}

static void modern_events_also_by_keyword(void **state)
{
    static const struct classified rows[] = {
        {&class_case_guid, 0x10, 4, 0, BY_KEYWORD},
        {&class_case_guid, 0x21, 4, 9, BY_KEYWORD},
        {&class_case_guid, 0x41, 4, 9, BY_ALL},
        {&class_case_guid, 0x41, 5, 9, 0},
        {&class_case_guid, 0x41, 4, 8, 0},
        {&class_case_guid, 0x70, 2, 9, BY_LEVEL},
        {&other, 0x70, 4, 0, BY_GUID},
        {&class_case_guid, 0, 4, RARE_TYPE, BY_TYPE},
        {&class_case_guid, 0, 4, 9, 0},
    };
    REGHANDLE provider = 0;
    etwas_trace_handle session;

    (void)state;
    session = start_with_every_class(0);
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        const EVENT_DESCRIPTOR descriptor = {
            .Level = rows[index].level, .Opcode = rows[index].type, .Keyword = rows[index].keyword};
        struct payload payload = {.number = index};
        EVENT_DATA_DESCRIPTOR data;

        assert_int_equal(EventRegister(rows[index].guid, NULL, NULL, &provider), ERROR_SUCCESS);
        assert_int_equal(EnableTraceEx2(session, rows[index].guid,
                                        EVENT_CONTROL_CODE_ENABLE_PROVIDER, 255, 0, 0, 0, NULL),
                         ERROR_SUCCESS);
        EventDataDescCreate(&data, &payload, sizeof payload);
        assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
        expect_class(session, rows[index].class_number);
        assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    }
    stop_session(session, NULL);
}

static void messages_by_their_guid_alone(void **state)
{
    const uint32_t flags = TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP;
    etwas_trace_handle session;
    uint32_t argument = 7;

    (void)state;
    session = start_with_every_class(EVENT_TRACE_USE_LOCAL_SEQUENCE);
    assert_int_equal(
        TraceMessage(session, flags, &other, RARE_TYPE, &argument, sizeof argument, NULL),
        ERROR_SUCCESS);
    expect_class(session, BY_GUID);
    assert_int_equal(TraceMessage(session, flags | TRACE_MESSAGE_SYSTEMINFO, &other, RARE_TYPE,
                                  &argument, sizeof argument, NULL),
                     ERROR_SUCCESS);
    expect_class(session, BY_GUID);
    assert_int_equal(TraceMessage(session, flags | TRACE_MESSAGE_SEQUENCE, &other, RARE_TYPE, NULL),
                     ERROR_SUCCESS);
    expect_class(session, BY_GUID);
    assert_int_equal(TraceMessage(session, flags, &class_case_guid, RARE_TYPE, NULL),
                     ERROR_SUCCESS);
    expect_class(session, 0);
    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_TIMESTAMP, NULL, RARE_TYPE, NULL),
                     ERROR_SUCCESS);
    expect_class(session, 0);
    stop_session(session, NULL);
}

/* Another session without classes in the same entry, and one with more, get what they ask for. */
static void sessions_with_and_without_take_turns(void **state)
{
    static const uint32_t counts[] = {1, 0, 5, 0, 3, 1};

    (void)state;
    for (uint32_t turn = 0; turn < 150; turn++) {
        etwas_session_options options = recorder;
        uint32_t count = counts[turn % (sizeof counts / sizeof counts[0])];
        etwas_trace_handle session;
        etwas_retention retention;

        options.classes = all_kinds;
        options.class_count = count;
        session = start_session(NULL, &options);
        for (uint32_t number = 0; number < 100; number++) {
            assert_int_equal(log_one(session, ERROR, number), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_retention_query(session, &retention, NULL, 0), ERROR_SUCCESS);
        assert_int_equal(retention.streams % (1 + count), 0);
        assert_int_equal(state_of(session, count == 0 ? 0 : 1).recorded, 100);
        stop_session(session, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(classic_events_are_in_the_first_class_that_fits),
        FOLDER_TEST(instances_are_in_the_class_of_their_registration),
        FOLDER_TEST(modern_events_also_by_keyword),
        FOLDER_TEST(messages_by_their_guid_alone),
        FOLDER_TEST(sessions_with_and_without_take_turns),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
