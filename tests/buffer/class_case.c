/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "class_case.h"

#include <string.h>

#include "platform/processor.h"
#include "support/folder.h"
#include "support/start.h"

const etwas_guid class_case_guid = {0x0c1a5500, 0x0001, 0x4000, {0x80, 0, 0, 0, 0, 0, 0, 1}};

static const etwas_retention_class errors_apart = {.level = 3, .share_percent = 20};

const etwas_session_options recorder = {
    .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
    .clock = ETWAS_CLOCK_QPC,
    .buffer_size_kb = 4,
    .minimum_buffers = 64,
    .classes = &errors_apart,
    .class_count = 1,
};

/* ---- writing --------------------------------------------------------------------------------- */

uint32_t log_as(etwas_trace_handle session, const etwas_guid *guid, uint8_t level, uint8_t type,
                uint64_t tag, uint64_t number)
{
    struct {
        EVENT_TRACE_HEADER header;
        struct payload payload;
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID, .Guid = *guid},
               .payload = {.tag = tag, .number = number}};

    event.header.Class.Level = level;
    event.header.Class.Type = type;
    return TraceEvent(session, &event.header);
}

uint32_t log_one(etwas_trace_handle session, uint8_t level, uint64_t number)
{
    return log_as(session, &class_case_guid, level, 1, level, number);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct found found;

void take(EVENT_RECORD *record)
{
    struct payload payload;

    found.out_of_order += record->EventHeader.TimeStamp.QuadPart < found.last;
    found.last = record->EventHeader.TimeStamp.QuadPart;
    if (memcmp(&record->EventHeader.ProviderId, &class_case_guid, sizeof class_case_guid) != 0 ||
        record->UserDataLength != sizeof payload) {
        return; /* what the file says of itself */
    }
    found.elsewhere += record->BufferContext.ProcessorIndex > etwas_processor_count();
    memcpy(&payload, record->UserData, sizeof payload);
    if (payload.tag >= MOST_TAGS || payload.number >= MOST_EVENTS ||
        found.seen[payload.tag][payload.number]++ != 0) {
        found.wrong++;
        return;
    }
    found.out_of_turn += payload.number < found.next[payload.tag] &&
                         record->EventHeader.TimeStamp.QuadPart > found.before[payload.tag];
    found.next[payload.tag] = payload.number + 1;
    found.before[payload.tag] = record->EventHeader.TimeStamp.QuadPart;
    found.count[payload.tag]++;
}

void read_file(const char *path)
{
    EVENT_TRACE_LOGFILEA log = {.LogFileName = (char *)path, .EventRecordCallback = take};
    etwas_trace_handle trace;

    log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
    memset(&found, 0, sizeof found);
    trace = OpenTraceA(&log);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(found.wrong, 0);
    assert_int_equal(found.out_of_order, 0);
    assert_int_equal(found.elsewhere, 0);
}

etwas_retention_class_state state_of(etwas_trace_handle session, uint32_t class_number)
{
    etwas_retention_class_state state;

    assert_int_equal(etwas_retention_class_query(session, class_number, &state), ERROR_SUCCESS);
    assert_int_equal(state.attempted, state.recorded + state.overwritten + state.lost);
    return state;
}

void expect_sums(etwas_trace_handle session, uint32_t classes)
{
    etwas_session_counts counts = counts_of(session);
    etwas_retention_class_state sum = {0};

    for (uint32_t number = 0; number <= classes; number++) {
        etwas_retention_class_state state = state_of(session, number);

        sum.recorded += state.recorded;
        sum.overwritten += state.overwritten;
        sum.lost += state.lost;
    }
    assert_int_equal(sum.recorded, counts.recorded);
    assert_int_equal(sum.overwritten, counts.overwritten);
    assert_int_equal(sum.lost, counts.lost);
}

/* Before, among and after them a storm of what nobody would miss. */
void log_errors_in_a_storm(etwas_trace_handle session)
{
    for (uint32_t number = 0; number < STORM; number++) {
        assert_int_equal(log_one(session, VERBOSE, number), ERROR_SUCCESS);
        if (number >= STORM / 4 && number < STORM / 4 + ERRORS) {
            assert_int_equal(log_one(session, ERROR, number - STORM / 4), ERROR_SUCCESS);
        }
    }
}
