/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * UPDATE: which members may change while a session runs, and that a refused change changes nothing
 * (R68, R70–R72, R80, R81, R83, R98, R130–R137).
 */
#include <ck_pr.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "support/inside.h"
#include "update.h"

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
    prepare_block(&block, NULL);
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
    prepare_block(&block, NULL);
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

static uint32_t passes;

static void count_passes(enum etwas_testpoint point)
{
    ck_pr_faa_32(&passes, point == ETWAS_POINT_FREE_COUNTED);
}

/* The flusher's second pass from now begins after the call; where it counts, all is written. */
static void wait_for_passes(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    ck_pr_store_32(&passes, 0);
    etwas_testpoint_set(count_passes);
    while (ck_pr_load_32(&passes) < 2) {
        (void)nanosleep(&pause, NULL);
    }
    etwas_testpoint_set(NULL);
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
        struct block block;

        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        wait_for_passes();
        assert_int_equal(query_session(session).BuffersWritten, 1);
        prepare_block(&block, NULL);
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
    struct etwas_pool *pool = inside_of(session)->buffers.pool;
    uint32_t seen = ck_ec32_value(&pool->words->wake);
    struct block block;

    (void)state;
    prepare_block(&block, NULL);
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(ck_ec32_value(&pool->words->wake), seen);
    block.properties.LogFileNameOffset = 0;
    block.properties.FlushTimer = 1;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_not_equal(ck_ec32_value(&pool->words->wake), seen);
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
    prepare_block(&block, NULL);
    block.properties.MaximumBuffers = least + 3;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.MaximumBuffers, least + 3);
    assert_int_equal(query_session(session).MaximumBuffers, least + 3);
    while (log_number(session, good) == ERROR_SUCCESS) {
        good++;
    }
    assert_int_equal(query_session(session).NumberOfBuffers, least + 3);
    /* R71: none is given back; it may grow no further. */
    prepare_block(&block, NULL);
    block.properties.MaximumBuffers = 1;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.MaximumBuffers, least);
    assert_int_equal(block.properties.NumberOfBuffers, least + 3);
    /* More than was set aside is what there is. */
    prepare_block(&block, NULL);
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

/* R68, R130: also of a session into whose buffers other processes may log. */
static void r130_what_start_trace_starts_may_grow_further(void **state)
{
    etwas_trace_handle session;
    struct block block;
    uint32_t least;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.BufferSize = 4;
    block.properties.MaximumBuffers = 1;
    assert_int_equal(StartTraceA(&session, "grows", &block.properties), ERROR_SUCCESS);
    least = query_session(session).MinimumBuffers;
    assert_int_equal(query_session(session).MaximumBuffers, least);
    prepare_block(&block, NULL);
    block.properties.MaximumBuffers = least + 3;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.MaximumBuffers, least + 3);
    stop_session(session, NULL);
}

/* R72, R83: in buffering mode neither means anything, and both are accepted. */
static void r72_buffering_mode_keeps_its_buffers_whatever_update_says(void **state)
{
    etwas_trace_handle session = start_recorder();
    uint32_t least = query_session(session).MinimumBuffers;
    struct block block;

    (void)state;
    prepare_block(&block, NULL);
    block.properties.MaximumBuffers = least + 10;
    block.properties.FlushTimer = 1;
    assert_int_equal(update(session, &block), ERROR_SUCCESS);
    assert_int_equal(block.properties.MaximumBuffers, least);
    assert_int_equal(block.properties.NumberOfBuffers, least);
    stop_session(session, NULL);
}

/*
 * R131, R134: no system events; the session's own bits may be repeated. Real time:
 * realtime/delivery_test.c.
 */
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
        prepare_block(&block, NULL);
        block.properties.LogFileMode = mode;
        assert_int_equal(update(session, &block), expected);
        prepare_block(&block, NULL);
        block.properties.LogFileMode = own | mode;
        assert_int_equal(update(session, &block), expected);
        prepare_block(&block, NULL);
        block.properties.EnableFlags = mode;
        assert_int_equal(update(session, &block), ERROR_INVALID_PARAMETER);
        expect_unchanged(session, &before);
    }
    /* Real time and buffering exclude each other. */
    prepare_block(&block, NULL);
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
    prepare_block(&block, folder_path("g.etl"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r132_zeroes_leave_everything_as_it_is),
        FOLDER_TEST(r136_the_flag_traced_guid_is_needed),
        FOLDER_TEST(r136_a_block_that_query_filled_can_be_used_again),
        FOLDER_TEST(r130_a_new_flush_timer_counts_at_once),
        FOLDER_TEST(r130_a_new_flush_timer_wakes_the_flusher),
        FOLDER_TEST(r130_maximum_buffers_let_the_pool_grow_further),
        FOLDER_TEST(r130_what_start_trace_starts_may_grow_further),
        FOLDER_TEST(r72_buffering_mode_keeps_its_buffers_whatever_update_says),
        FOLDER_TEST(r134_of_the_modes_only_real_time_may_be_asked_for),
        FOLDER_TEST(r135_a_private_session_may_change_its_file_and_its_timer),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
