/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/modern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"
#include "support/places.h"

const etwas_guid own_activity = {0xA, 0xB, 0xC, {1, 2, 3, 4, 5, 6, 7, 8}};
const etwas_guid other_activity = {0xD, 0xE, 0xF, {8, 8, 8, 8, 8, 8, 8, 8}};
const etwas_guid no_activity;

const EVENT_DESCRIPTOR full_descriptor = {.Id = 0x1234,
                                          .Version = 5,
                                          .Channel = 11,
                                          .Level = 3,
                                          .Opcode = 240,
                                          .Task = 0x5678,
                                          .Keyword = 0x8000000000000011};

void expect_guid(const etwas_guid *guid, const etwas_guid *expected)
{
    assert_memory_equal(guid, expected, sizeof *guid);
}

/* ---- registering, enabling, writing ---------------------------------------------------------- */

static void receive(const etwas_guid *source, uint32_t is_enabled, uint8_t level, uint64_t any,
                    uint64_t all, EVENT_FILTER_DESCRIPTOR *filter, void *context)
{
    struct received *received = context;

    *received =
        (struct received){received->calls + 1, *source, is_enabled, level, any, all, filter};
}

REGHANDLE begin_modern(struct received *received)
{
    REGHANDLE provider = 0;

    assert_int_equal(
        EventRegister(&control_guid, received != NULL ? receive : NULL, received, &provider),
        ERROR_SUCCESS);
    assert_true(provider != 0);
    return provider;
}

void enable_modern(etwas_trace_handle session, uint8_t level, uint64_t any, uint64_t all)
{
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                    level, any, all, INFINITELY, NULL),
                     ERROR_SUCCESS);
}

uint32_t enable_asking(etwas_trace_handle session, uint32_t property,
                       EVENT_FILTER_DESCRIPTOR *filters, uint32_t count)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = property,
        .EnableFilterDesc = filters,
        .FilterDescCount = count,
    };

    return EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, 0,
                          INFINITELY, &parameters);
}

void disable_modern(etwas_trace_handle session)
{
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0,
                                    0, 0, INFINITELY, NULL),
                     ERROR_SUCCESS);
}

uint32_t write_number(REGHANDLE provider, uint8_t level, uint64_t keyword, uint64_t number)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = level, .Keyword = keyword};
    EVENT_DATA_DESCRIPTOR data;

    EventDataDescCreate(&data, &number, sizeof number);
    return EventWrite(provider, &descriptor, 1, &data);
}

/* ---- reading back ---------------------------------------------------------------------------- */

static void keep(EVENT_RECORD *record)
{
    struct modern_events *events = record->UserContext;
    struct modern_event *event;

    if (memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0) {
        return;
    }
    if (is_metadata(record)) {
        return;
    }
    assert_int_equal(record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER, 0);
    if ((events->count & (events->count - 1)) == 0) {
        size_t room = events->count == 0 ? 1 : events->count * 2;

        events->list = realloc(events->list, room * sizeof *events->list);
        assert_non_null(events->list);
    }
    event = &events->list[events->count++];
    *event = (struct modern_event){.header = record->EventHeader,
                                   .item_count = record->ExtendedDataCount,
                                   .bytes = record->UserDataLength};
    assert_true(event->item_count <= MODERN_ITEMS);
    for (uint32_t index = 0; index < event->item_count; index++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[index];
        size_t kept = item->DataSize < sizeof event->items[0].data ? item->DataSize
                                                                   : sizeof event->items[0].data;

        event->items[index].type = item->ExtType;
        event->items[index].bytes = item->DataSize;
        memcpy(event->items[index].data, (const void *)(uintptr_t)item->DataPtr, kept);
    }
    event->data = malloc(event->bytes + 1u);
    assert_non_null(event->data);
    if (event->bytes != 0) {
        memcpy(event->data, record->UserData, event->bytes);
    }
}

static void read_with_reader(const char *path, struct modern_events *events)
{
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)path, .Context = events};
    etwas_trace_information information = {0};
    etwas_trace_handle trace;

    memset(events, 0, sizeof *events);
    file.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
    file.EventRecordCallback = keep;
    trace = OpenTraceA(&file);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    assert_int_equal(information.damages, 0);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

/* Bytes behind a record's header, as the walker printed them. */
struct tail {
    const char *digits;
    size_t at;
};

static uint32_t take_byte(struct tail *tail)
{
    char pair[3] = {0};

    memcpy(pair, tail->digits + 2 * tail->at, 2);
    assert_int_equal(strlen(pair), 2);
    tail->at++;
    return (uint32_t)strtoul(pair, NULL, 16);
}

static uint32_t take_u16(struct tail *tail)
{
    uint32_t low = take_byte(tail);

    return low | take_byte(tail) << 8;
}

/* Whether what follows the header on disk is this event's items and data. */
static void compare_tail(const struct modern_event *event, const char *digits)
{
    struct tail tail = {digits, 0};

    for (uint32_t index = 0; index < event->item_count; index++) {
        uint32_t bytes = event->items[index].bytes;
        size_t item_bytes = etwas_etl_round_up_8(8 + (size_t)bytes);
        size_t end = tail.at + item_bytes;

        assert_int_equal(take_u16(&tail), item_bytes);
        assert_int_equal(take_u16(&tail), event->items[index].type);
        assert_int_equal(take_u16(&tail), index + 1 < event->item_count ? 1 : 0);
        assert_int_equal(take_u16(&tail), bytes);
        for (uint32_t at = 0; tail.at < end; at++) {
            uint32_t byte = take_byte(&tail);

            if (at >= bytes || at < sizeof event->items[index].data) {
                assert_int_equal(byte, at < bytes ? event->items[index].data[at] : 0);
            }
        }
    }
    for (uint32_t at = 0; at < event->bytes; at++) {
        assert_int_equal(take_byte(&tail), event->data[at]);
    }
    assert_int_equal(strlen(digits + 2 * tail.at), 0);
}

/*
 * The walker goes from processor to processor, the reader by time: an event is found by its stamp,
 * and of those with one stamp the first.
 */
static struct modern_event *find(struct modern_events *events, int64_t stamp)
{
    for (size_t index = 0; index < events->count; index++) {
        if (!events->list[index].walked && events->list[index].header.TimeStamp.QuadPart == stamp) {
            events->list[index].walked = true;
            return &events->list[index];
        }
    }
    return NULL;
}

static void compare_line(struct modern_events *events, char *line)
{
    const char *fields[9] = {0};
    const struct modern_event *event;

    line[strcspn(line, "\n")] = '\0';
    for (int index = 0; index < 9; index++) {
        fields[index] = strsep(&line, "\t");
        assert_non_null(fields[index]);
    }
    if (strcmp(fields[2], "EVENT64") != 0) {
        return;
    }
    event = find(events, strtoll(fields[1], NULL, 10));
    assert_non_null(event);
    assert_int_equal(strtoul(fields[3], NULL, 10), event->header.EventDescriptor.Opcode);
    assert_string_equal(fields[4], "22222222-0003-0004-0807-060504030201");
    compare_tail(event, fields[8]);
}

static void compare_with_walker(const char *path, struct modern_events *events, bool bytes_too)
{
    char command[1024];
    char *line = NULL;
    size_t room = 0;
    size_t found = 0;
    FILE *pipe;
    int status;

    (void)snprintf(command, sizeof command, WALKER " --payloads '%s'", path);
    pipe = popen(command, "re");
    assert_non_null(pipe);
    while (getline(&line, &room, pipe) > 0 && line[0] != '{') {
        if (bytes_too) {
            compare_line(events, line);
        }
        found++;
    }
    status = pclose(pipe);
    if (status != 0) {
        fail_msg("the walker on %s: %s", path, line);
    }
    free(line);
    assert_int_equal(found, events->count);
}

void read_modern(const char *path, struct modern_events *events)
{
    read_with_reader(path, events);
    compare_with_walker(path, events, true);
}

void free_modern(struct modern_events *events)
{
    for (size_t index = 0; index < events->count; index++) {
        free(events->list[index].data);
    }
    free(events->list);
}

size_t count_modern(const char *path)
{
    struct modern_events events;
    size_t count;

    read_with_reader(path, &events);
    compare_with_walker(path, &events, false);
    for (size_t index = 0; index < events.count; index++) {
        assert_int_equal(events.list[index].header.EventDescriptor.Id, 7);
        assert_int_equal(events.list[index].bytes, sizeof(uint64_t));
    }
    count = events.count;
    free_modern(&events);
    return count;
}

/* ---- one session, one provider --------------------------------------------------------------- */

struct trace begin_trace(uint32_t buffer_kb)
{
    const etwas_session_options options = {.buffer_size_kb = buffer_kb};
    struct trace trace = {start_session(folder_path("f.etl"), &options), begin_modern(NULL)};

    enable_modern(trace.session, 0, 0, 0);
    return trace;
}

void end_trace(const struct trace *trace, struct modern_events *events)
{
    etwas_session_counts counts;

    stop_session(trace->session, &counts);
    assert_int_equal(EventUnregister(trace->provider), ERROR_SUCCESS);
    read_modern(folder_path("f.etl"), events);
    assert_int_equal(events->count, counts.recorded);
}
