/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * ControlTrace and its short forms: which session is meant, what comes back, QUERY and FLUSH (R1,
 * R8, R10, R20, R73, R80, R85, R138–R140).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "session/fixture.h"
#include "session/session.h"
#include "support/writer.h"

static uint32_t control(etwas_trace_handle session, const char *name, struct block *block,
                        uint32_t code)
{
    return ControlTraceA(session, name, &block->properties, code);
}

static void the_name_wins_over_the_handle_and_a_handle_must_be_one(void **state)
{
    static const etwas_trace_handle wrong[] = {73,         0xFF,       0x100,
                                               0xFFFFFFFF, UINT64_MAX, UINT64_C(1) << 62};
    struct block block;
    etwas_trace_handle one;
    etwas_trace_handle two;

    (void)state;
    prepare_block(&block, folder_path("1.etl"));
    one = start_block("one", &block);
    prepare_block(&block, folder_path("2.etl"));
    two = start_block("two", &block);

    prepare_block(&block, "");
    assert_int_equal(control(one, "TWO", &block, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_string_equal(block.session_name, "two");
    assert_true(block.properties.Wnode.HistoricalContext == two);
    assert_int_equal(control(one, "three", &block, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(control(0, NULL, &block, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    assert_int_equal(control(one, "", &block, EVENT_TRACE_CONTROL_QUERY), ERROR_INVALID_PARAMETER);
    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        assert_int_equal(control(wrong[index], NULL, &block, EVENT_TRACE_CONTROL_QUERY),
                         ERROR_INVALID_PARAMETER);
    }
    /* A handle of a later session in this entry: it may come to be. */
    assert_int_equal(control(one + 0x100, NULL, &block, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(ControlTraceA(one, NULL, NULL, EVENT_TRACE_CONTROL_STOP),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(log_number(one, 1), ERROR_SUCCESS);
    assert_int_equal(control(0, "One", &block, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    assert_string_equal(block.session_name, "one");
    assert_int_equal(log_number(one, 1), ERROR_INVALID_HANDLE);
    assert_int_equal(log_number(two, 1), ERROR_SUCCESS);
    stop_session(two, NULL);
}

static void control_codes_that_are_unknown_change_nothing(void **state)
{
    static const struct {
        uint32_t control;
        uint32_t code;
    } cases[] = {
        {6, ERROR_INVALID_PARAMETER},
        {99, ERROR_INVALID_PARAMETER},
        {UINT32_MAX, ERROR_INVALID_PARAMETER},
    };
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        struct block copy;

        prepare_block(&block, "");
        copy = block;
        assert_int_equal(control(session, NULL, &block, cases[index].control), cases[index].code);
        assert_memory_equal(&block, &copy, sizeof copy);
    }
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
}

/* A bad block stops nothing (R1, R8, R21). */
static void a_bad_block_is_refused_before_anything_is_done(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    struct block block;

    (void)state;
    for (uint32_t code = EVENT_TRACE_CONTROL_QUERY; code <= EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME;
         code++) {
        prepare_block(&block, NULL);
        block.properties.Wnode.BufferSize = 119;
        assert_int_equal(control(session, NULL, &block, code), ERROR_BAD_LENGTH);
        prepare_block(&block, NULL);
        block.properties.LoggerNameOffset = 8;
        assert_int_equal(control(session, NULL, &block, code), ERROR_INVALID_PARAMETER);
        prepare_block(&block, NULL);
        block.properties.LogFileNameOffset = sizeof block;
        assert_int_equal(control(session, NULL, &block, code), ERROR_INVALID_PARAMETER);
        prepare_block(&block, NULL);
        block.properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
        assert_int_equal(control(session, NULL, &block, code), ERROR_INVALID_PARAMETER);
    }
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
}

/*
 * What the documented table of control codes asks for on input: the block's size and the offsets.
 */
static void query_flush_and_stop_need_only_sizes_and_offsets(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    static const uint32_t codes[] = {EVENT_TRACE_CONTROL_QUERY, EVENT_TRACE_CONTROL_FLUSH,
                                     EVENT_TRACE_CONTROL_STOP};

    (void)state;
    for (size_t index = 0; index < sizeof codes / sizeof codes[0]; index++) {
        struct block block;

        prepare_block(&block, "");
        block.properties.Wnode.Flags = 0;
        assert_int_equal(control(session, NULL, &block, codes[index]), ERROR_SUCCESS);
        assert_string_equal(block.file_name, folder_path("f.etl"));
    }
}

static void r139_query_returns_what_the_session_is(void **state)
{
    struct block started;
    struct block block;
    etwas_trace_handle session;
    int64_t before = etwas_clock_read(ETWAS_CLOCK_SYSTEM_TIME);

    (void)state;
    prepare_block(&started, folder_path("f.etl"));
    started.properties.Wnode.Guid = control_guid;
    started.properties.Wnode.ClientContext = ETWAS_CLOCK_SYSTEM_TIME;
    started.properties.BufferSize = 8;
    started.properties.MaximumFileSize = 3;
    started.properties.FlushTimer = 60;
    session = start_block("Whole Session", &started);
    prepare_block(&block, "");
    assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_string_equal(block.session_name, "Whole Session");
    assert_string_equal(block.file_name, folder_path("f.etl"));
    assert_memory_equal(&block.properties.Wnode.Guid, &control_guid, sizeof control_guid);
    assert_true(block.properties.Wnode.HistoricalContext == session);
    assert_true(block.properties.Wnode.TimeStamp.QuadPart >= before);
    assert_int_equal(block.properties.Wnode.ClientContext, ETWAS_CLOCK_SYSTEM_TIME);
    assert_int_equal(block.properties.Wnode.BufferSize, sizeof block);
    assert_int_equal(block.properties.MaximumFileSize, 3);
    assert_int_equal(block.properties.FlushTimer, 60);
    assert_int_equal(block.properties.EnableFlags, 0);
    assert_int_equal(block.properties.EventsLost, 0);
    assert_int_equal(block.properties.BuffersWritten, 1);
    assert_int_equal(block.properties.LogBuffersLost, 0);
    assert_int_equal(block.properties.RealTimeBuffersLost, 0);
    assert_int_equal(block.properties.FreeBuffers, block.properties.NumberOfBuffers);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_QUERY), ERROR_SUCCESS);
    assert_int_equal(block.properties.FreeBuffers, block.properties.NumberOfBuffers - 1);
    stop_session(session, NULL);
}

/* The flusher is a thread of this process, with the name that was asked for. */
static void r139_the_logger_thread_id_names_a_real_thread(void **state)
{
    const etwas_session_options options = {.flusher.name = "a name of more than 15 bytes"};
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle named = start_session(folder_path("g.etl"), &options);
    const struct {
        etwas_trace_handle session;
        const char *name;
    } cases[] = {{session, "etwas-flush\n"}, {named, "a name of more \n"}};

    (void)state;
    for (size_t index = 0; index < 2; index++) {
        EVENT_TRACE_PROPERTIES properties = query_session(cases[index].session);
        char path[64];
        char comm[32] = {0};
        FILE *file;

        (void)snprintf(path, sizeof path, "/proc/self/task/%u/comm",
                       (unsigned)(uintptr_t)properties.LoggerThreadId);
        file = fopen(path, "re");
        assert_non_null(file);
        assert_non_null(fgets(comm, sizeof comm, file));
        (void)fclose(file);
        assert_string_equal(comm, cases[index].name);
    }
    stop_session(session, NULL);
    stop_session(named, NULL);
}

/* R140, for every size of the two areas around what the names need, in both texts. */
static void r140_a_name_that_does_not_fit_is_more_data_and_the_numbers_are_valid(void **state)
{
    static const char name[] = "A name";
    const char *path = folder_path("file.etl");
    etwas_trace_handle session = 0;

    (void)state;
    assert_int_equal(etwas_start(name, path, NULL, &session), ERROR_SUCCESS);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    for (uint32_t room = 0; room < 2 * sizeof name + 2; room++) {
        struct block block;
        bool fits = room >= sizeof name;
        bool fits_wide = room >= 2 * sizeof name;
        char *names = (char *)&block;

        /* The session's name last, with `room` bytes to the end. */
        prepare_block(&block, NULL);
        block.properties.Wnode.BufferSize = (uint32_t)(offsetof(struct block, file_name) + room);
        block.properties.LoggerNameOffset = offsetof(struct block, file_name);
        if (room == 0) {
            assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_QUERY),
                             ERROR_INVALID_PARAMETER);
            continue;
        }
        memset(block.file_name, 0x55, sizeof block.file_name);
        assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_QUERY),
                         fits ? ERROR_SUCCESS : ERROR_MORE_DATA);
        assert_int_equal(block.properties.BufferSize, 64);
        assert_int_equal(block.properties.BuffersWritten, 1);
        assert_true(block.properties.Wnode.HistoricalContext == session);
        if (fits) {
            assert_string_equal(block.file_name, name);
        }
        assert_int_equal(names[block.properties.Wnode.BufferSize], 0x55);
        memset(block.file_name, 0x55, sizeof block.file_name);
        assert_int_equal(QueryTraceW(session, NULL, &block.properties),
                         fits_wide ? ERROR_SUCCESS : ERROR_MORE_DATA);
        assert_int_equal(names[block.properties.Wnode.BufferSize], 0x55);

        /*
         * The session's name first, with the other area `room` bytes behind it; the file's name
         * fits.
         */
        prepare_block(&block, "");
        block.properties.LoggerNameOffset = block.properties.LogFileNameOffset - room;
        assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_QUERY),
                         fits ? ERROR_SUCCESS : ERROR_MORE_DATA);
        assert_string_equal(block.file_name, path);
    }
    {
        struct block block;

        /* The file's name. STOP is done all the same. */
        prepare_block(&block, "");
        block.properties.Wnode.BufferSize =
            (uint32_t)(offsetof(struct block, file_name) + strlen(path));
        assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_QUERY),
                         ERROR_MORE_DATA);
        assert_string_equal(block.session_name, name);
        assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_STOP), ERROR_MORE_DATA);
        assert_int_equal(block.properties.BuffersWritten, 2);
        assert_int_equal(control(session, NULL, &block, EVENT_TRACE_CONTROL_QUERY),
                         ERROR_WMI_INSTANCE_NOT_FOUND);
    }
    assert_int_equal(count_events(path), 1);
}

/* Both offsets 0: the caller wants no names. */
static void r140_without_offsets_no_names_are_copied(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    EVENT_TRACE_PROPERTIES properties = {.Wnode.BufferSize = sizeof properties};

    (void)state;
    properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    assert_int_equal(QueryTraceA(session, NULL, &properties), ERROR_SUCCESS);
    assert_int_equal(properties.BufferSize, 64);
    assert_int_equal(StopTraceW(session, NULL, &properties), ERROR_SUCCESS);
    assert_int_equal(properties.BuffersWritten, 1);
}

/*
 * R80, R85: what FLUSH returns counts what it wrote; the short forms are the same calls. Where
 * writers run restartable sequences, their buffer is written as far as it is full and stays theirs;
 * a shared slot gets another with its next event.
 */
static void r85_flush_writes_what_is_recorded_and_returns_the_numbers_after_it(void **state)
{
    const char *path = folder_path("f.etl");
    etwas_trace_handle session = start_session(path, NULL);
    uint32_t in_use = sessions_have_sequences() ? 1 : 0;
    struct block block;

    (void)state;
    stay_on_one_processor();
    for (uint32_t round = 1; round <= 3; round++) {
        uint32_t before = query_session(session).BuffersWritten;

        assert_int_equal(log_number(session, round), ERROR_SUCCESS);
        assert_int_equal(query_session(session).BuffersWritten, before);
        prepare_block(&block, "");
        assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_int_equal(block.properties.BuffersWritten, before + 1);
        assert_int_equal(block.properties.FreeBuffers, block.properties.NumberOfBuffers - in_use);
        assert_int_equal(count_events(path), round);
        /* If there is nothing to write it writes nothing. */
        assert_int_equal(FlushTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_int_equal(block.properties.BuffersWritten, before + 1);
    }
    leave_one_processor();
    stop_session(session, NULL);
    assert_int_equal(count_events(path), 3);
    assert_int_equal(etwas_flush(session), ERROR_INVALID_HANDLE);
}

/* R73: a snapshot on demand, as often as wanted; logging goes on and nothing is consumed. */
static void r73_flush_without_a_name_writes_the_file_named_at_the_start(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    etwas_trace_handle session = start_session(folder_path("first.etl"), &options);
    struct block block;

    (void)state;
    for (uint64_t number = 0; number < 2; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        prepare_block(&block, number == 0 ? NULL : ""); /* no area, and an empty one */
        assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_int_equal(count_events(folder_path("first.etl")), number + 1);
    }
    stop_session(session, NULL);
}

static void r73_flush_of_a_buffering_session_writes_the_file_named_in_the_call(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_session(folder_path("used.etl"), NULL);
    struct block block;

    (void)state;
    for (uint64_t number = 0; number < 10; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    prepare_block(&block, folder_path("1.etl"));
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("1.etl")), 10);
    assert_int_equal(log_number(session, 10), ERROR_SUCCESS);
    prepare_block(&block, NULL);
    block.properties.LogFileNameOffset = offsetof(struct block, file_name);
    (void)wide_of(folder_path("2.etl"), (etwas_wchar *)(void *)block.file_name, 1000);
    assert_int_equal(FlushTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("2.etl")), 11);
    assert_int_equal(count_events(folder_path("1.etl")), 10);
    assert_int_equal(etwas_snapshot(session, folder_path("1.etl")), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("1.etl")), 11);

    prepare_block(&block, NULL);
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_BAD_PATHNAME);
    prepare_block(&block, "");
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_BAD_PATHNAME);
    prepare_block(&block, folder_path("used.etl"));
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_BAD_PATHNAME);
    prepare_block(&block, folder_path("no/such.etl"));
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_PATH_NOT_FOUND);
    assert_int_equal(etwas_snapshot(session, NULL), ERROR_BAD_PATHNAME);
    assert_int_equal(etwas_snapshot(other, folder_path("3.etl")), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_flush(session), ERROR_NOT_SUPPORTED);
    assert_int_equal(counts_of(session).recorded, 11);
    stop_session(session, NULL);
    stop_session(other, NULL);
    assert_int_equal(etwas_snapshot(session, folder_path("3.etl")), ERROR_INVALID_HANDLE);
    assert_int_not_equal(access(folder_path("3.etl"), F_OK), 0);
}

/*
 * R139 at every QUERY, while writers write and the flusher flushes: sums that hold at any moment.
 */
static void r139_query_tells_the_truth_while_writers_write(void **state)
{
    enum {
        WRITERS = 4,
        QUERIES = 300
    };
    etwas_session_options options = {.buffer_size_kb = 4, .maximum_buffers = 16};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    const struct writer_options writing = {.session = session, .largest_payload = 200};
    struct writers writers;
    EVENT_TRACE_PROPERTIES last = query_session(session);
    uint64_t attempted = 0;
    etwas_session_counts counts;

    (void)state;
    writers_start(&writers, WRITERS, &writing);
    for (int query = 0; query < QUERIES; query++) {
        EVENT_TRACE_PROPERTIES now = query_session(session);
        uint64_t sum;

        assert_true(now.NumberOfBuffers >= last.NumberOfBuffers);
        assert_true(now.NumberOfBuffers <= now.MaximumBuffers);
        assert_true(now.NumberOfBuffers >= now.MinimumBuffers);
        assert_true(now.FreeBuffers <= now.NumberOfBuffers);
        assert_true(now.EventsLost >= last.EventsLost);
        assert_true(now.BuffersWritten >= last.BuffersWritten);
        assert_int_equal(now.LogBuffersLost, 0);
        assert_ptr_equal(now.LoggerThreadId, last.LoggerThreadId);
        assert_true(now.Wnode.TimeStamp.QuadPart >= last.Wnode.TimeStamp.QuadPart);
        last = now;
        counts = counts_of(session);
        sum = counts.recorded + counts.overwritten + counts.lost;
        assert_true(sum >= attempted);
        attempted = sum;
        if (query % 50 == 49) {
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
    }
    writers_end(&writers);
    writers_join(&writers);
    counts = counts_of(session);
    expect_exact_account(session, &counts);
    assert_int_equal(query_session(session).EventsLost, counts.lost);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
}

static uint32_t writes_refused;

static long refuse_writes(enum etwas_log_file_call call, size_t bytes)
{
    if (call == ETWAS_FILE_WRITE && writes_refused != 0) {
        return -5; /* EIO */
    }
    return (long)bytes;
}

/* R139: a buffer that cannot be written is LogBuffersLost, its events are EventsLost. */
static void r139_buffers_that_cannot_be_written_are_counted(void **state)
{
    const etwas_session_options options = {.flusher.no_thread = true};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    struct block block;
    struct events events;
    EVENT_TRACE_PROPERTIES properties;

    (void)state;
    for (uint64_t number = 0; number < 7; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    writes_refused = 1;
    etwas_file_set_failure_hook(refuse_writes);
    prepare_block(&block, "");
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_WRITE_FAULT);
    writes_refused = 0;
    etwas_file_set_failure_hook(NULL);
    properties = query_session(session);
    assert_int_equal(properties.EventsLost, 7);
    assert_true(properties.LogBuffersLost >= 1);
    assert_int_equal(properties.BuffersWritten, 1);
    assert_int_equal(log_number(session, 7), ERROR_SUCCESS);
    stop_session(session, NULL);
    read_events(folder_path("f.etl"), 0, &events);
    assert_int_equal(events.count, 1);
    assert_int_equal(number_of(&events.items[0]), 7);
    assert_int_equal(events.header.EventsLost, 7);
    assert_int_equal(events.header.BuffersLost, properties.LogBuffersLost);
    free_events(&events);
}

static long sync_refusal;

static long refuse_sync(enum etwas_log_file_call call, size_t bytes)
{
    return call == ETWAS_FILE_SYNC && sync_refusal != 0 ? sync_refusal : (long)bytes;
}

/*
 * R81: what FLUSH cannot make durable it says; the events are in the file, and the next one tries
 * again.
 */
static void r81_flush_says_that_the_system_refused_to_make_the_file_durable(void **state)
{
    static const struct {
        long refusal;
        uint32_t code;
    } cases[] = {{-5, ERROR_WRITE_FAULT}, {-28, ERROR_DISK_FULL}}; /* EIO, ENOSPC */
    const etwas_session_options options = {.flusher.no_thread = true};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    struct block block;

    (void)state;
    for (uint64_t index = 0; index < 2; index++) {
        assert_int_equal(log_number(session, index), ERROR_SUCCESS);
        sync_refusal = cases[index].refusal;
        etwas_file_set_failure_hook(refuse_sync);
        prepare_block(&block, "");
        assert_int_equal(FlushTraceA(session, NULL, &block.properties), cases[index].code);
        sync_refusal = 0;
        etwas_file_set_failure_hook(NULL);
        assert_int_equal(counts_of(session).sync_errors, index + 1);
        assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_int_equal(block.properties.EventsLost, 0);
    }
    assert_int_equal(counts_of(session).sync_errors, 2);
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 2);
}

/* What all tests here are watched for (support/file_calls.c): the watch would say so. */
static void a_file_that_is_touched_under_the_control_lock_ends_a_test(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        (void)freopen("/dev/null", "w", stderr);
        etwas_control_lock();
        (void)close(-1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    etwas_control_lock();
    etwas_control_unlock();
    assert_int_equal(close(-1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_file_that_is_touched_under_the_control_lock_ends_a_test),
        FOLDER_TEST(the_name_wins_over_the_handle_and_a_handle_must_be_one),
        FOLDER_TEST(control_codes_that_are_unknown_change_nothing),
        FOLDER_TEST(a_bad_block_is_refused_before_anything_is_done),
        FOLDER_TEST(query_flush_and_stop_need_only_sizes_and_offsets),
        FOLDER_TEST(r139_query_returns_what_the_session_is),
        FOLDER_TEST(r139_the_logger_thread_id_names_a_real_thread),
        FOLDER_TEST(r140_a_name_that_does_not_fit_is_more_data_and_the_numbers_are_valid),
        FOLDER_TEST(r140_without_offsets_no_names_are_copied),
        FOLDER_TEST(r85_flush_writes_what_is_recorded_and_returns_the_numbers_after_it),
        FOLDER_TEST(r73_flush_without_a_name_writes_the_file_named_at_the_start),
        FOLDER_TEST(r73_flush_of_a_buffering_session_writes_the_file_named_in_the_call),
        FOLDER_TEST(r139_query_tells_the_truth_while_writers_write),
        FOLDER_TEST(r139_buffers_that_cannot_be_written_are_counted),
        FOLDER_TEST(r81_flush_says_that_the_system_refused_to_make_the_file_durable),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
