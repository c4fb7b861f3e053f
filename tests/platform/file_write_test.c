/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What is in a file after writes that were cut short, interrupted or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "platform/file.h"
#include "support/folder.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % limit;
}

/* What the injected failures did. */
static struct {
    unsigned shorter;
    unsigned interrupted;
    unsigned refused;
    int last_error; /* of the write in progress; 0: none refused */
} injected;

static long fail_now_and_then(enum etwas_log_file_call call, size_t bytes)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT};
    uint32_t dice = random_below(16);

    if (call == ETWAS_FILE_SYNC) {
        return -EIO;
    }
    if (call != ETWAS_FILE_WRITE) {
        return (long)bytes;
    }
    if (dice < 6) {
        return (long)bytes;
    }
    if (dice < 11) {
        injected.shorter++;
        return 1 + (long)random_below((uint32_t)bytes);
    }
    if (dice < 14) {
        injected.interrupted++;
        return -EINTR;
    }
    injected.refused++;
    if (dice == 14) {
        /* The system took nothing and gave no reason. */
        injected.last_error = EIO;
        return 0;
    }
    injected.last_error = errors[random_below(3)];
    return -injected.last_error;
}

/* What the file must hold, built from the bytes each write says it wrote. */
enum {
    ELEMENTS = 8,
    ELEMENT_BYTES = 3000,
    BLOCK_BYTES = 4096,
    FILE_BYTES = 2 << 20
};

struct expected {
    uint8_t bytes[FILE_BYTES];
    uint64_t size;
};

static void write_at_random(int file, struct expected *expected)
{
    static uint8_t data[ELEMENTS * ELEMENT_BYTES];
    struct iovec vector[ELEMENTS];
    int count = (int)random_below(ELEMENTS) + 1;
    uint64_t position =
        random_below(4) != 0 ? expected->size : random_below((uint32_t)expected->size + 1);
    uint64_t asked = 0;
    uint64_t written;
    int error = -1;

    for (int index = 0; index < count; index++) {
        vector[index].iov_base = data + asked;
        vector[index].iov_len = random_below(4) == 0 ? 0 : random_below(ELEMENT_BYTES + 1);
        asked += vector[index].iov_len;
    }
    for (uint64_t index = 0; index < asked; index++) {
        data[index] = (uint8_t)random_below(256);
    }
    injected.last_error = 0;
    written = etwas_file_write(file, vector, count, position, NULL, &error);
    assert_int_equal(error, injected.last_error);
    assert_true(written <= asked);
    assert_int_equal(written < asked, error != 0);
    memcpy(expected->bytes + position, data, written);
    if (position + written > expected->size) {
        expected->size = position + written;
    }
}

static void expect_file_holds(const char *path, const struct expected *expected)
{
    static uint8_t bytes[FILE_BYTES];
    int file = open(path, O_RDONLY | O_CLOEXEC);

    assert_int_equal(read(file, bytes, sizeof bytes), expected->size);
    assert_memory_equal(bytes, expected->bytes, expected->size);
    assert_int_equal(close(file), 0);
}

static void the_bytes_a_write_returns_are_in_the_file_whatever_failed(void **state)
{
    enum {
        ROUNDS = 40,
        WRITES = 40
    };
    const char *path = folder_path("trace.etl");
    struct expected *expected = malloc(sizeof *expected);
    int file;

    (void)state;
    assert_non_null(expected);
    memset(&injected, 0, sizeof injected);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        expected->size = 0;
        random_state = round;
        assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
        etwas_file_set_failure_hook(fail_now_and_then);
        for (int index = 0; index < WRITES; index++) {
            write_at_random(file, expected);
        }
        assert_false(etwas_file_sync(file));
        etwas_file_set_failure_hook(NULL);
        expect_file_holds(path, expected);
        assert_true(etwas_file_sync(file));
        assert_true(etwas_file_close(file));
    }
    assert_true(injected.shorter > ROUNDS);
    assert_true(injected.interrupted > ROUNDS);
    assert_true(injected.refused > ROUNDS);
    free(expected);
}

/* ---- past the page cache --------------------------------------------------------------------- */

/* An open file, and whether it takes direct writes: on a tmpfs, say, it does not. */
static bool create_direct(const char *path, int *file)
{
    uint32_t alignment;

    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, file, NULL), ERROR_SUCCESS);
    alignment = etwas_file_direct_alignment(*file);
    assert_int_equal(alignment & (alignment - 1), 0);
    return alignment != 0 && alignment <= BLOCK_BYTES;
}

static void write_blocks_at_random(int file, uint8_t *data, struct expected *expected)
{
    struct iovec vector[ELEMENTS];
    int count = (int)random_below(ELEMENTS) + 1;
    uint64_t blocks = expected->size / BLOCK_BYTES;
    uint64_t position =
        BLOCK_BYTES * (random_below(4) != 0 ? blocks : random_below((uint32_t)blocks + 1));
    uint64_t asked = 0;
    uint64_t written;
    bool direct = false;
    int error = -1;

    for (int index = 0; index < count; index++) {
        vector[index].iov_base = data + asked;
        vector[index].iov_len = (size_t)BLOCK_BYTES * (1 + random_below(3));
        asked += vector[index].iov_len;
    }
    for (uint64_t index = 0; index < asked; index++) {
        data[index] = (uint8_t)random_below(256);
    }
    injected.last_error = 0;
    written = etwas_file_write(file, vector, count, position, &direct, &error);
    assert_int_equal(error, injected.last_error);
    assert_true(direct);
    assert_int_equal(written < asked, error != 0);
    memcpy(expected->bytes + position, data, written);
    if (position + written > expected->size) {
        expected->size = position + written;
    }
}

/* Between direct writes the others may be of any bytes, at any position, and both see one file. */
static void direct_writes_and_others_make_one_file_whatever_failed(void **state)
{
    enum {
        ROUNDS = 10,
        WRITES = 12
    };
    const char *path = folder_path("trace.etl");
    struct expected *expected = malloc(sizeof *expected);
    uint8_t *data = aligned_alloc(BLOCK_BYTES, (size_t)ELEMENTS * 3 * BLOCK_BYTES);
    bool takes_direct = true;
    int file;

    (void)state;
    assert_non_null(expected);
    assert_non_null(data);
    memset(&injected, 0, sizeof injected);
    for (uint32_t round = 0; round < ROUNDS && takes_direct; round++) {
        expected->size = 0;
        random_state = round;
        takes_direct = create_direct(path, &file);
        etwas_file_set_failure_hook(fail_now_and_then);
        for (int index = 0; takes_direct && index < WRITES; index++) {
            write_blocks_at_random(file, data, expected);
            assert_int_equal(fcntl(file, F_GETFL) & O_DIRECT, 0);
            write_at_random(file, expected);
        }
        etwas_file_set_failure_hook(NULL);
        expect_file_holds(path, expected);
        assert_true(etwas_file_close(file));
    }
    free(data);
    free(expected);
    if (!takes_direct) {
        print_message("direct_writes_and_others_make_one_file_whatever_failed: skipped, no direct "
                      "writes here\n");
        skip();
    }
    assert_true(injected.shorter > ROUNDS);
    assert_true(injected.refused > ROUNDS);
}

/* Also where the file system takes none at all. */
static void a_direct_write_that_is_refused_is_written_all_the_same(void **state)
{
    enum {
        ODD = 100 /* no device has such blocks */
    };
    const char *path = folder_path("trace.etl");
    uint8_t *data = aligned_alloc(BLOCK_BYTES, 2 * BLOCK_BYTES);
    uint8_t read_back[2 * BLOCK_BYTES];
    struct iovec vector[2] = {{data, BLOCK_BYTES}, {data + BLOCK_BYTES, BLOCK_BYTES}};
    bool direct = true;
    bool takes_direct;
    int error;
    int file;

    (void)state;
    assert_non_null(data);
    memset(data, 'a', BLOCK_BYTES);
    memset(data + BLOCK_BYTES, 'b', BLOCK_BYTES);
    takes_direct = create_direct(path, &file);
    assert_int_equal(etwas_file_write(file, vector, 2, ODD, &direct, &error), 2 * BLOCK_BYTES);
    assert_int_equal(error, 0);
    assert_false(takes_direct && direct);
    assert_int_equal(fcntl(file, F_GETFL) & O_DIRECT, 0);
    assert_int_equal(pread(file, read_back, sizeof read_back, ODD), 2 * BLOCK_BYTES);
    assert_memory_equal(read_back, data, 2 * BLOCK_BYTES);
    assert_true(etwas_file_close(file));
    free(data);
}

static uint64_t taken_bytes(int file)
{
    struct stat status;

    assert_int_equal(fstat(file, &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

static void reserved_space_is_not_in_the_file_and_is_given_back(void **state)
{
    enum {
        RESERVED = 1 << 20
    };
    char text[] = "0123456789";
    struct iovec vector = {.iov_base = text, .iov_len = 10};
    struct stat status;
    bool reserves;
    int error;
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(folder_path("trace.etl"), ETWAS_FILE_SHARED, &file, NULL),
                     ERROR_SUCCESS);
    assert_false(etwas_file_reserve(file, 0, UINT64_C(1) << 62));
    reserves = etwas_file_reserve(file, 0, RESERVED);
    assert_int_equal(taken_bytes(file) >= RESERVED, reserves);
    assert_int_equal(etwas_file_write(file, &vector, 1, 0, NULL, &error), 10);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_size, 10);
    assert_true(etwas_file_truncate(file, 10));
    assert_true(taken_bytes(file) < RESERVED);
    assert_true(etwas_file_close(file));
    assert_false(etwas_file_reserve(file, 0, RESERVED));
    assert_int_equal(etwas_file_direct_alignment(file), 0);
}

static void a_write_of_nothing_and_one_to_no_file_say_so(void **state)
{
    char byte = 1;
    struct iovec empty[2] = {{.iov_base = &byte}, {.iov_base = &byte}};
    struct iovec one = {.iov_base = &byte, .iov_len = 1};
    const char *path = folder_path("trace.etl");
    int error = -1;
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_file_write(file, empty, 2, 0, NULL, &error), 0);
    assert_int_equal(error, 0);
    assert_true(etwas_file_close(file));
    assert_int_equal(etwas_file_write(file, &one, 1, 0, NULL, &error), 0);
    assert_int_equal(error, EBADF);
    assert_false(etwas_file_sync(file));
    assert_false(etwas_file_truncate(file, 0));
}

static void a_file_is_cut_to_the_bytes_asked_for(void **state)
{
    const char *path = folder_path("trace.etl");
    char text[] = "0123456789";
    struct iovec vector = {.iov_base = text, .iov_len = 10};
    struct stat status;
    char read_back[16];
    int error;
    int file;

    (void)state;
    assert_int_equal(etwas_file_create(path, ETWAS_FILE_SHARED, &file, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_file_write(file, &vector, 1, 4096, NULL, &error), 10);
    /* Neither of these changes what is in the file. */
    etwas_file_start_writing(file, 0, 8192);
    assert_true(etwas_file_sync(file));
    etwas_file_drop_cached(file, 0, 8192);
    assert_true(etwas_file_truncate(file, 4100));
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_size, 4100);
    assert_int_equal(pread(file, read_back, sizeof read_back, 4096), 4);
    assert_memory_equal(read_back, "0123", 4);
    assert_true(etwas_file_truncate(file, 0));
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_true(etwas_file_close(file));
}

static void the_code_of_a_failed_write_says_whether_the_disk_is_full(void **state)
{
    static const struct {
        int error;
        uint32_t code;
    } rows[] = {
        {ENOSPC, ERROR_DISK_FULL}, {EDQUOT, ERROR_DISK_FULL},  {EFBIG, ERROR_DISK_FULL},
        {EIO, ERROR_WRITE_FAULT},  {EBADF, ERROR_WRITE_FAULT}, {EINVAL, ERROR_WRITE_FAULT},
        {0, ERROR_WRITE_FAULT},
    };

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        assert_int_equal(etwas_file_write_error(rows[index].error), rows[index].code);
    }
}

/* ---- a process that may not have large files (RLIMIT_FSIZE) ---------------------------------- */

enum {
    LIMIT_BYTES = 10000
};

static const char *limited_path;
static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals++;
}

static int limit_files(int *file)
{
    const struct rlimit limit = {.rlim_cur = LIMIT_BYTES, .rlim_max = LIMIT_BYTES};

    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(etwas_file_create(limited_path, ETWAS_FILE_SHARED, file, NULL) == ERROR_SUCCESS);
    return 0;
}

/*
 * Writes past the limit: what fits is there, and nothing is left pending or blocked that was not.
 */
static int write_too_much(int file, bool pending_before)
{
    static char data[4000];
    struct iovec vector[3] = {{data, sizeof data}, {data, sizeof data}, {data, sizeof data}};
    struct stat status;
    sigset_t blocked;
    sigset_t pending;
    int error = 0;

    CHECK(etwas_file_write(file, vector, 3, 0, NULL, &error) == LIMIT_BYTES);
    CHECK(error == EFBIG);
    CHECK(etwas_file_write_error(error) == ERROR_DISK_FULL);
    vector[0] = (struct iovec){data, sizeof data};
    CHECK(etwas_file_write(file, vector, 1, UINT64_C(2) * LIMIT_BYTES, NULL, &error) == 0);
    CHECK(error == EFBIG);
    CHECK(fstat(file, &status) == 0 && status.st_size == LIMIT_BYTES);
    CHECK(sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGXFSZ) == (pending_before ? 1 : 0));
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0);
    CHECK(sigismember(&blocked, SIGXFSZ) == (pending_before ? 1 : 0));
    return 0;
}

static int survive_by_default(void)
{
    int file;

    CHECK(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    CHECK(limit_files(&file) == 0);
    return write_too_much(file, false);
}

static int leave_the_hosts_handler_alone(void)
{
    const char byte = 0;
    int file;

    CHECK(signal(SIGXFSZ, count_signal) != SIG_ERR);
    CHECK(limit_files(&file) == 0);
    CHECK(write_too_much(file, false) == 0);
    CHECK(signals == 0);
    /* The host's own writes raise it as ever. */
    CHECK(pwrite(file, &byte, 1, LIMIT_BYTES) == -1 && errno == EFBIG);
    CHECK(signals == 1);
    return 0;
}

static int leave_the_hosts_pending_signal_alone(void)
{
    sigset_t too_large;
    int file;

    CHECK(signal(SIGXFSZ, count_signal) != SIG_ERR);
    CHECK(sigemptyset(&too_large) == 0 && sigaddset(&too_large, SIGXFSZ) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &too_large, NULL) == 0);
    CHECK(raise(SIGXFSZ) == 0);
    CHECK(limit_files(&file) == 0);
    CHECK(write_too_much(file, true) == 0);
    CHECK(signals == 0);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &too_large, NULL) == 0);
    CHECK(signals == 1);
    return 0;
}

static void a_file_larger_than_the_process_may_have_is_a_full_disk_and_no_signal(void **state)
{
    (void)state;
    limited_path = folder_path("trace.etl");
    expect_child_passes(survive_by_default);
    expect_child_passes(leave_the_hosts_handler_alone);
    expect_child_passes(leave_the_hosts_pending_signal_alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_bytes_a_write_returns_are_in_the_file_whatever_failed),
        FOLDER_TEST(direct_writes_and_others_make_one_file_whatever_failed),
        FOLDER_TEST(a_direct_write_that_is_refused_is_written_all_the_same),
        FOLDER_TEST(reserved_space_is_not_in_the_file_and_is_given_back),
        FOLDER_TEST(a_write_of_nothing_and_one_to_no_file_say_so),
        FOLDER_TEST(a_file_is_cut_to_the_bytes_asked_for),
        FOLDER_TEST(the_code_of_a_failed_write_says_whether_the_disk_is_full),
        FOLDER_TEST(a_file_larger_than_the_process_may_have_is_a_full_disk_and_no_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
