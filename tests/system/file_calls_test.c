/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_FILE_IO_INIT and _FILE_IO of rarer calls: which operation each of them is.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/file_events.h"

enum {
    BYTES = 3000,
    AT_POSITION = -2,
    LINK = 11,
    BASIC = 4,
    ALL = 18,
    GET_REPARSE_POINT = 0x900A8,
    DIRECTORY = 1,
    MUST_NOT_EXIST = 2 << 24,
    EMPTIES_OR_CREATES = 5 << 24,
};

/* A read of one and a write of the other, which are one call. */
static void expect_move(const struct events *events, uint32_t number, uint64_t from, uint64_t to)
{
    expect_transfer(events, nth(events, READ, number), from, AT_POSITION, BYTES, BYTES);
    expect_transfer(events, nth(events, WRITE, number + 1), to, AT_POSITION, BYTES, BYTES);
    assert_int_equal(irp_of(nth(events, READ, number)), irp_of(nth(events, WRITE, number + 1)));
}

static void what_moves_between_files_is_read_and_written(void **state)
{
    static char bytes[BYTES];
    etwas_trace_handle session = start_files();
    off_t begin = 0;
    struct events events;
    int from = open_file("from", O_RDWR | O_CREAT | O_CLOEXEC);
    int to = open_file("to", O_RDWR | O_CREAT | O_CLOEXEC);
    uint64_t files[2];
    int pipes[2];

    (void)state;
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_int_equal(write(from, bytes, BYTES), BYTES);
    assert_int_equal(sendfile(to, from, &begin, BYTES), BYTES);
    begin = 0;
    assert_int_equal(copy_file_range(from, &begin, to, NULL, BYTES, 0), BYTES);
    begin = 0;
    assert_int_equal(splice(from, &begin, pipes[1], NULL, BYTES, 0), BYTES);
    assert_int_equal(splice(pipes[0], NULL, to, NULL, BYTES, 0), BYTES);
    read_and_account(session, &events);
    files[0] = file_of(nth(&events, CREATE, 0));
    files[1] = file_of(nth(&events, CREATE, 1));
    expect_move(&events, 0, files[0], files[1]);
    expect_move(&events, 1, files[0], files[1]);
    expect_move(&events, 2, files[0], file_of(nth(&events, WRITE, 3)));
    expect_move(&events, 3, file_of(nth(&events, READ, 3)), files[1]);
    assert_int_not_equal(file_of(nth(&events, WRITE, 3)), 0);
    assert_int_not_equal(file_of(nth(&events, READ, 3)), 0);
    free_events(&events);
    (void)close(from);
    (void)close(to);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
}

static void expect_made(const struct events *events, uint32_t number, uint32_t options)
{
    const struct event *event = nth(events, CREATE, number);

    assert_non_null(event);
    assert_int_equal(u32_at(event, 20), options);
    expect_end(events, event, 0);
}

static void calls_that_make_and_query_names_are_recorded(void **state)
{
    etwas_trace_handle session = start_files();
    struct events events;
    char other[64];
    char target[64];
    int opened;

    (void)state;
    (void)strcpy(other, folder_path("other"));
    assert_int_equal(syscall(SYS_mkdirat, AT_FDCWD, folder_path("folder"), 0700), 0);
    assert_int_equal(syscall(SYS_mknodat, AT_FDCWD, other, S_IFREG | 0600, 0), 0);
    assert_int_equal(syscall(SYS_symlinkat, "to", AT_FDCWD, folder_path("from")), 0);
    assert_int_equal(syscall(SYS_linkat, AT_FDCWD, other, AT_FDCWD, folder_path("third"), 0), 0);
    assert_int_equal(syscall(SYS_readlinkat, AT_FDCWD, folder_path("from"), target, 64), 2);
    assert_int_equal(syscall(SYS_faccessat, AT_FDCWD, folder_path("none"), F_OK), -1);
    opened = open_file("other", O_RDWR | O_CLOEXEC);
    assert_int_equal(sync_file_range(opened, 0, 0, 0), 0);
    assert_int_equal(close(opened), 0);
    read_and_account(session, &events);
    expect_made(&events, 0, MUST_NOT_EXIST | DIRECTORY);
    expect_made(&events, 1, MUST_NOT_EXIST);
    expect_made(&events, 2, MUST_NOT_EXIST);
    expect_info(&events, nth(&events, SET_INFO, 0), file_of(nth(&events, SET_INFO, 0)), 0, LINK, 0);
    expect_info(&events, nth(&events, FS_CONTROL, 0), 0, 0, GET_REPARSE_POINT, 2);
    expect_info(&events, nth(&events, QUERY_INFO, 0), 0, 0, ALL, -2); /* ENOENT */
    assert_int_equal(file_of(nth(&events, FLUSH, 0)), file_of(nth(&events, CREATE, 3)));
    free_events(&events);
}

#ifdef SYS_creat
static void older_calls_are_recorded_like_newer_ones(void **state)
{
    etwas_trace_handle session = start_files();
    struct events events;
    char other[64];
    char target[64];
    long opened;

    (void)state;
    (void)strcpy(other, folder_path("other"));
    assert_int_equal(syscall(SYS_mkdir, folder_path("folder"), 0700), 0);
    opened = syscall(SYS_creat, other, 0600);
    assert_true(opened >= 0);
    assert_int_equal(write((int)opened, "x", 1), 1);
    assert_int_equal(close((int)opened), 0);
    assert_int_equal(syscall(SYS_symlink, "to", folder_path("from")), 0);
    assert_int_equal(syscall(SYS_link, other, folder_path("third")), 0);
    assert_int_equal(syscall(SYS_readlink, folder_path("from"), target, 64), 2);
    assert_int_equal(syscall(SYS_access, other, F_OK), 0);
    assert_int_equal(syscall(SYS_utime, other, NULL), 0);
    read_and_account(session, &events);
    expect_made(&events, 0, MUST_NOT_EXIST | DIRECTORY);
    assert_int_equal(u32_at(nth(&events, CREATE, 1), 20), EMPTIES_OR_CREATES);
    assert_int_equal(u64_at(nth(&events, WRITE, 0), 0), 0); /* a new file's begin */
    expect_made(&events, 2, MUST_NOT_EXIST);
    expect_info(&events, nth(&events, SET_INFO, 0), file_of(nth(&events, SET_INFO, 0)), 0, LINK, 0);
    expect_info(&events, nth(&events, SET_INFO, 1), 0, 0, BASIC, 0);
    expect_info(&events, nth(&events, FS_CONTROL, 0), 0, 0, GET_REPARSE_POINT, 2);
    expect_info(&events, nth(&events, QUERY_INFO, 0), 0, 0, ALL, 0);
    free_events(&events);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_moves_between_files_is_read_and_written),
        FOLDER_TEST(calls_that_make_and_query_names_are_recorded),
#ifdef SYS_creat
        FOLDER_TEST(older_calls_are_recorded_like_newer_ones),
#endif
    };

    return RUN_KERNEL_TESTS("system file calls", tests);
}
