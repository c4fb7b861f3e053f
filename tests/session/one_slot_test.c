/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * NO_PER_PROCESSOR_BUFFERING: how many buffers, which protocol, one stream (R65, R66, R72, R78).
 */
#include "platform/processor.h"
#include "session/fixture.h"
#include "support/writer.h"

enum {
    ONE_SLOT = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
    DEFAULT_POOL_BUFFERS = 1024
};

static void r65_two_buffers_are_the_least_in_all(void **state)
{
    static const uint32_t cases[][4] = {
        /* asked minimum and maximum, reported minimum and maximum */
        {0, 0, 2, DEFAULT_POOL_BUFFERS},
        {1, 1, 2, 2},
        {2, 3, 2, 3},
        {5, 4, 5, 5},
    };

    (void)state;
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        struct block block;
        struct block query;
        etwas_trace_handle session;
        uint32_t protocol;

        prepare_block(&block, folder_path("f.etl"));
        block.properties.LogFileMode = ONE_SLOT;
        block.properties.MinimumBuffers = cases[index][0];
        block.properties.MaximumBuffers = cases[index][1];
        session = start_block("one slot", &block);
        assert_int_equal(block.properties.MinimumBuffers, cases[index][2]);
        assert_int_equal(block.properties.MaximumBuffers, cases[index][3]);
        assert_int_equal(block.properties.NumberOfBuffers, cases[index][2]);
        prepare_block(&query, "");
        assert_int_equal(QueryTraceA(session, NULL, &query.properties), ERROR_SUCCESS);
        assert_int_equal(query.properties.MinimumBuffers, cases[index][2]);
        assert_int_equal(etwas_session_protocol(session, &protocol), ERROR_SUCCESS);
        assert_int_equal(protocol, ETWAS_PROTOCOL_SHARED);
        assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
        stop_session(session, NULL);
        assert_int_equal(count_events(folder_path("f.etl")), 1);
    }
}

/* R72: two buffers are a flight recorder too. */
static void r72_a_recorder_with_two_buffers_keeps_the_newest(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = ONE_SLOT | EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 4,
    };
    etwas_trace_handle session = start_session(NULL, &options);
    etwas_session_counts counts;
    struct events events;

    (void)state;
    assert_int_equal(query_session(session).NumberOfBuffers, 2);
    for (uint64_t number = 0; number < 1000; number++) {
        assert_int_equal(log_number(session, number), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded + counts.overwritten, 1000);
    read_events(folder_path("s.etl"), 0, &events);
    assert_int_equal(events.count, counts.recorded);
    assert_int_equal(number_of(&events.items[events.count - 1]), 999);
    free_events(&events);
}

static void sequences_for_one_slot_are_an_invalid_parameter(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = ONE_SLOT,
        .protocol = ETWAS_PROTOCOL_RSEQ,
    };
    struct belongings before = count_belongings();
    etwas_trace_handle session = 77;

    (void)state;
    assert_int_equal(etwas_start("sequences", folder_path("f.etl"), &options, &session),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    assert_nothing_gained(&before);
}

/*
 * R78: there is one stream for all writers, and no processor's number; the times never go back in
 * the file.
 */
static void r78_threads_of_every_processor_write_one_stream(void **state)
{
    const etwas_session_options options = {.log_file_mode = ONE_SLOT, .buffer_size_kb = 8};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    const struct writer_options load = {
        .session = session, .events = 20000, .largest_payload = 200};
    struct writers writers = {0};
    etwas_session_counts counts;
    struct events events;

    (void)state;
    writers_start(&writers, 4, &load);
    writers_join(&writers);
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    read_events(folder_path("f.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
    assert_int_equal(events.count, counts.recorded);
    assert_int_equal(events.header.NumberOfProcessors, etwas_processor_count());
    for (size_t index = 0; index < events.count; index++) {
        assert_int_equal(events.items[index].record.BufferContext.ProcessorIndex, 0);
    }
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r65_two_buffers_are_the_least_in_all),
        FOLDER_TEST(r72_a_recorder_with_two_buffers_keeps_the_newest),
        FOLDER_TEST(sequences_for_one_slot_are_an_invalid_parameter),
        FOLDER_TEST(r78_threads_of_every_processor_write_one_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
