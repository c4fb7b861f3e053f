/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/payload_fixture.h"

#include <string.h>
#include <unistd.h>

enum {
    BUFFERS_A_PROCESSOR = 16,
};

const etwas_guid order_class = {0x11, 0x22, 0x33, {1, 2, 3, 4, 5, 6, 7, 8}};

const struct order usual = {3, -5, "meier", 100};
const struct order slow = {3, -5, "meier", 501};

static const etwas_field_description order_fields[] = {
    {.name = "items", .in_type = TDH_INTYPE_UINT32},
    {.name = "change", .in_type = TDH_INTYPE_INT16},
    {.name = "customer", .in_type = TDH_INTYPE_ANSISTRING, .length = 8},
    {.name = "took_us", .in_type = TDH_INTYPE_UINT64, .map = "shown otherwise"},
};

const etwas_payload_predicate is_slow = {"took_us", "500", PAYLOADFIELD_GT, 0};

etwas_payload_filter order_filter(const etwas_payload_predicate *predicates, uint32_t count)
{
    return (etwas_payload_filter){
        .guid = &order_class,
        .fields = order_fields,
        .field_count = sizeof order_fields / sizeof order_fields[0],
        .predicates = predicates,
        .predicate_count = count,
        .event = ORDER_TYPE,
        .version = ORDER_VERSION,
    };
}

etwas_trace_handle start_recorder(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .clock = ETWAS_CLOCK_QPC,
        .buffer_size_kb = 4,
        .minimum_buffers = BUFFERS_A_PROCESSOR * ((uint32_t)sysconf(_SC_NPROCESSORS_CONF) + 1),
    };

    return start_session(NULL, &options);
}

etwas_trace_handle start_log(uint32_t clock)
{
    const etwas_session_options options = {.clock = clock, .buffer_size_kb = 4};

    return start_session(folder_path("log.etl"), &options);
}

void arm(etwas_trace_handle session, const etwas_trigger_options *options)
{
    etwas_trigger_options named = *options;

    named.log_file = folder_path("window%d.etl");
    assert_int_equal(etwas_trigger_arm(session, &named), ERROR_SUCCESS);
}

etwas_trigger_counts ask(etwas_trace_handle recorder)
{
    etwas_trigger_counts counts;

    assert_int_equal(etwas_trigger_query(recorder, &counts), ERROR_SUCCESS);
    return counts;
}

etwas_payload_counts ask_log(etwas_trace_handle log)
{
    etwas_payload_counts counts;

    assert_int_equal(etwas_payload_query(log, &counts), ERROR_SUCCESS);
    assert_true(counts.tested >= counts.matched + counts.unfit);
    assert_true(counts.matched >= counts.refused);
    return counts;
}

void wait_until_seen(etwas_trace_handle recorder)
{
    while (ask(recorder).waiting != 0) {
        (void)usleep(500);
    }
}

void watch(etwas_trace_handle log, etwas_trace_handle recorder, const etwas_payload_filter *filter)
{
    const char *fault = "something";

    assert_int_equal(etwas_trigger_on_payload(log, recorder, filter, &fault), ERROR_SUCCESS);
    assert_null(fault);
}

struct classic {
    EVENT_TRACE_HEADER header;
    uint8_t payload[64];
};

void log_bytes(etwas_trace_handle session, uint8_t type, uint16_t version, const void *payload,
               size_t bytes)
{
    struct classic event = {0};

    event.header.Size = (uint16_t)(sizeof event.header + bytes);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Guid = order_class;
    event.header.Class.Type = type;
    event.header.Class.Version = version;
    memcpy(event.payload, payload, bytes);
    assert_int_equal(TraceEvent(session, &event.header), ERROR_SUCCESS);
}

void log_order(etwas_trace_handle session, const struct order *order)
{
    log_bytes(session, ORDER_TYPE, ORDER_VERSION, order, sizeof *order);
}

etwas_payload_counts judge_order(etwas_trace_handle log, const struct order *order)
{
    etwas_payload_counts before = ask_log(log);
    etwas_payload_counts after;

    log_order(log, order);
    assert_int_equal(etwas_flush(log), ERROR_SUCCESS);
    after = ask_log(log);
    return (etwas_payload_counts){after.tested - before.tested, after.matched - before.matched,
                                  after.unfit - before.unfit, after.refused - before.refused};
}
