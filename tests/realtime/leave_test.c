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

static const etwas_guid lost_event_class = {
    0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

/* Delivers when it is flushed. */
static const etwas_session_options by_hand = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
                                              .buffer_size_kb = 4};

/* A consumer whose thread ends with the first notice. */
struct leaver {
    etwas_trace_handle trace;
    uint64_t events;
    uint64_t notices;
};

static void leave_at_a_notice(EVENT_RECORD *record)
{
    struct leaver *leaver = record->UserContext;

    if (memcmp(&record->EventHeader.ProviderId, &lost_event_class, sizeof lost_event_class) == 0) {
        leaver->notices++;
        pthread_exit(NULL);
    }
    leaver->events++;
}

static void *process(void *argument)
{
    struct leaver *leaver = argument;

    (void)ProcessTrace(&leaver->trace, 1, NULL, NULL);
    return NULL;
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
    struct leaver leaver = {0};
    EVENT_TRACE_LOGFILEW file = {
        .LoggerName = inside_of(session)->configuration.name,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = leave_at_a_notice,
        .Context = &leaver,
    };
    struct consumer next = {0};
    etwas_session_counts counts;
    pthread_t thread;
    bool left = false;

    (void)state;
    leaver.trace = OpenTraceW(&file);
    assert_true(leaver.trace != INVALID_PROCESSTRACE_HANDLE);
    do {
        log_and_flush(writer, 10);
    } while (counts_of(session).realtime_buffers_lost == 0);
    assert_int_equal(pthread_create(&thread, NULL, process, &leaver), 0);
    while (!left) {
        log_and_flush(writer, 10);
        left = pthread_tryjoin_np(thread, NULL) == 0;
    }
    assert_int_equal(leaver.notices, 1);
    assert_int_equal(CloseTrace(leaver.trace), ERROR_SUCCESS);
    consumer_open(&next, session);
    consumer_start(&next);
    log_events(writer, 10);
    stop_session(session, &counts);
    consumer_join(&next);
    expect_exact_account(session, &counts);
    assert_int_equal(next.wrong, 0);
    assert_int_equal(leaver.events + next.events, counts.recorded);
    consumer_free(&next);
}

/* ---- closed, and not yet gone ---------------------------------------------------------------- */

/* A consumer that stays in its first callback until it is let go. */
struct stayer {
    etwas_trace_handle trace;
    sem_t inside;
    sem_t go_on;
    uint64_t events;
};

static void stay_in_the_first(EVENT_RECORD *record)
{
    struct stayer *stayer = record->UserContext;

    if (++stayer->events == 1) {
        (void)sem_post(&stayer->inside);
        while (sem_wait(&stayer->go_on) != 0) {
        }
    }
}

static void *process_closed(void *argument)
{
    struct stayer *stayer = argument;
    etwas_trace_handle trace = stayer->trace;

    (void)ProcessTrace(&trace, 1, NULL, NULL);
    return NULL;
}

static void flush_some(struct writer *writer)
{
    for (int buffer = 0; buffer < 10; buffer++) {
        log_and_flush(writer, 10);
    }
}

static void open_staying(struct stayer *stayer, etwas_trace_handle session)
{
    EVENT_TRACE_LOGFILEW file = {
        .LoggerName = inside_of(session)->configuration.name,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = stay_in_the_first,
        .Context = stayer,
    };

    assert_int_equal(sem_init(&stayer->inside, 0, 0), 0);
    assert_int_equal(sem_init(&stayer->go_on, 0, 0), 0);
    stayer->trace = OpenTraceW(&file);
    assert_true(stayer->trace != INVALID_PROCESSTRACE_HANDLE);
}

/* Closes the trace while its thread is in the callback and more waits for it. */
static void close_staying(struct stayer *stayer, struct writer *writer, pthread_t *thread)
{
    assert_int_equal(pthread_create(thread, NULL, process_closed, stayer), 0);
    flush_some(writer);
    while (sem_wait(&stayer->inside) != 0) {
    }
    flush_some(writer);
    assert_int_equal(CloseTrace(stayer->trace), ERROR_CTX_CLOSE_PENDING);
}

static void let_go(struct stayer *stayer, pthread_t thread)
{
    (void)sem_post(&stayer->go_on);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)sem_destroy(&stayer->inside);
    (void)sem_destroy(&stayer->go_on);
}

/* The session ends before the thread comes out of its callback: it is the session that counts. */
static void what_waits_for_a_closed_consumer_at_the_end_is_counted(void **state)
{
    (void)state;
    for (int with_backlog = 0; with_backlog < 2; with_backlog++) {
        etwas_trace_handle session = start_session(NULL, &by_hand);
        struct writer *writer = small_writer(session);
        struct stayer stayer = {.events = 0};
        etwas_session_counts counts;
        pthread_t thread;

        if (with_backlog) {
            flush_some(writer);
        }
        open_staying(&stayer, session);
        close_staying(&stayer, writer, &thread);
        stop_session(session, &counts);
        let_go(&stayer, thread);
        expect_exact_account(session, &counts);
        assert_true(counts.lost_undelivered >= 100);
        assert_true(counts.realtime_buffers_lost >= 10);
        assert_int_equal(stayer.events, counts.recorded);
    }
}

/* The next consumer comes before the thread comes out of its callback. */
static void what_waits_for_a_closed_consumer_is_for_the_next(void **state)
{
    (void)state;
    for (int with_backlog = 0; with_backlog < 2; with_backlog++) {
        etwas_trace_handle session = start_session(NULL, &by_hand);
        struct writer *writer = small_writer(session);
        struct stayer stayer = {.events = 0};
        struct consumer next = {0};
        etwas_session_counts counts;
        pthread_t thread;

        if (with_backlog) {
            flush_some(writer);
        }
        open_staying(&stayer, session);
        close_staying(&stayer, writer, &thread);
        consumer_open(&next, session);
        consumer_start(&next);
        flush_some(writer);
        let_go(&stayer, thread);
        flush_some(writer);
        stop_session(session, &counts);
        consumer_join(&next);
        expect_exact_account(session, &counts);
        expect_nothing_lost(counts);
        assert_int_equal(next.wrong, 0);
        assert_int_equal(stayer.events + next.events, counts.recorded);
        consumer_free(&next);
    }
}

/* ---- closed while it reads the backlog ------------------------------------------------------- */

static struct {
    sem_t inside;
    sem_t go_on;
    uint32_t held;
} reading;

/* Holds the first who reads a buffer of a backlog. */
static long hold_who_reads(enum etwas_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_READ && ck_pr_faa_32(&reading.held, 1) == 0) {
        (void)sem_post(&reading.inside);
        while (sem_wait(&reading.go_on) != 0) {
        }
    }
    return (long)bytes;
}

/* The session has a backlog, and the consumer's thread is reading it. */
static void hold_in_the_backlog(struct consumer *consumer, etwas_trace_handle session,
                                struct writer *writer)
{
    assert_int_equal(sem_init(&reading.inside, 0, 0), 0);
    assert_int_equal(sem_init(&reading.go_on, 0, 0), 0);
    ck_pr_store_32(&reading.held, 0);
    flush_some(writer);
    etwas_file_fail(hold_who_reads);
    consumer_open(consumer, session);
    consumer_start(consumer);
    while (sem_wait(&reading.inside) != 0) {
    }
}

static void forget_reading(void)
{
    etwas_file_fail(NULL);
    (void)sem_destroy(&reading.inside);
    (void)sem_destroy(&reading.go_on);
}

/*
 * Nobody waits for it: it gives what it is reading, and the next one goes on behind that. Nothing
 * twice, nothing lost.
 */
static void the_next_goes_on_behind_what_a_closed_one_is_reading(void **state)
{
    etwas_trace_handle session = start_session(NULL, &by_hand);
    struct writer *writer = small_writer(session);
    struct consumer closed = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    hold_in_the_backlog(&closed, session, writer);
    flush_some(writer);
    assert_int_equal(CloseTrace(closed.trace), ERROR_CTX_CLOSE_PENDING);
    flush_some(writer);
    consumer_open(&next, session);
    consumer_start(&next);
    flush_some(writer);
    consumer_wait(&next, 4 * 100 - 10);
    (void)sem_post(&reading.go_on);
    consumer_join(&closed);
    forget_reading();
    stop_session(session, &counts);
    consumer_join(&next);
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

/* What it has taken is its own; the rest, which nobody will read, is counted. */
static void the_end_counts_what_is_behind_what_a_closed_one_is_reading(void **state)
{
    etwas_trace_handle session = start_session(NULL, &by_hand);
    struct writer *writer = small_writer(session);
    struct consumer closed = {0};
    etwas_session_counts counts;

    (void)state;
    hold_in_the_backlog(&closed, session, writer);
    assert_int_equal(CloseTrace(closed.trace), ERROR_CTX_CLOSE_PENDING);
    stop_session(session, &counts);
    (void)sem_post(&reading.go_on);
    consumer_join(&closed);
    forget_reading();
    expect_exact_account(session, &counts);
    assert_int_equal(counts.lost_undelivered, 90);
    assert_int_equal(closed.events, counts.recorded);
    consumer_free(&closed);
}

/* ---- closed, and its thread ends all the same ------------------------------------------------ */

static void close_and_end_thread(EVENT_RECORD *record)
{
    struct stayer *stayer = record->UserContext;

    if (++stayer->events == 5) {
        assert_int_equal(CloseTrace(stayer->trace), ERROR_CTX_CLOSE_PENDING);
        pthread_exit(NULL);
    }
}

/* What it had taken is for the next, too, from the event on that was not given. */
static void what_a_closed_one_had_taken_and_does_not_give_is_for_the_next(void **state)
{
    etwas_trace_handle session = start_session(NULL, &by_hand);
    struct writer *writer = small_writer(session);
    struct stayer stayer = {.events = 0};
    EVENT_TRACE_LOGFILEW file = {
        .LoggerName = inside_of(session)->configuration.name,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = close_and_end_thread,
        .Context = &stayer,
    };
    struct consumer next = {0};
    etwas_session_counts counts;
    pthread_t thread;

    (void)state;
    stayer.trace = OpenTraceW(&file);
    assert_true(stayer.trace != INVALID_PROCESSTRACE_HANDLE);
    stay_on_one_processor();
    flush_some(writer);
    leave_one_processor();
    assert_int_equal(pthread_create(&thread, NULL, process_closed, &stayer), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    consume_to_the_end(&next, session, &counts);
    expect_exact_account(session, &counts);
    expect_nothing_lost(counts);
    assert_int_equal(stayer.events, 5);
    assert_int_equal(stayer.events + next.events, counts.recorded);
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

    return RUN_WITH_EACH_PROTOCOL(tests);
}
