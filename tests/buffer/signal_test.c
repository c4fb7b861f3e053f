/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Signal handlers that log while their own thread is in the middle of logging (I7). */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "platform/testpoint.h"
#include "support/alarm.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    THREADS = 3,
    EVENTS = 12000,
    HANDLER_EVENTS = 200000,
    INTERVAL_NS = 60000
};

static _Thread_local struct writer *handler_writer; /* NULL: this thread's handler logs nothing */

static void on_signal(int number)
{
    (void)number;
    if (handler_writer != NULL) {
        (void)writer_log(handler_writer);
    }
}

/* ---- exactly between two steps of the shared protocol ---------------------------------------- */

static enum etwas_testpoint interrupted_at;
static _Thread_local bool inside;

/* The handler runs here and now, in the middle of the publication that came to the point. */
static void interrupt(enum etwas_testpoint point)
{
    if (point == interrupted_at && !inside && handler_writer != NULL) {
        inside = true;
        (void)raise(SIGUSR1);
        inside = false;
    }
}

static void a_handler_logs_between_any_two_steps_of_its_own_threads_publication(void **state)
{
    static const enum etwas_testpoint points[] = {
        ETWAS_POINT_RESERVE_LOADED, ETWAS_POINT_STAMPED,      ETWAS_POINT_RESERVED,
        ETWAS_POINT_WRITTEN,        ETWAS_POINT_MARKED,       ETWAS_POINT_SWITCH_ENTERED,
        ETWAS_POINT_SWITCH_CLAIMED, ETWAS_POINT_SWITCH_NAMED, ETWAS_POINT_SWITCH_INSTALLED,
    };

    (void)state;
    handle_signal(SIGUSR1, on_signal);
    for (size_t index = 0; index < sizeof points / sizeof points[0]; index++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = 4};
        etwas_trace_handle session = start_shared_session(path, &options);
        struct writer_options what = {.session = session,
                                      .class_handle = writer_class(),
                                      .events = 2000,
                                      .largest_payload = 300};
        struct writer *writer = writer_new(&what);
        etwas_session_counts counts;

        interrupted_at = points[index];
        handler_writer = writer_new(&what);
        etwas_testpoint_set(interrupt);
        for (int number = 0; number < 1000; number++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        etwas_testpoint_set(NULL);
        assert_true(handler_writer->attempted > 10);
        assert_int_equal(handler_writer->attempted, handler_writer->recorded);
        handler_writer = NULL;
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* ---- at any moment --------------------------------------------------------------------------- */

struct stormed {
    struct writer *writer;
    struct writer *handler;
    pthread_t thread;
};

static void *stormed_main(void *argument)
{
    struct stormed *stormed = argument;
    timer_t timer;

    handler_writer = stormed->handler;
    timer = start_alarms(INTERVAL_NS);
    while (writer_log(stormed->writer) != ERROR_INVALID_HANDLE &&
           stormed->writer->attempted < EVENTS) {
    }
    end_alarms(timer);
    handler_writer = NULL;
    return NULL;
}

static void start_storm(struct stormed stormed[THREADS], etwas_trace_handle session)
{
    struct writer_options what = {.session = session,
                                  .class_handle = writer_class(),
                                  .events = EVENTS,
                                  .largest_payload = 400};
    struct writer_options often = {.session = session,
                                   .class_handle = writer_class(),
                                   .events = HANDLER_EVENTS,
                                   .largest_payload = 400};

    handle_signal(SIGALRM, on_signal);
    for (int index = 0; index < THREADS; index++) {
        stormed[index] =
            (struct stormed){.writer = writer_new(&what), .handler = writer_new(&often)};
        assert_int_equal(
            pthread_create(&stormed[index].thread, NULL, stormed_main, &stormed[index]), 0);
    }
}

static void end_storm(struct stormed stormed[THREADS])
{
    for (int index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(stormed[index].thread, NULL), 0);
    }
}

/* I4, I7: nested publications of several threads at random moments, in a small pool. */
static void interval_timers_interrupt_writers_and_every_event_is_accounted_for(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {
            .buffer_size_kb = 4, .maximum_buffers = round == 0 ? 4000 : 6, .clock = 1 + 2 * round};
        etwas_trace_handle session = start_session(path, &options);
        struct stormed stormed[THREADS];
        etwas_session_counts counts;

        start_storm(stormed, session);
        end_storm(stormed);
        stop_session(session, &counts);
        assert_int_equal(counts.lost, writers_totals(session).lost);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* I6, I7 */
static void a_session_stops_in_the_middle_of_a_storm(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = 4};
        etwas_trace_handle session = start_session(path, &options);
        const struct timespec pause = {.tv_nsec = 3000000};
        struct stormed stormed[THREADS];
        etwas_session_counts counts;

        start_storm(stormed, session);
        (void)nanosleep(&pause, NULL);
        stop_session(session, &counts);
        end_storm(stormed);
        assert_int_equal(counts.lost_abandoned, 0);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_handler_logs_between_any_two_steps_of_its_own_threads_publication),
        FOLDER_TEST(interval_timers_interrupt_writers_and_every_event_is_accounted_for),
        FOLDER_TEST(a_session_stops_in_the_middle_of_a_storm),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
