/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * NEWFILE (R96): each part is a whole trace file, and no event is lost or doubled at a seam. Also
 * UPDATE's change of file (R130), which is the same step.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "file/session_file.h"
#include "file_modes.h"
#include "platform/file.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BYTES_A_KB = 1024,
    NEWFILE = EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
};

/* INCREMENT_FILE, without its call. */
static uint32_t increment(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);
    uint32_t code;

    (void)pthread_mutex_lock(&inside->drain.role);
    code = etwas_session_file_next(inside);
    (void)pthread_mutex_unlock(&inside->drain.role);
    return code;
}

/* What a full part does. */
static void roll(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);

    (void)pthread_mutex_lock(&inside->drain.role);
    assert_int_equal(etwas_session_file_roll(inside), ERROR_SUCCESS);
    (void)pthread_mutex_unlock(&inside->drain.role);
}

/* UPDATE with another name, without its call. */
static uint32_t change(etwas_trace_handle session, const char *path)
{
    struct etwas_session *inside = inside_of(session);
    etwas_wchar name[ETWAS_NAME_UNITS + 1] = {0};
    uint32_t code;

    for (size_t unit = 0; path[unit] != '\0'; unit++) {
        name[unit] = (etwas_wchar)path[unit];
    }
    (void)pthread_mutex_lock(&inside->drain.role);
    code = etwas_session_file_change(inside, name);
    (void)pthread_mutex_unlock(&inside->drain.role);
    return code;
}

/* R96: parts of a header and three buffers, hundreds of them, also through batches of buffers. */
static void hundreds_of_parts_hold_every_event_once(void **state)
{
    const char *path = folder_path("part%d.etl");
    etwas_session_options options = {.log_file_mode = NEWFILE,
                                     .buffer_size_kb = 4,
                                     .maximum_buffers = 2000,
                                     .maximum_file_size = 16};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    struct writers writers;
    struct parts parts;

    (void)state;
    writers_start(&writers, 3,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 5000,
                                           .largest_payload = 400});
    writers_join(&writers);
    stop_session(session, &counts);
    expect_parts_are_exact(session, "part", &counts, &parts);
    assert_true(counts.recorded > 0);
    assert_true(parts.count > 100);
    assert_int_equal(size_of(folder_path("part1.etl")), 16 * BYTES_A_KB);
    assert_int_equal(counts.overwritten, 0);
}

/* R96: INCREMENT_FILE at any time, while writers write and a timer flushes. */
static void a_part_ends_when_it_is_asked_to(void **state)
{
    const char *path = folder_path("part%d.etl");
    etwas_session_options options = {.log_file_mode = NEWFILE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                     .buffer_size_kb = 4,
                                     .maximum_buffers = 200,
                                     .maximum_file_size = 400,
                                     .flush_timer = 3};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    struct writers writers;
    struct parts parts;

    (void)state;
    writers_start(
        &writers, 3,
        &(struct writer_options){.session = session, .largest_payload = 300, .pauses = true});
    /* There are not many: the slower the disk is, the more there is to read back. */
    for (int part = 0; part < 40; part++) {
        assert_int_equal(increment(session), ERROR_SUCCESS);
    }
    writers_end(&writers);
    writers_join(&writers);
    stop_session(session, &counts);
    expect_parts_are_exact(session, "part", &counts, &parts);
    assert_true(parts.count > 40);
}

/* R96: a directory that is gone: the old part stays, full; the serial waits for its turn. */
static void a_part_that_cannot_be_opened_is_tried_again(void **state)
{
    const char *folder = folder_path("folder");
    const char *moved = folder_path("moved");
    etwas_session_options options = {.log_file_mode = NEWFILE,
                                     .buffer_size_kb = 4,
                                     .maximum_file_size = 16,
                                     .flusher = {.no_thread = true}};
    etwas_trace_handle session;
    etwas_session_counts counts;
    struct writer *writer;
    struct parts parts;
    uint32_t lost = 0;

    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    session = start_session(folder_path("folder/part%d.etl"), &options);
    writer = writer_new(
        &(struct writer_options){.session = session, .events = 3000, .largest_payload = 300});
    for (int turn = 0; turn < 60; turn++) {
        if (turn % 20 == 5) {
            assert_int_equal(rename(folder, moved), 0);
            assert_int_equal(increment(session), ERROR_PATH_NOT_FOUND);
        } else if (turn % 20 == 15) {
            assert_int_equal(rename(moved, folder), 0);
        }
        for (int event = 0; event < 30; event++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        lost += etwas_flush(session) == ERROR_PATH_NOT_FOUND;
    }
    stop_session(session, &counts);
    assert_true(lost >= 3);
    assert_true(counts.lost_write_error > 0);
    assert_int_equal(counts.lost, counts.lost_write_error);
    expect_parts_are_exact(session, "folder/part", &counts, &parts);
    /* Each time it was the old part that lost. */
    assert_int_equal(parts.with_losses, 3);
}

/* ---- durability and fork --------------------------------------------------------------------- */

static uint32_t syncs;

static long count_syncs(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_SYNC) {
        (void)ck_pr_faa_32(&syncs, 1);
    }
    return (long)bytes;
}

static uint32_t part_of(etwas_trace_handle session)
{
    struct etwas_session *inside = inside_of(session);
    uint32_t part;

    (void)pthread_mutex_lock(&inside->drain.role);
    part = etwas_log_file_part(inside->drain.file);
    (void)pthread_mutex_unlock(&inside->drain.role);
    return part;
}

/* Logs until the session writes this part, not faster than parts can be made. */
static void log_until_part(etwas_trace_handle session, struct writer *writer, uint32_t part)
{
    const struct timespec pause = {.tv_nsec = 50000};

    while (part_of(session) < part) {
        wait_for_room(session);
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        (void)nanosleep(&pause, NULL);
    }
}

/* How many files of the folder are open in this process. */
static uint32_t open_parts(const char *name)
{
    DIR *descriptors = opendir("/proc/self/fd");
    uint32_t count = 0;
    struct dirent *entry;

    while ((entry = readdir(descriptors)) != NULL) {
        char target[4096] = {0};

        (void)readlinkat(dirfd(descriptors), entry->d_name, target, sizeof target - 1);
        count += strstr(target, name) != NULL;
    }
    (void)closedir(descriptors);
    return count;
}

static void expect_no_part_in_a_child(void)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        _exit(open_parts("/part") == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/*
 * R81: only a flush and the stop wait for the disk; a full part does not, but no flush leaves one
 * behind that is not durable. A fork's child has none of them open.
 */
static void full_parts_are_made_durable_by_the_next_flush(void **state)
{
    enum {
        PARTS = 6,
        WAITING = 8 /* parts that have ended, whose end is not on the disk yet */
    };
    etwas_session_options options = {.log_file_mode = NEWFILE,
                                     .buffer_size_kb = 4,
                                     .maximum_buffers = 200,
                                     .maximum_file_size = 16};
    etwas_trace_handle session = start_session(folder_path("part%d.etl"), &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 20000, .largest_payload = 300});
    etwas_session_counts counts;
    struct parts parts;
    struct etwas_session *inside = inside_of(session);
    uint32_t ended;

    (void)state;
    ck_pr_store_32(&syncs, 0);
    etwas_file_set_failure_hook(count_syncs);
    log_until_part(session, writer, PARTS);
    (void)pthread_mutex_lock(&inside->drain.role);
    ended = etwas_log_file_part(inside->drain.file) - 1;
    assert_int_equal(ck_pr_load_32(&syncs), ended > WAITING ? ended - WAITING : 0);
    assert_int_equal(open_parts("/part"), 1 + (ended > WAITING ? WAITING : ended));
    (void)pthread_mutex_unlock(&inside->drain.role);
    expect_no_part_in_a_child();
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_true(ck_pr_load_32(&syncs) >= PARTS);
    assert_int_equal(open_parts("/part"), 1);
    log_until_part(session, writer, 10 * PARTS);
    assert_true(open_parts("/part") <= WAITING + 1);
    stop_session(session, &counts);
    etwas_file_set_failure_hook(NULL);
    assert_int_equal(open_parts("/part"), 0);
    assert_true(ck_pr_load_32(&syncs) >= 10 * PARTS);
    assert_int_equal(counts.sync_errors, 0);
    expect_parts_are_exact(session, "part", &counts, &parts);
}

/* Each has memory for a buffer until it is closed: of large ones few may wait. */
static void few_parts_of_large_buffers_wait_for_the_disk(void **state)
{
    enum {
        WAITING = 4 /* 16 MB of buffers */
    };
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                     .buffer_size_kb = 4 * BYTES_A_KB,
                                     .minimum_buffers = 2,
                                     .maximum_file_size = 12,
                                     .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(folder_path("part%d.etl"), &options);

    (void)state;
    for (uint32_t ended = 1; ended <= WAITING + 2; ended++) {
        roll(session);
        assert_int_equal(open_parts("/part"), 1 + (ended < WAITING ? ended : WAITING));
    }
    stop_session(session, NULL);
    assert_int_equal(open_parts("/part"), 0);
}

static uint32_t hangs;
static uint32_t hung;

static long hang_at_sync(enum etwas_log_file_call call, size_t bytes)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (call == ETWAS_FILE_SYNC && ck_pr_load_32(&hangs) != 0) {
        ck_pr_store_32(&hung, 1);
        (void)nanosleep(&pause, NULL);
    }
    return (long)bytes;
}

static void *flush_in_thread(void *session)
{
    assert_int_equal(etwas_flush(*(etwas_trace_handle *)session), ERROR_SUCCESS);
    return NULL;
}

static void *stop_in_thread(void *session)
{
    stop_session(*(etwas_trace_handle *)session, NULL);
    return NULL;
}

/* A file that waits for the disk is the parent's alone, also when it has ended. */
static void a_child_of_a_fork_has_no_part_that_waits_for_the_disk(void **state)
{
    void *(*const calls[])(void *) = {flush_in_thread, stop_in_thread};
    const struct timespec pause = {.tv_nsec = 1000000};
    etwas_session_options options = {.log_file_mode = NEWFILE,
                                     .buffer_size_kb = 4,
                                     .maximum_file_size = 16,
                                     .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(folder_path("part%d.etl"), &options);

    (void)state;
    for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) {
        pthread_t thread;

        if (calls[index] == flush_in_thread) {
            roll(session);
            roll(session);
        }
        ck_pr_store_32(&hung, 0);
        ck_pr_store_32(&hangs, 1);
        etwas_file_set_failure_hook(hang_at_sync);
        assert_int_equal(pthread_create(&thread, NULL, calls[index], &session), 0);
        while (ck_pr_load_32(&hung) == 0) {
            (void)nanosleep(&pause, NULL);
        }
        assert_int_equal(open_parts("/part"), calls[index] == flush_in_thread ? 3 : 1);
        expect_no_part_in_a_child();
        ck_pr_store_32(&hangs, 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_int_equal(open_parts("/part"), 0);
}

static uint32_t changes_left; /* before one is refused */

static long refuse_change(enum etwas_log_file_call call, size_t bytes)
{
    bool changes = call == ETWAS_FILE_WRITE || call == ETWAS_FILE_TRUNCATE;

    return changes && changes_left-- == 0 ? -ENOSPC : (long)bytes;
}

/* One refusal while a part is ended, by a seam or by the stop, is made good when it is stored. */
static void an_end_that_is_refused_once_is_tried_again(void **state)
{
    enum {
        CHANGES = 3 /* length, mark, header */
    };
    etwas_session_options options = {.log_file_mode = NEWFILE,
                                     .buffer_size_kb = 4,
                                     .maximum_file_size = 1024,
                                     .flusher = {.no_thread = true}};

    (void)state;
    for (uint32_t change = 0; change < CHANGES; change++) {
        etwas_trace_handle session = start_session(folder_path("part%d.etl"), &options);
        struct writer *writer =
            writer_new(&(struct writer_options){.session = session, .events = 9});
        etwas_session_counts counts;
        struct parts parts;

        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        changes_left = 1 + change; /* the next part's header comes first */
        etwas_file_set_failure_hook(refuse_change);
        roll(session);
        etwas_file_set_failure_hook(NULL);
        assert_int_equal(counts_of(session).sync_errors, 1);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        changes_left = change;
        etwas_file_set_failure_hook(refuse_change);
        stop_session(session, &counts);
        etwas_file_set_failure_hook(NULL);
        assert_int_equal(counts.sync_errors, 2);
        assert_int_equal(counts.recorded, 2);
        expect_parts_are_exact(session, "part", &counts, &parts);
        assert_int_equal(parts.count, 2);
    }
}

/* ---- another name ---------------------------------------------------------------------------- */

/* R130: the first file ends with its own totals, the second begins; together they hold all. */
static void a_changed_name_begins_another_file_and_ends_the_first(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_NONE, EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_FILE_MODE_CIRCULAR};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const char *first = folder_path("first.etl");
        const char *second = folder_path("second.etl");
        etwas_session_options options = {
            .log_file_mode = modes[index], .buffer_size_kb = 4, .maximum_file_size = 10};
        etwas_trace_handle session = start_session(first, &options);
        struct writer *writer = writer_new(
            &(struct writer_options){.session = session, .events = 1000, .largest_payload = 99});
        etwas_session_counts counts;
        struct readback one;
        struct readback other;

        for (int event = 0; event < 500; event++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        /* A name that cannot be: nothing has changed. */
        assert_int_equal(change(session, folder_path("no/folder.etl")), ERROR_PATH_NOT_FOUND);
        assert_int_equal(change(session, first), ERROR_BAD_PATHNAME);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        assert_int_equal(change(session, second), ERROR_SUCCESS);
        for (int event = 0; event < 300; event++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        walk_back(session, first, true, &one);
        assert_int_equal(one.wrong + one.unexpected, 0);
        assert_int_equal(one.events, 500);
        walk_back(session, second, true, &other);
        assert_int_equal(other.wrong + other.unexpected, 0);
        assert_int_equal(other.events, 300);
        assert_int_equal(counts.recorded, 800);
        assert_int_equal(totals_of(first).attempted_events + totals_of(second).attempted_events,
                         800);
        assert_int_equal(totals_of(first).ends, 0);
        assert_int_equal(totals_of(second).ends, ETWAS_ETL_ENDS_SESSION);
        assert_int_equal(counts.buffers_written, one.buffers + other.buffers);
        read_back(session, first, &one);
        assert_false(one.unfinished);
    }
}

/* R90, R97: each part has its space at once, and gives back at its end what it did not use. */
static void parts_with_their_space_set_aside_are_trimmed(void **state)
{
    const char *path = folder_path("part%d.etl");
    const char *second = folder_path("part2.etl");
    etwas_session_options options = {.log_file_mode = NEWFILE | EVENT_TRACE_FILE_MODE_PREALLOCATE,
                                     .buffer_size_kb = 4,
                                     .maximum_file_size = 128};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 1000, .largest_payload = 99});
    etwas_session_counts counts;
    struct parts parts;

    (void)state;
    for (int part = 0; part < 4; part++) {
        for (int event = 0; event < 50; event++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        assert_int_equal(increment(session), ERROR_SUCCESS);
        if (part == 0) {
            assert_int_equal(size_of(second), 128 * BYTES_A_KB);
            assert_true(space_of(second) >= 128 * BYTES_A_KB);
        }
    }
    stop_session(session, &counts);
    assert_true(size_of(second) < 64 * BYTES_A_KB);
    expect_parts_are_exact(session, "part", &counts, &parts);
    assert_int_equal(parts.count, 5);
    assert_int_equal(counts.recorded, 200);
}

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

#define NEW_FILE_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NEW_FILE_TEST(hundreds_of_parts_hold_every_event_once),
        NEW_FILE_TEST(a_part_ends_when_it_is_asked_to),
        NEW_FILE_TEST(a_part_that_cannot_be_opened_is_tried_again),
        NEW_FILE_TEST(full_parts_are_made_durable_by_the_next_flush),
        NEW_FILE_TEST(few_parts_of_large_buffers_wait_for_the_disk),
        NEW_FILE_TEST(a_child_of_a_fork_has_no_part_that_waits_for_the_disk),
        NEW_FILE_TEST(an_end_that_is_refused_once_is_tried_again),
        NEW_FILE_TEST(a_changed_name_begins_another_file_and_ends_the_first),
        NEW_FILE_TEST(parts_with_their_space_set_aside_are_trimmed),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
