/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EventWrite and its companions: from the call through the file to the reader and the walker
 * (R194).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "provider/modern.h"

enum {
    HEADER_BYTES = 80,
    LARGEST_DATA = 65535 - HEADER_BYTES,
};

/* ---- records --------------------------------------------------------------------------------- */

static void an_event_is_read_back_as_it_was_written(void **state)
{
    struct trace trace = begin_trace(64);
    EVENT_DATA_DESCRIPTOR data[4];
    struct modern_events events;
    const EVENT_HEADER *header;

    (void)state;
    EventDataDescCreate(&data[0], "abc", 3);
    EventDataDescCreate(&data[1], NULL, 0);
    EventDataDescCreate(&data[2], "defgh", 5);
    EventDataDescCreate(&data[3], "", 1);
    assert_int_equal(EventWriteTransfer(trace.provider, &full_descriptor, &own_activity,
                                        &other_activity, 4, data),
                     ERROR_SUCCESS);
    assert_int_equal(
        EventWriteTransfer(trace.provider, &full_descriptor, &own_activity, NULL, 0, NULL),
        ERROR_SUCCESS);
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 2, data), ERROR_SUCCESS);
    end_trace(&trace, &events);

    assert_int_equal(events.count, 3);
    header = &events.list[0].header;
    assert_memory_equal(&header->EventDescriptor, &full_descriptor, sizeof full_descriptor);
    expect_guid(&header->ProviderId, &control_guid);
    expect_guid(&header->ActivityId, &own_activity);
    assert_int_equal(header->ProcessId, getpid());
    assert_int_equal(header->ThreadId, gettid());
    assert_int_equal(header->Flags &
                         (EVENT_HEADER_FLAG_EXTENDED_INFO | EVENT_HEADER_FLAG_STRING_ONLY |
                          EVENT_HEADER_FLAG_64_BIT_HEADER),
                     EVENT_HEADER_FLAG_EXTENDED_INFO | EVENT_HEADER_FLAG_64_BIT_HEADER);
    assert_int_equal(header->EventProperty, 0);
    assert_true(header->ProcessorTime == 0);
    assert_int_equal(events.list[0].item_count, 1);
    assert_int_equal(events.list[0].items[0].type, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
    assert_int_equal(events.list[0].items[0].bytes, sizeof other_activity);
    assert_memory_equal(events.list[0].items[0].data, &other_activity, sizeof other_activity);
    assert_int_equal(events.list[0].bytes, 9);
    assert_memory_equal(events.list[0].data, "abcdefgh", 9);

    header = &events.list[1].header;
    assert_int_equal(header->Flags & EVENT_HEADER_FLAG_EXTENDED_INFO, 0);
    assert_int_equal(events.list[1].item_count, 0);
    assert_int_equal(events.list[1].bytes, 0);
    /* R196: the thread's own id, which starts as nothing. */
    expect_guid(&events.list[2].header.ActivityId, &no_activity);
    assert_int_equal(events.list[2].bytes, 3);
    free_modern(&events);
}

/*
 * Sizes around every way a record is put together: with and without an item, in one block or many.
 */
static void data_of_every_size_and_number_of_blocks_is_recorded(void **state)
{
    static const uint32_t sizes[] = {0,
                                     1,
                                     7,
                                     8,
                                     9,
                                     127,
                                     407,
                                     408,
                                     409,
                                     431,
                                     432,
                                     433,
                                     4095,
                                     10000,
                                     40001,
                                     65000,
                                     LARGEST_DATA - 24};
    static const uint32_t counts[] = {1, 2, 15, 16, 17, 128};
    enum {
        SIZES = sizeof sizes / sizeof sizes[0],
        COUNTS = sizeof counts / sizeof counts[0]
    };
    struct trace trace = begin_trace(1024);
    uint8_t *bytes = malloc(LARGEST_DATA);
    struct modern_events events;

    (void)state;
    assert_non_null(bytes);
    for (uint32_t at = 0; at < LARGEST_DATA; at++) {
        bytes[at] = (uint8_t)(at * 7 + at / 251);
    }
    for (size_t size = 0; size < SIZES; size++) {
        for (size_t count = 0; count < COUNTS; count++) {
            const EVENT_DESCRIPTOR descriptor = {.Id = (uint16_t)(size * COUNTS + count)};
            const etwas_guid *related = count % 2 != 0 ? &other_activity : NULL;
            EVENT_DATA_DESCRIPTOR data[MAX_EVENT_DATA_DESCRIPTORS];
            uint32_t at = 0;

            for (uint32_t index = 0; index < counts[count]; index++) {
                uint32_t piece = index + 1 < counts[count]
                                     ? (sizes[size] - at) / (counts[count] - index)
                                     : sizes[size] - at;

                EventDataDescCreate(&data[index], bytes + at, piece);
                at += piece;
            }
            assert_int_equal(
                EventWriteTransfer(trace.provider, &descriptor, NULL, related, counts[count], data),
                ERROR_SUCCESS);
        }
    }
    end_trace(&trace, &events);
    assert_int_equal(events.count, SIZES * COUNTS);
    for (size_t index = 0; index < events.count; index++) {
        assert_int_equal(events.list[index].header.EventDescriptor.Id, index);
        assert_int_equal(events.list[index].bytes, sizes[index / COUNTS]);
        assert_memory_equal(events.list[index].data, bytes, events.list[index].bytes);
        assert_int_equal(events.list[index].item_count, index % COUNTS % 2);
    }
    free_modern(&events);
    free(bytes);
}

static void what_is_too_large_is_refused_with_its_own_code_and_counted(void **state)
{
    const etwas_session_options small = {.buffer_size_kb = 4,
                                         .log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    struct trace trace = begin_trace(1024);
    etwas_trace_handle second;
    EVENT_DATA_DESCRIPTOR data[2];
    uint8_t *bytes = calloc(1, LARGEST_DATA + 1);
    etwas_wchar *text = calloc(LARGEST_DATA, sizeof *text);
    struct modern_events events;

    (void)state;
    assert_non_null(bytes);
    assert_non_null(text);
    /* So that there is a buffer, which the sequence inlined into EventWrite looks at. */
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 0, NULL), ERROR_SUCCESS);
    EventDataDescCreate(&data[0], bytes, LARGEST_DATA + 1);
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 1, data),
                     ERROR_ARITHMETIC_OVERFLOW);
    EventDataDescCreate(&data[0], bytes, UINT32_MAX);
    EventDataDescCreate(&data[1], bytes, UINT32_MAX);
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 2, data),
                     ERROR_ARITHMETIC_OVERFLOW);
    for (uint32_t index = 0; index + 1 < LARGEST_DATA; index++) {
        text[index] = u'x';
    }
    assert_int_equal(EventWriteString(trace.provider, 1, 1, text), ERROR_ARITHMETIC_OVERFLOW);
    EventDataDescCreate(&data[0], bytes, LARGEST_DATA);
    /* The item takes its share. */
    assert_int_equal(
        EventWriteTransfer(trace.provider, &full_descriptor, NULL, &other_activity, 1, data),
        ERROR_ARITHMETIC_OVERFLOW);
    assert_int_equal(counts_of(trace.session).recorded, 1);
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 1, data), ERROR_SUCCESS);

    /* A record takes at most what lies behind the header of a buffer, here 4,096 - 72 bytes. */
    second = start_session(NULL, &small);
    disable_modern(trace.session);
    enable_modern(second, 0, 0, 0);
    EventDataDescCreate(&data[0], bytes, 4096 - 72 - HEADER_BYTES + 1);
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 1, data), ERROR_MORE_DATA);
    assert_int_equal(counts_of(second).recorded, 0);
    assert_int_equal(counts_of(second).lost, 1);
    assert_int_equal(counts_of(second).lost_too_large, 1);
    EventDataDescCreate(&data[0], bytes, 4096 - 72 - HEADER_BYTES);
    assert_int_equal(EventWrite(trace.provider, &full_descriptor, 1, data), ERROR_SUCCESS);
    assert_int_equal(counts_of(second).recorded, 1);
    stop_session(second, NULL);
    end_trace(&trace, &events);
    assert_int_equal(events.count, 2);
    assert_int_equal(events.list[1].bytes, LARGEST_DATA);
    free_modern(&events);
    free(text);
    free(bytes);
}

static void what_is_not_valid_is_refused_and_changes_nothing(void **state)
{
    struct trace trace = begin_trace(64);
    EVENT_DATA_DESCRIPTOR data[MAX_EVENT_DATA_DESCRIPTORS + 1] = {{0}};
    struct modern_events events;
    const EVENT_DESCRIPTOR *const descriptor = &full_descriptor;
    const REGHANDLE bad[] = {1,
                             trace.provider + 1,
                             trace.provider + 0x10000,
                             trace.provider | UINT64_C(1) << 62,
                             trace.session,
                             UINT64_MAX};

    (void)state;
    /* So that there is a buffer, which the sequence inlined into EventWrite looks at. */
    assert_int_equal(EventWrite(trace.provider, descriptor, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWrite(trace.provider, NULL, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWrite(trace.provider, descriptor, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWrite(trace.provider, descriptor, MAX_EVENT_DATA_DESCRIPTORS + 1, data),
                     ERROR_INVALID_PARAMETER);
    data[3].Size = 1;
    assert_int_equal(EventWrite(trace.provider, descriptor, 4, data), ERROR_INVALID_PARAMETER);
    for (uint32_t bit = 2; bit < 32; bit++) {
        assert_int_equal(
            EventWriteEx(trace.provider, descriptor, 0, UINT32_C(1) << bit, NULL, NULL, 0, NULL),
            ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(EventWriteString(trace.provider, 0, 0, NULL), ERROR_INVALID_PARAMETER);
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        assert_int_equal(EventWrite(bad[index], descriptor, 0, NULL), ERROR_INVALID_HANDLE);
        assert_int_equal(EventUnregister(bad[index]), ERROR_INVALID_HANDLE);
        assert_false(EventEnabled(bad[index], descriptor));
    }
    assert_int_equal(counts_of(trace.session).recorded, 1);
    assert_int_equal(EventWrite(trace.provider, descriptor, 3, data), ERROR_SUCCESS);
    end_trace(&trace, &events);
    assert_int_equal(events.count, 2);
    free_modern(&events);
    assert_int_equal(EventWrite(trace.provider, descriptor, 0, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(EventUnregister(trace.provider), ERROR_INVALID_HANDLE);
}

static void a_string_is_an_event_of_its_own_kind(void **state)
{
    struct trace trace = begin_trace(64);
    struct modern_events events;
    const EVENT_DESCRIPTOR expected = {.Level = 4, .Keyword = 0x30};

    (void)state;
    assert_int_equal(EventWriteString(trace.provider, 4, 0x30, u"schön"), ERROR_SUCCESS);
    assert_int_equal(EventWriteString(trace.provider, 4, 0x30, u""), ERROR_SUCCESS);
    end_trace(&trace, &events);
    assert_int_equal(events.count, 2);
    assert_int_equal(events.list[0].header.Flags & EVENT_HEADER_FLAG_STRING_ONLY,
                     EVENT_HEADER_FLAG_STRING_ONLY);
    assert_memory_equal(&events.list[0].header.EventDescriptor, &expected, sizeof expected);
    assert_int_equal(events.list[0].bytes, sizeof u"schön");
    assert_memory_equal(events.list[0].data, u"schön", sizeof u"schön");
    assert_int_equal(events.list[1].bytes, sizeof u"");
    free_modern(&events);
}

static int64_t user_us(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return (int64_t)usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec;
}

/* R106: a session that asks for times gets them, one beside it that does not has none. */
static void r106_times_are_in_the_records_of_the_session_that_asks(void **state)
{
    const etwas_session_options with_times = {.process_times = true};
    etwas_trace_handle with = start_session(folder_path("1.etl"), &with_times);
    etwas_trace_handle without = start_session(folder_path("2.etl"), NULL);
    REGHANDLE provider = begin_modern(NULL);
    struct modern_events events;
    volatile uint64_t work = 1;

    (void)state;
    /* So that the times are not 0: the tick is a millisecond. */
    for (int round = 0; user_us() < 20000 && round < 100000; round++) {
        for (int step = 0; step < 10000; step++) {
            work = work * 3 + 1;
        }
    }
    enable_modern(with, 0, 0, 0);
    enable_modern(without, 0, 0, 0);
    assert_int_equal(write_number(provider, 1, 1, 1), ERROR_SUCCESS);
    stop_session(with, NULL);
    stop_session(without, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    read_modern(folder_path("1.etl"), &events);
    assert_true(events.list[0].header.UserTime >= 20);
    assert_int_equal(events.list[0].header.Flags & EVENT_HEADER_FLAG_NO_CPUTIME, 0);
    free_modern(&events);
    read_modern(folder_path("2.etl"), &events);
    assert_true(events.list[0].header.ProcessorTime == 0);
    free_modern(&events);
}

/* ---- nobody listens -------------------------------------------------------------------------- */

static void r194_without_a_listener_nothing_is_enabled_and_writing_succeeds_at_once(void **state)
{
    etwas_trace_handle session = start_recorder();
    REGHANDLE provider = begin_modern(NULL);

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        assert_false(EventProviderEnabled(provider, 0, 0));
        assert_false(EventEnabled(provider, &full_descriptor));
        /* What is not looked at cannot be wrong. */
        assert_int_equal(EventWriteEx(provider, NULL, 0, 0xFF, NULL, NULL, 999, NULL),
                         ERROR_SUCCESS);
        enable_modern(session, 0, 0, 0);
        assert_true(EventProviderEnabled(provider, 0, 0));
        assert_true(EventEnabled(provider, &full_descriptor));
        assert_false(EventEnabled(provider, NULL));
        disable_modern(session);
    }
    assert_false(EventProviderEnabled(0, 0, 0));
    assert_false(EventEnabled(0, &full_descriptor));
    assert_int_equal(EventWriteEx(0, NULL, 0, 0xFF, NULL, NULL, 999, NULL), ERROR_SUCCESS);
    assert_int_equal(EventWriteString(0, 0, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(0), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).recorded, 0);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(an_event_is_read_back_as_it_was_written),
        FOLDER_TEST(data_of_every_size_and_number_of_blocks_is_recorded),
        FOLDER_TEST(what_is_too_large_is_refused_with_its_own_code_and_counted),
        FOLDER_TEST(what_is_not_valid_is_refused_and_changes_nothing),
        FOLDER_TEST(a_string_is_an_event_of_its_own_kind),
        FOLDER_TEST(r106_times_are_in_the_records_of_the_session_that_asks),
        FOLDER_TEST(r194_without_a_listener_nothing_is_enabled_and_writing_succeeds_at_once),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
