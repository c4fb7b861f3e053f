/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "tracelogging/recorded.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_EVENTS = 1024,
    STORE_BYTES = 1024 * 1024,
    INFINITELY = -1
};

static struct recorded events[MOST_EVENTS];
static _Alignas(8) uint8_t store[STORE_BYTES];
static size_t stored_bytes;

etwas_trace_handle start_recording(void)
{
    return start_session(folder_path("f.etl"), NULL);
}

static void control(etwas_trace_handle session, TraceLoggingHProvider provider, uint32_t code,
                    uint8_t level, uint64_t any, uint64_t all)
{
    etwas_guid id = TraceLoggingProviderId(provider);

    assert_int_equal(
        EnableTraceEx2(session, &id, code, level, any, all, (uint32_t)INFINITELY, NULL),
        ERROR_SUCCESS);
}

void enable(etwas_trace_handle session, TraceLoggingHProvider provider, uint8_t level, uint64_t any,
            uint64_t all)
{
    control(session, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, any, all);
}

void disable(etwas_trace_handle session, TraceLoggingHProvider provider)
{
    control(session, provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0);
}

static struct bytes keep_bytes(uint64_t address, uint32_t count)
{
    struct bytes kept = {store + stored_bytes, count};

    assert_true(stored_bytes + count + 8 <= STORE_BYTES);
    if (count != 0) {
        memcpy(store + stored_bytes, (const void *)(uintptr_t)address, count);
    }
    stored_bytes = (stored_bytes + count + 7) / 8 * 8;
    return kept;
}

static void keep_event(EVENT_RECORD *record)
{
    struct recording *recording = record->UserContext;
    struct recorded *event = &recording->events[recording->count];
    uint32_t at = 0;

    if (memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0) {
        return;
    }
    assert_true(recording->count < MOST_EVENTS);
    recording->count++;
    *event = (struct recorded){.header = record->EventHeader};
    if (record->ExtendedDataCount == 3) {
        if (record->ExtendedData[0].ExtType == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID) {
            event->related = (const etwas_guid *)(const void *)keep_bytes(
                                 record->ExtendedData[0].DataPtr, record->ExtendedData[0].DataSize)
                                 .data;
        }
        at++;
    }
    assert_int_equal(record->ExtendedDataCount, at + 2);
    assert_int_equal(record->ExtendedData[at].ExtType, EVENT_HEADER_EXT_TYPE_PROV_TRAITS);
    assert_int_equal(record->ExtendedData[at + 1].ExtType, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL);
    event->traits = keep_bytes(record->ExtendedData[at].DataPtr, record->ExtendedData[at].DataSize);
    event->schema =
        keep_bytes(record->ExtendedData[at + 1].DataPtr, record->ExtendedData[at + 1].DataSize);
    event->data = keep_bytes((uint64_t)(uintptr_t)record->UserData, record->UserDataLength);
}

struct recording stop_recording(etwas_trace_handle session)
{
    struct recording recording = {events, 0};
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)folder_path("f.etl"),
                                 .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                 .EventRecordCallback = keep_event,
                                 .Context = &recording};
    etwas_trace_information information = {0};
    etwas_trace_handle trace;

    stop_session(session, NULL);
    stored_bytes = 0;
    trace = OpenTraceA(&file);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    assert_int_equal(information.damages, 0);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return recording;
}

void expect_bytes(const char *what, struct bytes bytes, const void *expected, size_t count)
{
    if (bytes.count != count || memcmp(bytes.data, expected, count) != 0) {
        print_error("%s: %u bytes, where %zu were expected:\n", what, bytes.count, count);
        for (uint32_t index = 0; index < bytes.count || index < count; index++) {
            print_error("%4u  %02x  %02x\n", index, index < bytes.count ? bytes.data[index] : 0,
                        index < count ? ((const uint8_t *)expected)[index] : 0);
        }
        fail();
    }
}

void expect_name(const struct recorded *event, const char *name)
{
    uint8_t expected[256] = {0};
    size_t count = 3 + strlen(name) + 1;

    assert_true(count <= sizeof expected);
    expected[0] = (uint8_t)count;
    memcpy(expected + 3, name, strlen(name) + 1);
    expect_bytes(name, event->schema, expected, count);
}
