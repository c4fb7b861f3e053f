/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records the golden files of one generation of the file format: record.sh compiles it with the
 * library of that time, and calls it once for each scene, in the folder where the files shall lie.
 * GENERATION is the number in the README.
 *
 * A scene has few events, one after the other, of two threads on two processors where there are
 * two.
 */

#include "events.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HAS_DESCRIPTIONS = GENERATION >= 5,

    FILLERS = 30,
    NS_PER_MS = 1000000,
};

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS}, NULL);
}

/* ---- sessions -------------------------------------------------------------------------------- */

#if GENERATION >= 2
static void enable(GUID provider, uint32_t properties)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableProperty = properties};

    require("enable", EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0,
                                     0, 0, &parameters));
}
#endif

/* `properties`: what each event shall have beside it. */
static void start(const char *file, etwas_session_options options, uint32_t properties)
{
    options.buffer_size_kb = 4;
    /* Buffers are written when a scene says so, but for a trigger's. */
    options.flusher.no_thread =
        options.log_file_mode != 0 && options.log_file_mode != EVENT_TRACE_BUFFERING_MODE;
    if (options.minimum_buffers == 0) {
        options.minimum_buffers = 16;
    }
    require(file != NULL ? file : "start", etwas_start("golden", file, &options, &session));
    (void)properties;
#if GENERATION >= 2
    enable(modern_guid, properties);
#endif
#if GENERATION >= 5
    enable(TraceLoggingProviderId(shop), properties);
#endif
#if GENERATION >= 9
    if (properties == ETWAS_ENABLE_PROPERTY_COUNTERS) {
        enable(server_guid, properties);
    }
#endif
}

static void stop(void)
{
    require("stop", etwas_stop(session, NULL));
}

/* What is logged in between lies in buffers of its own. */
static void log_and_flush(int times)
{
    while (times-- > 0) {
        log_number(0);
        log_instances();
        require("flush", etwas_flush(session));
    }
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static void finished(void)
{
    start("finished.etl", (etwas_session_options){0}, 0);
    log_all();
    stop();
}

/* As a process leaves it that is killed. */
static void unfinished(void)
{
    start("unfinished.etl", (etwas_session_options){.clock = ETWAS_CLOCK_TSC}, 0);
    log_all();
    require("flush", etwas_flush(session));
    raise(SIGKILL);
}

static void snapshot(void)
{
    start(NULL,
          (etwas_session_options){
              .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
              .minimum_buffers = 2,
              .maximum_buffers = 3,
          },
          0);
    /*
     * More than the buffers hold. What nothing describes is shown in hexadecimal, which is long:
     * once is enough.
     */
    for (int i = 0; (GENERATION == 1 || GENERATION == 9) && i < FILLERS; i++) {
        log_number(FILLER_BYTES);
    }
    log_all();
    require("snapshot", etwas_snapshot(session, "snapshot.etl"));
    stop();
}

#if GENERATION >= 2
static void circular(void)
{
    start("circular.etl",
          (etwas_session_options){.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR |
                                                   EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                  .maximum_file_size = HAS_DESCRIPTIONS ? 40 : 28},
          0);
    log_and_flush(8);
    stop();
}

/* Gone round and not finished. */
static void circular_unfinished(void)
{
    start("circular_unfinished.etl",
          (etwas_session_options){.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR |
                                                   EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                  .maximum_file_size = HAS_DESCRIPTIONS ? 40 : 28},
          0);
    log_and_flush(8);
    raise(SIGKILL);
}

static void appended(void)
{
    etwas_session_options options = {.clock = ETWAS_CLOCK_SYSTEM_TIME};

    for (int i = 0; i < 2; i++) {
        options.log_file_mode =
            i > 0 ? EVENT_TRACE_FILE_MODE_APPEND : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
        start("appended.etl", options, 0);
        log_and_flush(1);
        log_number(0);
        stop();
    }
}

static void one_stream(void)
{
    start("one_stream.etl",
          (etwas_session_options){.log_file_mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING}, 0);
    log_all();
    stop();
}

static void parts(void)
{
    start("part_%d.etl",
          (etwas_session_options){.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE |
                                                   EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                  .maximum_file_size = HAS_DESCRIPTIONS ? 24 : 16},
          0);
    log_and_flush(3);
    stop();
}
#endif

#if GENERATION >= 3
/* So long that the session reads its clocks while it runs. */
static void knots(void)
{
    start("knots.etl", (etwas_session_options){.clock = ETWAS_CLOCK_TSC}, 0);
    for (int i = 0; i < 3; i++) {
        log_instances();
        require("flush", etwas_flush(session));
        pause_ms(1100);
    }
    log_number(0);
    stop();
}
#endif

#if GENERATION >= 6
static void stacks(void)
{
    start("stacks.etl", (etwas_session_options){0}, EVENT_ENABLE_PROPERTY_STACK_TRACE);
    log_modern();
    stop();
}
#endif

#if GENERATION >= 7
/*
 * A session of the whole system asks for a flag without events. From the generation on that knows
 * sessions of one process, it asks for that process's events.
 */
static void kernel(void)
{
    static struct {
        EVENT_TRACE_PROPERTIES properties;
        char name[64];
        char file[64];
    } block = {.file = "kernel.etl"};
    TRACEHANDLE logger;

#if GENERATION >= 8
    require("scope", etwas_kernel_scope(ETWAS_KERNEL_SCOPE_PROCESS));
    block.properties.EnableFlags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD;
#else
    block.properties.EnableFlags = EVENT_TRACE_FLAG_REGISTRY;
#endif
    block.properties.EnableFlags |= EVENT_TRACE_FLAG_NO_SYSCONFIG;
    block.properties.Wnode.BufferSize = sizeof block;
    block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    block.properties.Wnode.Guid = SystemTraceControlGuid;
    block.properties.Wnode.ClientContext = 1;
    block.properties.BufferSize = 4;
    block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    block.properties.LoggerNameOffset = offsetof(__typeof__(block), name);
    block.properties.LogFileNameOffset = offsetof(__typeof__(block), file);
    if (StartTrace(&logger, KERNEL_LOGGER_NAME, &block.properties) != ERROR_SUCCESS) {
        char refusal[512];

        etwas_kernel_refusal(refusal, sizeof refusal);
        fprintf(stderr, "kernel: %s\n", refusal);
        exit(1);
    }
    start("beside.etl", (etwas_session_options){0}, 0);
    log_instances();
    stop();
    unlink("beside.etl");
    require("stop kernel", ControlTrace(logger, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP));
}
#endif

#if GENERATION >= 9
static void counters(void)
{
    start("counters.etl", (etwas_session_options){0}, ETWAS_ENABLE_PROPERTY_COUNTERS);
    log_instances();
    log_modern();
    stop();
}

static const etwas_retention_class retention[] = {
    {.guid = {0}, .level = 4, .share_percent = 25},
};

static void with_classes(void)
{
    start("classes.etl",
          (etwas_session_options){.classes = retention, .class_count = 1, .minimum_buffers = 32},
          0);
    log_all();
    stop();
}

static void triggered(void)
{
    start(
        NULL,
        (etwas_session_options){.log_file_mode = EVENT_TRACE_BUFFERING_MODE, .minimum_buffers = 32},
        0);
    require("arm",
            etwas_trigger_arm(session, &(etwas_trigger_options){.log_file = "triggered_%d.etl"}));
    log_all();
    require("trigger", etwas_trigger(session));
    pause_ms(300);
    log_number(0);
    stop();
}

/* What it leaves record.sh recovers, into recovered.etl. */
static void crash_safe(void)
{
    start(NULL,
          (etwas_session_options){.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                  .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
                                  .crash_safe_folder = "pool"},
          0);
    log_all();
    raise(SIGKILL);
}

static void recovered(void)
{
    char path[256];
    etwas_recovered result;
    FILE *name = popen("ls pool/*.pool", "r");

    if (name == NULL || fgets(path, sizeof path, name) == NULL) {
        exit(1);
    }
    path[strcspn(path, "\n")] = '\0';
    pclose(name);
    require("recover", etwas_recover(path, 0, "recovered.etl", &result));
}

static etwas_prepared_snapshot *prepared;

static void on_signal(int number)
{
    (void)number;
    etwas_snapshot_signal_safe(prepared);
}

static void crashed(void)
{
    FILE *file = fopen("crashed.etl", "wb");

    start(NULL, (etwas_session_options){.log_file_mode = EVENT_TRACE_BUFFERING_MODE}, 0);
    require("prepare", etwas_snapshot_prepare(session, fileno(file), &prepared));
    log_all();
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    _exit(0);
}
#endif

#if GENERATION >= 10
static void compressed(void)
{
    start("compressed.etl", (etwas_session_options){.log_file_mode = EVENT_TRACE_COMPRESSED_MODE},
          0);
    log_all();
    require("flush", etwas_flush(session));
    log_noise();
    stop();
}

static void compressed_unfinished(void)
{
    start("compressed_unfinished.etl",
          (etwas_session_options){.log_file_mode = EVENT_TRACE_COMPRESSED_MODE,
                                  .clock = ETWAS_CLOCK_TSC},
          0);
    log_and_flush(2);
    raise(SIGKILL);
}

static void compressed_appended(void)
{
    etwas_session_options options = {.clock = ETWAS_CLOCK_SYSTEM_TIME,
                                     .log_file_mode = EVENT_TRACE_COMPRESSED_MODE};

    for (int i = 0; i < 2; i++) {
        start("compressed_appended.etl", options, 0);
        log_and_flush(1);
        stop();
        options.log_file_mode |= EVENT_TRACE_FILE_MODE_APPEND;
    }
}

static void compressed_parts(void)
{
    start("compressed_part_%d.etl",
          (etwas_session_options){.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE |
                                                   EVENT_TRACE_COMPRESSED_MODE |
                                                   EVENT_TRACE_USE_KBYTES_FOR_SIZE,
                                  .maximum_file_size = 12},
          0);
    log_and_flush(1);
    for (int i = 0; i < 2; i++) {
        log_noise();
        require("flush", etwas_flush(session));
    }
    log_and_flush(1);
    stop();
}

static void compressed_snapshot(void)
{
    start(NULL,
          (etwas_session_options){.log_file_mode =
                                      EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_COMPRESSED_MODE},
          0);
    log_all();
    require("snapshot", etwas_snapshot(session, "compressed_snapshot.etl"));
    stop();
}
#endif

#if GENERATION >= 11
/* Twice more than there are buffers for. */
static void losses(void)
{
    start("losses.etl",
          (etwas_session_options){.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                  .minimum_buffers = 4,
                                  .maximum_buffers = 4},
          0);
    for (int burst = 0; burst < 2; burst++) {
        for (int i = 0; i < FILLERS; i++) {
            log_number(FILLER_BYTES);
        }
        require("flush", etwas_flush(session));
        pause_ms(200);
    }
    log_instances();
    stop();
}
#endif

static const struct {
    const char *name;
    void (*record)(void);
} scenes[] = {
    {"finished", finished},
    {"unfinished", unfinished},
    {"snapshot", snapshot},
#if GENERATION >= 2
    {"circular", circular},
    {"circular_unfinished", circular_unfinished},
    {"appended", appended},
    {"one_stream", one_stream},
    {"parts", parts},
#endif
#if GENERATION >= 3
    {"knots", knots},
#endif
#if GENERATION >= 6
    {"stacks", stacks},
#endif
#if GENERATION >= 7
    {"kernel", kernel},
#endif
#if GENERATION >= 9
    {"counters", counters},
    {"classes", with_classes},
    {"triggered", triggered},
    {"crash_safe", crash_safe},
    {"recovered", recovered},
    {"crashed", crashed},
#endif
#if GENERATION >= 10
    {"compressed", compressed},
    {"compressed_unfinished", compressed_unfinished},
    {"compressed_appended", compressed_appended},
    {"compressed_parts", compressed_parts},
    {"compressed_snapshot", compressed_snapshot},
#endif
#if GENERATION >= 11
    {"losses", losses},
#endif
};

/* Without an argument: the names of the scenes. */
int main(int argc, char **argv)
{
    cpu_set_t first;

    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (argc == 1) {
            puts(scenes[i].name);
        } else if (strcmp(argv[1], scenes[i].name) == 0) {
            register_all();
            scenes[i].record();
            return 0;
        }
    }
    return argc > 1;
}
