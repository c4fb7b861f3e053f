/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Callbacks for the events of one class, and what an open trace says of itself.
 */
#include <etwas/evntprov.h>
#include <string.h>

#include "session/fixture.h"

enum {
    EVENTS = 5,
    MANY_CLASSES = 20
};

static uint32_t of_class;    /* events that the class's callback got */
static uint32_t of_other;    /* events that another callback of the class got */
static uint32_t of_trace;    /* events of event_class that the trace's own callback got */
static uint64_t last_number; /* what the newest says */

static void record_class_event(const EVENT_TRACE *event)
{
    assert_memory_equal(&event->Header.Guid, &event_class, sizeof event_class);
    assert_int_equal(event->Header.Class.Type, 10);
    assert_int_equal(event->MofLength, sizeof last_number);
    memcpy(&last_number, event->MofData, sizeof last_number);
}

static void on_class(EVENT_TRACE *event)
{
    record_class_event(event);
    of_class++;
}

static void on_class_too(EVENT_TRACE *event)
{
    record_class_event(event);
    of_other++;
}

static void on_event(EVENT_TRACE *event)
{
    if (memcmp(&event->Header.Guid, &event_class, sizeof event_class) == 0) {
        assert_int_equal(of_class, of_trace); /* the trace's own comes first */
        of_trace++;
    }
}

static void on_record(EVENT_RECORD *event)
{
    if (memcmp(&event->EventHeader.ProviderId, &event_class, sizeof event_class) == 0) {
        of_trace++;
    }
}

/* EVENTS classic events of event_class, and as many of a modern provider with first_class. */
static void write_file(const char *path)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 1};
    etwas_trace_handle session = start_session(path, &small_session);
    REGHANDLE provider;

    assert_int_equal(EventRegister(&first_class, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_int_equal(
        EnableTraceEx2(session, &first_class, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0, 0, NULL),
        ERROR_SUCCESS);
    for (uint64_t number = 1; number <= EVENTS; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        assert_int_equal(EventWrite(provider, &descriptor, 0, NULL), ERROR_SUCCESS);
    }
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

static void process(EVENT_TRACE_LOGFILEA *logfile)
{
    etwas_trace_handle trace = OpenTraceA(logfile);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    of_class = of_other = of_trace = 0;
    last_number = 0;
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void the_callback_of_a_class_gets_its_classic_events_beside_the_traces_own(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)folder_path("f.etl")};

    (void)state;
    write_file(logfile.LogFileName);
    assert_int_equal(SetTraceCallback(&event_class, on_class), ERROR_SUCCESS);
    assert_int_equal(SetTraceCallback(&first_class, on_class), ERROR_SUCCESS); /* modern: none */
    process(&logfile);
    assert_int_equal(of_class, EVENTS);
    assert_int_equal(last_number, EVENTS);

    logfile.EventCallback = on_event;
    process(&logfile);
    assert_int_equal(of_class, EVENTS);
    assert_int_equal(of_trace, EVENTS);

    logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
    logfile.EventRecordCallback = on_record;
    process(&logfile);
    assert_int_equal(of_class, EVENTS);
    assert_int_equal(of_trace, EVENTS);

    assert_int_equal(RemoveTraceCallback(&event_class), ERROR_SUCCESS);
    process(&logfile);
    assert_int_equal(of_class, 0);
    assert_int_equal(of_trace, EVENTS);
    assert_int_equal(RemoveTraceCallback(&first_class), ERROR_SUCCESS);
}

static void the_last_callback_set_for_a_class_is_the_one(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)folder_path("f.etl")};

    (void)state;
    write_file(logfile.LogFileName);
    assert_int_equal(SetTraceCallback(&event_class, on_class), ERROR_SUCCESS);
    assert_int_equal(SetTraceCallback(&event_class, on_class_too), ERROR_SUCCESS);
    process(&logfile);
    assert_int_equal(of_class, 0);
    assert_int_equal(of_other, EVENTS);
    assert_int_equal(RemoveTraceCallback(&event_class), ERROR_SUCCESS);
    assert_int_equal(RemoveTraceCallback(&event_class), ERROR_WMI_GUID_NOT_FOUND);
    process(&logfile);
    assert_int_equal(of_class + of_other, 0);
}

static void callbacks_of_many_classes_are_kept_and_removed_one_by_one(void **state)
{
    etwas_guid classes[MANY_CLASSES];

    (void)state;
    assert_int_equal(SetTraceCallback(NULL, on_class), ERROR_INVALID_PARAMETER);
    assert_int_equal(SetTraceCallback(&event_class, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(RemoveTraceCallback(NULL), ERROR_INVALID_PARAMETER);
    for (uint32_t index = 0; index < MANY_CLASSES; index++) {
        classes[index] = event_class;
        classes[index].Data1 += index + 1;
        assert_int_equal(SetTraceCallback(&classes[index], on_class), ERROR_SUCCESS);
    }
    for (uint32_t index = 0; index < MANY_CLASSES; index++) {
        assert_int_equal(RemoveTraceCallback(&classes[index]), ERROR_SUCCESS);
        assert_int_equal(RemoveTraceCallback(&classes[index]), ERROR_WMI_GUID_NOT_FOUND);
    }
}

/* ---- QueryTraceProcessingHandle -------------------------------------------------------------- */

static void an_open_trace_tells_its_header_and_that_it_is_of_the_host(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)folder_path("f.etl")};
    TRACE_LOGFILE_HEADER header;
    ETW_TRACE_PARTITION_INFORMATION partition;
    ETW_TRACE_PARTITION_INFORMATION_V2 partition_v2;
    const ETW_TRACE_PARTITION_INFORMATION none = {0};
    etwas_trace_handle trace;
    uint32_t bytes = 0;

    (void)state;
    write_file(logfile.LogFileName);
    trace = OpenTraceA(&logfile);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(
        QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, NULL, 0, &bytes),
        ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(bytes, sizeof header);
    assert_int_equal(QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, &header,
                                                sizeof header, &bytes),
                     ERROR_SUCCESS);
    assert_memory_equal(&header, &logfile.LogfileHeader, sizeof header);

    memset(&partition, 0xA5, sizeof partition);
    assert_int_equal(QueryTraceProcessingHandle(trace, EtwQueryPartitionInformation, NULL, 0,
                                                &partition, sizeof partition, &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(bytes, sizeof partition);
    assert_memory_equal(&partition, &none, sizeof none);
    assert_int_equal(QueryTraceProcessingHandle(trace, EtwQueryPartitionInformationV2, NULL, 0,
                                                &partition_v2, sizeof partition_v2, &bytes),
                     ERROR_SUCCESS);
    assert_null(partition_v2.PartitionId);

    assert_int_equal(QueryTraceProcessingHandle(trace, EtwQueryLastDroppedTimes, NULL, 0, &header,
                                                sizeof header, &bytes),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, &header,
                                                sizeof header, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, NULL,
                                                sizeof header, &bytes),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, &header,
                                                sizeof header, &bytes),
                     ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_callback_of_a_class_gets_its_classic_events_beside_the_traces_own),
        FOLDER_TEST(the_last_callback_set_for_a_class_is_the_one),
        cmocka_unit_test(callbacks_of_many_classes_are_kept_and_removed_one_by_one),
        FOLDER_TEST(an_open_trace_tells_its_header_and_that_it_is_of_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
