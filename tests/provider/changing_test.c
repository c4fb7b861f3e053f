/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A caller's other thread changes the lengths of a payload's pieces while events are logged: each
 * record ends with its last piece, whose length stays, so it is as long as its pieces together.
 */
#include <ck_pr.h>
#include <pthread.h>

#include <etwas/evntcons.h>
#include <etwas/evntprov.h>

#include "session/fixture.h"

enum {
    MEETINGS = 3000, /* events during which lengths were changed */
    EVENTS = 60000,  /* at most: the other thread may find no processor */
    SHORT_BYTES = 1,
    LONG_BYTES = 4,
    BLOCKS = 32, /* the last one has always the same length */
    LAST_BYTES = 16,
    FIRST = 0x5A,
    LAST = 0xB7,
};

static const etwas_guid provider_guid = {
    0x3d9a61f4, 0x0b27, 0x4c8e, {0x9f, 0x15, 0x72, 0xc0, 0x4e, 0x88, 0x1d, 0xa6}};

static uint8_t first_piece[LONG_BYTES];
static uint8_t last_piece[LAST_BYTES];

static struct {
    EVENT_TRACE_HEADER header;
    MOF_FIELD fields[MAX_MOF_FIELDS];
} event;

static EVENT_DATA_DESCRIPTOR blocks[BLOCKS];
static uint32_t changes;
static uint32_t ended;

static void *change(void *unused)
{
    (void)unused;
    for (uint32_t turn = 0; ck_pr_load_32(&ended) == 0; turn++) {
        const uint32_t bytes = turn % 2 == 0 ? SHORT_BYTES : LONG_BYTES;

        for (uint32_t index = BLOCKS - 1; index-- > 0;) {
            if (index < MAX_MOF_FIELDS - 1) {
                ck_pr_store_32(&event.fields[index].Length, bytes);
            }
            ck_pr_store_32(&blocks[index].Size, bytes);
        }
        ck_pr_store_32(&changes, turn);
    }
    return NULL;
}

static uint64_t seen;

static void look_at(EVENT_RECORD *record)
{
    const uint8_t *data = record->UserData;
    uint32_t length = record->UserDataLength;

    if (memcmp(&record->EventHeader.ProviderId, &provider_guid, sizeof provider_guid) != 0) {
        return;
    }
    assert_true(length >= LAST_BYTES);
    for (uint32_t at = 0; at < length; at++) {
        assert_int_equal(data[at], at < length - LAST_BYTES ? FIRST : LAST);
    }
    seen++;
}

static void read_all(const char *path)
{
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = look_at,
    };
    etwas_trace_handle trace = OpenTraceA(&file);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void lengths_that_change_meanwhile_are_read_once(void **state)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = TRACE_LEVEL_ERROR};
    const etwas_session_options options = {.buffer_size_kb = 64, .minimum_buffers = 64};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    etwas_session_counts counts;
    uint64_t logged = 0;
    uint32_t number = 0;
    uint32_t met = 0;
    pthread_t thread;
    REGHANDLE provider;

    (void)state;
    memset(first_piece, FIRST, sizeof first_piece);
    memset(last_piece, LAST, sizeof last_piece);
    event.header = (EVENT_TRACE_HEADER){.Size = sizeof event, .Guid = provider_guid};
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    for (uint32_t index = 0; index < MAX_MOF_FIELDS; index++) {
        DEFINE_TRACE_MOF_FIELD(&event.fields[index], first_piece, SHORT_BYTES, 0);
    }
    DEFINE_TRACE_MOF_FIELD(&event.fields[MAX_MOF_FIELDS - 1], last_piece, LAST_BYTES, 0);
    for (uint32_t index = 0; index < BLOCKS; index++) {
        EventDataDescCreate(&blocks[index], first_piece, SHORT_BYTES);
    }
    EventDataDescCreate(&blocks[BLOCKS - 1], last_piece, LAST_BYTES);
    assert_int_equal(EventRegister(&provider_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_int_equal(EnableTrace(1, 1, TRACE_LEVEL_ERROR, &provider_guid, session), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
    while (met < MEETINGS && number++ < EVENTS) {
        const uint32_t before = ck_pr_load_32(&changes);

        logged += TraceEvent(session, &event.header) == ERROR_SUCCESS;
        logged += EventWrite(provider, &descriptor, BLOCKS, blocks) == ERROR_SUCCESS;
        met += ck_pr_load_32(&changes) != before;
    }
    ck_pr_store_32(&ended, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, logged);
    read_all(folder_path("f.etl"));
    assert_int_equal(seen, logged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(lengths_that_change_meanwhile_are_read_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
