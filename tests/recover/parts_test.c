/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A buffer that stays current while a set of files goes on has parts in files that are not asked any more. They are not
 * recovered again; what was refused is.
 */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "recover/crash.h"

enum {
    FILES = 4, /* more than are asked */
    EVENTS = 5,
};

static struct crash_progress *progress;

static long refuse_writes(enum etwas_file_call call, size_t bytes)
{
    return call == ETWAS_FILE_WRITE ? -ENOSPC : (long)bytes;
}

static void log_events(etwas_trace_handle session)
{
    for (uint64_t number = 0; number < EVENTS; number++) {
        CHECK_IN_CHILD(log_number(session, number) == ERROR_SUCCESS);
    }
}

static void go_on_in_the_next_file(etwas_trace_handle session)
{
    static struct block block;

    prepare_block(&block, NULL);
    CHECK_IN_CHILD(ControlTraceA(session, NULL, &block.properties,
                                 EVENT_TRACE_CONTROL_INCREMENT_FILE) == ERROR_SUCCESS);
}

/* Flushes some events into each file, the first or none of them refused, and dies with some more. */
static void log_and_die(bool is_refused)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
        .crash_safe_folder = folder_path("run"),
        .buffer_size_kb = 16,
        .maximum_file_size = 1,
        .flusher.no_thread = true,
    };
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start("parts", folder_path("log%d.etl"), &options, &session) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_crash_safe_path(session, progress->path, sizeof progress->path) ==
                   ERROR_SUCCESS);
    for (int file = 0; file < FILES; file++) {
        log_events(session);
        etwas_file_fail(is_refused && file == 0 ? refuse_writes : NULL);
        CHECK_IN_CHILD((etwas_flush(session) != ERROR_SUCCESS) == (is_refused && file == 0));
        etwas_file_fail(NULL);
        go_on_in_the_next_file(session);
    }
    log_events(session);
    (void)kill(getpid(), SIGKILL);
}

static etwas_recovered recover_what_died(bool is_refused)
{
    etwas_recovered recovered;
    int status;
    int child;

    progress = crash_progress_new();
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    child = fork_child();
    if (child == 0) {
        log_and_die(is_refused);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    crash_recover(progress->path, folder_path("after.etl"), &recovered);
    assert_int_equal(count_events(folder_path("after.etl")), recovered.events);
    assert_int_equal(recovered.attempted, (FILES + 1) * EVENTS);
    crash_progress_free(progress);
    return recovered;
}

static void what_older_files_have_is_not_there_twice(void **state)
{
    const etwas_recovered recovered = recover_what_died(false);

    (void)state;
    assert_int_equal(recovered.events, EVENTS);
    assert_int_equal(recovered.lost, 0);
    if (can_have_sequences()) {
        assert_int_equal(recovered.in_log_file, FILES * EVENTS);
    }
}

/* It is in no file, and in memory where a flush left it there. */
static void what_was_refused_is_recovered(void **state)
{
    const etwas_recovered recovered = recover_what_died(true);

    (void)state;
    if (can_have_sequences()) {
        assert_true(recovered.events >= 2 * EVENTS);
        assert_int_equal(recovered.lost, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_older_files_have_is_not_there_twice),
        FOLDER_TEST(what_was_refused_is_recovered),
    };

    return cmocka_run_group_tests_name("recover parts", tests, folder_in_memory, NULL);
}
