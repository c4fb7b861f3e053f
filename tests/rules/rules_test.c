/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Rules that belong to no part alone.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "session/fixture.h"

/* R3: a block with nothing but its sizes, flag, offsets and file name. */
static void r3_members_that_are_0_ask_for_their_defaults(void **state)
{
    struct block block;
    struct block query;
    etwas_trace_handle session;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    session = start_block("zeroes", &block);
    prepare_block(&query, "");
    assert_int_equal(QueryTraceA(session, NULL, &query.properties), ERROR_SUCCESS);
    assert_int_equal(query.properties.BufferSize, 64);
    assert_true(query.properties.MinimumBuffers >= 2);
    assert_true(query.properties.MaximumBuffers >= query.properties.MinimumBuffers + 22);
    assert_int_equal(query.properties.MaximumFileSize, 0);
    assert_int_equal(query.properties.LogFileMode, EVENT_TRACE_FILE_MODE_NONE);
    assert_int_equal(query.properties.FlushTimer, 0);
    assert_int_equal(query.properties.EnableFlags, 0);
    assert_int_equal(query.properties.Wnode.ClientContext, ETWAS_CLOCK_QPC);
    assert_int_not_equal(query.properties.Wnode.Guid.Data1, 0);
    assert_string_equal(query.session_name, "zeroes");
    assert_string_equal(query.file_name, folder_path("f.etl"));
    stop_session(session, NULL);
}

/* R75: the sum that the documentation does: 960 KB of buffers of 32 KB are 30 of them. */
static void r75_960_kb_in_buffers_of_32_kb_are_30_buffers(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 32, .minimum_buffers = 30};
    etwas_trace_handle session = start_session(NULL, &options);
    EVENT_TRACE_PROPERTIES properties = query_session(session);
    etwas_session_memory memory;

    (void)state;
    assert_int_equal(properties.BufferSize * properties.MinimumBuffers, 960);
    assert_int_equal(properties.NumberOfBuffers, 30);
    assert_int_equal(etwas_memory(session, &memory), ERROR_SUCCESS);
    assert_true(memory.region_bytes >= 960 * 1024);
    stop_session(session, NULL);
}

static void *start_and_exit(void *session)
{
    *(etwas_trace_handle *)session = start_session(folder_path("f.etl"), NULL);
    return NULL;
}

/* R49: it does not end with the thread that started it. */
static void r49_a_session_lives_until_it_is_stopped(void **state)
{
    enum {
        EVENTS = 10
    };
    etwas_trace_handle session = 0;
    etwas_session_counts counts;
    pthread_t controller;

    (void)state;
    assert_int_equal(pthread_create(&controller, NULL, start_and_exit, &session), 0);
    assert_int_equal(pthread_join(controller, NULL), 0);
    assert_int_not_equal(session, 0);
    for (uint64_t number = 0; number < EVENTS; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, EVENTS);
    assert_int_equal(count_events(folder_path("f.etl")), EVENTS);
    assert_int_equal(log_number(session, EVENTS), ERROR_INVALID_HANDLE);
}

/*
 * R77: an event goes to the session of its handle alone, so one that has no buffer left makes
 * nothing fail but itself, with the mode and without.
 */
static void r77_a_session_that_cannot_record_harms_no_other(void **state)
{
    enum {
        EVENTS = 10000
    };

    (void)state;
    for (uint32_t turn = 0; turn < 4; turn++) {
        const etwas_session_options full = {
            .log_file_mode = turn % 2 != 0 ? EVENT_TRACE_INDEPENDENT_SESSION_MODE : 0,
            .buffer_size_kb = 4,
            .maximum_buffers = 1,
            .flusher = {.no_thread = true}};
        const etwas_session_options roomy = {
            .log_file_mode = EVENT_TRACE_BUFFERING_MODE |
                             (turn / 2 != 0 ? EVENT_TRACE_INDEPENDENT_SESSION_MODE : 0)};
        etwas_trace_handle narrow = start_session(folder_path("narrow.etl"), &full);
        etwas_trace_handle other = start_session(NULL, &roomy);
        etwas_session_counts counts;
        uint32_t lost = 0;

        for (uint64_t number = 0; number < EVENTS; number++) {
            lost += log_number(narrow, number) != ERROR_SUCCESS;
            assert_int_equal(log_number(other, number), ERROR_SUCCESS);
        }
        assert_true(lost > 0);
        stop_session(narrow, &counts);
        assert_int_equal(counts.lost, lost);
        stop_session(other, &counts);
        assert_int_equal(counts.recorded + counts.overwritten, EVENTS);
        expect_nothing_lost(counts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r3_members_that_are_0_ask_for_their_defaults),
        FOLDER_TEST(r49_a_session_lives_until_it_is_stopped),
        FOLDER_TEST(r75_960_kb_in_buffers_of_32_kb_are_30_buffers),
        FOLDER_TEST(r77_a_session_that_cannot_record_harms_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
