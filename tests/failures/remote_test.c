/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file system like a remote one (fuse_disk.h): it takes what is written and drops it later, is
 * full only at fsync or close, stops answering, or goes away.
 */
#include <ck_pr.h>
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "failures/account.h"
#include "failures/failing.h"
#include "failures/private_mounts.h"
#include "failures/remote.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 100000,
    PARTS = 16,
    SKIPPED = 77,
};

static struct remote remote;

static int setup(void **state)
{
    return folder_setup(state) == 0 ? remote_begin(&remote) : -1;
}

static int teardown(void **state)
{
    remote_end(&remote);
    return failing_teardown(state);
}

static etwas_trace_handle start_remote(uint32_t mode, bool with_thread, struct writer **writer)
{
    etwas_session_options options = {.log_file_mode = mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .maximum_file_size = mode != 0 ? 256 : 0,
                                     .buffer_size_kb = 4,
                                     .minimum_buffers = 24,
                                     .maximum_buffers = 48,
                                     .flusher = {.no_thread = !with_thread}};
    etwas_trace_handle session = start_session(folder_path("remote/trace.etl"), &options);

    *writer = writer_new(&(struct writer_options){.session = session,
                                                  .class_handle = writer_class(),
                                                  .events = EVENTS,
                                                  .largest_payload = 300});
    return session;
}

static void log_some(struct writer *writer)
{
    for (int index = 0; index < 100; index++) {
        uint32_t code = writer_log(writer);

        assert_true(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    }
}

/* Nothing less than what was recorded, and nothing else. */
static void expect_exact_file(etwas_trace_handle session, const etwas_session_counts *counts)
{
    const char *path = folder_path("remote/trace.etl");
    const struct account account = {.session = session,
                                    .paths = &path,
                                    .path_count = 1,
                                    .flags = ACCOUNT_WALKED | ACCOUNT_LOSSES};

    assert_int_equal(expect_accounted_files(&account, counts), 1);
}

static void writes_that_are_refused_are_counted(void **state)
{
    etwas_session_counts counts;
    struct writer *writer;
    etwas_trace_handle session = start_remote(0, false, &writer);

    (void)state;
    log_some(writer);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    ck_pr_store_32(&remote.control->write_error, EIO);
    log_some(writer);
    assert_int_equal(etwas_flush(session), ERROR_WRITE_FAULT);
    ck_pr_store_32(&remote.control->write_error, EDQUOT);
    log_some(writer);
    assert_int_equal(etwas_flush(session), ERROR_DISK_FULL);
    ck_pr_store_32(&remote.control->write_error, 0);
    log_some(writer);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 200);
    assert_int_equal(counts.lost_write_error, 200);
    expect_exact_file(session, &counts);
}

/* What was durable before stays, what comes after is recorded, and what is gone between counts. */
static void what_a_refused_sync_dropped_is_counted(void **state)
{
    static const struct {
        uint32_t error;
        uint32_t code;
    } rows[] = {{EIO, ERROR_WRITE_FAULT}, {ENOSPC, ERROR_DISK_FULL}};

    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        etwas_session_counts counts;
        struct writer *writer;
        etwas_trace_handle session = start_remote(0, false, &writer);

        log_some(writer);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        log_some(writer);
        ck_pr_store_32(&remote.control->sync_error, rows[row].error);
        assert_int_equal(etwas_flush(session), rows[row].code);
        ck_pr_store_32(&remote.control->sync_error, 0);
        counts = counts_of(session);
        assert_true(counts.sync_errors > 0);
        assert_int_equal(counts.lost_write_error, 100);
        assert_int_equal(query_session(session).EventsLost, 100);
        assert_int_equal(query_session(session).LogBuffersLost, counts.buffers_lost);
        log_some(writer);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        stop_session(session, &counts);
        assert_int_equal(counts.recorded, 200);
        expect_exact_file(session, &counts);
        assert_int_equal(unlink(folder_path("remote/trace.etl")), 0);
    }
    assert_true(ck_pr_load_32(&remote.control->dropped) > 0);
}

/* The same at the end, where nothing comes after it. */
static void what_the_last_sync_dropped_is_counted(void **state)
{
    etwas_session_counts counts;
    struct writer *writer;
    etwas_trace_handle session = start_remote(0, true, &writer);

    (void)state;
    log_some(writer);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    log_some(writer);
    ck_pr_store_32(&remote.control->sync_error, EIO);
    stop_session(session, &counts);
    ck_pr_store_32(&remote.control->sync_error, 0);
    assert_true(counts.sync_errors > 0);
    assert_int_equal(counts.recorded, 100);
    assert_int_equal(counts.lost_write_error, 100);
    expect_exact_account(session, &counts);
}

/* Syncs fail now and then; what is in the files at the end is what counts as recorded. */
static void drop_now_and_then(const char *name, uint32_t mode, uint32_t maximum_kb)
{
    etwas_session_options options = {.log_file_mode = mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .maximum_file_size = maximum_kb,
                                     .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                     .buffer_size_kb = 4,
                                     .flusher = {.no_thread = true}};
    const char *paths[PARTS];
    struct account account = {.paths = paths,
                              .path_count = (mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0 ? PARTS : 1,
                              .flags = ACCOUNT_WALKED | ACCOUNT_LOSSES};
    etwas_session_counts counts;
    struct writer *writer;

    for (uint32_t part = 0; part < account.path_count; part++) {
        char path[32];

        (void)snprintf(path, sizeof path, name, part + 1);
        paths[part] = folder_path(path);
    }
    account.session = start_session(folder_path(name), &options);
    writer = writer_new(&(struct writer_options){.session = account.session,
                                                 .class_handle = writer_class(),
                                                 .events = EVENTS,
                                                 .largest_payload = 300});
    for (uint32_t turn = 0; turn < 40; turn++) {
        log_some(writer);
        ck_pr_store_32(&remote.control->sync_error_once, turn * 7 % 5 < 2 ? EIO : 0);
        (void)etwas_flush(account.session);
    }
    ck_pr_store_32(&remote.control->sync_error_once, 0);
    log_some(writer);
    stop_session(account.session, &counts);
    assert_true(counts.lost_write_error > 0);
    assert_true(expect_accounted_files(&account, &counts) > 0);
}

static void what_is_dropped_is_counted_in_every_mode(void **state)
{
    (void)state;
    drop_now_and_then("remote/a.etl", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0);
    drop_now_and_then("remote/b.etl", EVENT_TRACE_FILE_MODE_APPEND, 0);
    drop_now_and_then("remote/c.etl", EVENT_TRACE_FILE_MODE_CIRCULAR, 64);
    drop_now_and_then("remote/d-%d.etl", EVENT_TRACE_FILE_MODE_NEWFILE, 128);
    drop_now_and_then("remote/e.etl",
                      EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_PREALLOCATE, 1024);
}

/* The disk keeps what has room and drops the rest, late. */
static void a_disk_that_is_full_only_at_sync_costs_what_had_no_room(void **state)
{
    etwas_session_counts counts;
    struct writer *writer;
    etwas_trace_handle session = start_remote(0, false, &writer);
    uint32_t code = ERROR_SUCCESS;

    (void)state;
    ck_pr_store_32(&remote.control->room_bytes, 100000); /* the end of it is within a buffer */
    while (code == ERROR_SUCCESS) {
        assert_true(writer->attempted < EVENTS / 2);
        for (int turn = 0; turn < 5; turn++) {
            log_some(writer);
        }
        code = etwas_flush(session);
    }
    assert_int_equal(code, ERROR_DISK_FULL);
    counts = counts_of(session);
    assert_true(counts.lost_write_error > 0 && counts.lost_write_error < 500);
    ck_pr_store_32(&remote.control->room_bytes, 0);
    log_some(writer);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    stop_session(session, &counts);
    expect_exact_file(session, &counts);
}

static void an_error_at_close_is_counted(void **state)
{
    etwas_session_counts counts;
    struct writer *writer;
    etwas_trace_handle session = start_remote(0, false, &writer);

    (void)state;
    log_some(writer);
    ck_pr_store_32(&remote.control->close_error, EIO);
    stop_session(session, &counts);
    ck_pr_store_32(&remote.control->close_error, 0);
    assert_int_equal(counts.sync_errors, 1);
    expect_exact_file(session, &counts);
}

/* The program that serves the disk is stopped. */
static void writers_go_on_while_a_disk_does_not_answer(void **state)
{
    etwas_session_counts counts;
    struct writer *writer;
    etwas_trace_handle session = start_remote(0, true, &writer);

    (void)state;
    log_some(writer);
    assert_int_equal(kill(remote.process, SIGSTOP), 0);
    while (writer->attempted < EVENTS) {
        log_some(writer);
    }
    assert_true(counts_of(session).lost_no_buffer > 0);
    assert_int_equal(query_session(session).EventsLost, counts_of(session).lost);
    assert_int_equal(kill(remote.process, SIGCONT), 0);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, counts.lost_no_buffer);
    expect_exact_file(session, &counts);
}

static void a_disk_that_goes_away_costs_what_was_on_it_and_no_more(void **state)
{
    etwas_session_counts counts;
    struct writer *writer;
    etwas_trace_handle session = start_remote(0, true, &writer);

    (void)state;
    log_some(writer);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(kill(remote.process, SIGKILL), 0);
    while (counts_of(session).lost_write_error == 0) {
        assert_true(writer->attempted < EVENTS);
        log_some(writer);
        (void)etwas_flush(session);
    }
    stop_session(session, &counts);
    assert_true(counts.sync_errors > 0);
    expect_exact_account(session, &counts);
}

#define REMOTE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REMOTE_TEST(writes_that_are_refused_are_counted),
        REMOTE_TEST(what_a_refused_sync_dropped_is_counted),
        REMOTE_TEST(what_the_last_sync_dropped_is_counted),
        REMOTE_TEST(what_is_dropped_is_counted_in_every_mode),
        REMOTE_TEST(a_disk_that_is_full_only_at_sync_costs_what_had_no_room),
        REMOTE_TEST(an_error_at_close_is_counted),
        REMOTE_TEST(writers_go_on_while_a_disk_does_not_answer),
        REMOTE_TEST(a_disk_that_goes_away_costs_what_was_on_it_and_no_more),
    };
    const char *reason = enter_private_mounts();

    reason = reason != NULL ? reason : remote_refused();
    if (reason != NULL) {
        for (size_t index = 0; index < sizeof tests / sizeof tests[0]; index++) {
            print_message("%s: skipped, %s\n", tests[index].name, reason);
        }
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
