/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Real-time sessions and their consumers inside the process. */
#include <ck_pr.h>
#include <time.h>
#include <unistd.h>

#include "support/flushing.h"
#include "support/readback.h"

enum {
    PAUSE_US = 1000,
};

/*
 * R172, R174, R99: what writers on all processors log arrives at a flush, in time order, without
 * the file header's event; ProcessTrace returns when the session is stopped.
 */
static void a_consumer_sees_everything_in_time_order(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct consumer consumer = {0};
    struct writers writers;
    etwas_session_counts counts;

    (void)state;
    consume(&consumer, session);
    writers_start(&writers, 4,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 30000,
                                           .largest_payload = 300});
    writers_join(&writers);
    consumer_wait(&consumer, counts_of(session).recorded);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(consumer.code, ERROR_SUCCESS);
    expect_exact_account(session, &counts);
    assert_int_equal(counts.lost, counts.lost_no_buffer);
    assert_int_equal(consumer.events, counts.recorded);
    expect_consumer_is_exact(&consumer, session);
    assert_int_equal(consumer.lost_event_notices != 0, counts.lost != 0);
    consumer_free(&consumer);
}

/* One writer's events cannot overtake each other, whatever it does. */
static void one_threads_events_keep_their_order(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};

    (void)state;
    consume(&consumer, session);
    for (uint32_t number = 0; number < 20000; number++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        if (number % 1000 == 0) {
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
    }
    stop_and_join(session, NULL, &consumer);
    for (uint64_t index = 0; index < consumer.events; index++) {
        assert_int_equal(consumer.seen[index].number, index);
    }
    assert_int_equal(consumer.backwards, 0);
    expect_consumer_is_exact(&consumer, session);
    consumer_free(&consumer);
}

/*
 * R171: what was flushed before there was a consumer comes first, and nothing is lost between the
 * two.
 */
static void the_backlog_comes_before_what_is_new(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    for (int round = 0; round < 3; round++) {
        struct consumer consumer = {0};
        uint64_t before = writer->attempted;

        log_and_flush(writer, 5000);
        consume(&consumer, session);
        log_events(writer, 5000);
        consumer_wait(&consumer, 10000);
        assert_int_equal(CloseTrace(consumer.trace), ERROR_CTX_CLOSE_PENDING);
        consumer_join(&consumer);
        assert_int_equal(consumer.code, ERROR_SUCCESS);
        assert_int_equal(consumer.events, 10000);
        for (uint64_t index = 0; index < consumer.events; index++) {
            assert_int_equal(consumer.seen[index].number, before + index);
        }
        consumer_free(&consumer);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 30000);
    expect_nothing_lost(counts);
    assert_int_equal(counts.realtime_buffers_lost, 0);
}

/* What no consumer ever read is lost when the session ends, and is counted so. */
static void an_unread_backlog_is_lost_at_the_end(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 1000);
    assert_int_equal(counts_of(session).recorded, 1000);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 0);
    assert_int_equal(counts.lost_undelivered, 1000);
    assert_true(counts.realtime_buffers_lost > 0);
    expect_exact_account(session, &counts);
}

/* R15, R84: with a file too, the file and every consumer have everything. */
static void file_and_consumers_each_have_everything(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = realtime_options();
    etwas_trace_handle session = start_session(path, &options);
    struct consumer consumers[3] = {{0}, {0}, {0}};
    struct writers writers;
    etwas_session_counts counts;

    (void)state;
    for (int index = 0; index < 3; index++) {
        consume(&consumers[index], session);
    }
    writers_start(&writers, 3,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 20000,
                                           .largest_payload = 200});
    writers_join(&writers);
    stop_session(session, &counts);
    for (int index = 0; index < 3; index++) {
        consumer_join(&consumers[index]);
        assert_int_equal(consumers[index].code, ERROR_SUCCESS);
        assert_int_equal(consumers[index].events, counts.recorded);
        expect_consumer_is_exact(&consumers[index], session);
        consumer_free(&consumers[index]);
    }
    expect_file_is_exact(session, path, &counts);
}

/*
 * R170: without a consumer the backlog, and then the pool, is full: logging fails with
 * ERROR_LOG_FILE_FULL, and goes on when a consumer comes, which sees everything that was recorded.
 * A file makes no difference (C8).
 */
static void a_full_backlog_refuses_events_until_a_consumer_comes(void **state)
{
    (void)state;
    for (int with_file = 0; with_file < 2; with_file++) {
        const char *path = with_file ? folder_path("trace.etl") : NULL;
        etwas_session_options options = realtime_options();
        etwas_trace_handle session;
        struct consumer consumer = {0};
        struct writer *writer;
        etwas_session_counts counts;
        uint64_t refused = 0;

        options.backlog_kb = 64;
        options.maximum_buffers = 8;
        session = start_session(path, &options);
        writer = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .largest_payload = 500});
        while (refused < 100) {
            uint32_t code = writer_log(writer);

            assert_true(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY ||
                        code == ERROR_LOG_FILE_FULL);
            refused += code == ERROR_LOG_FILE_FULL;
            if (code == ERROR_NOT_ENOUGH_MEMORY) {
                (void)usleep(PAUSE_US); /* the flusher has not come yet */
            }
        }
        assert_int_equal(etwas_flush(session), ERROR_LOG_FILE_FULL);
        assert_int_equal(counts_of(session).lost_backlog_full, refused);
        consume(&consumer, session);
        while (writer_log(writer) != ERROR_SUCCESS) {
            (void)usleep(PAUSE_US);
        }
        stop_and_join(session, &counts, &consumer);
        assert_true(counts.lost_backlog_full >= refused);
        assert_int_equal(counts.lost_undelivered, 0);
        expect_exact_account(session, &counts);
        assert_int_equal(consumer.events, counts.recorded);
        expect_consumer_is_exact(&consumer, session);
        assert_int_equal(consumer.backwards, 0);
        assert_true(consumer.lost_event_notices > 0);
        if (with_file) {
            expect_file_is_exact(session, path, &counts);
        }
        consumer_free(&consumer);
    }
}

/* R65 in real time: one stream, in the order of time, of no processor. */
static void a_session_with_one_slot_is_delivered_too(void **state)
{
    etwas_session_options options = realtime_options();
    etwas_trace_handle session;
    struct consumer consumer = {0};
    struct writers writers;
    etwas_session_counts counts;

    (void)state;
    options.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    options.protocol = ETWAS_PROTOCOL_SHARED;
    session = start_session(NULL, &options);
    consume(&consumer, session);
    writers_start(&writers, 3,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 10000,
                                           .largest_payload = 200});
    writers_join(&writers);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(consumer.events, counts.recorded);
    assert_int_equal(consumer.backwards, 0);
    expect_consumer_is_exact(&consumer, session);
    consumer_free(&consumer);
}

/*
 * R82: FlushTimer 0 is a second in real time: what is in a buffer arrives without being asked for.
 */
static void without_a_timer_delivery_comes_every_second(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE};
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer =
        writer_new(&(struct writer_options){.session = session, .largest_payload = 100});
    struct consumer consumer = {0};

    (void)state;
    consume(&consumer, session);
    assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    consumer_wait(&consumer, 1);
    stop_and_join(session, NULL, &consumer);
    expect_consumer_is_exact(&consumer, session);
    consumer_free(&consumer);
}

static EVENT_TRACE_PROPERTIES block_for_update(uint32_t log_file_mode)
{
    return (EVENT_TRACE_PROPERTIES){
        .Wnode = {.BufferSize = sizeof(EVENT_TRACE_PROPERTIES), .Flags = WNODE_FLAG_TRACED_GUID},
        .LogFileMode = log_file_mode,
    };
}

/* R134: every UPDATE turns real time on or off; writers and the file go on. */
static void an_update_turns_real_time_on_and_off(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_session(path, NULL);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    for (int round = 0; round < 3; round++) {
        EVENT_TRACE_PROPERTIES on = block_for_update(EVENT_TRACE_REAL_TIME_MODE);
        EVENT_TRACE_PROPERTIES off = block_for_update(0);
        struct consumer consumer = {0};
        uint64_t before = writer->attempted;

        log_and_flush(writer, 500);
        assert_int_equal(UpdateTraceA(session, NULL, &on), ERROR_SUCCESS);
        assert_true((on.LogFileMode & EVENT_TRACE_REAL_TIME_MODE) != 0);
        consume(&consumer, session);
        log_events(writer, 500);
        assert_int_equal(UpdateTraceA(session, NULL, &off), ERROR_SUCCESS);
        assert_int_equal(off.LogFileMode & EVENT_TRACE_REAL_TIME_MODE, 0);
        consumer_join(&consumer);
        assert_int_equal(consumer.code, ERROR_SUCCESS);
        assert_int_equal(consumer.events, 500);
        assert_int_equal(consumer.seen[0].number, before + 500);
        consumer_free(&consumer);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 3000);
    expect_file_is_exact(session, path, &counts);
}

/* A session that logs nowhere else cannot turn real time off; nothing changes. */
static void real_time_without_a_file_cannot_be_turned_off(void **state)
{
    etwas_session_options options = realtime_options();
    etwas_trace_handle session = start_session(NULL, &options);
    EVENT_TRACE_PROPERTIES off = block_for_update(0);
    struct consumer consumer = {0};

    (void)state;
    off.FlushTimer = 77;
    assert_int_equal(UpdateTraceA(session, NULL, &off), ERROR_INVALID_PARAMETER);
    assert_int_equal(query_session(session).FlushTimer, options.flush_timer);
    consume_to_the_end(&consumer, session, NULL);
    consumer_free(&consumer);
}

/*
 * CONVERT_TO_REALTIME: the file holds what was before, whole and finished; consumers get what comes
 * after.
 */
static void a_converted_session_leaves_its_file_and_goes_on(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_session(path, NULL);
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    struct readback result;
    etwas_session_counts counts;

    (void)state;
    log_events(writer, 700);
    convert_to_realtime(session);
    read_back(session, path, &result);
    assert_int_equal(result.events, 700);
    assert_int_equal(result.wrong, 0);
    assert_false(result.unfinished);
    consume(&consumer, session);
    log_events(writer, 300);
    stop_and_join(session, &counts, &consumer);
    assert_true(consumer.events >= 300);
    assert_int_equal(consumer.seen[consumer.events - 1].number, 999);
    assert_int_equal(counts.recorded, 1000);
    consumer_free(&consumer);
}

static void wait_for_word(struct consumer *consumer)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (ck_pr_load_32(consumer->context) == 0) {
        (void)nanosleep(&pause, NULL);
    }
}

/*
 * R175: a consumer that stands still costs the writers and the other consumers nothing. What its
 * queue could not hold is lost for it alone, and it is told.
 */
static void a_slow_consumer_harms_nobody_else(void **state)
{
    etwas_session_options options = realtime_options();
    etwas_trace_handle session;
    struct consumer quick = {0};
    struct consumer slow = {.before = wait_for_word};
    struct writer *writer;
    etwas_session_counts counts;
    uint32_t go_on = 0;

    (void)state;
    options.consumer_queue_kb = 64;
    session = start_session(NULL, &options);
    writer = small_writer(session);
    slow.context = &go_on;
    consumer_open(&quick, session);
    consumer_open(&slow, session);
    consumer_start(&quick);
    consumer_start(&slow);
    for (uint32_t number = 0; number < 20000; number++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        if (number % 100 == 0) {
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
            consumer_wait(&quick, number / 100 * 100);
        }
    }
    ck_pr_store_32(&go_on, 1);
    stop_and_join(session, &counts, &quick);
    consumer_join(&slow);
    assert_int_equal(counts.recorded, 20000);
    assert_int_equal(quick.events, 20000);
    expect_consumer_is_exact(&quick, session);
    assert_int_equal(quick.lost_buffer_notices, 0);
    assert_true(slow.events < 20000);
    assert_int_equal(slow.wrong, 0);
    assert_true(slow.lost_buffer_notices > 0);
    assert_true(counts.realtime_buffers_lost > 0);
    consumer_mark(&slow, session);
    consumer_free(&quick);
    consumer_free(&slow);
}

/* The last consumer's unread buffers are the next one's backlog. */
static void what_a_consumer_leaves_unread_is_kept_for_the_next(void **state)
{
    etwas_trace_handle session = start_realtime();
    struct writer *writer = small_writer(session);
    struct consumer idle = {0};
    struct consumer cancelled = {.stop_after_buffers = 2};
    struct consumer last = {0};
    etwas_session_counts counts;

    (void)state;
    consumer_open(&idle, session);
    log_and_flush(writer, 5000);
    assert_int_equal(CloseTrace(idle.trace), ERROR_SUCCESS);

    consume(&cancelled, session);
    consumer_join(&cancelled);
    assert_int_equal(cancelled.code, ERROR_CANCELLED);
    assert_true(cancelled.events < 5000);

    consume_to_the_end(&last, session, &counts);
    assert_int_equal(counts.recorded, 5000);
    consumers_unmark(session);
    consumer_mark(&cancelled, session);
    consumer_mark(&last, session);
    assert_true(cancelled.events + last.events <= 5000);
    assert_true(last.events > 0);
    consumer_free(&cancelled);
    consumer_free(&last);
}

/* R173, C16: what ProcessTrace and OpenTrace say of sessions that are not there, or not alone. */
static void only_a_running_realtime_session_can_be_consumed(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle with_file = start_session(path, NULL);
    etwas_trace_handle session = start_realtime();
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)path};
    EVENT_TRACE_LOGFILEA absent = {.LoggerName = (char[]){"nobody"},
                                   .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME};
    EVENT_TRACE_LOGFILEW not_realtime = {.LoggerName = session_name(with_file),
                                         .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME};
    struct consumer consumer = {0};
    etwas_trace_handle handles[2];

    (void)state;
    handles[0] = OpenTraceA(&absent);
    assert_int_equal(ProcessTrace(handles, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);
    handles[0] = OpenTraceW(&not_realtime);
    assert_int_equal(ProcessTrace(handles, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(CloseTrace(handles[0]), ERROR_SUCCESS);

    stop_session(with_file, NULL);
    consumer_open(&consumer, session);
    handles[0] = consumer.trace;
    handles[1] = OpenTraceA(&file);
    assert_true(handles[1] != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(handles, 2, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(CloseTrace(handles[1]), ERROR_SUCCESS);
    absent.LogFileName = (char *)(uintptr_t)path;
    assert_true(OpenTraceA(&absent) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);

    /* A session that ends before ProcessTrace: what it left, then the end; then it is not there. */
    stop_session(session, NULL);
    consumer_start(&consumer);
    assert_int_equal(pthread_join(consumer.thread, NULL), 0);
    assert_int_equal(consumer.code, ERROR_SUCCESS);
    assert_int_equal(ProcessTrace(handles, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(CloseTrace(consumer.trace), ERROR_SUCCESS);
    consumer_free(&consumer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_consumer_sees_everything_in_time_order),
        FOLDER_TEST(one_threads_events_keep_their_order),
        FOLDER_TEST(the_backlog_comes_before_what_is_new),
        FOLDER_TEST(an_unread_backlog_is_lost_at_the_end),
        FOLDER_TEST(file_and_consumers_each_have_everything),
        FOLDER_TEST(a_full_backlog_refuses_events_until_a_consumer_comes),
        FOLDER_TEST(a_session_with_one_slot_is_delivered_too),
        FOLDER_TEST(without_a_timer_delivery_comes_every_second),
        FOLDER_TEST(an_update_turns_real_time_on_and_off),
        FOLDER_TEST(real_time_without_a_file_cannot_be_turned_off),
        FOLDER_TEST(a_converted_session_leaves_its_file_and_goes_on),
        FOLDER_TEST(a_slow_consumer_harms_nobody_else),
        FOLDER_TEST(what_a_consumer_leaves_unread_is_kept_for_the_next),
        FOLDER_TEST(only_a_running_realtime_session_can_be_consumed),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
