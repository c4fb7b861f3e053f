/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Log files and folders that others take away, put something else in place of, or close to us. */
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failures/account.h"
#include "failures/failing.h"
#include "failures/seam.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    NOBODY = 65534
};

static const char *place; /* the folder that log files are in */
static const char *elsewhere;
static int held = -1;

static int setup(void **state)
{
    if (folder_setup(state) != 0) {
        return -1;
    }
    place = folder_path("place");
    elsewhere = folder_path("elsewhere");
    return mkdir(place, 0700);
}

static const char *in_place(const char *name)
{
    static char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

/* ---- between two files ----------------------------------------------------------------------- */

static void move_folder(void)
{
    assert_int_equal(rename(place, elsewhere), 0);
}

static void move_folder_back(void)
{
    assert_int_equal(rename(elsewhere, place), 0);
}

static void a_folder_may_vanish_between_two_files(void **state)
{
    (void)state;
    expect_seam_survives(
        place, &(struct breakage){move_folder, move_folder_back, ERROR_PATH_NOT_FOUND, false});
}

/* Root may write anywhere: so the whole process is nobody for a while. */
static void close_folder(void)
{
    assert_int_equal(chmod(place, 0500), 0);
    if (geteuid() == 0) {
        assert_int_equal(chmod(folder_path("."), 0711), 0);
        assert_int_equal(seteuid(NOBODY), 0);
    }
}

static void open_folder(void)
{
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(chmod(place, 0700), 0);
}

static void permission_may_be_lost_between_two_files(void **state)
{
    (void)state;
    expect_seam_survives(place,
                         &(struct breakage){close_folder, open_folder, ERROR_ACCESS_DENIED, false});
}

static void put_folder_in_the_way(void)
{
    assert_int_equal(mkdir(in_place("part-2.etl"), 0700), 0);
}

static void remove_folder_in_the_way(void)
{
    assert_int_equal(rmdir(in_place("part-2.etl")), 0);
}

static void a_folder_may_be_in_the_next_files_place(void **state)
{
    (void)state;
    expect_seam_survives(place, &(struct breakage){put_folder_in_the_way, remove_folder_in_the_way,
                                                   ERROR_BAD_PATHNAME, false});
}

static void hold_next_file(void)
{
    held = open(in_place("part-2.etl"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(held >= 0);
    assert_int_equal(flock(held, LOCK_EX), 0);
    assert_int_equal(write(held, "kept", 4), 4);
}

static void let_go_of_next_file(void)
{
    char text[4];

    assert_int_equal(pread(held, text, sizeof text, 0), 4);
    assert_memory_equal(text, "kept", 4);
    assert_int_equal(close(held), 0);
}

/* R18. */
static void somebody_else_may_use_the_next_file(void **state)
{
    (void)state;
    expect_seam_survives(
        place, &(struct breakage){hold_next_file, let_go_of_next_file, ERROR_BAD_PATHNAME, false});
}

/* ---- under us -------------------------------------------------------------------------------- */

static etwas_trace_handle start_here(struct writer **writer)
{
    etwas_session_options options = {.buffer_size_kb = 4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(in_place("trace.etl"), &options);

    *writer = writer_new(&(struct writer_options){.session = session,
                                                  .class_handle = writer_class(),
                                                  .events = 1000,
                                                  .largest_payload = 200});
    return session;
}

static void log_100(struct writer *writer)
{
    for (int index = 0; index < 100; index++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
}

/*
 * Logging goes on in the file that no folder names any more: the file that was moved has
 * everything.
 */
static void a_file_may_be_moved_away_while_it_is_written(void **state)
{
    const char *moved = folder_path("moved.etl");
    struct account account = {
        .paths = &moved, .path_count = 1, .flags = ACCOUNT_WALKED | ACCOUNT_LOSSES};
    etwas_session_counts counts;
    struct writer *writer;

    (void)state;
    account.session = start_here(&writer);
    log_100(writer);
    assert_int_equal(rename(in_place("trace.etl"), moved), 0);
    log_100(writer);
    assert_int_equal(etwas_flush(account.session), ERROR_SUCCESS);
    log_100(writer);
    stop_session(account.session, &counts);
    assert_int_equal(counts.recorded, 300);
    assert_int_equal(expect_accounted_files(&account, &counts), 1);
    assert_int_equal(access(in_place("trace.etl"), F_OK), -1);
}

static void a_file_may_be_removed_or_replaced_while_it_is_written(void **state)
{
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct writer *writer;
    char text[8];
    int other;

    (void)state;
    session = start_here(&writer);
    log_100(writer);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(unlink(in_place("trace.etl")), 0);
    log_100(writer);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    other = open(in_place("trace.etl"), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_int_equal(write(other, "theirs", 6), 6);
    log_100(writer);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 300);
    expect_exact_account(session, &counts);
    assert_int_equal(pread(other, text, sizeof text, 0), 6);
    assert_memory_equal(text, "theirs", 6);
    assert_int_equal(close(other), 0);
}

static void write_theirs(const char *path)
{
    FILE *other = fopen(path, "we");

    assert_non_null(other);
    assert_true(fputs("theirs", other) >= 0);
    assert_int_equal(fclose(other), 0);
}

static void a_start_that_fails_late_leaves_a_file_where_one_was(void **state)
{
    const char *path = in_place("trace.etl");
    etwas_trace_handle session = 0;

    (void)state;
    write_theirs(path);
    fail_calls(&(struct failing){.calls = FAILING(WRITE), .error = ENOSPC});
    assert_int_equal(etwas_start("fails late", path, NULL, &session), ERROR_DISK_FULL);
    fail_no_more();
    assert_int_equal(session, 0);
    assert_int_equal(access(path, F_OK), 0);
}

/* Another makes the file just before the session opens it; then the disk is full. */
static long make_theirs_and_be_full(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_OPEN && access(in_place("trace.etl"), F_OK) != 0) {
        write_theirs(in_place("trace.etl"));
    }
    return call == ETWAS_FILE_WRITE ? -ENOSPC : (long)bytes;
}

static void a_start_that_fails_late_leaves_a_file_that_another_made_meanwhile(void **state)
{
    etwas_trace_handle session = 0;

    (void)state;
    etwas_file_set_failure_hook(make_theirs_and_be_full);
    assert_int_equal(etwas_start("fails late", in_place("trace.etl"), NULL, &session),
                     ERROR_DISK_FULL);
    etwas_file_set_failure_hook(NULL);
    assert_int_equal(session, 0);
    assert_int_equal(access(in_place("trace.etl"), F_OK), 0);
}

#define PLACE_TEST(test) cmocka_unit_test_setup_teardown(test, setup, failing_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE_TEST(a_folder_may_vanish_between_two_files),
        PLACE_TEST(permission_may_be_lost_between_two_files),
        PLACE_TEST(a_folder_may_be_in_the_next_files_place),
        PLACE_TEST(somebody_else_may_use_the_next_file),
        PLACE_TEST(a_file_may_be_moved_away_while_it_is_written),
        PLACE_TEST(a_file_may_be_removed_or_replaced_while_it_is_written),
        PLACE_TEST(a_start_that_fails_late_leaves_a_file_where_one_was),
        PLACE_TEST(a_start_that_fails_late_leaves_a_file_that_another_made_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
