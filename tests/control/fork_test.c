/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Children of a process that is traced: by fork, by _Fork, and on their way to exec (I7). */
#include <ck_pr.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fork.h"
#include "platform/memory.h"
#include "platform/thread.h"
#include "platform/wait.h"
#include "session/fixture.h"
#include "support/hold.h"
#include "support/readback.h"
#include "support/writer.h"

#define WAITS_NS (ETWAS_FORK_WAITS_S * UINT64_C(1000000000))

/* ---- fork ------------------------------------------------------------------------------------ */

static etwas_trace_handle parents_session;
static EVENT_INSTANCE_INFO parents_instance;
static etwas_handle class_handle;
static bool parent_shares;

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

    prepare_block(&query, "");
    CHECK_IN_CHILD(log_number(parents_session, 666) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(log_instance(parents_session, &parents_instance) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(QueryTraceA(parents_session, NULL, &query.properties) ==
                   ERROR_WMI_INSTANCE_NOT_FOUND);
    /* The name finds it as another process's, if sessions are shared. */
    CHECK_IN_CHILD(QueryTraceA(0, "family", &query.properties) ==
                   (parent_shares ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND));
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
    *child = fork_child();
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
    parent_shares = etwas_sharing_state() == ERROR_SUCCESS;
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
 * Without the handlers of pthread_atfork nothing is told to the library: the kernel has wiped the
 * word that says what is attached.
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
        pid_t child = fork_child();

        if (child == 0) {
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

static uint32_t rest; /* atomic */

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
#ifdef ETWAS_ADDRESS_SANITIZER
    /* Its allocator's locks stay locked in a child whose parent has a thread in malloc. */
    print_message(
        "skipped: AddressSanitizer's malloc hangs in children of processes with threads\n");
    skip();
#endif
    ck_pr_store_32(&rest, 0);
    assert_int_equal(pthread_create(&threads[0], NULL, start_and_stop_always, NULL), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, register_always, NULL), 0);
    for (int round = 0; round < CHILDREN; round++) {
        pid_t child = fork_child();

        if (child == 0) {
            etwas_session_options options = small_session;
            etwas_trace_handle session;
            etwas_trace_handle registration;
            etwas_session_counts counts;

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
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(!has_open(folder_path("f.etl")));
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    hold_release();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
    stop_session(session, NULL);
}

static void *start_and_stop(void *path)
{
    const etwas_session_options options = {.flusher = {.no_thread = true}};

    while (ck_pr_load_32(&rest) == 0) {
        etwas_trace_handle session;

        (void)etwas_start("comes and goes", path, &options, &session);
        (void)etwas_stop(session, NULL);
    }
    return path;
}

/*
 * Also not one that is just being opened or closed: it would stay locked for the child's life. A
 * fork that has waited for as long as it may, since the thread that opens it did not get to run,
 * goes on all the same.
 */
static void a_child_made_at_any_moment_has_no_log_file_open(void **state)
{
    char path[512];
    pthread_t thread;
    int inherited = 0;

    (void)state;
    ck_pr_store_32(&rest, 0);
    (void)snprintf(path, sizeof path, "%s", folder_path("trace.etl"));
    assert_int_equal(pthread_create(&thread, NULL, start_and_stop, path), 0);
    for (int round = 0; round < 300; round++) {
        uint64_t before_ns = etwas_monotonic_ns();
        pid_t child = fork_child();
        bool has_waited;
        int has_it;

        if (child == 0) {
            _exit(has_open(path));
        }
        has_waited = etwas_monotonic_ns() - before_ns >= WAITS_NS;
        has_it = exit_code_of(child);
        inherited += has_waited ? 0 : has_it;
    }
    ck_pr_store_32(&rest, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(inherited, 0);
}

/* ---- processor times ------------------------------------------------------------------------- */

/* The clock of the library stands still for this thread, at this time, unless it is 0. */
static _Thread_local uint64_t standing_ns;

uint64_t __real_etwas_monotonic_ns(void);
uint64_t __wrap_etwas_monotonic_ns(void);
uint64_t __wrap_etwas_monotonic_ns(void)
{
    return standing_ns != 0 ? standing_ns : __real_etwas_monotonic_ns();
}

static uint64_t own_us(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void a_child_has_processor_times_of_its_own_R106(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct etwas_thread_times times;
    int child;

    (void)state;
    while (own_us() < 20000) {
    }
    standing_ns = __real_etwas_monotonic_ns();
    times = etwas_thread_times();
    assert_true(times.user_us + times.kernel_us >= 20000);
    child = fork_child();
    if (child == 0) {
        times = etwas_thread_times();
        CHECK_IN_CHILD(times.user_us + times.kernel_us <= own_us());
        _exit(0);
    }
    standing_ns = 0;
    assert_int_equal(exit_code_of(child), 0);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_childs_sessions_are_its_own_and_the_parents_go_on),
        FOLDER_TEST(a_raw_forks_child_gets_an_error_and_writes_into_no_buffer),
        FOLDER_TEST(between_fork_and_exec_logging_is_refused_and_no_file_is_inherited),
        FOLDER_TEST(a_child_made_at_any_moment_can_trace),
        FOLDER_TEST(a_child_made_at_any_moment_has_no_log_file_open),
        FOLDER_TEST(a_child_made_during_a_snapshot_has_not_its_file_open),
        FOLDER_TEST(a_child_has_processor_times_of_its_own_R106),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
