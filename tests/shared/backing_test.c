/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A crash-safe session says where its buffers lie, and what its writers have to expect of that.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    BUFFER_KB = 64,
    BUFFERS = 32,
    POOL_BYTES = BUFFERS * BUFFER_KB * 1024,
    PAUSE_US = 10000,
    TIMEOUT_US = 60000000,
};

static const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
    .buffer_size_kb = BUFFER_KB,
    .minimum_buffers = BUFFERS,
};

static etwas_crash_safe_place place_of(etwas_trace_handle session)
{
    etwas_crash_safe_place place;

    assert_int_equal(etwas_crash_safe_query_place(session, &place), ERROR_SUCCESS);
    return place;
}

static void log_round(etwas_trace_handle session)
{
    for (uint64_t number = 0; number < POOL_BYTES / 56; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
}

static void a_memfd_lies_in_memory_and_is_not_touched(void **state)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    etwas_crash_safe_place place;

    (void)state;
    options.crash_safe = ETWAS_CRASH_SAFE_MEMFD;
    session = start_session(NULL, &options);
    log_round(session);
    place = place_of(session);
    assert_string_equal(place.file_system, "tmpfs");
    assert_true(place.in_memory);
    assert_true(place.bytes >= POOL_BYTES);
    assert_int_equal(place.clean_bytes, 0);
    assert_int_equal(place.writing_bytes, 0);
    assert_int_equal(place.touches, 0);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_crash_safe_query_place(session, &place), ERROR_INVALID_HANDLE);
}

static void only_a_crash_safe_session_has_a_place(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_crash_safe_place place;

    (void)state;
    assert_int_equal(etwas_crash_safe_query_place(session, &place), ERROR_NOT_FOUND);
    assert_int_equal(etwas_crash_safe_query_place(session, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
}

/* ---- on a disk ------------------------------------------------------------------------------- */

static void write_back(etwas_trace_handle session)
{
    char path[4096];
    int file;

    assert_int_equal(etwas_crash_safe_path(session, path, sizeof path), ERROR_SUCCESS);
    file = open(path, O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(fsync(file), 0);
    assert_int_equal(close(file), 0);
}

/*
 * What was written back is not clean any more when it has been written to, and is again when it is
 * written back.
 */
static void expect_clean_bytes(etwas_trace_handle session)
{
    write_back(session);
    if (place_of(session).clean_bytes == UINT64_MAX) {
        print_message("the kernel does not say which pages are written back\n");
        return;
    }
    assert_in_range(place_of(session).clean_bytes, POOL_BYTES / 2, place_of(session).bytes);
    log_round(session);
    assert_in_range(place_of(session).clean_bytes, 0, place_of(session).bytes - POOL_BYTES / 2);
}

static void expect_touches(etwas_trace_handle session)
{
    uint64_t before = place_of(session).touches;
    etwas_crash_safe_place place = place_of(session);

    for (uint32_t waited_us = 0; place.touches == before; waited_us += PAUSE_US) {
        assert_in_range(waited_us, 0, TIMEOUT_US);
        log_round(session);
        (void)usleep(PAUSE_US);
        place = place_of(session);
    }
    assert_true(place.touch_ns >= place.longest_touch_ns && place.longest_touch_ns != 0);
    assert_true(place.slow_touches <= place.touches);
}

static void a_pool_on_a_disk_says_what_its_writers_have_to_expect(void **state)
{
    char folder[] = "/var/tmp/etwas-place-XXXXXX";
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    bool in_memory;

    (void)state;
    assert_non_null(mkdtemp(folder));
    options.crash_safe = ETWAS_CRASH_SAFE_POOL_FILE;
    options.crash_safe_folder = folder;
    session = start_session(NULL, &options);
    in_memory = place_of(session).in_memory;
    if (!in_memory) {
        assert_string_not_equal(place_of(session).file_system, "tmpfs");
        log_round(session);
        expect_clean_bytes(session);
        expect_touches(session);
    }
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    assert_int_equal(rmdir(folder), 0);
    if (in_memory) {
        print_message("skipped: /var/tmp lies in memory\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_memfd_lies_in_memory_and_is_not_touched),
        FOLDER_TEST(only_a_crash_safe_session_has_a_place),
        FOLDER_TEST(a_pool_on_a_disk_says_what_its_writers_have_to_expect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
