/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * When messages without TRACE_MESSAGE_TIMESTAMP happened: with the event before them, also where a
 * buffer begins with them, and with the session's start where there is none (R110).
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "etl/layout.h"
#include "session/fixture.h"

enum {
    MESSAGES = 400,
    DATA_BYTES = 100,
    A_BUFFER_HOLDS = 4096 / DATA_BYTES,
    STAMPED_EVERY = 2 * A_BUFFER_HOLDS, /* so there are buffers without a stamp */
};

static const etwas_session_options several_buffers = {
    .buffer_size_kb = 4, .minimum_buffers = 64, .maximum_buffers = 128};

struct reading {
    etwas_trace_handle trace;
    etwas_large_integer start;
    uint32_t code;
    int64_t newest;
    uint32_t messages;
    uint32_t events; /* with a stamp of their own */
    uint32_t other_events;
    uint32_t out_of_turn;
    uint32_t backwards;
    uint32_t too_early;
    uint32_t as_the_one_before; /* messages */
};

static void look_at(EVENT_RECORD *record)
{
    struct reading *reading = record->UserContext;
    const EVENT_HEADER *header = &record->EventHeader;
    int64_t time = header->TimeStamp.QuadPart;

    if ((header->Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0) {
        reading->out_of_turn += header->EventDescriptor.Id != reading->messages;
        reading->as_the_one_before += time == reading->newest;
        reading->messages++;
    } else if (memcmp(&header->ProviderId, &event_class, sizeof event_class) == 0) {
        reading->events++;
    } else {
        /* The file's header event. */
        reading->other_events++;
        return;
    }
    reading->backwards += time < reading->newest;
    reading->too_early += time < reading->start.QuadPart;
    reading->newest = time;
}

/* Everything is wanted from the session's start on. */
static void *process(void *argument)
{
    struct reading *reading = argument;
    etwas_filetime start;

    _Static_assert(sizeof start == sizeof reading->start, "the same time");
    memcpy(&start, &reading->start, sizeof start);
    reading->code = ProcessTrace(&reading->trace, 1, &start, NULL);
    return NULL;
}

static void open_reading(struct reading *reading, EVENT_TRACE_LOGFILEW *log)
{
    memset(reading, 0, sizeof *reading);
    log->ProcessTraceMode |= PROCESS_TRACE_MODE_EVENT_RECORD;
    log->EventRecordCallback = look_at;
    log->Context = reading;
    reading->trace = OpenTraceW(log);
    assert_true(reading->trace != INVALID_PROCESSTRACE_HANDLE);
    reading->start = log->LogfileHeader.StartTime;
    assert_true(reading->start.QuadPart != 0);
    reading->newest = reading->start.QuadPart;
}

static void expect_reading(const struct reading *reading, uint32_t events)
{
    assert_int_equal(reading->code, ERROR_SUCCESS);
    assert_int_equal(reading->messages, MESSAGES);
    assert_int_equal(reading->events, events);
    assert_int_equal(reading->out_of_turn, 0);
    assert_int_equal(reading->backwards, 0);
    assert_int_equal(reading->too_early, 0);
    assert_int_equal(reading->as_the_one_before, MESSAGES);
    assert_true(reading->other_events <= 1);
}

/* The same session in real time and in its file. `stamped_every` 0: no event but messages. */
static void expect_times(uint32_t stamped_every)
{
    etwas_session_options options = several_buffers;
    etwas_wchar path[256];
    EVENT_TRACE_LOGFILEW live = {.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME};
    EVENT_TRACE_LOGFILEW file = {.LogFileName = wide_of(folder_path("f.etl"), path, 256)};
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct reading reading;
    pthread_t thread;
    uint8_t data[DATA_BYTES] = {0};
    uint32_t events = 0;

    options.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
    session = start_session(folder_path("f.etl"), &options);
    live.LoggerName = session_name(session);
    open_reading(&reading, &live);
    assert_int_equal(pthread_create(&thread, NULL, process, &reading), 0);
    stay_on_one_processor();
    for (uint32_t number = 0; number < MESSAGES; number++) {
        if (stamped_every != 0 && number % stamped_every == stamped_every / 2) {
            assert_int_equal(log_number(session, number), ERROR_SUCCESS);
            events++;
        }
        assert_int_equal(
            TraceMessage(session, 0, NULL, (uint16_t)number, data, sizeof data, NULL, (size_t)0),
            ERROR_SUCCESS);
    }
    leave_one_processor();
    stop_session(session, &counts);
    assert_true(counts.buffers_written > MESSAGES / A_BUFFER_HOLDS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_reading(&reading, events);
    assert_int_equal(CloseTrace(reading.trace), ERROR_SUCCESS);

    open_reading(&reading, &file);
    (void)process(&reading);
    expect_reading(&reading, events);
    assert_int_equal(CloseTrace(reading.trace), ERROR_SUCCESS);
}

static void r110_an_unstamped_message_is_as_old_as_the_event_before_it_also_in_another_buffer(
    void **state)
{
    (void)state;
    expect_times(STAMPED_EVERY);
}

static void r110_unstamped_messages_alone_are_as_old_as_the_session(void **state)
{
    (void)state;
    expect_times(0);
}

/* The TimeStamp of the first data buffer of a file of 4 KB buffers. */
static int64_t buffer_stamp(const char *path)
{
    struct etwas_etl_buffer_header header;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fseek(file, 4096, SEEK_SET), 0);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    (void)fclose(file);
    return header.time_stamp;
}

/* A message's fields have no fixed places: what is where others have their stamp is not one. */
static void a_snapshot_stamps_a_buffer_of_messages_with_the_time_it_was_made(void **state)
{
    static const etwas_guid guid = {~0u, 0xFFFF, 0x7FFF, {255, 255, 255, 255, 255, 255, 255, 127}};
    static const uint32_t flags[] = {
        TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO,
        TRACE_MESSAGE_GUID,
        TRACE_MESSAGE_SYSTEMINFO,
        TRACE_MESSAGE_COMPONENTID | TRACE_MESSAGE_PERFORMANCE_TIMESTAMP,
        0,
    };
    uint8_t data[DATA_BYTES];

    (void)state;
    memset(data, 0x7F, sizeof data);
    for (size_t row = 0; row < sizeof flags / sizeof flags[0]; row++) {
        etwas_session_options options = several_buffers;
        int64_t before = etwas_clock_read(ETWAS_CLOCK_QPC);
        etwas_trace_handle session;
        int64_t stamp;

        options.log_file_mode = EVENT_TRACE_BUFFERING_MODE;
        session = start_session(NULL, &options);
        stay_on_one_processor();
        assert_int_equal(
            TraceMessage(session, flags[row], &guid, 1, data, sizeof data, NULL, (size_t)0),
            ERROR_SUCCESS);
        leave_one_processor();
        assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
        stop_session(session, NULL);
        stamp = buffer_stamp(folder_path("s.etl"));
        assert_true(before <= stamp && stamp <= etwas_clock_read(ETWAS_CLOCK_QPC));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(
            r110_an_unstamped_message_is_as_old_as_the_event_before_it_also_in_another_buffer),
        FOLDER_TEST(r110_unstamped_messages_alone_are_as_old_as_the_session),
        FOLDER_TEST(a_snapshot_stamps_a_buffer_of_messages_with_the_time_it_was_made),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
