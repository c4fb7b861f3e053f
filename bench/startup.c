/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_startup: what the library costs before it is used, and in memory.
 *
 *     startup/process/without, with      starting a program that does nothing and waiting for its
 *                                        end; linked with the library, or not
 *     startup/process/jemalloc           linked with jemalloc only, of which the library has a copy
 *     startup/StartTrace/first           the first session of a process: tables, clock calibration
 *     startup/StartTrace/MODE            a later one; MODE is buffering or file
 *     startup/StopTrace/MODE
 *     startup/event/first, second        the first and the second event of a fresh thread
 *     memory/WHEN/process                growth of the process since before its first session;
 *                                        WHEN is idle (a session with a log file has started),
 *                                        burst (it took 500,000 events, and was flushed), stopped
 *     memory/WHEN/region, control        its buffers, and the pool's bookkeeping (etwas_memory)
 *     size/file                          the shared library, stripped
 *     size/code, constants, variables    its segments in memory
 */
#include <etwas/etwas.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "latency.h"
#include "machine.h"
#include "rows_json.h"
#include "session.h"

enum {
    PAYLOAD_BYTES = 16,
    REPEATS = 20, /* per round */
    QUICK_REPEATS = 2,
    BURST_EVENTS = 500000,
    RECORD_NAME_BYTES = 96,
};

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[PAYLOAD_BYTES / sizeof(uint64_t)];
};

static struct bench_timer timer;
static EVENT_INSTANCE_INFO instance;

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Builds the path of a file beside this program. */
static bool beside(const char *name, char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    char *slash;

    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    slash = strrchr(path, '/');
    return slash != NULL && (size_t)snprintf(slash + 1, size - (size_t)(slash + 1 - path), "%s",
                                             name) < size - (size_t)(slash + 1 - path);
}

/* ---- processes ------------------------------------------------------------------------------- */

static bool time_process(const char *program, const char *row)
{
    char path[PATH_MAX];
    char *arguments[] = {path, NULL};
    char *environment[] = {NULL};
    uint64_t start_ns;
    int status;
    pid_t child;

    if (!beside(program, path, sizeof path)) {
        return bench_row_refused(row, "cannot find the program");
    }
    start_ns = now_ns();
    if (posix_spawn(&child, path, NULL, NULL, arguments, environment) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        return bench_row_refused(row, "cannot run the program");
    }
    bench_row_value(row, "us", (double)(now_ns() - start_ns) / 1e3);
    return false;
}

static bool time_processes(void)
{
    bool failed = time_process("etwas_bench_nothing", "startup/process/without");

#ifdef ETWAS_BENCH_WITH_JEMALLOC
    failed |= time_process("etwas_bench_jemalloc", "startup/process/jemalloc");
#endif
    return time_process("etwas_bench_linked", "startup/process/with") || failed;
}

/* ---- StartTrace and StopTrace ---------------------------------------------------------------- */

struct properties {
    EVENT_TRACE_PROPERTIES base;
    char logger[64];
    char log_file[256];
};

static void describe(struct properties *properties, bool buffering)
{
    *properties = (struct properties){.base.Wnode.BufferSize = sizeof *properties};
    properties->base.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    properties->base.Wnode.ClientContext = ETWAS_CLOCK_TSC;
    properties->base.LoggerNameOffset = offsetof(struct properties, logger);
    if (buffering) {
        properties->base.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    } else {
        properties->base.LogFileNameOffset = offsetof(struct properties, log_file);
        bench_choose_log_file(properties->log_file, sizeof properties->log_file);
    }
}

/*
 * Times a session: its start for `start_row`, and its stop for `stop_row` unless that is NULL.
 * Returns whether it failed.
 */
static bool time_session(bool buffering, const char *start_row, const char *stop_row)
{
    struct properties properties;
    etwas_trace_handle session;
    uint64_t start_ns;
    uint64_t end_ns;
    int file = -1; /* kept open, so that the file is deleted after the stop, not in it */

    describe(&properties, buffering);
    start_ns = now_ns();
    if (StartTraceA(&session, "etwas_bench_startup", &properties.base) != ERROR_SUCCESS) {
        return bench_row_refused(start_row, "cannot start the session");
    }
    end_ns = now_ns();
    bench_row_value(start_row, "us", (double)(end_ns - start_ns) / 1e3);
    if (!buffering) {
        file = bench_take_name(properties.log_file, sizeof properties.log_file);
    }
    start_ns = now_ns();
    if (StopTraceA(session, NULL, &properties.base) != ERROR_SUCCESS) {
        return bench_row_refused(stop_row != NULL ? stop_row : start_row,
                                 "cannot stop the session");
    }
    end_ns = now_ns();
    if (stop_row != NULL) {
        bench_row_value(stop_row, "us", (double)(end_ns - start_ns) / 1e3);
    }
    if (file >= 0) {
        (void)close(file);
    }
    return false;
}

static bool time_sessions(void)
{
    bool failed = time_session(true, "startup/StartTrace/buffering", "startup/StopTrace/buffering");

    return time_session(false, "startup/StartTrace/file", "startup/StopTrace/file") || failed;
}

/* ---- a thread's first event ------------------------------------------------------------------ */

struct fresh_thread {
    etwas_trace_handle session;
    uint32_t codes;
    uint64_t first_ticks;
    uint64_t second_ticks;
};

static void *log_twice(void *argument)
{
    struct fresh_thread *thread = argument;
    struct event event;
    uint64_t begin;

    bench_prepare_instance_header(&event.header, PAYLOAD_BYTES);
    event.payload[0] = 1;
    event.payload[1] = 2;
    begin = bench_tick_begin();
    thread->codes = TraceEventInstance(thread->session, &event.header, &instance, NULL);
    thread->first_ticks = bench_tick_end() - begin;
    begin = bench_tick_begin();
    thread->codes |= TraceEventInstance(thread->session, &event.header, &instance, NULL);
    thread->second_ticks = bench_tick_end() - begin;
    return NULL;
}

static bool time_first_events(unsigned threads)
{
    const struct bench_session_request request = {
        .buffering = true, .clock = ETWAS_CLOCK_TSC, .buffers = 64, .no_flusher = true};
    struct bench_session session;
    const char *reason = bench_session_start(&session, &request);

    for (unsigned index = 0; reason == NULL && index < threads; index++) {
        struct fresh_thread fresh = {.session = session.handle};
        pthread_t thread;

        if (pthread_create(&thread, NULL, log_twice, &fresh) != 0 ||
            pthread_join(thread, NULL) != 0 || fresh.codes != ERROR_SUCCESS) {
            reason = "a thread could not be started, or its event was refused";
            break;
        }
        bench_row_value("startup/event/first", "ns", bench_ticks_ns(&timer, fresh.first_ticks));
        bench_row_value("startup/event/second", "ns", bench_ticks_ns(&timer, fresh.second_ticks));
    }
    if (reason == NULL) {
        reason = bench_session_stop(&session, 2 * (uint64_t)threads, NULL);
    }
    return reason != NULL && bench_row_refused("startup/event", reason);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void print_memory(const char *when, etwas_trace_handle session, uint64_t before_kb)
{
    etwas_session_memory memory;
    char row[RECORD_NAME_BYTES];
    double grown_kb = (double)bench_resident_kb() - (double)before_kb;

    (void)snprintf(row, sizeof row, "memory/%s/process", when);
    bench_row_value(row, "KB", grown_kb);
    if (session == 0 || etwas_memory(session, &memory) != ERROR_SUCCESS) {
        return;
    }
    (void)snprintf(row, sizeof row, "memory/%s/region", when);
    bench_row_value(row, "KB", (double)memory.region_resident_bytes / 1024);
    (void)snprintf(row, sizeof row, "memory/%s/control", when);
    bench_row_value(row, "KB", (double)memory.control_bytes / 1024);
}

/* Also starts the process's first session, which it times. */
static bool measure_memory(bool quick)
{
    struct event event = {.payload = {1, 2}};
    const struct bench_session_request request = {.clock = ETWAS_CLOCK_TSC};
    uint64_t events = quick ? BURST_EVENTS / 100 : BURST_EVENTS;
    uint64_t before_kb = bench_resident_kb();
    uint64_t start_ns = now_ns();
    struct bench_session session;
    const char *reason = bench_session_start(&session, &request);
    uint32_t codes = 0;

    if (reason != NULL) {
        return bench_row_refused("startup/StartTrace/first", reason);
    }
    bench_row_value("startup/StartTrace/first", "us", (double)(now_ns() - start_ns) / 1e3);
    print_memory("idle", session.handle, before_kb);
    bench_prepare_instance_header(&event.header, PAYLOAD_BYTES);
    for (uint64_t count = 0; count < events; count++) {
        codes |= TraceEventInstance(session.handle, &event.header, &instance, NULL);
    }
    codes |= etwas_flush(session.handle);
    print_memory("burst", session.handle, before_kb);
    reason = bench_session_stop(&session, events, NULL);
    print_memory("stopped", 0, before_kb);
    if (codes != ERROR_SUCCESS) {
        reason = "an event was refused or lost";
    }
    return reason != NULL && bench_row_refused("memory", reason);
}

/* ---- size ------------------------------------------------------------------------------------ */

struct sizes {
    bool found;
    uint64_t code;
    uint64_t constants;
    uint64_t variables;
};

static int add_segments(struct dl_phdr_info *object, size_t size, void *context)
{
    struct sizes *sizes = context;

    (void)size;
    if (strstr(object->dlpi_name, "/libetwas.so") == NULL) {
        return 0;
    }
    sizes->found = true;
    for (size_t index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];

        if (segment->p_type != PT_LOAD) {
            continue;
        }
        if ((segment->p_flags & PF_X) != 0) {
            sizes->code += segment->p_memsz;
        } else if ((segment->p_flags & PF_W) != 0) {
            sizes->variables += segment->p_memsz;
        } else {
            sizes->constants += segment->p_memsz;
        }
    }
    return 1;
}

static bool measure_size(void)
{
    struct sizes sizes = {0};
    struct stat file;
    char path[PATH_MAX];

    (void)dl_iterate_phdr(add_segments, &sizes);
    if (!sizes.found) {
        return bench_row_refused("size/code", "the library is not loaded");
    }
    if (!beside("libetwas_stripped.so", path, sizeof path) || stat(path, &file) != 0) {
        return bench_row_refused("size/file", "cannot find the stripped library");
    }
    bench_row_value("size/file", "bytes", (double)file.st_size);
    bench_row_value("size/code", "bytes", (double)sizes.code);
    bench_row_value("size/constants", "bytes", (double)sizes.constants);
    bench_row_value("size/variables", "bytes", (double)sizes.variables);
    return false;
}

int main(int argc, char **argv)
{
    struct bench_part_options options = bench_part_parse(argc, argv);
    unsigned repeats = options.quick ? QUICK_REPEATS : REPEATS;
    bool failed;

    if (!bench_make_instance(&instance)) {
        return bench_row_refused("startup", "cannot register the provider");
    }
    failed = measure_memory(options.quick);
    failed |= measure_size();
    timer = bench_timer_calibrate();
    for (unsigned round = 0; round < options.rounds; round++) {
        for (unsigned repeat = 0; repeat < repeats; repeat++) {
            failed |= time_processes();
            failed |= time_sessions();
        }
        failed |= time_first_events(repeats);
    }
    return failed ? 1 : 0;
}
