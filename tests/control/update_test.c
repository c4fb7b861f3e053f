/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * UPDATE and INCREMENT_FILE: what may change while a session runs, and that a refused change changes
 * nothing (R68, R70–R73, R80, R81, R83, R96, R98, R130–R137, R140).
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session/fixture.h"
#include "support/writer.h"

static uint32_t update(etwas_trace_handle session, struct block *block)
{
    return UpdateTraceA(session, NULL, &block->properties);
}

/* A block that says nothing but what R137 asks for. */
static void prepare_update(struct block *block, const char *file)
{
    prepare_block(block, file);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* What must be the same after a refusal. */
static void expect_unchanged(etwas_trace_handle session, const EVENT_TRACE_PROPERTIES *before)
{
    EVENT_TRACE_PROPERTIES now = query_session(session);

    assert_int_equal(now.FlushTimer, before->FlushTimer);
    assert_int_equal(now.MaximumBuffers, before->MaximumBuffers);
    assert_int_equal(now.LogFileMode, before->LogFileMode);
    assert_int_equal(now.EnableFlags, before->EnableFlags);
    assert_int_equal(now.BuffersWritten, before->BuffersWritten);
    assert_int_equal(now.MaximumFileSize, before->MaximumFileSize);
}

static void expect_name(etwas_trace_handle session, const char *path)
{
    struct block block;

    prepare_block(&block, "");
    assert_int_equal(QueryTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_string_equal(block.file_name, path);
}

static void r132_zeroes_leave_everything_as_it_is(void **state)
{
    const etwas_session_options options = {
        .flush_timer = 60,
        .maximum_buffers = 50,
        .maximum_file_size = 9,
    };
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    EVENT_TRACE_PROPERTIES before = query_session(session);
    EVENT_TRACE_PROPERTIES properties = {.Wnode.BufferSize = sizeof properties};
    struct block block;

    (void)state;
    properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    assert_int_equal(UpdateTraceA(session, NULL, &properties), ERROR_SUCCESS);
    /* The reply is filled as by QUERY. */
    assert_int_equal(properties.FlushTimer, 60);
    assert_int_equal(properties.MaximumBuffers, before.MaximumBuffers);
    assert_true(properties.Wnode.HistoricalContext == session);
    expect_unchanged(session, &before);
    /* The other members of a block are not asked for. */
    prepare_update(&block, NULL);
    block.properties.BufferSize = 4;
    block.properties.MinimumBuffers = 1000;
    block.properties.MaximumFileSize = 1;
    block.properties.AgeLimit = 7;
    block.properties.NumberOfBuffers = 1;
    block.properties.Wnode.ClientContext = 99;
    block.properties.Wnode.Guid = control_guid;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.BufferSize, 64);
    assert_int_equal(block.properties.Wnode.ClientContext, ETWAS_CLOCK_QPC);
    expect_unchanged(session, &before);
    stop_session(session, NULL);
}

/* R136, R137: the flag is needed; R1, R8: the block is checked as for every other call. */
static void r136_the_flag_traced_guid_is_needed(void **state)
{
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    EVENT_TRACE_PROPERTIES before = query_session(session);
    struct block block;

    (void)state;
    prepare_update(&block, NULL);
    block.properties.FlushTimer = 5;
    block.properties.Wnode.Flags = 0;
    assert_int_equal(update(session, &block), ERROR_INVALID_PARAMETER);
    block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block.properties.Wnode.BufferSize = 119;
    assert_int_equal(update(session, &block), ERROR_BAD_LENGTH);
    block.properties.Wnode.BufferSize = sizeof block;
    assert_int_equal(UpdateTraceA(session, "no such session", &block.properties),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(UpdateTraceA(0, NULL, &block.properties), ERROR_INVALID_PARAMETER);
    assert_int_equal(UpdateTraceA(session, NULL, NULL), ERROR_INVALID_PARAMETER);
    expect_unchanged(session, &before);
    stop_session(session, NULL);
    assert_int_equal(update(session, &block), ERROR_WMI_INSTANCE_NOT_FOUND);
}

/* R136: with the offset set to 0, a block that QUERY filled changes what was changed in it. */
static void r136_a_block_that_query_filled_can_be_used_again(void **state)
{
    static const uint32_t modes[] = {
        0, EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        EVENT_TRACE_PRIVATE_LOGGER_MODE, EVENT_TRACE_BUFFERING_MODE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const etwas_session_options options = {
            .log_file_mode = modes[index],
            .maximum_file_size = 1024,
        };
        etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
        struct block block;

        prepare_block(&block, "");
        assert_int_equal(QueryTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
        block.properties.LogFileNameOffset = 0;
        block.properties.FlushTimer = 17;
        assert_int_equal(UpdateTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_int_equal(query_session(session).FlushTimer, 17);
        stop_session(session, NULL);
    }
}

/* Waits, for as long as it takes, until a timed flush has written what was logged. */
static void wait_for_flush(etwas_trace_handle session, uint32_t written_before)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (query_session(session).BuffersWritten == written_before) {
        (void)nanosleep(&pause, NULL);
    }
}

/* R80, R81, R130: a session that flushed never, or once an hour, flushes soon after the change. */
static void r130_a_new_flush_timer_counts_at_once(void **state)
{
    static const uint32_t before[] = {0, 3600000};
    const char *path = folder_path("f.etl");

    (void)state;
    for (size_t index = 0; index < sizeof before / sizeof before[0]; index++) {
        const etwas_session_options options = {
            .log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
            .flush_timer = before[index],
        };
        etwas_trace_handle session = start_session(path, &options);
        const struct timespec pause = {.tv_nsec = 20000000};
        struct block block;

        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        (void)nanosleep(&pause, NULL);
        assert_int_equal(query_session(session).BuffersWritten, 1);
        prepare_update(&block, NULL);
        block.properties.FlushTimer = 1;
        assert_int_equal(update(session, &block), ERROR_SUCCESS);
        assert_int_equal(block.properties.FlushTimer, 1);
        wait_for_flush(session, 1);
        assert_int_equal(count_events(path), 1);
        stop_session(session, NULL);
    }
}

/* The flusher may be asleep until the end of the old period: it is woken. */
static void r130_a_new_flush_timer_wakes_the_flusher(void **state)
{
    const etwas_session_options options = {.flush_timer = 3600, .flusher.no_thread = true};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    struct etwas_pool *pool = inside_of(session)->pool;
    uint32_t seen = ck_ec32_value(&pool->wake);
    struct block block;

    (void)state;
    prepare_update(&block, NULL);
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(ck_ec32_value(&pool->wake), seen);
    block.properties.LogFileNameOffset = 0;
    block.properties.FlushTimer = 1;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_not_equal(ck_ec32_value(&pool->wake), seen);
    stop_session(session, NULL);
}

/* R68, R70, R130: what may be allocated, up and down; never below the minimum. */
static void r130_maximum_buffers_let_the_pool_grow_further(void **state)
{
    const etwas_session_options options = {
        .buffer_size_kb = 4,
        .maximum_buffers = 1,
        .flusher.no_thread = true,
    };
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    uint32_t least = query_session(session).MinimumBuffers;
    etwas_session_counts counts;
    struct block block;
    uint64_t good = 0;

    (void)state;
    assert_int_equal(query_session(session).MaximumBuffers, least);
    while (log_number(session, good) == ERROR_SUCCESS) {
        good++;
    }
    assert_int_equal(query_session(session).NumberOfBuffers, least);
    prepare_update(&block, NULL);
    block.properties.MaximumBuffers = least + 3;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.MaximumBuffers, least + 3);
    assert_int_equal(query_session(session).MaximumBuffers, least + 3);
    while (log_number(session, good) == ERROR_SUCCESS) {
        good++;
    }
    assert_int_equal(query_session(session).NumberOfBuffers, least + 3);
    /* R71: none is given back; it may grow no further. */
    prepare_update(&block, NULL);
    block.properties.MaximumBuffers = 1;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.MaximumBuffers, least);
    assert_int_equal(block.properties.NumberOfBuffers, least + 3);
    /* More than was set aside is what there is. */
    prepare_update(&block, NULL);
    block.properties.MaximumBuffers = UINT32_MAX;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_true(block.properties.MaximumBuffers > least + 3);
    assert_true(block.properties.MaximumBuffers < UINT32_MAX);
    assert_int_equal(query_session(session).MaximumBuffers, block.properties.MaximumBuffers);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, good);
    assert_int_equal(counts.lost, 2);
    assert_int_equal(count_events(folder_path("f.etl")), good);
}

/* R72, R83: in buffering mode neither means anything, and both are accepted. */
static void r72_buffering_mode_keeps_its_buffers_whatever_update_says(void **state)
{
    etwas_trace_handle session = start_recorder();
    uint32_t least = query_session(session).MinimumBuffers;
    struct block block;

    (void)state;
    prepare_update(&block, NULL);
    block.properties.MaximumBuffers = least + 10;
    block.properties.FlushTimer = 1;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.MaximumBuffers, least);
    assert_int_equal(block.properties.NumberOfBuffers, least);
    stop_session(session, NULL);
}

/* R130: a new name; A and W. What was logged before is in the old file, the rest in the new one. */
static void r130_update_with_a_new_name_goes_on_in_another_file(void **state)
{
    static const uint32_t modes[] = {
        0, EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_FILE_MODE_PREALLOCATE,
        EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
        EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_PREALLOCATE};

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const etwas_session_options options = {
            .log_file_mode = modes[index],
            .maximum_file_size = 1,
            .protocol = (modes[index] & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING) != 0
                            ? ETWAS_PROTOCOL_SHARED
                            : ETWAS_PROTOCOL_BEST,
        };
        etwas_trace_handle session = start_session(folder_path("1.etl"), &options);
        etwas_wchar wide[512];
        struct block block;

        for (uint64_t number = 0; number < 3; number++) {
            assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        }
        prepare_update(&block, folder_path("2.etl"));
        assert_int_equal(update(session, &block), ERROR_SUCCESS);
        assert_string_equal(block.file_name, folder_path("2.etl"));
        expect_name(session, folder_path("2.etl"));
        assert_int_equal(count_events(folder_path("1.etl")), 3);
        assert_int_equal(log_number(session, 3), ERROR_SUCCESS);
        prepare_update(&block, "");
        (void)wide_of(folder_path("3.etl"), wide, 512);
        memcpy(block.file_name, wide, sizeof wide);
        assert_int_equal(UpdateTraceW(session, NULL, &block.properties), ERROR_SUCCESS);
        expect_name(session, folder_path("3.etl"));
        assert_int_equal(count_events(folder_path("2.etl")), 1);
        assert_int_equal(log_number(session, 4), ERROR_SUCCESS);
        assert_int_equal(log_number(session, 5), ERROR_SUCCESS);
        stop_session(session, NULL);
        assert_int_equal(count_events(folder_path("3.etl")), 2);
        /* The first one is free for others since it was left. */
        stop_session(start_session(folder_path("1.etl"), NULL), NULL);
    }
}

/* R133: the given name, the one in force, and each of them after a change. */
static void r133_an_unchanged_name_is_a_bad_pathname(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .maximum_file_size = 1};
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle set = start_session(folder_path("s%d.etl"), &options);
    EVENT_TRACE_PROPERTIES before = query_session(session);
    struct block block;

    (void)state;
    prepare_update(&block, folder_path("f.etl"));
    block.properties.FlushTimer = 9;
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    expect_unchanged(session, &before);
    prepare_update(&block, folder_path("s%d.etl"));
    assert_int_equal(update(set, &block), ERROR_BAD_PATHNAME);
    prepare_update(&block, folder_path("s1.etl"));
    assert_int_equal(update(set, &block), ERROR_BAD_PATHNAME);
    prepare_update(&block, folder_path("g.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    prepare_update(&block, folder_path("g.etl"));
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    /* Back to the first is a change. */
    prepare_update(&block, folder_path("f.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(set, NULL);
}

/* A file that cannot be begun: the present one goes on, and nothing else of the request is done. */
static void r130_a_file_that_cannot_be_begun_changes_nothing(void **state)
{
    const etwas_session_options options = {.flush_timer = 60};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    etwas_trace_handle other = start_session(folder_path("used.etl"), NULL);
    EVENT_TRACE_PROPERTIES before = query_session(session);
    struct belongings had = count_belongings();
    char longest[1025];
    const struct {
        const char *name;
        uint32_t code;
    } cases[] = {
        {folder_path("used.etl"), ERROR_BAD_PATHNAME}, /* R18 */
        {folder_path("no/f.etl"), ERROR_PATH_NOT_FOUND},
        {folder_path("."), ERROR_BAD_PATHNAME},
        {"", ERROR_BAD_PATHNAME},
        {"\xFF", ERROR_BAD_PATHNAME},
        {longest, ERROR_FILENAME_EXCED_RANGE},
    };

    (void)state;
    memset(longest, 'l', sizeof longest - 1);
    longest[1024] = 0;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        struct block block;

        prepare_update(&block, cases[index].name);
        block.properties.FlushTimer = 9;
        block.properties.MaximumBuffers = before.MaximumBuffers + 1;
        assert_int_equal(update(session, &block), cases[index].code);
        expect_unchanged(session, &before);
        expect_name(session, folder_path("f.etl"));
    }
    assert_nothing_gained(&had);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    stop_session(other, NULL);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
    assert_int_equal(count_events(folder_path("used.etl")), 0);
}

/* A name whose header would not fit in a buffer of the session's size; one unit less is good. */
static void a_name_that_the_header_has_no_room_for_is_a_bad_pathname(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 4};
    etwas_trace_handle session = 0;
    char name[1025];
    char path[1100];
    struct block block;

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[1024] = 0;
    assert_int_equal(etwas_start(name, folder_path("f.etl"), &options, &session), ERROR_SUCCESS);
    assert_int_equal(query_session(session).BufferSize, 4);
    (void)snprintf(path, sizeof path, "%s", folder_path("."));
    while (strlen(path) + 2 < 1024) {
        strcat(path, "/.");
    }
    memcpy(path + strlen(path) - 2, "/x", 2);
    prepare_update(&block, path);
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    assert_false(exists(folder_path("x")));
    prepare_update(&block, folder_path("x"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("x")), 0);
}

/* R131, R134: no system events; the session's own bits may be repeated. Real time: flush/realtime_test.c. */
static void r134_of_the_modes_only_real_time_may_be_asked_for(void **state)
{
    const uint32_t own = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_USE_KBYTES_FOR_SIZE;
    const etwas_session_options options = {.log_file_mode = own, .maximum_file_size = 1024};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    etwas_trace_handle recorder = start_recorder();
    EVENT_TRACE_PROPERTIES before = query_session(session);
    struct block block;

    (void)state;
    for (int bit = 0; bit < 32; bit++) {
        uint32_t mode = UINT32_C(1) << bit;
        uint32_t expected = (mode & own) != 0 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;

        if (mode == EVENT_TRACE_REAL_TIME_MODE) {
            continue;
        }
        prepare_update(&block, NULL);
        block.properties.LogFileMode = mode;
        assert_int_equal(update(session, &block), expected);
        prepare_update(&block, NULL);
        block.properties.LogFileMode = own | mode;
        assert_int_equal(update(session, &block), expected);
        prepare_update(&block, NULL);
        block.properties.EnableFlags = mode;
        assert_int_equal(update(session, &block), ERROR_INVALID_PARAMETER);
        expect_unchanged(session, &before);
    }
    /* Real time and buffering exclude each other. */
    prepare_update(&block, NULL);
    block.properties.LogFileMode = EVENT_TRACE_REAL_TIME_MODE;
    assert_int_equal(update(recorder, &block), ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
    stop_session(recorder, NULL);
}

/* R135; R98: the new name gets the process id too. */
static void r135_a_private_session_may_change_its_file_and_its_timer(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_PRIVATE_LOGGER_MODE};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    EVENT_TRACE_PROPERTIES before = query_session(session);
    char path[512];
    struct block block;

    (void)state;
    prepare_update(&block, folder_path("g.etl"));
    block.properties.MaximumBuffers = before.MaximumBuffers + 1;
    block.properties.FlushTimer = 30;
    block.properties.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
    assert_int_equal(update(session, &block), ERROR_INVALID_PARAMETER);
    expect_unchanged(session, &before);
    block.properties.MaximumBuffers = 0;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(query_session(session).FlushTimer, 30);
    (void)snprintf(path, sizeof path, "%s_%d", folder_path("g.etl"), (int)getpid());
    expect_name(session, path);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(path), 1);
}

/* R73: UPDATE with a new name is a snapshot; nothing is consumed, and the name is the present one. */
static void r73_update_of_a_buffering_session_writes_a_snapshot(void **state)
{
    etwas_trace_handle session = start_recorder();
    struct block block;

    (void)state;
    for (uint64_t number = 0; number < 5; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    prepare_update(&block, folder_path("1.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("1.etl")), 5);
    assert_int_equal(log_number(session, 5), ERROR_SUCCESS);
    prepare_update(&block, folder_path("1.etl"));
    assert_int_equal(update(session, &block), ERROR_BAD_PATHNAME);
    assert_int_equal(count_events(folder_path("1.etl")), 5);
    prepare_update(&block, folder_path("2.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("2.etl")), 6);
    prepare_update(&block, folder_path("no/3.etl"));
    assert_int_equal(update(session, &block), ERROR_PATH_NOT_FOUND);
    /* FLUSH without a name goes to the last one. */
    prepare_block(&block, NULL);
    assert_int_equal(log_number(session, 6), ERROR_SUCCESS);
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("2.etl")), 7);
    stop_session(session, NULL);
}

/* FLUSH leaves the name it was given, so that it can be given again; QUERY says the session's own. */
static void r73_a_snapshot_leaves_its_name_in_the_block(void **state)
{
    etwas_trace_handle session;
    struct block block;
    char own[512];

    (void)state;
    prepare_block(&block, folder_path("own.etl"));
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_PRIVATE_LOGGER_MODE;
    session = start_block("recorder", &block);
    for (uint64_t round = 1; round <= 2; round++) {
        char path[512];

        assert_int_equal(log_number(session, round), ERROR_SUCCESS);
        if (round == 1) {
            prepare_block(&block, folder_path("named.etl"));
        }
        assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
        assert_string_equal(block.file_name, folder_path("named.etl"));
        (void)snprintf(path, sizeof path, "%s_%d", folder_path("named.etl"), (int)getpid());
        assert_int_equal(count_events(path), round);
    }
    (void)snprintf(own, sizeof own, "%s_%d", folder_path("own.etl"), (int)getpid());
    expect_name(session, own);
    assert_false(exists(own));
    /* Without a name in the call it is the one of the start. */
    prepare_block(&block, NULL);
    assert_int_equal(FlushTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(own), 2);
    stop_session(session, NULL);
}

static uint32_t increment(etwas_trace_handle session, struct block *block)
{
    prepare_block(block, "");
    return ControlTraceA(session, NULL, &block->properties, EVENT_TRACE_CONTROL_INCREMENT_FILE);
}

/* R96: what was logged before is in the old part, and QUERY names the new one. */
static void r96_increment_file_begins_the_next_part(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .maximum_file_size = 1};
    etwas_trace_handle session = start_session(folder_path("s%02d.etl"), &options);
    struct block block;
    char name[32];

    (void)state;
    for (uint32_t part = 1; part <= 3; part++) {
        for (uint32_t number = 0; number < part; number++) {
            assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        }
        assert_int_equal(increment(session, &block), ERROR_SUCCESS);
        (void)snprintf(name, sizeof name, "s%02u.etl", part + 1);
        assert_string_equal(block.file_name, folder_path(name));
        (void)snprintf(name, sizeof name, "s%02u.etl", part);
        assert_int_equal(count_events(folder_path(name)), part);
    }
    /* Another set begins at 1. */
    prepare_update(&block, folder_path("t%d.etl"));
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    expect_name(session, folder_path("t1.etl"));
    prepare_update(&block, folder_path("t.etl"));
    assert_int_equal(update(session, &block), ERROR_INVALID_NAME);
    assert_int_equal(increment(session, &block), ERROR_SUCCESS);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("s04.etl")), 0);
    assert_int_equal(count_events(folder_path("t1.etl")), 0);
    assert_int_equal(count_events(folder_path("t2.etl")), 1);
}

static void r96_increment_file_is_for_sets_only(void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_FILE_MODE_CIRCULAR, EVENT_TRACE_BUFFERING_MODE};
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const etwas_session_options options = {.log_file_mode = modes[index],
                                               .maximum_file_size = 1};
        etwas_trace_handle session = start_session(folder_path("f%d.etl"), &options);

        assert_int_equal(increment(session, &block), ERROR_INVALID_PARAMETER);
        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        stop_session(session, NULL);
    }
}

/* The next part cannot be begun: the present one goes on, its number is not used up. */
static void r96_a_part_that_cannot_be_begun_changes_nothing(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .maximum_file_size = 1};
    etwas_trace_handle session = start_session(folder_path("s%d.etl"), &options);
    struct belongings before;
    struct block block;

    (void)state;
    assert_int_equal(mkdir(folder_path("s2.etl"), 0777), 0);
    before = count_belongings();
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    assert_int_equal(increment(session, &block), ERROR_BAD_PATHNAME);
    expect_name(session, folder_path("s1.etl"));
    assert_nothing_gained(&before);
    assert_int_equal(log_number(session, 2), ERROR_SUCCESS);
    assert_int_equal(rmdir(folder_path("s2.etl")), 0);
    assert_int_equal(increment(session, &block), ERROR_SUCCESS);
    expect_name(session, folder_path("s2.etl"));
    stop_session(session, NULL);
    assert_int_equal(count_events(folder_path("s1.etl")), 2);
    assert_int_equal(count_events(folder_path("s2.etl")), 0);
}

/* Changes while writers write: every event is in exactly one of the files, or counted. */
static void updates_lose_no_event_of_the_writers(void **state)
{
    enum {
        CHANGES = 10,
        WRITERS = 3
    };
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .buffer_size_kb = 4,
                                           .maximum_file_size = 64};
    etwas_trace_handle session = start_session(folder_path("s%d.etl"), &options);
    uint32_t maximum = query_session(session).MaximumBuffers;
    const struct writer_options wishes = {.session = session, .largest_payload = 100};
    etwas_session_counts counts;
    struct writers writers = {0};
    uint64_t events = 0;
    char name[32];

    (void)state;
    writers_start(&writers, WRITERS, &wishes);
    for (uint32_t change = 1; change <= CHANGES; change++) {
        struct block block;

        assert_int_equal(increment(session, &block), ERROR_SUCCESS);
        prepare_update(&block, NULL);
        block.properties.MaximumBuffers = maximum + change % 3;
        block.properties.FlushTimer = 1 + change % 2;
        assert_int_equal(update(session, &block), ERROR_SUCCESS);
    }
    writers_end(&writers);
    writers_join(&writers);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    /* A part that was full before its time has made one more. */
    for (uint32_t part = 1; part <= CHANGES + 1 || exists(folder_path(name)); part++) {
        struct events read;

        (void)snprintf(name, sizeof name, "s%u.etl", part);
        read_events(folder_path(name), 0, &read);
        events += read.count;
        free_events(&read);
        (void)snprintf(name, sizeof name, "s%u.etl", part + 1);
    }
    assert_int_equal(events, counts.recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r132_zeroes_leave_everything_as_it_is),
        FOLDER_TEST(r136_the_flag_traced_guid_is_needed),
        FOLDER_TEST(r136_a_block_that_query_filled_can_be_used_again),
        FOLDER_TEST(r130_a_new_flush_timer_counts_at_once),
        FOLDER_TEST(r130_a_new_flush_timer_wakes_the_flusher),
        FOLDER_TEST(r130_maximum_buffers_let_the_pool_grow_further),
        FOLDER_TEST(r72_buffering_mode_keeps_its_buffers_whatever_update_says),
        FOLDER_TEST(r130_update_with_a_new_name_goes_on_in_another_file),
        FOLDER_TEST(r133_an_unchanged_name_is_a_bad_pathname),
        FOLDER_TEST(r130_a_file_that_cannot_be_begun_changes_nothing),
        FOLDER_TEST(a_name_that_the_header_has_no_room_for_is_a_bad_pathname),
        FOLDER_TEST(r134_of_the_modes_only_real_time_may_be_asked_for),
        FOLDER_TEST(r135_a_private_session_may_change_its_file_and_its_timer),
        FOLDER_TEST(r73_update_of_a_buffering_session_writes_a_snapshot),
        FOLDER_TEST(r73_a_snapshot_leaves_its_name_in_the_block),
        FOLDER_TEST(r96_increment_file_begins_the_next_part),
        FOLDER_TEST(r96_increment_file_is_for_sets_only),
        FOLDER_TEST(r96_a_part_that_cannot_be_begun_changes_nothing),
        FOLDER_TEST(updates_lose_no_event_of_the_writers),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
