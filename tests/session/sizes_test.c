/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Buffers, files and how many sessions (R46, R60–R73, R76, R81, R83, R90, R92, R93).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "platform/processor.h"
#include "session/fixture.h"

enum {
    DEFAULT_KB = 64,
    KB_OF_DEFAULT_POOL = 64 * 1024,
    SESSIONS = 64
};

static uint32_t least_buffers(void)
{
    return 2 * etwas_processor_present();
}

/*
 * In buffering mode the stream of threads without restartable sequences keeps what it took, so it
 * counts as a processor where the session has such a stream.
 */
static uint32_t least_buffers_of_recorder(uint32_t protocol)
{
    return least_buffers() + (protocol == ETWAS_PROTOCOL_RSEQ ? 2 : 0);
}

static uint32_t in_whole_pages(uint32_t kb)
{
    uint32_t page_kb = (uint32_t)sysconf(_SC_PAGESIZE) / 1024;

    return (kb + page_kb - 1) / page_kb * page_kb;
}

/* Starts with a block, stops again, and leaves in the block what StartTrace reported. */
static void start_and_stop(struct block *block)
{
    struct block query;
    etwas_trace_handle session = start_block("sizes", block);

    /* R69: a QUERY says the same. */
    prepare_block(&query, "");
    assert_int_equal(QueryTraceA(session, NULL, &query.properties), ERROR_SUCCESS);
    assert_int_equal(query.properties.BufferSize, block->properties.BufferSize);
    assert_int_equal(query.properties.MinimumBuffers, block->properties.MinimumBuffers);
    assert_int_equal(query.properties.MaximumBuffers, block->properties.MaximumBuffers);
    assert_int_equal(query.properties.MaximumFileSize, block->properties.MaximumFileSize);
    assert_int_equal(query.properties.FlushTimer, block->properties.FlushTimer);
    assert_int_equal(query.properties.LogFileMode, block->properties.LogFileMode);
    assert_int_equal(query.properties.Wnode.ClientContext, block->properties.Wnode.ClientContext);
    stop_session(session, NULL);
}

static void r60_and_r61_the_buffer_size_is_adjusted_and_reported(void **state)
{
    static const uint32_t asked[][2] = {{0, DEFAULT_KB}, {1, 4},         {3, 4},
                                        {4, 4},          {5, 5},         {63, 63},
                                        {64, 64},        {1000, 1000},   {16383, 16383},
                                        {16384, 16384},  {16385, 16384}, {UINT32_MAX, 16384}};

    (void)state;
    for (size_t index = 0; index < sizeof asked / sizeof asked[0]; index++) {
        struct block block;
        struct stat status;

        prepare_block(&block, folder_path("f.etl"));
        block.properties.BufferSize = asked[index][0];
        start_and_stop(&block);
        assert_int_equal(block.properties.BufferSize, in_whole_pages(asked[index][1]));
        assert_int_equal(stat(folder_path("f.etl"), &status), 0);
        assert_int_equal(status.st_size, block.properties.BufferSize * 1024);
    }
}

/* Buffer 0 holds both names: with the longest ones 4 KB are not enough. */
static void r61_a_buffer_holds_at_least_the_log_file_header(void **state)
{
    char name[1025];
    struct block block;

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[1024] = 0;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.BufferSize = 4;
    stop_session(start_block("short", &block), NULL);
    assert_int_equal(block.properties.BufferSize, in_whole_pages(4));
    memset(block.session_name, 0, sizeof block.session_name);
    block.properties.BufferSize = 2;
    stop_session(start_block(name, &block), NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 0);
}

static void r66_to_r69_the_buffer_counts_are_adjusted_and_reserved(void **state)
{
    uint32_t least = least_buffers();
    uint32_t all = KB_OF_DEFAULT_POOL / DEFAULT_KB;
    const uint32_t cases[][4] = {
        /* asked minimum and maximum, reported minimum and maximum */
        {0, 0, least, all > least + 22 ? all : least + 22},
        {1, 1, least, least},
        {least, least + 1, least, least + 1},
        {least + 5, 3, least + 5, least + 5},
        {all + 10, 0, all + 10, all + 32},
        {30, 100, least > 30 ? least : 30, least > 100 ? least : 100},
    };

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        struct block block;
        etwas_trace_handle session;

        prepare_block(&block, folder_path("f.etl"));
        block.properties.MinimumBuffers = cases[index][0];
        block.properties.MaximumBuffers = cases[index][1];
        session = start_block("counts", &block);
        assert_int_equal(block.properties.MinimumBuffers, cases[index][2]);
        assert_int_equal(block.properties.MaximumBuffers, cases[index][3]);
        assert_true(block.properties.NumberOfBuffers >= cases[index][2]);
        assert_true(block.properties.NumberOfBuffers <= cases[index][3]);
        assert_int_equal(block.properties.FreeBuffers, block.properties.NumberOfBuffers);
        stop_session(session, NULL);
    }
}

/* R67 and R68: what the machine cannot have is reduced, not refused. */
static void r67_and_r68_more_buffers_than_memory_are_reduced(void **state)
{
    struct block block;
    uint64_t memory_kb = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;

    (void)state;
    if (FIXTURE_SANITIZER) {
        print_message("skipped: not under a sanitizer, where the whole pool is touched\n");
        skip();
    }
    prepare_block(&block, folder_path("f.etl"));
    block.properties.BufferSize = 16384;
    block.properties.MaximumBuffers = UINT32_MAX;
    start_and_stop(&block);
    assert_true((uint64_t)block.properties.MaximumBuffers * 16384 <= memory_kb / 2 ||
                block.properties.MaximumBuffers == least_buffers());
    assert_true(block.properties.MaximumBuffers >= block.properties.MinimumBuffers);
}

/*
 * R70 and R76, with nobody to write the buffers: the pool grows to its maximum, then events are
 * lost.
 */
static void r70_the_pool_grows_to_its_maximum_and_then_events_are_lost(void **state)
{
    const etwas_session_options options = {
        .buffer_size_kb = 4,
        .maximum_buffers = least_buffers() + 5,
        .flusher.no_thread = true,
    };
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    EVENT_TRACE_PROPERTIES properties = query_session(session);
    etwas_session_counts counts;
    uint64_t good = 0;
    uint32_t code;

    (void)state;
    assert_int_equal(properties.NumberOfBuffers, least_buffers());
    assert_null(properties.LoggerThreadId);
    while ((code = log_number(session, good)) == ERROR_SUCCESS) {
        good++;
    }
    assert_int_equal(code, ERROR_NOT_ENOUGH_MEMORY);
    properties = query_session(session);
    assert_int_equal(properties.NumberOfBuffers, least_buffers() + 5);
    assert_int_equal(properties.NumberOfBuffers, properties.MaximumBuffers);
    assert_int_equal(properties.FreeBuffers, 0);
    assert_int_equal(properties.EventsLost, 1);
    assert_int_equal(properties.LogBuffersLost, 0);
    assert_int_equal(properties.BuffersWritten, 1);
    /* Events are lost until a buffer is free. */
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(log_number(session, good), ERROR_SUCCESS);
    properties = query_session(session);
    /* R71: none is given back. */
    assert_int_equal(properties.NumberOfBuffers, least_buffers() + 5);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, good + 1);
    assert_int_equal(counts.lost, 1);
    assert_int_equal(counts.lost_no_buffer, 1);
    assert_int_equal(count_events(folder_path("f.etl")), good + 1);
}

/*
 * R72, R73, R83: MaximumBuffers and FlushTimer mean nothing, the oldest events give way, no file.
 */
static void r72_buffering_mode_has_its_minimum_of_buffers_and_keeps_the_newest(void **state)
{
    struct belongings before = count_belongings();
    struct block block;
    struct events events;
    etwas_trace_handle session;
    etwas_session_counts counts;
    uint64_t number = 0;
    uint32_t protocol;
    uint32_t least;

    (void)state;
    prepare_block(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    block.properties.BufferSize = 4;
    block.properties.MaximumBuffers = 1000;
    block.properties.FlushTimer = 1;
    session = start_block("recorder", &block);
    assert_int_equal(etwas_session_protocol(session, &protocol), ERROR_SUCCESS);
    least = least_buffers_of_recorder(protocol);
    assert_int_equal(block.properties.MinimumBuffers, least);
    assert_int_equal(block.properties.MaximumBuffers, least);
    assert_int_equal(block.properties.NumberOfBuffers, least);
    for (; number < 100000; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    assert_int_equal(query_session(session).NumberOfBuffers, least);
    assert_int_equal(query_session(session).EventsLost, 0); /* R74 */
    assert_int_equal(query_session(session).BuffersWritten, 0);
    counts = counts_of(session);
    assert_int_equal(counts.recorded + counts.overwritten, number);
    assert_true(counts.overwritten > 0 && counts.recorded > 0);
    assert_int_equal(count_belongings().files, before.files);
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    stop_session(session, NULL);
    read_events(folder_path("s.etl"), 0, &events);
    assert_int_equal(events.count, counts.recorded);
    assert_int_equal(number_of(&events.items[events.count - 1]), number - 1);
    free_events(&events);
}

/* R66, R72 with each protocol that can be. */
static void r72_the_minimum_of_a_recorder_depends_on_its_protocol(void **state)
{
    (void)state;
    for (uint32_t protocol = ETWAS_PROTOCOL_SHARED;
         protocol <= (can_have_sequences() ? ETWAS_PROTOCOL_RSEQ : ETWAS_PROTOCOL_SHARED);
         protocol++) {
        const etwas_session_options options = {
            .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 4, .protocol = protocol};
        etwas_trace_handle session = start_session(NULL, &options);
        EVENT_TRACE_PROPERTIES properties = query_session(session);

        assert_int_equal(properties.MinimumBuffers, least_buffers_of_recorder(protocol));
        assert_int_equal(properties.MaximumBuffers, properties.MinimumBuffers);
        stop_session(session, NULL);
    }
}

static void r81_the_flush_timer_is_in_seconds_and_0_turns_it_off(void **state)
{
    struct block block;
    etwas_trace_handle session;
    uint32_t written;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.FlushTimer = 1;
    session = start_block("timer", &block);
    assert_int_equal(block.properties.FlushTimer, 1);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    /* R80: a buffer that is not empty is written without being full. */
    do {
        (void)usleep(10000);
        written = query_session(session).BuffersWritten;
    } while (written == 1);
    assert_int_equal(written, 2);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
    stop_session(session, NULL);

    prepare_block(&block, folder_path("g.etl"));
    session = start_block("no timer", &block);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    /* Only time can show it: no count of the session says that a pass wrote nothing. */
    (void)usleep(100000);
    assert_int_equal(query_session(session).BuffersWritten, 1);
    /* R80: at stop. */
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("g.etl")), 1);
}

/* R90: in MB; a limit that does not hold the header and one buffer is refused. */
static void r90_and_r93_a_file_that_reaches_its_size_stops_the_session(void **state)
{
    const char *path = folder_path("f.etl");
    struct block block;
    struct stat status;
    struct events events;
    etwas_trace_handle session;
    etwas_session_counts counts;
    uint64_t good = 0;
    uint64_t lost = 0;
    uint32_t code;

    (void)state;
    prepare_block(&block, path);
    block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    block.properties.MaximumFileSize = 1;
    session = start_block("full", &block);
    assert_int_equal(block.properties.MaximumFileSize, 1);
    while ((code = log_number(session, good)) != ERROR_INVALID_HANDLE) {
        assert_true(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
        good += code == ERROR_SUCCESS;
        lost += code != ERROR_SUCCESS;
    }
    /* The gate closes before the file does. */
    do {
        prepare_block(&block, NULL);
        code = QueryTraceA(session, NULL, &block.properties);
    } while (code == ERROR_SUCCESS);
    assert_int_equal(code, ERROR_INVALID_HANDLE);
    assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_INVALID_HANDLE);
    assert_int_equal(QueryTraceA(0, "full", &block.properties), ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(etwas_stop(session, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(log_number(session, 0), ERROR_INVALID_HANDLE);
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, session), ERROR_INVALID_HANDLE);
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_INVALID_HANDLE);
    counts = counts_of(session);
    assert_int_equal(counts.recorded + counts.lost, good + lost);
    assert_int_equal(counts.lost, counts.lost_file_full + counts.lost_no_buffer);
    assert_int_equal(counts.lost_no_buffer, lost);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 1 << 20);
    assert_int_equal(counts.buffers_written, 16);
    read_events(path, 0, &events);
    assert_int_equal(events.count, counts.recorded);
    assert_int_equal(events.header.EventsLost, counts.lost);
    assert_int_equal(events.header.BuffersLost, counts.buffers_lost);
    assert_int_equal(events.header.BuffersWritten, 16);
    assert_int_equal(events.header.MaximumFileSize, 1);
    free_events(&events);
    /* Its name is free again. */
    prepare_block(&block, path);
    block.properties.MaximumFileSize = 1;
    block.properties.BufferSize = 1024;
    assert_int_equal(StartTraceA(&session, "full", &block.properties), ERROR_INVALID_PARAMETER);
    block.properties.BufferSize = 512;
    stop_session(start_block("full", &block), NULL);
}

/* R92 on the file system of "/"; elsewhere only what was asked for must be free. */
static void r92_a_file_size_that_does_not_fit_the_disk_is_refused(void **state)
{
    struct belongings before = count_belongings();
    etwas_session_options options = {.maximum_file_size = UINT32_MAX};
    etwas_trace_handle session = 77;
    struct statvfs system;
    struct stat root;
    struct stat folder;
    uint64_t free_mb;

    (void)state;
    assert_int_equal(etwas_start("huge", folder_path("f.etl"), &options, &session),
                     ERROR_DISK_FULL);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
    assert_int_equal(statvfs(folder_path("."), &system), 0);
    assert_int_equal(stat("/", &root), 0);
    assert_int_equal(stat(folder_path("."), &folder), 0);
    free_mb = (uint64_t)system.f_bavail * system.f_frsize >> 20;
    if (root.st_dev != folder.st_dev || free_mb < 1000 || free_mb > UINT32_MAX) {
        print_message("the reserve of 200 MB is not looked at: the folder is not on /\n");
        return;
    }
    /* Others write to the disk meanwhile: half of the reserve each way is margin. */
    options.maximum_file_size = (uint32_t)free_mb - 100;
    assert_int_equal(etwas_start("huge", folder_path("f.etl"), &options, &session),
                     ERROR_DISK_FULL);
    options.maximum_file_size = (uint32_t)free_mb - 300;
    assert_int_equal(etwas_start("huge", folder_path("f.etl"), &options, &session), ERROR_SUCCESS);
    stop_session(session, NULL);
}

/* R46: 64 at once, each with its own clock, buffers and file; the next is refused. */
static void r46_64_sessions_run_at_once_and_the_65th_is_refused(void **state)
{
    struct belongings before;
    etwas_trace_handle sessions[SESSIONS];
    etwas_trace_handle other = 77;
    char name[32];

    (void)state;
    for (uint32_t index = 0; index < SESSIONS; index++) {
        const etwas_session_options options = {
            .clock = 1 + index % 3,
            .buffer_size_kb = 4 + 4 * (index % 5),
            .minimum_buffers = least_buffers() + index,
            .maximum_buffers = least_buffers() + index,
        };

        (void)snprintf(name, sizeof name, "%u.etl", index);
        sessions[index] = start_session(folder_path(name), &options);
    }
    before = count_belongings();
    assert_int_equal(etwas_start("one more", folder_path("more.etl"), NULL, &other),
                     ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(other, 0);
    assert_nothing_gained(&before);
    /* R192: each handle may be logged to. Session i gets i + 1 events with its own numbers. */
    for (uint32_t index = 0; index < SESSIONS; index++) {
        for (uint32_t number = 0; number <= index; number++) {
            assert_int_equal(log_number(sessions[index], index * 1000 + number), ERROR_SUCCESS);
        }
    }
    for (uint32_t index = 0; index < SESSIONS; index++) {
        EVENT_TRACE_PROPERTIES properties = query_session(sessions[index]);

        assert_int_equal(properties.Wnode.ClientContext, etwas_clock_effective(1 + index % 3));
        assert_int_equal(properties.BufferSize, in_whole_pages(4 + 4 * (index % 5)));
        assert_int_equal(properties.MinimumBuffers, least_buffers() + index);
        assert_int_equal(counts_of(sessions[index]).recorded, index + 1);
    }
    /* One ends, another may start, and nobody else notices. */
    stop_session(sessions[17], NULL);
    other = start_session(folder_path("more.etl"), &small_session);
    for (uint32_t index = 0; index < SESSIONS; index++) {
        if (index != 17) {
            stop_session(sessions[index], NULL);
        }
    }
    stop_session(other, NULL);
    for (uint32_t index = 0; index < SESSIONS; index++) {
        struct events events;

        (void)snprintf(name, sizeof name, "%u.etl", index);
        read_events(folder_path(name), 0, &events);
        assert_int_equal(events.header.ReservedFlags, etwas_clock_effective(1 + index % 3));
        assert_int_equal(events.count, index + 1);
        for (uint32_t number = 0; number <= index; number++) {
            assert_int_equal(number_of(&events.items[number]), index * 1000 + number);
        }
        free_events(&events);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r46_64_sessions_run_at_once_and_the_65th_is_refused),
        FOLDER_TEST(r60_and_r61_the_buffer_size_is_adjusted_and_reported),
        FOLDER_TEST(r61_a_buffer_holds_at_least_the_log_file_header),
        FOLDER_TEST(r66_to_r69_the_buffer_counts_are_adjusted_and_reserved),
        FOLDER_TEST(r67_and_r68_more_buffers_than_memory_are_reduced),
        FOLDER_TEST(r70_the_pool_grows_to_its_maximum_and_then_events_are_lost),
        FOLDER_TEST(r72_buffering_mode_has_its_minimum_of_buffers_and_keeps_the_newest),
        FOLDER_TEST(r72_the_minimum_of_a_recorder_depends_on_its_protocol),
        FOLDER_TEST(r81_the_flush_timer_is_in_seconds_and_0_turns_it_off),
        FOLDER_TEST(r90_and_r93_a_file_that_reaches_its_size_stops_the_session),
        FOLDER_TEST(r92_a_file_size_that_does_not_fit_the_disk_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
