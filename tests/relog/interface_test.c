/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* etwas_relog_…: arguments, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "builder.h"
#include "collect.h"

enum {
    EVENTS = 25
};

static etwas_relogger *relogger;
static etwas_trace_handle trace;
static uint32_t injected[2]; /* code of the last event; how many were taken over */

static void on_record(EVENT_RECORD *record)
{
    injected[0] = etwas_relog_inject(relogger, trace, record);
    injected[1] += injected[0] == ERROR_SUCCESS;
}

static etwas_trace_handle open_trace(uint32_t mode, PEVENT_RECORD_CALLBACK callback)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)put_sound_file(0, EVENTS, false),
        .ProcessTraceMode = mode,
        .EventRecordCallback = callback,
    };
    etwas_trace_handle handle = OpenTraceA(&logfile);

    assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
    return handle;
}

static etwas_trace_handle open_raw(PEVENT_RECORD_CALLBACK callback)
{
    return open_trace(PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP, callback);
}

static int make_file(void)
{
    int file = memfd_create("relogged", MFD_CLOEXEC);

    assert_true(file >= 0);
    return file;
}

static void begin_with(PEVENT_RECORD_CALLBACK callback, int file)
{
    memset(injected, 0, sizeof injected);
    trace = open_raw(callback);
    assert_int_equal(etwas_relog_open(&trace, 1, file, 0, &relogger), ERROR_SUCCESS);
}

static void begin(int file)
{
    begin_with(on_record, file);
}

static void end(int file)
{
    etwas_relog_close(relogger);
    relogger = NULL;
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    close(file);
}

static void every_event_is_in_the_new_file(void **state)
{
    int file = make_file();
    char path[64];

    (void)state;
    begin(file);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(injected[1], EVENTS + 1); /* the log file header's too */
    assert_int_equal(etwas_relog_finish(relogger, true), ERROR_SUCCESS);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    run_file(path);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.information.events, EVENTS);
    assert_int_equal(collected.damage_count, 0);
    for (uint32_t i = 0; i < EVENTS; i++) {
        assert_int_equal(collected.events[1 + i].number, i + 1);
    }
    end(file);
}

static void what_cannot_be_opened_gets_its_code(void **state)
{
    etwas_trace_handle traces[1025] = {open_raw(on_record)};
    etwas_trace_handle other = open_trace(PROCESS_TRACE_MODE_EVENT_RECORD, on_record);
    etwas_relogger *made = NULL;
    int file = make_file();

    (void)state;
    assert_int_equal(etwas_relog_open(NULL, 1, file, 0, &made), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_open(traces, 1, file, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_open(traces, 0, file, 0, &made), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_open(traces, 1025, file, 0, &made), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_open(traces, 1, file, 2, &made), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_open(&other, 1, file, 0, &made), ERROR_INVALID_PARAMETER);
    assert_int_equal(CloseTrace(other), ERROR_SUCCESS);
    assert_int_equal(etwas_relog_open(&other, 1, file, 0, &made), ERROR_INVALID_HANDLE);
    assert_null(made);
    assert_int_equal(CloseTrace(traces[0]), ERROR_SUCCESS);
    etwas_relog_close(NULL);
    close(file);
}

static void what_no_trace_gave_is_refused(void **state)
{
    uint8_t payload[16] = {0};
    const EVENT_RECORD made_up = {
        .EventHeader.Size = sizeof payload, .UserData = payload + 8, .UserDataLength = 8};
    int file = make_file();

    (void)state;
    begin(file);
    assert_int_equal(etwas_relog_inject(relogger, trace, &made_up), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_inject(relogger, trace, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_inject(NULL, trace, &made_up), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_describe(relogger, 31, payload, 8), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_describe(relogger, 32, NULL, 8), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_describe(relogger, 32, payload, 65536), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_gap(NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_finish(NULL, true), ERROR_INVALID_PARAMETER);
    end(file);
}

static void on_record_of_no_processor(EVENT_RECORD *record)
{
    record->BufferContext.ProcessorIndex = 2048;
    on_record(record);
}

/* What a callback writes into the event that it is given, too. */
static void a_processor_that_no_file_can_have_is_refused(void **state)
{
    int file = make_file();

    (void)state;
    begin_with(on_record_of_no_processor, file);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(injected[0], ERROR_INVALID_PARAMETER);
    assert_int_equal(injected[1], 0);
    end(file);
}

static void events_of_another_trace_are_refused(void **state)
{
    etwas_trace_handle ours;
    int file = make_file();

    (void)state;
    begin(file);
    ours = trace;
    trace = open_raw(on_record);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(injected[0], ERROR_INVALID_HANDLE);
    assert_int_equal(injected[1], 0);
    assert_int_equal(CloseTrace(ours), ERROR_SUCCESS);
    end(file);
}

static void nothing_is_added_to_what_is_finished(void **state)
{
    int file = make_file();

    (void)state;
    begin(file);
    assert_int_equal(etwas_relog_finish(relogger, true), ERROR_SUCCESS);
    assert_int_equal(etwas_relog_finish(relogger, true), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_relog_gap(relogger), ERROR_INVALID_PARAMETER);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(injected[0], ERROR_INVALID_PARAMETER);
    end(file);
}

static void a_file_that_cannot_be_written_is_reported(void **state)
{
    int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    int unwritable = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    assert_true(full >= 0 && unwritable >= 0);
    begin(full);
    assert_int_equal(etwas_relog_finish(relogger, true), ERROR_DISK_FULL);
    end(full);
    begin(unwritable);
    assert_int_equal(etwas_relog_finish(relogger, true), ERROR_WRITE_FAULT);
    end(unwritable);
}

/* More of one event than memory takes. */
static void on_record_often(EVENT_RECORD *record)
{
    enum {
        TIMES = 50000
    };

    for (int i = 0; i < TIMES && injected[0] == ERROR_SUCCESS; i++) {
        on_record(record);
    }
}

static void a_file_without_what_could_not_be_taken_over_is_not_made(void **state)
{
    int file = make_file();

    (void)state;
    begin_with(on_record_often, file);
    assert_int_equal(setenv("TMPDIR", "/no/such/folder", 1), 0);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_int_equal(injected[0], ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_relog_gap(relogger), ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_relog_finish(relogger, true), ERROR_PATH_NOT_FOUND);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    end(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_in_the_new_file),
        cmocka_unit_test(what_cannot_be_opened_gets_its_code),
        cmocka_unit_test(what_no_trace_gave_is_refused),
        cmocka_unit_test(a_processor_that_no_file_can_have_is_refused),
        cmocka_unit_test(events_of_another_trace_are_refused),
        cmocka_unit_test(nothing_is_added_to_what_is_finished),
        cmocka_unit_test(a_file_that_cannot_be_written_is_reported),
        cmocka_unit_test(a_file_without_what_could_not_be_taken_over_is_not_made),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
