/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Consumers that come and go at random while writers write: whatever happens, each recorded event
 * was seen by somebody, and each that nobody saw is counted.
 */
#include <ck_pr.h>
#include <stdlib.h>
#include <time.h>

#include "support/consumer.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    COMERS = 4,
    VISITS = 12, /* of each */
};

/* A thread that is one consumer after the other. */
struct comer {
    pthread_t thread;
    etwas_trace_handle session;
    unsigned seed;
    struct consumer visits[VISITS];
};

static uint32_t random_below(struct comer *comer, uint32_t limit)
{
    return (uint32_t)rand_r(&comer->seed) % limit;
}

static void pause_for(uint32_t microseconds)
{
    const struct timespec pause = {.tv_nsec = (long)microseconds * 1000};

    (void)nanosleep(&pause, NULL);
}

static void end_thread(struct consumer *consumer)
{
    if (consumer->events > (uint64_t)(uintptr_t)consumer->context) {
        pthread_exit(NULL);
    }
}

/* Comes, and leaves in one of the ways there are. */
static void visit(struct comer *comer, struct consumer *consumer)
{
    uint32_t way = random_below(comer, 5);

    if (way == 0) {
        consumer->stop_after_buffers = 1 + random_below(comer, 20);
    } else if (way == 1) {
        consumer->behind = end_thread;
        consumer->context = (void *)(uintptr_t)random_below(comer, 2000);
    }
    consumer_open(consumer, comer->session);
    pause_for(random_below(comer, 3000));
    if (way == 2) {
        /* This one never reads. */
        assert_int_equal(CloseTrace(consumer->trace), ERROR_SUCCESS);
        return;
    }
    consumer_start(consumer);
    pause_for(random_below(comer, 20000));
    if (way > 2) {
        (void)CloseTrace(consumer->trace);
    } else {
        /* Enough may not come: then it is closed all the same. */
        pause_for(20000);
        (void)CloseTrace(consumer->trace);
    }
    consumer_join(consumer);
}

static void *come_and_go(void *argument)
{
    struct comer *comer = argument;

    for (uint32_t index = 0; index < VISITS; index++) {
        visit(comer, &comer->visits[index]);
        pause_for(random_below(comer, 5000));
    }
    return NULL;
}

/* Marks what all of them saw; returns how many events that were, those seen more than once too. */
static uint64_t mark_all(struct comer *comers, etwas_trace_handle session)
{
    uint64_t seen = 0;

    consumers_unmark(session);
    for (uint32_t comer = 0; comer < COMERS; comer++) {
        for (uint32_t index = 0; index < VISITS; index++) {
            struct consumer *consumer = &comers[comer].visits[index];

            consumer_mark(consumer, session);
            assert_int_equal(consumer->wrong, 0);
            assert_int_equal(consumer->lost_file_notices, 0);
            seen += consumer->events;
            consumer_free(consumer);
        }
    }
    return seen;
}

static void run(const char *path, const etwas_session_options *options, uint32_t events,
                etwas_session_counts *counts)
{
    etwas_trace_handle session = start_session(path, options);
    struct comer *comers = calloc(COMERS, sizeof *comers);
    struct consumer last = {0};
    struct writers writers;

    writers_start(&writers, 2,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = events,
                                           .largest_payload = 100});
    for (uint32_t comer = 0; comer < COMERS; comer++) {
        comers[comer].session = session;
        comers[comer].seed = comer + 1;
        assert_int_equal(pthread_create(&comers[comer].thread, NULL, come_and_go, &comers[comer]),
                         0);
    }
    for (uint32_t comer = 0; comer < COMERS; comer++) {
        assert_int_equal(pthread_join(comers[comer].thread, NULL), 0);
    }
    writers_end(&writers);
    writers_join(&writers);
    consumer_open(&last, session);
    consumer_start(&last);
    stop_session(session, counts);
    consumer_join(&last);
    expect_exact_account(session, counts);
    (void)mark_all(comers, session);
    consumer_mark(&last, session);
    assert_int_equal(last.wrong, 0);
    if (path == NULL) {
        assert_int_equal(consumers_missing(session), counts->lost_undelivered);
    } else {
        assert_int_equal(counts->lost_undelivered, 0);
        expect_file_is_exact(session, path, counts);
    }
    consumer_free(&last);
    free(comers);
}

static etwas_session_options realtime_options(void)
{
    return (etwas_session_options){
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .flush_timer = 2,
        .buffer_size_kb = 8,
        .clock = ETWAS_CLOCK_TSC,
    };
}

/* R171, R175: with room for everything nothing is lost. */
static void consumers_that_come_and_go_lose_nothing_together(void **state)
{
    etwas_session_options options = realtime_options();
    etwas_session_counts counts;

    (void)state;
    options.consumer_queue_kb = 1024 * 1024;
    options.backlog_kb = 1024 * 1024;
    run(NULL, &options, 200000, &counts);
    assert_int_equal(counts.lost, counts.lost_no_buffer);
    assert_int_equal(counts.realtime_buffers_lost, 0);
}

/* R170: with little room what is lost is lost to the accounts too, to the event. */
static void what_no_consumer_saw_is_counted_to_the_event(void **state)
{
    etwas_session_options options = realtime_options();
    etwas_session_counts counts;

    (void)state;
    options.consumer_queue_kb = 32;
    options.backlog_kb = 64;
    run(NULL, &options, 200000, &counts);
    assert_true(counts.lost_undelivered > 0);
    assert_true(counts.realtime_buffers_lost > 0);
}

/* The same beside a file, which has everything. */
static void a_file_has_what_consumers_lose(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = realtime_options();
    etwas_session_counts counts;

    (void)state;
    options.consumer_queue_kb = 32;
    options.backlog_kb = 64;
    run(path, &options, 100000, &counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(consumers_that_come_and_go_lose_nothing_together),
        FOLDER_TEST(what_no_consumer_saw_is_counted_to_the_event),
        FOLDER_TEST(a_file_has_what_consumers_lose),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
