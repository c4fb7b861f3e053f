/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The backlog of a real-time session when its disk fails, and what consumers leave in it. */
#include <ck_pr.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "realtime/realtime_inside.h"
#include "support/flushing.h"
#include "support/hold.h"
#include "support/inside.h"

/* No thread: what is flushed, and when, is the test's choice. */
static etwas_session_options manual_options(void)
{
    return (etwas_session_options){
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
        .buffer_size_kb = 16,
        .clock = ETWAS_CLOCK_TSC,
        .flusher = {.no_thread = true},
        .backlog_folder = folder_path("."),
    };
}

/* ---- failures -------------------------------------------------------------------------------- */

static enum etwas_file_call failing_call;
static int failing_errno; /* 0: so many bytes less than asked for, at most */
static uint32_t failures_left;

static long fail_some(enum etwas_file_call call, size_t bytes)
{
    if (call != failing_call || ck_pr_load_32(&failures_left) == 0) {
        return (long)bytes;
    }
    (void)ck_pr_faa_32(&failures_left, UINT32_MAX);
    return failing_errno != 0 ? -failing_errno : (long)(bytes / 3);
}

static void fail_next(enum etwas_file_call call, int error, uint32_t times)
{
    failing_call = call;
    failing_errno = error;
    ck_pr_store_32(&failures_left, times);
    etwas_file_fail(fail_some);
}

/* A session whose backlog has no place does not start, and leaves nothing behind. */
static void a_backlog_that_cannot_be_made_refuses_the_start(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = 0;

    (void)state;
    options.backlog_folder = folder_path("nowhere");
    assert_int_equal(etwas_start("no backlog", NULL, &options, &session), ERROR_PATH_NOT_FOUND);
    options.backlog_folder = folder_path(".");
    fail_next(ETWAS_FILE_OPEN, EMFILE, 1);
    assert_int_equal(etwas_start("no backlog", NULL, &options, &session),
                     ERROR_NO_SYSTEM_RESOURCES);
    etwas_file_fail(NULL);
    assert_int_equal(session, 0);
    assert_int_equal(etwas_start("no backlog", NULL, &options, &session), ERROR_SUCCESS);
    stop_session(session, NULL);
}

/*
 * R170, R175: what the disk refuses is lost, counted event by event, and the next consumer is told
 * that events, buffers and a file were lost. What was stored before and after is whole.
 */
static void a_backlog_that_cannot_be_written_loses_what_was_refused(void **state)
{
    (void)state;
    for (int error = 0; error < 2; error++) {
        etwas_session_options options = manual_options();
        etwas_trace_handle session = start_session(NULL, &options);
        struct writer *writer = small_writer(session);
        struct consumer consumer = {0};
        etwas_session_counts counts;

        log_and_flush(writer, 700);
        log_events(writer, 300);
        fail_next(ETWAS_FILE_WRITE, error == 0 ? ENOSPC : EIO, UINT32_MAX);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        etwas_file_fail(NULL);
        assert_int_equal(counts_of(session).lost_undelivered, 300);
        log_and_flush(writer, 500);
        consume_to_the_end(&consumer, session, &counts);
        assert_int_equal(consumer.events, 1200);
        assert_int_equal(consumer.seen[699].number, 699);
        assert_int_equal(consumer.seen[700].number, 1000);
        assert_int_equal(counts.recorded, 1200);
        assert_int_equal(counts.lost, 300);
        assert_true(counts.realtime_buffers_lost > 0);
        expect_exact_account(session, &counts);
        assert_true(consumer.lost_event_notices > 0);
        assert_true(consumer.lost_buffer_notices > 0);
        assert_int_equal(consumer.lost_file_notices, 1);
        consumer_free(&consumer);
    }
}

/* The system may store and give back less than it was asked for, or be interrupted. */
static void short_writes_and_reads_of_the_backlog_lose_nothing(void **state)
{
    const enum etwas_file_call calls[] = {ETWAS_FILE_WRITE, ETWAS_FILE_READ};
    const int errors[] = {0, EINTR};

    (void)state;
    for (int index = 0; index < 4; index++) {
        etwas_session_options options = manual_options();
        etwas_trace_handle session = start_session(NULL, &options);
        struct writer *writer = small_writer(session);
        struct consumer consumer = {0};
        etwas_session_counts counts;

        fail_next(calls[index % 2], errors[index / 2], 5);
        log_and_flush(writer, 2000);
        consume_to_the_end(&consumer, session, &counts);
        etwas_file_fail(NULL);
        assert_int_equal(ck_pr_load_32(&failures_left), 0);
        expect_nothing_lost(counts);
        assert_int_equal(consumer.events, 2000);
        expect_consumer_is_exact(&consumer, session);
        assert_int_equal(consumer.lost_file_notices, 0);
        consumer_free(&consumer);
    }
}

/* R175: Lost_Event type 34 for what cannot be read; what comes after it is delivered. */
static void a_backlog_that_cannot_be_read_is_lost(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 900);
    fail_next(ETWAS_FILE_READ, EIO, UINT32_MAX);
    consumer_open(&consumer, session);
    log_and_flush(writer, 400);
    consumer_start(&consumer);
    consumer_wait(&consumer, 400);
    etwas_file_fail(NULL);
    stop_session(session, &counts);
    consumer_join(&consumer);
    assert_int_equal(consumer.events, 400);
    assert_int_equal(consumer.seen[0].number, 900);
    assert_true(consumer.lost_file_notices > 0);
    assert_int_equal(consumer.lost_buffer_notices, consumer.lost_file_notices);
    assert_int_equal(counts.recorded, 400);
    assert_int_equal(counts.lost_undelivered, 900);
    expect_exact_account(session, &counts);
    consumer_free(&consumer);
}

static long fail_first_buffer(enum etwas_file_call call, size_t bytes)
{
    return call == ETWAS_FILE_READ && ck_pr_faa_32(&failures_left, UINT32_MAX) == 1 ? -EIO
                                                                                    : (long)bytes;
}

/* R175: what comes behind it is delivered. */
static void a_buffer_of_the_backlog_that_cannot_be_read_is_lost_alone(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    log_and_flush(writer, 50);
    log_and_flush(writer, 500);
    leave_one_processor();
    ck_pr_store_32(&failures_left, 1);
    etwas_file_fail(fail_first_buffer);
    consume(&consumer, session);
    consumer_wait(&consumer, 500);
    etwas_file_fail(NULL);
    stop_session(session, &counts);
    consumer_join(&consumer);
    assert_int_equal(consumer.seen[0].number, 50);
    assert_int_equal(consumer.lost_file_notices, 1);
    assert_int_equal(consumer.lost_buffer_notices, 1);
    assert_int_equal(counts.lost_undelivered, 50);
    assert_int_equal(counts.realtime_buffers_lost, 1);
    expect_exact_account(session, &counts);
    consumer_free(&consumer);
}

/*
 * What is damaged on its way through the file is given up buffer by buffer, whatever its header
 * says: what comes behind it is delivered, and every event is accounted for.
 */
static void a_buffer_that_is_damaged_in_the_backlog_is_given_up_R175(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
    } damages[] = {
        {offsetof(struct etwas_etl_buffer_header, processor), 0x000107FF},
        {offsetof(struct etwas_etl_buffer_header, buffer_bytes), 0},
        {offsetof(struct etwas_etl_buffer_header, buffer_bytes), UINT32_MAX},
        {offsetof(struct etwas_etl_buffer_header, flags), ETWAS_ETL_BUFFER_COMPRESSED},
    };

    (void)state;
    for (size_t index = 0; index < sizeof damages / sizeof damages[0]; index++) {
        etwas_session_options options = manual_options();
        etwas_trace_handle session = start_session(NULL, &options);
        const struct etwas_backlog *backlog = &inside_of(session)->realtime->backlog;
        struct writer *writer = small_writer(session);
        struct consumer consumer = {0};
        etwas_session_counts counts;

        stay_on_one_processor();
        log_and_flush(writer, 50);
        log_and_flush(writer, 500);
        leave_one_processor();
        assert_int_equal(pwrite(backlog->descriptor, &damages[index].value, 4,
                                (off_t)(backlog->entries.first->position + damages[index].at)),
                         4);
        consumer_open(&consumer, session);
        consumer_start(&consumer);
        consumer_wait(&consumer, 500);
        stop_session(session, &counts);
        consumer_join(&consumer);
        assert_int_equal(consumer.code, ERROR_SUCCESS);
        assert_int_equal(consumer.seen[0].number, 50);
        assert_int_equal(counts.lost_undelivered, 50);
        assert_int_equal(counts.realtime_buffers_lost, 1);
        expect_exact_account(session, &counts);
        assert_int_equal(consumer.lost_file_notices, 1);
        assert_int_equal(consumer.lost_buffer_notices, 1);
        consumer_free(&consumer);
    }
}

/* The backlog has no name: what happens to its folder is nothing to it. */
static void a_backlog_outlives_its_folder(void **state)
{
    etwas_session_options options = manual_options();
    const char *folder = folder_path("backlog");
    etwas_trace_handle session;
    struct writer *writer;
    struct consumer consumer = {0};
    etwas_session_counts counts;

    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    options.backlog_folder = folder;
    session = start_session(NULL, &options);
    writer = small_writer(session);
    assert_int_equal(rmdir(folder), 0);
    log_and_flush(writer, 1500);
    consume_to_the_end(&consumer, session, &counts);
    assert_int_equal(consumer.events, 1500);
    expect_nothing_lost(counts);
    consumer_free(&consumer);
}

/*
 * R170: the backlog's limit is kept, also by buffers that are full to the last byte, and nothing is
 * lost at it: what has no room stays in the pool.
 */
static void a_backlog_that_is_full_to_the_byte_loses_nothing(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session;
    struct writer *writer;
    struct consumer consumer = {0};
    etwas_session_counts counts;
    uint32_t code;

    (void)state;
    options.buffer_size_kb = 4;
    options.backlog_kb = 64;
    options.maximum_buffers = 64;
    session = start_session(NULL, &options);
    writer = small_writer(session);
    do {
        code = writer_log_bytes(writer, 32);
    } while (code == ERROR_SUCCESS);
    assert_int_equal(etwas_flush(session), ERROR_LOG_FILE_FULL);
    assert_int_equal(counts_of(session).lost_undelivered, 0);
    /* Room came with the flush, until the pool is full once more: now for lack of a consumer. */
    do {
        code = writer_log_bytes(writer, 32);
    } while (code == ERROR_SUCCESS);
    assert_int_equal(code, ERROR_LOG_FILE_FULL);
    consume_to_the_end(&consumer, session, &counts);
    assert_int_equal(counts.lost_undelivered, 0);
    assert_int_equal(counts.lost_backlog_full, 1);
    assert_int_equal(counts.realtime_buffers_lost, 0);
    assert_int_equal(consumer.events, counts.recorded);
    expect_consumer_is_exact(&consumer, session);
    expect_exact_account(session, &counts);
    consumer_free(&consumer);
}

enum {
    PASSES_BY_TIME = 3
};

/*
 * What waited in the pool for lack of a consumer goes at once: the flusher begins a pass that knows
 * of a wake. Nobody else wakes it here; the passes it begins by itself do not count as that.
 */
static void a_consumer_that_connects_wakes_the_flusher(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE};
    etwas_trace_handle session = start_session(NULL, &options);
    const struct etwas_pool *pool = inside_of(session)->pool;
    struct consumer consumer = {0};
    uint32_t before = ck_pr_load_32(&pool->pass_began);

    (void)state;
    consumer_open(&consumer, session);
    hold_count_from_zero();
    while (ck_pr_load_32(&pool->pass_began) == before) {
        assert_true(hold_passed(ETWAS_POINT_FREE_COUNTED) < PASSES_BY_TIME);
        (void)sched_yield();
    }
    hold_release_all();
    stop_session(session, NULL);
    assert_int_equal(CloseTrace(consumer.trace), ERROR_SUCCESS);
    consumer_free(&consumer);
}

/* ---- room ------------------------------------------------------------------------------------ */

static struct etwas_realtime *realtime_of(etwas_trace_handle session)
{
    return inside_of(session)->realtime;
}

/* Reads all that is in the backlog, and stops there: it never asks for what comes behind it. */
static void read_backlog(struct etwas_consumer *consumer, struct etwas_realtime *realtime)
{
    struct etwas_consumer_entry entry;

    while (realtime->backlog.entries.first != NULL) {
        (void)etwas_consumer_next(consumer, &entry);
        etwas_consumer_release(consumer, &entry);
    }
}

static uint32_t backlog_room(struct etwas_realtime *realtime)
{
    return etwas_realtime_room(realtime, UINT32_MAX, 16 << 10);
}

/* R170: the limit is for what waits, not for what was there before. */
static void a_consumer_that_leaves_at_the_end_of_the_backlog_leaves_all_its_room(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct etwas_realtime *realtime = realtime_of(session);
    uint32_t room = backlog_room(realtime);
    struct writer *writer = small_writer(session);
    struct etwas_consumer *consumer;

    (void)state;
    log_and_flush(writer, 2000);
    assert_true(backlog_room(realtime) < room);
    assert_int_equal(etwas_realtime_connect(realtime, &consumer), ERROR_SUCCESS);
    read_backlog(consumer, realtime);
    etwas_consumer_disconnect(consumer);
    assert_int_equal(backlog_room(realtime), room);
    stop_session(session, NULL);
}

static struct etwas_realtime *read_slowly;
static struct etwas_consumer *slow;

/* While a buffer is read its consumer is stopped, and another reads the rest, and leaves. */
static long stop_the_slow(enum etwas_file_call call, size_t bytes)
{
    struct etwas_consumer *stopped = slow;
    struct etwas_consumer *next;

    if (call == ETWAS_FILE_READ && stopped != NULL) {
        slow = NULL;
        etwas_consumer_stop(stopped);
        assert_int_equal(etwas_realtime_connect(read_slowly, &next), ERROR_SUCCESS);
        read_backlog(next, read_slowly);
        etwas_consumer_disconnect(next);
    }
    return (long)bytes;
}

static void who_reads_a_buffer_of_the_backlog_last_leaves_all_its_room(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct etwas_realtime *realtime = realtime_of(session);
    uint32_t room = backlog_room(realtime);
    struct writer *writer = small_writer(session);
    struct etwas_consumer_entry entry;
    struct etwas_consumer *consumer;

    (void)state;
    log_and_flush(writer, 2000);
    assert_int_equal(etwas_realtime_connect(realtime, &consumer), ERROR_SUCCESS);
    read_slowly = realtime;
    slow = consumer;
    etwas_file_fail(stop_the_slow);
    assert_int_equal(etwas_consumer_next(consumer, &entry), ETWAS_GOT_BUFFER);
    etwas_file_fail(NULL);
    assert_null(slow);
    etwas_consumer_release(consumer, &entry);
    etwas_consumer_disconnect(consumer);
    assert_int_equal(backlog_room(realtime), room);
    stop_session(session, NULL);
}

/* ---- consumers that leave -------------------------------------------------------------------- */

/*
 * R171: however many consumers leave in the middle of a buffer, of the backlog or of what is new,
 * together they see every event once, and in the order in which it was logged.
 */
static void consumers_that_leave_hand_over_to_the_next(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;
    uint64_t seen = 0;

    (void)state;
    log_and_flush(writer, 3000);
    for (uint64_t round = 0; round < 30; round++) {
        struct consumer consumer = {.stop_after_buffers = 1 + round % 3};

        log_and_flush(writer, 100);
        consumer_open(&consumer, session);
        log_and_flush(writer, 100);
        if (round == 29) {
            consumer.stop_after_buffers = 0;
        }
        consumer_start(&consumer);
        if (round == 29) {
            stop_session(session, &counts);
        }
        consumer_join(&consumer);
        assert_int_equal(consumer.code, round == 29 ? ERROR_SUCCESS : ERROR_CANCELLED);
        for (uint64_t index = 0; index < consumer.events; index++) {
            assert_int_equal(consumer.seen[index].number, seen + index);
        }
        assert_int_equal(consumer.wrong, 0);
        seen += consumer.events;
        consumer_free(&consumer);
    }
    assert_int_equal(seen, 9000);
    assert_int_equal(counts.recorded, 9000);
    expect_nothing_lost(counts);
    assert_int_equal(counts.realtime_buffers_lost, 0);
}

/* The account of a buffer of which a part was given is the other part. */
static void what_the_last_consumer_did_not_give_is_counted_to_the_event(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    struct consumer whole = {0};
    struct consumer part = {.stop_after_buffers = 1};
    etwas_session_counts counts;

    (void)state;
    consumer_open(&whole, session);
    consumer_open(&part, session);
    log_and_flush(writer, 1000);
    consumer_start(&part);
    consumer_join(&part);
    /* Not lost yet: the other one has them in its queue. */
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    expect_nothing_lost(counts_of(session));
    assert_int_equal(CloseTrace(whole.trace), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, part.events);
    assert_int_equal(counts.lost_undelivered, 1000 - part.events);
    expect_exact_account(session, &counts);
    consumer_free(&part);
}

/*
 * A consumer that reads the backlog had it alone: when it leaves, the next one gets it beside
 * others.
 */
static void a_backlog_left_unread_beside_another_consumer_is_kept(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    struct consumer first = {.stop_after_buffers = 1};
    struct consumer other = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 2000);
    consumer_open(&first, session);
    consumer_open(&other, session);
    consumer_start(&first);
    consumer_join(&first);
    assert_true(first.events < 2000);
    consumer_open(&next, session);
    log_and_flush(writer, 500);
    consumer_start(&other);
    consumer_start(&next);
    stop_session(session, &counts);
    consumer_join(&other);
    consumer_join(&next);
    assert_int_equal(counts.recorded, 2500);
    assert_int_equal(other.events, 500);
    assert_int_equal(first.events + next.events, 2500);
    assert_int_equal(next.seen[0].number, first.events);
    assert_int_equal(next.backwards, 0);
    consumer_free(&first);
    consumer_free(&other);
    consumer_free(&next);
}

/* Who leaves hands back what nobody else has: what another has had still to get comes once. */
static void what_another_consumer_has_is_not_handed_back(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    struct consumer idle = {0};
    struct consumer other = {0};
    struct consumer next = {0};
    etwas_session_counts counts;

    (void)state;
    consumer_open(&idle, session);
    consumer_open(&other, session);
    log_and_flush(writer, 1000);
    assert_int_equal(CloseTrace(idle.trace), ERROR_SUCCESS);
    consumer_start(&other);
    consumer_wait(&other, 1000);
    assert_int_equal(CloseTrace(other.trace), ERROR_CTX_CLOSE_PENDING);
    consumer_join(&other);
    consume_to_the_end(&next, session, &counts);
    assert_int_equal(next.events, 0);
    assert_int_equal(counts.recorded, 1000);
    expect_nothing_lost(counts);
    consumer_free(&other);
    consumer_free(&next);
}

/* R174: a consumer need not read what is left when its session has ended. */
static void a_consumer_may_leave_after_the_end_without_reading(void **state)
{
    etwas_session_options options = manual_options();
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = small_writer(session);
    struct consumer first = {.stop_after_buffers = 1};
    struct consumer late = {.stop_after_buffers = 2};
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 5000);
    consume(&first, session);
    consumer_join(&first);
    consumer_open(&late, session);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 5000);
    consumer_start(&late);
    consumer_join(&late);
    assert_int_equal(late.code, ERROR_CANCELLED);
    assert_int_equal(late.seen[0].number, first.events);
    consumer_free(&first);
    consumer_free(&late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_backlog_that_cannot_be_made_refuses_the_start),
        FOLDER_TEST(a_backlog_that_cannot_be_written_loses_what_was_refused),
        FOLDER_TEST(short_writes_and_reads_of_the_backlog_lose_nothing),
        FOLDER_TEST(a_backlog_that_cannot_be_read_is_lost),
        FOLDER_TEST(a_buffer_of_the_backlog_that_cannot_be_read_is_lost_alone),
        FOLDER_TEST(a_buffer_that_is_damaged_in_the_backlog_is_given_up_R175),
        FOLDER_TEST(a_backlog_outlives_its_folder),
        FOLDER_TEST(a_backlog_that_is_full_to_the_byte_loses_nothing),
        FOLDER_TEST(a_consumer_that_connects_wakes_the_flusher),
        FOLDER_TEST(a_consumer_that_leaves_at_the_end_of_the_backlog_leaves_all_its_room),
        FOLDER_TEST(who_reads_a_buffer_of_the_backlog_last_leaves_all_its_room),
        FOLDER_TEST(consumers_that_leave_hand_over_to_the_next),
        FOLDER_TEST(what_the_last_consumer_did_not_give_is_counted_to_the_event),
        FOLDER_TEST(a_backlog_left_unread_beside_another_consumer_is_kept),
        FOLDER_TEST(what_another_consumer_has_is_not_handed_back),
        FOLDER_TEST(a_consumer_may_leave_after_the_end_without_reading),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
