/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* etwas: TraceEventInstance. */
#include <etwas/etwas.h>
#include <string.h>

#include "etwas_session.h"
#include "peer.h"

struct event {
    EVENT_INSTANCE_HEADER header;
    uint8_t payload[PEER_BLOB_BYTES];
};

static const etwas_guid class_guid = {
    0x6d2f81c3, 0x90a7, 0x4b1e, {0xb5, 0x2c, 0x7f, 0x03, 0xe8, 0x4a, 0x19, 0xd6}};

static TRACE_GUID_REGISTRATION class_registration = {.Guid = &class_guid};
static etwas_trace_handle provider;
static etwas_trace_handle session;

static _Thread_local struct event event;
static _Thread_local EVENT_INSTANCE_INFO instance;

static uint32_t ignore_control(WMIDPREQUESTCODE code, void *context, uint32_t *reserved,
                               void *wnode)
{
    (void)code;
    (void)context;
    (void)reserved;
    (void)wnode;
    return ERROR_SUCCESS;
}

uint32_t etwas_peer_begin(etwas_trace_handle to)
{
    session = to;
    return RegisterTraceGuidsA(ignore_control, NULL, &class_guid, 1, &class_registration, NULL,
                               NULL, &provider);
}

void etwas_peer_end(void)
{
    (void)UnregisterTraceGuids(provider);
}

bool peer_producer_begin(void)
{
    event = (struct event){.header.Flags = WNODE_FLAG_TRACED_GUID};
    event.header.Class.Type = EVENT_TRACE_TYPE_INFO;
    return CreateTraceInstanceId(class_registration.RegHandle, &instance) == ERROR_SUCCESS;
}

void peer_settle(void)
{
}

static inline void log_u64_u32(uint64_t first, uint32_t second)
{
    memcpy(event.payload, &first, sizeof first);
    memcpy(event.payload + sizeof first, &second, sizeof second);
    event.header.Size = sizeof event.header + sizeof first + sizeof second;
    (void)TraceEventInstance(session, &event.header, &instance, NULL); /* loss is counted */
}

static inline void log_blob64(const uint8_t *blob)
{
    memcpy(event.payload, blob, PEER_BLOB_BYTES);
    event.header.Size = sizeof event.header + PEER_BLOB_BYTES;
    (void)TraceEventInstance(session, &event.header, &instance, NULL);
}

PEER_LOOPS(log_u64_u32, log_blob64)
