/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a request that says nothing gets, how long a session lives, and that sessions do not depend
 * on each other (R3, R28, R49, R75, R77, R142).
 */
#include <pthread.h>
#include <string.h>

#include "platform/processor.h"
#include "session/fixture.h"
#include "support/inside.h"

/* R3: zeroes ask for the defaults. */
static void r3_a_zeroed_block_gets_every_default(void **state)
{
    static const etwas_guid zero;
    struct block block;
    etwas_trace_handle session;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    session = start_block("defaults", &block);
    assert_int_equal(block.properties.BufferSize, 64);
    assert_int_equal(block.properties.MinimumBuffers, 2 * etwas_processor_present());
    assert_true(block.properties.MaximumBuffers >= block.properties.MinimumBuffers);
    assert_int_equal(block.properties.MaximumFileSize, 0);
    assert_int_equal(block.properties.LogFileMode, EVENT_TRACE_FILE_MODE_NONE);
    assert_int_equal(block.properties.FlushTimer, 0);
    assert_int_equal(block.properties.EnableFlags, 0);
    assert_int_equal(block.properties.Wnode.ClientContext, ETWAS_CLOCK_QPC);
    assert_memory_not_equal(&block.properties.Wnode.Guid, &zero, sizeof zero);
    stop_session(session, NULL);
}

/* R75: 960 KB in buffers of 32 KB are 30 buffers. */
static void r75_memory_of_960_kb_in_buffers_of_32_kb_is_30_buffers(void **state)
{
    struct block block;
    etwas_trace_handle session;

    (void)state;
    prepare_block(&block, NULL);
    block.properties.LogFileMode =
        EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    block.properties.BufferSize = 32;
    block.properties.MinimumBuffers = 30;
    session = start_block("sum", &block);
    assert_int_equal(block.properties.BufferSize * block.properties.NumberOfBuffers, 960);
    stop_session(session, NULL);
}

static void *start_in_thread(void *argument)
{
    etwas_trace_handle *session = argument;

    if (etwas_start("outlives its starter", folder_path("f.etl"), NULL, session) != ERROR_SUCCESS) {
        *session = 0;
    }
    return NULL;
}

/* R49, within one process: the thread that started it may end. */
static void r49_a_session_outlives_the_thread_that_started_it(void **state)
{
    etwas_trace_handle session = 0;
    struct block block;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, start_in_thread, &session), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_not_equal(session, 0);
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    prepare_block(&block, NULL);
    assert_int_equal(StopTraceA(0, "outlives its starter", &block.properties), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("f.etl")), 1);
}

/* R77: with the bit or without it, what one session cannot take costs the other nothing. */
static void r77_a_session_that_fails_makes_no_call_to_another_fail(void **state)
{
    static const uint32_t modes[] = {0, EVENT_TRACE_INDEPENDENT_SESSION_MODE};

    (void)state;
    for (size_t index = 0; index < 2; index++) {
        const etwas_session_options failing_options = {
            .log_file_mode = modes[index],
            .buffer_size_kb = 4,
            .maximum_buffers = 1,
            .flusher.no_thread = true,
        };
        etwas_trace_handle failing = start_session(folder_path("1.etl"), &failing_options);
        etwas_trace_handle other = start_session(folder_path("2.etl"), NULL);
        etwas_session_counts counts;
        uint64_t number = 0;

        while (log_number(failing, number) == ERROR_SUCCESS) {
            assert_int_equal(log_number(other, number++), ERROR_SUCCESS);
        }
        assert_int_equal(log_number(other, number++), ERROR_SUCCESS);
        stop_session(failing, &counts);
        assert_int_equal(counts.lost, 1);
        assert_int_equal(log_number(other, number++), ERROR_SUCCESS);
        stop_session(other, &counts);
        expect_nothing_lost(counts);
        assert_int_equal(counts.recorded, number);
    }
}

/*
 * R142: it is for sessions of the system's own start, so there is none, and any session can stop.
 */
static void r142_no_session_here_is_one_that_cannot_be_stopped(void **state)
{
    struct belongings before = count_belongings();
    etwas_trace_handle session = 77;
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("f.etl"));
    block.properties.LogFileMode = EVENT_TRACE_NONSTOPPABLE_MODE;
    assert_int_equal(StartTraceA(&session, "for ever", &block.properties), ERROR_NOT_SUPPORTED);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
}

/* R28: the bits that mean nothing here are accepted, each with large pages and without. */
static void r28_the_options_of_version_2_change_nothing_but_the_memory(void **state)
{
    (void)state;
    for (uint64_t options = 0; options < 16; options++) {
        etwas_session_memory memory;
        etwas_trace_handle session;
        struct block block;

        prepare_block(&block, folder_path("f.etl"));
        block.properties.Wnode.Flags |= WNODE_FLAG_VERSIONED_PROPERTIES;
        block.second.VersionNumber = 2;
        block.second.V2Options = options;
        block.properties.BufferSize = 1024;
        session = start_block("options", &block);
        assert_int_equal(etwas_memory(session, &memory), ERROR_SUCCESS);
        assert_true(memory.region_huge_bytes <= memory.region_resident_bytes);
        assert_true(((inside_of(session)->configuration.memory & ETWAS_MEMORY_HUGE) != 0) ==
                    block.second.LargeMdlPages);
        assert_int_equal(log_number(session, options), ERROR_SUCCESS);
        stop_session(session, NULL);
        assert_int_equal(count_events(folder_path("f.etl")), 1);
    }
}

uint64_t __real_etwas_memory_huge_bytes(const struct etwas_memory *memory);
uint64_t __wrap_etwas_memory_huge_bytes(const struct etwas_memory *memory);

static struct etwas_session *asked;

uint64_t __wrap_etwas_memory_huge_bytes(const struct etwas_memory *memory)
{
    if (asked != NULL) {
        assert_int_equal(pthread_mutex_trylock(&asked->buffers.pool_lock), 0);
        (void)pthread_mutex_unlock(&asked->buffers.pool_lock);
        asked = NULL;
    }
    return __real_etwas_memory_huge_bytes(memory);
}

/* The session's end, and a thread that asks for its counts, do not wait for the query. */
static void a_query_of_memory_locks_nothing_while_it_reads_the_system_s_file(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_session_memory memory;

    (void)state;
    asked = inside_of(session);
    assert_int_equal(etwas_memory(session, &memory), ERROR_SUCCESS);
    assert_null(asked);
    assert_true(memory.region_bytes != 0);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r3_a_zeroed_block_gets_every_default),
        FOLDER_TEST(r75_memory_of_960_kb_in_buffers_of_32_kb_is_30_buffers),
        FOLDER_TEST(r49_a_session_outlives_the_thread_that_started_it),
        FOLDER_TEST(r77_a_session_that_fails_makes_no_call_to_another_fail),
        FOLDER_TEST(r142_no_session_here_is_one_that_cannot_be_stopped),
        FOLDER_TEST(r28_the_options_of_version_2_change_nothing_but_the_memory),
        FOLDER_TEST(a_query_of_memory_locks_nothing_while_it_reads_the_system_s_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
