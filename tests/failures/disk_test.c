/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Disks that refuse now and then: short writes, interruptions, ENOSPC, EIO and EDQUOT. What cannot
 * be written is counted, and the file stays readable.
 */
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failures/failing.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

/* What is true of every file, whatever was lost on the way. */
static void expect_accounted(etwas_trace_handle session, const char *path,
                             const etwas_session_counts *counts)
{
    struct readback result;

    expect_exact_account(session, counts);
    walk_back(session, path, true, &result);
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.unexpected, 0);
    assert_int_equal(result.events, counts->recorded);
    assert_int_equal(result.missing, counts->lost_write_error + counts->lost_file_full);
    assert_int_equal(result.events_lost, counts->lost);
    assert_int_equal(result.buffers_lost, counts->buffers_lost);
    assert_int_equal(result.buffers, counts->buffers_written);
    /* Whole buffers are lost, none of them empty. */
    assert_true((counts->lost_write_error > 0) == (counts->buffers_lost > 0));
    assert_true(counts->buffers_lost <= counts->lost_write_error);
}

static void short_writes_and_interruptions_lose_nothing(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = 4};
    etwas_trace_handle session;
    etwas_session_counts counts;
    struct writers writers;

    (void)state;
    fail_calls(&(struct failing){
        .calls = FAILING(WRITE), .one_in = 2, .seed = 7, .shortens = true, .error = EINTR});
    session = start_session(path, &options);
    writers_start(&writers, 2,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 15000,
                                           .largest_payload = 900});
    writers_join(&writers);
    stop_session(session, &counts);
    assert_true(calls_asked() > 20);
    fail_no_more();
    assert_int_equal(counts.lost_write_error + counts.buffers_lost, 0);
    expect_file_is_exact(session, path, &counts);
}

/* Every moment a write can fail at, many times over; QUERY and the file say the same. */
static void errors_at_any_write_lose_whole_buffers_that_are_counted(void **state)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT};
    uint64_t lost = 0;

    (void)state;
    for (uint32_t round = 0; round < 10; round++) {
        const char *path = folder_path("trace.etl");
        bool compressed = round >= 5;
        bool has_space = round >= 8;
        etwas_session_options options = {.log_file_mode =
                                             (compressed ? EVENT_TRACE_COMPRESSED_MODE : 0) |
                                             (has_space ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0),
                                         .maximum_file_size = has_space ? 16 : 0,
                                         .buffer_size_kb = round % 2 == 0 ? 4 : 16,
                                         .flusher = {.no_thread = true}};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                    .class_handle = writer_class(),
                                                                    .events = 8000,
                                                                    .largest_payload = 500});
        etwas_session_counts counts;
        struct readback before;
        struct stat status;

        fail_calls(&(struct failing){.calls = FAILING(WRITE),
                                     .after = 1,
                                     .one_in = 3,
                                     .seed = round * 7919,
                                     .shortens = true,
                                     .error = errors[round % 3]});
        for (int turn = 0; turn < 16; turn++) {
            uint32_t code;

            for (int index = 0; index < 500; index++) {
                assert_int_equal(writer_log(writer), ERROR_SUCCESS);
            }
            code = etwas_flush(session);
            /* A count in the header that cannot be renewed is a write fault, whatever it was. */
            assert_true(code == ERROR_SUCCESS || code == ERROR_WRITE_FAULT ||
                        (code == ERROR_DISK_FULL && errors[round % 3] != EIO));
            /* The unfinished file is in order too: the walker cannot know its length yet. */
            read_back(session, path, &before);
            assert_int_equal(before.wrong + before.damages, 0);
            assert_int_equal(before.events, counts_of(session).recorded);
            assert_int_equal(stat(path, &status), 0);
            assert_true(compressed ||
                        status.st_size == (off_t)before.buffers * options.buffer_size_kb * 1024);
        }
        assert_int_equal(query_session(session).EventsLost, counts_of(session).lost);
        assert_int_equal(query_session(session).LogBuffersLost, counts_of(session).buffers_lost);
        fail_no_more();
        stop_session(session, &counts);
        expect_accounted(session, path, &counts);
        lost += counts.lost_write_error;
    }
    assert_true(lost > 0);
}

/* The same with the thread and several writers: no place of the failures is fixed. */
static void fill_and_empty_again(uint32_t mode)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = mode, .buffer_size_kb = 4, .flush_timer = 1};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    struct writers writers;

    fail_calls(&(struct failing){.calls = FAILING(WRITE),
                                 .after = 3,
                                 .one_in = 2,
                                 .seed = 99,
                                 .shortens = true,
                                 .error = ENOSPC});
    writers_start(&writers, 3,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 15000,
                                           .largest_payload = 700});
    writers_join(&writers);
    /* What the thread has not come to fails here. */
    (void)etwas_flush(session);
    fail_no_more();
    stop_session(session, &counts);
    assert_true(counts.lost_write_error > 0);
    expect_accounted(session, path, &counts);
}

static void a_disk_that_fills_and_empties_again_costs_only_what_it_refused(void **state)
{
    (void)state;
    fill_and_empty_again(0);
    fill_and_empty_again(EVENT_TRACE_COMPRESSED_MODE);
}

static void a_sync_that_is_refused_is_counted_and_said(void **state)
{
    static const struct {
        int error;
        uint32_t code;
    } rows[] = {{EIO, ERROR_WRITE_FAULT}, {ENOSPC, ERROR_DISK_FULL}, {EDQUOT, ERROR_DISK_FULL}};

    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.flusher = {.no_thread = true}};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 10});
        etwas_session_counts counts;

        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        fail_calls(&(struct failing){.calls = FAILING(SYNC), .most = 1, .error = rows[row].error});
        assert_int_equal(etwas_flush(session), rows[row].code);
        assert_int_equal(counts_of(session).sync_errors, 1);
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        fail_calls(&(struct failing){.calls = FAILING(CLOSE), .most = 1, .error = rows[row].error});
        stop_session(session, &counts);
        fail_no_more();
        assert_int_equal(counts.sync_errors, 2);
        expect_file_is_exact(session, path, &counts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAILING_TEST(short_writes_and_interruptions_lose_nothing),
        FAILING_TEST(errors_at_any_write_lose_whole_buffers_that_are_counted),
        FAILING_TEST(a_disk_that_fills_and_empties_again_costs_only_what_it_refused),
        FAILING_TEST(a_sync_that_is_refused_is_counted_and_said),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
