/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Consumers of a real-time session that leave at odd moments: while they are told of a loss, or
 * while the session ends.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "platform/file.h"
#include "support/flushing.h"
#include "support/inside.h"

static void leave_at_a_notice(struct consumer *consumer)
{
    if (consumer->lost_buffer_notices != 0) {
        pthread_exit(NULL);
    }
}

/* The notice is told before the events of the buffer that brings it: none of them was given. */
static void who_leaves_at_a_notice_leaves_the_buffer_behind_it_to_the_next(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
        .buffer_size_kb = 4,
        .consumer_queue_kb = 4, /* an empty queue takes one buffer of any size */
    };
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    struct consumer leaver = {.behind = leave_at_a_notice};
    struct consumer next = {0};
    etwas_session_counts counts;
    bool left = false;

    (void)state;
    consumer_open(&leaver, session);
    do {
        log_and_flush(writer, 10);
    } while (counts_of(session).realtime_buffers_lost == 0);
    consumer_start(&leaver);
    while (!left) {
        log_and_flush(writer, 10);
        left = pthread_tryjoin_np(leaver.thread, NULL) == 0;
    }
    assert_int_equal(leaver.lost_buffer_notices, 1);
    assert_int_equal(CloseTrace(leaver.trace), ERROR_SUCCESS);
    consume(&next, session);
    log_events(writer, 10);
    stop_and_join(session, &counts, &next);
    expect_exact_account(session, &counts);
    assert_int_equal(next.wrong, 0);
    assert_int_equal(leaver.events + next.events, counts.recorded);
    consumer_free(&leaver);
    consumer_free(&next);
}

/* ---- closed, and not yet gone ---------------------------------------------------------------- */

/* Where a thread stays until it is let go. */
static sem_t inside;
static sem_t go_on;

static void stay(void)
{
    (void)sem_post(&inside);
    while (sem_wait(&go_on) != 0) {
    }
}

static void wait_until_it_stays(void)
{
    while (sem_wait(&inside) != 0) {
    }
}

static void let_go(struct consumer *consumer)
{
    (void)sem_post(&go_on);
    consumer_join(consumer);
}

static void stay_in_the_first(struct consumer *consumer)
{
    if (consumer->events == 0) {
        stay();
    }
}

static void flush_some(struct writer *writer)
{
    for (int buffer = 0; buffer < 10; buffer++) {
        log_and_flush(writer, 10);
    }
}

/* Closed while its thread is in the callback and more waits for it. */
static void close_staying(struct consumer *stayer, etwas_trace_handle session,
                          struct writer *writer)
{
    consume(stayer, session);
    flush_some(writer);
    wait_until_it_stays();
    flush_some(writer);
    assert_int_equal(CloseTrace(stayer->trace), ERROR_CTX_CLOSE_PENDING);
}

/* The session ends before the thread comes out of its callback: it is the session that counts. */
static void what_waits_for_a_closed_consumer_at_the_end_is_counted(void **state)
{
    (void)state;
    for (int with_backlog = 0; with_backlog < 2; with_backlog++) {
        etwas_trace_handle session = start_realtime_by_hand();
        struct writer *writer = small_writer(session);
        struct consumer stayer = {.before = stay_in_the_first};
        etwas_session_counts counts;

        if (with_backlog) {
            flush_some(writer);
        }
        close_staying(&stayer, session, writer);
        stop_session(session, &counts);
        let_go(&stayer);
        expect_exact_account(session, &counts);
        assert_true(counts.lost_undelivered >= 100);
        assert_true(counts.realtime_buffers_lost >= 10);
        assert_int_equal(stayer.events, counts.recorded);
        consumer_free(&stayer);
    }
}

/* The next consumer comes before the thread comes out of its callback. */
static void what_waits_for_a_closed_consumer_is_for_the_next(void **state)
{
    (void)state;
    for (int with_backlog = 0; with_backlog < 2; with_backlog++) {
        etwas_trace_handle session = start_realtime_by_hand();
        struct writer *writer = small_writer(session);
        struct consumer stayer = {.before = stay_in_the_first};
        struct consumer next = {0};
        etwas_session_counts counts;

        if (with_backlog) {
            flush_some(writer);
        }
        close_staying(&stayer, session, writer);
        consume(&next, session);
        flush_some(writer);
        let_go(&stayer);
        flush_some(writer);
        stop_and_join(session, &counts, &next);
        expect_exact_account(session, &counts);
        expect_nothing_lost(counts);
        assert_int_equal(next.wrong, 0);
        assert_int_equal(stayer.events + next.events, counts.recorded);
        consumer_free(&stayer);
        consumer_free(&next);
    }
}

/* ---- closed while it reads the backlog ------------------------------------------------------- */

static uint32_t held;

/* Holds the first thread that reads a buffer of a backlog. */
static long hold_who_reads(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_READ && ck_pr_faa_32(&held, 1) == 0) {
        stay();
    }
    return (long)bytes;
}

/* The session has a backlog, and the consumer's thread is reading it. */
static void hold_in_the_backlog(struct consumer *consumer, etwas_trace_handle session,
                                struct writer *writer)
{
    ck_pr_store_32(&held, 0);
    flush_some(writer);
    etwas_file_set_failure_hook(hold_who_reads);
    consume(consumer, session);
    wait_until_it_stays();
}

/*
 * Nobody waits for it: it gives what it is reading, and the next one goes on behind that. Nothing
 * twice, nothing lost.
 */
static void the_next_goes_on_behind_what_a_closed_one_is_reading(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer closed = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    hold_in_the_backlog(&closed, session, writer);
    flush_some(writer);
    assert_int_equal(CloseTrace(closed.trace), ERROR_CTX_CLOSE_PENDING);
    flush_some(writer);
    consume(&next, session);
    flush_some(writer);
    consumer_wait(&next, 4 * 100 - 10);
    let_go(&closed);
    etwas_file_set_failure_hook(NULL);
    stop_and_join(session, &counts, &next);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    assert_int_equal(closed.events, 10);
    assert_int_equal(closed.wrong + next.wrong + next.backwards, 0);
    consumers_unmark(session);
    consumer_mark(&closed, session);
    consumer_mark(&next, session);
    assert_int_equal(consumers_missing(session), 0);
    assert_int_equal(closed.events + next.events, counts.recorded);
    consumer_free(&closed);
    consumer_free(&next);
}

/* What it has taken it delivers; the rest, which no consumer will read, is counted. */
static void the_end_counts_what_is_behind_what_a_closed_one_is_reading(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer closed = {0};
    etwas_session_counts counts;

    (void)state;
    hold_in_the_backlog(&closed, session, writer);
    assert_int_equal(CloseTrace(closed.trace), ERROR_CTX_CLOSE_PENDING);
    stop_session(session, &counts);
    let_go(&closed);
    etwas_file_set_failure_hook(NULL);
    expect_exact_account(session, &counts);
    assert_int_equal(counts.lost_undelivered, 90);
    assert_int_equal(closed.events, counts.recorded);
    consumer_free(&closed);
}

/* ---- closed, and its thread ends all the same ------------------------------------------------ */

static void close_and_end_thread(struct consumer *consumer)
{
    if (consumer->events == 5) {
        assert_int_equal(CloseTrace(consumer->trace), ERROR_CTX_CLOSE_PENDING);
        pthread_exit(NULL);
    }
}

/* What it had taken is for the next, too, from the event on that was not given. */
static void what_a_closed_one_had_taken_and_does_not_give_is_for_the_next(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer closed = {.behind = close_and_end_thread};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    consumer_open(&closed, session);
    stay_on_one_processor();
    flush_some(writer);
    leave_one_processor();
    consumer_start(&closed);
    consumer_join(&closed);
    consume_to_the_end(&next, session, &counts);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    assert_int_equal(closed.events, 5);
    assert_int_equal(closed.events + next.events, counts.recorded);
    consumer_free(&closed);
    consumer_free(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(who_leaves_at_a_notice_leaves_the_buffer_behind_it_to_the_next),
        FOLDER_TEST(what_waits_for_a_closed_consumer_at_the_end_is_counted),
        FOLDER_TEST(what_waits_for_a_closed_consumer_is_for_the_next),
        FOLDER_TEST(the_next_goes_on_behind_what_a_closed_one_is_reading),
        FOLDER_TEST(the_end_counts_what_is_behind_what_a_closed_one_is_reading),
        FOLDER_TEST(what_a_closed_one_had_taken_and_does_not_give_is_for_the_next),
    };

    assert_int_equal(sem_init(&inside, 0, 0) | sem_init(&go_on, 0, 0), 0);
    return RUN_WITH_EACH_PROTOCOL(tests);
}
