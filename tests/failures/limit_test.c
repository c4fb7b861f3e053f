/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A process that may not have large files (RLIMIT_FSIZE). The system sends SIGXFSZ to a process
 * that reaches the limit, which kills by default: no process dies, whatever the host does with that
 * signal, and what does not fit is counted.
 */
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "failures/account.h"
#include "failures/failing.h"
#include "failures/seam.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    LIMIT_BYTES = 102400,
    NOTHING_BYTES = 1000, /* not even a file's header fits */
    EVENTS = 100000,
};

static struct rlimit limit_before;
static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static void limit_files(rlim_t bytes)
{
    const struct rlimit limit = {bytes, limit_before.rlim_max};

    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void end_limit(void)
{
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit_before), 0);
}

static int setup(void **state)
{
    signals = 0;
    return getrlimit(RLIMIT_FSIZE, &limit_before) == 0 ? folder_setup(state) : -1;
}

static int teardown(void **state)
{
    end_limit();
    (void)signal(SIGXFSZ, SIG_DFL);
    return failing_teardown(state);
}

static struct writer *writer_of(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = EVENTS,
                                               .largest_payload = 500});
}

static void log_some(struct writer *writer)
{
    for (int index = 0; index < 100; index++) {
        uint32_t code = writer_log(writer);

        assert_true(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    }
}

static void log_until_lost(struct writer *writer, bool with_thread)
{
    while (counts_of(writer->options.session).lost_write_error == 0) {
        assert_true(writer->attempted < EVENTS);
        log_some(writer);
        if (with_thread) {
            wait_for_room(writer->options.session);
        } else {
            (void)etwas_flush(writer->options.session);
        }
    }
}

static void reach_limit(uint32_t mode, bool with_thread)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = mode,
                                     .maximum_file_size = mode != 0 ? 1 : 0,
                                     .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                     .buffer_size_kb = 4,
                                     .maximum_buffers = 64,
                                     .flusher = {.no_thread = !with_thread}};
    struct account account = {
        .paths = &path, .path_count = 1, .flags = ACCOUNT_WALKED | ACCOUNT_LOSSES};
    etwas_session_counts counts;

    limit_files(LIMIT_BYTES);
    account.session = start_session(path, &options);
    log_until_lost(writer_of(account.session), with_thread);
    stop_session(account.session, &counts);
    end_limit();
    assert_int_equal(expect_accounted_files(&account, &counts), 1);
    assert_int_equal(unlink(path), 0);
}

static void reach_limits(void)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_FILE_MODE_CIRCULAR,
                                     EVENT_TRACE_FILE_MODE_APPEND};

    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        reach_limit(modes[index], true);
        reach_limit(modes[index], false);
    }
}

static void a_limit_on_the_size_of_files_gives_losses_not_death(void **state)
{
    (void)state;
    reach_limits();
}

static void a_host_that_ignores_or_catches_the_signal_does_not_see_it(void **state)
{
    (void)state;
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    reach_limits();
    assert_true(signal(SIGXFSZ, count_signal) == SIG_IGN);
    reach_limits();
    assert_int_equal(signals, 0);
    assert_true(signal(SIGXFSZ, count_signal) == count_signal);
}

/* One that the host holds back is still there after, and no second one. */
static void a_signal_that_the_host_holds_back_stays_its_own(void **state)
{
    sigset_t too_large;

    (void)state;
    assert_true(signal(SIGXFSZ, count_signal) != SIG_ERR);
    assert_int_equal(sigemptyset(&too_large) + sigaddset(&too_large, SIGXFSZ), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &too_large, NULL), 0);
    reach_limit(0, false);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &too_large, NULL), 0);
    assert_int_equal(signals, 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &too_large, NULL), 0);
    assert_int_equal(raise(SIGXFSZ), 0);
    reach_limit(0, false);
    assert_int_equal(signals, 0);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &too_large, NULL), 0);
    assert_int_equal(signals, 1);
}

static void a_start_beyond_the_limit_fails_and_leaves_no_file(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                                      EVENT_TRACE_FILE_MODE_PREALLOCATE,
                                     .maximum_file_size = 1};
    etwas_trace_handle session = 0;

    (void)state;
    limit_files(NOTHING_BYTES);
    assert_int_equal(etwas_start("no file", path, NULL, &session), ERROR_DISK_FULL);
    assert_int_equal(access(path, F_OK), -1);
    limit_files(LIMIT_BYTES);
    assert_int_equal(etwas_start("no space set aside", path, &options, &session), ERROR_DISK_FULL);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(session, 0);
}

static void a_snapshot_beyond_the_limit_says_so_and_the_next_one_is_whole(void **state)
{
    const char *path = folder_path("snapshot.etl");
    const char *other = folder_path("none.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                     .buffer_size_kb = 4,
                                     .minimum_buffers = 128,
                                     .maximum_buffers = 128};
    struct account account = {.paths = &path, .path_count = 1};
    etwas_session_counts counts;
    struct writer *writer;

    (void)state;
    account.session = start_session(NULL, &options);
    writer = writer_of(account.session);
    while (writer->attempted < 1200) {
        log_some(writer);
    }
    limit_files(NOTHING_BYTES);
    assert_int_equal(etwas_snapshot(account.session, other), ERROR_DISK_FULL);
    assert_int_equal(access(other, F_OK), -1);
    limit_files(LIMIT_BYTES);
    assert_int_equal(etwas_snapshot(account.session, path), ERROR_DISK_FULL);
    end_limit();
    assert_int_equal(etwas_snapshot(account.session, path), ERROR_SUCCESS);
    stop_session(account.session, &counts);
    assert_int_equal(expect_accounted_files(&account, &counts), 1);
}

static void forbid_files(void)
{
    limit_files(NOTHING_BYTES);
}

static void a_next_file_beyond_the_limit_is_tried_again(void **state)
{
    (void)state;
    expect_seam_survives(folder_path("."),
                         &(struct breakage){forbid_files, end_limit, ERROR_DISK_FULL, true});
}

/* Somebody cut the file: ending it makes it longer again, up to the limit. */
static void a_file_that_somebody_cut_is_ended_within_the_limit(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = 4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_of(session);
    etwas_session_counts counts;

    (void)state;
    for (int turn = 0; turn < 10; turn++) {
        log_some(writer);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    assert_int_equal(truncate(path, 0), 0);
    limit_files(NOTHING_BYTES);
    stop_session(session, &counts);
    end_limit();
    assert_true(counts.sync_errors > 0);
    expect_exact_account(session, &counts);
}

#define LIMIT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIMIT_TEST(a_limit_on_the_size_of_files_gives_losses_not_death),
        LIMIT_TEST(a_host_that_ignores_or_catches_the_signal_does_not_see_it),
        LIMIT_TEST(a_signal_that_the_host_holds_back_stays_its_own),
        LIMIT_TEST(a_start_beyond_the_limit_fails_and_leaves_no_file),
        LIMIT_TEST(a_snapshot_beyond_the_limit_says_so_and_the_next_one_is_whole),
        LIMIT_TEST(a_next_file_beyond_the_limit_is_tried_again),
        LIMIT_TEST(a_file_that_somebody_cut_is_ended_within_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
