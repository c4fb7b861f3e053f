/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/batches.h"

#include <stdlib.h>
#include <string.h>

#include "support/metadata.h"

static uint64_t batch_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9E3779B97F4A7C15;

    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
    return mixed ^ mixed >> 31;
}

static uint8_t payload_bytes[BATCH_PIECES * BATCH_PAYLOAD];

void batch_providers_begin(struct batch_providers *providers)
{
    *providers =
        (struct batch_providers){.classes = {{.Guid = &first_class}, {.Guid = &second_class}}};
    assert_int_equal(RegisterTraceGuidsA(ignore_request, NULL, &event_class, 2, providers->classes,
                                         NULL, NULL, &providers->classic),
                     ERROR_SUCCESS);
    assert_int_equal(EventRegister(&control_guid, NULL, NULL, &providers->modern), ERROR_SUCCESS);
    for (size_t at = 0; at < sizeof payload_bytes; at++) {
        payload_bytes[at] = (uint8_t)(at * 7 + 1);
    }
}

void batch_providers_end(struct batch_providers *providers)
{
    assert_int_equal(EventUnregister(providers->modern), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(providers->classic), ERROR_SUCCESS);
}

/* ---- making them ----------------------------------------------------------------------------- */

/* Sizes around those that the copying code tells apart, and any. */
static uint32_t random_size(uint64_t *state, uint32_t most)
{
    static const uint32_t sizes[] = {0,  1,  3,  4,  7,  8,  15,  16, 17,
                                     31, 32, 33, 63, 64, 65, 255, 256};
    uint64_t random = batch_random(state);
    uint32_t size = random % 2 == 0 ? sizes[random / 2 % (sizeof sizes / sizeof sizes[0])]
                                    : (uint32_t)(random / 2 % (most + 1));

    return size < most ? size : most;
}

/* Makes a list of pieces whose first one is the mark. Returns their number. */
static uint32_t make_pieces(EVENT_DATA_DESCRIPTOR *pieces, struct batch_mark *mark, uint64_t *state)
{
    uint32_t count = 1 + (uint32_t)(batch_random(state) % BATCH_PIECES);

    EventDataDescCreate(&pieces[0], mark, sizeof *mark);
    for (uint32_t index = 1; index < count; index++) {
        EventDataDescCreate(&pieces[index], payload_bytes + batch_random(state) % 64,
                            random_size(state, BATCH_PAYLOAD / BATCH_PIECES));
    }
    return count;
}

/* Fills what follows a classic header: a payload, or fields. Returns its size. */
static uint32_t make_rest(void *rest, uint32_t *flags, struct batch_mark *mark, uint64_t *state)
{
    uint32_t bytes = (uint32_t)sizeof *mark + random_size(state, BATCH_PAYLOAD - sizeof *mark);

    *flags = WNODE_FLAG_TRACED_GUID;
    if (batch_random(state) % 3 == 0) {
        *flags |= WNODE_FLAG_USE_MOF_PTR;
        return make_pieces(rest, mark, state) * (uint32_t)sizeof(MOF_FIELD);
    }
    memcpy(rest, mark, sizeof *mark);
    memcpy((uint8_t *)rest + sizeof *mark, payload_bytes, bytes - sizeof *mark);
    return bytes;
}

static void make_write(struct batch_event *part, struct batch_mark *mark, uint64_t *state)
{
    uint64_t random = batch_random(state);

    part->descriptor = (EVENT_DESCRIPTOR){.Id = (uint16_t)(random & 0x7FFF),
                                          .Version = (uint8_t)(random >> 16),
                                          .Level = (uint8_t)(random >> 24 & 7),
                                          .Opcode = (uint8_t)(random >> 32),
                                          .Keyword = (random >> 40 & 3) + 1};
    part->activity = (etwas_guid){(uint32_t)random, 1, 2, {3}};
    part->related = (etwas_guid){(uint32_t)random, 4, 5, {6}};
    part->has_activity = (random >> 48 & 1) != 0;
    part->has_related = (random >> 49 & 7) == 0;
    part->data_count = make_pieces(part->data, mark, state);
}

static void make_classic(struct batch_event *part, const struct batch_providers *providers,
                         struct batch_mark *mark, uint64_t *state)
{
    uint64_t random = batch_random(state);
    uint32_t flags;

    if (part->kind == ETWAS_BATCH_KIND_TRACE) {
        uint32_t bytes = make_rest(&part->trace.rest, &flags, mark, state);

        part->trace.header =
            (EVENT_TRACE_HEADER){.Size = (uint16_t)(sizeof part->trace.header + bytes),
                                 .Class = {.Type = (uint8_t)random, .Level = 4},
                                 .Guid = event_class};
        part->trace.header.Flags = flags;
    } else {
        uint32_t bytes = make_rest(&part->rest, &flags, mark, state);

        part->header.instance =
            (EVENT_INSTANCE_HEADER){.Size = (uint16_t)(sizeof part->header.instance + bytes),
                                    .Class = {.Type = (uint8_t)random, .Level = 4},
                                    .Flags = flags};
        part->instance = (EVENT_INSTANCE_INFO){providers->classes[random >> 8 & 1].RegHandle,
                                               (uint32_t)(random >> 16 & 0xFFFF) + 1};
        part->parent = (EVENT_INSTANCE_INFO){providers->classes[random >> 9 & 1].RegHandle, 77};
        part->has_parent = (random >> 10 & 3) == 0;
    }
}

void batch_make(struct batch *batch, const struct batch_providers *providers,
                etwas_trace_handle session, uint32_t kinds, uint64_t number)
{
    uint64_t state = number;

    batch->count = 1 + (uint32_t)(batch_random(&state) % ETWAS_BATCH_EVENTS);
    for (uint32_t index = 0; index < batch->count; index++) {
        struct batch_event *part = &batch->parts[index];

        batch->marks[index] = (struct batch_mark){number, index, batch->count};
        do {
            part->kind = ETWAS_BATCH_KIND_WRITE + (uint32_t)(batch_random(&state) % 3);
        } while ((kinds >> part->kind & 1) == 0);
        part->handle = part->kind == ETWAS_BATCH_KIND_WRITE ? providers->modern : session;
        if (part->kind == ETWAS_BATCH_KIND_WRITE) {
            make_write(part, &batch->marks[index], &state);
            batch->events[index] = etwas_batch_write(
                part->handle, &part->descriptor, part->has_activity ? &part->activity : NULL,
                part->has_related ? &part->related : NULL, part->data_count, part->data);
            continue;
        }
        make_classic(part, providers, &batch->marks[index], &state);
        batch->events[index] =
            part->kind == ETWAS_BATCH_KIND_TRACE
                ? etwas_batch_trace(part->handle, &part->trace.header)
                : etwas_batch_instance(part->handle, &part->header.instance, &part->instance,
                                       part->has_parent ? &part->parent : NULL);
    }
}

uint32_t batch_write_singly(struct batch *batch)
{
    uint32_t first = ERROR_SUCCESS;

    for (uint32_t index = 0; index < batch->count; index++) {
        struct batch_event *part = &batch->parts[index];
        uint32_t code;

        if (part->kind == ETWAS_BATCH_KIND_WRITE) {
            code = EventWriteTransfer(
                part->handle, &part->descriptor, part->has_activity ? &part->activity : NULL,
                part->has_related ? &part->related : NULL, part->data_count, part->data);
        } else if (part->kind == ETWAS_BATCH_KIND_TRACE) {
            code = TraceEvent(part->handle, &part->trace.header);
        } else {
            code = TraceEventInstance(part->handle, &part->header.instance, &part->instance,
                                      part->has_parent ? &part->parent : NULL);
        }
        first = first == ERROR_SUCCESS ? code : first;
    }
    return first;
}

/* ---- reading them back ----------------------------------------------------------------------- */

static void add_content(struct read_event *event, const void *content, size_t bytes)
{
    assert_true(event->bytes + bytes <= sizeof event->content);
    memcpy(event->content + event->bytes, content, bytes);
    event->bytes += (uint32_t)bytes;
}

static void keep(EVENT_RECORD *record)
{
    struct read_events *events = record->UserContext;
    EVENT_HEADER header = record->EventHeader;
    struct read_event *event;

    if (memcmp(&header.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) == 0 ||
        is_metadata(record)) {
        return;
    }
    if ((events->count & (events->count - 1)) == 0) {
        size_t room = events->count == 0 ? 1 : events->count * 2;

        events->list = realloc(events->list, room * sizeof *events->list);
        assert_non_null(events->list);
    }
    event = &events->list[events->count++];
    *event = (struct read_event){.stamp = header.TimeStamp.QuadPart,
                                 .times = header.ProcessorTime,
                                 .processor = record->BufferContext.ProcessorIndex};
    assert_true(record->UserDataLength >= sizeof event->mark);
    memcpy(&event->mark, record->UserData, sizeof event->mark);
    header.TimeStamp.QuadPart = 0;
    header.ProcessorTime = 0;
    for (uint32_t index = 0; index < record->ExtendedDataCount; index++) {
        if (record->ExtendedData[index].ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64) {
            header.Size = 0; /* the calls have different depths */
        }
    }
    add_content(event, &header, sizeof header);
    for (uint32_t index = 0; index < record->ExtendedDataCount; index++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[index];
        bool differs = item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_KEY ||
                       item->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64;

        if (item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_KEY) {
            memcpy(&event->key, (const void *)(uintptr_t)item->DataPtr, sizeof event->key);
        } else if (item->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64) {
            assert_true(item->DataSize >= sizeof(uint64_t) + sizeof event->frames);
            memcpy(event->frames, (const uint64_t *)(uintptr_t)item->DataPtr + 1,
                   sizeof event->frames);
        }
        add_content(event, &item->ExtType, sizeof item->ExtType);
        if (!differs) {
            add_content(event, (const void *)(uintptr_t)item->DataPtr, item->DataSize);
        }
    }
    add_content(event, record->UserData, record->UserDataLength);
}

void batches_read(const char *path, struct read_events *events)
{
    EVENT_TRACE_LOGFILEA file = {.LogFileName = (char *)(uintptr_t)path, .Context = events};
    etwas_trace_information information = {0};
    etwas_trace_handle trace;

    *events = (struct read_events){0};
    file.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
    file.EventRecordCallback = keep;
    trace = OpenTraceA(&file);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_query(trace, &information), ERROR_SUCCESS);
    assert_int_equal(information.damages, 0);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

void expect_whole_batches(const struct read_events *events)
{
    size_t at = 0;

    while (at < events->count) {
        const struct read_event *first = &events->list[at];

        assert_true(at + first->mark.count <= events->count);
        for (uint32_t index = 0; index < first->mark.count; index++) {
            const struct read_event *event = &events->list[at + index];

            assert_int_equal(event->mark.batch, first->mark.batch);
            assert_int_equal(event->mark.index, index);
            assert_int_equal(event->mark.count, first->mark.count);
            assert_int_equal(event->stamp, first->stamp);
            assert_int_equal(event->processor, first->processor);
        }
        at += first->mark.count;
    }
}

static int by_batch(const void *left, const void *right)
{
    const struct batch_mark *one = &(*(const struct read_event *const *)left)->mark;
    const struct batch_mark *other = &(*(const struct read_event *const *)right)->mark;

    if (one->batch != other->batch) {
        return one->batch < other->batch ? -1 : 1;
    }
    return one->index < other->index ? -1 : one->index > other->index;
}

void expect_only_whole_batches(const struct read_events *events)
{
    const struct read_event **sorted = malloc((events->count + 1) * sizeof *sorted);
    size_t at = 0;

    assert_non_null(sorted);
    for (size_t index = 0; index < events->count; index++) {
        sorted[index] = &events->list[index];
    }
    qsort(sorted, events->count, sizeof *sorted, by_batch);
    while (at < events->count) {
        const struct read_event *first = sorted[at];

        if (first->mark.batch == 0) {
            at++;
            continue;
        }
        assert_true(at + first->mark.count <= events->count);
        for (uint32_t index = 0; index < first->mark.count; index++) {
            assert_int_equal(sorted[at + index]->mark.batch, first->mark.batch);
            assert_int_equal(sorted[at + index]->mark.index, index);
            assert_int_equal(sorted[at + index]->stamp, first->stamp);
        }
        at += first->mark.count;
    }
    free(sorted);
}
