/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A backlog on a disk that does not answer: a thread that writes or reads there waits, and no
 * other. Consumers come and go, the program forks, and no event is lost.
 */
#include <etwas/winerror.h>
#include <pthread.h>
#include <unistd.h>

#include "failures/failing.h"
#include "support/flushing.h"

enum {
    EVENTS = 500
};

static void *flush(void *writer)
{
    log_and_flush(writer, EVENTS);
    return NULL;
}

static void wait_for_hang(void)
{
    while (!hangs_now()) {
        (void)usleep(1000);
    }
}

static void nobody_else_waits_while_the_backlog_is_written(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer leaves = {0};
    struct consumer stays = {0};
    etwas_session_counts counts;
    pthread_t thread;

    (void)state;
    hang_call(ETWAS_FILE_WRITE, 0);
    assert_int_equal(pthread_create(&thread, NULL, flush, writer), 0);
    wait_for_hang();
    fork_while_it_hangs();
    consumer_open(&leaves, session);
    consumer_open(&stays, session);
    assert_int_equal(CloseTrace(leaves.trace), ERROR_SUCCESS);
    fork_while_it_hangs();
    hang_release();
    assert_int_equal(pthread_join(thread, NULL), 0);
    consumer_start(&stays);
    consumer_wait(&stays, EVENTS);
    stop_and_join(session, &counts, &stays);
    expect_nothing_lost(counts);
    assert_int_equal(stays.lost_buffer_notices, 0);
    expect_consumer_is_exact(&stays, session);
    consumer_free(&stays);
}

static void nobody_else_waits_while_the_backlog_is_read(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer reads = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, EVENTS);
    hang_call(ETWAS_FILE_READ, 0);
    consume(&reads, session);
    wait_for_hang();
    log_and_flush(writer, EVENTS);
    fork_while_it_hangs();
    assert_int_equal(CloseTrace(reads.trace), ERROR_CTX_CLOSE_PENDING);
    consume(&next, session);
    log_and_flush(writer, EVENTS);
    consumer_wait(&next, 2 * EVENTS);
    fork_while_it_hangs();
    hang_release();
    consumer_join(&reads);
    stop_and_join(session, &counts, &next);
    expect_nothing_lost(counts);
    assert_int_equal(reads.events + next.events, counts.recorded);
    consumer_free(&reads);
    consumer_free(&next);
}

static void nobody_else_waits_while_the_backlog_is_cut(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    struct consumer next = {0};
    etwas_session_counts counts;
    pthread_t thread;

    (void)state;
    log_and_flush(writer, EVENTS);
    consume(&consumer, session);
    consumer_wait(&consumer, EVENTS);
    hang_call(ETWAS_FILE_TRUNCATE, 0);
    assert_int_equal(pthread_create(&thread, NULL, flush, writer), 0);
    wait_for_hang();
    consumer_open(&next, session);
    fork_while_it_hangs();
    assert_int_equal(CloseTrace(next.trace), ERROR_SUCCESS);
    hang_release();
    assert_int_equal(pthread_join(thread, NULL), 0);
    stop_and_join(session, &counts, &consumer);
    expect_nothing_lost(counts);
    expect_consumer_is_exact(&consumer, session);
    consumer_free(&consumer);
}

static void *stop(void *session)
{
    stop_session(*(const etwas_trace_handle *)session, NULL);
    return NULL;
}

/* A fork waits for it, but not for ever. */
static void nobody_else_waits_while_the_backlog_is_closed(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    pthread_t thread;

    (void)state;
    hang_call(ETWAS_FILE_CLOSE, 0);
    assert_int_equal(pthread_create(&thread, NULL, stop, &session), 0);
    wait_for_hang();
    fork_while_it_hangs();
    stop_session(start_realtime_by_hand(), NULL);
    assert_true(hangs_now());
    hang_release();
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAILING_TEST(nobody_else_waits_while_the_backlog_is_written),
        FAILING_TEST(nobody_else_waits_while_the_backlog_is_read),
        FAILING_TEST(nobody_else_waits_while_the_backlog_is_cut),
        FAILING_TEST(nobody_else_waits_while_the_backlog_is_closed),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
