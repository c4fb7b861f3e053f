/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * PREALLOCATE (R97): the whole size is occupied while the session runs, and trimmed when it stops;
 * and the units of the size (R90).
 */
#include <etwas/winerror.h>
#include <unistd.h>

#include "file_modes.h"
#include "platform/file.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BYTES_A_KB = 1024,
    PREALLOCATE = EVENT_TRACE_FILE_MODE_PREALLOCATE,
    KBYTES = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
};

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

/* R90, R97: in MB and in KB. */
static void the_size_is_occupied_at_once_and_trimmed_at_the_end(void **state)
{
    static const struct {
        uint32_t mode;
        uint32_t size;
        off_t bytes;
    } cases[] = {
        {PREALLOCATE, 3, 3072 * BYTES_A_KB},
        {PREALLOCATE | KBYTES, 100, 100 * BYTES_A_KB},
        {PREALLOCATE | KBYTES | EVENT_TRACE_FILE_MODE_SEQUENTIAL, 101, 100 * BYTES_A_KB},
        {PREALLOCATE | KBYTES | EVENT_TRACE_FILE_MODE_CIRCULAR, 100, 100 * BYTES_A_KB},
    };

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.log_file_mode = cases[index].mode,
                                         .buffer_size_kb = 4,
                                         .maximum_file_size = cases[index].size};
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(
            &(struct writer_options){.session = session, .events = 200, .largest_payload = 200});
        etwas_session_counts counts;
        struct readback result;

        assert_int_equal(size_of(path), cases[index].bytes);
        assert_true(space_of(path) >= cases[index].bytes);
        for (int event = 0; event < 100; event++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        assert_int_equal(size_of(path), cases[index].bytes);
        /* What is set aside is no damage. */
        read_back(session, path, &result);
        assert_true(result.unfinished);
        assert_int_equal(result.events, 100);
        assert_int_equal(result.damages + result.wrong + result.missing, 0);
        stop_session(session, &counts);
        assert_true(size_of(path) < cases[index].bytes);
        assert_true(space_of(path) < cases[index].bytes);
        assert_int_equal(log_header_of(path).start.maximum_file_size, cases[index].size);
        expect_file_is_exact(session, path, &counts);
    }
}

/* R92: more than there is on the disk. */
static void a_size_that_does_not_fit_is_refused_and_leaves_no_file(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = PREALLOCATE, .maximum_file_size = 1000000000};
    etwas_trace_handle session;

    (void)state;
    assert_int_equal(etwas_start("too large", path, &options, &session), ERROR_DISK_FULL);
    assert_int_equal(access(path, F_OK), -1);
}

/* The space behind a refused buffer is not cut off, and holds nothing that looks like a buffer. */
static void a_torn_write_leaves_the_space_behind_it(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = PREALLOCATE | KBYTES,
                                     .buffer_size_kb = 8,
                                     .maximum_file_size = 800,
                                     .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 2000, .largest_payload = 300});
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    tear_one_write_of(5);
    for (int turn = 0; turn < 40; turn++) {
        for (int event = 0; event < 20; event++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        (void)etwas_flush(session);
        assert_int_equal(size_of(path), 800 * BYTES_A_KB);
        read_back(session, path, &result);
        counts = counts_of(session);
        assert_int_equal(result.wrong + result.unexpected + result.damages, 0);
        assert_int_equal(result.events, counts.recorded);
    }
    etwas_file_set_failure_hook(NULL);
    stop_session(session, &counts);
    assert_true(counts.buffers_lost > 3);
    expect_exact_account(session, &counts);
    walk_back(session, path, true, &result);
    assert_int_equal(result.wrong + result.unexpected, 0);
    assert_int_equal(result.events, counts.recorded);
    assert_int_equal(result.missing, counts.lost_write_error);
    assert_int_equal(totals_of(path).lost_events, counts.lost);
    assert_int_equal(totals_of(path).lost_buffers, counts.buffers_lost);
}

#define SPACE_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPACE_TEST(the_size_is_occupied_at_once_and_trimmed_at_the_end),
        SPACE_TEST(a_size_that_does_not_fit_is_refused_and_leaves_no_file),
        SPACE_TEST(a_torn_write_leaves_the_space_behind_it),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
