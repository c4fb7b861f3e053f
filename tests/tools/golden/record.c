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

#include <etwas/etwas.h>

#include <pthread.h>
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
    FILLER_BYTES = 1200,
    NS_PER_MS = 1000000,
};

#if GENERATION == 1
#define maximum_file_size maximum_file_size_mb
#endif
#if GENERATION >= 2
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#endif
#if GENERATION >= 5
#include <etwas/TraceLoggingProvider.h>
#include <etwas/tdh.h>

TRACELOGGING_DEFINE_PROVIDER(shop, "Golden.Shop",
                             (0x2c7d31e6, 0x94f0, 0x4b58, 0xa6, 0x1b, 0x0d, 0x72, 0xe9, 0x45, 0x83,
                              0xcf));
#endif

static const GUID server_guid = {
    0x3c1d5f08, 0x77a2, 0x4e6b, {0x8e, 0x15, 0xb0, 0x29, 0x64, 0xfa, 0x0c, 0x93}};
static const GUID request_guid = {
    0x8a40e7d1, 0x2b96, 0x4f3c, {0xa5, 0x0d, 0x17, 0xc8, 0x3e, 0x59, 0xb2, 0x64}};
static const GUID step_guid = {
    0xd29b6c55, 0x90ef, 0x4178, {0xbc, 0x43, 0x7a, 0x1e, 0x05, 0x8f, 0xd6, 0x3b}};
static const GUID number_guid = {
    0x61e4c0b7, 0xa8d9, 0x4352, {0x9f, 0x70, 0x2c, 0xe5, 0x18, 0x4b, 0xd3, 0x0a}};
#if GENERATION >= 2
static const GUID modern_guid = {
    0x5b7e21c4, 0x0d93, 0x46fa, {0x9b, 0x3e, 0x71, 0xc2, 0x58, 0xa4, 0x06, 0xed}};
#endif

static TRACE_GUID_REGISTRATION classes[] = {{&request_guid, NULL}, {&step_guid, NULL}};
static TRACEHANDLE session;
static uint32_t next_number;

static void require(const char *what, ULONG error)
{
    if (error != ERROR_SUCCESS) {
        fprintf(stderr, "%s: %u\n", what, error);
        exit(1);
    }
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS}, NULL);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void log_number(uint32_t bytes)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint32_t number;
        char filler[FILLER_BYTES];
    } event = {.header = {.Guid = number_guid}, .number = ++next_number};

    event.header.Size = (USHORT)(sizeof event.header + sizeof event.number + bytes);
    event.header.Class.Type = 10;
    event.header.Class.Level = 4;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    TraceEvent(session, &event.header);
}

static void log_instance(UCHAR type, EVENT_INSTANCE_INFO *self, EVENT_INSTANCE_INFO *parent)
{
    static const char name[] = "golden";
    struct {
        EVENT_INSTANCE_HEADER header;
        MOF_FIELD name;
    } event = {.header = {.Size = sizeof event, .RegHandle = (ULONG64)self->RegHandle}};

    event.header.Class.Type = type;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR;
    DEFINE_TRACE_MOF_FIELD(&event.name, name, sizeof name, ETW_ASCIISTRING_TYPE_VALUE);
    TraceEventInstance(session, &event.header, self, parent);
}

static void *do_step(void *parent)
{
    EVENT_INSTANCE_INFO step;
    cpu_set_t second;

    CPU_ZERO(&second);
    CPU_SET(1, &second);
    sched_setaffinity(0, sizeof second, &second);
    CreateTraceInstanceId(classes[1].RegHandle, &step);
    log_instance(EVENT_TRACE_TYPE_START, &step, parent);
    log_instance(EVENT_TRACE_TYPE_END, &step, parent);
    return NULL;
}

/* A request, whose step another thread does. */
static void log_instances(void)
{
    EVENT_INSTANCE_INFO request;
    pthread_t helper;

    CreateTraceInstanceId(classes[0].RegHandle, &request);
    log_instance(EVENT_TRACE_TYPE_START, &request, NULL);
    pthread_create(&helper, NULL, do_step, &request);
    pthread_join(helper, NULL);
    log_instance(EVENT_TRACE_TYPE_END, &request, NULL);
}

#if GENERATION >= 2
static void log_message(void)
{
    uint32_t number = ++next_number;

    TraceMessage(session,
                 TRACE_MESSAGE_GUID | TRACE_MESSAGE_TIMESTAMP | TRACE_MESSAGE_SYSTEMINFO |
                     TRACE_MESSAGE_SEQUENCE,
                 &number_guid, 7, &number, sizeof number, "golden", sizeof "golden", NULL);
}

static REGHANDLE modern;

static void log_modern(void)
{
    EVENT_DESCRIPTOR descriptor = {.Id = 3, .Version = 1, .Level = 4, .Task = 2, .Keyword = 0x10};
    EVENT_DATA_DESCRIPTOR data;
    GUID activity = modern_guid;
    uint32_t number = ++next_number;

    EventDataDescCreate(&data, &number, sizeof number);
    EventWrite(modern, &descriptor, 1, &data);
    descriptor.Opcode = 1; /* start */
    EventWriteTransfer(modern, &descriptor, &activity, NULL, 1, &data);
    descriptor.Opcode = 2; /* stop */
    EventWriteTransfer(modern, &descriptor, &activity, &server_guid, 0, NULL);
}
#endif

#if GENERATION >= 5
static void describe(void)
{
    static const etwas_field_description number[] = {
        {.name = "number", .in_type = TDH_INTYPE_UINT32}};
    static const etwas_field_description name[] = {
        {.name = "name", .in_type = TDH_INTYPE_ANSISTRING}};
    static const etwas_type_description numbers[] = {
        {.name = "Logged", .type = 10, .level = 4, .fields = number, .field_count = 1}};
    static const etwas_type_description spans[] = {
        {.name = "Start", .type = EVENT_TRACE_TYPE_START, .fields = name, .field_count = 1},
        {.name = "End", .type = EVENT_TRACE_TYPE_END, .fields = name, .field_count = 1}};
    static const etwas_class_description descriptions[] = {{.guid = &number_guid,
                                                            .provider_name = "Golden",
                                                            .name = "Number",
                                                            .types = numbers,
                                                            .type_count = 1},
                                                           {.guid = &request_guid,
                                                            .provider_name = "Golden",
                                                            .name = "Request",
                                                            .types = spans,
                                                            .type_count = 2},
                                                           {.guid = &step_guid,
                                                            .provider_name = "Golden",
                                                            .name = "Step",
                                                            .types = spans,
                                                            .type_count = 2}};

    for (int i = 0; i < 3; i++) {
        require("describe", etwas_describe_class(&descriptions[i], NULL));
    }
    require("describe a message", etwas_describe_message(&number_guid, 7, "number %u of %s"));
}

static void log_self_describing(void)
{
    const uint16_t shelves[] = {3, 12};
    GUID order = request_guid;

    TraceLoggingWriteActivity(
        shop, "Order", &order, NULL, TraceLoggingOpcode(1),
        TraceLoggingUInt32(++next_number, "number"), TraceLoggingStruct(2, "Customer"),
        TraceLoggingUtf8String("Ada", "Name"), TraceLoggingBoolean(1, "IsNew"),
        TraceLoggingUInt16FixedArray(shelves, 2, "Shelves"));
    TraceLoggingWriteActivity(shop, "Order", &order, NULL, TraceLoggingOpcode(2));
}
#endif

/* One of each kind. */
static void log_all(void)
{
    log_number(0);
    log_instances();
#if GENERATION >= 2
    log_message();
    log_modern();
#endif
#if GENERATION >= 5
    log_self_describing();
#endif
}

/* ---- sessions -------------------------------------------------------------------------------- */

static ULONG on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *size, PVOID buffer)
{
    (void)code, (void)context, (void)size, (void)buffer;
    return ERROR_SUCCESS;
}

static void register_all(void)
{
    TRACEHANDLE provider;

    require("register",
            RegisterTraceGuids(on_control, NULL, &server_guid, 2, classes, NULL, NULL, &provider));
#if GENERATION >= 2
    require("register modern", EventRegister(&modern_guid, NULL, NULL, &modern));
#endif
#if GENERATION >= 5
    describe();
    TraceLoggingRegister(shop);
#endif
}

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
/* What does not get smaller. */
static void log_noise(void)
{
    struct {
        EVENT_TRACE_HEADER header;
        uint32_t noise[FILLER_BYTES / 4];
    } event = {.header = {.Size = sizeof event, .Guid = server_guid}};
    uint32_t state = 1;

    event.header.Class.Type = 11;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    for (int i = 0; i < FILLER_BYTES / 4; i++) {
        state = state * 1664525 + 1013904223;
        event.noise[i] = state ^ state >> 16;
    }
    for (int i = 0; i < 3; i++) {
        TraceEvent(session, &event.header);
    }
}

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
