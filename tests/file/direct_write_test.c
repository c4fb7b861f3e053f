/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which writes go past the page cache: a slow device gets some through it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "file/direct_write.h"
#include "platform/file.h"
#include "support/folder.h"

enum {
    MB = 1 << 20,
};

static int watched_file;
static bool was_direct; /* the last write */

static long write_slowly(enum etwas_log_file_call call, size_t bytes)
{
    const struct timespec long_time = {.tv_nsec = 20000000};

    if (call != ETWAS_FILE_WRITE) {
        return (long)bytes;
    }
    was_direct = (fcntl(watched_file, F_GETFL) & O_DIRECT) != 0;
    (void)nanosleep(&long_time, NULL);
    return (long)bytes;
}

/* One MB at `position`. */
static void write_one(struct etwas_direct_write *direct, uint8_t *memory, uint64_t position)
{
    struct iovec piece = {memory, MB};
    int error;

    assert_int_equal(etwas_direct_write_write(direct, watched_file, &piece, 1, position, &error),
                     MB);
}

/* 1 MB in 20 ms or more is slow: two such writes are enough, and a far longer one alone is. */
static void a_slow_device_is_helped_by_the_cache_and_tried_again_ever_more_seldom(void **state)
{
    uint8_t *memory = aligned_alloc(4096, MB);
    struct etwas_direct_write direct;
    uint64_t position = 0;
    uint64_t cached = 0;

    (void)state;
    assert_non_null(memory);
    memset(memory, 'x', MB);
    assert_int_equal(
        etwas_file_create(folder_path("trace.etl"), ETWAS_FILE_SHARED, &watched_file, NULL),
        ERROR_SUCCESS);
    etwas_direct_write_begin(&direct, watched_file, MB, 0, false);
    if (!direct.possible) {
        (void)etwas_file_close(watched_file);
        free(memory);
        print_message("a_slow_device_is_helped_by_the_cache_and_tried_again_ever_more_seldom: "
                      "skipped, no direct writes here\n");
        skip();
    }
    etwas_file_set_failure_hook(write_slowly);
    for (int turn = 0; turn < 3; turn++) {
        /* The first write after the cache's waits for them, and is not judged. */
        for (int index = 0; index < 2 && direct.cached_until <= position; index++) {
            write_one(&direct, memory, position);
            assert_true(was_direct);
            position += MB;
        }
        assert_true(direct.cached_until > position);
        assert_true(direct.cached_until - position >= 2 * cached);
        cached = direct.cached_until - position;
        write_one(&direct, memory, position);
        assert_false(was_direct);
        write_one(&direct, memory, direct.cached_until - MB);
        assert_false(was_direct);
        position = direct.cached_until;
    }
    etwas_file_set_failure_hook(NULL);
    assert_true(etwas_file_close(watched_file));
    free(memory);
}

/* What a file learned of a slow device the next part of its set knows. */
static void the_next_part_knows_what_the_last_one_learned(void **state)
{
    static const struct etwas_direct_write slow = {
        .ns_a_mb = 7, .cached_bytes = 100 * MB, .cached_until = 30 * MB, .was_cached = true};
    struct etwas_direct_write direct = {.possible = true};

    (void)state;
    etwas_direct_write_inherit(&direct, &slow, 10 * MB);
    assert_true(etwas_direct_write_is_cached(&direct, 20 * MB - 1));
    assert_false(etwas_direct_write_is_cached(&direct, 20 * MB));
    assert_int_equal(direct.cached_bytes, slow.cached_bytes);
    assert_true(direct.possible && direct.was_cached);
    etwas_direct_write_inherit(&direct, &slow, 40 * MB);
    assert_false(etwas_direct_write_is_cached(&direct, 0));
    /* Round and round: what counts is how much was written. */
    etwas_direct_write_inherit(&direct, &slow, 10 * MB);
    etwas_direct_write_wrap(&direct, 15 * MB);
    assert_true(etwas_direct_write_is_cached(&direct, 4 * MB));
    etwas_direct_write_wrap(&direct, 15 * MB);
    assert_false(etwas_direct_write_is_cached(&direct, 0));
}

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_slow_device_is_helped_by_the_cache_and_tried_again_ever_more_seldom, folder_setup,
            teardown),
        cmocka_unit_test(the_next_part_knows_what_the_last_one_learned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
