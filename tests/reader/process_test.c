/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* ProcessTrace and callers that go away under it: their variables, and their threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "builder.h"
#include "collect.h"

/* ---- the caller's variables ------------------------------------------------------------------ */

static etwas_trace_handle variable; /* what ProcessTrace is given the address of */
static etwas_trace_handle put_there;
static uint32_t close_code;

static void close_and_put_another_there(EVENT_RECORD *record)
{
    (void)record;
    if (variable != put_there) {
        close_code = CloseTrace(variable);
        variable = put_there;
    }
}

static etwas_trace_handle open_with(const char *path, PEVENT_RECORD_CALLBACK callback)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path,
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = callback};

    return OpenTraceA(&logfile);
}

static void a_handle_variable_may_change_when_its_trace_is_closed(void **state)
{
    const char *path = put_sound_file(0, 50, true);
    etwas_trace_handle other = open_with(path, NULL);
    const etwas_trace_handle later[] = {INVALID_PROCESSTRACE_HANDLE, other};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        etwas_trace_handle closed = open_with(path, close_and_put_another_there);

        variable = closed;
        put_there = later[i];
        assert_int_equal(ProcessTrace(&variable, 1, NULL, NULL), ERROR_SUCCESS);
        assert_int_equal(close_code, ERROR_CTX_CLOSE_PENDING);
        /* It is this one that is gone, and nothing became of the other. */
        assert_int_equal(CloseTrace(closed), ERROR_INVALID_HANDLE);
    }
    assert_int_equal(ProcessTrace(&other, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(other), ERROR_SUCCESS);
}

/* ---- the caller's thread --------------------------------------------------------------------- */

static etwas_trace_handle traces[2];
static uint32_t buffers;
static uint32_t last_buffer; /* 0: none is */

static uint32_t end_in_the_last(EVENT_TRACE_LOGFILEA *logfile)
{
    (void)logfile;
    if (++buffers == last_buffer) {
        close_code = CloseTrace(traces[0]);
        (void)pthread_cancel(pthread_self());
    }
    return 1;
}

static void *process_both(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)ProcessTrace(traces, 2, NULL, NULL);
}

/* The descriptor that is closed last is a place where a thread may end. */
static void a_thread_cancelled_at_the_end_of_ProcessTrace_releases_every_trace(void **state)
{
    (void)state;
    last_buffer = 0;
    for (int round = 0; round < 2; round++) {
        pthread_t thread;

        for (unsigned i = 0; i < 2; i++) {
            EVENT_TRACE_LOGFILEA logfile = {
                .LogFileName = (char *)(uintptr_t)put_sound_file(i, 50 - i * 10, true),
                .BufferCallback = end_in_the_last};

            traces[i] = OpenTraceA(&logfile);
            assert_true(traces[i] != INVALID_PROCESSTRACE_HANDLE);
        }
        buffers = 0;
        assert_int_equal(pthread_create(&thread, NULL, process_both, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(CloseTrace(traces[0]),
                         last_buffer == 0 ? ERROR_SUCCESS : ERROR_INVALID_HANDLE);
        assert_int_equal(CloseTrace(traces[1]), ERROR_SUCCESS);
        last_buffer = buffers;
    }
    assert_int_equal(close_code, ERROR_CTX_CLOSE_PENDING);
}

/* What a thread got of a call that it began when it was cancelled already. */
struct asker {
    const char *path;
    etwas_trace_handle trace;
    uint32_t query_code;
    uint32_t close_code;
    uint32_t calls; /* that returned */
};

static void *ask_when_cancelled(void *argument)
{
    struct asker *asker = argument;
    etwas_trace_clock clock;

    (void)pthread_cancel(pthread_self());
    asker->trace = open_with(asker->path, NULL);
    asker->calls++;
    asker->query_code = etwas_trace_query_clock(asker->trace, &clock);
    asker->calls++;
    asker->close_code = CloseTrace(asker->trace);
    asker->calls++;
    return NULL;
}

static void a_cancelled_thread_comes_out_of_opening_asking_and_closing(void **state)
{
    struct asker asker = {.path = put_sound_file(0, 50, true)};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, ask_when_cancelled, &asker), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(asker.calls, 3);
    assert_true(asker.trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(asker.query_code, ERROR_SUCCESS);
    assert_int_equal(asker.close_code, ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_variable_may_change_when_its_trace_is_closed),
        cmocka_unit_test(a_thread_cancelled_at_the_end_of_ProcessTrace_releases_every_trace),
        cmocka_unit_test(a_cancelled_thread_comes_out_of_opening_asking_and_closing),
    };

    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
