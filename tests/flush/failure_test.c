/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Disks that refuse: short writes, interruptions, ENOSPC and EIO made on purpose, a small tmpfs that is really
 * full, and a limit on the size of files. What cannot be written is counted, and the file stays readable.
 */
#include <ck_pr.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    SKIPPED = 77
};

/* ---- failures from a table of chances -------------------------------------------------------- */

static uint32_t writes;    /* asked so far */
static uint32_t first_bad; /* from this one on they may fail */
static uint32_t chance;    /* one in so many fails */
static int failure_errno;  /* with this */
static uint32_t seed;

static long fail_sometimes(size_t bytes, bool is_sync)
{
    uint32_t number = ck_pr_faa_32(&writes, 1);
    uint32_t random = (number + seed) * 2654435761u;

    random = (random ^ random >> 15) * 2246822519u;
    random ^= random >> 13;
    if (is_sync || number < first_bad || random % chance != 0) {
        return (long)bytes;
    }
    switch (random / chance % 4) {
    case 0:
    case 1:
        return -failure_errno;
    case 2:
        return -EINTR;
    default:
        return (long)(bytes / (1 + random % 17)) + 1; /* short, at any byte */
    }
}

static void fail_from(uint32_t first, uint32_t one_in, int error, uint32_t a_seed)
{
    ck_pr_store_32(&writes, 0);
    first_bad = first;
    chance = one_in;
    failure_errno = error;
    seed = a_seed;
    etwas_file_fail(fail_sometimes);
}

static int teardown(void **state)
{
    etwas_file_fail(NULL);
    return folder_teardown(state);
}

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
    fail_from(0, 2, EINTR, 7);
    session = start_session(path, &options);
    writers_start(&writers, 2,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 15000,
                                           .largest_payload = 900});
    writers_join(&writers);
    etwas_file_fail(fail_sometimes);
    stop_session(session, &counts);
    assert_true(ck_pr_load_32(&writes) > 20);
    assert_int_equal(counts.lost_write_error + counts.buffers_lost, 0);
    expect_file_is_exact(session, path, &counts);
}

/* Every moment a write can fail at, many times over; QUERY and the file say the same. */
static void errors_at_any_write_lose_whole_buffers_that_are_counted(void **state)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT};
    uint64_t lost = 0;

    (void)state;
    for (uint32_t round = 0; round < 9; round++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.buffer_size_kb = round % 2 == 0 ? 4 : 16,
                                         .flusher = {.no_thread = true}};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                    .class_handle = writer_class(),
                                                                    .events = 8000,
                                                                    .largest_payload = 500});
        etwas_session_counts counts;
        struct readback before;
        struct stat status;

        fail_from(1, 3, errors[round % 3], round * 7919);
        for (int turn = 0; turn < 16; turn++) {
            uint32_t code;

            for (int index = 0; index < 500; index++) {
                assert_int_equal(writer_log(writer), ERROR_SUCCESS);
            }
            code = etwas_flush(session);
            /* A count in the header that cannot be renewed is a write fault, whatever the reason. */
            assert_true(code == ERROR_SUCCESS || code == ERROR_WRITE_FAULT ||
                        (code == ERROR_DISK_FULL && errors[round % 3] != EIO));
            /* The unfinished file is in order too: the walker cannot know its length yet. */
            read_back(session, path, &before);
            assert_int_equal(before.wrong + before.damages, 0);
            assert_int_equal(before.events, counts_of(session).recorded);
            assert_int_equal(stat(path, &status), 0);
            assert_int_equal(status.st_size, (off_t)before.buffers * options.buffer_size_kb * 1024);
        }
        assert_int_equal(query_session(session).EventsLost, counts_of(session).lost);
        assert_int_equal(query_session(session).LogBuffersLost, counts_of(session).buffers_lost);
        etwas_file_fail(NULL);
        stop_session(session, &counts);
        expect_accounted(session, path, &counts);
        lost += counts.lost_write_error;
    }
    assert_true(lost > 0);
}

/* The same with the thread and several writers: no place of the failures is fixed. */
static void a_disk_that_fills_and_empties_again_costs_only_what_it_refused(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = 4, .flush_timer = 1};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    struct writers writers;

    (void)state;
    fail_from(3, 2, ENOSPC, 99);
    writers_start(&writers, 3,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 15000,
                                           .largest_payload = 700});
    writers_join(&writers);
    /* What the thread has not come to fails here. */
    (void)etwas_flush(session);
    etwas_file_fail(NULL);
    stop_session(session, &counts);
    assert_true(counts.lost_write_error > 0);
    expect_accounted(session, path, &counts);
}

static void a_start_whose_file_cannot_be_written_fails_and_leaves_no_file(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = 1;

    (void)state;
    fail_from(0, 1, ENOSPC, 0);
    seed = 0;
    chance = 1;
    /* The first outcome of three that is not success and not a retry. */
    while (fail_sometimes(4096, false) != -ENOSPC) {
    }
    ck_pr_dec_32(&writes);
    assert_int_equal(etwas_start("no room", path, NULL, &session), ERROR_DISK_FULL);
    assert_int_equal(session, 0);
    assert_int_equal(access(path, F_OK), -1);
    etwas_file_fail(NULL);
    session = start_session(path, NULL);
    stop_session(session, NULL);
}

/* ---- the system's own limits, in a child ----------------------------------------------------- */

/* Runs `body` in a child and returns its exit code; cmocka's checks in it end the child with another. */
static int in_child(int (*body)(void))
{
    pid_t child;
    int status;

    (void)fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(body());
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        fail_msg("the child died of signal %d", WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

/* Logs until something is lost to the disk, stops, and checks everything. Run in a child: no cmocka. */
static int log_until_lost(const char *path, bool with_thread)
{
    etwas_session_options options = {.buffer_size_kb = 16, .flusher = {.no_thread = !with_thread}};
    etwas_trace_handle session;
    etwas_session_counts counts = {0};
    struct writer *writer;
    struct readback result;

    if (etwas_start("in a child", path, &options, &session) != ERROR_SUCCESS) {
        return 2;
    }
    writer = writer_new(&(struct writer_options){.session = session,
                                                 .class_handle = writer_class(),
                                                 .events = 400000,
                                                 .largest_payload = 4000});
    while (counts.lost_write_error == 0) {
        for (int index = 0; index < 100; index++) {
            (void)writer_log(writer);
        }
        if (!with_thread) {
            (void)etwas_flush(session);
        }
        if (etwas_counts(session, &counts) != ERROR_SUCCESS || writer->attempted > 390000) {
            return 3;
        }
    }
    if (etwas_stop(session, &counts) != ERROR_SUCCESS) {
        return 4;
    }
    if (writer->attempted != counts.recorded + counts.lost) {
        return 5;
    }
    read_back(session, path, &result);
    if (result.wrong != 0 || result.damages != 0 || result.events != counts.recorded ||
        result.unexpected != 0) {
        return 6;
    }
    return result.events_lost == counts.lost && result.buffers_lost == counts.buffers_lost ? 0 : 7;
}

static const char *child_path;

static int limited(bool with_thread)
{
    const struct rlimit limit = {1000000, 1000000};

    return setrlimit(RLIMIT_FSIZE, &limit) != 0 ? 8 : log_until_lost(child_path, with_thread);
}

static int limited_with_thread(void)
{
    return limited(true);
}

static int limited_without_thread(void)
{
    return limited(false);
}

/* The system kills with SIGXFSZ who does not look: neither the flusher nor the caller of a flush may die. */
static void a_limit_on_the_size_of_files_gives_losses_not_death(void **state)
{
    (void)state;
    child_path = folder_path("limited.etl");
    assert_int_equal(in_child(limited_with_thread), 0);
    assert_int_equal(in_child(limited_without_thread), 0);
}

static int on_small_tmpfs(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", child_path, "tmpfs", 0, "size=1m") != 0 || chdir(child_path) != 0) {
        return SKIPPED;
    }
    return log_until_lost("trace.etl", true);
}

static void a_full_tmpfs_costs_only_what_does_not_fit(void **state)
{
    int code;

    (void)state;
    child_path = folder_path("mount");
    assert_int_equal(mkdir(child_path, 0700), 0);
    code = in_child(on_small_tmpfs);
    if (code == SKIPPED) {
        print_message(
            "a_full_tmpfs_costs_only_what_does_not_fit: skipped, no private mounts here\n");
        skip();
    }
    assert_int_equal(code, 0);
}

#define FAILURE_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAILURE_TEST(short_writes_and_interruptions_lose_nothing),
        FAILURE_TEST(errors_at_any_write_lose_whole_buffers_that_are_counted),
        FAILURE_TEST(a_disk_that_fills_and_empties_again_costs_only_what_it_refused),
        FAILURE_TEST(a_start_whose_file_cannot_be_written_fails_and_leaves_no_file),
        FAILURE_TEST(a_limit_on_the_size_of_files_gives_losses_not_death),
        FAILURE_TEST(a_full_tmpfs_costs_only_what_does_not_fit),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
