/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * COMPRESSED: in each mode that it goes together with the file holds every event once, says so, and
 * is read by the walker too.
 */
#include <etwas/winerror.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock/clock_reading.h"
#include "file_modes.h"
#include "platform/file.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BYTES_A_KB = 1024,
    BUFFER_KB = 4,
    BUFFER_BYTES = BUFFER_KB * BYTES_A_KB,
    COMPRESSED = EVENT_TRACE_COMPRESSED_MODE,
    KBYTES = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
    LIMIT_KB = 64,
    LARGE_KB = 1024,
};

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    etwas_clock_snapshot_interval_ns = ETWAS_CLOCK_SNAPSHOT_INTERVAL_NS;
    return folder_teardown(state);
}

static etwas_session_options options_of(uint32_t mode, uint32_t maximum_kb)
{
    return (etwas_session_options){.log_file_mode = mode | COMPRESSED | KBYTES,
                                   .buffer_size_kb = BUFFER_KB,
                                   .maximum_buffers = 2000,
                                   .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                   .maximum_file_size = maximum_kb};
}

/* Events whose payloads are noise, so that a buffer gets a third smaller at most. */
static void log_events(etwas_trace_handle session, uint32_t events)
{
    struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                .class_handle = writer_class(),
                                                                .events = events + 1,
                                                                .largest_payload = 200});

    for (uint32_t event = 0; event < events; event++) {
        uint32_t code = writer_log(writer);

        assert_true(code == ERROR_SUCCESS || code == ERROR_INVALID_HANDLE);
    }
}

/* Goes from buffer to buffer. How many have the flag, and where the last begins. */
static uint32_t count_compressed(const char *path, off_t *last)
{
    struct etwas_etl_buffer_header header;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    uint32_t count = 0;
    off_t at = 0;

    assert_true(file >= 0);
    while (pread(file, &header, sizeof header, at) == sizeof header) {
        assert_in_range(header.buffer_bytes, sizeof header, BUFFER_BYTES);
        count += (header.flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0;
        *last = at;
        at += header.buffer_bytes;
    }
    assert_int_equal(at, size_of(path));
    (void)close(file);
    return count;
}

static void writers_of_all_sizes_fill_a_file_that_holds_every_event_once(void **state)
{
    const char *path = folder_path("trace.etl");

    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        etwas_session_options options = options_of(EVENT_TRACE_USE_MS_FLUSH_TIMER, 0);
        etwas_session_counts counts;
        struct writers writers;
        etwas_trace_handle session;

        options.clock = 1 + round;
        options.buffer_size_kb = round == 2 ? 1024u : (uint32_t)BUFFER_KB << (2 * round);
        options.maximum_buffers = round == 2 ? 64 : 2000;
        options.flush_timer = 3;
        session = start_session(path, &options);
        writers_start(&writers, 3,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = 2500,
                                               .largest_payload = 3000});
        writers_join(&writers);
        stop_session(session, &counts);
        assert_true(counts.recorded > 0);
        expect_file_is_exact(session, path, &counts);
        assert_int_equal(log_header_of(path).start.version[2], 2);
        assert_int_equal(log_header_of(path).start.version[3], 0);
        assert_int_equal(unlink(path), 0);
    }
}

/* 16 of 64 to 88 bytes are noise, which no compressor makes smaller. */
static void the_file_is_smaller_than_what_is_in_it(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = options_of(0, 0);
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 6000, .largest_payload = 16});
    etwas_session_counts counts;
    off_t last;

    (void)state;
    for (uint32_t event = 0; event < 5000; event++) {
        assert_int_equal(writer_log_bytes(writer, 16), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_true(count_compressed(path, &last) >= counts.buffers_written * 9 / 10);
    assert_true(size_of(path) < (off_t)counts.buffers_written * BUFFER_BYTES / 2);
    expect_file_is_exact(session, path, &counts);
}

static void a_buffer_that_does_not_get_smaller_is_stored_as_it_is(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = options_of(0, 0);
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 40, .largest_payload = 3900});
    etwas_session_counts counts;
    off_t last;

    (void)state;
    for (uint32_t event = 0; event < 20; event++) {
        assert_int_equal(writer_log_bytes(writer, 3900), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_int_equal(count_compressed(path, &last), 0);
    assert_int_equal(counts.buffers_written, 21);
    expect_file_is_exact(session, path, &counts);
}

/* R90: what counts is what is in the file. It is full when a buffer might not fit any more. */
static void a_file_of_a_size_is_full_when_a_buffer_might_not_fit(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                     EVENT_TRACE_FILE_MODE_SEQUENTIAL |
                                         EVENT_TRACE_FILE_MODE_PREALLOCATE,
                                     EVENT_TRACE_FILE_MODE_APPEND};
    const char *path = folder_path("trace.etl");

    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        etwas_session_options options = options_of(modes[row], LIMIT_KB);
        etwas_session_counts counts;
        struct readback result;
        etwas_trace_handle session;

        options.flusher.no_thread = true;
        session = start_session(path, &options);
        if ((modes[row] & EVENT_TRACE_FILE_MODE_PREALLOCATE) != 0) {
            assert_int_equal(size_of(path), LIMIT_KB * BYTES_A_KB);
        }
        log_events(session, 1000);
        (void)etwas_flush(session); /* which stops it */
        counts = counts_of(session);
        assert_in_range(size_of(path), (LIMIT_KB - BUFFER_KB) * BYTES_A_KB + 1,
                        LIMIT_KB * BYTES_A_KB);
        assert_true(counts.buffers_written > LIMIT_KB / BUFFER_KB);
        assert_true(counts.lost_file_full > 0);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.wrong + result.unexpected, 0);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.missing, counts.lost_file_full);
        assert_int_equal(result.events_lost, counts.lost);
        assert_int_equal(unlink(path), 0);
    }
}

static void space_set_aside_is_no_damage_and_goes_at_the_end(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = options_of(EVENT_TRACE_FILE_MODE_PREALLOCATE, 1000);
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    struct readback result;
    off_t last;

    (void)state;
    log_events(session, 300);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(size_of(path), 1000 * BYTES_A_KB);
    read_back(session, path, &result);
    assert_true(result.unfinished);
    assert_int_equal(result.events, 300);
    assert_int_equal(result.damages + result.wrong + result.missing, 0);
    stop_session(session, &counts);
    assert_true(count_compressed(path, &last) > 0);
    expect_file_is_exact(session, path, &counts);
}

/* There is space behind it, or none. */
static void of_a_torn_write_nothing_is_left_that_looks_like_a_buffer(void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_FILE_MODE_PREALLOCATE};
    const char *path = folder_path("trace.etl");

    (void)state;
    for (size_t row = 0; row < sizeof modes / sizeof modes[0]; row++) {
        etwas_session_options options = options_of(modes[row], 4000);
        etwas_session_counts counts;
        struct readback result;
        etwas_trace_handle session;

        options.flusher.no_thread = true;
        session = start_session(path, &options);
        tear_one_write_of(3);
        for (int turn = 0; turn < 12; turn++) {
            log_events(session, 150);
            (void)etwas_flush(session);
            read_back(session, path, &result);
            assert_int_equal(result.damages + result.wrong + result.unexpected, 0);
            assert_int_equal(result.events, counts_of(session).recorded);
        }
        etwas_file_set_failure_hook(NULL);
        stop_session(session, &counts);
        assert_true(counts.lost_write_error > 0);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(unlink(path), 0);
    }
}

/* R96 */
static void parts_hold_every_event_once(void **state)
{
    etwas_session_options options = options_of(EVENT_TRACE_FILE_MODE_NEWFILE, 20);
    etwas_trace_handle session = start_session(folder_path("part%d.etl"), &options);
    etwas_session_counts counts;
    struct writers writers;
    struct parts parts;

    (void)state;
    writers_start(&writers, 3,
                  &(struct writer_options){.session = session,
                                           .class_handle = writer_class(),
                                           .events = 1500,
                                           .largest_payload = 400});
    writers_join(&writers);
    stop_session(session, &counts);
    expect_parts_are_exact(session, "part", &counts, &parts);
    assert_true(parts.count > 20);
    assert_in_range(size_of(folder_path("part1.etl")), 16 * BYTES_A_KB + 1, 20 * BYTES_A_KB);
}

/* R95 */
static void sessions_append_to_a_file_that_is_compressed_too(void **state)
{
    enum {
        SESSIONS = 3,
        EVENTS = 150
    };
    const char *path = folder_path("trace.etl");
    etwas_session_options options = options_of(EVENT_TRACE_FILE_MODE_APPEND, 0);
    etwas_trace_handle sessions[SESSIONS];
    etwas_session_counts counts;
    etwas_trace_handle other;
    off_t last;

    (void)state;
    for (uint32_t index = 0; index < SESSIONS; index++) {
        sessions[index] = start_session(path, &options);
        log_events(sessions[index], EVENTS);
        stop_session(sessions[index], &counts);
        assert_true(count_compressed(path, &last) > 0);
    }
    for (uint32_t index = 0; index < SESSIONS; index++) {
        struct readback result;

        walk_back(sessions[index], path, true, &result);
        assert_int_equal(result.events, EVENTS);
        assert_int_equal(result.wrong, (SESSIONS - 1) * EVENTS);
        read_back(sessions[index], path, &result);
        assert_int_equal(result.events, EVENTS);
        assert_int_equal(result.missing + result.damages, 0);
    }
    options.log_file_mode &= ~(uint32_t)COMPRESSED;
    assert_int_equal(etwas_start("not compressed", path, &options, &other),
                     ERROR_INVALID_PARAMETER);
}

/* A last buffer that is there in part goes; one that lies in the middle is damage. */
static void what_is_torn_at_the_end_goes_when_a_session_appends(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = options_of(EVENT_TRACE_FILE_MODE_APPEND, 0);
    const uint32_t wrong_bytes = 71;
    etwas_trace_handle session = start_session(path, &options);
    struct readback result;
    off_t last;
    int file;

    (void)state;
    log_events(session, 300);
    stop_session(session, NULL);
    (void)count_compressed(path, &last);
    assert_int_equal(truncate(path, size_of(path) - 1), 0);
    session = start_session(path, &options);
    assert_int_equal(size_of(path), last);
    log_events(session, 100);
    stop_session(session, NULL);
    walk_back(session, path, true, &result);
    assert_int_equal(result.events, 100);
    file = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, &wrong_bytes, sizeof wrong_bytes, BUFFER_BYTES),
                     sizeof wrong_bytes);
    (void)close(file);
    assert_int_equal(etwas_start("damaged", path, &options, &session), ERROR_FILE_CORRUPT);
}

/* However many there are: a data buffer with clock snapshots would be one more. */
static void readings_of_the_clocks_stay_in_buffer_0(void **state)
{
    enum {
        FLUSHES = 150
    };
    const char *path = folder_path("trace.etl");
    etwas_session_options options = options_of(0, 0);
    etwas_session_counts counts;
    etwas_trace_handle session;

    (void)state;
    options.flusher.no_thread = true;
    etwas_clock_snapshot_interval_ns = 0;
    stay_on_one_processor();
    session = start_session(path, &options);
    for (int flush = 0; flush < FLUSHES; flush++) {
        log_events(session, 1);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    leave_one_processor();
    assert_int_equal(counts.buffers_written, 1 + FLUSHES);
    assert_int_not_equal(own_record_at(path, 0, 0, ETWAS_ETL_CLOCK_SNAPSHOT_TYPE, 0), 0);
    expect_file_is_exact(session, path, &counts);
}

static void snapshots_of_a_recorder_are_compressed(void **state)
{
    const char *path = folder_path("snapshot.etl");
    etwas_session_options options = options_of(EVENT_TRACE_BUFFERING_MODE, 0);
    etwas_trace_handle session;
    off_t last;

    (void)state;
    options.minimum_buffers = 64;
    session = start_session(NULL, &options);
    for (uint32_t round = 0; round < 3; round++) {
        struct readback result;

        log_events(session, 100);
        assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        walk_back(session, path, true, &result);
        assert_int_equal(result.events, (round + 1) * 100);
        assert_int_equal(result.missing + result.wrong, 0);
        read_back(session, path, &result);
        assert_int_equal(result.events, (round + 1) * 100);
        assert_int_equal(result.missing + result.wrong + result.damages, 0);
        assert_true(count_compressed(path, &last) > 0);
    }
    stop_session(session, NULL);
}

static uint32_t writes_left;   /* until one is cut; then the process is killed */
static uint32_t written_parts; /* of CUTS of that one */

enum {
    CUTS = 4,
    CUT_WRITES = 3,
    EVENTS_BEFORE = 300,
};

static long kill_inside_a_write(enum etwas_log_file_call call, size_t bytes)
{
    static bool is_cut;

    if (is_cut) {
        (void)raise(SIGKILL);
    }
    if (call != ETWAS_FILE_WRITE || writes_left == 0 || --writes_left != 0) {
        return (long)bytes;
    }
    is_cut = true;
    return (long)(bytes * written_parts / CUTS);
}

static void log_until_killed(const char *path, uint32_t mode)
{
    etwas_session_options options = options_of(mode, LARGE_KB);
    etwas_trace_handle session = start_session(path, &options);
    const uint32_t wanted = writes_left;

    writes_left = 0;
    log_events(session, EVENTS_BEFORE);
    (void)etwas_flush(session);
    etwas_file_set_failure_hook(kill_inside_a_write);
    writes_left = wanted;
    for (uint32_t round = 0; round < CUT_WRITES; round++) {
        log_events(session, 200);
        (void)etwas_flush(session);
    }
    (void)raise(SIGKILL);
}

/*
 * Inside any write: what a flush returned for is there, and an end in the midst of a buffer is no
 * damage.
 */
static void a_file_of_a_process_that_was_killed_is_read_up_to_its_end(void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_FILE_MODE_PREALLOCATE};
    const char *path = folder_path("trace.etl");

    (void)state;
    for (uint32_t number = 0; number < 2 * CUT_WRITES * CUTS; number++) {
        struct readback result;
        int status;
        pid_t child;

        writes_left = 1 + number / 2 / CUTS;
        written_parts = number / 2 % CUTS;
        child = fork();
        if (child == 0) {
            log_until_killed(path, modes[number % 2]);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        read_back(0, path, &result);
        assert_true(result.unfinished);
        if (result.damages != 0) {
            fail_msg("write %u of mode 0x%x, cut after %u of %u, has %u damages",
                     1 + number / 2 / CUTS, modes[number % 2], number / 2 % CUTS, CUTS,
                     (uint32_t)result.damages);
        }
        assert_true(result.wrong >= EVENTS_BEFORE);
    }
}

static void what_it_does_not_go_together_with_is_refused(void **state)
{
    etwas_session_options options = options_of(EVENT_TRACE_FILE_MODE_CIRCULAR, LIMIT_KB);
    etwas_trace_handle session;

    (void)state;
    assert_int_equal(etwas_start("circular", folder_path("trace.etl"), &options, &session),
                     ERROR_NOT_SUPPORTED);
    options = options_of(EVENT_TRACE_REAL_TIME_MODE, 0);
    assert_int_equal(etwas_start("no file", NULL, &options, &session), ERROR_BAD_PATHNAME);
    assert_int_not_equal(access(folder_path("trace.etl"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(writers_of_all_sizes_fill_a_file_that_holds_every_event_once),
        FOLDER_TEST(the_file_is_smaller_than_what_is_in_it),
        FOLDER_TEST(a_buffer_that_does_not_get_smaller_is_stored_as_it_is),
        FOLDER_TEST(a_file_of_a_size_is_full_when_a_buffer_might_not_fit),
        FOLDER_TEST(space_set_aside_is_no_damage_and_goes_at_the_end),
        cmocka_unit_test_setup_teardown(of_a_torn_write_nothing_is_left_that_looks_like_a_buffer,
                                        folder_setup, teardown),
        FOLDER_TEST(parts_hold_every_event_once),
        FOLDER_TEST(sessions_append_to_a_file_that_is_compressed_too),
        FOLDER_TEST(what_is_torn_at_the_end_goes_when_a_session_appends),
        cmocka_unit_test_setup_teardown(readings_of_the_clocks_stay_in_buffer_0, folder_setup,
                                        teardown),
        FOLDER_TEST(snapshots_of_a_recorder_are_compressed),
        FOLDER_TEST(a_file_of_a_process_that_was_killed_is_read_up_to_its_end),
        FOLDER_TEST(what_it_does_not_go_together_with_is_refused),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
