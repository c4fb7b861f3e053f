/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Logs requests and their steps as instances with parents, so that one request can be picked out of
 * all that ran at the same time. Then the program reads its trace and prints the steps of the first
 * request.
 */

#include <etwas/etwas.h>
#include <etwas/tdh.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    THREADS = 4,
    REQUESTS_EACH = 50,
    EVENTS_OF_ONE = 14,
    DEEPEST = 3
};

static const GUID server_guid = {
    0x3c1d5f08, 0x77a2, 0x4e6b, {0x8e, 0x15, 0xb0, 0x29, 0x64, 0xfa, 0x0c, 0x93}};
static const GUID request_guid = {
    0x8a40e7d1, 0x2b96, 0x4f3c, {0xa5, 0x0d, 0x17, 0xc8, 0x3e, 0x59, 0xb2, 0x64}};
static const GUID step_guid = {
    0xd29b6c55, 0x90ef, 0x4178, {0xbc, 0x43, 0x7a, 0x1e, 0x05, 0x8f, 0xd6, 0x3b}};

static const etwas_field_description fields[] = {
    {.name = "name", .in_type = TDH_INTYPE_ANSISTRING}};
static const etwas_type_description types[] = {
    {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = fields, .field_count = 1},
    {.name = "End", .type = EVENT_TRACE_TYPE_END, .fields = fields, .field_count = 1}};
static const etwas_class_description descriptions[] = {{.guid = &request_guid,
                                                        .provider_name = "Server",
                                                        .name = "Request",
                                                        .types = types,
                                                        .type_count = 2},
                                                       {.guid = &step_guid,
                                                        .provider_name = "Server",
                                                        .name = "Step",
                                                        .types = types,
                                                        .type_count = 2}};

static TRACE_GUID_REGISTRATION classes[] = {{&request_guid, NULL}, {&step_guid, NULL}};
static TRACEHANDLE session;

static ULONG on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)code, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

/* Logs the start or the end of `self`. The payload is its name. */
static void log_event(UCHAR type, EVENT_INSTANCE_INFO *self, EVENT_INSTANCE_INFO *parent,
                      const char *name)
{
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD name;
    } event = {.header = {.Size = sizeof event, .RegHandle = (ULONG64)self->RegHandle}};

    event.header.Class.Type = type;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    DEFINE_TRACE_MOF_FIELD(&event.name, name, strlen(name) + 1, ETW_ASCIISTRING_TYPE_VALUE);
    TraceEventInstance(session, &event.header, self, parent);
}

/* Performs a request, or the step `name` of `parent`, including the steps inside it. */
static void work(const char *name, EVENT_INSTANCE_INFO *parent)
{
    static const char *const steps[][3] = {{"parse", "query", "reply"}, {"row", "row", "row"}};
    EVENT_INSTANCE_INFO self;

    CreateTraceInstanceId(classes[parent != NULL].RegHandle, &self);
    log_event(EVENT_TRACE_TYPE_START, &self, parent, name);
    for (int i = 0; i < 3 && (parent == NULL || strcmp(name, "query") == 0); i++) {
        work(steps[parent != NULL][i], &self);
    }
    log_event(EVENT_TRACE_TYPE_END, &self, parent, name);
}

static void *serve(void *unused)
{
    for (int i = 0; i < REQUESTS_EACH; i++) {
        work("request", NULL);
    }
    return unused;
}

static ULONG events, of_one;
static ULONG path[DEEPEST + 1]; /* open instances; path[1] is the request */
static int depth;

/* Events come in time order, so the start of a parent precedes those of its children. */
static void WINAPI on_event(PEVENT_TRACE event)
{
    events += event->InstanceId != 0; /* the file header is not an instance */
    if (depth > 0 && event->InstanceId == path[depth]) {
        depth--;
        of_one++;
    } else if ((depth > 0 || (of_one == 0 && event->InstanceId != 0)) && depth < DEEPEST &&
               event->ParentInstanceId == path[depth]) {
        printf("%*s%.*s, instance %u\n", 4 * depth, "", (int)event->MofLength,
               (const char *)event->MofData, event->InstanceId);
        path[++depth] = event->InstanceId;
        of_one++;
    }
}

int main(int argc, char **argv)
{
    char *file = argc > 1 ? argv[1] : (char[]){"transactions.etl"};
    EVENT_TRACE_LOGFILE trace = {.LogFileName = file, .EventCallback = on_event};
    TRACEHANDLE provider, handle;
    pthread_t threads[THREADS];

    if (RegisterTraceGuids(on_control, NULL, &server_guid, 2, classes, NULL, NULL, &provider) ||
        etwas_describe_class(&descriptions[0], NULL) ||
        etwas_describe_class(&descriptions[1], NULL) ||
        etwas_start("transactions", file, NULL, &session)) {
        fprintf(stderr, "cannot record to %s\n", file);
        return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, serve, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    etwas_stop(session, NULL);
    UnregisterTraceGuids(provider);
    handle = OpenTrace(&trace);
    ProcessTrace(&handle, 1, NULL, NULL);
    CloseTrace(handle);
    printf("%u events of the one, %u in all\n", of_one, events);
    return of_one == EVENTS_OF_ONE && events == THREADS * REQUESTS_EACH * EVENTS_OF_ONE ? 0 : 1;
}
