/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/consumer.h"

#include <ck_pr.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/start.h"
#include "support/writer.h"

#define GENEROUS_NS (UINT64_C(60) * 1000000000)

static const etwas_guid lost_event_class = {
    0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

enum {
    LARGEST_PAYLOAD = 65536
};

static void note(struct consumer *consumer, uint32_t id, uint64_t number)
{
    if (consumer->events == consumer->capacity) {
        consumer->capacity = consumer->capacity == 0 ? 1024 : 2 * consumer->capacity;
        consumer->seen = realloc(consumer->seen, consumer->capacity * sizeof *consumer->seen);
    }
    consumer->seen[consumer->events] = (struct seen){id, (uint32_t)number};
    ck_pr_store_64(&consumer->events, consumer->events + 1);
}

static void look_at_event(struct consumer *consumer, uint32_t id, uint64_t number,
                          const EVENT_RECORD *record)
{
    uint8_t *expected = malloc(LARGEST_PAYLOAD);

    writer_payload(id, number, expected, record->UserDataLength);
    consumer->wrong += record->EventHeader.EventDescriptor.Opcode != (uint8_t)number ||
                       (record->UserDataLength != 0 &&
                        memcmp(record->UserData, expected, record->UserDataLength) != 0);
    free(expected);
    note(consumer, id, number);
}

static bool look_at_notice(struct consumer *consumer, const EVENT_RECORD *record)
{
    uint8_t type = record->EventHeader.EventDescriptor.Opcode;

    if (memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0) {
        consumer->headers++;
        return true;
    }
    if (is_metadata(record)) {
        metadata_add(&consumer->described, record);
        return true;
    }
    if (memcmp(&record->EventHeader.ProviderId, &lost_event_class, sizeof lost_event_class) != 0) {
        return false;
    }
    consumer->lost_event_notices += type == 32;
    consumer->lost_buffer_notices += type == 33;
    consumer->lost_file_notices += type == 34;
    consumer->wrong += record->UserDataLength != 0;
    return true;
}

/* The header states which writer logged the event, and its number. */
static void look_at_record(struct consumer *consumer, const EVENT_RECORD *record)
{
    uint64_t number;

    for (uint16_t index = 0; index < record->ExtendedDataCount; index++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[index];
        EVENT_EXTENDED_ITEM_INSTANCE instance;

        if (item->ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO) {
            memcpy(&instance, (const void *)(uintptr_t)item->DataPtr, sizeof instance);
            look_at_event(consumer, instance.InstanceId >> WRITER_NUMBER_BITS,
                          instance.InstanceId & ((1u << WRITER_NUMBER_BITS) - 1), record);
            return;
        }
    }
    memcpy(&number, record->EventHeader.ProviderId.Data4, sizeof number);
    look_at_event(consumer, record->EventHeader.ProviderId.Data1, number, record);
}

static void on_event(EVENT_RECORD *record)
{
    struct consumer *consumer = record->UserContext;

    if (consumer->before != NULL) {
        consumer->before(consumer);
    }
    if (!look_at_notice(consumer, record)) {
        consumer->backwards += record->EventHeader.TimeStamp.QuadPart < consumer->newest;
        consumer->newest = record->EventHeader.TimeStamp.QuadPart;
        look_at_record(consumer, record);
    }
    if (consumer->behind != NULL) {
        consumer->behind(consumer);
    }
}

static uint32_t on_buffer(EVENT_TRACE_LOGFILEW *file)
{
    struct consumer *consumer = file->Context;

    consumer->buffers++;
    return consumer->stop_after_buffers == 0 || consumer->buffers < consumer->stop_after_buffers;
}

void consumer_open(struct consumer *consumer, etwas_trace_handle session)
{
    EVENT_TRACE_LOGFILEW file = {
        .LoggerName = session_name(session),
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD |
                            PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_event,
        .BufferCallback = on_buffer,
        .Context = consumer,
    };

    consumer->trace = OpenTraceW(&file);
    assert_true(consumer->trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(file.LogfileHeader.BufferSize, query_session(session).BufferSize * 1024);
}

static void *process(void *argument)
{
    struct consumer *consumer = argument;

    consumer->code = ProcessTrace(&consumer->trace, 1, NULL, NULL);
    return NULL;
}

void consumer_start(struct consumer *consumer)
{
    assert_int_equal(pthread_create(&consumer->thread, NULL, process, consumer), 0);
}

void consumer_join(struct consumer *consumer)
{
    assert_int_equal(pthread_join(consumer->thread, NULL), 0);
    (void)CloseTrace(consumer->trace);
}

void consumer_free(struct consumer *consumer)
{
    free(consumer->seen);
    *consumer = (struct consumer){0};
}

uint64_t consumer_events(const struct consumer *consumer)
{
    return ck_pr_load_64(&consumer->events);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void consumer_wait(const struct consumer *consumer, uint64_t events)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    uint64_t end_ns = now_ns() + GENEROUS_NS;

    while (consumer_events(consumer) < events) {
        assert_true(now_ns() < end_ns);
        (void)nanosleep(&pause, NULL);
    }
}

/* ---- marks ----------------------------------------------------------------------------------- */

void consumers_unmark(etwas_trace_handle session)
{
    for (struct writer *writer = writer_first(); writer != NULL; writer = writer->next) {
        for (uint64_t number = 0; writer->options.session == session && number < writer->attempted;
             number++) {
            writer->events[number].seen = 0;
        }
    }
}

static int by_id_and_number(const void *left, const void *right)
{
    const struct seen *a = left;
    const struct seen *b = right;
    uint64_t one = (uint64_t)a->id << 32 | a->number;
    uint64_t other = (uint64_t)b->id << 32 | b->number;

    return one < other ? -1 : one > other;
}

void consumer_mark(const struct consumer *consumer, etwas_trace_handle session)
{
    if (consumer->events != 0) {
        qsort(consumer->seen, consumer->events, sizeof *consumer->seen, by_id_and_number);
    }
    for (uint64_t index = 0; index < consumer->events; index++) {
        const struct seen *seen = &consumer->seen[index];
        struct writer *writer = writer_find(seen->id);

        if (index != 0 && by_id_and_number(seen, seen - 1) == 0) {
            fail_msg("writer %" PRIu32 ", event %" PRIu32 " came twice", seen->id, seen->number);
        }
        if (writer == NULL || writer->options.session != session ||
            seen->number >= writer->attempted ||
            writer->events[seen->number].result != WRITER_RECORDED) {
            fail_msg("writer %" PRIu32 ", event %" PRIu32 " was never recorded", seen->id,
                     seen->number);
        }
        writer->events[seen->number].seen = 1;
    }
}

uint64_t consumers_missing(etwas_trace_handle session)
{
    uint64_t missing = 0;

    for (const struct writer *writer = writer_first(); writer != NULL; writer = writer->next) {
        for (uint64_t number = 0; writer->options.session == session && number < writer->attempted;
             number++) {
            const struct writer_event *event = &writer->events[number];

            missing += event->result == WRITER_RECORDED && event->seen == 0;
        }
    }
    return missing;
}

void expect_consumer_is_exact(const struct consumer *consumer, etwas_trace_handle session)
{
    consumers_unmark(session);
    consumer_mark(consumer, session);
    assert_int_equal(consumers_missing(session), 0);
    assert_int_equal(consumer->wrong, 0);
    assert_int_equal(consumer->headers, 0);
}
