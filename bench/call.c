/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a call costs its caller, through the shared library.
 *
 * A row times a loop of calls: one store into the payload, the call, one check of its result. The
 * figure is of one event, also where a call writes several, whose list the loop makes. In a flight
 * recorder that has wrapped, the cost includes the caller's share of overwriting. A batch
 * into a log file is shorter than the pool, and etwas_flush empties the buffers between batches.
 * That cost includes taking a new buffer when one is full, but not the writing.
 */
#include "call.h"

#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <stdio.h>
#include <stdlib.h>

#include "rows.h"
#include "session.h"
#include "shim/bench.h"

enum {
    MOST_ROWS = 192,
    /*
     * 9 of the 16 buffers; the others stay free if a batch begins in a buffer that is partly full.
     */
    BATCH_BYTES = 9 * 64 * 1024,
};

/* The events, each as its entry point takes it. */
struct events {
    struct {
        EVENT_INSTANCE_HEADER header;
        uint64_t payload[BENCH_CALL_LARGEST_PAYLOAD / sizeof(uint64_t)];
    } instance;
    struct {
        EVENT_TRACE_HEADER header;
        uint64_t payload[BENCH_CALL_LARGEST_PAYLOAD / sizeof(uint64_t)];
    } event;
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD list[2];
    } fields;
    uint64_t first_field;
    uint64_t second_field;
    EVENT_INSTANCE_INFO own;
    EVENT_INSTANCE_INFO parent;
    REGHANDLE provider;
    EVENT_DESCRIPTOR descriptor;
    EVENT_DATA_DESCRIPTOR block;
    uint32_t batch;
    struct {
        EVENT_INSTANCE_HEADER header;
        uint64_t payload[2];
    } together[ETWAS_BATCH_EVENTS];
    EVENT_DATA_DESCRIPTOR blocks[ETWAS_BATCH_EVENTS];
};

static const etwas_guid modern_guid = {
    0x1f0a6d3c, 0x92be, 0x4c15, {0x8d, 0x07, 0xe1, 0x4b, 0x60, 0x39, 0xca, 0x52}};

TRACELOGGING_DEFINE_PROVIDER(described, "Etwas.Bench",
                             (0x47c2e05b, 0xd916, 0x4a83, 0xb1, 0x5e, 0x20, 0x9f, 0x7a, 0x34, 0xc8,
                              0x6d));

/*
 * The callers' loops, which the rows time. Each logs `calls` events, and returns the results of all
 * calls, combined.
 */
typedef uint32_t log_batch(etwas_trace_handle session, struct events *events, uint32_t calls);

static __attribute__((noinline)) uint32_t log_instances(etwas_trace_handle session,
                                                        struct events *events, uint32_t calls)
{
    uint32_t codes = 0;

    for (uint32_t count = 0; count < calls; count++) {
        events->instance.payload[0] = count;
        codes |= TraceEventInstance(session, &events->instance.header, &events->own, NULL);
    }
    return codes;
}

static __attribute__((noinline)) uint32_t log_children(etwas_trace_handle session,
                                                       struct events *events, uint32_t calls)
{
    uint32_t codes = 0;

    for (uint32_t count = 0; count < calls; count++) {
        events->instance.payload[0] = count;
        codes |=
            TraceEventInstance(session, &events->instance.header, &events->own, &events->parent);
    }
    return codes;
}

static __attribute__((noinline)) uint32_t log_events(etwas_trace_handle session,
                                                     struct events *events, uint32_t calls)
{
    uint32_t codes = 0;

    for (uint32_t count = 0; count < calls; count++) {
        events->event.payload[0] = count;
        codes |= TraceEvent(session, &events->event.header);
    }
    return codes;
}

static __attribute__((noinline)) uint32_t log_fields(etwas_trace_handle session,
                                                     struct events *events, uint32_t calls)
{
    uint32_t codes = 0;

    for (uint32_t count = 0; count < calls; count++) {
        events->first_field = count;
        codes |= TraceEventInstance(session, &events->fields.header, &events->own, NULL);
    }
    return codes;
}

static __attribute__((noinline)) uint32_t write_events(etwas_trace_handle session,
                                                       struct events *events, uint32_t calls)
{
    uint32_t codes = 0;

    (void)session;
    for (uint32_t count = 0; count < calls; count++) {
        events->event.payload[0] = count;
        codes |= EventWrite(events->provider, &events->descriptor, 1, &events->block);
    }
    return codes;
}

/* Writes events below `frames` frames. */
static __attribute__((noinline)) uint32_t write_below(uint32_t frames, etwas_trace_handle session,
                                                      struct events *events, uint32_t calls)
{
    uint32_t codes = frames > 1 ? write_below(frames - 1, session, events, calls)
                                : write_events(session, events, calls);

    /* This use of the result keeps the call from being a tail call. */
    bench_keep_value(codes);
    return codes;
}

static uint32_t write_stacks(etwas_trace_handle session, struct events *events, uint32_t calls)
{
    return write_below(BENCH_CALL_FRAMES - 1, session, events, calls);
}

static __attribute__((noinline)) uint32_t log_messages(etwas_trace_handle session,
                                                       struct events *events, uint32_t calls)
{
    const uint32_t flags = TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO;
    uint32_t codes = 0;

    for (uint32_t count = 0; count < calls; count++) {
        events->first_field = count;
        codes |= TraceMessage(session, flags, &events->event.header.Guid, 1, &events->first_field,
                              sizeof events->first_field, &events->second_field,
                              sizeof events->second_field, NULL, (size_t)0);
    }
    return codes;
}

static __attribute__((noinline)) uint32_t write_described(etwas_trace_handle session,
                                                          struct events *events, uint32_t calls)
{
    uint32_t second = (uint32_t)events->second_field;

    (void)session;
    for (uint32_t count = 0; count < calls; count++) {
        TraceLoggingWrite(described, "Event", TraceLoggingLevel(TRACE_LEVEL_INFORMATION),
                          TraceLoggingUInt64(count, "first"), TraceLoggingUInt32(second));
    }
    return ERROR_SUCCESS;
}

static __attribute__((noinline)) uint32_t log_many(etwas_trace_handle session,
                                                   struct events *events, uint32_t calls)
{
    etwas_batch_event batch[ETWAS_BATCH_EVENTS];
    uint32_t codes = 0;

    for (uint32_t count = 0; count < calls; count += events->batch) {
        for (uint32_t index = 0; index < events->batch; index++) {
            events->together[index].payload[0] = count + index;
            batch[index] =
                etwas_batch_instance(session, &events->together[index].header, &events->own, NULL);
        }
        codes |= etwas_write_many(batch, events->batch, NULL, NULL);
    }
    return codes;
}

static __attribute__((noinline)) uint32_t write_many(etwas_trace_handle session,
                                                     struct events *events, uint32_t calls)
{
    etwas_batch_event batch[ETWAS_BATCH_EVENTS];
    uint32_t codes = 0;

    (void)session;
    for (uint32_t count = 0; count < calls; count += events->batch) {
        for (uint32_t index = 0; index < events->batch; index++) {
            events->together[index].payload[0] = count + index;
            batch[index] = etwas_batch_write(events->provider, &events->descriptor, NULL, NULL, 1,
                                             &events->blocks[index]);
        }
        codes |= etwas_write_many(batch, events->batch, NULL, NULL);
    }
    return codes;
}

static log_batch *const loops[] = {
    [BENCH_CALL_INSTANCE] = log_instances, [BENCH_CALL_PARENT] = log_children,
    [BENCH_CALL_EVENT] = log_events,       [BENCH_CALL_FIELDS] = log_fields,
    [BENCH_CALL_WRITE] = write_events,     [BENCH_CALL_MESSAGE] = log_messages,
    [BENCH_CALL_STACK] = write_stacks,     [BENCH_CALL_TRACELOGGING] = write_described,
    [BENCH_CALL_COUNTED] = log_instances,  [BENCH_CALL_MANY] = log_many,
    [BENCH_CALL_MANY_WRITE] = write_many,
};

/* Registers the providers once. A session enables one if its row needs it. */
static bool prepare_provider(struct events *events, uint32_t payload_bytes)
{
    static REGHANDLE provider;

    EventDescCreate(&events->descriptor, 1, 0, 0, TRACE_LEVEL_INFORMATION, 0, 0, 1);
    EventDataDescCreate(&events->block, events->event.payload, payload_bytes);
    if (provider == 0 && EventRegister(&modern_guid, NULL, NULL, &provider) != ERROR_SUCCESS) {
        return false;
    }
    events->provider = provider;
    return described->handle != 0 || TraceLoggingRegister(described) == S_OK;
}

static void prepare_batch(struct events *events, uint32_t batch)
{
    const uint32_t payload_bytes = sizeof events->together[0].payload;

    events->batch = batch;
    for (uint32_t index = 0; index < batch; index++) {
        bench_prepare_instance_header(&events->together[index].header, payload_bytes);
        EventDataDescCreate(&events->blocks[index], events->together[index].payload, payload_bytes);
    }
}

static bool prepare(struct events *events, const struct bench_call *call)
{
    const uint32_t payload_bytes = call->payload_bytes;

    bench_prepare_instance_header(&events->instance.header, payload_bytes);
    if (call->entry == BENCH_CALL_COUNTED) {
        events->instance.header.Class.Type = EVENT_TRACE_TYPE_START;
    }
    events->event.header =
        (EVENT_TRACE_HEADER){.Size = (uint16_t)(sizeof(EVENT_TRACE_HEADER) + payload_bytes)};
    events->event.header.Flags = WNODE_FLAG_TRACED_GUID;
    events->event.header.Class.Type = EVENT_TRACE_TYPE_INFO;
    bench_prepare_instance_header(&events->fields.header, sizeof events->fields.list);
    events->fields.header.Flags |= WNODE_FLAG_USE_MOF_PTR;
    DEFINE_TRACE_MOF_FIELD(&events->fields.list[0], &events->first_field, 8, ETW_UINT64_TYPE_VALUE);
    DEFINE_TRACE_MOF_FIELD(&events->fields.list[1], &events->second_field, 8,
                           ETW_UINT64_TYPE_VALUE);
    prepare_batch(events, call->batch);
    return prepare_provider(events, payload_bytes) && bench_make_instance(&events->own) &&
           bench_make_instance(&events->parent);
}

/* Returns how many records one call logs. */
static uint32_t records(const struct bench_call *call)
{
    return call->entry == BENCH_CALL_COUNTED ? 2 : 1;
}

static uint32_t record_bytes(const struct bench_call *call)
{
    switch (call->entry) {
    case BENCH_CALL_COUNTED:
        return BENCH_INSTANCE_HEADER_BYTES + call->payload_bytes + BENCH_COUNTERS_BYTES;
    case BENCH_CALL_EVENT:
        return BENCH_EVENT_HEADER_BYTES + call->payload_bytes;
    case BENCH_CALL_WRITE:
    case BENCH_CALL_MANY_WRITE:
        return BENCH_MODERN_HEADER_BYTES + call->payload_bytes;
    case BENCH_CALL_STACK:
        return BENCH_MODERN_HEADER_BYTES + 16 + 8 * BENCH_CALL_FRAMES + call->payload_bytes;
    case BENCH_CALL_TRACELOGGING:
        return BENCH_TRACELOGGING_HEADER_BYTES + call->payload_bytes;
    case BENCH_CALL_MESSAGE:
        return BENCH_MESSAGE_HEADER_BYTES + call->payload_bytes;
    default:
        return BENCH_INSTANCE_HEADER_BYTES + call->payload_bytes;
    }
}

static bool has_file(const struct bench_call *call)
{
    return call->mode == BENCH_CALL_FILE || call->mode == BENCH_CALL_FILE_THREAD;
}

static const char *start(struct bench_session *session, const struct bench_call *call,
                         const char *name)
{
    const uint32_t first = bench_first_processor();
    const struct bench_session_request request = {
        .name = name,
        .buffering = !has_file(call),
        .one_slot = call->mode == BENCH_CALL_ONE_SLOT,
        .process_times = call->mode == BENCH_CALL_TIMES,
        .crash_safe = call->mode == BENCH_CALL_CRASH_SAFE,
        .classes = call->mode == BENCH_CALL_CLASSES,
        .protocol = call->protocol,
        .clock = call->clock,
        .buffers = call->buffers,
        .buffer_kb = call->buffer_kb,
        .no_flusher = call->mode != BENCH_CALL_FILE_THREAD,
        .flusher_cpu = &first,
    };

    return bench_session_start(session, &request);
}

static void run_batches(struct bench_state *state, const struct bench_session *session,
                        const struct bench_call *call, struct events *events, uint64_t *attempted)
{
    uint32_t expected = call->mode == BENCH_CALL_STOPPED ? ERROR_INVALID_HANDLE : ERROR_SUCCESS;
    uint32_t batch = BATCH_BYTES / record_bytes(call);

    batch = batch < BENCH_BATCH ? batch : BENCH_BATCH;
    batch -= call->batch != 0 ? batch % call->batch : 0;
    if (!has_file(call) && call->mode != BENCH_CALL_STOPPED) {
        uint32_t buffer_kb = call->buffer_kb != 0 ? call->buffer_kb : BENCH_BUFFER_KB;
        uint64_t pool_bytes = (uint64_t)call->buffers * buffer_kb * 1024;

        while (*attempted / records(call) * record_bytes(call) < pool_bytes) {
            if (loops[call->entry](session->handle, events, batch) != ERROR_SUCCESS) {
                bench_fail(state, "cannot fill the flight recorder");
                return;
            }
            *attempted += batch * records(call);
        }
    }
    while (bench_next_batch(state, batch)) {
        uint64_t start_ns = bench_now_ns();
        uint32_t codes = loops[call->entry](session->handle, events, batch);

        bench_batch_took(state, bench_now_ns() - start_ns);
        *attempted += batch * records(call);
        if (codes != expected) {
            bench_fail(state, "an event was refused or lost");
        }
        if (has_file(call) && etwas_flush(session->handle) != ERROR_SUCCESS) {
            bench_fail(state, "cannot write the log file");
        }
    }
}

static bool enable(const struct bench_call *call, const struct bench_session *session)
{
    const etwas_guid *guid = call->entry == BENCH_CALL_TRACELOGGING ? &described->id
                             : call->entry == BENCH_CALL_COUNTED    ? &bench_class_guid
                                                                    : &modern_guid;
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};

    if (call->entry == BENCH_CALL_STACK) {
        parameters.EnableProperty = EVENT_ENABLE_PROPERTY_STACK_TRACE;
    } else if (call->entry == BENCH_CALL_COUNTED) {
        parameters.EnableProperty = ETWAS_ENABLE_PROPERTY_COUNTERS;
    } else if (call->entry != BENCH_CALL_WRITE && call->entry != BENCH_CALL_MANY_WRITE &&
               call->entry != BENCH_CALL_TRACELOGGING) {
        return true;
    }
    return EnableTraceEx2(session->handle, guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                          TRACE_LEVEL_INFORMATION, 1, 0, 0, &parameters) == ERROR_SUCCESS;
}

/* Starts another session that takes the same events. Returns NULL, or why there is none. */
static const char *start_another(struct bench_session *another, const struct bench_call *call)
{
    const char *reason = start(another, call, "etwas_bench_another");

    if (reason == NULL && !enable(call, another)) {
        reason = "cannot enable the provider";
    }
    return reason;
}

static void body(struct bench_state *state, const void *argument)
{
    static _Alignas(64) struct events events;
    const struct bench_call *call = argument;
    const bool two = call->mode == BENCH_CALL_TWO;
    struct bench_session session;
    struct bench_session another;
    uint64_t attempted = 0;
    const char *reason;

    if (!prepare(&events, call)) {
        bench_fail(state, "cannot register the provider");
        return;
    }
    reason = start(&session, call, NULL);
    if (reason == NULL && !enable(call, &session)) {
        reason = "cannot enable the provider";
    }
    if (reason == NULL && two) {
        reason = start_another(&another, call);
    }
    if (reason == NULL && call->mode == BENCH_CALL_STOPPED) {
        reason = bench_session_stop(&session, 0, NULL);
    }
    if (reason == NULL) {
        run_batches(state, &session, call, &events, &attempted);
        if (call->mode != BENCH_CALL_STOPPED) {
            reason = bench_session_stop(&session, attempted, NULL);
        }
        if (two && reason == NULL) {
            reason = bench_session_stop(&another, attempted, NULL);
        }
    }
    if (reason != NULL) {
        bench_fail(state, reason);
    }
}

void bench_call_register(const struct bench_call *call)
{
    static struct bench_call rows[MOST_ROWS];
    static size_t count;

    if (count == MOST_ROWS) {
        (void)fprintf(stderr, "more than %d rows\n", MOST_ROWS);
        abort();
    }
    rows[count] = *call;
    bench_register(rows[count].name, body, &rows[count]);
    count++;
}
