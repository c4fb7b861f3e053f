/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Stacks of events: EVENT_ENABLE_PROPERTY_STACK_TRACE and the filters that say which events get
 * one.
 */
#include <string.h>

#include "provider/modern.h"

enum {
    LEVELS = 5,
    /* Frames of the library, at most, in a build with a sanitizer; more after an interruption. */
    OWN_FRAMES = 8,
};

static uintptr_t returns[LEVELS]; /* where each level of `descend` returns to */
static REGHANDLE provider;

static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 3, .Keyword = 0x10};

static void enable_stacks(etwas_trace_handle session, uint32_t property,
                          EVENT_FILTER_DESCRIPTOR *filters, uint32_t count)
{
    assert_int_equal(enable_asking(session, property, filters, count), ERROR_SUCCESS);
}

static bool has_stack(const struct modern_event *event)
{
    for (uint32_t index = 0; index < event->item_count; index++) {
        if (event->items[index].type == EVENT_HEADER_EXT_TYPE_STACK_TRACE64) {
            return true;
        }
    }
    return false;
}

/* ---- the thread of a stack ------------------------------------------------------------------- */

static uint32_t write_plainly(void)
{
    return EventWrite(provider, &descriptor, 0, NULL);
}

static uint32_t write_related(void)
{
    return EventWriteTransfer(provider, &descriptor, NULL, &control_guid, 0, NULL);
}

static uint32_t write_excluding(void)
{
    return EventWriteEx(provider, &descriptor, UINT64_C(1) << 63, EVENT_WRITE_FLAG_NO_FAULTING,
                        NULL, NULL, 0, NULL);
}

static uint32_t write_string(void)
{
    return EventWriteString(provider, 3, 0x10, u"text");
}

static __attribute__((noinline)) uint32_t descend(uint32_t level, uint32_t (*write)(void))
{
    uint32_t result;

    returns[level] = (uintptr_t)__builtin_return_address(0);
    result = level + 1 == LEVELS ? write() : descend(level + 1, write);
    /* This keeps the call above from being a tail call. */
    __asm__ volatile("" : "+r"(result));
    return result;
}

/* A match id of 0, then the callers; `write` itself may be a jump. */
static void expect_callers(const struct modern_event *event, uint32_t item)
{
    uint64_t words[sizeof event->items[0].data / sizeof(uint64_t)]; /* what was kept of it */
    uint32_t count = event->items[item].bytes / sizeof words[0];
    uint32_t first = 1;

    assert_int_equal(event->items[item].type, EVENT_HEADER_EXT_TYPE_STACK_TRACE64);
    assert_int_equal(event->items[item].bytes % sizeof words[0], 0);
    assert_true(count <= 1 + 192);
    count = count < sizeof words / sizeof words[0] ? count : sizeof words / sizeof words[0];
    memcpy(words, event->items[item].data, count * sizeof words[0]);
    assert_true(words[0] == 0);
    while (first < 2 + OWN_FRAMES && first < count && words[first] != returns[LEVELS - 1]) {
        first++;
    }
    /* All but the first level's: it is called from a loop that may be unrolled. */
    assert_true(first + LEVELS <= count);
    for (uint32_t level = 0; level + 1 < LEVELS; level++) {
        assert_true(words[first + level] == returns[LEVELS - 1 - level]);
    }
}

static void an_event_has_the_stack_of_whoever_called_whichever_function(void **state)
{
    static uint32_t (*const functions[])(void) = {write_plainly, write_related, write_excluding,
                                                  write_string};
    struct trace trace;
    struct modern_events events;

    (void)state;
    trace = begin_trace(64);
    provider = trace.provider;
    enable_stacks(trace.session,
                  EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_TS_ID |
                      EVENT_ENABLE_PROPERTY_EVENT_KEY,
                  NULL, 0);
    for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
        assert_int_equal(descend(0, functions[index]), ERROR_SUCCESS);
    }
    end_trace(&trace, &events);
    assert_int_equal(events.count, 4);
    for (size_t index = 0; index < events.count; index++) {
        /* The stack follows the related activity and the session, and comes before the key. */
        expect_callers(&events.list[index], index == 1 ? 2 : 1);
        assert_int_equal(events.list[index].item_count, index == 1 ? 4 : 3);
    }
    free_modern(&events);
}

static void expect_cut(const struct modern_event *event)
{
    const uint64_t cut[] = {0, UINT64_MAX};

    assert_int_equal(event->item_count, 2);
    assert_int_equal(event->items[0].type, EVENT_HEADER_EXT_TYPE_TS_ID);
    assert_int_equal(event->items[1].type, EVENT_HEADER_EXT_TYPE_STACK_TRACE64);
    assert_int_equal(event->items[1].bytes, sizeof cut);
    assert_memory_equal(event->items[1].data, cut, sizeof cut);
}

/* Too long for a record, or for a buffer: the other items need 16 bytes, the mark needs 24. */
static void an_event_that_its_stack_makes_too_long_has_a_mark_in_its_place(void **state)
{
    static uint8_t bytes[65535 - 80];
    static const struct {
        uint32_t buffer_kb;
        uint32_t most_bytes; /* of data */
    } longest[] = {{128, sizeof bytes}, {4, 4096 - 72 - 80}};
    static const uint32_t rooms[] = {8, 32, 40, 48};

    (void)state;
    for (size_t index = 0; index < sizeof longest / sizeof longest[0]; index++) {
        struct trace trace = begin_trace(longest[index].buffer_kb);
        EVENT_DATA_DESCRIPTOR data;
        struct modern_events events;

        enable_stacks(trace.session,
                      EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_TS_ID, NULL, 0);
        for (size_t room = 0; room < sizeof rooms / sizeof rooms[0]; room++) {
            EventDataDescCreate(&data, bytes, longest[index].most_bytes - rooms[room]);
            assert_int_equal(EventWrite(trace.provider, &descriptor, 1, &data), ERROR_SUCCESS);
        }
        assert_int_equal(EventWrite(trace.provider, &descriptor, 0, NULL), ERROR_SUCCESS);
        end_trace(&trace, &events);
        assert_int_equal(events.count, sizeof rooms / sizeof rooms[0] + 1);
        for (size_t room = 0; room < sizeof rooms / sizeof rooms[0]; room++) {
            assert_int_equal(events.list[room].bytes, longest[index].most_bytes - rooms[room]);
            if (rooms[room] < 40) {
                assert_int_equal(events.list[room].item_count, 0);
            } else {
                expect_cut(&events.list[room]);
            }
        }
        assert_int_equal(events.list[sizeof rooms / sizeof rooms[0]].item_count, 2);
        free_modern(&events);
    }
}

/* ---- which events get one -------------------------------------------------------------------- */

static void write_id(uint16_t id, uint8_t level)
{
    const EVENT_DESCRIPTOR own = {.Id = id, .Level = level, .Keyword = 0x10};

    assert_int_equal(EventWrite(provider, &own, 0, NULL), ERROR_SUCCESS);
}

/* Writes an event with metadata: a size, a tag, a name. */
static void write_name(const char *name)
{
    char metadata[32] = {0};
    EVENT_DATA_DESCRIPTOR data;

    memcpy(metadata + 3, name, strlen(name));
    EventDataDescCreate(&data, metadata, (uint32_t)strlen(name) + 4);
    data.Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
    assert_int_equal(EventWrite(provider, &descriptor, 1, &data), ERROR_SUCCESS);
}

static void filters_say_which_events_get_stacks_and_leave_no_event_out(void **state)
{
    EVENT_FILTER_EVENT_ID id = {.FilterIn = 1, .Count = 1, .Events = {5}};
    uint8_t name[offsetof(EVENT_FILTER_EVENT_NAME, Names) + 2] = {0};
    EVENT_FILTER_LEVEL_KW levels = {.Level = 3, .FilterIn = 1};
    EVENT_FILTER_DESCRIPTOR filters[] = {
        {(uint64_t)(uintptr_t)&id, sizeof id, EVENT_FILTER_TYPE_STACKWALK},
        {(uint64_t)(uintptr_t)name, sizeof name, EVENT_FILTER_TYPE_STACKWALK_NAME},
        {(uint64_t)(uintptr_t)&levels, sizeof levels, EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW},
    };
    /* Properties of the events below, by what is requested. */
    static const struct {
        uint32_t property;
        uint32_t first;
        uint32_t count;
        const char *stacks;
    } asked[] = {
        {EVENT_ENABLE_PROPERTY_STACK_TRACE, 0, 0, "11111"},
        {0, 0, 3, "00000"},
        {EVENT_ENABLE_PROPERTY_STACK_TRACE, 0, 1, "10111"},
        {EVENT_ENABLE_PROPERTY_STACK_TRACE, 1, 1, "11011"},
        {EVENT_ENABLE_PROPERTY_STACK_TRACE, 2, 1, "11110"},
        {EVENT_ENABLE_PROPERTY_STACK_TRACE, 0, 3, "10010"},
    };
    struct trace trace = begin_trace(64);
    struct modern_events events;
    uint8_t on = 1;
    size_t at = 0;

    (void)state;
    name[offsetof(EVENT_FILTER_EVENT_NAME, NameCount)] = 1;
    name[offsetof(EVENT_FILTER_EVENT_NAME, Names)] = 'n';
    provider = trace.provider;
    assert_int_equal(EventSetInformation(provider, EventProviderUseDescriptorType, &on, 1),
                     ERROR_SUCCESS);
    for (size_t index = 0; index < sizeof asked / sizeof asked[0]; index++) {
        enable_stacks(trace.session, asked[index].property, filters + asked[index].first,
                      asked[index].count);
        write_id(5, 3);
        write_id(6, 3);
        write_name("n");
        write_name("m");
        write_id(5, 4);
    }
    end_trace(&trace, &events);
    assert_int_equal(events.count, 5 * sizeof asked / sizeof asked[0]);
    for (size_t index = 0; index < sizeof asked / sizeof asked[0]; index++) {
        for (uint32_t event = 0; event < 5; event++) {
            assert_int_equal(has_stack(&events.list[at++]), asked[index].stacks[event] == '1');
        }
    }
    free_modern(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(an_event_has_the_stack_of_whoever_called_whichever_function),
        FOLDER_TEST(an_event_that_its_stack_makes_too_long_has_a_mark_in_its_place),
        FOLDER_TEST(filters_say_which_events_get_stacks_and_leave_no_event_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
