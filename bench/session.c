/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Starts, stops and checks sessions (session.h). */
#include "session.h"

#include <etwas/shared.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rows_json.h"

const etwas_guid bench_class_guid = {
    0x2b1f3c58, 0x6f0d, 0x4e6b, {0x93, 0x5a, 0x0e, 0x71, 0xc4, 0x28, 0xbd, 0x96}};

const char *bench_protocol_name(uint32_t protocol)
{
    return protocol == ETWAS_PROTOCOL_RSEQ ? "rseq" : "shared";
}

void bench_choose_log_file(char *path, size_t size)
{
    const char *folder = getenv("ETWAS_BENCH_FOLDER");

    if (folder == NULL) {
        folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    (void)snprintf(path, size, "%s/etwas_bench.%ld.etl", folder, (long)getpid());
}

int bench_take_name(char *path, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);

    (void)unlink(path);
    (void)snprintf(path, size, "/proc/self/fd/%d", file);
    return file;
}

const char *bench_session_start(struct bench_session *session,
                                const struct bench_session_request *request)
{
    static const etwas_retention_class classes[] = {
        {.level = TRACE_LEVEL_ERROR, .share_percent = 10},
        {.by_type = true, .type = EVENT_TRACE_TYPE_INFO, .share_percent = 60},
    };
    const etwas_session_options options = {
        .log_file_mode = (request->buffering ? EVENT_TRACE_BUFFERING_MODE : 0) |
                         (request->one_slot ? (uint32_t)EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING : 0),
        .process_times = request->process_times,
        .crash_safe = request->crash_safe ? ETWAS_CRASH_SAFE_MEMFD : 0,
        .sharing = request->is_shared ? ETWAS_SHARING_USER : ETWAS_SHARING_NONE,
        .clock = request->clock,
        .protocol = request->protocol,
        .buffer_size_kb = request->buffer_kb != 0 ? request->buffer_kb : BENCH_BUFFER_KB,
        .minimum_buffers = request->buffers,
        .maximum_buffers = request->buffering ? request->buffers : 0,
        .classes = classes,
        .class_count = request->classes ? sizeof classes / sizeof classes[0] : 0,
        .flusher.no_thread = request->no_flusher,
        .flusher.cpus = request->flusher_cpu,
        .flusher.cpu_count = request->flusher_cpu != NULL ? 1 : 0,
    };
    char log_file[256];
    uint32_t code;

    *session = (struct bench_session){.protocol = request->protocol};
    bench_choose_log_file(log_file, sizeof log_file);
    code = etwas_start(request->name != NULL ? request->name : "etwas_bench",
                       request->buffering ? NULL : log_file, &options, &session->handle);
    if (code == ERROR_SUCCESS && !request->buffering) {
        (void)unlink(log_file); /* nothing may stay behind if this process is killed */
    }
    if (code == ERROR_NOT_SUPPORTED && request->protocol == ETWAS_PROTOCOL_RSEQ) {
        return BENCH_SKIPPED "no restartable sequences in this process or this build";
    }
    return code == ERROR_SUCCESS ? NULL : "cannot start the session";
}

/*
 * A few events, and up to one in 10,000, may have used the other protocol. A session with sequences
 * has a shared slot, too, for a writer whose sequences were restarted too often.
 */
static bool took_its_protocol(const etwas_session_counts *counts, uint32_t protocol)
{
    uint64_t all = counts->committed_rseq + counts->committed_shared;

    if (protocol == ETWAS_PROTOCOL_RSEQ) {
        return counts->committed_shared <= all / 10000 + 10;
    }
    return protocol != ETWAS_PROTOCOL_SHARED || counts->committed_rseq == 0;
}

const char *bench_session_stop(struct bench_session *session, uint64_t attempted,
                               etwas_session_counts *counts)
{
    etwas_session_counts own;
    uint32_t code;

    if (counts == NULL) {
        counts = &own;
    }
    code = etwas_stop(session->handle, counts);
    if (code != ERROR_SUCCESS) {
        return "cannot stop the session";
    }
    if (counts->lost != 0) {
        return "events were lost";
    }
    if (counts->recorded + counts->overwritten != attempted) {
        return "events are missing";
    }
    return took_its_protocol(counts, session->protocol) ? NULL
                                                        : "events took the other protocol's way";
}

static uint32_t ignore_control(WMIDPREQUESTCODE code, void *context, uint32_t *reserved,
                               void *wnode)
{
    (void)code;
    (void)context;
    (void)reserved;
    (void)wnode;
    return ERROR_SUCCESS;
}

/* One provider with one class serves all rows, for as long as the process lives. */
bool bench_make_instance(EVENT_INSTANCE_INFO *instance)
{
    static TRACE_GUID_REGISTRATION class_registration = {.Guid = &bench_class_guid};
    static etwas_trace_handle provider;

    if (provider == 0 &&
        RegisterTraceGuidsA(ignore_control, NULL, &bench_class_guid, 1, &class_registration, NULL,
                            NULL, &provider) != ERROR_SUCCESS) {
        return false;
    }
    return CreateTraceInstanceId(class_registration.RegHandle, instance) == ERROR_SUCCESS;
}

void bench_prepare_instance_header(EVENT_INSTANCE_HEADER *header, uint32_t payload_bytes)
{
    *header = (EVENT_INSTANCE_HEADER){.Size = (uint16_t)(sizeof *header + payload_bytes)};
    header->Flags = WNODE_FLAG_TRACED_GUID;
    header->Class.Type = EVENT_TRACE_TYPE_INFO;
}

bool bench_row_refused(const char *row, const char *reason)
{
    size_t length = strlen(BENCH_SKIPPED);

    if (strncmp(reason, BENCH_SKIPPED, length) == 0) {
        bench_row_skipped(row, reason + length);
        return false;
    }
    bench_row_failed(row, reason);
    return true;
}

/* Looks the processors up once, before anything is pinned. */
static const cpu_set_t *allowed_processors(void)
{
    static cpu_set_t allowed;

    if (CPU_COUNT(&allowed) == 0 && sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        CPU_SET(0, &allowed);
    }
    return &allowed;
}

uint32_t bench_processors(uint32_t *processors, uint32_t most)
{
    const cpu_set_t *allowed = allowed_processors();
    uint32_t count = 0;

    for (uint32_t processor = 0; processor < CPU_SETSIZE && count < most; processor++) {
        if (CPU_ISSET(processor, allowed)) {
            processors[count++] = processor;
        }
    }
    return count;
}

uint32_t bench_first_processor(void)
{
    uint32_t first = 0;

    (void)bench_processors(&first, 1);
    return first;
}

bool bench_pin(uint32_t processor)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

void bench_pin_last(void)
{
    uint32_t processors[CPU_SETSIZE];
    uint32_t count = bench_processors(processors, CPU_SETSIZE);

    (void)bench_pin(processors[count - 1]);
}
