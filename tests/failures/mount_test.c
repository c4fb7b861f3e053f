/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Real file systems that are full, or become read-only. */
#include <errno.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failures/account.h"
#include "failures/failing.h"
#include "failures/private_mounts.h"
#include "failures/seam.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    FILLER_BYTES = 400 << 10,
    EVENTS = 100000,
    PARTS = 12,
    SKIPPED = 77,
};

/* folder_path's strings do not last a whole test of many. */
static char place[256]; /* where a file system of 1 MB is mounted */
static char filler[256];

static int setup(void **state)
{
    if (folder_setup(state) != 0) {
        return -1;
    }
    (void)snprintf(place, sizeof place, "%s", folder_path("place"));
    (void)snprintf(filler, sizeof filler, "%s", folder_path("place/filler"));
    return mkdir(place, 0700) == 0 ? mount("tmpfs", place, "tmpfs", 0, "size=1m") : -1;
}

static int teardown(void **state)
{
    int result = umount2(place, MNT_DETACH);

    return failing_teardown(state) == 0 ? result : -1;
}

static void fill_in_part(void)
{
    int file = open(filler, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    assert_int_equal(posix_fallocate(file, 0, FILLER_BYTES), 0);
    assert_int_equal(close(file), 0);
}

/* The thread is waited for in between: else nearly everything is lost for lack of buffers. */
static void log_some(struct writer *writer, bool with_thread)
{
    for (int index = 0; index < 50; index++) {
        uint32_t code = writer_log(writer);

        assert_true(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
    }
    if (with_thread) {
        wait_for_room(writer->options.session);
    } else {
        (void)etwas_flush(writer->options.session);
    }
}

/* Fills the file system, makes room again, and goes on. */
static void fill_and_empty(const char *name, uint32_t mode, uint32_t maximum_kb, bool with_thread)
{
    etwas_session_options options = {.log_file_mode = mode | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                     .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                     .maximum_file_size = maximum_kb,
                                     .buffer_size_kb = 4,
                                     .minimum_buffers = 24, /* all of them fit into the room */
                                     .maximum_buffers = 24,
                                     .flusher = {.no_thread = !with_thread}};
    const char *paths[PARTS];
    struct account account = {
        .paths = paths,
        .path_count = (mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0 ? PARTS : 1,
        .flags = ACCOUNT_WALKED | ACCOUNT_LOSSES,
    };
    etwas_session_counts counts;
    struct writer *writer;
    uint64_t recorded;

    for (uint32_t part = 0; part < account.path_count; part++) {
        char path[32];

        (void)snprintf(path, sizeof path, name, part + 1);
        paths[part] = folder_path(path);
    }
    account.session = start_session(folder_path(name), &options);
    fill_in_part();
    writer = writer_new(&(struct writer_options){.session = account.session,
                                                 .class_handle = writer_class(),
                                                 .events = EVENTS,
                                                 .largest_payload = 2000});
    while (counts_of(account.session).lost_write_error == 0) {
        assert_true(writer->attempted < EVENTS / 2);
        log_some(writer, with_thread);
    }
    assert_int_equal(unlink(filler), 0);
    (void)etwas_flush(account.session);
    recorded = counts_of(account.session).recorded;
    log_some(writer, with_thread);
    assert_int_equal(etwas_flush(account.session), ERROR_SUCCESS);
    assert_true(counts_of(account.session).recorded > recorded);
    stop_session(account.session, &counts);
    assert_true(expect_accounted_files(&account, &counts) > 0);
    for (uint32_t part = 0; part < account.path_count; part++) {
        (void)unlink(paths[part]);
    }
}

static void a_full_file_system_costs_only_what_does_not_fit(void **state)
{
    (void)state;
    for (int with_thread = 0; with_thread < 2; with_thread++) {
        fill_and_empty("place/trace.etl", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, with_thread != 0);
        fill_and_empty("place/trace.etl", EVENT_TRACE_FILE_MODE_APPEND, 0, with_thread != 0);
        fill_and_empty("place/trace.etl", EVENT_TRACE_FILE_MODE_CIRCULAR, 960, with_thread != 0);
    }
}

static void a_full_file_system_does_not_end_a_set_of_files(void **state)
{
    (void)state;
    fill_and_empty("place/trace-%d.etl", EVENT_TRACE_FILE_MODE_NEWFILE, 128, false);
    fill_and_empty("place/trace-%d.etl", EVENT_TRACE_FILE_MODE_NEWFILE, 128, true);
}

static void space_that_is_not_there_cannot_be_set_aside(void **state)
{
    const char *path = folder_path("place/trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                                      EVENT_TRACE_FILE_MODE_PREALLOCATE,
                                     .maximum_file_size = 2};
    etwas_trace_handle session = 0;

    (void)state;
    assert_int_equal(etwas_start("too large", path, &options, &session), ERROR_DISK_FULL);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_snapshot_that_does_not_fit_says_so(void **state)
{
    const char *inside = folder_path("place/snapshot.etl");
    const char *outside = folder_path("snapshot.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                     .buffer_size_kb = 64,
                                     .minimum_buffers = 32,
                                     .maximum_buffers = 32};
    struct account account = {.paths = &outside, .path_count = 1, .flags = ACCOUNT_WALKED};
    etwas_session_counts counts;
    struct writer *writer;

    (void)state;
    account.session = start_session(NULL, &options);
    writer = writer_new(&(struct writer_options){.session = account.session,
                                                 .class_handle = writer_class(),
                                                 .events = EVENTS,
                                                 .largest_payload = 2000});
    while (counts_of(account.session).overwritten == 0) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_snapshot(account.session, inside), ERROR_DISK_FULL);
    assert_int_equal(etwas_snapshot(account.session, outside), ERROR_SUCCESS);
    stop_session(account.session, &counts);
    assert_int_equal(expect_accounted_files(&account, &counts), 1);
    /* What fitted is in order, and of the newest. */
    account.paths = &inside;
    account.flags |= ACCOUNT_PART;
    assert_int_equal(expect_accounted_files(&account, &counts), 1);
}

/* Over the folder lies the same one, read-only: the file that is open can still be written. */
static void make_read_only(void)
{
    assert_int_equal(mount(place, place, NULL, MS_BIND, NULL), 0);
    assert_int_equal(mount(NULL, place, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
}

static void make_writable(void)
{
    assert_int_equal(umount(place), 0);
}

static void a_file_system_may_be_read_only_between_two_files(void **state)
{
    (void)state;
    expect_seam_survives(
        place, &(struct breakage){make_read_only, make_writable, ERROR_ACCESS_DENIED, false});
}

#define MOUNT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MOUNT_TEST(a_full_file_system_costs_only_what_does_not_fit),
        MOUNT_TEST(a_full_file_system_does_not_end_a_set_of_files),
        MOUNT_TEST(space_that_is_not_there_cannot_be_set_aside),
        MOUNT_TEST(a_snapshot_that_does_not_fit_says_so),
        MOUNT_TEST(a_file_system_may_be_read_only_between_two_files),
    };
    const char *reason = enter_private_mounts();

    if (reason != NULL) {
        for (size_t index = 0; index < sizeof tests / sizeof tests[0]; index++) {
            print_message("%s: skipped, %s\n", tests[index].name, reason);
        }
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
