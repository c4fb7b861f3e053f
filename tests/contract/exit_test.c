/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process that ends with sessions running: by exit, after which all that was recorded is written,
 * and by every other way, after which files have what was written before.
 */
#include <ck_pr.h>
#include <errno.h>
#include <etwas/evntprov.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failures/failing.h"
#include "session/fixture.h"

enum {
    EVENTS = 1000,
    EXIT_CODE = 3,
    LONG_MS = 60000,
};

/* What a child has to say. */
static struct notes {
    uint64_t recorded;
    uint64_t late; /* refused with ERROR_INVALID_HANDLE */
    uint64_t lost; /* the flusher came too late */
    uint64_t odd;
    uint64_t callbacks;
} * notes;

static etwas_trace_handle session;

static int make_notes(void **state)
{
    (void)state;
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return notes != MAP_FAILED ? 0 : -1;
}

static void log_and_note(uint64_t number)
{
    uint32_t code = log_number(session, number);

    notes->recorded += code == ERROR_SUCCESS;
    notes->late += code == ERROR_INVALID_HANDLE;
    notes->lost += code == ERROR_NOT_ENOUGH_MEMORY;
    notes->odd +=
        code != ERROR_SUCCESS && code != ERROR_INVALID_HANDLE && code != ERROR_NOT_ENOUGH_MEMORY;
}

static void start_and_log(const char *path, const etwas_session_options *options)
{
    CHECK_IN_CHILD(etwas_start("to the end", path, options, &session) == ERROR_SUCCESS);
    for (uint64_t number = 0; number < EVENTS; number++) {
        log_and_note(number);
    }
}

/* What cmocka has still to print is not the child's. */
static int new_child(void)
{
    *notes = (struct notes){0};
    (void)fflush(NULL);
    return fork_child();
}

/* ---- exit ------------------------------------------------------------------------------------ */

static void log_a_last_one(void)
{
    log_and_note(EVENTS);
}

static void exit_writes_all_that_was_recorded(void **state)
{
    const etwas_session_options cases[] = {
        {0},
        {.flusher.no_thread = true},
        {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR, .maximum_file_size = 1},
        {.protocol = ETWAS_PROTOCOL_SHARED},
    };

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        const char *path = folder_path("f.etl");
        struct events events;
        int child = new_child();

        if (child == 0) {
            /* Handlers and destructors of the program come first, whenever they were registered. */
            CHECK_IN_CHILD(atexit(log_a_last_one) == 0);
            etwas_exit_wait(LONG_MS);
            start_and_log(path, &cases[index]);
            exit(EXIT_CODE);
        }
        assert_int_equal(exit_code_of(child), EXIT_CODE);
        assert_int_equal(notes->recorded, EVENTS + 1);
        read_events(path, 0, &events);
        assert_int_equal(events.count, EVENTS + 1);
        assert_int_equal(events.header.EventsLost, 0);
        assert_int_not_equal(events.header.EndTime.QuadPart, 0);
        free_events(&events);
        assert_int_equal(unlink(path), 0);
    }
}

/* ---- without threads ------------------------------------------------------------------------- */

static bool has_few_threads;
static uint32_t threads_left; /* then */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    if (has_few_threads && threads_left == 0) {
        return EAGAIN;
    }
    threads_left -= has_few_threads;
    return __real_pthread_create(thread, attributes, run, argument);
}

static void leave_few_threads(void)
{
    has_few_threads = true;
}

/* One that stops the sessions, and one for one of them. */
static void exit_stops_the_sessions_for_which_there_is_no_thread(void **state)
{
    (void)state;
    for (uint32_t left = 1; left <= 2; left++) {
        static const char *const names[] = {"a.etl", "b.etl", "c.etl"};
        int child = new_child();

        if (child == 0) {
            etwas_trace_handle others[2];

            for (size_t index = 0; index < 2; index++) {
                CHECK_IN_CHILD(etwas_start(names[index], folder_path(names[index]), NULL,
                                           &others[index]) == ERROR_SUCCESS);
            }
            etwas_exit_wait(LONG_MS);
            start_and_log(folder_path(names[2]), NULL);
            threads_left = left;
            CHECK_IN_CHILD(atexit(leave_few_threads) == 0);
            exit(EXIT_CODE);
        }
        assert_int_equal(exit_code_of(child), EXIT_CODE);
        for (size_t index = 0; index < sizeof names / sizeof names[0]; index++) {
            struct events events;

            read_events(folder_path(names[index]), 0, &events);
            assert_int_equal(events.count, index == 2 ? notes->recorded : 0);
            assert_int_not_equal(events.header.EndTime.QuadPart, 0);
            free_events(&events);
            assert_int_equal(unlink(folder_path(names[index])), 0);
        }
    }
}

/* ---- what is late ---------------------------------------------------------------------------- */

static void *log_to_the_end(void *argument)
{
    const struct timespec pause = {.tv_nsec = 10000};

    for (uint64_t number = 0; notes->late < EVENTS; number++) {
        log_and_note(number);
        if (number % 100 == 0 && notes->late == 0) {
            (void)nanosleep(&pause, NULL);
        }
    }
    return argument;
}

static bool waits_for_late_events;

static void wait_for_late_events(void)
{
    while (waits_for_late_events && ck_pr_load_64(&notes->late) < EVENTS) {
        (void)usleep(1000);
    }
}

/* Runs behind the library's destructor, whose number is 101. */
__attribute__((section(".fini_array.00050"),
               used)) static void (*const after_the_library)(void) = wait_for_late_events;

static void late_events_are_refused_and_harm_nothing(void **state)
{
    const char *path = folder_path("f.etl");
    int child;

    (void)state;
    child = new_child();
    if (child == 0) {
        pthread_t thread;

        waits_for_late_events = true;
        etwas_exit_wait(LONG_MS);
        CHECK_IN_CHILD(etwas_start("to the end", path, NULL, &session) == ERROR_SUCCESS);
        CHECK_IN_CHILD(pthread_create(&thread, NULL, log_to_the_end, NULL) == 0);
        while (ck_pr_load_64(&notes->recorded) < EVENTS) {
            (void)usleep(1000);
        }
        exit(EXIT_CODE);
    }
    assert_int_equal(exit_code_of(child), EXIT_CODE);
    assert_int_equal(notes->odd, 0);
    assert_true(notes->late >= EVENTS);
    assert_true(notes->recorded >= EVENTS);
    assert_int_equal(count_events(path), notes->recorded);
}

static uint32_t note_request(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    (void)request;
    (void)context;
    (void)bytes;
    (void)buffer;
    notes->callbacks++;
    return ERROR_SUCCESS;
}

/* What a callback uses may be gone by then. */
static void no_callback_is_called_at_exit(void **state)
{
    etwas_trace_handle registration;
    int child;

    (void)state;
    child = new_child();
    if (child == 0) {
        CHECK_IN_CHILD(RegisterTraceGuidsA(note_request, NULL, &control_guid, 0, NULL, NULL, NULL,
                                           &registration) == ERROR_SUCCESS);
        etwas_exit_wait(LONG_MS);
        start_and_log(folder_path("f.etl"), NULL);
        CHECK_IN_CHILD(EnableTrace(1, 0, 0, &control_guid, session) == ERROR_SUCCESS);
        exit(EXIT_CODE);
    }
    assert_int_equal(exit_code_of(child), EXIT_CODE);
    assert_int_equal(notes->callbacks, 1);
    assert_int_equal(count_events(folder_path("f.etl")), EVENTS);
}

/* ---- its bound ------------------------------------------------------------------------------- */

/* fork_child's alarm would end a child that waits for its disk. */
static void exit_does_not_wait_longer_than_it_was_told(void **state)
{
    int child;

    (void)state;
    child = new_child();
    if (child == 0) {
        etwas_trace_handle other;

        etwas_exit_wait(50);
        start_and_log(folder_path("f.etl"), NULL);
        CHECK_IN_CHILD(etwas_start("beside it", folder_path("g.etl"), NULL, &other) ==
                       ERROR_SUCCESS);
        hang_call(ETWAS_FILE_WRITE, 0);
        exit(EXIT_CODE);
    }
    assert_int_equal(exit_code_of(child), EXIT_CODE);
}

static void with_a_wait_of_0_exit_leaves_sessions_as_they_are(void **state)
{
    int child;

    (void)state;
    child = new_child();
    if (child == 0) {
        etwas_exit_wait(0);
        start_and_log(folder_path("f.etl"), NULL);
        exit(EXIT_CODE);
    }
    assert_int_equal(exit_code_of(child), EXIT_CODE);
    assert_int_equal(count_events(folder_path("f.etl")), 0);
}

/* ---- every other end ------------------------------------------------------------------------- */

static void end_by_exit_without_handlers(void)
{
    _exit(EXIT_CODE);
}

static void end_quickly(void)
{
    quick_exit(EXIT_CODE);
}

static void end_by_exec(void)
{
    (void)execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
}

static void end_by_kill(void)
{
    (void)kill(getpid(), SIGKILL);
}

/* What was written is there, and what was not is gone. */
static void every_other_end_leaves_what_was_written(void **state)
{
    static void (*const ends[])(void) = {end_by_exit_without_handlers, end_quickly, abort,
                                         end_by_exec, end_by_kill};

    (void)state;
    for (size_t index = 0; index < sizeof ends / sizeof ends[0]; index++) {
        int child = new_child();
        int status;

        if (child == 0) {
            start_and_log(folder_path("f.etl"), NULL);
            CHECK_IN_CHILD(etwas_flush(session) == ERROR_SUCCESS);
            log_and_note(EVENTS);
            ends[index]();
            _exit(1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT || WTERMSIG(status) == SIGKILL
                                        : WEXITSTATUS(status) == EXIT_CODE);
        assert_int_equal(notes->recorded, EVENTS + 1);
        assert_int_equal(count_events(folder_path("f.etl")), EVENTS);
    }
}

/* ---- children -------------------------------------------------------------------------------- */

static void a_child_that_exits_leaves_its_parents_sessions_alone(void **state)
{
    const char *path = folder_path("f.etl");

    (void)state;
    *notes = (struct notes){0};
    start_and_log(path, NULL);
    for (int raw = 0; raw < 2; raw++) {
        int child;

        (void)fflush(NULL);
        child = raw != 0 ? _Fork() : fork();
        if (child == 0) {
            limit_child();
            exit(EXIT_CODE);
        }
        assert_int_equal(exit_code_of(child), EXIT_CODE);
    }
    log_and_note(EVENTS);
    stop_session(session, NULL);
    assert_int_equal(notes->recorded, EVENTS + 1);
    assert_int_equal(count_events(path), EVENTS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(exit_writes_all_that_was_recorded),
        FOLDER_TEST(exit_stops_the_sessions_for_which_there_is_no_thread),
        FOLDER_TEST(late_events_are_refused_and_harm_nothing),
        FOLDER_TEST(no_callback_is_called_at_exit),
        FAILING_TEST(exit_does_not_wait_longer_than_it_was_told),
        FOLDER_TEST(with_a_wait_of_0_exit_leaves_sessions_as_they_are),
        FOLDER_TEST(every_other_end_leaves_what_was_written),
        FOLDER_TEST(a_child_that_exits_leaves_its_parents_sessions_alone),
    };

    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer lets a fork's child start no threads\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, make_notes, NULL);
}
