/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Threads that write. Every event says whose it is, so that a file can be checked without any
 * memory of what was written: Class.Version is the session's tag, Class.Level the writer,
 * Class.Type the low byte of the event's number, which is in Guid.Data4 or in InstanceId. The
 * payload repeats one word made of these.
 */
#include <ck_pr.h>
#include <stdlib.h>
#include <string.h>

#include "soak.h"

enum {
    BUFFER_HEADER_BYTES = 72,
    LARGEST_EVENT = 65535,
    SCRATCH_BYTES = 3 * 65536,
    SMALL_PAYLOAD = 200,
    MOST_FIELDS = 4,
    PARENT_ID = 77
};

static etwas_handle class_handle;

static uint32_t no_request(WMIDPREQUESTCODE code, void *context, uint32_t *bytes, void *buffer)
{
    (void)code;
    (void)context;
    (void)bytes;
    (void)buffer;
    return ERROR_SUCCESS;
}

void soak_writers_prepare(void)
{
    static const etwas_guid control = {0x50a40001, 1, 1, {1, 2, 3, 4, 5, 6, 7, 8}};
    static const etwas_guid events = {0x50a40002, 2, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
    static TRACE_GUID_REGISTRATION entry = {.Guid = &events};
    etwas_trace_handle registration;

    if (RegisterTraceGuidsA(no_request, NULL, &control, 1, &entry, NULL, NULL, &registration) !=
        ERROR_SUCCESS) {
        soak_fault("RegisterTraceGuids", "cannot register a class");
    }
    class_handle = entry.RegHandle;
}

static uint64_t word_of(const struct soak_writer *writer, uint64_t number)
{
    return ((uint64_t)writer->tag << 48 | (uint64_t)writer->index << 40 | number) *
           UINT64_C(0x9E3779B97F4A7C15);
}

static void fill(uint8_t *payload, uint64_t word, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += sizeof word) {
        memcpy(payload + at, &word, bytes - at < sizeof word ? bytes - at : sizeof word);
    }
}

/*
 * Payload or fields behind a header of `header_bytes`. Returns Size, which may be too much for 16
 * bits.
 */
static uint32_t put_payload(struct soak_writer *writer, uint8_t *scratch, uint64_t word,
                            uint32_t header_bytes, uint32_t bytes, uint32_t *flags)
{
    MOF_FIELD fields[MOST_FIELDS];
    uint32_t count = 1 + soak_upto(&writer->random, MOST_FIELDS - 1);
    uint8_t *payload = scratch + header_bytes;
    uint32_t at = 0;

    *flags = WNODE_FLAG_TRACED_GUID;
    if (!soak_once_in(&writer->random, 3) && header_bytes + bytes <= LARGEST_EVENT) {
        fill(payload, word, bytes);
        return header_bytes + bytes;
    }
    payload += sizeof fields;
    fill(payload, word, bytes);
    for (uint32_t index = 0; index < count; index++) {
        uint32_t length = index == count - 1 ? bytes - at : (bytes - at) / 2;

        fields[index] =
            (MOF_FIELD){.DataPtr = (uint64_t)(uintptr_t)(payload + at), .Length = length};
        at += length;
    }
    memcpy(scratch + header_bytes, fields, count * sizeof fields[0]);
    *flags |= WNODE_FLAG_USE_MOF_PTR;
    return header_bytes + count * (uint32_t)sizeof fields[0];
}

/* R62, R63. */
static bool is_too_large(const struct soak_writer *writer, uint32_t size, uint32_t record_bytes)
{
    uint32_t room = writer->buffer_bytes - BUFFER_HEADER_BYTES;

    return size >= room || (record_bytes + 7) / 8 * 8 > room || record_bytes > LARGEST_EVENT;
}

static uint32_t log_plain(struct soak_writer *writer, uint8_t *scratch, uint64_t number,
                          uint32_t bytes, bool *too_large)
{
    EVENT_TRACE_HEADER header;
    uint32_t flags;
    uint32_t size =
        put_payload(writer, scratch, word_of(writer, number), sizeof header, bytes, &flags);

    memset(&header, 0, sizeof header);
    header.Size = (uint16_t)size;
    header.Flags = flags;
    header.Class.Type = (uint8_t)number;
    header.Class.Level = (uint8_t)writer->index;
    header.Class.Version = (uint16_t)writer->tag;
    header.Guid.Data1 = 0x50a40003;
    memcpy(header.Guid.Data4, &number, sizeof number);
    memcpy(scratch, &header, sizeof header);
    *too_large = is_too_large(writer, size, (uint32_t)sizeof header + bytes);
    return TraceEvent(writer->session, (EVENT_TRACE_HEADER *)(void *)scratch);
}

static uint32_t log_instance(struct soak_writer *writer, uint8_t *scratch, uint64_t number,
                             uint32_t bytes, bool *too_large)
{
    EVENT_INSTANCE_INFO instance = {class_handle, writer->index << 24 | (uint32_t)number};
    EVENT_INSTANCE_INFO parent = {class_handle, PARENT_ID};
    EVENT_INSTANCE_HEADER header;
    uint32_t flags;
    uint32_t size =
        put_payload(writer, scratch, word_of(writer, number), sizeof header, bytes, &flags);

    memset(&header, 0, sizeof header);
    header.Size = (uint16_t)size;
    header.Flags = flags;
    header.Class.Type = (uint8_t)number;
    header.Class.Level = (uint8_t)writer->index;
    header.Class.Version = (uint16_t)writer->tag;
    memcpy(scratch, &header, sizeof header);
    *too_large = is_too_large(writer, size, (uint32_t)sizeof(EVENT_INSTANCE_GUID_HEADER) + bytes);
    return TraceEventInstance(writer->session, (EVENT_INSTANCE_HEADER *)(void *)scratch, &instance,
                              number % 4 == 1 ? &parent : NULL);
}

/* Mostly small; sometimes anything up to what is a little too large. */
static uint32_t next_size(struct soak_writer *writer)
{
    uint32_t most = SMALL_PAYLOAD;

    if (soak_once_in(&writer->random, 64)) {
        most = writer->buffer_bytes < LARGEST_EVENT ? writer->buffer_bytes : LARGEST_EVENT;
        if (soak_once_in(&writer->random, 4)) {
            return most - soak_upto(&writer->random, 200);
        }
    }
    return soak_upto(&writer->random, most);
}

static bool log_next(struct soak_writer *writer, uint8_t *scratch, uint64_t number)
{
    uint32_t bytes = next_size(writer);
    bool too_large;
    uint32_t code = number % 2 == 1 ? log_instance(writer, scratch, number, bytes, &too_large)
                                    : log_plain(writer, scratch, number, bytes, &too_large);

    switch (code) {
    case ERROR_SUCCESS:
        writer->recorded++;
        break;
    case ERROR_NOT_ENOUGH_MEMORY:
        writer->lost++;
        break;
    case ERROR_INVALID_HANDLE:
        writer->refused++;
        return false;
    case ERROR_MORE_DATA:
        writer->too_large++;
        break;
    default:
        soak_fault(writer->where, "event %u of %u bytes: code %u", (unsigned)number, bytes, code);
        return false;
    }
    if (too_large != (code == ERROR_MORE_DATA)) {
        soak_fault(writer->where, "event %u of %u bytes: code %u, but it is %s", (unsigned)number,
                   bytes, code, too_large ? "too large" : "not too large");
        return false;
    }
    return true;
}

static void *writer_main(void *argument)
{
    struct soak_writer *writer = argument;
    uint8_t *scratch = malloc(SCRATCH_BYTES);

    if (scratch == NULL) {
        soak_fault(writer->where, "no memory for a writer");
        return NULL;
    }
    for (uint64_t number = 0; number < writer->events && ck_pr_load_32(writer->end) == 0;
         number++) {
        if (!log_next(writer, scratch, number)) {
            break;
        }
        if (writer->pause_every != 0 && number % writer->pause_every == 0) {
            soak_pause_us(soak_upto(&writer->random, 500));
        }
    }
    free(scratch);
    return NULL;
}

void soak_writers_start(struct soak_writers *writers, struct soak_random *random,
                        etwas_trace_handle session, uint32_t tag, uint32_t buffer_bytes,
                        uint32_t events, const char *where)
{
    uint32_t count = 1 + soak_upto(random, SOAK_WRITERS - 1);
    uint32_t pause_every = soak_once_in(random, 3) ? 0 : 1 + soak_upto(random, 500);

    writers->end = 0;
    writers->count = 0;
    while (writers->count < count) {
        struct soak_writer *writer = &writers->list[writers->count];

        *writer = (struct soak_writer){
            .session = session,
            .random = {soak_next(random)},
            .index = writers->count,
            .tag = tag,
            .buffer_bytes = buffer_bytes,
            .events = events / count,
            .pause_every = pause_every,
            .end = &writers->end,
            .where = where,
        };
        if (pthread_create(&writer->thread, NULL, writer_main, writer) != 0) {
            soak_fault(where, "no thread for a writer");
            return;
        }
        writers->count++;
    }
}

void soak_writers_end(struct soak_writers *writers)
{
    ck_pr_store_32(&writers->end, 1);
}

void soak_writers_join(struct soak_writers *writers)
{
    for (uint32_t index = 0; index < writers->count; index++) {
        (void)pthread_join(writers->list[index].thread, NULL);
    }
}

struct soak_writer soak_writers_total(const struct soak_writers *writers)
{
    struct soak_writer total = {0};

    for (uint32_t index = 0; index < writers->count; index++) {
        total.recorded += writers->list[index].recorded;
        total.lost += writers->list[index].lost;
        total.refused += writers->list[index].refused;
        total.too_large += writers->list[index].too_large;
    }
    return total;
}
