/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A flight recorder: events stay in memory, and a snapshot of the latest ones is written to a file
 * when something happens. Here that is first a simulated fault, and then SIGUSR1, which an operator
 * would send. The workload keeps logging and never waits for the disk.
 */

#include <etwas/etwas.h>
#include <etwas/tdh.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const ULONG64 fault_at = 6000, signal_at = 12000; /* jobs done */

static const GUID job_guid = {
    0x61e4c0b7, 0xa8d9, 0x4352, {0x9f, 0x70, 0x2c, 0xe5, 0x18, 0x4b, 0xd3, 0x0a}};

static const etwas_field_description job_fields[] = {
    {.name = "number", .in_type = TDH_INTYPE_UINT64}};
static const etwas_type_description job_types[] = {{.fields = job_fields, .field_count = 1}};
static const etwas_class_description job_description = {.guid = &job_guid,
                                                        .provider_name = "Worker",
                                                        .name = "Job",
                                                        .types = job_types,
                                                        .type_count = 1};

/* ETW's convention: one block holds the structure and, behind it, both names. */
static struct block {
    EVENT_TRACE_PROPERTIES properties;
    char session_name[64];
    char log_file[1024];
} block = {.properties = {.Wnode = {.BufferSize = sizeof block, .Flags = WNODE_FLAG_TRACED_GUID},
                          .BufferSize = 4,      /* KB */
                          .MinimumBuffers = 64, /* 256 KB hold the last 4,500 jobs */
                          .LogFileMode = EVENT_TRACE_BUFFERING_MODE,
                          .LoggerNameOffset = offsetof(struct block, session_name)}};

static TRACEHANDLE session;
static atomic_ulong jobs_done;
static atomic_bool finished;

static void *work(void *unused)
{
    while (!atomic_load(&finished)) {
        struct {
            EVENT_TRACE_HEADER header;
            ULONG64 job;
        } event = {.header = {.Size = sizeof event, .Guid = job_guid}};

        event.header.Flags = WNODE_FLAG_TRACED_GUID;
        event.job = atomic_fetch_add(&jobs_done, 1);
        TraceEvent(session, &event.header);
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL); /* the work itself */
    }
    return unused;
}

static ULONG64 held, first_held, last_held; /* jobs in the snapshot */

static void WINAPI on_event(PEVENT_TRACE event)
{
    if (event->MofLength == sizeof(ULONG64) && IsEqualGUID(&event->Header.Guid, &job_guid)) {
        memcpy(&last_held, event->MofData, sizeof(ULONG64));
        first_held = held++ == 0 ? last_held : first_held;
    }
}

/* Writes a snapshot, reads it back and prints what it holds. */
static bool snapshot(const char *name, int number)
{
    char file[sizeof block.log_file];
    EVENT_TRACE_LOGFILE trace = {.LogFileName = file, .EventCallback = on_event};
    ULONG64 asked_at = atomic_load(&jobs_done);
    TRACEHANDLE handle;

    snprintf(file, sizeof file, "%s.%d.etl", name, number);
    memcpy(block.log_file, file, sizeof file); /* ControlTrace overwrites it with the session's */
    block.properties.LogFileNameOffset = offsetof(struct block, log_file);
    if (ControlTrace(session, NULL, &block.properties, EVENT_TRACE_CONTROL_FLUSH)) {
        fprintf(stderr, "cannot write %s\n", file);
        return false;
    }
    held = 0;
    handle = OpenTrace(&trace);
    ProcessTrace(&handle, 1, NULL, NULL);
    CloseTrace(handle);
    printf("%s: %lu events, jobs %lu to %lu, asked for at job %lu\n", file, held, first_held,
           last_held, asked_at);
    return held > 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "flight_recorder";
    pthread_t worker;
    sigset_t signals;
    bool good;

    if (etwas_describe_class(&job_description, NULL) != ERROR_SUCCESS ||
        StartTrace(&session, "flight recorder", &block.properties) != ERROR_SUCCESS) {
        fputs("cannot start the flight recorder\n", stderr);
        return 1;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* inherited by the worker; sigwait takes SIGUSR1 */
    pthread_create(&worker, NULL, work, NULL);
    while (atomic_load(&jobs_done) < fault_at) {
        sched_yield();
    }
    good = snapshot(name, 1);
    while (atomic_load(&jobs_done) < signal_at) {
        sched_yield();
    }
    raise(SIGUSR1);
    sigwait(&signals, &(int){0});
    good = snapshot(name, 2) && good;
    atomic_store(&finished, true);
    pthread_join(worker, NULL);
    StopTrace(session, NULL, &block.properties);
    return good ? 0 : 1;
}
