/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The backlog of a real-time session: when its disk fails, and how much fits in it. */
#include <ck_pr.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "realtime/realtime_internal.h"
#include "support/flushing.h"
#include "support/inside.h"

/* ---- failures -------------------------------------------------------------------------------- */

static enum etwas_log_file_call failing_call;
static int failing_errno; /* 0: so many bytes less than asked for, at most */
static uint32_t failures_left;

static long fail_some(enum etwas_log_file_call call, size_t bytes)
{
    if (call != failing_call || ck_pr_load_32(&failures_left) == 0) {
        return (long)bytes;
    }
    (void)ck_pr_faa_32(&failures_left, UINT32_MAX);
    return failing_errno != 0 ? -failing_errno : (long)(bytes / 3);
}

static void fail_next(enum etwas_log_file_call call, int error, uint32_t times)
{
    failing_call = call;
    failing_errno = error;
    ck_pr_store_32(&failures_left, times);
    etwas_file_set_failure_hook(fail_some);
}

/* A session whose backlog has no place does not start, and leaves nothing behind. */
static void a_backlog_that_cannot_be_made_refuses_the_start(void **state)
{
    etwas_session_options options = realtime_by_hand_options();
    etwas_trace_handle session = 0;

    (void)state;
    options.backlog_folder = folder_path("nowhere");
    assert_int_equal(etwas_start("no backlog", NULL, &options, &session), ERROR_PATH_NOT_FOUND);
    options.backlog_folder = folder_path(".");
    fail_next(ETWAS_FILE_OPEN, EMFILE, 1);
    assert_int_equal(etwas_start("no backlog", NULL, &options, &session),
                     ERROR_NO_SYSTEM_RESOURCES);
    etwas_file_set_failure_hook(NULL);
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
        etwas_trace_handle session = start_realtime_by_hand();
        struct writer *writer = small_writer(session);
        struct consumer consumer = {0};
        etwas_session_counts counts;

        log_and_flush(writer, 700);
        log_events(writer, 300);
        fail_next(ETWAS_FILE_WRITE, error == 0 ? ENOSPC : EIO, UINT32_MAX);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        etwas_file_set_failure_hook(NULL);
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
    const enum etwas_log_file_call calls[] = {ETWAS_FILE_WRITE, ETWAS_FILE_READ};
    const int errors[] = {0, EINTR};

    (void)state;
    for (int index = 0; index < 4; index++) {
        etwas_trace_handle session = start_realtime_by_hand();
        struct writer *writer = small_writer(session);
        struct consumer consumer = {0};
        etwas_session_counts counts;

        fail_next(calls[index % 2], errors[index / 2], 5);
        log_and_flush(writer, 2000);
        consume_to_the_end(&consumer, session, &counts);
        etwas_file_set_failure_hook(NULL);
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
    etwas_trace_handle session = start_realtime_by_hand();
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
    etwas_file_set_failure_hook(NULL);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(consumer.events, 400);
    assert_int_equal(consumer.seen[0].number, 900);
    assert_true(consumer.lost_file_notices > 0);
    assert_int_equal(consumer.lost_buffer_notices, consumer.lost_file_notices);
    assert_int_equal(counts.recorded, 400);
    assert_int_equal(counts.lost_undelivered, 900);
    expect_exact_account(session, &counts);
    consumer_free(&consumer);
}

static long fail_first_buffer(enum etwas_log_file_call call, size_t bytes)
{
    return call == ETWAS_FILE_READ && ck_pr_faa_32(&failures_left, UINT32_MAX) == 1 ? -EIO
                                                                                    : (long)bytes;
}

/* R175: what comes behind it is delivered. */
static void a_buffer_of_the_backlog_that_cannot_be_read_is_lost_alone(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    etwas_session_counts counts;

    (void)state;
    stay_on_one_processor();
    log_and_flush(writer, 50);
    log_and_flush(writer, 500);
    leave_one_processor();
    ck_pr_store_32(&failures_left, 1);
    etwas_file_set_failure_hook(fail_first_buffer);
    consume(&consumer, session);
    consumer_wait(&consumer, 500);
    etwas_file_set_failure_hook(NULL);
    stop_and_join(session, &counts, &consumer);
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
        etwas_trace_handle session = start_realtime_by_hand();
        const struct etwas_backlog *backlog = &inside_of(session)->drain.realtime->backlog;
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
        stop_and_join(session, &counts, &consumer);
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

/*
 * R175: what stands before it is delivered, what is behind it is lost and told, as is the rest of
 * no other buffer.
 */
static void a_record_damaged_in_the_backlog_costs_the_rest_of_its_buffer_R175(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
    const struct etwas_backlog *backlog = &inside_of(session)->drain.realtime->backlog;
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    etwas_session_counts counts;
    const uint64_t zero = 0;
    uint16_t first_bytes;
    off_t first;

    (void)state;
    stay_on_one_processor();
    log_and_flush(writer, 50);
    log_and_flush(writer, 500);
    leave_one_processor();
    first = (off_t)backlog->entries.first->position + ETWAS_ETL_BUFFER_HEADER_BYTES;
    assert_int_equal(pread(backlog->descriptor, &first_bytes, sizeof first_bytes, first),
                     sizeof first_bytes);
    assert_int_equal(pwrite(backlog->descriptor, &zero, sizeof zero,
                            first + (off_t)etwas_etl_round_up_8(first_bytes)),
                     sizeof zero);
    consumer_open(&consumer, session);
    consumer_start(&consumer);
    consumer_wait(&consumer, 501);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(consumer.code, ERROR_SUCCESS);
    assert_int_equal(consumer.events, 501);
    assert_int_equal(consumer.seen[0].number, 0);
    assert_int_equal(consumer.seen[1].number, 50);
    assert_int_equal(counts.lost_undelivered, 49);
    assert_int_equal(counts.realtime_buffers_lost, 1);
    expect_exact_account(session, &counts);
    assert_int_equal(consumer.lost_file_notices, 1);
    assert_int_equal(consumer.lost_buffer_notices, 1);
    consumer_free(&consumer);
}

/* The backlog has no name: what happens to its folder is nothing to it. */
static void a_backlog_outlives_its_folder(void **state)
{
    etwas_session_options options = realtime_by_hand_options();
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
    etwas_session_options options = realtime_by_hand_options();
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

/* ---- room ------------------------------------------------------------------------------------ */

static struct etwas_realtime *realtime_of(etwas_trace_handle session)
{
    return inside_of(session)->drain.realtime;
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
    return etwas_realtime_free_buffers(realtime, UINT32_MAX, 16 << 10);
}

/* R170: the limit is for what waits, not for what was there before. */
static void a_consumer_that_leaves_at_the_end_of_the_backlog_leaves_all_its_room(void **state)
{
    etwas_trace_handle session = start_realtime_by_hand();
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
static long stop_the_slow(enum etwas_log_file_call call, size_t bytes)
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
    etwas_trace_handle session = start_realtime_by_hand();
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
    etwas_file_set_failure_hook(stop_the_slow);
    assert_int_equal(etwas_consumer_next(consumer, &entry), ETWAS_CONSUMER_RESULT_BUFFER);
    etwas_file_set_failure_hook(NULL);
    assert_null(slow);
    etwas_consumer_release(consumer, &entry);
    etwas_consumer_disconnect(consumer);
    assert_int_equal(backlog_room(realtime), room);
    stop_session(session, NULL);
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
        FOLDER_TEST(a_record_damaged_in_the_backlog_costs_the_rest_of_its_buffer_R175),
        FOLDER_TEST(a_backlog_outlives_its_folder),
        FOLDER_TEST(a_backlog_that_is_full_to_the_byte_loses_nothing),
        FOLDER_TEST(a_consumer_that_leaves_at_the_end_of_the_backlog_leaves_all_its_room),
        FOLDER_TEST(who_reads_a_buffer_of_the_backlog_last_leaves_all_its_room),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
