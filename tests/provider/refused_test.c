/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * I9: an event that a session does not get is counted there with its cause, by whichever function
 * it was written, also where the caller is told nothing; and the other sessions have it (R62, R63,
 * R77, R139).
 */
#include <etwas/TraceLoggingProvider.h>
#include <string.h>

#include "provider/modern.h"

/* The GUID of control_guid. */
TRACELOGGING_DEFINE_PROVIDER(logging, "Etwas.Refused",
                             (0x22222222, 0x0003, 0x0004, 8, 7, 6, 5, 4, 3, 2, 1));

enum {
    FITS_WIDE = 8000,    /* and no buffer of 4 KB */
    FITS_NONE = 65530,   /* no record is so long */
    FITS_WITHOUT = 3940, /* with a stack it does not fit into 4 KB */
    EVENTS = 3,
};

static uint8_t bytes[FITS_NONE];
static etwas_wchar string[FITS_NONE / sizeof(etwas_wchar)];
static REGHANDLE modern;
static TRACEHANDLE classic;
static etwas_handle class_handle;

/* ---- each way to write an event of so many bytes --------------------------------------------- */

typedef uint32_t writing(etwas_trace_handle session, uint32_t size);

static EVENT_DATA_DESCRIPTOR block_of(uint32_t size)
{
    EVENT_DATA_DESCRIPTOR data;

    EventDataDescCreate(&data, bytes, size);
    return data;
}

static uint32_t by_write(etwas_trace_handle session, uint32_t size)
{
    EVENT_DATA_DESCRIPTOR data = block_of(size);

    (void)session;
    return EventWrite(modern, &full_descriptor, 1, &data);
}

static uint32_t by_transfer(etwas_trace_handle session, uint32_t size)
{
    EVENT_DATA_DESCRIPTOR data = block_of(size);

    (void)session;
    return EventWriteTransfer(modern, &full_descriptor, &own_activity, &other_activity, 1, &data);
}

static uint32_t by_ex(etwas_trace_handle session, uint32_t size)
{
    EVENT_DATA_DESCRIPTOR data = block_of(size);

    (void)session;
    return EventWriteEx(modern, &full_descriptor, 0, 0, NULL, NULL, 1, &data);
}

static uint32_t by_string(etwas_trace_handle session, uint32_t size)
{
    uint32_t units = size / (uint32_t)sizeof *string - 1;
    uint32_t code;

    (void)session;
    string[units] = 0;
    code = EventWriteString(modern, 1, 1, string);
    string[units] = 'x';
    return code;
}

/* It says nothing. */
static uint32_t by_macro(etwas_trace_handle session, uint32_t size)
{
    (void)session;
    TraceLoggingWrite(logging, "Event", TraceLoggingBinary(bytes, size, "bytes"));
    return ERROR_SUCCESS;
}

static uint32_t by_event(etwas_trace_handle session, uint32_t size)
{
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD field;
    } event = {
        .header.Size = sizeof event,
        .header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR,
        .header.Guid = event_class,
        .field = {.DataPtr = (uintptr_t)bytes, .Length = size},
    };

    return TraceEvent(session, &event.header);
}

static uint32_t by_instance(etwas_trace_handle session, uint32_t size)
{
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD field;
    } event = {
        .header.Size = sizeof event,
        .header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR,
        .field = {.DataPtr = (uintptr_t)bytes, .Length = size},
    };
    EVENT_INSTANCE_INFO instance = {class_handle, 1};

    return TraceEventInstance(session, &event.header, &instance, NULL);
}

/* What the caller states is too large by itself (R63). */
static uint32_t by_stated_size(etwas_trace_handle session, uint32_t size)
{
    EVENT_TRACE_HEADER *event = (void *)bytes;
    uint32_t code;

    *event = (EVENT_TRACE_HEADER){
        .Size = (uint16_t)size, .Flags = WNODE_FLAG_TRACED_GUID, .Guid = event_class};
    code = TraceEvent(session, event);
    memset(event, 0, sizeof *event);
    return code;
}

static uint32_t by_message(etwas_trace_handle session, uint32_t size)
{
    return TraceMessage(session, TRACE_MESSAGE_GUID, &event_class, 1, bytes, (size_t)size, NULL,
                        (size_t)0);
}

static uint32_t by_numbered_message(etwas_trace_handle session, uint32_t size)
{
    return TraceMessage(session, TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_TIMESTAMP, NULL, 1, bytes,
                        (size_t)size, NULL, (size_t)0);
}

static uint32_t by_argument(etwas_trace_handle session, uint32_t size)
{
    return TraceMessage(session, TRACE_MESSAGE_GUID, &event_class, 1, bytes, (size_t)size + 10,
                        NULL, (size_t)0);
}

static const struct way {
    writing *write;
    bool is_modern;
    bool is_silent;
} ways[] = {
    {by_write, true, false},     {by_transfer, true, false},
    {by_ex, true, false},        {by_string, true, false},
    {by_macro, true, true},      {by_event, false, false},
    {by_instance, false, false}, {by_stated_size, false, false},
    {by_message, false, false},  {by_numbered_message, false, false},
    {by_argument, false, false},
};

/* ---- two sessions ---------------------------------------------------------------------------- */

static etwas_trace_handle start_of(const char *name, uint32_t buffer_size_kb, uint32_t mode)
{
    const etwas_session_options options = {
        .log_file_mode = mode | EVENT_TRACE_USE_LOCAL_SEQUENCE,
        .buffer_size_kb = buffer_size_kb,
        .maximum_buffers = 64,
        .flusher.no_thread = true,
    };
    etwas_trace_handle session = start_session(folder_path(name), &options);

    enable_modern(session, 0, 0, 0);
    return session;
}

static void begin(void)
{
    TRACE_GUID_REGISTRATION registration = {.Guid = &first_class};
    for (size_t unit = 0; unit < sizeof string / sizeof *string; unit++) {
        string[unit] = 'x';
    }
    modern = begin_modern(NULL);
    assert_int_equal(TraceLoggingRegister(logging), 0);
    assert_int_equal(RegisterTraceGuids(ignore_request, NULL, &second_class, 1, &registration, NULL,
                                        NULL, &classic),
                     ERROR_SUCCESS);
    class_handle = registration.RegHandle;
}

static void end(void)
{
    TraceLoggingUnregister(logging);
    assert_int_equal(EventUnregister(modern), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(classic), ERROR_SUCCESS);
}

/* The file says as much, in its header and by cause. */
static void expect_told(const char *name, const etwas_session_counts *counts)
{
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)folder_path(name)};
    etwas_trace_handle trace = OpenTraceA(&file);
    etwas_loss losses[8];
    uint64_t too_large = 0;
    uint32_t count;

    assert_int_not_equal(trace, INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(file.LogfileHeader.EventsLost, counts->lost);
    assert_int_equal(etwas_trace_query_losses(trace, losses, 8, &count), ERROR_SUCCESS);
    for (uint32_t index = 0; index < count; index++) {
        assert_int_equal(losses[index].cause, ETWAS_LOST_TOO_LARGE);
        too_large += losses[index].events;
    }
    assert_int_equal(too_large, counts->lost_too_large);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void stop_and_expect(etwas_trace_handle session, const char *name, uint64_t recorded,
                            uint64_t too_large)
{
    etwas_session_counts counts = counts_of(session);

    assert_int_equal(query_session(session).EventsLost, too_large);
    assert_int_equal(counts.recorded, recorded);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, recorded);
    assert_int_equal(counts.lost_too_large, too_large);
    assert_int_equal(counts.lost, too_large);
    expect_told(name, &counts);
}

/* What is refused by a session alone, or by each of two. */
static uint32_t code_of(const struct way *way, uint32_t size)
{
    if (way->is_silent) {
        return ERROR_SUCCESS;
    }
    return way->is_modern && size == FITS_NONE ? ERROR_ARITHMETIC_OVERFLOW : ERROR_MORE_DATA;
}

static void r63_what_is_too_large_for_a_session_is_counted_there_by_each_way_to_write_it(
    void **state)
{
    static const uint32_t sizes[] = {FITS_WIDE, FITS_NONE};

    (void)state;
    begin();
    for (size_t index = 0; index < sizeof ways / sizeof *ways; index++) {
        for (size_t size = 0; size < 2; size++) {
            etwas_trace_handle narrow = start_of("n.etl", 4, 0);

            for (uint32_t event = 0; event < EVENTS; event++) {
                assert_int_equal(ways[index].write(narrow, sizes[size]),
                                 code_of(&ways[index], sizes[size]));
            }
            stop_and_expect(narrow, "n.etl", 0, EVENTS);
        }
    }
    end();
}

static void r77_what_is_too_large_for_one_session_is_counted_there_and_the_other_has_it(
    void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_INDEPENDENT_SESSION_MODE};

    (void)state;
    begin();
    for (size_t index = 0; index < 4 * sizeof ways / sizeof *ways; index++) {
        const struct way *way = &ways[index / 4];
        uint32_t mode = modes[index % 2];
        bool is_first = index % 4 >= 2;
        etwas_trace_handle before = is_first ? 0 : start_of("w.etl", 64, 0);
        etwas_trace_handle narrow = start_of("n.etl", 4, mode);
        etwas_trace_handle wide = is_first ? start_of("w.etl", 64, 0) : before;
        uint32_t expected =
            mode == 0 && !way->is_silent ? ERROR_MORE_DATA : (uint32_t)ERROR_SUCCESS;

        for (uint32_t event = 0; event < EVENTS && way->is_modern; event++) {
            assert_int_equal(way->write(0, FITS_WIDE), expected);
            assert_int_equal(way->write(0, FITS_NONE), code_of(way, FITS_NONE));
            assert_int_equal(way->write(0, 100), ERROR_SUCCESS);
        }
        stop_and_expect(narrow, "n.etl", way->is_modern ? EVENTS : 0,
                        way->is_modern ? 2 * EVENTS : 0);
        stop_and_expect(wide, "w.etl", way->is_modern ? 2 * EVENTS : 0,
                        way->is_modern ? EVENTS : 0);
    }
    end();
}

/* An event that is wanted with items fits without them: it is recorded, and nothing is lost. */
static void what_fits_without_its_stack_is_not_lost(void **state)
{
    etwas_session_counts counts;
    etwas_trace_handle narrow;

    (void)state;
    begin();
    narrow = start_of("n.etl", 4, 0);
    assert_int_equal(enable_asking(narrow, EVENT_ENABLE_PROPERTY_STACK_TRACE, NULL, 0),
                     ERROR_SUCCESS);
    assert_int_equal(by_write(narrow, FITS_WITHOUT), ERROR_SUCCESS);
    stop_session(narrow, &counts);
    assert_int_equal(counts.recorded, 1);
    expect_nothing_lost(counts);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r63_what_is_too_large_for_a_session_is_counted_there_by_each_way_to_write_it),
        FOLDER_TEST(r77_what_is_too_large_for_one_session_is_counted_there_and_the_other_has_it),
        FOLDER_TEST(what_fits_without_its_stack_is_not_lost),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
