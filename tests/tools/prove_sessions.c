/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions whose files are to be proved.
 *
 * usage: prove_sessions KIND FILE [MODE]
 *
 * Records into FILE, with the bits of MODE in LogFileMode:
 *
 *     kernel      system calls and processes; exits with 77 where the kernel's events cannot be had
 *     starved     the same with rings of a page that are not read for a while
 *     program     events of the program's own
 *     killed      the same from two threads, in a crash-safe session, until it is killed.
 *                 FILE.count has a number for each thread: how many of its calls have returned
 *
 * A size-limited FILE has 256 KB.
 */

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "system/logger.h"

enum {
    SKIPPED = 77,
    EVENTS = 20000,
    CHILDREN = 5,
    RING_BYTES = 32 << 20,
    FILE_KB = 256,
    SMALL_KB = 64, /* of a part of one that is killed: some buffers */
    LOGGERS = 2,
    PAYLOAD_WORDS = 4,
    FLAGS = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD |
            EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_SYSTEMCALL | EVENT_TRACE_FLAG_PROFILE,
};

static const etwas_guid provider = {0x5b8d3c11, 0x9e70, 0x4a2f, {1, 2, 3, 4, 5, 6, 7, 8}};

struct block {
    EVENT_TRACE_PROPERTIES properties;
    char logger_name[256];
    char file_name[1024];
};

/* While this is 1 the rings are not read. */
static uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
}

static void prepare(struct block *block, const char *path, uint32_t mode)
{
    memset(block, 0, sizeof *block);
    block->properties.Wnode.BufferSize = sizeof *block;
    block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block->properties.Wnode.ClientContext = 1;
    block->properties.BufferSize = 16;
    block->properties.MaximumBuffers = 400;
    block->properties.LogFileMode = mode;
    block->properties.LoggerNameOffset = offsetof(struct block, logger_name);
    block->properties.LogFileNameOffset = offsetof(struct block, file_name);
    if ((mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0) {
        block->properties.MaximumFileSize = FILE_KB;
    }
    (void)snprintf(block->file_name, sizeof block->file_name, "%s", path);
}

static void must(uint32_t code, const char *what)
{
    if (code != ERROR_SUCCESS) {
        (void)fprintf(stderr, "%s: error %u\n", what, code);
        exit(1);
    }
}

/* ---- what happens ---------------------------------------------------------------------------- */

static void call_often(void)
{
    for (int call = 0; call < EVENTS; call++) {
        (void)syscall(SYS_getppid);
    }
}

static void have_children(void)
{
    for (int index = 0; index < CHILDREN; index++) {
        pid_t child = fork();

        if (child == 0) {
            (void)execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        (void)waitpid(child, NULL, 0);
    }
}

static void log_often(etwas_trace_handle session)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};
    REGHANDLE registered;
    uint64_t number;
    EVENT_DATA_DESCRIPTOR data;

    must(EventRegister(&provider, NULL, NULL, &registered), "EventRegister");
    must(EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL),
         "EnableTraceEx2");
    EventDataDescCreate(&data, &number, sizeof number);
    for (number = 0; number < EVENTS; number++) {
        (void)EventWrite(registered, &descriptor, 1, &data);
    }
    (void)EventUnregister(registered);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void stop(etwas_trace_handle session, struct block *block, const char *path)
{
    uint32_t mode = block->properties.LogFileMode;
    uint32_t code;

    if ((mode & EVENT_TRACE_BUFFERING_MODE) != 0) {
        prepare(block, path, mode);
        must(ControlTraceA(session, NULL, &block->properties, EVENT_TRACE_CONTROL_FLUSH),
             "the snapshot");
    }
    /* One that is full stops by itself. */
    do {
        prepare(block, path, mode);
        code = ControlTraceA(session, NULL, &block->properties, EVENT_TRACE_CONTROL_STOP);
    } while (code == ERROR_ACTIVE_CONNECTIONS);
    must(code == ERROR_WMI_INSTANCE_NOT_FOUND || code == ERROR_INVALID_HANDLE ? ERROR_SUCCESS
                                                                              : code,
         "ControlTrace");
}

static int record_kernel(const char *path, uint32_t mode, bool is_starved)
{
    struct block block;
    etwas_trace_handle session;
    uint32_t code;

    prepare(&block, path, mode);
    block.properties.Wnode.Guid = SystemTraceControlGuid;
    block.properties.EnableFlags = FLAGS;
    etwas_system_logger_ring_bytes = is_starved ? 4096 : RING_BYTES;
    ck_pr_store_32(&keep_rings_full, is_starved);
    etwas_testpoint_set(wait_before_drain);
    code = StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties);
    if (code == ERROR_ACCESS_DENIED || code == ERROR_NOT_SUPPORTED ||
        code == ERROR_PATH_NOT_FOUND) {
        return SKIPPED;
    }
    must(code, "StartTrace");
    call_often();
    have_children();
    ck_pr_store_32(&keep_rings_full, 0);
    call_often();
    stop(session, &block, path);
    return 0;
}

static int record_program(const char *path, uint32_t mode)
{
    struct block block;
    etwas_trace_handle session;

    prepare(&block, path, mode);
    must(StartTraceA(&session, "program", &block.properties), "StartTrace");
    log_often(session);
    stop(session, &block, path);
    return 0;
}

/* ---- one that is to be killed ---------------------------------------------------------------- */

static struct {
    etwas_trace_handle session;
    uint64_t *returned;
} loggers[LOGGERS];

static void *log_until_killed(void *context)
{
    const size_t index = (uintptr_t)context;
    struct {
        EVENT_TRACE_HEADER header;
        uint64_t payload[PAYLOAD_WORDS];
    } event = {.header = {.Size = sizeof event, .Guid = provider, .Flags = WNODE_FLAG_TRACED_GUID}};

    for (;;) {
        event.payload[0]++;
        (void)TraceEvent(loggers[index].session, &event.header);
        ck_pr_store_64(loggers[index].returned, *loggers[index].returned + 1);
    }
    return NULL;
}

static uint64_t *make_counts(const char *path)
{
    char name[1024];
    int file;
    void *counts;

    (void)snprintf(name, sizeof name, "%s.count", path);
    file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    must(file < 0 || ftruncate(file, LOGGERS * sizeof(uint64_t)) != 0, "the counts");
    counts = mmap(NULL, LOGGERS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(counts == MAP_FAILED, "the counts");
    return counts;
}

static int record_until_killed(const char *path, uint32_t mode)
{
    const etwas_session_options options = {
        .log_file_mode = mode,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
        .buffer_size_kb = 4,
        .minimum_buffers = 32,
        .maximum_buffers = 64,
        .maximum_file_size = (mode & EVENT_TRACE_USE_KBYTES_FOR_SIZE) != 0 ? SMALL_KB : 0,
    };
    uint64_t *returned = make_counts(path);
    etwas_trace_handle session;

    must(etwas_start("killed", path, &options, &session), "etwas_start");
    for (size_t index = 0; index < LOGGERS; index++) {
        pthread_t thread;

        loggers[index].session = session;
        loggers[index].returned = &returned[index];
        must((uint32_t)pthread_create(&thread, NULL, log_until_killed, (void *)index), "a thread");
    }
    for (;;) {
        (void)pause();
    }
    return 0;
}

int main(int argc, char **argv)
{
    uint32_t mode = argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 0) : 0;

    if (argc != 3 && argc != 4) {
        return 2;
    }
    if (strcmp(argv[1], "program") == 0) {
        return record_program(argv[2], mode);
    }
    if (strcmp(argv[1], "killed") == 0) {
        return record_until_killed(argv[2], mode);
    }
    return record_kernel(argv[2], mode, strcmp(argv[1], "starved") == 0);
}
