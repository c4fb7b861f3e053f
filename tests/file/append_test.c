/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * APPEND (R95): a session goes on where another ended, in a file that is as the session is; any
 * other file is refused, and left as it was.
 */
#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_modes.h"
#include "platform/file.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    BUFFER_BYTES = 4096,
    BYTES_A_KB = 1024,
    APPEND = EVENT_TRACE_FILE_MODE_APPEND,
};

static const etwas_session_options append_options = {.log_file_mode = APPEND,
                                                     .clock = ETWAS_CLOCK_SYSTEM_TIME,
                                                     .buffer_size_kb = 4,
                                                     .maximum_buffers = 1024};

static etwas_trace_handle append(const char *path)
{
    return start_session(path, &append_options);
}

/* Logs `events` events with a writer of its own. */
static void log_events(etwas_trace_handle session, uint32_t events)
{
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .events = events + 1, .largest_payload = 200});

    for (uint32_t event = 0; event < events; event++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
}

/* All of one session's events are in the file, beside `others` of other sessions. */
static void expect_all_of(etwas_trace_handle session, const char *path, uint64_t events,
                          uint64_t others)
{
    struct readback result;

    walk_back(session, path, true, &result);
    assert_int_equal(result.events, events);
    assert_int_equal(result.missing, 0);
    assert_int_equal(result.wrong, others);
    read_back(session, path, &result);
    assert_int_equal(result.events, events);
    assert_int_equal(result.missing + result.damages, 0);
    assert_int_equal(result.wrong, others);
    assert_false(result.unfinished);
}

static uint32_t try_to_start(const char *path, const etwas_session_options *options)
{
    etwas_trace_handle session;
    uint32_t code = etwas_start("a session that may not append", path, options, &session);

    if (code == ERROR_SUCCESS) {
        stop_session(session, NULL);
    }
    return code;
}

static int64_t number_of_buffer(const char *path, uint32_t position)
{
    struct etwas_etl_buffer_header header;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    assert_int_equal(pread(file, &header, sizeof header, (off_t)position * BUFFER_BYTES),
                     sizeof header);
    (void)close(file);
    return header.sequence_number;
}

/* ---- appending ------------------------------------------------------------------------------- */

static void sessions_one_after_the_other_make_one_file(void **state)
{
    enum {
        SESSIONS = 4
    };
    const char *path = folder_path("trace.etl");
    etwas_trace_handle sessions[SESSIONS];
    uint64_t total = 0;
    int64_t start = 0;
    int64_t end = 0;

    (void)state;
    for (uint32_t index = 0; index < SESSIONS; index++) {
        uint32_t before = index == 0 ? 1 : (uint32_t)(size_of(path) / BUFFER_BYTES);
        etwas_session_counts counts;

        sessions[index] = append(path);
        assert_int_equal(log_header_of(path).start.end_filetime, 0);
        log_events(sessions[index], 100 * index); /* the first: none */
        stop_session(sessions[index], &counts);
        total += 100 * index;
        assert_int_equal(counts.recorded, 100 * index);
        assert_int_equal(counts.buffers_written, size_of(path) / BUFFER_BYTES);
        for (uint32_t buffer = before; buffer < counts.buffers_written; buffer++) {
            assert_int_equal(number_of_buffer(path, buffer), buffer - before + 1);
        }
        assert_true(log_header_of(path).start.end_filetime > end);
        end = log_header_of(path).start.end_filetime;
        if (index == 0) {
            start = log_header_of(path).start_filetime;
        }
        assert_int_equal(log_header_of(path).start_filetime, start);
        assert_int_equal(log_header_of(path).start.log_file_mode, APPEND);
    }
    for (uint32_t index = 0; index < SESSIONS; index++) {
        expect_all_of(sessions[index], path, 100 * index, total - 100 * index);
    }
}

/* What each session lost is added to what the others did, in 32 bits and in 64. */
static void losses_add_up(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = append_options;
    uint64_t lost = 0;

    (void)state;
    options.maximum_buffers = 1; /* raised to the minimum */
    options.flusher.no_thread = true;
    for (int turn = 0; turn < 3; turn++) {
        etwas_trace_handle session = start_session(path, &options);
        struct writer *writer = writer_new(
            &(struct writer_options){.session = session, .events = 5000, .largest_payload = 200});
        etwas_session_counts counts;

        for (int event = 0; event < 5000; event++) {
            (void)writer_log(writer);
        }
        stop_session(session, &counts);
        assert_true(counts.lost > 0);
        lost += counts.lost;
        assert_int_equal(log_header_of(path).start.events_lost, lost);
        assert_int_equal(totals_of(path).lost_events, lost);
    }
}

/* R90: the limit is that of the whole file. */
static void the_maximum_size_counts_what_was_there(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = append_options;
    etwas_session_counts counts = {0};

    (void)state;
    options.log_file_mode |= EVENT_TRACE_USE_KBYTES_FOR_SIZE;
    options.maximum_file_size = 40;
    options.flusher.no_thread = true;
    for (int turn = 0; turn < 3; turn++) {
        etwas_trace_handle session = start_session(path, &options);

        log_events(session, 90);
        if (etwas_flush(session) == ERROR_SUCCESS && etwas_counts(session, &counts) == 0 &&
            counts.lost_file_full == 0) {
            stop_session(session, &counts);
        } else {
            assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
        }
        assert_true(size_of(path) <= 40 * BYTES_A_KB);
    }
    assert_true(counts.lost_file_full > 0);
    assert_int_equal(log_header_of(path).start.maximum_file_size, 40);
    assert_int_equal(totals_of(path).lost_events, counts.lost);
}

static void an_absent_or_empty_file_is_begun(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_counts counts;

    (void)state;
    for (int empty = 0; empty < 2; empty++) {
        etwas_trace_handle session;

        (void)unlink(path);
        if (empty) {
            (void)close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666));
        }
        session = append(path);
        log_events(session, 10);
        stop_session(session, &counts);
        expect_file_is_exact(session, path, &counts);
    }
}

/* A file whose writer died: what is whole in it stays, what is behind that goes. */
static void an_unfinished_file_is_cut_to_its_last_whole_buffer(void **state)
{
    static const uint32_t modes[] = {APPEND, APPEND | EVENT_TRACE_FILE_MODE_PREALLOCATE};

    (void)state;
    for (size_t with_space = 0; with_space < 2; with_space++) {
        for (size_t then_with_space = 0; then_with_space < 2; then_with_space++) {
            const char *path = folder_path("trace.etl");
            const char *copy = folder_path("copy.etl");
            etwas_session_options options = append_options;
            etwas_trace_handle died;
            etwas_trace_handle session;
            etwas_session_counts counts;
            char command[1200];

            (void)unlink(path);
            options.maximum_file_size = 1;
            options.log_file_mode = modes[with_space];
            died = start_session(path, &options);
            log_events(died, 100);
            assert_int_equal(etwas_flush(died), ERROR_SUCCESS);
            (void)snprintf(command, sizeof command, "cp '%s' '%s' && %s '%s'", path, copy,
                           with_space ? ":" : "printf torn >>", copy);
            assert_int_equal(system(command), 0);
            stop_session(died, NULL);
            options.log_file_mode = modes[then_with_space];
            session = start_session(copy, &options);
            log_events(session, 50);
            stop_session(session, &counts);
            assert_int_equal(size_of(copy), (off_t)counts.buffers_written * BUFFER_BYTES);
            expect_all_of(died, copy, 100, 50);
            expect_all_of(session, copy, 50, 100);
        }
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t count;
};

static struct bytes content_of(const char *path)
{
    struct bytes bytes = {.count = (size_t)size_of(path)};
    int file = open(path, O_RDONLY | O_CLOEXEC);

    bytes.data = malloc(bytes.count + 1);
    assert_non_null(bytes.data);
    assert_int_equal(read(file, bytes.data, bytes.count), bytes.count);
    (void)close(file);
    return bytes;
}

static void put(const char *path, const void *data, size_t count)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    assert_true(file >= 0);
    assert_int_equal(write(file, data, count), count);
    assert_int_equal(close(file), 0);
}

/* Starting a session with these options is refused, and the file stays as it is. */
static void expect_refused(const char *path, const etwas_session_options *options, uint32_t code)
{
    struct bytes before = content_of(path);
    struct bytes after;

    assert_int_equal(try_to_start(path, options), code);
    after = content_of(path);
    assert_int_equal(after.count, before.count);
    assert_memory_equal(after.data, before.data, before.count);
    free(before.data);
    free(after.data);
}

static void make_file(const char *path, uint32_t clock, uint32_t buffer_size_kb)
{
    etwas_session_options options = {
        .clock = clock, .buffer_size_kb = buffer_size_kb, .maximum_buffers = 1024};
    etwas_trace_handle session = start_session(path, &options);

    log_events(session, 100);
    stop_session(session, NULL);
}

static void a_file_with_another_clock_or_buffer_size_is_refused(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = append_options;

    (void)state;
    make_file(path, ETWAS_CLOCK_QPC, 4);
    expect_refused(path, &append_options, ERROR_INVALID_PARAMETER);
    make_file(path, ETWAS_CLOCK_SYSTEM_TIME, 8);
    expect_refused(path, &append_options, ERROR_INVALID_PARAMETER);
    make_file(path, ETWAS_CLOCK_SYSTEM_TIME, 4);
    options.buffer_size_kb = 8;
    expect_refused(path, &options, ERROR_INVALID_PARAMETER);
    assert_int_equal(try_to_start(path, &append_options), ERROR_SUCCESS);
}

/* R106: ticks of one kind in one file. */
static void a_file_with_another_unit_of_processor_times_is_refused(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = append_options;

    (void)state;
    options.process_times = true;
    make_file(path, ETWAS_CLOCK_SYSTEM_TIME, 4);
    expect_refused(path, &options, ERROR_INVALID_PARAMETER);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(try_to_start(path, &options), ERROR_SUCCESS);
    assert_int_equal(try_to_start(path, &options), ERROR_SUCCESS);
}

/* A change to a good file, and the code it brings. */
struct change {
    size_t offset;
    uint32_t bytes;
    uint64_t value;
    uint32_t code;
};

#define LOG(field)                                                                                 \
    (ETWAS_ETL_LOG_HEADER_FILE_OFFSET + offsetof(struct etwas_etl_log_header64, field))
#define FIRST(field) (BUFFER_BYTES + offsetof(struct etwas_etl_buffer_header, field))

static const struct change changes[] = {
    {LOG(start.number_of_processors), 4, 3000, ERROR_INVALID_PARAMETER},
    {LOG(start.number_of_processors), 4, 0, ERROR_INVALID_PARAMETER},
    {LOG(start.pointer_bytes), 4, 4, ERROR_INVALID_PARAMETER},
    {LOG(start.buffer_bytes), 4, 65536, ERROR_INVALID_PARAMETER},
    {LOG(start.log_file_mode), 4, EVENT_TRACE_COMPRESSED_MODE, ERROR_INVALID_PARAMETER},
    {LOG(start.log_file_mode), 4, EVENT_TRACE_FILE_MODE_CIRCULAR, ERROR_INVALID_PARAMETER},
    {LOG(start.log_file_mode), 4, EVENT_TRACE_FILE_MODE_NEWFILE, ERROR_INVALID_PARAMETER},
    {LOG(start.log_file_mode), 4, EVENT_TRACE_BUFFERING_MODE, ERROR_INVALID_PARAMETER},
    {LOG(start.version) + 2, 1, 2, ERROR_INVALID_PARAMETER},
    {LOG(clock_type), 4, 1, ERROR_INVALID_PARAMETER},
    {offsetof(struct etwas_etl_buffer_header, type), 2, 0, ERROR_FILE_CORRUPT},
    {offsetof(struct etwas_etl_buffer_header, offset), 4, 5000, ERROR_FILE_CORRUPT},
    {offsetof(struct etwas_etl_buffer_header, offset), 4, 72, ERROR_FILE_CORRUPT},
    {offsetof(struct etwas_etl_buffer_header, offset), 4, 0xFFFFFFFF, ERROR_FILE_CORRUPT},
    {ETWAS_ETL_BUFFER_HEADER_BYTES + 4, 2, 0xFFFF, ERROR_FILE_CORRUPT}, /* size of record 1 */
    {ETWAS_ETL_BUFFER_HEADER_BYTES + 4, 2, 0, ERROR_FILE_CORRUPT},
    {ETWAS_ETL_BUFFER_HEADER_BYTES + 2, 2, 0, ERROR_FILE_CORRUPT}, /* its marker */
    {FIRST(buffer_bytes), 4, 0, ERROR_FILE_CORRUPT},
    {FIRST(buffer_bytes), 4, 8192, ERROR_FILE_CORRUPT},
    {FIRST(offset), 4, 4097, ERROR_FILE_CORRUPT},
    {FIRST(offset), 4, 71, ERROR_FILE_CORRUPT},
    {FIRST(sequence_number), 8, 0, ERROR_FILE_CORRUPT},
    {FIRST(sequence_number), 8, 1000, ERROR_FILE_CORRUPT},
    {FIRST(sequence_number), 8, UINT64_MAX, ERROR_FILE_CORRUPT},
    {FIRST(processor), 2, 0x7FF, ERROR_FILE_CORRUPT},
    {FIRST(flags), 2, 0x60, ERROR_FILE_CORRUPT},
    {FIRST(type), 2, 4, ERROR_FILE_CORRUPT},
    {FIRST(state), 4, 0, ERROR_FILE_CORRUPT},
};

/* Each field by itself; and wherever the file is cut before its first data buffer. */
static void a_damaged_or_different_file_is_refused_and_left_alone(void **state)
{
    const char *path = folder_path("trace.etl");
    const char *changed = folder_path("changed.etl");
    struct bytes good;

    (void)state;
    make_file(path, ETWAS_CLOCK_SYSTEM_TIME, 4);
    good = content_of(path);
    assert_true(good.count > 3 * (size_t)BUFFER_BYTES);
    for (size_t index = 0; index < sizeof changes / sizeof changes[0]; index++) {
        const struct change *change = &changes[index];
        uint64_t before = 0;

        memcpy(&before, good.data + change->offset, change->bytes);
        memcpy(good.data + change->offset, &change->value, change->bytes);
        put(changed, good.data, good.count);
        memcpy(good.data + change->offset, &before, change->bytes);
        expect_refused(changed, &append_options, change->code);
    }
    for (size_t cut = 1; cut < BUFFER_BYTES; cut += 61) {
        put(changed, good.data, cut);
        expect_refused(changed, &append_options, ERROR_FILE_CORRUPT);
    }
    put(changed, good.data, good.count);
    assert_int_equal(try_to_start(changed, &append_options), ERROR_SUCCESS);
    free(good.data);
}

static int teardown(void **state)
{
    etwas_file_set_failure_hook(NULL);
    return folder_teardown(state);
}

static enum etwas_log_file_call full_at;

/* A disk that is full at this call. A part of what is written finds room. */
static long be_full(enum etwas_log_file_call call, size_t bytes)
{
    if (call != full_at) {
        return (long)bytes;
    }
    return bytes > 100 ? 100 : -ENOSPC;
}

/* An empty file may be appended to; where its beginning is refused it stays, and stays empty. */
static void an_empty_file_that_cannot_be_begun_stays_empty(void **state)
{
    static const enum etwas_log_file_call calls[] = {ETWAS_FILE_WRITE, ETWAS_FILE_ALLOCATE};
    const char *path = folder_path("trace.etl");
    etwas_session_options options = append_options;

    (void)state;
    options.log_file_mode |= EVENT_TRACE_FILE_MODE_PREALLOCATE;
    options.maximum_file_size = 1;
    put(path, "", 0);
    for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) {
        full_at = calls[index];
        etwas_file_set_failure_hook(be_full);
        assert_int_equal(try_to_start(path, &options), ERROR_DISK_FULL);
        etwas_file_set_failure_hook(NULL);
        assert_int_equal(size_of(path), 0);
    }
    assert_int_equal(try_to_start(path, &options), ERROR_SUCCESS);
}

/* R18: a file that another session writes. */
static void a_file_in_use_is_refused(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = append(path);

    (void)state;
    assert_int_equal(try_to_start(path, &append_options), ERROR_BAD_PATHNAME);
    stop_session(session, NULL);
}

/* As other writers, and older ones, leave it. */
static void a_file_without_totals_gets_them(void **state)
{
    const char *path = folder_path("trace.etl");
    struct etwas_etl_buffer_header header;
    struct bytes bytes;
    uint32_t end;
    etwas_trace_handle session;

    (void)state;
    make_file(path, ETWAS_CLOCK_SYSTEM_TIME, 4);
    bytes = content_of(path);
    memcpy(&header, bytes.data, sizeof header);
    end = header.offset;
    header.offset = own_record_at(path, 0, 0, ETWAS_ETL_TOTALS_TYPE, 0);
    header.saved_offset = header.current_offset = header.offset;
    memcpy(bytes.data, &header, sizeof header);
    memset(bytes.data + header.offset, 0xFF, end - header.offset);
    put(path, bytes.data, bytes.count);
    free(bytes.data);
    session = append(path);
    log_events(session, 20);
    stop_session(session, NULL);
    assert_int_equal(own_record_at(path, 0, 0, ETWAS_ETL_TOTALS_TYPE, 0), header.offset);
    assert_int_equal(totals_of(path).part, 0);
    assert_int_equal(totals_of(path).attempted_events, 20); /* nobody knows those of before */
    expect_all_of(session, path, 20, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(sessions_one_after_the_other_make_one_file),
        FOLDER_TEST(losses_add_up),
        FOLDER_TEST(the_maximum_size_counts_what_was_there),
        FOLDER_TEST(an_absent_or_empty_file_is_begun),
        FOLDER_TEST(an_unfinished_file_is_cut_to_its_last_whole_buffer),
        FOLDER_TEST(a_file_with_another_clock_or_buffer_size_is_refused),
        FOLDER_TEST(a_file_with_another_unit_of_processor_times_is_refused),
        FOLDER_TEST(a_damaged_or_different_file_is_refused_and_left_alone),
        cmocka_unit_test_setup_teardown(an_empty_file_that_cannot_be_begun_stays_empty,
                                        folder_setup, teardown),
        FOLDER_TEST(a_file_in_use_is_refused),
        FOLDER_TEST(a_file_without_totals_gets_them),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
