/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_FILE_IO_INIT and _FILE_IO: each operation on a file is recorded once, with its
 * file, offset and size, and its end with the result.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "system/file_events.h"
#include "system/kernel_count.h"

enum {
    FILES = 20,
    END_OF_FILE = 20,
    AT_END = -1,
    AT_POSITION = -2,
};

/* Checks that each close has a cleanup before it, and that its end is that of both. */
static void expect_cleanup(const struct events *events)
{
    uint32_t closes = count_files(events, CLOSE);

    assert_int_equal(count_files(events, CLEANUP), closes);
    for (uint32_t index = 0; index < closes; index++) {
        const struct event *cleanup = nth(events, CLEANUP, index);
        const struct event *close = nth(events, CLOSE, index);

        assert_true(cleanup < close);
        assert_int_equal(cleanup->record.UserDataLength, 28);
        assert_memory_equal(cleanup->payload, close->payload, 28);
    }
}

static void reads_and_writes_have_offset_and_size(void **state)
{
    static char bytes[10000];
    etwas_trace_handle session;
    struct events events;
    uint64_t file;
    int opened;

    (void)state;
    session = start_files();
    opened = open_file("f", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(opened, bytes, 10000), 10000);
    assert_int_equal(pwrite(opened, bytes, 11, 5000), 11);
    assert_int_equal(write(opened, bytes, 7), 7);
    assert_int_equal(lseek(opened, 9000, SEEK_SET), 9000);
    assert_int_equal(read(opened, bytes, 500), 500);
    assert_int_equal(read(opened, bytes, 9999), 507);
    assert_int_equal(pread(opened, bytes, 100, 10000), 7);
    assert_int_equal(close(opened), 0);
    assert_int_equal(read(opened, bytes, 1), -1);
    read_and_account(session, &events);

    file = file_of(nth(&events, CREATE, 0));
    assert_int_not_equal(file, 0);
    assert_int_equal(u32_at(nth(&events, CREATE, 0), 20), 5U << 24); /* empties or creates */
    expect_end(&events, nth(&events, CREATE, 0), opened);
    expect_transfer(&events, nth(&events, WRITE, 0), file, 0, 10000, 10000);
    expect_transfer(&events, nth(&events, WRITE, 1), file, 5000, 11, 11);
    expect_transfer(&events, nth(&events, WRITE, 2), file, 10000, 7, 7);
    expect_transfer(&events, nth(&events, READ, 0), file, 9000, 500, 500);
    expect_transfer(&events, nth(&events, READ, 1), file, 9500, 9999, 507);
    expect_transfer(&events, nth(&events, READ, 2), file, 10000, 100, 7);
    assert_int_equal(file_of(nth(&events, CLOSE, 0)), file);
    assert_int_equal(nth(&events, CLOSE, 0)->record.UserDataLength, 28);
    expect_end(&events, nth(&events, CLOSE, 0), 0);
    expect_cleanup(&events);
    assert_int_not_equal(file_of(nth(&events, READ, 3)), file);
    expect_end(&events, nth(&events, READ, 3), -9); /* EBADF */
    free_events(&events);
}

static void unknown_offsets_are_marked_as_unknown(void **state)
{
    char bytes[16] = {0};
    const struct iovec piece = {bytes, sizeof bytes};
    etwas_trace_handle session;
    struct events events;
    int shared;
    int opened;
    int child;

    (void)state;
    opened = open_file("old", O_RDWR | O_CREAT | O_CLOEXEC);
    session = start_files();
    assert_int_equal(write(opened, bytes, 16), 16); /* 0: opened before */
    assert_int_equal(close(opened), 0);
    opened = open_file("end", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(opened, bytes, 16), 16); /* 1: at the end */
    assert_int_equal(close(opened), 0);
    opened = open_file("shared", O_RDWR | O_CREAT | O_CLOEXEC);
    assert_int_equal(write(opened, bytes, 16), 16); /* 2: at the begin */
    shared = dup(opened);
    assert_int_equal(write(shared, bytes, 16), 16); /* 3: by another descriptor */
    assert_int_equal(write(opened, bytes, 16), 16); /* 4: where that has left it */
    assert_int_equal(close(shared), 0);
    assert_int_equal(close(opened), 0);
    opened = open_file("child", O_RDWR | O_CREAT | O_CLOEXEC);
    assert_int_equal(pwritev2(opened, &piece, 1, -1, 0), 16); /* 5: wherever it is */
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(write(opened, bytes, 16) == 16);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_int_equal(pwrite(opened, bytes, 1, 3), 1);
    assert_int_equal(write(opened, bytes, 16), 16); /* where a child has left it */
    assert_int_equal(close(opened), 0);
    read_and_account(session, &events);

    assert_int_equal(u64_at(nth(&events, WRITE, 0), 0), AT_POSITION);
    assert_int_equal(u64_at(nth(&events, WRITE, 1), 0), AT_END);
    assert_int_equal(u64_at(nth(&events, WRITE, 2), 0), 0);
    assert_int_equal(u64_at(nth(&events, WRITE, 3), 0), AT_POSITION);
    assert_int_not_equal(file_of(nth(&events, WRITE, 3)), file_of(nth(&events, WRITE, 2)));
    assert_int_equal(u64_at(nth(&events, WRITE, 4), 0), AT_POSITION);
    assert_int_equal(file_of(nth(&events, WRITE, 4)), file_of(nth(&events, WRITE, 2)));
    assert_int_equal(u64_at(nth(&events, WRITE, 5), 0), AT_POSITION);
    free_events(&events);
}

static void every_kind_of_operation_is_recorded(void **state)
{
    static char entries[4096];
    etwas_trace_handle session;
    struct events events;
    struct stat status;
    uint64_t file;
    long listed;
    int opened;
    int folder;

    (void)state;
    session = start_files();
    opened = open_file("f", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
    assert_int_equal(ftruncate(opened, 12345), 0);
    assert_int_equal(truncate(folder_path("f"), 54321), 0);
    assert_int_equal(fchmod(opened, 0640), 0);
    assert_int_equal(fsync(opened), 0);
    assert_int_equal(fstat(opened, &status), 0);
    folder = open_file(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    listed = syscall(SYS_getdents64, folder, entries, sizeof entries);
    assert_true(listed > 0);
    assert_int_equal(close(folder), 0);
    assert_int_equal(close(opened), 0);
    read_and_account(session, &events);

    file = file_of(nth(&events, CREATE, 0));
    assert_int_equal(u32_at(nth(&events, CREATE, 0), 20), 2U << 24);     /* creates */
    assert_int_equal(u32_at(nth(&events, CREATE, 1), 20), 1U << 24 | 1); /* opens a folder */
    expect_info(&events, nth(&events, SET_INFO, 0), file, 12345, END_OF_FILE, 0);
    expect_info(&events, nth(&events, SET_INFO, 1), 0, 54321, END_OF_FILE, 0);
    expect_info(&events, nth(&events, SET_INFO, 2), file, 0, 4, 0);
    expect_info(&events, nth(&events, QUERY_INFO, 0), file, 0, 18, 0);
    assert_int_equal(file_of(nth(&events, FLUSH, 0)), file);
    expect_end(&events, nth(&events, FLUSH, 0), 0);
    assert_int_equal(file_of(nth(&events, DIR_ENUM, 0)), file_of(nth(&events, CREATE, 1)));
    assert_int_equal(u32_at(nth(&events, DIR_ENUM, 0), 28), sizeof entries);
    expect_end(&events, nth(&events, DIR_ENUM, 0), listed);
    free_events(&events);
}

/* Checks the rename of a file, which has a number where the path is known (file_path_test.c). */
static void expect_rename(const struct events *events, uint32_t number, int64_t result)
{
    const struct event *event = nth(events, RENAME, number);

    expect_info(events, event, file_of(event), 0, 10, result);
}

/* A rename that fails, too; and as many as the kernel counts. */
static void every_open_rename_and_delete_is_recorded_once(void **state)
{
    static struct kernel_count counter;
    etwas_trace_handle session;
    struct events events;
    char filter[128];
    uint32_t created = 0;
    char name[32];
    char other[64];

    (void)state;
    (void)snprintf(filter, sizeof filter, "common_pid == %ld && id == %d", syscall(SYS_gettid),
                   SYS_renameat2);
    session = start_files();
    begin_counting(&counter, "raw_syscalls/sys_enter", filter);
    for (int index = 0; index < FILES; index++) {
        (void)snprintf(name, sizeof name, "f%d", index);
        assert_int_equal(close(open_file(name, O_WRONLY | O_CREAT | O_CLOEXEC)), 0);
        (void)snprintf(other, sizeof other, "%s", folder_path("other"));
        assert_int_equal(syscall(SYS_renameat2, AT_FDCWD, folder_path(name), AT_FDCWD, other, 0),
                         0);
        assert_int_equal(syscall(SYS_renameat2, AT_FDCWD, folder_path(name), AT_FDCWD, other, 0),
                         -1);
        assert_int_equal(unlink(other), 0);
    }
    assert_int_equal(end_counting(&counter), 2 * FILES);
    read_and_account(session, &events);
    for (uint32_t index = 0; nth(&events, CREATE, index) != NULL; index++) {
        created += u32_at(nth(&events, CREATE, index), 20) == 3U << 24; /* opens or creates */
    }
    assert_int_equal(created, FILES);
    assert_int_equal(count_files(&events, RENAME), 2 * FILES);
    assert_int_equal(count_files(&events, DELETE), FILES);
    for (uint32_t index = 0; index < FILES; index++) {
        expect_rename(&events, 2 * index, 0);
        expect_rename(&events, 2 * index + 1, -2); /* ENOENT */
        expect_info(&events, nth(&events, DELETE, index), 0, 0, 13, 0);
    }
    free_events(&events);
}

static void each_flag_records_its_own_events(void **state)
{
    etwas_trace_handle session =
        start_kernel(EVENT_TRACE_FLAG_FILE_IO_INIT | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    struct events events;

    (void)state;
    assert_int_equal(close(open_file("f", O_WRONLY | O_CREAT | O_CLOEXEC)), 0);
    update_kernel_flags(session, EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_NO_SYSCONFIG,
                        ERROR_SUCCESS);
    assert_int_equal(unlink(folder_path("f")), 0);
    read_and_account(session, &events);
    assert_int_equal(count_files(&events, CREATE), 1);
    assert_int_equal(count_files(&events, CLOSE), 1);
    assert_int_equal(count_files(&events, DELETE), 0);
    assert_in_range(count_files(&events, OPERATION_END), 1, UINT32_MAX);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(reads_and_writes_have_offset_and_size),
        FOLDER_TEST(unknown_offsets_are_marked_as_unknown),
        FOLDER_TEST(every_kind_of_operation_is_recorded),
        FOLDER_TEST(every_open_rename_and_delete_is_recorded_once),
        FOLDER_TEST(each_flag_records_its_own_events),
    };

    return RUN_KERNEL_TESTS("system file io", tests);
}
