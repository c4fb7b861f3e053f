/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: shipping_events FILE EVENTS
 *
 * Writes the log file that shipping.py ships: EVENTS events of two threads, of twenty described
 * classes, with QPC. Each is the START or the END of an instance with a parent. A START has an
 * order and its article, an END an order, its outcome and its price.
 */
#include <etwas/etwas.h>
#include <etwas/tdh.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    THREADS = 2,
    CLASSES = 20,
    BUFFERS = 512,
    BUFFER_KB = 64,
    WAIT_NS = 20000,
    TEXT_BYTES = 8
};

struct start {
    EVENT_INSTANCE_HEADER header;
    uint32_t order;
    char article[TEXT_BYTES];
};

struct end {
    EVENT_INSTANCE_HEADER header;
    uint32_t order;
    uint32_t outcome;
    double price;
};

struct writer {
    pthread_t thread;
    uint32_t number;
    uint64_t events;
};

static const char *const articles[] = {"anvil", "bolt", "clamp", "drill",
                                       "etui",  "file", "gauge", "hammer"};
static GUID guids[CLASSES];
static TRACE_GUID_REGISTRATION registered[CLASSES];
static TRACEHANDLE session;

/* ---- the classes ----------------------------------------------------------------------------- */

static const etwas_map_entry outcomes[] = {
    {.name = "done", .value = 0}, {.name = "refused", .value = 1}, {.name = "failed", .value = 2}};
static const etwas_map_description maps[] = {
    {.name = "Outcome", .entries = outcomes, .entry_count = sizeof outcomes / sizeof outcomes[0]}};
static const etwas_field_description start_fields[] = {
    {.name = "order", .in_type = TDH_INTYPE_UINT32},
    {.name = "article", .in_type = TDH_INTYPE_ANSISTRING}};
static const etwas_field_description end_fields[] = {
    {.name = "order", .in_type = TDH_INTYPE_UINT32},
    {.name = "outcome", .map = "Outcome", .in_type = TDH_INTYPE_UINT32},
    {.name = "price", .in_type = TDH_INTYPE_DOUBLE}};
static const etwas_type_description types[] = {
    {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = start_fields, .field_count = 2},
    {.name = "End", .type = EVENT_TRACE_TYPE_END, .fields = end_fields, .field_count = 3}};

static uint32_t describe(uint32_t number)
{
    char name[16];
    const etwas_class_description description = {.guid = &guids[number],
                                                 .provider_name = "Shop",
                                                 .name = name,
                                                 .types = types,
                                                 .type_count = 2,
                                                 .maps = maps,
                                                 .map_count = 1};

    (void)snprintf(name, sizeof name, "Work%02u", number);
    return etwas_describe_class(&description, NULL);
}

static ULONG on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)code;
    (void)context;
    (void)size;
    (void)buffer;
    return ERROR_SUCCESS;
}

static bool make_classes(void)
{
    static const GUID provider = {.Data1 = 0x5b0e6d41, .Data2 = 0x93c7, .Data3 = 0x4f02};
    TRACEHANDLE handle;

    for (uint32_t i = 0; i < CLASSES; i++) {
        guids[i] = (GUID){.Data1 = 0x8a4d2c10 + i, .Data2 = 0x17b3, .Data3 = 0x4e95};
        registered[i].Guid = &guids[i];
        if (describe(i) != ERROR_SUCCESS) {
            return false;
        }
    }
    return RegisterTraceGuids(on_control, NULL, &provider, CLASSES, registered, NULL, NULL,
                              &handle) == ERROR_SUCCESS;
}

/* ---- the events ------------------------------------------------------------------------------ */

/* Logs an event. A writer that finds no buffer waits a moment and logs it again. */
static void log_event(EVENT_INSTANCE_HEADER *header, EVENT_INSTANCE_INFO *instance,
                      EVENT_INSTANCE_INFO *parent)
{
    while (TraceEventInstance(session, header, instance, parent) != ERROR_SUCCESS) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
}

static void log_one(uint64_t number, uint32_t order, EVENT_INSTANCE_INFO *parent)
{
    EVENT_INSTANCE_INFO instance;
    struct start start = {.header = {.Size = sizeof start, .Flags = WNODE_FLAG_TRACED_GUID},
                          .order = order};
    struct end end = {.header = {.Size = sizeof end, .Flags = WNODE_FLAG_TRACED_GUID},
                      .order = order,
                      .outcome = order % 17 == 0 ? order % 3 : 0,
                      .price = (double)(order * 2654435761u % 10000) / 100};
    HANDLE class = registered[number % CLASSES].RegHandle;

    (void)CreateTraceInstanceId(class, &instance);
    (void)strcpy(start.article, articles[order * 40503u / 16 % 8]);
    start.header.Size = (USHORT)(offsetof(struct start, article) + strlen(start.article) + 1);
    start.header.RegHandle = (ULONG64) class;
    start.header.Class.Type = EVENT_TRACE_TYPE_START;
    end.header.RegHandle = (ULONG64) class;
    end.header.Class.Type = EVENT_TRACE_TYPE_END;
    log_event(&start.header, &instance, parent);
    log_event(&end.header, &instance, parent);
}

static void *write_events(void *argument)
{
    const struct writer *writer = argument;
    EVENT_INSTANCE_INFO parent;

    (void)CreateTraceInstanceId(registered[0].RegHandle, &parent);
    for (uint64_t i = 0; i < writer->events / 2; i++) {
        if (i % 8 == 0) {
            (void)CreateTraceInstanceId(registered[0].RegHandle, &parent);
        }
        log_one(i * 7 + writer->number, (uint32_t)(i / 8 * THREADS + writer->number), &parent);
    }
    return NULL;
}

static bool record(const char *path, uint64_t events)
{
    const etwas_session_options options = {.buffer_size_kb = BUFFER_KB, .minimum_buffers = BUFFERS};
    struct writer writers[THREADS];
    etwas_session_counts counts = {0};
    uint32_t code = etwas_start("etwas_bench_shipping", path, &options, &session);

    if (code != ERROR_SUCCESS) {
        fprintf(stderr, "%s: %s\n", path, etwas_error_text(code));
        return false;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){.number = i, .events = events / THREADS};
        if (pthread_create(&writers[i].thread, NULL, write_events, &writers[i]) != 0) {
            abort();
        }
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        (void)pthread_join(writers[i].thread, NULL);
    }
    return etwas_stop(session, &counts) == ERROR_SUCCESS && counts.recorded == events / 4 * 4;
}

int main(int argc, char **argv)
{
    uint64_t events = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

    if (events == 0) {
        fprintf(stderr, "usage: shipping_events FILE EVENTS\n");
        return 2;
    }
    return make_classes() && record(argv[1], events) ? 0 : 1;
}
