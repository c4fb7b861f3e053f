/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Creating a log file: rights (R12), a file in use (R18), space (R92), and the codes of a start. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/folder.h"
#include "support/start.h"

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

/* ---- creating -------------------------------------------------------------------------------- */

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

    assert_int_equal(etwas_file_create(folder_path("missing/file"), ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_file_create(folder_path("target/file"), ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_file_create(link, ETWAS_FILE_SHARED, &file, NULL), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(dangling, ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(fifo, ETWAS_FILE_SHARED, &file, NULL), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(folder, ETWAS_FILE_SHARED, &file, NULL), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create("/dev/null", ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_file_create(long_name, ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_FILENAME_EXCED_RANGE);
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
        assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
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
        _exit(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL) == ERROR_BAD_PATHNAME ? 1
                                                                                            : 0);
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
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
    expect_contents(path, "");
    assert_int_equal(etwas_file_write(file, &part, 1, 0, NULL, &error), 4);
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &other, NULL), ERROR_BAD_PATHNAME);
    assert_int_equal(other, -1);
    assert_int_equal(create_in_child(path), 1);
    expect_contents(path, "mine");
    assert_true(etwas_file_close(file));
    assert_int_equal(create_in_child(path), 0);
    expect_contents(path, "");
    /* Somebody else's lock counts as use. */
    other = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(other, LOCK_SH), 0);
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_BAD_PATHNAME);
    (void)close(other);
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
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
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
    child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    assert_true(etwas_file_close(file));
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
    (void)close(ends[1]);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(etwas_file_close(file));
}

/* Only the last component may not be a link: folders are linked everywhere. */
static void a_link_to_the_folder_is_followed(void **state)
{
    const char *folder = folder_path("real");
    const char *link = folder_path("link");
    int file;

    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink(folder, link), 0);
    assert_int_equal(etwas_file_create(folder_path("link/file"), ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(access(folder_path("real/file"), F_OK), 0);
    assert_true(etwas_file_close(file));
}

/* In a child: as nobody, since root may write anywhere, and with no descriptor left. */
static void missing_rights_and_descriptors_have_their_codes(void **state)
{
    const char *read_only = folder_path("read only");
    const char *path = folder_path("file");
    pid_t child;
    int status;

    (void)state;
    put(read_only, "kept");
    assert_int_equal(chmod(read_only, 0444), 0);
    child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        int file;

        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(4);
        }
        /* The folder is ours alone, so even its existing file cannot be reached. */
        if (etwas_file_create(read_only, ETWAS_FILE_SHARED, &file, NULL) != ERROR_ACCESS_DENIED) {
            _exit(1);
        }
        if (setrlimit(RLIMIT_NOFILE, &none) != 0) {
            _exit(2);
        }
        _exit(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL) == ERROR_NO_SYSTEM_RESOURCES
                  ? 0
                  : 3);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    assert_int_equal(status, 0);
    expect_contents(read_only, "kept");
}

static void a_file_that_is_opened_keeps_what_is_in_it(void **state)
{
    const char *path = folder_path("file");
    uint64_t bytes = 1;
    char text[8];
    int file;

    (void)state;
    assert_int_equal(etwas_file_open(path, ETWAS_FILE_SHARED, &file, &bytes, NULL), ERROR_SUCCESS);
    assert_int_equal(bytes, 0);
    assert_true(etwas_file_close(file));
    put(path, "kept");
    assert_int_equal(etwas_file_open(path, ETWAS_FILE_SHARED, &file, &bytes, NULL), ERROR_SUCCESS);
    assert_int_equal(bytes, 4);
    assert_int_equal(etwas_file_read(file, text, sizeof text, 1), 3);
    assert_int_equal(errno, 0);
    assert_memory_equal(text, "ept", 3);
    assert_int_equal(etwas_file_read(file, text, sizeof text, 9), 0);
    assert_int_equal(errno, 0);
    assert_true(etwas_file_close(file));
    assert_int_equal(etwas_file_read(file, text, sizeof text, 0), 0);
    assert_int_equal(errno, EBADF);
}

static void only_the_file_that_is_open_is_removed(void **state)
{
    const char *path = folder_path("file");
    const char *moved = folder_path("moved");
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
    assert_int_equal(rename(path, moved), 0);
    etwas_file_remove(path, file);
    put(path, "theirs");
    etwas_file_remove(path, file);
    expect_contents(path, "theirs");
    etwas_file_remove(moved, file);
    assert_int_equal(access(moved, F_OK), -1);
    assert_true(etwas_file_close(file));
}

static void space_that_is_set_aside_is_in_the_file(void **state)
{
    const char *path = folder_path("file");
    struct stat status;
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_file_allocate(file, 100000), 0);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_size, 100000);
    assert_int_equal(etwas_file_allocate(file, 1000), 0);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_size, 100000);
    assert_true(etwas_file_close(file));
    assert_int_equal(etwas_file_allocate(file, 1), EBADF);
}

/* ---- failures made on purpose ---------------------------------------------------------------- */

static enum etwas_log_file_call failing_call;
static int failing_errno;
static unsigned failures;

static long fail_one(enum etwas_log_file_call call, size_t bytes)
{
    if (call != failing_call || (failing_errno == EINTR && failures != 0)) {
        return (long)bytes;
    }
    failures++;
    return -failing_errno;
}

static void fail_call(enum etwas_log_file_call call, int error)
{
    failing_call = call;
    failing_errno = error;
    failures = 0;
    etwas_file_set_failure_hook(fail_one);
}

/* One that was there keeps its contents. */
static void an_opening_that_fails_anywhere_leaves_no_new_file(void **state)
{
    static const struct {
        enum etwas_log_file_call call;
        int error;
        uint32_t code;
    } rows[] = {
        {ETWAS_FILE_OPEN, EIO, ERROR_BAD_PATHNAME},
        {ETWAS_FILE_OPEN, EROFS, ERROR_ACCESS_DENIED},
        {ETWAS_FILE_OPEN, EDQUOT, ERROR_DISK_FULL},
        {ETWAS_FILE_OPEN, EMFILE, ERROR_NO_SYSTEM_RESOURCES},
        {ETWAS_FILE_STAT, EIO, ERROR_BAD_PATHNAME},
        {ETWAS_FILE_LOCK, EWOULDBLOCK, ERROR_BAD_PATHNAME},
    };
    const char *path = folder_path("file");
    int file = -1;

    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        fail_call(rows[row].call, rows[row].error);
        assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), rows[row].code);
        assert_int_equal(failures, 1);
        assert_int_equal(file, -1);
        assert_int_equal(access(path, F_OK), -1);
        put(path, "kept");
        assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), rows[row].code);
        expect_contents(path, "kept");
        assert_int_equal(unlink(path), 0);
    }
    put(path, "kept");
    fail_call(ETWAS_FILE_TRUNCATE, EIO);
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_WRITE_FAULT);
    expect_contents(path, "kept");
    etwas_file_set_failure_hook(NULL);
}

static void an_interrupted_call_is_made_again(void **state)
{
    static const enum etwas_log_file_call calls[] = {
        ETWAS_FILE_OPEN,     ETWAS_FILE_LOCK,     ETWAS_FILE_READ, ETWAS_FILE_WRITE,
        ETWAS_FILE_ALLOCATE, ETWAS_FILE_TRUNCATE, ETWAS_FILE_SYNC, ETWAS_FILE_CLOSE};
    const char *path = folder_path("file");

    (void)state;
    for (size_t call = 0; call < sizeof calls / sizeof calls[0]; call++) {
        struct iovec part = {.iov_base = (char[]){"text"}, .iov_len = 4};
        char text[4];
        int error;
        int file;

        put(path, "something old");
        fail_call(calls[call], EINTR);
        assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
        assert_int_equal(etwas_file_write(file, &part, 1, 0, NULL, &error), 4);
        assert_int_equal(etwas_file_read(file, text, 4, 0), 4);
        assert_memory_equal(text, "text", 4);
        assert_int_equal(etwas_file_allocate(file, 4096), 0);
        assert_true(etwas_file_truncate(file, 4));
        assert_true(etwas_file_sync(file));
        assert_true(etwas_file_close(file));
        assert_int_equal(failures, 1);
        etwas_file_set_failure_hook(NULL);
        expect_contents(path, "text");
    }
}

static void an_interrupted_opening_of_a_file_without_a_name_is_made_again(void **state)
{
    int file;

    (void)state;
    fail_call(ETWAS_FILE_OPEN, EINTR);
    assert_int_equal(etwas_file_create_unnamed(folder_path("."), &file), ERROR_SUCCESS);
    assert_int_equal(failures, 1);
    etwas_file_set_failure_hook(NULL);
    assert_true(etwas_file_close(file));
}

static void a_refusal_says_why(void **state)
{
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(folder_path("file"), ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_SUCCESS);
    fail_call(ETWAS_FILE_SYNC, EIO);
    assert_false(etwas_file_sync(file));
    assert_int_equal(errno, EIO);
    fail_call(ETWAS_FILE_TRUNCATE, EPERM);
    assert_false(etwas_file_truncate(file, 0));
    assert_int_equal(errno, EPERM);
    fail_call(ETWAS_FILE_ALLOCATE, ENOSPC);
    assert_int_equal(etwas_file_allocate(file, 1), ENOSPC);
    fail_call(ETWAS_FILE_RESERVE, ENOSPC);
    assert_false(etwas_file_reserve(file, 0, 1));
    fail_call(ETWAS_FILE_SPACE, ENOSPC);
    assert_false(etwas_file_has_space(folder_path("file"), 0, 0));
    fail_call(ETWAS_FILE_CLOSE, EDQUOT);
    assert_false(etwas_file_close(file));
    assert_int_equal(errno, EDQUOT);
    etwas_file_set_failure_hook(NULL);
    /* It is closed all the same. */
    assert_int_equal(fcntl(file, F_GETFD), -1);
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

/* Whether the page at `offset` is in the page cache. */
static bool is_cached(int file, uint64_t offset)
{
    long page = sysconf(_SC_PAGESIZE);
    void *mapped = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, file, (off_t)offset);
    unsigned char resident = 0;

    assert_true(mapped != MAP_FAILED);
    assert_int_equal(mincore(mapped, (size_t)page, &resident), 0);
    assert_int_equal(munmap(mapped, (size_t)page), 0);
    return (resident & 1) != 0;
}

static void a_part_that_is_read_ahead_comes_into_the_cache_unread(void **state)
{
    enum {
        BYTES = 1 << 20,
        PART = BYTES / 2
    };
    const struct timespec pause = {.tv_nsec = 1000000};
    static char zeroes[BYTES];
    struct iovec piece = {zeroes, BYTES};
    int file;
    int error;

    (void)state;
    assert_int_equal(etwas_file_create(folder_path("file"), ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(etwas_file_write(file, &piece, 1, 0, NULL, &error), BYTES);
    assert_true(etwas_file_sync(file));
    etwas_file_drop_cached(file, 0, BYTES);
    if (is_cached(file, PART)) {
        (void)etwas_file_close(file);
        print_message("a_part_that_is_read_ahead_comes_into_the_cache_unread: skipped, this file "
                      "system keeps its pages\n");
        skip();
    }
    etwas_file_read_ahead(file, PART, 1);
    while (!is_cached(file, PART)) {
        (void)nanosleep(&pause, NULL);
    }
    assert_false(is_cached(file, 0));
    assert_true(etwas_file_close(file));
}

static int failing_teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

#define FAILING_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, failing_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(odd_places_for_a_file_are_refused_by_name),
        FOLDER_TEST(a_created_file_has_the_rights_of_the_umask_is_empty_and_is_not_inherited),
        FOLDER_TEST(a_file_in_use_is_refused_and_one_nobody_uses_is_replaced),
        FOLDER_TEST(a_closed_file_is_unlocked_although_a_childs_copy_is_open),
        FOLDER_TEST(a_link_to_the_folder_is_followed),
        FOLDER_TEST(missing_rights_and_descriptors_have_their_codes),
        FOLDER_TEST(a_file_that_is_opened_keeps_what_is_in_it),
        FOLDER_TEST(only_the_file_that_is_open_is_removed),
        FOLDER_TEST(space_that_is_set_aside_is_in_the_file),
        FAILING_TEST(an_opening_that_fails_anywhere_leaves_no_new_file),
        FAILING_TEST(an_interrupted_call_is_made_again),
        FAILING_TEST(an_interrupted_opening_of_a_file_without_a_name_is_made_again),
        FAILING_TEST(a_refusal_says_why),
        FOLDER_TEST(space_is_looked_for_where_the_file_will_be),
        FOLDER_TEST(a_part_that_is_read_ahead_comes_into_the_cache_unread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
