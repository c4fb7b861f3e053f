/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas itself, with as much buffer memory as the LTTng sessions of peers.py have. The words of
 * `what`:
 *
 *     buffering | file    a flight recorder, or a log file with a flusher thread
 *     tsc | qpc           the clock
 *     1mb                 buffers of 1 MB, 16 a processor, instead of 64 KB, 64 a processor
 *     shared              the shared protocol also where rseq could be had
 */
#include <etwas/etwas.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

bool peer_start(const char *what, const char *folder)
{
    bool large = strstr(what, "1mb") != NULL;
    uint32_t processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    etwas_session_options options = {
        .clock = strstr(what, "qpc") != NULL ? ETWAS_CLOCK_QPC : ETWAS_CLOCK_TSC,
        .buffer_size_kb = large ? 1024 : 64,
        .minimum_buffers = (large ? 16 : 64) * processors,
    };
    char log_file[512];
    uint32_t code;

    options.maximum_buffers = options.minimum_buffers;
    if (strstr(what, "shared") != NULL) {
        options.protocol = ETWAS_PROTOCOL_SHARED;
    }
    if (strstr(what, "buffering") != NULL) {
        options.log_file_mode = EVENT_TRACE_BUFFERING_MODE;
    }
    (void)snprintf(log_file, sizeof log_file, "%s/etwas.etl", folder);
    code = RegisterTraceGuidsA(ignore_control, NULL, &class_guid, 1, &class_registration, NULL,
                               NULL, &provider);
    if (code == ERROR_SUCCESS) {
        code = etwas_start("etwas_peers", options.log_file_mode == 0 ? log_file : NULL, &options,
                           &session);
    }
    if (code != ERROR_SUCCESS) {
        (void)fprintf(stderr, "the session cannot be started: error %u\n", code);
        return false;
    }
    return true;
}

bool peer_stop(uint64_t attempted, struct peer_counts *counts)
{
    etwas_session_counts events;
    uint32_t code = etwas_stop(session, &events);

    (void)UnregisterTraceGuids(provider);
    if (code != ERROR_SUCCESS) {
        (void)fprintf(stderr, "the session cannot be stopped: error %u\n", code);
        return false;
    }
    *counts = (struct peer_counts){.lost = events.lost, .known = true};
    if (events.committed_rseq != 0) {
        (void)snprintf(counts->note, sizeof counts->note, "%.3f %% by rseq, %llu restarts",
                       100.0 * (double)events.committed_rseq /
                           (double)(events.committed_rseq + events.committed_shared),
                       (unsigned long long)events.restarts);
    }
    if (events.recorded + events.overwritten + events.lost != attempted) {
        (void)fprintf(stderr, "events are missing\n");
        return false;
    }
    return true;
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
