/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A program that only reads traces, and forks while one of its threads is in the library: the child
 * can read too, and has no files open that nobody closes.
 */
#include <ck_pr.h>
#include <etwas/winerror.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder.h"
#include "collect.h"
#include "support/folder.h"

/* cmocka's headers in the order they ask for. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    FORKS = 200,
    CHILD_SECONDS = 60,
};

static uint32_t begun; /* atomic; the library is in use */
static uint32_t done;  /* atomic */

/* Holds the table's lock most of the time. */
static void *use_the_table(void *unused)
{
    while (ck_pr_load_32(&done) == 0) {
        (void)CloseTrace(1);
        ck_pr_store_32(&begun, 1);
    }
    return unused;
}

/* OpenTrace opens it, sees that it is none, and closes it. */
static void *open_what_is_no_trace(void *path)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = path};

    while (ck_pr_load_32(&done) == 0) {
        (void)OpenTraceA(&logfile);
        ck_pr_store_32(&begun, 1);
    }
    return path;
}

/* AddressSanitizer's allocator may be locked in a child of many threads. */
static bool can_open(const char *path)
{
#ifdef __SANITIZE_ADDRESS__
    (void)path;
    return true;
#else
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path};

    return OpenTraceA(&logfile) != INVALID_PROCESSTRACE_HANDLE;
#endif
}

/* The children's number that does not open the sound file, or has the other one open. */
static int fork_beside(void *(*thread)(void *), char *other, const char *sound)
{
    pthread_t beside;
    int failed = 0;

    ck_pr_store_32(&begun, 0);
    ck_pr_store_32(&done, 0);
    assert_int_equal(pthread_create(&beside, NULL, thread, other), 0);
    /* A fork in the midst of the library's first call is not seen by it. */
    while (ck_pr_load_32(&begun) == 0) {
        (void)sched_yield();
    }
    for (int round = 0; round < FORKS; round++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (child == 0) {
            (void)alarm(CHILD_SECONDS); /* one that hangs is killed, which fails the test */
            _exit(has_open(other) || !can_open(sound));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        failed += status != 0;
        if (WIFSIGNALED(status)) {
            break;
        }
    }
    ck_pr_store_32(&done, 1);
    assert_int_equal(pthread_join(beside, NULL), 0);
    return failed;
}

static void the_child_can_read_whatever_other_threads_do(void **state)
{
    (void)state;
    assert_int_equal(fork_beside(use_the_table, "none", put_sound_file(0, 3, false)), 0);
}

static void the_child_has_no_file_open_that_was_just_being_opened(void **state)
{
    char other[PATH_MAX];

    (void)state;
    (void)snprintf(other, sizeof other, "%s", put_file(1, "no trace", 8));
    assert_int_equal(fork_beside(open_what_is_no_trace, other, put_sound_file(0, 3, false)), 0);
}

/* ---- beside ProcessTrace --------------------------------------------------------------------- */

static sem_t inside;
static sem_t go_on;

static void stay(EVENT_RECORD *record)
{
    (void)record;
    (void)sem_post(&inside);
    while (sem_wait(&go_on) != 0) {
    }
}

static void *process(void *trace)
{
    etwas_trace_handle handle = *(const etwas_trace_handle *)trace;

    (void)ProcessTrace(&handle, 1, NULL, NULL);
    return NULL;
}

/* No thread is in ProcessTrace there: the child's traces are its own to close. */
static void the_child_closes_what_another_thread_processes(void **state)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)put_sound_file(0, 1, false),
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = stay,
    };

    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        etwas_trace_handle trace = OpenTraceA(&logfile);
        pthread_t thread;
        pid_t child;
        int status;

        assert_int_equal(sem_init(&inside, 0, 0), 0);
        assert_int_equal(sem_init(&go_on, 0, 0), 0);
        assert_int_equal(pthread_create(&thread, NULL, process, &trace), 0);
        assert_int_equal(sem_wait(&inside), 0);
        if (closed) {
            assert_int_equal(CloseTrace(trace), ERROR_CTX_CLOSE_PENDING);
        }
        child = fork();
        if (child == 0) {
            (void)alarm(CHILD_SECONDS);
            _exit((!closed && CloseTrace(trace) != ERROR_SUCCESS) || has_open(logfile.LogFileName));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        (void)sem_post(&go_on); /* for the header's event, */
        (void)sem_post(&go_on); /* and the other one */
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(CloseTrace(trace), closed ? ERROR_INVALID_HANDLE : ERROR_SUCCESS);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_child_can_read_whatever_other_threads_do),
        cmocka_unit_test(the_child_has_no_file_open_that_was_just_being_opened),
        cmocka_unit_test(the_child_closes_what_another_thread_processes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
