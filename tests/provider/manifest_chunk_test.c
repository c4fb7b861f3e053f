/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A provider that writes its manifest once, in chunks, as events: every part of a set, a circle
 * that has gone round, and a snapshot of a recorder that has overwritten the chunks say what its
 * events are called.
 */
#include <etwas/decode.h>
#include <etwas/evntprov.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "decode/shop.h"
#include "provider/description.h"
#include "session/fixture.h"

static const etwas_guid provider = {0x01234567, 0x89ab, 0xcdef, {1, 2, 3, 4, 5, 6, 7, 8}};
static const char document[] = EVENT_SOURCE_DOCUMENT;

enum {
    CHUNKS = 3,
    CLOSED = 2, /* an event without fields */
    MOST_PARTS = 99,
};

struct envelope {
    uint8_t format;
    uint8_t major;
    uint8_t minor;
    uint8_t magic;
    uint16_t total;
    uint16_t number;
};

static REGHANDLE registered(etwas_trace_handle session)
{
    REGHANDLE handle;

    assert_int_equal(EventRegister(&provider, NULL, NULL, &handle), ERROR_SUCCESS);
    assert_int_equal(
        EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL),
        ERROR_SUCCESS);
    return handle;
}

/* As EventSource does: the envelope is a piece of its own. */
static void write_manifest(REGHANDLE handle, uint8_t minor)
{
    const EVENT_DESCRIPTOR descriptor = {
        .Id = 0xFFFE, .Task = 0xFFFE, .Opcode = 0xFE, .Version = 1};
    const size_t step = (sizeof document - 1 + CHUNKS - 1) / CHUNKS;

    for (uint16_t number = 0; number < CHUNKS; number++) {
        struct envelope envelope = {1, 1, minor, 0x5B, CHUNKS, number};
        const size_t at = number * step;
        const size_t left = sizeof document - 1 - at;
        EVENT_DATA_DESCRIPTOR pieces[2];

        EventDataDescCreate(&pieces[0], &envelope, sizeof envelope);
        EventDataDescCreate(&pieces[1], document + at, (uint32_t)(left < step ? left : step));
        assert_int_equal(EventWrite(handle, &descriptor, 2, pieces), ERROR_SUCCESS);
    }
}

static void write_events(REGHANDLE handle, uint32_t count)
{
    static const uint8_t payload[100];
    const EVENT_DESCRIPTOR descriptor = {.Id = CLOSED};
    EVENT_DATA_DESCRIPTOR piece;

    EventDataDescCreate(&piece, payload, sizeof payload);
    for (uint32_t number = 0; number < count; number++) {
        assert_int_equal(EventWrite(handle, &descriptor, 1, &piece), ERROR_SUCCESS);
    }
}

/* ---- what a file says ------------------------------------------------------------------------ */

struct reading {
    etwas_decoder *decoder;
    bool learns;
    uint64_t events;
    uint64_t described;
    uint64_t chunks; /* as the provider wrote them */
};

static void on_record(EVENT_RECORD *record)
{
    struct reading *reading = record->UserContext;
    const etwas_schema *schema;

    if (reading->learns) {
        (void)etwas_decoder_learn_ahead(reading->decoder, record);
    } else if (memcmp(&record->EventHeader.ProviderId, &provider, sizeof provider) == 0) {
        reading->chunks += record->EventHeader.EventDescriptor.Id == 0xFFFE;
        reading->events += record->EventHeader.EventDescriptor.Id == CLOSED;
        reading->described +=
            record->EventHeader.EventDescriptor.Id == CLOSED &&
            etwas_decoder_schema(reading->decoder, record, &schema) == ERROR_SUCCESS;
    }
}

/* One file alone, learned from before. */
static struct reading read_alone(const char *path)
{
    struct reading reading = {0};

    assert_int_equal(etwas_decoder_open(&reading.decoder), ERROR_SUCCESS);
    for (int pass = 0; pass < 2; pass++) {
        EVENT_TRACE_LOGFILEA logfile = {
            .LogFileName = (char *)(uintptr_t)path,
            .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
            .EventRecordCallback = on_record,
            .Context = &reading,
        };
        etwas_trace_handle trace = OpenTraceA(&logfile);

        assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
        reading.learns = pass == 0;
        assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
        assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    }
    etwas_decoder_close(reading.decoder);
    assert_int_equal(reading.described, reading.events);
    return reading;
}

/* ---- the files ------------------------------------------------------------------------------- */

static void every_part_of_a_set_has_the_manifest(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        .buffer_size_kb = 16,
        .maximum_file_size = 96,
    };
    etwas_trace_handle session = start_session(folder_path("p%d.etl"), &options);
    REGHANDLE handle = registered(session);
    etwas_session_counts counts;
    uint64_t events = 0;
    uint64_t chunks = 0;
    uint32_t part;

    (void)state;
    write_manifest(handle, 0);
    for (uint32_t round = 0; round < 20; round++) {
        write_events(handle, 100);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    for (part = 1; part <= MOST_PARTS; part++) {
        char name[32];
        struct reading reading;

        (void)snprintf(name, sizeof name, "p%u.etl", part);
        if (access(folder_path(name), F_OK) != 0) {
            break;
        }
        reading = read_alone(folder_path(name));
        events += reading.events;
        chunks += reading.chunks;
    }
    assert_in_range(part, 4, MOST_PARTS);
    /* What every part says of events is no event. */
    assert_int_equal(chunks, CHUNKS);
    assert_int_equal(events + chunks, counts.recorded);
    assert_int_equal(counts.lost, 0);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static void a_circle_that_has_gone_round_has_the_manifest(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        .buffer_size_kb = 16,
        .maximum_file_size = 160,
    };
    etwas_trace_handle session = start_session(folder_path("c.etl"), &options);
    REGHANDLE handle = registered(session);
    etwas_session_counts counts;
    struct reading reading;

    (void)state;
    write_manifest(handle, 1);
    for (uint32_t round = 0; round < 20; round++) {
        write_events(handle, 200);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    assert_true(counts.overwritten != 0);
    reading = read_alone(folder_path("c.etl"));
    assert_int_equal(reading.chunks, 0);
    assert_int_equal(reading.events, counts.recorded);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

static void a_snapshot_has_the_manifest_that_was_overwritten(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 16,
        .minimum_buffers = 4,
        .maximum_buffers = 4,
    };
    etwas_trace_handle session = start_session(NULL, &options);
    REGHANDLE handle = registered(session);
    struct reading reading;

    (void)state;
    write_manifest(handle, 2);
    write_events(handle, 100000);
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    reading = read_alone(folder_path("s.etl"));
    assert_int_equal(reading.chunks, 0);
    assert_true(reading.events != 0);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

/* A provider writes it whenever it is enabled. */
static void a_manifest_that_is_written_again_is_kept_once(void **state)
{
    static uint8_t minor = 3; /* which was not seen before in this process */
    etwas_trace_handle session = start_recorder();
    REGHANDLE handle = registered(session);
    uint32_t before;

    (void)state;
    write_manifest(handle, minor);
    before = etwas_descriptions_count();
    for (int again = 0; again < 10; again++) {
        write_manifest(handle, minor);
    }
    assert_int_equal(etwas_descriptions_count(), before);
    write_manifest(handle, ++minor);
    assert_int_equal(etwas_descriptions_count(), before + CHUNKS);
    minor++;
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

/* Nothing is read of an event that EventWrite refuses. */
static void what_is_refused_is_no_manifest(void **state)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 0xFFFE, .Task = 0xFFFE, .Opcode = 0xFE};
    EVENT_DATA_DESCRIPTOR nowhere = {.Ptr = 0, .Size = 100};
    etwas_trace_handle session = start_recorder();
    REGHANDLE handle = registered(session);
    const uint32_t before = etwas_descriptions_count();

    (void)state;
    assert_int_equal(EventWrite(handle, &descriptor, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EventWrite(handle, &descriptor, 1, &nowhere), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_descriptions_count(), before);
    stop_session(session, NULL);
    assert_int_equal(EventUnregister(handle), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_part_of_a_set_has_the_manifest),
        FOLDER_TEST(a_circle_that_has_gone_round_has_the_manifest),
        FOLDER_TEST(a_snapshot_has_the_manifest_that_was_overwritten),
        FOLDER_TEST(a_manifest_that_is_written_again_is_kept_once),
        FOLDER_TEST(what_is_refused_is_no_manifest),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
