/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a call of TraceEventInstance costs its caller, through the shared library.
 *
 *     buffering/CLOCK/PAYLOAD  a flight recorder of 1 MB that has wrapped: the price holds the caller's
 *                              share of overwriting, that is finding and zeroing the oldest buffer
 *     buffering_64mb/…         one of 64 MB, more than the caches hold
 *     buffering_parent/…       the event has a parent instance
 *     file/CLOCK/PAYLOAD       a session with a log file. A batch is shorter than the pool and the session has no
 *                              flusher thread: etwas_flush empties the buffers between batches. The price
 *                              holds taking a new buffer when one is full, not the writing
 *     file_thread/…            the same with a flusher thread, which writes when it likes, also during a batch
 *     stopped/CLOCK/PAYLOAD    the handle of a session that has stopped
 *
 * Timed is the loop of calls: one store into the payload, the call, one look at its result. An
 * event that was not recorded would be cheaper than one that was, so a row fails unless every event
 * is accounted recorded (or, in a flight recorder, overwritten) at its end. Log files lie in
 * $ETWAS_BENCH_FOLDER, or /dev/shm, so that the disk is not what is measured.
 */
#include <etwas/etwas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rows.h"
#include "shim/bench.h"

enum {
    BUFFER_KB = 64,
    SMALL_POOL_BUFFERS = 16,
    LARGE_POOL_BUFFERS = 1024,
    LARGEST_PAYLOAD_BYTES = 64,
};

enum mode {
    MODE_BUFFERING,
    MODE_FILE,
    MODE_FILE_THREAD,
    MODE_STOPPED
};

struct row {
    const char *name;
    enum mode mode;
    uint32_t clock;
    uint16_t payload_bytes;
    uint32_t buffers;
    bool with_parent;
};

static const struct row rows[] = {
    {"buffering/tsc/16", MODE_BUFFERING, ETWAS_CLOCK_TSC, 16, SMALL_POOL_BUFFERS, false},
    {"buffering/tsc/64", MODE_BUFFERING, ETWAS_CLOCK_TSC, 64, SMALL_POOL_BUFFERS, false},
    {"buffering/qpc/16", MODE_BUFFERING, ETWAS_CLOCK_QPC, 16, SMALL_POOL_BUFFERS, false},
    {"buffering/qpc/64", MODE_BUFFERING, ETWAS_CLOCK_QPC, 64, SMALL_POOL_BUFFERS, false},
    {"buffering/system/16", MODE_BUFFERING, ETWAS_CLOCK_SYSTEM_TIME, 16, SMALL_POOL_BUFFERS, false},
    {"buffering/system/64", MODE_BUFFERING, ETWAS_CLOCK_SYSTEM_TIME, 64, SMALL_POOL_BUFFERS, false},
    {"buffering_parent/tsc/16", MODE_BUFFERING, ETWAS_CLOCK_TSC, 16, SMALL_POOL_BUFFERS, true},
    {"buffering_64mb/tsc/16", MODE_BUFFERING, ETWAS_CLOCK_TSC, 16, LARGE_POOL_BUFFERS, false},
    {"file/tsc/16", MODE_FILE, ETWAS_CLOCK_TSC, 16, SMALL_POOL_BUFFERS, false},
    {"file/tsc/64", MODE_FILE, ETWAS_CLOCK_TSC, 64, SMALL_POOL_BUFFERS, false},
    {"file/qpc/16", MODE_FILE, ETWAS_CLOCK_QPC, 16, SMALL_POOL_BUFFERS, false},
    {"file/qpc/64", MODE_FILE, ETWAS_CLOCK_QPC, 64, SMALL_POOL_BUFFERS, false},
    {"file/system/16", MODE_FILE, ETWAS_CLOCK_SYSTEM_TIME, 16, SMALL_POOL_BUFFERS, false},
    {"file/system/64", MODE_FILE, ETWAS_CLOCK_SYSTEM_TIME, 64, SMALL_POOL_BUFFERS, false},
    {"file_thread/tsc/16", MODE_FILE_THREAD, ETWAS_CLOCK_TSC, 16, SMALL_POOL_BUFFERS, false},
    {"stopped/tsc/16", MODE_STOPPED, ETWAS_CLOCK_TSC, 16, SMALL_POOL_BUFFERS, false},
};

static const etwas_guid class_guid = {
    0x2b1f3c58, 0x6f0d, 0x4e6b, {0x93, 0x5a, 0x0e, 0x71, 0xc4, 0x28, 0xbd, 0x96}};

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[LARGEST_PAYLOAD_BYTES / sizeof(uint64_t)];
};

struct instances {
    EVENT_INSTANCE_INFO own;
    EVENT_INSTANCE_INFO *parent; /* NULL: none */
};

struct session {
    etwas_trace_handle handle;
    char log_file[256]; /* empty: none */
    uint64_t attempted;
};

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
static bool make_instance(EVENT_INSTANCE_INFO *instance)
{
    static TRACE_GUID_REGISTRATION class_registration = {.Guid = &class_guid};
    static etwas_trace_handle provider;

    if (provider == 0 &&
        RegisterTraceGuidsA(ignore_control, NULL, &class_guid, 1, &class_registration, NULL, NULL,
                            &provider) != ERROR_SUCCESS) {
        return false;
    }
    return CreateTraceInstanceId(class_registration.RegHandle, instance) == ERROR_SUCCESS;
}

static void choose_log_file(char *path, size_t size)
{
    const char *folder = getenv("ETWAS_BENCH_FOLDER");

    if (folder == NULL) {
        folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    (void)snprintf(path, size, "%s/etwas_bench.%ld.etl", folder, (long)getpid());
}

static bool start(struct session *session, const struct row *row)
{
    const etwas_session_options options = {
        .log_file_mode = row->mode == MODE_BUFFERING ? EVENT_TRACE_BUFFERING_MODE : 0,
        .clock = row->clock,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = row->buffers,
        .flusher.no_thread = row->mode != MODE_FILE_THREAD,
    };

    *session = (struct session){0};
    if (row->mode != MODE_BUFFERING) {
        choose_log_file(session->log_file, sizeof session->log_file);
    }
    return etwas_start("etwas_bench", session->log_file[0] != '\0' ? session->log_file : NULL,
                       &options, &session->handle) == ERROR_SUCCESS;
}

/* The caller's loop: what the rows time. Returns the results of all calls, joined. */
static __attribute__((noinline)) uint32_t log_batch(etwas_trace_handle session, struct event *event,
                                                    struct instances *instances)
{
    uint32_t codes = 0;

    for (uint32_t count = 0; count < BENCH_BATCH; count++) {
        event->payload[0] = count;
        codes |= TraceEventInstance(session, &event->header, &instances->own, instances->parent);
    }
    return codes;
}

/*
 * Logs as much as the pool holds, so that a flight recorder overwrites from the first timed event
 * on.
 */
static bool fill_once(struct session *session, const struct row *row, struct event *event,
                      struct instances *instances)
{
    uint64_t pool_bytes = (uint64_t)row->buffers * BUFFER_KB * 1024;
    uint64_t record_bytes = BENCH_INSTANCE_HEADER_BYTES + (uint64_t)row->payload_bytes;

    while (session->attempted * record_bytes < pool_bytes) {
        if (log_batch(session->handle, event, instances) != ERROR_SUCCESS) {
            return false;
        }
        session->attempted += BENCH_BATCH;
    }
    return true;
}

static void log_events(struct bench_state *state, struct session *session, const struct row *row,
                       struct event *event, struct instances *instances)
{
    uint32_t expected = row->mode == MODE_STOPPED ? ERROR_INVALID_HANDLE : ERROR_SUCCESS;

    if (row->mode == MODE_BUFFERING && !fill_once(session, row, event, instances)) {
        bench_fail(state, "cannot fill the flight recorder");
    }
    while (bench_next_batch(state, BENCH_BATCH)) {
        uint64_t start_ns = bench_now_ns();
        uint32_t codes = log_batch(session->handle, event, instances);

        bench_batch_took(state, bench_now_ns() - start_ns);
        session->attempted += BENCH_BATCH;
        if (codes != expected) {
            bench_fail(state, "an event was refused or lost");
        }
        if (row->mode == MODE_FILE || row->mode == MODE_FILE_THREAD) {
            if (etwas_flush(session->handle) != ERROR_SUCCESS) {
                bench_fail(state, "cannot write the log file");
            }
        }
    }
}

static void instance_body(struct bench_state *state, const void *argument)
{
    const struct row *row = argument;
    static _Alignas(64) struct event event;
    EVENT_INSTANCE_INFO parent;
    struct instances instances = {.parent = row->with_parent ? &parent : NULL};
    etwas_session_counts counts;
    struct session session;

    event =
        (struct event){.header = {.Size = (uint16_t)(sizeof event.header + row->payload_bytes)}};
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Class.Type = EVENT_TRACE_TYPE_INFO;
    if (!make_instance(&instances.own) || !make_instance(&parent) || !start(&session, row)) {
        bench_fail(state, "cannot start the session");
        return;
    }
    if (row->mode == MODE_STOPPED) {
        (void)etwas_stop(session.handle, NULL);
        log_events(state, &session, row, &event, &instances);
    } else {
        log_events(state, &session, row, &event, &instances);
        if (etwas_stop(session.handle, &counts) != ERROR_SUCCESS || counts.lost != 0 ||
            counts.recorded + counts.overwritten != session.attempted) {
            bench_fail(state, "events are missing");
        }
        bench_counter(state, "lost", (double)counts.lost);
    }
    if (session.log_file[0] != '\0') {
        (void)unlink(session.log_file);
    }
}

void bench_register_instances(void)
{
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        bench_register(rows[index].name, instance_body, &rows[index]);
    }
}
