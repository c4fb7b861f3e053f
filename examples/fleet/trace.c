/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The event classes, the TraceLogging provider, the session, and the counts that the demonstration
 * compares with the stored events.
 */

#include "trace.h"

#include <etwas/TraceLoggingProvider.h>
#include <etwas/tdh.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BUFFER_KB = 64,
    MOST_BUFFERS = 64,
    PART_MB = 1
};

static const GUID shop_guid = {
    0x51d0b7a4, 0x6c1f, 0x4e88, {0x93, 0x2e, 0x0b, 0x74, 0xd5, 0xaf, 0x61, 0xc8}};
static const GUID class_guids[SHOP_CLASSES] = {
    [SHOP_REQUEST] = {0x0d6e2b91, 0x84f3, 0x4b57, {0xa1, 0x7c, 0x39, 0xe2, 0x56, 0x08, 0xfb, 0xd4}},
    [SHOP_CALL] = {0x7f3a95c6, 0x12de, 0x4609, {0xb8, 0x41, 0xee, 0x0d, 0x73, 0x9a, 0x25, 0x6f}},
    [SHOP_WORK] = {0xc4581e0b, 0xa967, 0x4d32, {0x8f, 0xd0, 0x64, 0x1b, 0x97, 0xc3, 0x5e, 0x2a}}};

ETWAS_TRACELOGGING_PROVIDER(orders, "Shop.Orders");

/* ---- how the events are called, and their fields ---- */

static const etwas_map_entry outcomes[] = {{.name = "done", .value = SHOP_DONE},
                                           {.name = "refused", .value = SHOP_REFUSED},
                                           {.name = "failed", .value = SHOP_FAILED}};
static const etwas_map_description maps[] = {
    {.name = "Outcome", .entries = outcomes, .entry_count = sizeof outcomes / sizeof outcomes[0]}};
static const etwas_field_description start_fields[] = {
    {.name = "order", .in_type = TDH_INTYPE_UINT32},
    {.name = "with", .in_type = TDH_INTYPE_ANSISTRING}};
static const etwas_field_description end_fields[] = {
    {.name = "order", .in_type = TDH_INTYPE_UINT32},
    {.name = "outcome", .map = "Outcome", .in_type = TDH_INTYPE_UINT32},
    {.name = "amount", .in_type = TDH_INTYPE_DOUBLE}};
static const etwas_type_description types[] = {
    {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = start_fields, .field_count = 2},
    {.name = "End", .type = EVENT_TRACE_TYPE_END, .fields = end_fields, .field_count = 3}};
static const char *const class_names[SHOP_CLASSES] = {
    [SHOP_REQUEST] = "Request", [SHOP_CALL] = "Call", [SHOP_WORK] = "Work"};

static uint32_t describe(void)
{
    uint32_t error = ERROR_SUCCESS;

    for (int i = 0; i < SHOP_CLASSES && error == ERROR_SUCCESS; i++) {
        const etwas_class_description description = {.guid = &class_guids[i],
                                                     .provider_name = "Shop",
                                                     .name = class_names[i],
                                                     .types = types,
                                                     .type_count = 2,
                                                     .maps = maps,
                                                     .map_count = 1};

        error = etwas_describe_class(&description, NULL);
    }
    return error;
}

/* ---- counts ---- */

/*
 * Kept in a mapped file, so that the counts survive a kill. An event in `logged` is certainly
 * recorded. One that is only in `begun` was being logged.
 */
struct counts {
    _Atomic uint64_t begun;
    _Atomic uint64_t logged;
};
static struct counts *counts;

static bool map_counts(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    void *place = MAP_FAILED;

    if (file >= 0 && ftruncate(file, sizeof *counts) == 0) {
        place = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
    counts = place;
    return place != MAP_FAILED;
}

/* ---- the session ---- */

static TRACE_GUID_REGISTRATION registered[SHOP_CLASSES];
static TRACEHANDLE session;

static ULONG on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)code, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

static uint32_t start_session(const char *service, const char *spool)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
        .maximum_file_size = PART_MB,
        .buffer_size_kb = BUFFER_KB,
        .maximum_buffers = MOST_BUFFERS,
        .flush_timer = 1,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
    };
    const GUID provider = TraceLoggingProviderId(orders);
    char file[4096];
    uint32_t error;

    (void)snprintf(file, sizeof file, "%s/%s-%%d.etl", spool, service);
    error = etwas_start(service, file, &options, &session);
    return error != ERROR_SUCCESS
               ? error
               : EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                                TRACE_LEVEL_VERBOSE, 0, 0, 0, NULL);
}

uint32_t shop_trace_start(const char *service, const char *spool, const char *counts_path)
{
    TRACEHANDLE provider;
    uint32_t error;

    if (!map_counts(counts_path)) {
        perror(counts_path);
        return ERROR_ACCESS_DENIED;
    }
    for (int i = 0; i < SHOP_CLASSES; i++) {
        registered[i].Guid = &class_guids[i];
    }
    error = RegisterTraceGuids(on_control, NULL, &shop_guid, SHOP_CLASSES, registered, NULL, NULL,
                               &provider);
    if (error == ERROR_SUCCESS) {
        error = describe();
    }
    if (error == ERROR_SUCCESS) {
        TraceLoggingRegister(orders);
        error = start_session(service, spool);
    }
    if (error != ERROR_SUCCESS) {
        char reason[512] = "";

        (void)etwas_crash_safe_refusal(reason, sizeof reason);
        fprintf(stderr, "%s is not traced: %s. %s\n", service, etwas_error_text(error), reason);
    }
    return error;
}

uint32_t shop_trace_stop(void)
{
    return etwas_stop(session, NULL);
}

/* ---- events ---- */

/* `event` is a header followed by its fields. */
static void log_instance(EVENT_INSTANCE_HEADER *event, UCHAR type, EVENT_INSTANCE_INFO *self,
                         EVENT_INSTANCE_INFO *parent)
{
    event->Class.Type = type;
    event->Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    event->RegHandle = (ULONG64)self->RegHandle;
    atomic_fetch_add(&counts->begun, 1);
    if (TraceEventInstance(session, event, self, parent) == ERROR_SUCCESS) {
        atomic_fetch_add(&counts->logged, 1);
    }
}

void shop_trace_begin(enum shop_class class, EVENT_INSTANCE_INFO *self, EVENT_INSTANCE_INFO *parent,
                      const struct shop_order *order, const char *with)
{
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD fields[2];
    } event = {.header.Size = sizeof event};

    (void)CreateTraceInstanceId(registered[class].RegHandle, self);
    DEFINE_TRACE_MOF_FIELD(&event.fields[0], &order->number, sizeof order->number, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[1], with, strlen(with) + 1, 0);
    log_instance(&event.header, EVENT_TRACE_TYPE_START, self, parent);
}

void shop_trace_end(EVENT_INSTANCE_INFO *self, EVENT_INSTANCE_INFO *parent,
                    const struct shop_order *order, enum shop_outcome outcome)
{
    const uint32_t value = outcome;
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD fields[3];
    } event = {.header.Size = sizeof event};

    DEFINE_TRACE_MOF_FIELD(&event.fields[0], &order->number, sizeof order->number, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[1], &value, sizeof value, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[2], &order->amount, sizeof order->amount, 0);
    log_instance(&event.header, EVENT_TRACE_TYPE_END, self, parent);
}

/*
 * Logs an event of the order's activity, with the order's number, the service and further fields.
 */
#define LOG_ACTIVITY(name, order, service, ...)                                                    \
    do {                                                                                           \
        atomic_fetch_add(&counts->begun, 1);                                                       \
        TraceLoggingWriteActivity(orders, name, &(order)->activity, NULL,                          \
                                  TraceLoggingUInt32((order)->number, "order"),                    \
                                  TraceLoggingString(service, "service"), __VA_ARGS__);            \
        atomic_fetch_add(&counts->logged, 1);                                                      \
    } while (0)

void shop_trace_received(const struct shop_order *order, const char *service)
{
    LOG_ACTIVITY("Received", order, service, TraceLoggingLevel(TRACE_LEVEL_INFORMATION),
                 TraceLoggingFloat64(order->amount, "amount"));
}

void shop_trace_answered(const struct shop_order *order, const char *service,
                         enum shop_outcome outcome)
{
    LOG_ACTIVITY("Answered", order, service, TraceLoggingLevel(TRACE_LEVEL_INFORMATION),
                 TraceLoggingString(outcomes[outcome].name, "outcome"));
}

void shop_trace_trouble(const struct shop_order *order, const char *service, const char *reason)
{
    LOG_ACTIVITY("Trouble", order, service, TraceLoggingLevel(TRACE_LEVEL_ERROR),
                 TraceLoggingString(reason, "reason"));
}
