/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock_snapshots_file.h"
#include "etl/own_record.h"

struct builder builder;

struct builder_options cycles(void)
{
    struct builder_options options = builder_defaults();

    options.clock_type = ETWAS_ETL_CLOCK_CYCLES;
    options.mhz = 3000;
    options.frequency_hz = 3000000000;
    options.buffer_bytes = 8192;
    return options;
}

void begin_file(const struct builder_options *options)
{
    const struct etwas_etl_totals totals = {.version = 1};

    builder_begin(&builder, options);
    builder_calibration(&builder);
    builder_totals(&builder, &totals);
}

const char *finish(unsigned slot)
{
    const char *path;

    builder_end(&builder);
    path = put_file(slot, builder.bytes, builder.size);
    builder_free(&builder);
    return path;
}

int64_t raw_of(int64_t n)
{
    return 1000 + n * REAL_HZ;
}

struct etwas_etl_clock_snapshot clock_snapshot_of(int64_t n, uint32_t reason)
{
    return (struct etwas_etl_clock_snapshot){
        .version = ETWAS_ETL_CLOCK_SNAPSHOT_VERSION,
        .reason = reason,
        .raw_stamp = raw_of(n),
        .qpc_ns = QPC0 + n * SECOND,
        .filetime = BUILDER_START + n * INT64_C(10000050), /* 5 ppm fast */
        .qpc_error_ns = 25,
        .filetime_error_ns = 125,
    };
}

void put_clock_snapshots(int64_t from, int64_t to)
{
    for (int64_t n = from; n <= to; n++) {
        const struct etwas_etl_clock_snapshot snapshot =
            clock_snapshot_of(n, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);

        builder_clock_snapshot(&builder, &snapshot);
    }
}

void put_trust(void)
{
    const struct etwas_etl_clock_trust trust = {
        .version = ETWAS_ETL_CLOCK_RECORD_VERSION,
        .requested_clock = 3,
        .clock_type = 3,
        .verdict = ETWAS_CLOCK_VERDICT_DOUBTFUL,
        .reasons = ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_HYPERVISOR,
        .stated_by = ETWAS_CLOCK_STATED_HYPERVISOR,
        .frequency_hz = 3000000000,
        .stated_hz = 3001000000,
        .frequency_error_ppb = 2000,
        /* No 0 ends it, as in a hostile file. */
        .clocksource = {"tsc678901234567890123456789012"},
        .hypervisor = {"KVMKVMKVM"},
    };

    builder_own(&builder, ETWAS_ETL_CLOCK_RECORD_TYPE, &trust, sizeof trust);
}

void put_events(int64_t seconds)
{
    for (uint16_t processor = 0; processor < 2; processor++) {
        builder_buffer(&builder, processor);
        for (int64_t n = processor; n <= 2 * seconds; n += 2) {
            builder_number(&builder, 1000 + n * REAL_HZ / 2, (uint32_t)n);
        }
    }
}

void expect_events(int64_t seconds)
{
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, 1 + 2 * seconds + 1);
    for (int64_t n = 0; n <= 2 * seconds; n++) {
        const struct collected_event *event = &collected.events[n + 1];

        assert_int_equal(event->number, n);
        assert_int_equal(event->header.TimeStamp.QuadPart, BUILDER_START + n * 5000000);
    }
}

etwas_trace_clock clock_of(const char *path)
{
    etwas_trace_clock clock;
    etwas_trace_handle trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_query_clock(trace, &clock), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return clock;
}

etwas_clock_time time_in(const char *path, int64_t raw, uint32_t clock)
{
    etwas_clock_time time;
    etwas_trace_handle trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_convert_time(trace, raw, clock, &time), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return time;
}
