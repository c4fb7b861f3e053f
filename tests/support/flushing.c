/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/flushing.h"

/* ---- events ---------------------------------------------------------------------------------- */

struct writer *small_writer(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .largest_payload = 100});
}

struct writer *plain_writer(etwas_trace_handle session)
{
    return writer_new(&(struct writer_options){.session = session, .largest_payload = 100});
}

void log_events(struct writer *writer, uint64_t events)
{
    for (uint64_t event = 0; event < events; event++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
}

void log_and_flush(struct writer *writer, uint64_t events)
{
    log_events(writer, events);
    assert_int_equal(etwas_flush(writer->options.session), ERROR_SUCCESS);
}

/* ---- real time ------------------------------------------------------------------------------- */

etwas_session_options realtime_options(void)
{
    return (etwas_session_options){
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .flush_timer = 5,
        .buffer_size_kb = 16,
        .clock = ETWAS_CLOCK_TSC,
    };
}

etwas_trace_handle start_realtime(void)
{
    const etwas_session_options options = realtime_options();

    return start_session(NULL, &options);
}

etwas_session_options realtime_by_hand_options(void)
{
    return (etwas_session_options){
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
        .buffer_size_kb = 16,
        .clock = ETWAS_CLOCK_TSC,
        .flusher = {.no_thread = true},
        .backlog_folder = folder_path("."),
    };
}

etwas_trace_handle start_realtime_by_hand(void)
{
    const etwas_session_options options = realtime_by_hand_options();

    return start_session(NULL, &options);
}

void convert_to_realtime(etwas_trace_handle session)
{
    EVENT_TRACE_PROPERTIES block = {
        .Wnode = {.BufferSize = sizeof block, .Flags = WNODE_FLAG_TRACED_GUID}};

    assert_int_equal(ControlTraceA(session, NULL, &block, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME),
                     ERROR_SUCCESS);
    assert_true((block.LogFileMode & EVENT_TRACE_REAL_TIME_MODE) != 0);
}

void consume(struct consumer *consumer, etwas_trace_handle session)
{
    consumer_open(consumer, session);
    consumer_start(consumer);
}

void stop_and_join(etwas_trace_handle session, etwas_session_counts *counts,
                   struct consumer *consumer)
{
    stop_session(session, counts);
    consumer_join(consumer);
}

void consume_to_the_end(struct consumer *consumer, etwas_trace_handle session,
                        etwas_session_counts *counts)
{
    consume(consumer, session);
    stop_and_join(session, counts, consumer);
    assert_int_equal(consumer->code, ERROR_SUCCESS);
    assert_int_equal(consumer->wrong, 0);
}
