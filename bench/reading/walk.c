/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The program with which reading.py measures:
 *
 *     reading_walk record FILE EVENTS   records EVENTS events of 88 bytes, of two threads on two
 *                                       processors; TSC
 *     reading_walk read FILE            reads the file with read(2), 64 KB at a time
 *     reading_walk walk FILE            passes its events to a callback that does nothing
 *
 * The last two wait for a line on standard input before they begin. They print the bytes per
 * nanosecond of processor time, and the clock times at which they began and ended.
 */
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session.h"

enum {
    THREADS = 2,
    PAYLOAD_NUMBERS = 2,
    BUFFERS = 512,
    WAIT_NS = 20000,
    BLOCK_BYTES = 65536
};

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[PAYLOAD_NUMBERS];
};

struct writer {
    pthread_t thread;
    etwas_trace_handle session;
    uint32_t processor;
    uint64_t events;
};

/* A writer that finds no buffer waits a moment and logs the event again. */
static void *write_events(void *argument)
{
    const struct writer *writer = argument;
    EVENT_INSTANCE_INFO instance;
    struct event event;

    (void)bench_pin(writer->processor);
    if (!bench_make_instance(&instance)) {
        return NULL;
    }
    bench_prepare_instance_header(&event.header, sizeof event.payload);
    for (uint64_t i = 0; i < writer->events; i++) {
        event.payload[0] = i;
        event.payload[1] = writer->processor;
        while (TraceEventInstance(writer->session, &event.header, &instance, NULL) !=
               ERROR_SUCCESS) {
            (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
        }
    }
    return NULL;
}

static int record(const char *path, uint64_t events)
{
    const etwas_session_options options = {
        .clock = ETWAS_CLOCK_TSC, .buffer_size_kb = BENCH_BUFFER_KB, .minimum_buffers = BUFFERS};
    struct writer writers[THREADS];
    uint32_t processors[THREADS] = {0};
    uint32_t available = bench_processors(processors, THREADS);
    EVENT_INSTANCE_INFO instance;
    etwas_trace_handle session;

    /* Registers the class, once. */
    if (available == 0 || !bench_make_instance(&instance) ||
        etwas_start("etwas_bench_reading", path, &options, &session) != ERROR_SUCCESS) {
        return 1;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){
            .session = session, .processor = processors[i % available], .events = events / THREADS};
        if (pthread_create(&writers[i].thread, NULL, write_events, &writers[i]) != 0) {
            return 1;
        }
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        (void)pthread_join(writers[i].thread, NULL);
    }
    return etwas_stop(session, NULL) != ERROR_SUCCESS;
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool read_file(const char *path)
{
    static _Alignas(4096) char block[BLOCK_BYTES];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (file < 0) {
        return false;
    }
    do {
        got = read(file, block, sizeof block);
    } while (got > 0);
    close(file);
    return got == 0;
}

static void on_record(EVENT_RECORD *record)
{
    (void)record;
}

static bool walk_file(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_record,
    };
    etwas_trace_handle trace = OpenTraceA(&logfile);
    bool good = trace != INVALID_PROCESSTRACE_HANDLE &&
                ProcessTrace(&trace, 1, NULL, NULL) == ERROR_SUCCESS;

    CloseTrace(trace);
    return good;
}

static int measure(const char *path, bool (*go_through)(const char *path))
{
    struct stat status;
    uint64_t began_ns;
    uint64_t spent_ns;

    if (stat(path, &status) != 0 || getchar() == EOF) {
        return 1;
    }
    began_ns = now_ns(CLOCK_MONOTONIC);
    spent_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!go_through(path)) {
        return 1;
    }
    spent_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - spent_ns;
    printf("%.4f %llu %llu\n", (double)status.st_size / (double)spent_ns,
           (unsigned long long)began_ns, (unsigned long long)now_ns(CLOCK_MONOTONIC));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "record") == 0) {
        return record(argv[2], strtoull(argv[3], NULL, 10));
    }
    if (argc == 3 && strcmp(argv[1], "read") == 0) {
        return measure(argv[2], read_file);
    }
    if (argc == 3 && strcmp(argv[1], "walk") == 0) {
        return measure(argv[2], walk_file);
    }
    fputs("usage: reading_walk record FILE EVENTS | read FILE | walk FILE\n", stderr);
    return 1;
}
