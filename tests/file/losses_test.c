/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * When a session lost what: what its file says is together what it counts, to the event, and each
 * loss lies in the interval that is said of it.
 */
#include <ck_pr.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "file_modes.h"
#include "platform/file.h"
#include "session/losses.h"
#include "support/flushing.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    KB_4 = 4,
    BUFFER_BYTES = KB_4 * 1024,
    JOINED_NS = 100000000,
};

struct reported {
    etwas_loss losses[ETWAS_LOSSES];
    uint32_t count;
    uint64_t events;
    uint64_t counted; /* by the file */
};

static struct reported reported;

static void read_losses(const char *path)
{
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)path};
    etwas_trace_information information;
    etwas_trace_handle trace = OpenTraceA(&file);

    memset(&reported, 0, sizeof reported);
    assert_int_not_equal(trace, INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(
        etwas_trace_query_losses(trace, reported.losses, ETWAS_LOSSES, &reported.count),
        ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    reported.counted = information.lost_events;
    for (uint32_t index = 0; index < reported.count; index++) {
        reported.events += reported.losses[index].events;
    }
}

static int64_t now(void)
{
    return etwas_clock_now(ETWAS_CLOCK_KIND_QPC);
}

/* Logs until so many events more are lost. */
static void lose(struct writer *writer, uint64_t events)
{
    uint64_t wanted = writer->lost + events;

    while (writer->lost < wanted) {
        (void)writer_log(writer);
    }
}

static void expect_between(int64_t value, int64_t least, int64_t most)
{
    assert_true(value >= least);
    assert_true(value <= most);
}

/* ---- when and where -------------------------------------------------------------------------- */

struct burst {
    int64_t checked_at; /* before the previous pass */
    int64_t began;
    int64_t ended;
    int64_t found; /* after the pass that found it */
};

static struct burst lose_between_flushes(etwas_trace_handle session, struct writer *writer,
                                         uint64_t events)
{
    struct burst burst = {.checked_at = now()};

    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    burst.began = now();
    lose(writer, events);
    burst.ended = now();
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    burst.found = now();
    return burst;
}

static void expect_loss(const etwas_loss *loss, const struct burst *burst, uint64_t events)
{
    assert_int_equal(loss->events, events);
    assert_int_equal(loss->cause, ETWAS_LOST_NO_BUFFER);
    assert_int_equal(loss->processor, (uint32_t)sched_getcpu());
    assert_int_equal(loss->retention_class, 0);
    expect_between(loss->from_raw, burst->checked_at, burst->began);
    expect_between(loss->until_raw, burst->ended, burst->found);
}

static void a_burst_has_its_interval_and_its_processor(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {
        .buffer_size_kb = KB_4, .maximum_buffers = 8, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = plain_writer(session);
    etwas_session_counts counts;
    struct burst first;
    struct burst second;

    (void)state;
    stay_on_one_processor();
    first = lose_between_flushes(session, writer, 3);
    while (now() < first.found + JOINED_NS) {
        (void)sched_yield();
    }
    second = lose_between_flushes(session, writer, 5);
    stop_session(session, &counts);
    expect_file_is_exact(session, path, &counts);
    read_losses(path);
    assert_int_equal(reported.count, 2);
    expect_loss(&reported.losses[0], &first, 3);
    expect_loss(&reported.losses[1], &second, 5);
    leave_one_processor();
}

/* ---- exactly, in each kind of file ----------------------------------------------------------- */

/* Three threads, until they have lost something, and the file has had so many buffers. */
static void lose_under_load(etwas_trace_handle session, uint64_t buffers,
                            etwas_session_counts *counts)
{
    struct writers writers;

    writers_start(
        &writers, 3,
        &(struct writer_options){.session = session, .largest_payload = 300, .pauses = true});
    do {
        (void)sched_yield();
        *counts = counts_of(session);
    } while (counts->lost_no_buffer == 0 || counts->buffers_written < buffers);
    writers_end(&writers);
    writers_join(&writers);
    stop_session(session, counts);
}

static void what_is_reported_is_what_is_counted_under_load(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = KB_4, .maximum_buffers = 8};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;

    (void)state;
    lose_under_load(session, 100, &counts);
    expect_file_is_exact(session, path, &counts);
}

static void a_part_tells_what_was_lost_while_it_was_written(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE |
                                                      EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .buffer_size_kb = KB_4,
                                     .maximum_buffers = 8,
                                     .maximum_file_size = 64};
    etwas_trace_handle session = start_session(folder_path("part%d.etl"), &options);
    etwas_session_counts counts;
    struct parts parts;

    (void)state;
    lose_under_load(session, 100, &counts);
    expect_parts_are_exact(session, "part", &counts, &parts);
    assert_true(parts.count > 2);
}

static void a_circle_does_not_replace_what_it_tells(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR |
                                                      EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .buffer_size_kb = KB_4,
                                     .maximum_buffers = 8,
                                     .maximum_file_size = 64};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;

    (void)state;
    lose_under_load(session, 100, &counts);
    assert_true(counts.overwritten > 0);
    expect_circular_file(session, path, &counts);
}

static void an_appended_session_adds_its_own(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_APPEND,
                                     .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                     .buffer_size_kb = KB_4,
                                     .maximum_buffers = 8,
                                     .flusher = {.no_thread = true}};

    (void)state;
    for (uint64_t number = 1; number <= 2; number++) {
        etwas_trace_handle session = start_session(path, &options);

        lose(plain_writer(session), 10 * number);
        stop_session(session, NULL);
    }
    read_losses(path);
    assert_int_equal(reported.count, 2);
    assert_int_equal(reported.losses[0].events, 10);
    assert_int_equal(reported.losses[1].events, 20);
    assert_int_equal(reported.counted, 30);
}

/* ---- other causes ---------------------------------------------------------------------------- */

static long refuse_writes(enum etwas_log_file_call call, size_t bytes)
{
    return call == ETWAS_FILE_WRITE ? -EIO : (long)bytes;
}

static void what_could_not_be_written_is_reported_with_its_cause(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = KB_4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = plain_writer(session);
    etwas_session_counts counts;

    (void)state;
    log_events(writer, 7);
    etwas_file_set_failure_hook(refuse_writes);
    assert_int_not_equal(etwas_flush(session), ERROR_SUCCESS);
    etwas_file_set_failure_hook(NULL);
    log_and_flush(writer, 5);
    stop_session(session, &counts);
    assert_int_equal(counts.lost_write_error, 7);
    read_losses(path);
    assert_int_equal(reported.count, 1);
    assert_int_equal(reported.losses[0].events, 7);
    assert_int_equal(reported.losses[0].cause, ETWAS_LOST_WRITE_ERROR);
    assert_int_equal(reported.losses[0].processor, ETWAS_LOST_ANYWHERE);
    assert_int_equal(reported.counted, 7);
}

/* C8: nothing is drained, the log file gets nothing either. */
static void a_full_backlog_is_reported_with_its_cause(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = realtime_by_hand_options();
    struct consumer consumer = {0};
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct writer *writer;
    uint32_t code;

    (void)state;
    options.buffer_size_kb = KB_4;
    options.backlog_kb = 64;
    options.maximum_buffers = 64;
    session = start_session(path, &options);
    writer = small_writer(session);
    do {
        code = writer_log_bytes(writer, 32);
        if (code == ERROR_NOT_ENOUGH_MEMORY) {
            (void)etwas_flush(session);
        }
    } while (code != ERROR_LOG_FILE_FULL);
    consume_to_the_end(&consumer, session, &counts);
    consumer_free(&consumer);
    read_losses(path);
    assert_int_equal(reported.events, counts.lost);
    assert_int_equal(reported.counted, counts.lost);
    assert_int_equal(reported.losses[reported.count - 1].cause, ETWAS_LOST_BACKLOG_FULL);
    assert_int_equal(reported.losses[reported.count - 1].events, counts.lost_backlog_full);
}

/* ---- many, and hostile ones ------------------------------------------------------------------ */

/* As a writer of a slot would count them. */
static void count_lost(etwas_trace_handle session, uint32_t slot, uint64_t events)
{
    struct etwas_session *inside = inside_of(session);

    ck_pr_add_64(&etwas_pool_slot(inside->buffers.pool, slot)->counters.lost[ETWAS_SLOT_NO_BUFFER],
                 events);
}

static void look(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);

    (void)pthread_mutex_lock(&inside->drain.role);
    inside->drain.losses->table.joined_ticks = 0;
    etwas_losses_check(inside);
    (void)pthread_mutex_unlock(&inside->drain.role);
}

/*
 * So many looks that buffer 0 has no room for: neighbours become one, and the clock snapshots are
 * still there.
 */
static void however_many_there_are_none_is_forgotten(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = KB_4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;

    (void)state;
    for (uint64_t number = 1; number <= 300; number++) {
        count_lost(session, 0, number);
        look(session);
        if (number % 100 == 0) {
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
    }
    stop_session(session, &counts);
    assert_int_equal(counts.lost, 300 * 301 / 2);
    read_losses(path);
    assert_in_range(reported.count, 7, BUFFER_BYTES / 2 / 88);
    assert_int_equal(reported.events, counts.lost);
    assert_int_equal(reported.counted, counts.lost);
    for (uint32_t index = 1; index < reported.count; index++) {
        assert_true(reported.losses[index].from_raw >= reported.losses[index - 1].from_raw);
    }
}

static void a_snapshot_tells_what_the_recorder_has_lost(void **state)
{
    const char *const paths[] = {folder_path("one.etl"), folder_path("two.etl")};
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                     .buffer_size_kb = KB_4,
                                     .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = plain_writer(session);

    (void)state;
    for (uint64_t number = 0; number < 2; number++) {
        log_events(writer, 10);
        count_lost(session, 1, 2 + number);
        look(session);
        assert_int_equal(etwas_snapshot(session, paths[number]), ERROR_SUCCESS);
        read_losses(paths[number]);
        assert_int_equal(reported.count, 1 + number);
        assert_int_equal(reported.losses[number].events, 2 + number);
        assert_int_equal(reported.losses[number].processor, 1);
        assert_int_equal(reported.events, reported.counted);
    }
    stop_session(session, NULL);
}

/* A reader passes over a loss that cannot be, and believes the others. */
static void a_loss_that_cannot_be_is_passed_over(void **state)
{
    static const uint32_t absurd = 99;
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = KB_4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    uint32_t at;
    int descriptor;

    (void)state;
    for (uint64_t number = 1; number <= 3; number++) {
        count_lost(session, 0, number);
        look(session);
    }
    stop_session(session, NULL);
    at = own_record_at(path, 0, BUFFER_BYTES, ETWAS_ETL_LOSS_TYPE, 0);
    descriptor = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(descriptor, &absurd, sizeof absurd,
                            at + (off_t)offsetof(struct etwas_etl_loss_record, loss.cause)),
                     sizeof absurd);
    assert_int_equal(close(descriptor), 0);
    read_losses(path);
    assert_int_equal(reported.count, 2);
    assert_int_equal(reported.losses[0].events, 2);
    assert_int_equal(reported.losses[1].events, 3);
}

static void who_asks_is_told_how_many_there_are(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = KB_4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)path};
    etwas_loss losses[2] = {{0}};
    etwas_trace_handle trace;
    uint32_t count = 0;

    (void)state;
    count_lost(session, 0, 4);
    look(session);
    count_lost(session, 0, 5);
    look(session);
    stop_session(session, NULL);
    trace = OpenTraceA(&file);
    assert_int_equal(etwas_trace_query_losses(trace, losses, 1, &count), ERROR_MORE_DATA);
    assert_int_equal(count, 2);
    assert_int_equal(losses[0].events, 4);
    assert_int_equal(losses[1].events, 0);
    assert_int_equal(etwas_trace_query_losses(trace, NULL, 2, &count), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_query_losses(trace, losses, 2, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query_losses(trace, losses, 2, &count), ERROR_INVALID_HANDLE);
    assert_string_equal(etwas_lost_name(ETWAS_LOST_NO_BUFFER), "no free buffer");
    assert_string_equal(etwas_lost_name(0), "unknown cause");
    assert_string_equal(etwas_lost_name(ETWAS_LOST_CAUSES + 1), "unknown cause");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_burst_has_its_interval_and_its_processor),
        FOLDER_TEST(what_is_reported_is_what_is_counted_under_load),
        FOLDER_TEST(a_part_tells_what_was_lost_while_it_was_written),
        FOLDER_TEST(a_circle_does_not_replace_what_it_tells),
        FOLDER_TEST(an_appended_session_adds_its_own),
        FOLDER_TEST(what_could_not_be_written_is_reported_with_its_cause),
        FOLDER_TEST(a_full_backlog_is_reported_with_its_cause),
        FOLDER_TEST(however_many_there_are_none_is_forgotten),
        FOLDER_TEST(a_snapshot_tells_what_the_recorder_has_lost),
        FOLDER_TEST(a_loss_that_cannot_be_is_passed_over),
        FOLDER_TEST(who_asks_is_told_how_many_there_are),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
