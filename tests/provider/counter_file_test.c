/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The file that a thread keeps open for its counters: until it ends, in no child, and what is
 * recorded if it cannot be opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "provider/counted.h"

enum {
    MOST_FILES = 256,
    MANY_THREADS = MOST_FILES + 20,
    MANY_KEYS = 40,
    MANY_DESCRIPTORS = 1024,
};

static etwas_trace_handle session;
static pthread_barrier_t all_have_logged;
static pthread_barrier_t go_on;

static void nothing(void)
{
}

/* A child of several threads begins none: sanitizers forbid it. */
static const etwas_session_options options = {.flusher = {.no_thread = true}};

static void begin(void)
{
    session = start_session(folder_path("f.etl"), &options);
    ask(session, &control_guid, COUNTED);
}

/* All readings of the file know this. */
static void end(uint32_t known, size_t count)
{
    etwas_session_counts counts;
    struct readings readings;

    stop_session(session, &counts);
    expect_nothing_lost(counts);
    read_counted(folder_path("f.etl"), &counts, &readings);
    assert_int_equal(readings.count, count);
    for (size_t index = 0; index < readings.count; index++) {
        assert_int_equal(readings.list[index].counters.known, known);
    }
    free_counted(&readings);
}

static const uint32_t everything =
    ETWAS_ETL_COUNTERS_RAN | ETWAS_ETL_COUNTERS_USED | ETWAS_ETL_COUNTERS_WAITED;

static void *log_and_wait(void *argument)
{
    (void)argument;
    log_around(session, 0, nothing);
    (void)pthread_barrier_wait(&all_have_logged);
    (void)pthread_barrier_wait(&go_on);
    return NULL;
}

static void threads_keep_so_many_files_until_they_end(void **state)
{
    static pthread_t threads[MANY_THREADS];
    etwas_trace_handle registration = register_counted();

    (void)state;
    begin();
    for (int round = 0; round < 2; round++) {
        int count = round == 0 ? MANY_THREADS : 10;

        assert_int_equal(pthread_barrier_init(&all_have_logged, NULL, (unsigned)count + 1), 0);
        assert_int_equal(pthread_barrier_init(&go_on, NULL, (unsigned)count + 1), 0);
        for (int index = 0; index < count; index++) {
            assert_int_equal(pthread_create(&threads[index], NULL, log_and_wait, NULL), 0);
        }
        (void)pthread_barrier_wait(&all_have_logged);
        assert_int_equal(kept_files(), round == 0 ? MOST_FILES : 10);
        (void)pthread_barrier_wait(&go_on);
        for (int index = 0; index < count; index++) {
            assert_int_equal(pthread_join(threads[index], NULL), 0);
        }
        assert_int_equal(kept_files(), 0);
        (void)pthread_barrier_destroy(&all_have_logged);
        (void)pthread_barrier_destroy(&go_on);
    }
    end(everything, 2 * (MANY_THREADS + 10));
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static pthread_key_t late;

/* Runs after the library's own destructor, in the second round of them. */
static void log_late(void *left)
{
    if ((uintptr_t)left > 1) {
        (void)pthread_setspecific(late, (void *)((uintptr_t)left - 1));
        return;
    }
    log_around(session, 0, nothing);
}

static void *leave_work_for_the_end(void *argument)
{
    (void)argument;
    log_around(session, 0, nothing);
    (void)pthread_setspecific(late, (void *)(uintptr_t)2);
    return NULL;
}

static void a_thread_that_ends_reads_and_keeps_nothing(void **state)
{
    etwas_trace_handle registration = register_counted();
    pthread_t thread;

    (void)state;
    begin();
    assert_int_equal(pthread_key_create(&late, log_late), 0);
    assert_int_equal(pthread_create(&thread, NULL, leave_work_for_the_end, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(kept_files(), 0);
    assert_int_equal(pthread_key_delete(late), 0);
    end(everything, 4);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void *fork_and_read(void *argument)
{
    uint32_t *threads = argument;
    etwas_session_counts counts;
    struct readings readings;
    int child;

    log_around(session, 0, nothing);
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(kept_files() == 0);
        session = start_session(folder_path("c.etl"), &options);
        ask(session, &control_guid, COUNTED);
        for (int time = 0; time < 3; time++) {
            log_around(session, 0, nothing);
        }
        CHECK_IN_CHILD(kept_files() == 1);
        CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
        read_counted(folder_path("c.etl"), &counts, &readings);
        CHECK_IN_CHILD(readings.count == 6);
        for (size_t index = 0; index < readings.count; index++) {
            CHECK_IN_CHILD(readings.list[index].counters.known == everything);
            CHECK_IN_CHILD(readings.list[index].thread == (uint32_t)syscall(SYS_gettid));
            /* It has run as long as it says itself, and not as the parent's has. */
            CHECK_IN_CHILD(readings.list[index].counters.voluntary_switches < 1000);
        }
        _exit(0);
    }
    *threads = exit_code_of(child) == 0;
    return NULL;
}

static void a_child_reads_its_own(void **state)
{
    etwas_trace_handle registration = register_counted();
    pthread_t thread;
    uint32_t well = 0;

    (void)state;
    begin();
    log_around(session, 0, nothing); /* this thread has a file, and the child is another's */
    assert_int_equal(pthread_create(&thread, NULL, fork_and_read, &well), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(well);
    assert_int_equal(kept_files(), 1);
    end(everything, 4);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static EVENT_INSTANCE_INFO of_handler;
static volatile sig_atomic_t handler_failed;

static void log_in_handler(int number)
{
    int error = errno;

    (void)number;
    errno = 4711;
    handler_failed |= log_of(session, EVENT_TRACE_TYPE_START, &of_handler, NULL) != ERROR_SUCCESS;
    handler_failed |= log_of(session, EVENT_TRACE_TYPE_END, &of_handler, NULL) != ERROR_SUCCESS;
    handler_failed |= errno != 4711;
    errno = error;
}

static void *be_interrupted(void *argument)
{
    (void)argument;
    (void)raise(SIGUSR1);
    log_around(session, 0, nothing);
    assert_int_equal(kept_files(), 1);
    return NULL;
}

static void a_handler_may_be_the_first_to_read(void **state)
{
    const struct sigaction action = {.sa_handler = log_in_handler};
    etwas_trace_handle registration = register_counted();
    struct sigaction before;
    pthread_t thread;

    (void)state;
    begin();
    of_handler = new_instance(1);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(pthread_create(&thread, NULL, be_interrupted, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(handler_failed, 0);
    end(everything, 4);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* That of the calling thread. */
static int find_kept_file(void)
{
    char file[64];

    (void)snprintf(file, sizeof file, "/task/%ld/schedstat", syscall(SYS_gettid));
    for (int descriptor = 0; descriptor < MANY_DESCRIPTORS; descriptor++) {
        char path[64];
        char name[256];
        ssize_t bytes;

        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        bytes = readlink(path, name, sizeof name - 1);
        name[bytes > 0 ? bytes : 0] = '\0';
        if (strstr(name, file) != NULL) {
            return descriptor;
        }
    }
    return -1;
}

static bool is_open(int descriptor)
{
    return fcntl(descriptor, F_GETFD) >= 0;
}

struct replaced {
    int descriptor;
    int child; /* what the child of a fork said */
};

/* As a program does that closes all descriptors it knows nothing of, and opens a file. */
static void *replace_the_file(void *argument)
{
    struct replaced *replaced = argument;
    int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int child;

    log_around(session, 0, nothing);
    replaced->descriptor = find_kept_file();
    assert_true(replaced->descriptor >= 0 && other >= 0);
    assert_int_equal(dup2(other, replaced->descriptor), replaced->descriptor);
    (void)close(other);
    child = fork_child();
    if (child == 0) {
        _exit(is_open(replaced->descriptor) ? 0 : 1);
    }
    replaced->child = exit_code_of(child);
    (void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* the file is read after it */
    log_around(session, 0, nothing);
    return NULL;
}

static void a_file_of_the_programs_by_the_same_number_stays_open(void **state)
{
    etwas_trace_handle registration = register_counted();
    struct replaced replaced;
    struct readings readings;
    etwas_session_counts counts;
    pthread_t thread;

    (void)state;
    begin();
    assert_int_equal(pthread_create(&thread, NULL, replace_the_file, &replaced), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(replaced.child, 0);
    assert_true(is_open(replaced.descriptor));
    (void)close(replaced.descriptor);
    stop_session(session, &counts);
    read_counted(folder_path("f.etl"), &counts, &readings);
    assert_int_equal(readings.count, 4);
    assert_int_equal(readings.list[1].counters.known, everything);
    assert_int_equal(readings.list[2].counters.known,
                     ETWAS_ETL_COUNTERS_RAN | ETWAS_ETL_COUNTERS_USED);
    free_counted(&readings);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

/* Where /proc is hidden the rest is known all the same. */
static void without_proc_the_record_says_what_is_not_known(void **state)
{
    int child = fork_child();

    (void)state;
    if (child == 0) {
        etwas_trace_handle registration;
        etwas_session_counts counts;
        struct readings readings;

        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
            print_message("skipped: mounts in a private namespace are not granted\n");
            _exit(77);
        }
        registration = register_counted();
        begin();
        CHECK_IN_CHILD(mount("none", "/proc", "tmpfs", 0, NULL) == 0);
        log_around(session, 0, nothing);
        CHECK_IN_CHILD(umount("/proc") == 0);
        CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
        read_counted(folder_path("f.etl"), &counts, &readings);
        CHECK_IN_CHILD(readings.count == 2);
        CHECK_IN_CHILD(readings.list[0].counters.known ==
                       (ETWAS_ETL_COUNTERS_RAN | ETWAS_ETL_COUNTERS_USED));
        CHECK_IN_CHILD(readings.list[0].counters.wait_ns == 0);
        CHECK_IN_CHILD(readings.list[0].counters.run_ns != 0);
        CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
        _exit(0);
    }
    switch (exit_code_of(child)) {
    case 77:
        skip();
        break;
    case 0:
        break;
    default:
        fail();
    }
}

/* First of all: it is found out once whether a thread's end is told. */
static void without_keys_files_are_opened_each_time(void **state)
{
    int child = fork_child();

    (void)state;
    if (child == 0) {
        etwas_trace_handle registration;
        etwas_session_counts counts;
        struct readings readings;
        pthread_key_t key;

        for (int index = 0; index < MANY_KEYS; index++) {
            CHECK_IN_CHILD(pthread_key_create(&key, NULL) == 0);
        }
        registration = register_counted();
        begin();
        log_around(session, 0, nothing);
        CHECK_IN_CHILD(kept_files() == 0);
        CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
        read_counted(folder_path("f.etl"), &counts, &readings);
        CHECK_IN_CHILD(readings.count == 2 && readings.list[1].counters.known == everything);
        CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(without_keys_files_are_opened_each_time),
        FOLDER_TEST(threads_keep_so_many_files_until_they_end),
        FOLDER_TEST(a_thread_that_ends_reads_and_keeps_nothing),
        FOLDER_TEST(a_handler_may_be_the_first_to_read),
        FOLDER_TEST(a_file_of_the_programs_by_the_same_number_stays_open),
        FOLDER_TEST(a_child_reads_its_own),
        FOLDER_TEST(without_proc_the_record_says_what_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
