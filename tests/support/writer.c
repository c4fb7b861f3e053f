/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/writer.h"

#include <ck_pr.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <etwas/evntrace.h>

#include "support/start.h"

enum {
    SMALL_PAYLOAD = 256,
    MOST_EVENTS = 1000000,
    SCRATCH_BYTES = 65536 + 128,
    MOF_FIELDS = 5,
};

static struct writer *first;
static uint32_t last_id;

struct event {
    EVENT_TRACE_HEADER header;
    uint8_t rest[SCRATCH_BYTES - sizeof(EVENT_TRACE_HEADER)];
};
_Static_assert(sizeof(struct event) == SCRATCH_BYTES, "a writer's scratch holds an event");

/* splitmix64: well spread, and each output a function of its position alone. */
static uint64_t mixed(uint64_t value)
{
    value += UINT64_C(0x9E3779B97F4A7C15);
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

static uint64_t seed_of(uint32_t id, uint64_t number)
{
    return mixed((uint64_t)id << 40 ^ number);
}

void writer_payload(uint32_t id, uint64_t number, uint8_t *payload, uint32_t bytes)
{
    uint64_t seed = seed_of(id, number);

    for (uint32_t at = 0; at < bytes; at += 8) {
        uint64_t word = mixed(seed + at);

        memcpy(payload + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

struct writer *writer_new(const struct writer_options *options)
{
    struct writer *writer = calloc(1, sizeof *writer);

    assert_non_null(writer);
    writer->options = *options;
    if (writer->options.events == 0) {
        writer->options.events = MOST_EVENTS;
    }
    writer->id = ++last_id;
    assert_true(writer->id <= WRITER_LARGEST_ID && writer->options.events <= MOST_EVENTS);
    writer->events = calloc(writer->options.events, sizeof *writer->events);
    writer->scratch = calloc(1, SCRATCH_BYTES);
    assert_non_null(writer->events);
    assert_non_null(writer->scratch);
    writer->next = first;
    first = writer;
    return writer;
}

static uint32_t no_request(WMIDPREQUESTCODE code, void *context, uint32_t *bytes, void *buffer)
{
    (void)code;
    (void)context;
    (void)bytes;
    (void)buffer;
    return ERROR_SUCCESS;
}

etwas_handle writer_class(void)
{
    static const etwas_guid control = {0x6f1b2a10, 0x1111, 0x4c55, {0x9a, 1, 2, 3, 4, 5, 6, 7}};
    static const etwas_guid events = {0x6f1b2a11, 0x2222, 0x4c55, {0x9a, 1, 2, 3, 4, 5, 6, 7}};
    static TRACE_GUID_REGISTRATION entry;
    etwas_trace_handle registration;

    if (entry.RegHandle == NULL) {
        entry.Guid = &events;
        assert_int_equal(
            RegisterTraceGuidsA(no_request, NULL, &control, 1, &entry, NULL, NULL, &registration),
            ERROR_SUCCESS);
    }
    return entry.RegHandle;
}

struct writer *writer_first(void)
{
    return first;
}

struct writer *writer_find(uint32_t id)
{
    struct writer *writer = first;

    while (writer != NULL && writer->id != id) {
        writer = writer->next;
    }
    return writer;
}

void writers_forget(void)
{
    last_id = 0;
    while (first != NULL) {
        struct writer *next = first->next;

        free(first->events);
        free(first->scratch);
        free(first);
        first = next;
    }
}

static uint32_t next_size(const struct writer *writer)
{
    uint64_t random = mixed(~seed_of(writer->id, writer->attempted));
    uint32_t most = writer->options.largest_payload;

    if (!writer->options.even_sizes && (random & 15) != 0 && most > SMALL_PAYLOAD) {
        most = SMALL_PAYLOAD;
    }
    return (uint32_t)((random >> 8) % (most + 1));
}

/* Puts the payload behind a header of `header_bytes`, or fields that point to it. Returns Size. */
static uint16_t place_payload(struct writer *writer, uint64_t number, uint32_t header_bytes,
                              uint32_t bytes, uint32_t *flags)
{
    MOF_FIELD fields[MOF_FIELDS];
    uint8_t *payload = writer->scratch + header_bytes;
    uint32_t at = 0;

    *flags = WNODE_FLAG_TRACED_GUID;
    if (number % 3 != 2) {
        writer_payload(writer->id, number, payload, bytes);
        return (uint16_t)(header_bytes + bytes);
    }
    payload += sizeof fields;
    writer_payload(writer->id, number, payload, bytes);
    for (uint32_t index = 0; index < MOF_FIELDS; index++) {
        uint32_t length = index == MOF_FIELDS - 1 ? bytes - at : (bytes - at) / (index + 1) / 2;

        fields[index] =
            (MOF_FIELD){.DataPtr = (uint64_t)(uintptr_t)(payload + at), .Length = length};
        at += length;
    }
    memcpy(writer->scratch + header_bytes, fields, sizeof fields);
    *flags |= WNODE_FLAG_USE_MOF_PTR;
    return (uint16_t)(header_bytes + sizeof fields);
}

static uint32_t log_instance(struct writer *writer, uint64_t number, uint32_t bytes)
{
    EVENT_INSTANCE_INFO instance = {writer->options.class_handle,
                                    writer_instance_id(writer->id, number)};
    EVENT_INSTANCE_INFO parent = {writer->options.class_handle, writer->id};
    EVENT_INSTANCE_HEADER header;
    uint32_t flags;

    memset(&header, 0, sizeof header);
    header.Size = place_payload(writer, number, sizeof header, bytes, &flags);
    header.Flags = flags;
    header.Class.Type = (uint8_t)number;
    memcpy(writer->scratch, &header, sizeof header);
    return TraceEventInstance(writer->options.session,
                              (EVENT_INSTANCE_HEADER *)(void *)writer->scratch, &instance,
                              writer_has_parent(number) ? &parent : NULL);
}

static uint32_t log_plain(struct writer *writer, uint64_t number, uint32_t bytes)
{
    EVENT_TRACE_HEADER header;
    uint32_t flags;

    memset(&header, 0, sizeof header);
    header.Size = place_payload(writer, number, sizeof header, bytes, &flags);
    header.Flags = flags;
    header.Class.Type = (uint8_t)number;
    header.Guid.Data1 = writer->id;
    memcpy(header.Guid.Data4, &number, sizeof number);
    memcpy(writer->scratch, &header, sizeof header);
    return TraceEvent(writer->options.session, (EVENT_TRACE_HEADER *)(void *)writer->scratch);
}

uint32_t writer_log_bytes(struct writer *writer, uint32_t payload_bytes)
{
    uint64_t number = writer->attempted;
    struct writer_event *event = &writer->events[number];
    uint32_t code;

    if (number == writer->options.events) {
        return ERROR_MORE_DATA;
    }
    code = writer->options.class_handle != NULL && number % 2 == 1
               ? log_instance(writer, number, payload_bytes)
               : log_plain(writer, number, payload_bytes);
    event->payload_bytes = payload_bytes;
    switch (code) {
    case ERROR_SUCCESS:
        event->result = WRITER_RECORDED;
        writer->recorded++;
        break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_LOG_FILE_FULL:
        event->result = WRITER_LOST;
        writer->lost++;
        break;
    case ERROR_INVALID_HANDLE:
        event->result = WRITER_REFUSED;
        writer->refused++;
        break;
    default:
        event->result = WRITER_ODD;
        writer->odd_codes++;
        break;
    }
    writer->last_code = code;
    /* Read by tests while the writer writes, to see that it gets on. */
    ck_pr_store_64(&writer->attempted, number + 1);
    return code;
}

uint32_t writer_log(struct writer *writer)
{
    return writer_log_bytes(writer, next_size(writer));
}

uint64_t writer_progress(const struct writer *writer)
{
    return ck_pr_load_64(&writer->attempted);
}

struct writer_totals writers_totals(etwas_trace_handle session)
{
    struct writer_totals totals = {0};

    for (const struct writer *writer = first; writer != NULL; writer = writer->next) {
        if (writer->options.session == session) {
            totals.attempted += writer->attempted;
            totals.recorded += writer->recorded;
            totals.lost += writer->lost;
            totals.refused += writer->refused;
            totals.odd_codes += writer->odd_codes;
        }
    }
    return totals;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *writer_main(void *argument)
{
    const struct timespec pause = {.tv_nsec = 100000};
    struct writer *writer = argument;

    while (ck_pr_load_32(writer->end) == 0) {
        uint32_t code = writer_log(writer);

        if (code == ERROR_INVALID_HANDLE || code == ERROR_MORE_DATA) {
            break;
        }
        if (code == ERROR_NOT_ENOUGH_MEMORY && writer->options.pauses) {
            (void)nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

void writers_start(struct writers *writers, uint32_t count, const struct writer_options *options)
{
    assert_true(count <= WRITERS_MOST);
    writers->end = 0;
    writers->count = count;
    for (uint32_t index = 0; index < count; index++) {
        writers->list[index] = writer_new(options);
        writers->list[index]->end = &writers->end;
    }
    for (uint32_t index = 0; index < count; index++) {
        assert_int_equal(
            pthread_create(&writers->threads[index], NULL, writer_main, writers->list[index]), 0);
    }
}

void writers_end(struct writers *writers)
{
    ck_pr_store_32(&writers->end, 1);
}

void writers_join(struct writers *writers)
{
    for (uint32_t index = 0; index < writers->count; index++) {
        assert_int_equal(pthread_join(writers->threads[index], NULL), 0);
    }
}
