/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a row has of an event's header: of a message and of a classic event other things than of a
 * modern one.
 */
#include "ship_whole.h"

#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PLAIN, /* as scene_write makes them */
    INSTANCE,
    MESSAGE,
    UNKNOWN_MESSAGE,
    SELF_DESCRIBING,
    MODERN,
    OF_ACTIVITY, /* and two more */
    OF_COMPONENT,
    EVENTS,
};

static const GUID provider_guid = {0x51a8, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID activity = {0x51b0, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static const GUID related = {0x51b1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

static void write_of_activity(REGHANDLE provider)
{
    static const EVENT_DESCRIPTOR descriptor = {
        .Id = 0xFFF0, .Level = 2, .Opcode = 240, .Keyword = 0x4000000000000001};
    const uint64_t number = OF_ACTIVITY;
    EVENT_DATA_DESCRIPTOR data;

    EventDataDescCreate(&data, &number, sizeof number);
    assert_int_equal(EventWriteTransfer(provider, &descriptor, &activity, &related, 1, &data),
                     ERROR_SUCCESS);
}

static void write_of_component(etwas_trace_handle session)
{
    const GUID component = {.Data1 = 77};
    const uint64_t number = OF_COMPONENT;

    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_COMPONENTID | TRACE_MESSAGE_TIMESTAMP,
                                  &component, 6, &number, sizeof number, NULL, (size_t)0),
                     ERROR_SUCCESS);
}

static void write_all(const char *path)
{
    const etwas_session_options options = sequential();
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    REGHANDLE provider;

    assert_int_equal(EventRegister(&provider_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                    TRACE_LEVEL_VERBOSE, 0, 0, 0, NULL),
                     ERROR_SUCCESS);
    scene_enable(session);
    for (uint64_t number = 0; number < OF_ACTIVITY; number++) {
        assert_int_equal(scene_write(session, number), ERROR_SUCCESS);
    }
    write_of_activity(provider);
    write_of_component(session);
    stop_session(session, &counts);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* As it is sent, of the GUIDs here that differ in Data1 alone; 0: of none. */
static void expect_guid(const uint8_t sent[16], uint32_t data1)
{
    const uint8_t expected[16] = {
        3, 0, 2, 0, (uint8_t)data1, (uint8_t)(data1 >> 8), 0, 0, 11, 10, 9, 8, 7, 6, 5, 4};
    const uint8_t none[16] = {0};

    assert_memory_equal(sent, data1 != 0 ? expected : none, 16);
}

static const struct {
    const char *name;
    uint32_t provider, class;
    uint8_t type, level;
    uint16_t id;
    uint64_t keyword;
    uint32_t instance, parent;
} expected[EVENTS] = {
    [PLAIN] = {"scene/Classic/Plain", 0, 0x51a1, 10, 0, 0, 0, 0, 0},
    [INSTANCE] = {"scene/Classic/Instance", 0, 0x51a1, 11, 0, 0, 0, 1, 7},
    [MESSAGE] = {"000051a2-0002-0003-0405-060708090a0b/message:5", 0, 0x51a2, 0, 0, 5, 0, 0, 0},
    [UNKNOWN_MESSAGE] = {"000051a3-0002-0003-0405-060708090a0b/message:5", 0, 0x51a3, 0, 0, 5, 0, 0,
                         0},
    [SELF_DESCRIBING] = {"Ship.Scene/Said", 0x51a5, 0x51a5, 0, 5, 0, 0, 0, 0},
    [MODERN] = {"000051a4-0002-0003-0405-060708090a0b/#9", 0x51a4, 0x51a4, 3, 4, 9, 0x10, 0, 0},
    [OF_ACTIVITY] = {"000051a8-0002-0003-0405-060708090a0b/#65520", 0x51a8, 0x51a8, 240, 2, 0xFFF0,
                     0x4000000000000001, 0, 0},
    [OF_COMPONENT] = {"component:77/message:6", 0, 0, 0, 0, 6, 0, 0, 0},
};

static void expect_header(const struct shipped_event *event, uint64_t number)
{
    bool says_thread = number != OF_COMPONENT;

    assert_string_equal(name_of(event), expected[number].name);
    expect_guid(event->provider, expected[number].provider);
    expect_guid(event->class_guid, expected[number].class);
    expect_guid(event->activity, number == OF_ACTIVITY ? activity.Data1 : 0);
    expect_guid(event->related, number == OF_ACTIVITY ? related.Data1 : 0);
    assert_int_equal(event->type, expected[number].type);
    assert_int_equal(event->level, expected[number].level);
    assert_int_equal(event->id, expected[number].id);
    assert_true(event->keyword == expected[number].keyword);
    assert_int_equal(event->instance, expected[number].instance);
    assert_int_equal(event->parent, expected[number].parent);
    assert_int_equal(event->pid, says_thread ? (uint32_t)getpid() : UINT32_MAX);
    assert_int_equal(event->tid, says_thread ? (uint32_t)syscall(SYS_gettid) : UINT32_MAX);
    assert_int_equal(event->part, 0);
    assert_true(event->cpu < UINT16_MAX);
}

static void a_row_has_what_the_header_says(void **state)
{
    static struct shipped_event event;
    const char *path = folder_path("rows.etl");
    struct etwas_ship_block block = block_open();
    uint32_t seen = 0;
    struct etwas_ship_file *file;
    struct rows rows;

    (void)state;
    write_all(path);
    file = open_file(path);
    assert_int_equal(etwas_ship_block_next(file, &beginning, &whole, &block), ETWAS_SHIP_BLOCK);
    rows_begin(&rows, block.events);
    while (rows_next_event(&rows, &event)) {
        uint64_t number = number_of(&event);

        assert_true(number < EVENTS);
        seen |= 1u << number;
        expect_header(&event, number);
    }
    assert_int_equal(block.events->rows, EVENTS);
    assert_int_equal(seen, (1u << EVENTS) - 1);
    etwas_ship_file_close(file);
    block_close(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FOLDER_TEST(a_row_has_what_the_header_says)};

    scene_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
