/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: ship_generator NAME FOLDER COUNTS EVENTS
 *
 * Logs so many events a second to a crash-safe session, until SIGTERM.
 *
 * Two threads log events that say which thread logged them: NAME, the thread's number, and a serial
 * number from 1 on. The session writes parts into FOLDER. The file COUNTS says at any time, of each
 * thread, how many it has begun to log and how many it has logged: what has to arrive, also of a
 * process that was killed.
 */
#include <etwas/etwas.h>
#include <etwas/tdh.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    WRITERS = 2,
    BURSTS_A_SECOND = 100,
    SECOND_NS = 1000000000
};

static const GUID class_guid = {
    0x6b1f8d03, 0x2ce4, 0x4a79, {0x85, 0x60, 0xda, 0x17, 0x3b, 0xf4, 0x92, 0x0c}};

struct writer {
    _Atomic uint64_t begun;
    _Atomic uint64_t logged;
};

static const char *name;
static TRACEHANDLE session;
static struct writer *writers; /* in the file */
static unsigned long burst;
static atomic_bool is_ending;

static bool describe(void)
{
    static const etwas_field_description fields[] = {
        {.name = "writer", .in_type = TDH_INTYPE_UINT32},
        {.name = "serial", .in_type = TDH_INTYPE_UINT64},
        {.name = "generator", .in_type = TDH_INTYPE_ANSISTRING}};
    static const etwas_type_description type = {
        .name = "Tick", .type = 10, .fields = fields, .field_count = 3};
    static const etwas_class_description class = {
        .guid = &class_guid, .provider_name = "Generator", .types = &type, .type_count = 1};

    return etwas_describe_class(&class, NULL) == ERROR_SUCCESS;
}

static bool log_one(uint32_t number, uint64_t serial)
{
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD fields[3];
    } event = {.header.Size = sizeof event};

    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    event.header.Guid = class_guid;
    event.header.Class.Type = 10;
    DEFINE_TRACE_MOF_FIELD(&event.fields[0], &number, sizeof number, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[1], &serial, sizeof serial, 0);
    DEFINE_TRACE_MOF_FIELD(&event.fields[2], name, strlen(name) + 1, 0);
    return TraceEvent(session, &event.header) == ERROR_SUCCESS;
}

/* Ends with NULL, or not where an event was lost: this test's buffers are enough. */
static void *write_events(void *argument)
{
    const struct timespec pause = {.tv_nsec = SECOND_NS / BURSTS_A_SECOND};
    struct writer *writer = argument;

    for (uint64_t serial = 1; !atomic_load(&is_ending);) {
        for (unsigned long i = 0; i < burst; i++, serial++) {
            atomic_store(&writer->begun, serial);
            if (!log_one((uint32_t)(writer - writers), serial)) {
                return writer;
            }
            atomic_store(&writer->logged, serial);
        }
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

static bool map_counts(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);

    if (file < 0 || ftruncate(file, WRITERS * sizeof *writers) != 0) {
        return false;
    }
    writers = mmap(NULL, WRITERS * sizeof *writers, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return writers != MAP_FAILED;
}

static bool start(const char *folder)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE,
                                           .maximum_file_size = 4,
                                           .buffer_size_kb = 16,
                                           .maximum_buffers = 512,
                                           .flush_timer = 1,
                                           .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE};
    char file[4096];

    (void)snprintf(file, sizeof file, "%s/%s-%%d.etl", folder, name);
    return describe() && etwas_start(name, file, &options, &session) == ERROR_SUCCESS;
}

int main(int argc, char **argv)
{
    pthread_t threads[WRITERS];
    bool is_lost = false;
    sigset_t ends;
    int signal;

    if (argc != 5) {
        return 2;
    }
    name = argv[1];
    burst = strtoul(argv[4], NULL, 10) / BURSTS_A_SECOND / WRITERS;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, NULL);
    if (burst == 0 || !map_counts(argv[3]) || !start(argv[2])) {
        fprintf(stderr, "%s cannot log\n", name);
        return 1;
    }
    for (int i = 0; i < WRITERS; i++) {
        if (pthread_create(&threads[i], NULL, write_events, &writers[i]) != 0) {
            return 1;
        }
    }
    (void)sigwait(&ends, &signal);
    atomic_store(&is_ending, true);
    for (int i = 0; i < WRITERS; i++) {
        void *lost;

        (void)pthread_join(threads[i], &lost);
        is_lost = is_lost || lost != NULL;
    }
    return etwas_stop(session, NULL) == ERROR_SUCCESS && !is_lost ? 0 : 1;
}
