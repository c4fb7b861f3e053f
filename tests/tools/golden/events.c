/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "events.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#if GENERATION >= 5
TRACELOGGING_DEFINE_PROVIDER(shop, "Golden.Shop",
                             (0x2c7d31e6, 0x94f0, 0x4b58, 0xa6, 0x1b, 0x0d, 0x72, 0xe9, 0x45, 0x83,
                              0xcf));
#endif

const GUID server_guid = {
    0x3c1d5f08, 0x77a2, 0x4e6b, {0x8e, 0x15, 0xb0, 0x29, 0x64, 0xfa, 0x0c, 0x93}};
static const GUID request_guid = {
    0x8a40e7d1, 0x2b96, 0x4f3c, {0xa5, 0x0d, 0x17, 0xc8, 0x3e, 0x59, 0xb2, 0x64}};
static const GUID step_guid = {
    0xd29b6c55, 0x90ef, 0x4178, {0xbc, 0x43, 0x7a, 0x1e, 0x05, 0x8f, 0xd6, 0x3b}};
static const GUID number_guid = {
    0x61e4c0b7, 0xa8d9, 0x4352, {0x9f, 0x70, 0x2c, 0xe5, 0x18, 0x4b, 0xd3, 0x0a}};
#if GENERATION >= 2
const GUID modern_guid = {
    0x5b7e21c4, 0x0d93, 0x46fa, {0x9b, 0x3e, 0x71, 0xc2, 0x58, 0xa4, 0x06, 0xed}};
#endif

static TRACE_GUID_REGISTRATION classes[] = {{&request_guid, NULL}, {&step_guid, NULL}};
TRACEHANDLE session;
static uint32_t next_number;

void require(const char *what, ULONG error)
{
    if (error != ERROR_SUCCESS) {
        fprintf(stderr, "%s: %u\n", what, error);
        exit(1);
    }
}

void log_number(uint32_t bytes)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint32_t number;
        char filler[FILLER_BYTES];
    } event = {.header = {.Guid = number_guid}, .number = ++next_number};

    event.header.Size = (USHORT)(sizeof event.header + sizeof event.number + bytes);
    event.header.Class.Type = 10;
    event.header.Class.Level = 4;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    TraceEvent(session, &event.header);
}

static void log_instance(UCHAR type, EVENT_INSTANCE_INFO *self, EVENT_INSTANCE_INFO *parent)
{
    static const char name[] = "golden";
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD name;
    } event = {.header = {.Size = sizeof event, .RegHandle = (ULONG64)self->RegHandle}};

    event.header.Class.Type = type;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    DEFINE_TRACE_MOF_FIELD(&event.name, name, sizeof name, ETW_ASCIISTRING_TYPE_VALUE);
    TraceEventInstance(session, &event.header, self, parent);
}

static void *do_step(void *parent)
{
    EVENT_INSTANCE_INFO step;
    cpu_set_t second;

    CPU_ZERO(&second);
    CPU_SET(1, &second);
    sched_setaffinity(0, sizeof second, &second);
    CreateTraceInstanceId(classes[1].RegHandle, &step);
    log_instance(EVENT_TRACE_TYPE_START, &step, parent);
    log_instance(EVENT_TRACE_TYPE_END, &step, parent);
    return NULL;
}

void log_instances(void)
{
    EVENT_INSTANCE_INFO request;
    pthread_t helper;

    CreateTraceInstanceId(classes[0].RegHandle, &request);
    log_instance(EVENT_TRACE_TYPE_START, &request, NULL);
    pthread_create(&helper, NULL, do_step, &request);
    pthread_join(helper, NULL);
    log_instance(EVENT_TRACE_TYPE_END, &request, NULL);
}

#if GENERATION >= 2
static void log_message(void)
{
    uint32_t number = ++next_number;

    TraceMessage(session,
                 TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO |
                     TRACE_MESSAGE_SEQUENCE,
                 &number_guid, 7, &number, sizeof number, "golden", sizeof "golden", NULL);
}

static REGHANDLE modern;

void log_modern(void)
{
    EVENT_DESCRIPTOR descriptor = {.Id = 3, .Version = 1, .Level = 4, .Task = 2, .Keyword = 0x10};
    EVENT_DATA_DESCRIPTOR data;
    GUID activity = modern_guid;
    uint32_t number = ++next_number;

    EventDataDescCreate(&data, &number, sizeof number);
    EventWrite(modern, &descriptor, 1, &data);
    descriptor.Opcode = 1; /* start */
    EventWriteTransfer(modern, &descriptor, &activity, NULL, 1, &data);
    descriptor.Opcode = 2; /* stop */
    EventWriteTransfer(modern, &descriptor, &activity, &server_guid, 0, NULL);
}
#endif

#if GENERATION >= 5
static void describe(void)
{
    static const etwas_field_description number[] = {
        {.name = "number", .in_type = TDH_INTYPE_UINT32}};
    static const etwas_field_description name[] = {
        {.name = "name", .in_type = TDH_INTYPE_ANSISTRING}};
    static const etwas_type_description numbers[] = {
        {.name = "Logged", .type = 10, .level = 4, .fields = number, .field_count = 1}};
    static const etwas_type_description spans[] = {
        {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = name, .field_count = 1},
        {.name = "End", .type = EVENT_TRACE_TYPE_END, .fields = name, .field_count = 1}};
    static const etwas_class_description descriptions[] = {{.guid = &number_guid,
                                                            .provider_name = "Golden",
                                                            .name = "Number",
                                                            .types = numbers,
                                                            .type_count = 1},
                                                           {.guid = &request_guid,
                                                            .provider_name = "Golden",
                                                            .name = "Request",
                                                            .types = spans,
                                                            .type_count = 2},
                                                           {.guid = &step_guid,
                                                            .provider_name = "Golden",
                                                            .name = "Step",
                                                            .types = spans,
                                                            .type_count = 2}};

    for (int i = 0; i < 3; i++) {
        require("describe", etwas_describe_class(&descriptions[i], NULL));
    }
    require("describe a message", etwas_describe_message(&number_guid, 7, "number %u of %s"));
}

static void log_self_describing(void)
{
    const uint16_t shelves[] = {3, 12};
    GUID order = request_guid;

    TraceLoggingWriteActivity(
        shop, "Order", &order, NULL, TraceLoggingOpcode(1),
        TraceLoggingUInt32(++next_number, "number"), TraceLoggingStruct(2, "Customer"),
        TraceLoggingUtf8String("Ada", "Name"), TraceLoggingBoolean(1, "IsNew"),
        TraceLoggingUInt16FixedArray(shelves, 2, "Shelves"));
    TraceLoggingWriteActivity(shop, "Order", &order, NULL, TraceLoggingOpcode(2));
}
#endif

void log_all(void)
{
    log_number(0);
    log_instances();
#if GENERATION >= 2
    log_message();
    log_modern();
#endif
#if GENERATION >= 5
    log_self_describing();
#endif
}

#if GENERATION >= 10
void log_noise(void)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint32_t noise[FILLER_BYTES / 4];
    } event = {.header = {.Size = sizeof event, .Guid = server_guid}};
    uint32_t state = 1;

    event.header.Class.Type = 11;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    for (int i = 0; i < FILLER_BYTES / 4; i++) {
        state = state * 1664525 + 1013904223;
        event.noise[i] = state ^ state >> 16;
    }
    for (int i = 0; i < 3; i++) {
        TraceEvent(session, &event.header);
    }
}
#endif

static ULONG on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)code, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

void register_all(void)
{
    TRACEHANDLE provider;

    require("register",
            RegisterTraceGuids(on_control, NULL, &server_guid, 2, classes, NULL, NULL, &provider));
#if GENERATION >= 2
    require("register modern", EventRegister(&modern_guid, NULL, NULL, &modern));
#endif
#if GENERATION >= 5
    describe();
    TraceLoggingRegister(shop);
#endif
}
