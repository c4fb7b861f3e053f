/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What interrupts a writer in a call: a fork, a signal whose handler logs, a thread's end (I7). */
#include <ck_pr.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "buffer/interrupt.h"
#include "platform/testpoint.h"
#include "session/fixture.h"
#include "support/readback.h"
#include "support/writer.h"

/* ---- fork ------------------------------------------------------------------------------------ */

static pid_t forked_at_point;
static bool may_fork;

static void fork_in_the_record(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_RESERVED && may_fork) {
        may_fork = false;
        forked_at_point = fork_child();
    }
}

/*
 * As a signal handler could, in a shared slot: both copies of the writer go on inside the record.
 */
static void a_fork_in_the_middle_of_a_record_harms_neither_side(void **state)
{
    const char *path = folder_path("f.etl");
    etwas_trace_handle session = start_shared_session(path, NULL);
    etwas_session_counts counts;
    uint32_t code;

    (void)state;
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    may_fork = true;
    etwas_testpoint_set(fork_in_the_record);
    code = log_number(session, 2);
    etwas_testpoint_set(NULL);
    if (forked_at_point == 0) {
        CHECK_IN_CHILD(log_number(session, 3) == ERROR_INVALID_HANDLE);
        CHECK_IN_CHILD(etwas_counts(session, &counts) == ERROR_INVALID_HANDLE);
        _exit(0);
    }
    assert_true(forked_at_point > 0);
    assert_int_equal(exit_code_of(forked_at_point), 0);
    assert_int_equal(code, ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 2);
    assert_int_equal(count_events(path), 2);
}

static void fork_now(void *child)
{
    *(pid_t *)child = fork_child();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_fork_in_the_middle_of_a_record_harms_neither_side),
        FOLDER_TEST(a_fork_inside_any_sequence_harms_neither_side),
        FOLDER_TEST(i7_events_from_signal_handlers_are_all_accounted_for),
        FOLDER_TEST(threads_may_be_cancelled_and_exit_and_their_events_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
