/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A set of files goes on while a buffer stays current: it has parts in files that are not asked any
 * more. They are not recovered again; what was refused is, and what is in no file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/control.h"
#include "platform/file.h"
#include "recover/crash.h"
#include "shared/layout.h"

enum {
    FILES = 4, /* more than are asked */
    EVENTS = 5,
    LAST_EVENTS = 60000, /* more than fit into three files */
};

static struct crash_progress *progress;

static const char *file_path(int file)
{
    char name[32];

    (void)snprintf(name, sizeof name, "log%d.etl", file);
    return folder_path(name);
}

/* ---- the child ------------------------------------------------------------------------------- */

/* The log file's. The backlog's comes behind it. */
static long refuse_a_write(enum etwas_log_file_call call, size_t bytes)
{
    static bool is_done;
    bool refuses = call == ETWAS_FILE_WRITE && !is_done;

    is_done = is_done || refuses;
    return refuses ? -ENOSPC : (long)bytes;
}

static etwas_trace_handle start(uint32_t buffer_kb)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
        .crash_safe_folder = folder_path("run"),
        .buffer_size_kb = buffer_kb,
        .maximum_buffers = 128,
        .maximum_file_size = 1,
        .flusher.no_thread = true,
    };
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start("parts", folder_path("log%d.etl"), &options, &session) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_crash_safe_path(session, progress->path, sizeof progress->path) ==
                   ERROR_SUCCESS);
    return session;
}

static void log_events(etwas_trace_handle session, uint64_t count)
{
    for (uint64_t number = 0; number < count; number++) {
        CHECK_IN_CHILD(log_number(session, number) == ERROR_SUCCESS);
    }
}

static void control(etwas_trace_handle session, uint32_t how, uint32_t mode)
{
    static struct block block;

    prepare_block(&block, NULL);
    block.properties.LogFileMode = mode;
    CHECK_IN_CHILD(ControlTraceA(session, NULL, &block.properties, how) == ERROR_SUCCESS);
}

/*
 * Flushes some events into each file, the first or none of them refused, and dies with some more.
 * All are in one buffer, whose beginning is in the first file.
 */
static void fill_files(etwas_trace_handle session, bool is_refused)
{
    stay_on_one_processor();
    for (int file = 0; file < FILES; file++) {
        log_events(session, EVENTS);
        etwas_file_set_failure_hook(is_refused && file == 0 ? refuse_a_write : NULL);
        CHECK_IN_CHILD((etwas_flush(session) != ERROR_SUCCESS) == (is_refused && file == 0));
        etwas_file_set_failure_hook(NULL);
        control(session, EVENT_TRACE_CONTROL_INCREMENT_FILE, EVENT_TRACE_FILE_MODE_NEWFILE);
    }
    log_events(session, EVENTS);
    (void)kill(getpid(), SIGKILL);
}

static void die_with_files(void)
{
    fill_files(start(16), false);
}

static void die_with_a_file_that_was_refused(void)
{
    fill_files(start(16), true);
}

/* What the file refuses is in the backlog. */
static void die_with_consumers(void)
{
    etwas_trace_handle session = start(16);

    control(session, EVENT_TRACE_CONTROL_UPDATE, EVENT_TRACE_REAL_TIME_MODE);
    fill_files(session, true);
}

static void die_with_one_file(void)
{
    etwas_trace_handle session = start(16);

    log_events(session, EVENTS);
    CHECK_IN_CHILD(etwas_flush(session) == ERROR_SUCCESS);
    log_events(session, EVENTS);
    (void)kill(getpid(), SIGKILL);
}

static long die_with_the_last_file(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_OPEN && access(file_path(FILES - 1), F_OK) == 0) {
        (void)kill(getpid(), SIGKILL);
    }
    return (long)bytes;
}

static void die_while_it_stops(void)
{
    etwas_trace_handle session = start(64);

    log_events(session, LAST_EVENTS);
    etwas_file_set_failure_hook(die_with_the_last_file);
    (void)etwas_stop(session, NULL);
}

/* ---- its parent ------------------------------------------------------------------------------ */

static void await_death(void (*log_and_die)(void))
{
    int status;
    int child;

    progress = crash_progress_new();
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    child = fork_child();
    if (child == 0) {
        log_and_die();
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static etwas_recovered recover_what_is_left(void)
{
    etwas_recovered recovered;

    crash_recover(progress->path, folder_path("after.etl"), &recovered);
    assert_int_equal(count_events(folder_path("after.etl")), recovered.events);
    crash_progress_free(progress);
    return recovered;
}

static void what_older_files_have_is_not_there_twice(void **state)
{
    etwas_recovered recovered;

    (void)state;
    await_death(die_with_files);
    recovered = recover_what_is_left();
    assert_int_equal(recovered.events, EVENTS);
    assert_int_equal(recovered.attempted, (FILES + 1) * EVENTS);
    assert_int_equal(recovered.lost, 0);
    if (can_have_sequences()) {
        assert_int_equal(recovered.in_log_file, FILES * EVENTS);
    }
}

/* It is in no file, and in memory where a flush left it there. */
static void what_was_refused_is_recovered(void **state)
{
    etwas_recovered recovered;

    (void)state;
    await_death(die_with_a_file_that_was_refused);
    recovered = recover_what_is_left();
    assert_int_equal(recovered.attempted, (FILES + 1) * EVENTS);
    if (can_have_sequences()) {
        assert_true(recovered.events >= 2 * EVENTS);
        assert_int_equal(recovered.lost, 0);
    }
}

static void what_only_consumers_got_is_recovered(void **state)
{
    etwas_recovered recovered;

    (void)state;
    await_death(die_with_consumers);
    recovered = recover_what_is_left();
    if (can_have_sequences()) {
        assert_true(recovered.events >= 2 * EVENTS);
    }
}

/* How far flushes took each buffer: less than a whole record. */
static void damage_written_units(void)
{
    struct etwas_shared_head head;
    int file = open(progress->path, O_RDWR | O_CLOEXEC);

    assert_int_equal(pread(file, &head, sizeof head, 0), sizeof head);
    for (uint32_t index = 0; index < head.tables[ETWAS_SHARED_CONTROLS].count; index++) {
        off_t at = (off_t)(head.tables[ETWAS_SHARED_CONTROLS].offset +
                           index * sizeof(struct etwas_buffer_control) +
                           offsetof(struct etwas_buffer_control, written_units));
        uint32_t units;

        assert_int_equal(pread(file, &units, sizeof units, at), sizeof units);
        units -= units != 0;
        assert_int_equal(pwrite(file, &units, sizeof units, at), sizeof units);
    }
    assert_int_equal(close(file), 0);
}

static void no_record_is_settled_in_part(void **state)
{
    etwas_recovered recovered;

    (void)state;
    await_death(die_with_files);
    damage_written_units();
    recovered = recover_what_is_left();
    if (can_have_sequences()) {
        assert_int_equal(recovered.events, (FILES + 1) * EVENTS);
    }
}

/* Nothing is older than the only one. What is flushed without sequences leaves its buffer. */
static void what_was_cut_off_the_only_file_is_recovered(void **state)
{
    (void)state;
    await_death(die_with_one_file);
    assert_int_equal(truncate(file_path(1), 16 << 10), 0);
    assert_int_equal(recover_what_is_left().events, can_have_sequences() ? 2 * EVENTS : EVENTS);
}

/* However many buffers are left then. */
static void no_more_than_two_files_are_unsettled_at_the_stop(void **state)
{
    size_t count = 0;
    etwas_recovered recovered;

    (void)state;
    await_death(die_while_it_stops);
    for (int file = 1; file < FILES; file++) {
        struct events events;

        read_events(file_path(file), 0, &events);
        count += events.count;
        free_events(&events);
    }
    recovered = recover_what_is_left();
    assert_int_equal(count + recovered.events, LAST_EVENTS);
    assert_int_equal(recovered.attempted, LAST_EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_older_files_have_is_not_there_twice),
        FOLDER_TEST(what_was_refused_is_recovered),
        FOLDER_TEST(what_only_consumers_got_is_recovered),
        FOLDER_TEST(no_record_is_settled_in_part),
        FOLDER_TEST(what_was_cut_off_the_only_file_is_recovered),
        FOLDER_TEST(no_more_than_two_files_are_unsettled_at_the_stop),
    };

    return cmocka_run_group_tests_name("recover parts", tests, folder_in_memory, NULL);
}
