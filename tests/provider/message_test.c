/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * TraceMessage and TraceMessageVa: what they refuse, how long a message may be, what the file has
 * and what a consumer gets (R62, R63, R110). Files are read by the independent walker, too.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "provider/message.h"
#include "session/session.h"

enum {
    ALL_FLAGS = 0xFF,
    MOST_ARGUMENTS = 128,
    FIXED_BYTES = 8 /* size, marker, number, flags */
};

static const char class_text[] = "33333333-0005-0006-0303-030303030303"; /* first_class */
static const char component_text[] = "33333333-0000-0000-0000-000000000000";
static const char no_class_text[] = "00000000-0000-0000-0000-000000000000";

static etwas_trace_handle begin(uint32_t mode, uint32_t buffer_kb)
{
    const etwas_session_options options = {.log_file_mode = mode, .buffer_size_kb = buffer_kb};

    return start_session(folder_path("f.etl"), &options);
}

static bool is_valid(uint32_t flags)
{
    return flags <= ALL_FLAGS &&
           (flags & (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID)) !=
               (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID) &&
           (flags & (TRACE_MESSAGE_POINTER32 | TRACE_MESSAGE_POINTER64)) !=
               (TRACE_MESSAGE_POINTER32 | TRACE_MESSAGE_POINTER64);
}

/* Bytes before the arguments, in a session whose messages have numbers. */
static uint32_t header_bytes(uint32_t flags)
{
    uint32_t bytes = FIXED_BYTES;

    bytes += (flags & TRACE_MESSAGE_SEQUENCE) != 0 ? 4u : 0;
    bytes += (flags & TRACE_MESSAGE_GUID) != 0 ? 16u : 0;
    bytes += (flags & TRACE_MESSAGE_COMPONENTID) != 0 ? 4u : 0;
    bytes +=
        (flags & (TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_PERFORMANCE_TIMESTAMP)) != 0 ? 8u : 0;
    bytes += (flags & TRACE_MESSAGE_SYSTEMINFO) != 0 ? 8u : 0;
    return bytes;
}

static uint32_t log_flags(etwas_trace_handle session, uint32_t flags, uint16_t number,
                          const void *data, size_t bytes)
{
    return TraceMessage(session, flags, &first_class, number, data, bytes, NULL, (size_t)0);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void r110_flags_that_are_not_valid_are_refused_and_nothing_is_recorded(void **state)
{
    etwas_trace_handle session = begin(EVENT_TRACE_USE_LOCAL_SEQUENCE, 64);
    uint64_t recorded = 0;
    etwas_session_counts counts;
    struct messages messages;

    (void)state;
    for (uint32_t flags = 0; flags < 2 * (ALL_FLAGS + 1); flags++) {
        uint32_t code = log_flags(session, flags, 1, "x", 1);

        assert_int_equal(code, is_valid(flags) ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER);
        recorded += code == ERROR_SUCCESS;
    }
    for (uint32_t bit = 8; bit < 32; bit++) {
        assert_int_equal(log_flags(session, TRACE_MESSAGE_SEQUENCE | UINT32_C(1) << bit, 1, "x", 1),
                         ERROR_INVALID_PARAMETER);
    }
    /* A class or component id is asked for, and there is none. */
    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_GUID | TRACE_MESSAGE_SEQUENCE, NULL, 1,
                                  NULL, (size_t)0),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_COMPONENTID | TRACE_MESSAGE_SEQUENCE, NULL,
                                  1, NULL, (size_t)0),
                     ERROR_INVALID_PARAMETER);
    counts = counts_of(session);
    assert_int_equal(counts.recorded, recorded);
    expect_nothing_lost(counts);
    /* R110: nothing that was refused took a number. */
    assert_int_equal(log_flags(session, TRACE_MESSAGE_SEQUENCE, 2, "x", 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    walk_messages(folder_path("f.etl"), &messages);
    assert_int_equal(messages.count, recorded + 1);
    assert_int_equal(messages.items[recorded].number, 2);
    assert_int_equal(messages.items[recorded].sequence, recorded / 2 + 1);
    free_messages(&messages);
}

static void a_handle_that_is_no_running_sessions_is_an_invalid_handle(void **state)
{
    etwas_trace_handle session = begin(EVENT_TRACE_USE_GLOBAL_SEQUENCE, 64);
    const etwas_trace_handle bad[] = {0,
                                      1,
                                      UINT64_MAX,
                                      session + 0x100,
                                      session - 0x100,
                                      session ^ 0xFF,
                                      session | 0xFFull << 56};

    (void)state;
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        assert_int_equal(log_flags(bad[index], 0, 1, "x", 1), ERROR_INVALID_HANDLE);
        assert_int_equal(log_flags(bad[index], TRACE_MESSAGE_SEQUENCE, 1, "x", 1),
                         ERROR_INVALID_HANDLE);
    }
    assert_int_equal(counts_of(session).recorded, 0);
    stop_session(session, NULL);
    assert_int_equal(log_flags(session, TRACE_MESSAGE_SEQUENCE, 1, "x", 1), ERROR_INVALID_HANDLE);
}

/* ---- what is recorded, and what a consumer gets ---------------------------------------------- */

static void expect_walked(const struct message *message, uint32_t flags, uint32_t sequence)
{
    const char *guid = (flags & TRACE_MESSAGE_GUID) != 0          ? class_text
                       : (flags & TRACE_MESSAGE_COMPONENTID) != 0 ? component_text
                                                                  : no_class_text;
    bool has_ids = (flags & TRACE_MESSAGE_SYSTEMINFO) != 0;

    assert_int_equal(message->number, 1000 + flags);
    /* What logs is a 64-bit process, unless it says otherwise of the data. */
    assert_int_equal(message->flags, (flags & TRACE_MESSAGE_POINTER32) != 0
                                         ? flags
                                         : flags | TRACE_MESSAGE_POINTER64);
    assert_int_equal(message->sequence, (flags & TRACE_MESSAGE_SEQUENCE) != 0 ? sequence : 0);
    assert_string_equal(message->guid, guid);
    assert_true(message->has_ids == has_ids);
    assert_int_equal(message->thread, has_ids ? gettid() : 0);
    assert_int_equal(message->process, has_ids ? getpid() : 0);
    assert_int_equal(message->bytes, flags % 7);
    assert_memory_equal(message->data, "abcdefg", flags % 7);
}

static void expect_members(const struct event *event, uint32_t flags, uint32_t sequence)
{
    static const etwas_guid zero;
    const etwas_guid component = {.Data1 = first_class.Data1};
    const EVENT_HEADER *header = &event->record.EventHeader;
    const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
    const etwas_guid *guid = (flags & TRACE_MESSAGE_GUID) != 0          ? &first_class
                             : (flags & TRACE_MESSAGE_COMPONENTID) != 0 ? &component
                                                                        : &zero;
    bool has_ids = (flags & TRACE_MESSAGE_SYSTEMINFO) != 0;
    uint32_t width = (flags & TRACE_MESSAGE_POINTER32) != 0 ? EVENT_HEADER_FLAG_32_BIT_HEADER
                                                            : EVENT_HEADER_FLAG_64_BIT_HEADER;

    assert_int_equal(header->Size, header_bytes(flags) + flags % 7);
    assert_int_equal(header->Flags &
                         (EVENT_HEADER_FLAG_TRACE_MESSAGE | EVENT_HEADER_FLAG_CLASSIC_HEADER |
                          EVENT_HEADER_FLAG_32_BIT_HEADER | EVENT_HEADER_FLAG_64_BIT_HEADER),
                     EVENT_HEADER_FLAG_TRACE_MESSAGE | width);
    assert_int_equal(descriptor->Id, 1000 + flags);
    assert_int_equal(descriptor->Task & ~TRACE_MESSAGE_POINTER64, flags & ~TRACE_MESSAGE_POINTER64);
    assert_int_equal(
        descriptor->Version | descriptor->Channel | descriptor->Level | descriptor->Opcode, 0);
    assert_int_equal(descriptor->Keyword, 0);
    assert_memory_equal(&header->ProviderId, guid, sizeof zero);
    assert_int_equal(header->ThreadId, has_ids ? gettid() : 0);
    assert_int_equal(header->ProcessId, has_ids ? getpid() : 0);
    assert_int_equal(event->instance_items, (flags & TRACE_MESSAGE_SEQUENCE) != 0);
    assert_int_equal(event->instance.InstanceId,
                     (flags & TRACE_MESSAGE_SEQUENCE) != 0 ? sequence : 0);
    assert_int_equal(event->instance.ParentInstanceId, 0);
    assert_int_equal(event->record.UserDataLength, flags % 7);
    assert_memory_equal(event->payload, "abcdefg", flags % 7);
}

static struct {
    EVENT_TRACE event;
    uint8_t data[8];
} old_events[ALL_FLAGS + 1];
static uint32_t old_count;

static void keep_old_event(EVENT_TRACE *event)
{
    if (memcmp(&event->Header.Guid, &EventTraceGuid, sizeof EventTraceGuid) != 0 &&
        old_count <= ALL_FLAGS) {
        old_events[old_count].event = *event;
        memcpy(old_events[old_count].data, event->MofData, event->MofLength % 8);
        old_count++;
    }
}

static void expect_old_members(uint32_t index, uint32_t flags, const struct event *same)
{
    const EVENT_TRACE *event = &old_events[index].event;

    assert_int_equal(event->Header.MarkerFlags, 0x90);
    assert_int_equal(event->Header.Class.Version, 1000 + flags);
    assert_int_equal(event->Header.Class.Type, 0);
    assert_int_equal(event->Header.ThreadId, same->record.EventHeader.ThreadId);
    assert_int_equal(event->Header.ProcessId, same->record.EventHeader.ProcessId);
    assert_memory_equal(&event->Header.Guid, &same->record.EventHeader.ProviderId, 16);
    assert_true(event->Header.TimeStamp.QuadPart == same->record.EventHeader.TimeStamp.QuadPart);
    assert_int_equal(event->InstanceId, same->instance.InstanceId);
    assert_int_equal(event->ParentInstanceId, 0);
    assert_int_equal(event->MofLength, flags % 7);
    assert_memory_equal(old_events[index].data, "abcdefg", flags % 7);
}

static void read_old_events(void)
{
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)folder_path("f.etl")};
    etwas_trace_handle trace;

    old_count = 0;
    file.EventCallback = keep_old_event;
    trace = OpenTraceA(&file);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void r110_each_flag_has_its_field_in_the_file_and_its_member_in_the_event(void **state)
{
    etwas_trace_handle session;
    struct messages messages;
    struct events events;
    uint32_t sequence = 0;
    uint32_t index = 0;

    (void)state;
    stay_on_one_processor();
    session = begin(EVENT_TRACE_USE_LOCAL_SEQUENCE, 64);
    for (uint32_t flags = 0; flags <= ALL_FLAGS; flags++) {
        if (is_valid(flags)) {
            assert_int_equal(
                log_flags(session, flags, (uint16_t)(1000 + flags), "abcdefg", flags % 7),
                ERROR_SUCCESS);
        }
    }
    stop_session(session, NULL);
    leave_one_processor();
    walk_messages(folder_path("f.etl"), &messages);
    read_events(folder_path("f.etl"), 0, &events);
    read_old_events();
    assert_int_equal(messages.others, 0);
    for (uint32_t flags = 0; flags <= ALL_FLAGS; flags++) {
        if (is_valid(flags)) {
            sequence += (flags & TRACE_MESSAGE_SEQUENCE) != 0;
            assert_true(index < messages.count && index < events.count && index < old_count);
            expect_walked(&messages.items[index], flags, sequence);
            expect_members(&events.items[index], flags, sequence);
            expect_old_members(index, flags, &events.items[index]);
            index++;
        }
    }
    assert_int_equal(messages.count, index);
    assert_int_equal(events.count, index);
    assert_int_equal(old_count, index);
    free_messages(&messages);
    free_events(&events);
}

/* R110: the session does not number its messages, so they say that they have no number. */
static void r110_without_a_sequence_mode_a_message_is_recorded_without_its_number(void **state)
{
    const uint32_t flags = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP |
                           TRACE_MESSAGE_SYSTEMINFO;
    etwas_trace_handle session = begin(0, 64);
    struct messages messages;

    (void)state;
    assert_int_equal(log_flags(session, flags, 7, "abc", 3), ERROR_SUCCESS);
    stop_session(session, NULL);
    walk_messages(folder_path("f.etl"), &messages);
    assert_int_equal(messages.count, 1);
    assert_int_equal(messages.items[0].flags,
                     (flags & ~TRACE_MESSAGE_SEQUENCE) | TRACE_MESSAGE_POINTER64);
    assert_string_equal(messages.items[0].guid, class_text);
    assert_int_equal(messages.items[0].bytes, 3);
    assert_memory_equal(messages.items[0].data, "abc", 3);
    free_messages(&messages);
}

/* I2: stamped or not, a message takes its place in the order of its processor. */
static void messages_and_events_are_in_one_order_with_every_clock(void **state)
{
    static const uint32_t kinds[] = {TRACE_MESSAGE_TIMESTAMP, TRACE_MESSAGE_PERFORMANCE_TIMESTAMP,
                                     0, TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_GUID};

    (void)state;
    for (uint32_t clock = ETWAS_CLOCK_QPC; clock <= ETWAS_CLOCK_TSC; clock++) {
        const etwas_session_options options = {.buffer_size_kb = 4, .clock = clock};
        const uint32_t real_clock = etwas_clock_effective(clock);
        etwas_trace_handle session;
        int64_t before;
        int64_t after;
        struct events events;

        stay_on_one_processor();
        session = start_session(folder_path("f.etl"), &options);
        before = etwas_clock_read(real_clock);
        for (uint32_t number = 0; number < 600; number++) {
            if (number % 5 == 0) {
                assert_int_equal(log_number(session, number), ERROR_SUCCESS);
            } else {
                assert_int_equal(
                    log_flags(session, kinds[number % 4], (uint16_t)number, &number, sizeof number),
                    ERROR_SUCCESS);
            }
        }
        after = etwas_clock_read(real_clock);
        stop_session(session, NULL);
        leave_one_processor();
        read_events(folder_path("f.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
        assert_int_equal(events.count, 600);
        for (uint32_t number = 0; number < 600; number++) {
            const struct event *event = &events.items[number];
            int64_t stamp = event->record.EventHeader.TimeStamp.QuadPart;
            uint32_t payload;

            memcpy(&payload, event->payload, sizeof payload);
            assert_int_equal(payload, number);
            assert_true(stamp >= before && stamp <= after);
            /* One without a stamp has the time of the one before it. */
            if (number % 5 != 0 && kinds[number % 4] == 0) {
                assert_true(stamp == event[-1].record.EventHeader.TimeStamp.QuadPart);
            }
        }
        free_events(&events);
    }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* One argument, or two whose sizes would wrap in 32 and in 64 bits. */
static void try_sizes(etwas_trace_handle session, uint32_t flags, const uint8_t *data,
                      uint32_t record_limit, uint64_t *good)
{
    static const size_t far_too_large[] = {65536,        131072,           0x80000000u, 0xFFFFFFFFu,
                                           0x100000000u, SIZE_MAX / 2 + 1, SIZE_MAX};
    uint32_t most = record_limit - header_bytes(flags);

    for (uint32_t bytes = most - 20; bytes <= most + 20; bytes++) {
        uint32_t code = log_flags(session, flags, 1, data, bytes);

        if (code != (bytes <= most ? ERROR_SUCCESS : ERROR_MORE_DATA)) {
            fail_msg("flags 0x%x, %u bytes: code %u", flags, bytes, code);
        }
        *good += code == ERROR_SUCCESS;
    }
    for (size_t index = 0; index < sizeof far_too_large / sizeof far_too_large[0]; index++) {
        assert_int_equal(TraceMessage(session, flags, &first_class, 1, data, far_too_large[index],
                                      data, far_too_large[index], NULL, (size_t)0),
                         ERROR_MORE_DATA);
        assert_int_equal(TraceMessage(session, flags, &first_class, 1, data, (size_t)1, data,
                                      far_too_large[index], NULL, (size_t)0),
                         ERROR_MORE_DATA);
    }
}

static void r62_and_r63_the_largest_message_fits_and_one_byte_more_does_not(void **state)
{
    static const uint32_t buffers_kb[] = {4, 32, 64, 68, 1024};
    static const uint32_t some_flags[] = {0, TRACE_MESSAGE_SEQUENCE,
                                          TRACE_MESSAGE_COMPONENTID | TRACE_MESSAGE_TIMESTAMP,
                                          TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_GUID |
                                              TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO};
    uint8_t *data = malloc(128 * 1024);

    (void)state;
    assert_non_null(data);
    memset(data, 0xA5, 128 * 1024);
    for (size_t index = 0; index < sizeof buffers_kb / sizeof buffers_kb[0]; index++) {
        uint32_t room = buffers_kb[index] * 1024 - 72; /* whole units of 8 bytes */
        uint64_t good = 0;
        uint32_t numbered = 0;
        etwas_trace_handle session = begin(EVENT_TRACE_USE_LOCAL_SEQUENCE, buffers_kb[index]);
        etwas_session_counts counts;
        struct messages messages;

        for (size_t kind = 0; kind < sizeof some_flags / sizeof some_flags[0]; kind++) {
            uint64_t before = good;

            try_sizes(session, some_flags[kind], data, room < 65535 ? room : 65535, &good);
            if ((some_flags[kind] & TRACE_MESSAGE_SEQUENCE) != 0) {
                numbered += (uint32_t)(good - before);
            }
        }
        counts = counts_of(session);
        assert_int_equal(counts.recorded, good);
        assert_int_equal(counts.lost, counts.lost_too_large);
        stop_session(session, NULL);
        walk_messages(folder_path("f.etl"), &messages);
        assert_int_equal(messages.count, good);
        for (size_t at = 0; at < messages.count; at++) {
            /* Numbers have no gaps: those too large took none. */
            assert_true(messages.items[at].sequence <= numbered);
            assert_memory_equal(messages.items[at].data, data, messages.items[at].bytes);
        }
        free_messages(&messages);
    }
    free(data);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Calls TraceMessageVa with the arguments behind `flags`. */
static uint32_t log_list(etwas_trace_handle session, uint16_t number, uint32_t flags, ...)
{
    va_list arguments;
    uint32_t code;

    va_start(arguments, flags);
    code = TraceMessageVa(session, flags, &first_class, number, arguments);
    va_end(arguments);
    return code;
}

#define PAIR(index) data + (index)*step, step
#define PAIRS_4(index) PAIR(index), PAIR((index) + 1), PAIR((index) + 2), PAIR((index) + 3)
#define PAIRS_16(index)                                                                            \
    PAIRS_4(index), PAIRS_4((index) + 4), PAIRS_4((index) + 8), PAIRS_4((index) + 12)
#define PAIRS_64(index)                                                                            \
    PAIRS_16(index), PAIRS_16((index) + 16), PAIRS_16((index) + 32), PAIRS_16((index) + 48)

/* Short lists and long ones, of short arguments and of long ones, whose way is another. */
static uint32_t log_long_lists(etwas_trace_handle session, const uint8_t *data, size_t step)
{
    const uint32_t flags = TRACE_MESSAGE_TIMESTAMP;

    assert_int_equal(log_list(session, 16, flags, PAIRS_16(0), NULL, (size_t)0), ERROR_SUCCESS);
    assert_int_equal(log_list(session, 17, flags, PAIRS_16(0), PAIR(16), NULL, (size_t)0),
                     ERROR_SUCCESS);
    assert_int_equal(log_list(session, 64, flags, PAIRS_64(0), NULL, (size_t)0), ERROR_SUCCESS);
    assert_int_equal(log_list(session, 128, flags, PAIRS_64(0), PAIRS_64(64), NULL, (size_t)0),
                     ERROR_SUCCESS);
    assert_int_equal(
        log_list(session, 129, flags, PAIRS_64(0), PAIRS_64(64), PAIR(128), NULL, (size_t)0),
        ERROR_INVALID_PARAMETER);
    /* Empty arguments do not count. */
    assert_int_equal(log_list(session, 128, flags, data, (size_t)0, PAIRS_64(0), data, (size_t)0,
                              PAIRS_64(64), data, (size_t)0, NULL, (size_t)0),
                     ERROR_SUCCESS);
    return 5;
}

static void r110_up_to_128_arguments_are_recorded_in_order_and_unpadded(void **state)
{
    static const size_t steps[] = {1, 3, 8, 31, 200};
    uint8_t data[(MOST_ARGUMENTS + 1) * 200];
    etwas_trace_handle session = begin(0, 64);
    struct messages messages;
    size_t count = 0;

    (void)state;
    for (size_t index = 0; index < sizeof data; index++) {
        data[index] = (uint8_t)(index * 7 + index / 256);
    }
    for (size_t index = 0; index < sizeof steps / sizeof steps[0]; index++) {
        count += log_long_lists(session, data, steps[index]);
    }
    stop_session(session, NULL);
    walk_messages(folder_path("f.etl"), &messages);
    assert_int_equal(messages.count, count);
    for (size_t index = 0; index < messages.count; index++) {
        const struct message *message = &messages.items[index];

        /* A message's number is its arguments. */
        assert_int_equal(message->bytes % message->number, 0);
        assert_memory_equal(message->data, data, message->bytes);
    }
    free_messages(&messages);
}

static void r110_the_first_null_pointer_ends_the_list_and_empty_arguments_are_nothing(void **state)
{
    etwas_trace_handle session = begin(0, 64);
    const void *const nothing = NULL;
    uint64_t value = 0x0807060504030201;
    struct messages messages;
    struct {
        uint8_t odd;
        etwas_guid guid;
    } __attribute__((packed)) unaligned = {1, first_class};
    const etwas_guid *odd_guid = (const void *)((const uint8_t *)&unaligned + 1);

    (void)state;
    stay_on_one_processor();
    assert_int_equal(TraceMessage(session, 0, NULL, 0, NULL, (size_t)0), ERROR_SUCCESS);
    /* Callers leave the last size out; whatever stands there is not looked at. */
    assert_int_equal(TraceMessage(session, 0, NULL, 0, nothing), ERROR_SUCCESS);
    assert_int_equal(TraceMessage(session, 0, NULL, 0, &value, sizeof value, nothing),
                     ERROR_SUCCESS);
    assert_int_equal(TraceMessage(session, 0, NULL, 0, &value, sizeof value, nothing, SIZE_MAX,
                                  &value, sizeof value, NULL, (size_t)0),
                     ERROR_SUCCESS);
    assert_int_equal(TraceMessage(session, 0, NULL, 0, "", (size_t)0, &value, (size_t)3, "",
                                  (size_t)0, (const uint8_t *)&value + 3, (size_t)5, NULL,
                                  (size_t)0),
                     ERROR_SUCCESS);
    assert_int_equal(TraceMessage(session, TRACE_MESSAGE_GUID, odd_guid, 65535, NULL, (size_t)0),
                     ERROR_SUCCESS);
    stop_session(session, NULL);
    leave_one_processor();
    walk_messages(folder_path("f.etl"), &messages);
    assert_int_equal(messages.count, 6);
    for (size_t index = 0; index < 5; index++) {
        assert_int_equal(messages.items[index].bytes, index < 2 ? 0 : sizeof value);
        assert_memory_equal(messages.items[index].data, &value, messages.items[index].bytes);
    }
    assert_string_equal(messages.items[5].guid, class_text);
    assert_int_equal(messages.items[5].number, 65535);
    free_messages(&messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r110_flags_that_are_not_valid_are_refused_and_nothing_is_recorded),
        FOLDER_TEST(a_handle_that_is_no_running_sessions_is_an_invalid_handle),
        FOLDER_TEST(r110_each_flag_has_its_field_in_the_file_and_its_member_in_the_event),
        FOLDER_TEST(r110_without_a_sequence_mode_a_message_is_recorded_without_its_number),
        FOLDER_TEST(messages_and_events_are_in_one_order_with_every_clock),
        FOLDER_TEST(r62_and_r63_the_largest_message_fits_and_one_byte_more_does_not),
        FOLDER_TEST(r110_up_to_128_arguments_are_recorded_in_order_and_unpadded),
        FOLDER_TEST(r110_the_first_null_pointer_ends_the_list_and_empty_arguments_are_nothing),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
