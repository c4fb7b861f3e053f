/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * fork, _Fork, exec, signal handlers, threads that end: what a process does to itself while it is
 * traced (I7).
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/interrupt.h"
#include "platform/testpoint.h"
#include "session/fixture.h"
#include "support/hold.h"
#include "support/readback.h"
#include "support/writer.h"

enum {
    CHILD_SECONDS = 60
};

/* A child that hangs is killed, which fails the test. */
static void limit_child(void)
{
    (void)alarm(CHILD_SECONDS);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static etwas_trace_handle parents_session;
static EVENT_INSTANCE_INFO parents_instance;
static etwas_handle class_handle;

static uint32_t ignore_request(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                               void *buffer)
{
    (void)request;
    (void)context;
    (void)bytes;
    (void)buffer;
    return ERROR_SUCCESS;
}

static uint32_t log_instance(etwas_trace_handle session, EVENT_INSTANCE_INFO *instance)
{
    EVENT_INSTANCE_HEADER header = {.Size = sizeof header};

    header.Flags = WNODE_FLAG_TRACED_GUID;
    return TraceEventInstance(session, &header, instance, NULL);
}

static void live_as_child(void)
{
    /* A sanitizer does not let a child start threads. */
    const etwas_session_options options = {.flusher.no_thread = FIXTURE_SANITIZER};
    struct block query;
    etwas_trace_handle own = 0;
    etwas_session_memory memory;
    EVENT_INSTANCE_INFO instance;

    limit_child();
    prepare_block(&query, "");
    CHECK_IN_CHILD(log_number(parents_session, 666) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(log_instance(parents_session, &parents_instance) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(QueryTraceA(parents_session, NULL, &query.properties) ==
                   ERROR_WMI_INSTANCE_NOT_FOUND);
    CHECK_IN_CHILD(QueryTraceA(0, "family", &query.properties) == ERROR_WMI_INSTANCE_NOT_FOUND);
    CHECK_IN_CHILD(StopTraceA(parents_session, NULL, &query.properties) ==
                   ERROR_WMI_INSTANCE_NOT_FOUND);
    CHECK_IN_CHILD(etwas_flush(parents_session) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(etwas_memory(parents_session, &memory) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(!has_open(folder_path("parent.etl")));

    /* The same name, another file. Classes that were registered still are. */
    CHECK_IN_CHILD(etwas_start("family", folder_path("child.etl"), &options, &own) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(own != 0 && own != parents_session);
    CHECK_IN_CHILD(log_number(parents_session, 666) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(log_number(own, (uint64_t)gettid()) == ERROR_SUCCESS);
    CHECK_IN_CHILD(CreateTraceInstanceId(class_handle, &instance) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_instance(own, &instance) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(1, 7, 7, &control_guid, own) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(own, NULL) == ERROR_SUCCESS);
    _exit(0);
}

/* The child is made by a thread that has logged before, and has other ids than that thread. */
static void *log_and_fork_a_child(void *argument)
{
    pid_t *child = argument;

    (void)log_number(parents_session, 2);
    *child = fork();
    if (*child == 0) {
        live_as_child();
    }
    return NULL;
}

static void expect_childs_file(pid_t child)
{
    struct events events;

    read_events(folder_path("child.etl"), 0, &events);
    assert_int_equal(events.count, 2);
    assert_int_equal(number_of(&events.items[0]), child);
    for (size_t index = 0; index < 2; index++) {
        assert_int_equal(events.items[index].record.EventHeader.ThreadId, child);
        assert_int_equal(events.items[index].record.EventHeader.ProcessId, child);
    }
    free_events(&events);
}

static void a_childs_sessions_are_its_own_and_the_parents_go_on(void **state)
{
    TRACE_GUID_REGISTRATION classes[] = {{.Guid = &first_class}};
    etwas_trace_handle registration;
    const etwas_provider *provider;
    struct block block;
    pthread_t thread;
    pid_t child = -1;
    struct events events;

    (void)state;
    assert_int_equal(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 1, classes, NULL,
                                         NULL, &registration),
                     ERROR_SUCCESS);
    class_handle = classes[0].RegHandle;
    assert_int_equal(CreateTraceInstanceId(class_handle, &parents_instance), ERROR_SUCCESS);
    prepare_block(&block, folder_path("parent.etl"));
    parents_session = start_block("family", &block);
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, parents_session), ERROR_SUCCESS);
    provider = etwas_provider_of(registration);
    assert_true(etwas_enabled(provider, 1, 1));
    assert_int_equal(log_number(parents_session, 1), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, log_and_fork_a_child, &child), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(exit_code_of(child), 0);
    expect_childs_file(child);

    /* Nothing of this reached the parent. */
    assert_true(etwas_enabled(provider, 1, 1));
    assert_int_equal(log_number(parents_session, 3), ERROR_SUCCESS);
    stop_session(parents_session, NULL);
    read_events(folder_path("parent.etl"), 0, &events);
    assert_int_equal(events.count, 3);
    for (size_t index = 0; index < 3; index++) {
        assert_int_equal(number_of(&events.items[index]), index + 1);
        assert_int_equal(events.items[index].record.EventHeader.ProcessId, getpid());
    }
    assert_int_equal(events.items[0].record.EventHeader.ThreadId, gettid());
    assert_int_not_equal(events.items[1].record.EventHeader.ThreadId, gettid());
    free_events(&events);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/*
 * Without the handlers of pthread_atfork nothing is told to the library: the kernel wiped the
 * gates.
 */
static void a_raw_forks_child_gets_an_error_and_writes_into_no_buffer(void **state)
{
    const char *path = folder_path("f.etl");
    int release[2];
    int ready[2];
    char byte = 0;
    pid_t child;

    (void)state;
    parents_session = start_session(path, NULL);
    assert_int_equal(log_number(parents_session, 1), ERROR_SUCCESS);
    assert_int_equal(pipe2(release, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    child = _Fork();
    if (child == 0) {
        limit_child();
        for (uint64_t number = 0; number < 10000; number++) {
            CHECK_IN_CHILD(log_number(parents_session, number) == ERROR_INVALID_HANDLE);
        }
        CHECK_IN_CHILD(write(ready[1], &byte, 1) == 1);
        CHECK_IN_CHILD(read(release[0], &byte, 1) == 1);
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(log_number(parents_session, 2), ERROR_SUCCESS);
    stop_session(parents_session, NULL);
    /* The child still holds a copy of the descriptor, and with it no lock on the file. */
    assert_int_equal(count_events(path), 2);
    stop_session(start_session(path, NULL), NULL);
    assert_int_equal(write(release[1], &byte, 1), 1);
    assert_int_equal(exit_code_of(child), 0);
    for (int end = 0; end < 2; end++) {
        (void)close(release[end]);
        (void)close(ready[end]);
    }
}

static pid_t forked_at_point;
static bool may_fork;

static void fork_in_the_record(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_RESERVED && may_fork) {
        may_fork = false;
        forked_at_point = fork();
    }
}

/*
 * As a signal handler could, in a shared slot: both copies of the writer go on inside the record.
 */
static void a_fork_in_the_middle_of_a_record_harms_neither_side(void **state)
{
    const char *path = folder_path("f.etl");
    etwas_session_counts counts;
    uint32_t code;

    (void)state;
    parents_session = start_shared_session(path, NULL);
    assert_int_equal(log_number(parents_session, 1), ERROR_SUCCESS);
    may_fork = true;
    etwas_testpoint_set(fork_in_the_record);
    code = log_number(parents_session, 2);
    etwas_testpoint_set(NULL);
    if (forked_at_point == 0) {
        limit_child();
        CHECK_IN_CHILD(log_number(parents_session, 3) == ERROR_INVALID_HANDLE);
        CHECK_IN_CHILD(etwas_counts(parents_session, &counts) == ERROR_INVALID_HANDLE);
        _exit(0);
    }
    assert_true(forked_at_point > 0);
    assert_int_equal(exit_code_of(forked_at_point), 0);
    assert_int_equal(code, ERROR_SUCCESS);
    stop_session(parents_session, &counts);
    assert_int_equal(counts.recorded, 2);
    assert_int_equal(count_events(path), 2);
}

static void fork_now(void *child)
{
    *(pid_t *)child = fork();
}

/* A handler that interrupts the step at the point and forks; the call goes on in both processes. */
static void fork_inside(enum sequence_step step, uint32_t point, bool recorder)
{
    enum {
        PAYLOAD = 400, /* long enough to be interrupted in the middle of its copy */
        EVENTS = 2000
    };
    const etwas_session_options options = {
        .log_file_mode = recorder ? EVENT_TRACE_BUFFERING_MODE : EVENT_TRACE_FILE_MODE_NONE,
        .buffer_size_kb = 4,
        .maximum_buffers = 8,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .flusher.no_thread = true,
    };
    const char *path = folder_path("f.etl");
    etwas_trace_handle session = start_session(recorder ? NULL : path, &options);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = EVENTS});
    pid_t child = -1;
    struct interruptions plan = {.session = session,
                                 .step = step,
                                 .point = point,
                                 .most = 1,
                                 .act = fork_now,
                                 .context = &child};
    etwas_session_counts counts;
    uint32_t code = ERROR_SUCCESS;

    interruptions_begin(&plan);
    while (plan.total == 0 && code != ERROR_MORE_DATA) {
        interruptions_arm_quick();
        code = writer_log_bytes(writer, PAYLOAD);
    }
    interruptions_end();
    if (child == 0) {
        limit_child();
        CHECK_IN_CHILD(code == ERROR_INVALID_HANDLE);
        CHECK_IN_CHILD(log_number(session, 3) == ERROR_INVALID_HANDLE);
        CHECK_IN_CHILD(etwas_counts(session, &counts) == ERROR_INVALID_HANDLE);
        _exit(0);
    }
    if (child < 0) {
        fail_msg("%s was not interrupted at point %u", sequence_step_name(step), point);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_int_equal(code, step == STEP_LOST ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS);
    assert_int_equal(writer_log_bytes(writer, PAYLOAD), code);
    if (recorder) {
        expect_recorder_is_exact(session, path);
    }
    stop_session(session, &counts);
    if (!recorder) {
        expect_file_reads_back(session, path, &counts);
    }
    writers_forget();
}

/*
 * I7: the copies of what was inherited are as they were, whichever step of a writer was under way.
 */
static void a_fork_inside_any_sequence_harms_neither_side(void **state)
{
    (void)state;
    skip_without_sequences();
    interruptions_prepare();
    for (int recorder = 0; recorder <= 1; recorder++) {
        for (enum sequence_step step = 0; step < STEPS; step++) {
            uint32_t last = sequence_last_point(step);

            for (uint32_t point = sequence_first_point(step);
                 sequence_happens(step, recorder != 0) && point <= last; point++) {
                fork_inside(step, point, recorder != 0);
            }
        }
    }
}

static void between_fork_and_exec_logging_is_refused_and_no_file_is_inherited(void **state)
{
    const char *path = folder_path("f.etl");
    struct writers writers;
    struct writer_options writing;
    etwas_session_counts counts;

    (void)state;
    parents_session = start_session(path, NULL);
    writing = (struct writer_options){.session = parents_session, .largest_payload = 64};
    writers_start(&writers, 2, &writing);
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();

        if (child == 0) {
            limit_child();
            /* Only async-signal-safe calls are allowed here: TraceEvent is one. */
            CHECK_IN_CHILD(log_number(parents_session, 1) == ERROR_INVALID_HANDLE);
            (void)execl("/bin/sh", "sh", "-c", "! ls -l /proc/$$/fd 2>&1 | grep -q 'f[.]etl'",
                        NULL);
            _exit(2);
        }
        assert_int_equal(exit_code_of(child), 0);
    }
    writers_end(&writers);
    writers_join(&writers);
    stop_session(parents_session, &counts);
    expect_exact_account(parents_session, &counts);
}

/* ---- fork while other threads hold every lock ------------------------------------------------ */

static uint32_t rest;

static void *start_and_stop_always(void *argument)
{
    (void)argument;
    while (ck_pr_load_32(&rest) == 0) {
        etwas_trace_handle session = 0;

        (void)etwas_start("always", NULL, &small_recorder, &session);
        (void)log_number(session, 1);
        (void)EnableTrace(1, 1, 1, &control_guid, session);
        (void)etwas_snapshot(session, "/dev/full");
        (void)etwas_stop(session, NULL);
    }
    return NULL;
}

static void *register_always(void *argument)
{
    (void)argument;
    while (ck_pr_load_32(&rest) == 0) {
        etwas_trace_handle registration;

        (void)RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 0, NULL, NULL, NULL,
                                  &registration);
        (void)UnregisterTraceGuids(registration);
    }
    return NULL;
}

static void a_child_made_at_any_moment_can_trace(void **state)
{
    enum {
        CHILDREN = 40
    };
    pthread_t threads[2];

    (void)state;
    ck_pr_store_32(&rest, 0);
    assert_int_equal(pthread_create(&threads[0], NULL, start_and_stop_always, NULL), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, register_always, NULL), 0);
    for (int round = 0; round < CHILDREN; round++) {
        pid_t child = fork();

        if (child == 0) {
            etwas_session_options options = small_session;
            etwas_trace_handle session;
            etwas_trace_handle registration;
            etwas_session_counts counts;

            limit_child();
            options.flusher.no_thread = FIXTURE_SANITIZER;
            CHECK_IN_CHILD(etwas_start("mine", folder_path("child.etl"), &options, &session) ==
                           ERROR_SUCCESS);
            CHECK_IN_CHILD(log_number(session, 1) == ERROR_SUCCESS);
            CHECK_IN_CHILD(EnableTrace(1, 1, 1, &control_guid, session) == ERROR_SUCCESS);
            CHECK_IN_CHILD(RegisterTraceGuidsA(ignore_request, NULL, &control_guid, 0, NULL, NULL,
                                               NULL, &registration) == ERROR_SUCCESS);
            CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
            CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
            CHECK_IN_CHILD(counts.recorded == 1);
            _exit(0);
        }
        assert_int_equal(exit_code_of(child), 0);
        assert_int_equal(count_events(folder_path("child.etl")), 1);
    }
    ck_pr_store_32(&rest, 1);
    for (int index = 0; index < 2; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
}

/* ---- signal handlers ------------------------------------------------------------------------- */

static struct writer *handlers_writer;

static void log_in_handler(int number)
{
    (void)number;
    (void)writer_log(handlers_writer);
}

/* The handler interrupts the writer anywhere, also inside TraceEvent, and logs to the same slot. */
static void i7_events_from_signal_handlers_are_all_accounted_for(void **state)
{
    enum {
        SIGNALS = 300,
        EVENTS = 100000
    };
    const struct sigaction action = {.sa_handler = log_in_handler, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 200}, {0, 200}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    const etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 64};
    const char *path = folder_path("f.etl");
    etwas_trace_handle session = start_session(path, &options);
    const struct writer_options writing = {.session = session, .largest_payload = 300};
    struct writer *writer = writer_new(&writing);
    struct sigaction before;
    etwas_session_counts counts;

    (void)state;
    handlers_writer = writer_new(&writing);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    while (handlers_writer->attempted < SIGNALS && writer->attempted < EVENTS) {
        (void)writer_log(writer);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(raise(SIGALRM), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    assert_true(handlers_writer->recorded > 0);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    expect_file_is_exact(session, path, &counts);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static void *write_held_snapshot(void *argument)
{
    hold_me(ETWAS_POINT_SNAPSHOT_PINNED);
    assert_int_equal(etwas_snapshot(*(const etwas_trace_handle *)argument, folder_path("f.etl")),
                     ERROR_SUCCESS);
    return NULL;
}

static void a_child_made_during_a_snapshot_has_not_its_file_open(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE |
                                                            EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING};
    etwas_trace_handle session = start_session(NULL, &options);
    pthread_t thread;
    pid_t child;

    (void)state;
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, write_held_snapshot, &session), 0);
    hold_wait();
    assert_true(has_open(folder_path("f.etl")));
    child = fork();
    if (child == 0) {
        limit_child();
        CHECK_IN_CHILD(!has_open(folder_path("f.etl")));
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    hold_release();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
    stop_session(session, NULL);
}

/* ---- threads that end ------------------------------------------------------------------------ */

static uint64_t written_by_the_cancelled;

static void *write_until_cancelled(void *argument)
{
    etwas_trace_handle session = *(const etwas_trace_handle *)argument;

    for (uint64_t number = 0;; number++) {
        /* A call is not a point of cancellation: what it reported is counted. */
        if (log_number(session, number) == ERROR_SUCCESS) {
            ck_pr_inc_64(&written_by_the_cancelled);
        }
        pthread_testcancel();
    }
    return NULL;
}

static void *write_one_and_exit(void *argument)
{
    if (log_number(*(const etwas_trace_handle *)argument, 1) == ERROR_SUCCESS) {
        ck_pr_inc_64(&written_by_the_cancelled);
    }
    pthread_exit(NULL);
}

static void threads_may_be_cancelled_and_exit_and_their_events_stay(void **state)
{
    enum {
        THREADS = 100
    };
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    pthread_t thread;
    etwas_session_counts counts;

    (void)state;
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_create(&thread, NULL, write_until_cancelled, &session), 0);
        assert_int_equal(pthread_cancel(thread), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(pthread_create(&thread, NULL, write_one_and_exit, &session), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, written_by_the_cancelled);
    assert_true(counts.recorded >= THREADS);
    assert_int_equal(count_events(folder_path("f.etl")), counts.recorded);
}

static uint32_t done; /* atomic */

static void *start_and_stop(void *path)
{
    const etwas_session_options options = {.flusher = {.no_thread = true}};

    while (ck_pr_load_32(&done) == 0) {
        etwas_trace_handle session;

        (void)etwas_start("comes and goes", path, &options, &session);
        (void)etwas_stop(session, NULL);
    }
    return path;
}

/* Also not one that is just being opened or closed: it would stay locked for the child's life. */
static void a_child_made_at_any_moment_has_no_log_file_open(void **state)
{
    char path[512];
    pthread_t thread;
    int inherited = 0;

    (void)state;
    (void)snprintf(path, sizeof path, "%s", folder_path("trace.etl"));
    assert_int_equal(pthread_create(&thread, NULL, start_and_stop, path), 0);
    for (int round = 0; round < 300; round++) {
        pid_t child = fork();

        if (child == 0) {
            limit_child();
            _exit(has_open(path));
        }
        inherited += exit_code_of(child);
    }
    ck_pr_store_32(&done, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(inherited, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_childs_sessions_are_its_own_and_the_parents_go_on),
        FOLDER_TEST(a_raw_forks_child_gets_an_error_and_writes_into_no_buffer),
        FOLDER_TEST(a_fork_in_the_middle_of_a_record_harms_neither_side),
        FOLDER_TEST(a_fork_inside_any_sequence_harms_neither_side),
        FOLDER_TEST(between_fork_and_exec_logging_is_refused_and_no_file_is_inherited),
        FOLDER_TEST(a_child_made_at_any_moment_can_trace),
        FOLDER_TEST(a_child_made_at_any_moment_has_no_log_file_open),
        FOLDER_TEST(a_child_made_during_a_snapshot_has_not_its_file_open),
        FOLDER_TEST(i7_events_from_signal_handlers_are_all_accounted_for),
        FOLDER_TEST(threads_may_be_cancelled_and_exit_and_their_events_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
