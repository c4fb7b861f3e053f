/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a consumer of a real-time session may do to itself, its session and its process. */
#include <ck_pr.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/flushing.h"
#include "support/readback.h"

/* ThreadSanitizer's: without it a child may start no threads. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* The allocators of the sanitizers may stay locked in a child when other threads used them. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ALLOCATES_BADLY_AFTER_FORK true
#else
#define ALLOCATES_BADLY_AFTER_FORK false
#endif

enum {
    CHILD_SECONDS = 60
};

/* What a callback needs. */
struct act {
    etwas_trace_handle session;
    uint64_t at_event; /* it acts before it looks at this one */
    uint32_t done;
    uint32_t code;
    struct writer *writer;
};

static bool is_time(struct consumer *consumer, struct act *act)
{
    return consumer->events == act->at_event && ck_pr_faa_32(&act->done, 1) == 0;
}

/* ---- threads that end ------------------------------------------------------------------------ */

static void exit_thread(struct consumer *consumer)
{
    if (is_time(consumer, consumer->context)) {
        pthread_exit(NULL);
    }
}

static void cancel_thread(struct consumer *consumer)
{
    if (is_time(consumer, consumer->context)) {
        (void)pthread_cancel(pthread_self());
        pthread_testcancel();
    }
}

/*
 * A thread that ends in a callback takes one event with it, the one that was being given, and
 * nothing else: the next consumer gets all others, the writers and the session go on. The trace can
 * be used again.
 */
static void a_consumer_whose_thread_ends_leaves_the_rest_to_the_next(void **state)
{
    void (*const ways[])(struct consumer *) = {exit_thread, cancel_thread};

    (void)state;
    for (size_t way = 0; way < 2; way++) {
        etwas_trace_handle session = start_realtime();
        struct writer *writer = small_writer(session);
        struct act act = {.session = session, .at_event = 1234};
        struct consumer dying = {.before = ways[way], .context = &act};
        struct consumer next = {0};
        etwas_session_counts counts;

        consume(&dying, session);
        log_events(writer, 5000);
        assert_int_equal(pthread_join(dying.thread, NULL), 0);
        assert_int_equal(dying.events, 1234);
        assert_int_equal(CloseTrace(dying.trace), ERROR_SUCCESS);
        consume(&next, session);
        log_events(writer, 1000);
        stop_and_join(session, &counts, &next);
        assert_int_equal(counts.recorded, 6000);
        expect_nothing_lost(counts);
        assert_int_equal(next.events, 6000 - 1234 - 1);
        assert_int_equal(next.seen[0].number, 1235);
        assert_int_equal(next.wrong, 0);
        consumer_free(&dying);
        consumer_free(&next);
    }
}

/* A thread can be cancelled while it waits for events; no lock stays behind. */
static void a_waiting_consumer_can_be_cancelled(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    struct consumer cancelled = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    consume(&cancelled, session);
    log_events(writer, 100);
    consumer_wait(&cancelled, 100);
    assert_int_equal(pthread_cancel(cancelled.thread), 0);
    assert_int_equal(pthread_join(cancelled.thread, NULL), 0);
    log_and_flush(writer, 100);
    consume(&next, session);
    consumer_wait(&next, 100);
    assert_int_equal(CloseTrace(cancelled.trace), ERROR_SUCCESS);
    stop_and_join(session, &counts, &next);
    assert_int_equal(counts.recorded, 200);
    assert_int_equal(next.events, 100);
    consumer_free(&cancelled);
    consumer_free(&next);
}

/* ---- callbacks that call --------------------------------------------------------------------- */

static void close_trace(struct consumer *consumer)
{
    struct act *act = consumer->context;

    if (is_time(consumer, act)) {
        act->code = CloseTrace(consumer->trace);
    }
}

static void stop_trace(struct consumer *consumer)
{
    struct act *act = consumer->context;
    EVENT_TRACE_PROPERTIES block = {
        .Wnode = {.BufferSize = sizeof block, .Flags = WNODE_FLAG_TRACED_GUID}};

    if (is_time(consumer, act)) {
        act->code = StopTraceA(act->session, NULL, &block);
    }
}

static void turn_off(struct consumer *consumer)
{
    struct act *act = consumer->context;
    EVENT_TRACE_PROPERTIES block = {
        .Wnode = {.BufferSize = sizeof block, .Flags = WNODE_FLAG_TRACED_GUID}};

    if (is_time(consumer, act)) {
        act->code = UpdateTraceA(act->session, NULL, &block);
    }
}

static void log_from_callback(struct consumer *consumer)
{
    struct act *act = consumer->context;

    if (consumer->events < act->at_event) {
        uint32_t code = writer_log(act->writer);

        act->code = code != ERROR_SUCCESS ? code : act->code;
        if (consumer->events % 100 == 0) {
            (void)etwas_flush(act->session);
        }
    }
}

/* CloseTrace in a callback ends ProcessTrace; what it had not got yet is for the next consumer. */
static void a_callback_may_close_its_trace(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    struct act act = {.session = session, .at_event = 700};
    struct consumer closing = {.before = close_trace, .context = &act};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    consume(&closing, session);
    log_events(writer, 3000);
    consumer_join(&closing);
    assert_int_equal(act.code, ERROR_CTX_CLOSE_PENDING);
    assert_int_equal(closing.code, ERROR_SUCCESS);
    assert_true(closing.events >= 701);
    consume(&next, session);
    stop_and_join(session, &counts, &next);
    assert_int_equal(closing.events + next.events, 3000);
    consumers_unmark(session);
    consumer_mark(&closing, session);
    consumer_mark(&next, session);
    assert_int_equal(consumers_missing(session), 0);
    consumer_free(&closing);
    consumer_free(&next);
}

/*
 * R174: whichever thread stops the session, ProcessTrace delivers everything and returns; also
 * when a callback stops it.
 */
static void a_callback_may_stop_its_session(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    struct act act = {.session = session, .at_event = 10};
    struct consumer stopping = {.before = stop_trace, .context = &act};
    struct consumer other = {0};
    uint32_t code;
    etwas_session_counts counts;

    (void)state;
    consumer_open(&stopping, session);
    consumer_open(&other, session);
    consumer_start(&stopping);
    consumer_start(&other);
    do {
        code = writer_log(writer);
    } while (code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    assert_int_equal(code, ERROR_INVALID_HANDLE);
    consumer_join(&stopping);
    consumer_join(&other);
    assert_int_equal(act.code, ERROR_SUCCESS);
    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    assert_int_equal(stopping.events, counts.recorded);
    assert_int_equal(other.events, counts.recorded);
    expect_exact_account(session, &counts);
    expect_consumer_is_exact(&stopping, session);
    expect_consumer_is_exact(&other, session);
    consumer_free(&stopping);
    consumer_free(&other);
}

/* R134: the same with UPDATE: the file goes on. */
static void a_callback_may_turn_real_time_off(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = realtime_options();
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = small_writer(session);
    struct act act = {.session = session, .at_event = 300};
    struct consumer consumer = {.before = turn_off, .context = &act};
    etwas_session_counts counts;

    (void)state;
    consume(&consumer, session);
    log_events(writer, 5000);
    consumer_join(&consumer);
    assert_int_equal(act.code, ERROR_SUCCESS);
    assert_int_equal(consumer.code, ERROR_SUCCESS);
    assert_true(consumer.events > 300);
    log_events(writer, 500);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 5500);
    consumer_mark(&consumer, session);
    expect_file_is_exact(session, path, &counts);
    consumer_free(&consumer);
}

/* What a callback logs comes back to it. */
static void a_callback_may_log_to_its_own_session(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    struct act act = {.session = session, .at_event = 200, .writer = small_writer(session)};
    struct consumer consumer = {.before = log_from_callback, .context = &act};
    etwas_session_counts counts;

    (void)state;
    consume(&consumer, session);
    log_events(writer, 50);
    consumer_wait(&consumer, 250);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(act.code, ERROR_SUCCESS);
    assert_int_equal(counts.recorded, 250);
    expect_consumer_is_exact(&consumer, session);
    consumer_free(&consumer);
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* How many descriptors are open on files without a name. */
static uint32_t unnamed_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    uint32_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char link[PATH_MAX];
        char target[PATH_MAX];
        ssize_t length;

        (void)snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        length = readlink(link, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = 0;
        count += strstr(target, folder_path("")) != NULL && strstr(target, "(deleted)") != NULL;
    }
    (void)closedir(folder);
    return count;
}

/* In the child: nothing of the parent's is left, and all works anew. */
static void consume_as_child(const struct consumer *of_parent)
{
    struct consumer consumer = {0};
    etwas_trace_handle trace = of_parent->trace;
    etwas_trace_handle session;
    struct writer *writer;
    etwas_session_counts counts;

    (void)alarm(CHILD_SECONDS);
    assert_int_equal(unnamed_files(), 0);
    (void)CloseTrace(trace);
    session = start_realtime();
    writer = small_writer(session);
    log_and_flush(writer, 500);
    consume(&consumer, session);
    log_events(writer, 500);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(consumer.events, 1000);
    assert_int_equal(counts.recorded, 1000);
    consumer_free(&consumer);
}

static uint32_t child_failed(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/*
 * I7. A fork at any moment of delivery: the child has no copy of a session, the parent notices
 * nothing.
 */
static void a_fork_beside_consumers_disturbs_nobody(void **state)
{
    etwas_session_options options = realtime_options();
    struct consumer consumer = {0};
    struct consumer idle = {0};
    struct writers writers;
    etwas_trace_handle session;
    etwas_session_counts counts;

    (void)state;
    if (ALLOCATES_BADLY_AFTER_FORK) {
        print_message("skipped: a sanitizer cannot allocate after this fork\n");
        skip();
    }
    options.backlog_folder = folder_path(".");
    session = start_session(NULL, &options);
    consumer_open(&consumer, session);
    consumer_open(&idle, session);
    consumer_start(&consumer);
    writers_start(&writers, 2,
                  &(struct writer_options){
                      .session = session, .class_handle = writer_class(), .largest_payload = 100});
    for (uint32_t round = 0; round < 5; round++) {
        pid_t child = fork();

        if (child == 0) {
            consume_as_child(round % 2 == 0 ? &consumer : &idle);
            _exit(0);
        }
        assert_int_equal(child_failed(child), 0);
        assert_int_equal(unnamed_files(), 1);
    }
    writers_end(&writers);
    writers_join(&writers);
    assert_int_equal(CloseTrace(idle.trace), ERROR_SUCCESS);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(unnamed_files(), 0);
    expect_exact_account(session, &counts);
    assert_int_equal(consumer.events, counts.recorded);
    /*
     * Writers are quicker than a consumer: what its queue could not hold is lost, and is counted.
     */
    consumers_unmark(session);
    consumer_mark(&consumer, session);
    assert_int_equal(consumers_missing(session), counts.lost_undelivered);
    assert_int_equal(consumer.wrong, 0);
    consumer_free(&consumer);
}

static void fork_here(struct consumer *consumer)
{
    struct act *act = consumer->context;

    if (is_time(consumer, act)) {
        act->code = (uint32_t)fork();
        if (act->code != 0) {
            act->code = child_failed((pid_t)act->code);
        } else {
            act->done = 100;
        }
    }
}

/* A child that is forked in a callback comes out of ProcessTrace; its parent goes on. */
static void a_callback_may_fork(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    struct act act = {.session = session, .at_event = 2000};
    struct consumer consumer = {.before = fork_here, .context = &act};
    pid_t parent = getpid();
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 4000);
    consumer_open(&consumer, session);
    /* In this thread, so that the child has a main that goes on. */
    stop_session(session, &counts);
    consumer.code = ProcessTrace(&consumer.trace, 1, NULL, NULL);
    if (getpid() != parent) {
        (void)alarm(CHILD_SECONDS);
        (void)CloseTrace(consumer.trace);
        consume_as_child(&consumer);
        _exit(consumer.code != ERROR_SUCCESS);
    }
    assert_int_equal(act.done, 1);
    assert_int_equal(act.code, 0);
    assert_int_equal(consumer.code, ERROR_SUCCESS);
    assert_int_equal(CloseTrace(consumer.trace), ERROR_SUCCESS);
    assert_int_equal(consumer.events, 4000);
    assert_int_equal(counts.recorded, 4000);
    consumer_free(&consumer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_consumer_whose_thread_ends_leaves_the_rest_to_the_next),
        FOLDER_TEST(a_waiting_consumer_can_be_cancelled),
        FOLDER_TEST(a_callback_may_close_its_trace),
        FOLDER_TEST(a_callback_may_stop_its_session),
        FOLDER_TEST(a_callback_may_turn_real_time_off),
        FOLDER_TEST(a_callback_may_log_to_its_own_session),
        FOLDER_TEST(a_fork_beside_consumers_disturbs_nobody),
        FOLDER_TEST(a_callback_may_fork),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
