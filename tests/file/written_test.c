/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a session leaves in its file, read by the independent walker and by ProcessTrace. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl/layout.h"
#include "platform/processor.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BYTES_A_KB = 1024
};

static const uint32_t buffer_sizes_kb[] = {4, 8, 64, 1024};

static off_t size_of(const char *path)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

/* Starts, logs `events`, stops, and compares; returns the last counts. */
static etwas_session_counts log_and_compare(const etwas_session_options *options, uint64_t events,
                                            uint32_t largest_payload)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_session(path, options);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .events = events + 1, .largest_payload = largest_payload});
    etwas_session_counts counts;

    for (uint64_t number = 0; number < events; number++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, events);
    assert_int_equal(size_of(path), counts.buffers_written * options->buffer_size_kb * BYTES_A_KB);
    expect_file_is_exact(session, path, &counts);
    return counts;
}

static void every_clock_and_buffer_size_gives_a_file_in_order_with_no_one_and_many_events(
    void **state)
{
    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock++) {
        for (size_t index = 0; index < sizeof buffer_sizes_kb / sizeof buffer_sizes_kb[0];
             index++) {
            etwas_session_options options = {.clock = clock,
                                             .buffer_size_kb = buffer_sizes_kb[index]};

            if (clock != 1 && index != 0) {
                continue; /* where the header goes does not depend on the clock */
            }
            assert_int_equal(log_and_compare(&options, 0, 0).buffers_written, 1);
            assert_int_equal(log_and_compare(&options, 1, 0).buffers_written, 2);
        }
        for (size_t index = 0; index < 3; index++) {
            etwas_session_options options = {.clock = clock,
                                             .buffer_size_kb = buffer_sizes_kb[index]};
            uint32_t largest = buffer_sizes_kb[index] * BYTES_A_KB - 72 - 48 - 1;

            (void)log_and_compare(&options, 500, largest > 65487 ? 65487 : largest);
        }
    }
}

/* R151–R153: the header says which clock it is, and the stamps lie between start and end. */
static void the_file_says_which_clock_it_has(void **state)
{
    (void)state;
    for (uint32_t clock = 0; clock <= 3; clock++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.clock = clock};
        etwas_trace_handle session = start_session(path, &options);
        struct readback result;

        stop_session(session, NULL);
        walk_back(session, path, true, &result);
        assert_int_equal(result.clock, etwas_clock_effective(clock));
    }
}

/*
 * A session with restartable sequences has one stream more, for threads that cannot run them: its
 * number is the number of processors, and readers want it below NumberOfProcessors. How many the
 * computer has is noted beside.
 */
static void the_file_says_how_many_streams_it_may_have(void **state)
{
    uint32_t expected = etwas_processor_count() + (sessions_have_sequences() ? 1 : 0);
    static const uint32_t modes[] = {EVENT_TRACE_FILE_MODE_NONE, EVENT_TRACE_BUFFERING_MODE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const char *path = folder_path("trace.etl");
        bool recorder = modes[index] == EVENT_TRACE_BUFFERING_MODE;
        etwas_session_options options = {.log_file_mode = modes[index]};
        etwas_trace_handle session = start_session(recorder ? NULL : path, &options);
        struct readback result;

        if (recorder) {
            assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        }
        stop_session(session, NULL);
        read_back(session, path, &result);
        assert_int_equal(result.processors, expected);
        assert_int_equal(result.computer_processors, etwas_processor_count());
    }
}

/*
 * Events that fill a buffer to its last byte: the next one needs another, and the file has no
 * padding in between. All on one processor, or the buffers would be shared out.
 */
static void buffers_filled_to_the_last_byte_are_written_as_they_are(void **state)
{
    enum {
        BUFFER_BYTES = 4096,
        ROOM = BUFFER_BYTES - 72,
        HALF = ROOM / 2 / 8 * 8
    };
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 64};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(&(struct writer_options){.session = session, .events = 100});
    struct etwas_etl_buffer_header header;
    etwas_session_counts counts;
    int file;

    (void)state;
    stay_on_one_processor();
    for (int buffer = 0; buffer < 5; buffer++) {
        assert_int_equal(writer_log_bytes(writer, HALF - 48), ERROR_SUCCESS);
        assert_int_equal(writer_log_bytes(writer, ROOM - HALF - 48), ERROR_SUCCESS);
    }
    leave_one_processor();
    stop_session(session, &counts);
    assert_int_equal(counts.buffers_written, 6);
    expect_file_is_exact(session, path, &counts);
    file = open(path, O_RDONLY | O_CLOEXEC);
    for (int buffer = 1; buffer < 6; buffer++) {
        assert_int_equal(pread(file, &header, sizeof header, (off_t)buffer * BUFFER_BYTES),
                         sizeof header);
        assert_int_equal(header.offset, BUFFER_BYTES);
    }
    (void)close(file);
}

/* Also R81: what a flush returned from is in the file, whatever happens to the process then. */
static void an_explicit_flush_writes_everything_recorded_so_far(void **state)
{
    const char *path = folder_path("trace.etl");
    const char *copy = folder_path("copy.etl");
    char command[1200];
    etwas_trace_handle session = start_session(path, NULL);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = 1000, .largest_payload = 200});
    etwas_session_counts counts;
    struct readback result;

    (void)state;
    for (uint64_t logged = 0; logged < 900; logged += 300) {
        for (int index = 0; index < 300; index++) {
            assert_int_equal(writer_log(writer), ERROR_SUCCESS);
        }
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        (void)snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
        assert_int_equal(system(command), 0);
        read_back(session, copy, &result);
        assert_true(result.unfinished);
        assert_int_equal(result.events, logged + 300);
        assert_int_equal(result.wrong + result.missing + result.damages, 0);
        assert_int_equal(result.buffers, query_session(session).BuffersWritten);
    }
    /* Nothing new: nothing is written. */
    counts = counts_of(session);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).buffers_written, counts.buffers_written);
    stop_session(session, &counts);
    expect_file_is_exact(session, path, &counts);
}

static void a_log_file_that_is_removed_or_replaced_while_we_write_harms_nobody(void **state)
{
    const char *path = folder_path("trace.etl");
    const char *moved = folder_path("moved.etl");
    const char *strange = "somebody else's file\n";
    etwas_trace_handle removed = start_session(path, NULL);
    struct writer *lost = writer_new(&(struct writer_options){.session = removed, .events = 1000});
    etwas_trace_handle renamed;
    struct writer *writer;
    etwas_session_counts counts;
    char line[64] = {0};
    FILE *file;

    (void)state;
    assert_int_equal(writer_log(lost), ERROR_SUCCESS);
    assert_int_equal(unlink(path), 0);
    /* The name is free, so another session may have it. */
    renamed = start_session(path, NULL);
    writer = writer_new(
        &(struct writer_options){.session = renamed, .events = 1000, .largest_payload = 99});
    for (int index = 0; index < 500; index++) {
        assert_int_equal(writer_log(lost), ERROR_SUCCESS);
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_flush(removed), ERROR_SUCCESS);
    assert_int_equal(rename(path, moved), 0);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(strange, file) >= 0);
    assert_int_equal(fclose(file), 0);
    stop_session(removed, &counts);
    expect_exact_account(removed, &counts);
    assert_int_equal(counts.recorded, 501);
    stop_session(renamed, &counts);
    expect_file_is_exact(renamed, moved, &counts);
    file = fopen(path, "re");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, strange);
    assert_null(fgets(line, sizeof line, file));
    (void)fclose(file);
}

/* Buffer 0 holds both names: what does not fit there is refused, and nothing is touched. */
static void names_too_long_for_the_header_buffer_are_refused(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                     .buffer_size_kb = 4};
    char session_name[1024 + 1];
    char long_path[1024 + 1];
    etwas_trace_handle session;
    size_t length = strlen(path);

    (void)state;
    memset(session_name, 'n', 1000);
    session_name[1000] = '\0';
    assert_int_equal(etwas_start(session_name, NULL, &options, &session), ERROR_SUCCESS);
    assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
    /* The same file by a long name: 4 KB hold 1,764 characters. */
    memset(long_path, '/', sizeof long_path);
    memcpy(long_path + 1000 - length, path, length + 1);
    assert_int_equal(etwas_snapshot(session, long_path), ERROR_BAD_PATHNAME);
    /* Buffer 0, and one that says which time it covers. */
    assert_int_equal(size_of(path), 2 * 4 * BYTES_A_KB);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_clock_and_buffer_size_gives_a_file_in_order_with_no_one_and_many_events),
        FOLDER_TEST(the_file_says_which_clock_it_has),
        FOLDER_TEST(the_file_says_how_many_streams_it_may_have),
        FOLDER_TEST(buffers_filled_to_the_last_byte_are_written_as_they_are),
        FOLDER_TEST(an_explicit_flush_writes_everything_recorded_so_far),
        FOLDER_TEST(names_too_long_for_the_header_buffer_are_refused),
        FOLDER_TEST(a_log_file_that_is_removed_or_replaced_while_we_write_harms_nobody),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
