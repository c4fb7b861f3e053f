/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Controllers whose threads are cancelled: a call that has begun is done, and nothing stays locked.
 * And readers that are cancelled: nothing waits for them for ever.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "session/fixture.h"

static const etwas_session_options set_of_files = {
    .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
    .maximum_file_size = 1,
    .buffer_size_kb = 4,
};

struct call {
    const char *name;
    uint32_t (*make)(struct call *call);
    etwas_trace_handle *session;
    uint32_t code;
    bool returned;
};

static uint32_t start(struct call *call)
{
    return etwas_start("a session", folder_path("a%d.etl"), &set_of_files, call->session);
}

static uint32_t ask_for_its_memory(struct call *call)
{
    etwas_session_memory memory;

    return etwas_memory(*call->session, &memory);
}

static uint32_t flush(struct call *call)
{
    return etwas_flush(*call->session);
}

static uint32_t control(struct call *call, const char *file, uint32_t control_code)
{
    struct block block;

    prepare_block(&block, file);
    return ControlTraceA(*call->session, NULL, &block.properties, control_code);
}

static uint32_t go_on_with_the_next_file(struct call *call)
{
    return control(call, NULL, EVENT_TRACE_CONTROL_INCREMENT_FILE);
}

static uint32_t go_on_with_another_file(struct call *call)
{
    return control(call, folder_path("b%d.etl"), EVENT_TRACE_CONTROL_UPDATE);
}

static uint32_t stop(struct call *call)
{
    return etwas_stop(*call->session, NULL);
}

static uint32_t start_recording(struct call *call)
{
    return etwas_start("a recorder", NULL, &small_recorder, call->session);
}

static uint32_t write_snapshot(struct call *call)
{
    return etwas_snapshot(*call->session, folder_path("snapshot.etl"));
}

static void *call_when_cancelled(void *argument)
{
    struct call *call = argument;

    (void)pthread_cancel(pthread_self());
    call->code = call->make(call);
    call->returned = true;
    pthread_testcancel();
    call->code = ERROR_CANCELLED;
    return NULL;
}

static void a_call_of_a_cancelled_thread_is_done_before_the_thread_ends(void **state)
{
    etwas_trace_handle session;
    struct call calls[] = {
        {.name = "start", .make = start},
        {.name = "memory", .make = ask_for_its_memory},
        {.name = "flush", .make = flush},
        {.name = "next file", .make = go_on_with_the_next_file},
        {.name = "other file", .make = go_on_with_another_file},
        {.name = "stop", .make = stop},
        {.name = "start recording", .make = start_recording},
        {.name = "snapshot", .make = write_snapshot},
        {.name = "stop recording", .make = stop},
    };

    (void)state;
    for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) {
        struct call *call = &calls[index];
        pthread_t thread;

        call->session = &session;
        assert_int_equal(pthread_create(&thread, NULL, call_when_cancelled, call), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        if (!call->returned || call->code != ERROR_SUCCESS) {
            fail_msg("%s: %s, code %u", call->name, call->returned ? "returned" : "ended inside",
                     call->code);
        }
        if (call->make != stop) {
            assert_int_equal(log_number(session, index), ERROR_SUCCESS);
        }
    }
    assert_int_equal(count_events(folder_path("a1.etl")), 3);
    assert_int_equal(count_events(folder_path("a2.etl")), 1);
    assert_int_equal(count_events(folder_path("b1.etl")), 1);
    assert_int_equal(count_events(folder_path("snapshot.etl")), 1);
}

/* OpenTrace came before the session, so it is ProcessTrace that connects. */
static void *process_when_cancelled(void *trace)
{
    (void)pthread_cancel(pthread_self());
    (void)ProcessTrace(trace, 1, NULL, NULL);
    return NULL;
}

static void what_waits_for_a_reader_that_is_cancelled_before_it_reads_is_counted(void **state)
{
    enum {
        EVENTS = 100
    };
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
                                           .buffer_size_kb = 4};
    EVENT_TRACE_LOGFILEA logfile = {.LoggerName = (char[]){"read by nobody"},
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME};
    etwas_trace_handle trace = OpenTraceA(&logfile);
    etwas_trace_handle session;
    etwas_session_counts counts;
    struct belongings before;
    pthread_t thread;

    (void)state;
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    before = count_belongings();
    assert_int_equal(etwas_start("read by nobody", NULL, &options, &session), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, process_when_cancelled, &trace), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    for (uint64_t number = 0; number < EVENTS; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.lost_undelivered, EVENTS);
    assert_int_equal(counts.recorded, 0);
    assert_nothing_gained(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_call_of_a_cancelled_thread_is_done_before_the_thread_ends),
        FOLDER_TEST(what_waits_for_a_reader_that_is_cancelled_before_it_reads_is_counted),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
