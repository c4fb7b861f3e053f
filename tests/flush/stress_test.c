/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Hundreds of thousands of events of random sizes from several threads, and flush, snapshot and
 * stop in the middle of it: every event accounted for, byte by byte.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    THREADS = 4
};

static void pause_ms(long milliseconds)
{
    const struct timespec pause = {.tv_nsec = milliseconds * 1000000};

    (void)nanosleep(&pause, NULL);
}

/* I4, I8, R139: every clock; small and large buffers; sizes up to the limit. */
static void hundreds_of_thousands_of_events_are_accounted_for_byte_by_byte(void **state)
{
    static const uint32_t buffer_kb[] = {64, 8, 1024};

    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {
            .clock = clock, .buffer_size_kb = buffer_kb[clock - 1], .flush_timer = 1};
        etwas_trace_handle session = start_session(path, &options);
        struct writer_options what = {
            .session = session,
            .class_handle = writer_class(),
            .events = 10000,
            .largest_payload = clock == 2 ? 8000 : 3000,
        };
        etwas_session_counts counts;
        struct writers writers;

        writers_start(&writers, THREADS, &what);
        writers_join(&writers);
        assert_int_equal(writers_totals(session).refused, 0);
        stop_session(session, &counts);
        assert_int_equal(counts.lost, counts.lost_no_buffer);
        assert_int_equal(counts.lost, writers_totals(session).lost);
        assert_true(counts.recorded >= THREADS * what.events / 4);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/* I6, R139: QUERY is true at every moment; then the session stops under the writers' hands. */
static void sessions_are_flushed_queried_and_stopped_while_writers_write(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = round % 2 == 0 ? 4 : 64,
                                         .maximum_buffers = round % 4 < 2 ? 8 : 0};
        etwas_trace_handle session = start_session(path, &options);
        struct writer_options what = {.session = session,
                                      .class_handle = writer_class(),
                                      .events = 10000,
                                      .largest_payload = 300};
        etwas_session_counts before = {0};
        etwas_session_counts counts;
        struct writers writers;

        writers_start(&writers, THREADS, &what);
        for (int turn = 0; turn < 20; turn++) {
            if (turn % 4 == 0) {
                assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
            }
            counts = counts_of(session);
            assert_true(counts.recorded >= before.recorded);
            assert_true(counts.lost >= before.lost);
            assert_true(counts.buffers_free <= counts.buffers_allocated);
            assert_true(query_session(session).BuffersWritten >= counts.buffers_written);
            before = counts;
            pause_ms(round % 3);
        }
        stop_session(session, &counts);
        writers_join(&writers);
        assert_int_equal(counts.lost_abandoned + counts.lost_write_error, 0);
        expect_file_is_exact(session, path, &counts);
        writers_forget();
    }
}

/*
 * I6: several sessions with writers that keep their old handles while the places are taken by
 * others: nothing lands in a session it was not meant for.
 */
static void writers_with_handles_of_stopped_sessions_never_reach_another_session(void **state)
{
    enum {
        ROUNDS = 12
    };
    struct writers groups[ROUNDS];
    etwas_trace_handle sessions[ROUNDS];
    etwas_session_counts counts;
    char name[32];

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        etwas_session_options options = {.buffer_size_kb = 4, .clock = (uint32_t)round % 3 + 1};

        (void)snprintf(name, sizeof name, "trace%d.etl", round);
        sessions[round] = start_session(folder_path(name), &options);
        writers_start(&groups[round], 2,
                      &(struct writer_options){.session = sessions[round],
                                               .class_handle = writer_class(),
                                               .events = 5000,
                                               .largest_payload = 64});
        pause_ms(5);
        if (round > 0) {
            stop_session(sessions[round - 1], NULL);
        }
    }
    stop_session(sessions[ROUNDS - 1], NULL);
    for (int round = 0; round < ROUNDS; round++) {
        writers_join(&groups[round]);
        (void)snprintf(name, sizeof name, "trace%d.etl", round);
        counts = counts_of(sessions[round]);
        expect_exact_account(sessions[round], &counts);
        if (round % 6 == 0) {
            expect_file_is_exact(sessions[round], folder_path(name), &counts);
        }
    }
}

/*
 * I4 in buffering mode: overwritten + recorded + lost = attempted, also while snapshots are taken.
 */
static void snapshots_are_taken_while_writers_write(void **state)
{
    etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 8, .minimum_buffers = 24};
    etwas_trace_handle session = start_session(NULL, &options);
    const char *path = folder_path("snapshot.etl");
    etwas_session_counts counts;
    struct readback result;
    struct writers writers;

    (void)state;
    writers_start(&writers, THREADS,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 300000,
                                           .largest_payload = 200});
    for (int turn = 0; turn < 10; turn++) {
        assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        pause_ms(turn);
    }
    writers_end(&writers);
    writers_join(&writers);
    counts = counts_of(session);
    expect_exact_account(session, &counts);
    assert_int_equal(counts.lost, writers_totals(session).lost);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    walk_back(session, path, true, &result);
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.unexpected, 0);
    assert_int_equal(result.events, counts.recorded);
    read_back(session, path, &result);
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.events, counts.recorded);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
}

/* Every snapshot taken in the middle of it is a file in order whose events are all true. */
static void a_snapshot_taken_while_writers_write_holds_only_whole_events_in_order(void **state)
{
    enum {
        SNAPSHOTS = 6
    };
    etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .minimum_buffers = 8};
    etwas_trace_handle session = start_session(NULL, &options);
    struct readback result;
    struct writers writers;
    char name[32];

    (void)state;
    writers_start(&writers, THREADS,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 300000,
                                           .largest_payload = 1000});
    for (int turn = 0; turn < SNAPSHOTS; turn++) {
        (void)snprintf(name, sizeof name, "snapshot%d.etl", turn);
        assert_int_equal(etwas_snapshot(session, folder_path(name)), ERROR_SUCCESS);
        pause_ms(2);
    }
    writers_end(&writers);
    writers_join(&writers);
    stop_session(session, NULL);
    for (int turn = 0; turn < SNAPSHOTS; turn++) {
        (void)snprintf(name, sizeof name, "snapshot%d.etl", turn);
        walk_back(session, folder_path(name), true, &result);
        if (result.wrong != 0) {
            fail_msg("%s: %s", name, result.first_wrong);
        }
        assert_int_equal(result.unexpected, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(hundreds_of_thousands_of_events_are_accounted_for_byte_by_byte),
        FOLDER_TEST(sessions_are_flushed_queried_and_stopped_while_writers_write),
        FOLDER_TEST(writers_with_handles_of_stopped_sessions_never_reach_another_session),
        FOLDER_TEST(snapshots_are_taken_while_writers_write),
        FOLDER_TEST(a_snapshot_taken_while_writers_write_holds_only_whole_events_in_order),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
