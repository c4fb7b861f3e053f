/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The file layer: R12, R18 and the codes of a start; writes that come back short, interrupted or refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/folder.h"
#include "support/start.h"

static int teardown(void **state)
{
    etwas_file_fail(NULL);
    return folder_teardown(state);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_contents(const char *path, const char *text)
{
    char read[256] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(file >= 0);
    assert_int_equal(pread(file, read, sizeof read - 1, 0), strlen(text));
    assert_string_equal(read, text);
    (void)close(file);
}

/* ---- creating ---------------------------------------------------------------------------------- */

static void odd_places_for_a_file_are_refused_by_name(void **state)
{
    const char *target = folder_path("target");
    const char *link = folder_path("link");
    const char *dangling = folder_path("dangling");
    const char *fifo = folder_path("fifo");
    const char *folder = folder_path("folder");
    char *long_name = malloc(5000);
    int file = -1;

    (void)state;
    put(target, "kept");
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(symlink(folder_path("nowhere"), dangling), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    memset(long_name, 'a', 4999);
    long_name[4999] = '\0';

    assert_int_equal(etwas_file_create(folder_path("missing/file"), &file), ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_file_create(folder_path("target/file"), &file), ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_file_create(link, &file), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(dangling, &file), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(fifo, &file), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(folder, &file), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create("/dev/null", &file), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(long_name, &file), ERROR_FILENAME_EXCED_RANGE);
    assert_int_equal(file, -1);
    assert_int_equal(access(folder_path("nowhere"), F_OK), -1);
    expect_contents(target, "kept");
    free(long_name);
}

/* R12. */
static void a_created_file_has_the_rights_of_the_umask_is_empty_and_is_not_inherited(void **state)
{
    static const mode_t masks[] = {022, 077, 002, 0};

    (void)state;
    for (size_t index = 0; index < sizeof masks / sizeof masks[0]; index++) {
        mode_t before = umask(masks[index]);
        const char *path = folder_path("file");
        struct stat status;
        int file;

        (void)unlink(path);
        assert_int_equal(etwas_file_create(path, &file), ERROR_SUCCESS);
        (void)umask(before);
        assert_int_equal(fstat(file, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0666 & ~masks[index]);
        assert_int_equal(status.st_size, 0);
        assert_int_equal(fcntl(file, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        assert_true(etwas_file_close(file));
    }
}

static int create_in_child(const char *path)
{
    pid_t child = fork();
    int status = 0;
    int file;

    if (child == 0) {
        _exit(etwas_file_create(path, &file) == ERROR_BAD_PATHNAME ? 1 : 0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WEXITSTATUS(status);
}

/* R18: here and in another process; its contents stay. Nobody's file is replaced. */
static void a_file_in_use_is_refused_and_one_nobody_uses_is_replaced(void **state)
{
    const char *path = folder_path("file");
    struct iovec part = {.iov_base = (char[]){"mine"}, .iov_len = 4};
    int error;
    int other = -1;
    int file;

    (void)state;
    put(path, "old");
    assert_int_equal(etwas_file_create(path, &file), ERROR_SUCCESS);
    expect_contents(path, "");
    assert_int_equal(etwas_file_write(file, &part, 1, 0, &error), 4);
    assert_int_equal(etwas_file_create(path, &other), ERROR_BAD_PATHNAME);
    assert_int_equal(other, -1);
    assert_int_equal(create_in_child(path), 1);
    expect_contents(path, "mine");
    assert_true(etwas_file_close(file));
    assert_int_equal(create_in_child(path), 0);
    expect_contents(path, "");
    /* Somebody else's lock counts as use. */
    other = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(other, LOCK_SH), 0);
    assert_int_equal(etwas_file_create(path, &file), ERROR_BAD_PATHNAME);
    (void)close(other);
    assert_int_equal(etwas_file_create(path, &file), ERROR_SUCCESS);
    assert_true(etwas_file_close(file));
}

static void a_closed_file_is_unlocked_although_a_childs_copy_is_open(void **state)
{
    const char *path = folder_path("file");
    int ends[2];
    pid_t child;
    int file;
    char byte;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(etwas_file_create(path, &file), ERROR_SUCCESS);
    child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    assert_true(etwas_file_close(file));
    assert_int_equal(etwas_file_create(path, &file), ERROR_SUCCESS);
    (void)close(ends[1]);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(etwas_file_close(file));
}

/* ---- writing ----------------------------------------------------------------------------------- */

enum { PARTS = 5, PART_BYTES = 1000 };

static uint8_t parts[PARTS][PART_BYTES];
static int calls;
static long (*answer)(size_t bytes);

static long fail_as_told(size_t bytes, bool is_sync)
{
    calls++;
    return is_sync ? 0 : answer(bytes);
}

static long one_byte_at_a_time(size_t bytes)
{
    (void)bytes;
    return 1;
}

static long odd_pieces_and_interruptions(size_t bytes)
{
    if (calls % 3 == 0) {
        return -EINTR;
    }
    return (long)(bytes < 777 ? bytes : 777);
}

static long full_after_1500_bytes(size_t bytes)
{
    size_t written = sizeof parts - bytes;

    return written < 1500 ? (long)(1500 - written) : -ENOSPC;
}

static long nothing_at_all(size_t bytes)
{
    (void)bytes;
    return 0;
}

static uint64_t write_parts(int file, uint64_t position, int *error)
{
    struct iovec vector[PARTS + 2];
    int count = 0;

    for (int part = 0; part < PARTS; part++) {
        memset(parts[part], 'a' + part, PART_BYTES);
        vector[count++] = (struct iovec){parts[part], PART_BYTES};
        if (part % 2 == 0 && count < PARTS + 1) {
            vector[count++] = (struct iovec){parts[part], 0}; /* empty elements are passed over */
        }
    }
    calls = 0;
    return etwas_file_write(file, vector, count, position, error);
}

static void expect_parts(int file, off_t position, size_t bytes)
{
    uint8_t read[sizeof parts];

    assert_int_equal(pread(file, read, sizeof read, position), bytes);
    assert_memory_equal(read, parts, bytes);
}

static void writes_go_on_after_short_ones_and_interruptions(void **state)
{
    static long (*const answers[])(size_t) = {one_byte_at_a_time, odd_pieces_and_interruptions};
    int error = -1;
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(folder_path("file"), &file), ERROR_SUCCESS);
    assert_int_equal(write_parts(file, 0, &error), sizeof parts);
    assert_int_equal(error, 0);
    etwas_file_fail(fail_as_told);
    for (size_t index = 0; index < 2; index++) {
        assert_true(etwas_file_truncate(file, 0));
        answer = answers[index];
        assert_int_equal(write_parts(file, 4096, &error), sizeof parts);
        assert_int_equal(error, 0);
        assert_true(calls > 5);
        expect_parts(file, 4096, sizeof parts);
    }
    assert_true(etwas_file_close(file));
}

static void a_refused_write_says_how_much_is_in_the_file_and_why_not_more(void **state)
{
    int error = 0;
    int read_only;
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(folder_path("file"), &file), ERROR_SUCCESS);
    etwas_file_fail(fail_as_told);
    answer = full_after_1500_bytes;
    assert_int_equal(write_parts(file, 0, &error), 1500);
    assert_int_equal(error, ENOSPC);
    expect_parts(file, 0, 1500);
    /* What is not whole can be cut away. */
    assert_true(etwas_file_truncate(file, 1000));
    expect_parts(file, 0, 1000);
    answer = nothing_at_all;
    assert_int_equal(write_parts(file, 0, &error), 0);
    assert_int_equal(error, EIO);
    etwas_file_fail(NULL);
    read_only = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(write_parts(read_only, 0, &error), 0);
    assert_int_equal(error, ENOSPC);
    (void)close(read_only);
    read_only = open(folder_path("file"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(write_parts(read_only, 0, &error), 0);
    assert_int_equal(error, EBADF);
    assert_false(etwas_file_truncate(read_only, 0));
    (void)close(read_only);
    assert_true(etwas_file_sync(file));
    assert_true(etwas_file_close(file));
    assert_false(etwas_file_close(file));
}

static void failed_writes_have_the_code_of_their_cause(void **state)
{
    (void)state;
    assert_int_equal(etwas_file_write_error(ENOSPC), ERROR_DISK_FULL);
    assert_int_equal(etwas_file_write_error(EDQUOT), ERROR_DISK_FULL);
    assert_int_equal(etwas_file_write_error(EFBIG), ERROR_DISK_FULL);
    assert_int_equal(etwas_file_write_error(EIO), ERROR_WRITE_FAULT);
    assert_int_equal(etwas_file_write_error(EBADF), ERROR_WRITE_FAULT);
}

/* R92. */
static void space_is_looked_for_where_the_file_will_be(void **state)
{
    (void)state;
    assert_true(etwas_file_has_space(folder_path("file"), 1, 0));
    assert_false(etwas_file_has_space(folder_path("file"), UINT64_C(1) << 60, 0));
    assert_true(etwas_file_has_space(folder_path("missing/file"), UINT64_C(1) << 60, 0));
    /* The reserve is asked for on the file system of "/" alone. */
    assert_false(etwas_file_has_space("/file", 1, UINT64_C(1) << 60));
    assert_true(etwas_file_has_space("/proc/file", 0, UINT64_C(1) << 60));
}

#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(odd_places_for_a_file_are_refused_by_name),
        FILE_TEST(a_created_file_has_the_rights_of_the_umask_is_empty_and_is_not_inherited),
        FILE_TEST(a_file_in_use_is_refused_and_one_nobody_uses_is_replaced),
        FILE_TEST(a_closed_file_is_unlocked_although_a_childs_copy_is_open),
        FILE_TEST(writes_go_on_after_short_ones_and_interruptions),
        FILE_TEST(a_refused_write_says_how_much_is_in_the_file_and_why_not_more),
        FILE_TEST(failed_writes_have_the_code_of_their_cause),
        FILE_TEST(space_is_looked_for_where_the_file_will_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
