/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/kernel_fixture.h"

#include <dirent.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "support/inside.h"
#include "system/logger.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/tracepoint.h"

enum {
    PAGE = 4096,
    STACK_BYTES = 1 << 20,
    RING_BYTES = 32 << 20,
    NOBODY = 65534,
};

const etwas_guid thread_class = {
    0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

const etwas_guid perf_info_class = {
    0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};

/* The class of the file's header event. */
static const etwas_guid header_class = {
    0x68fdd900, 0x4a3e, 0x11d1, {0x84, 0xf4, 0x00, 0x00, 0xf8, 0x04, 0x64, 0xe3}};

void prepare_kernel_block(struct block *block, uint32_t flags)
{
    prepare_block(block, folder_path("k.etl"));
    block->properties.Wnode.Guid = SystemTraceControlGuid;
    block->properties.Wnode.ClientContext = 1;
    block->properties.EnableFlags = flags;
}

etwas_trace_handle start_kernel(uint32_t flags)
{
    struct block block;

    prepare_kernel_block(&block, flags);
    return start_block(KERNEL_LOGGER_NAMEA, &block);
}

etwas_trace_handle start_without_kernel_stacks(uint32_t flags)
{
    etwas_trace_handle session = 0;
    struct {
        EVENT_TRACE_PROPERTIES_V2 properties;
        char names[2][256];
    } block = {
        .properties = {.Wnode = {.BufferSize = sizeof block,
                                 .Guid = SystemTraceControlGuid,
                                 .ClientContext = 1,
                                 .Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_VERSIONED_PROPERTIES},
                       .LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                       .EnableFlags = flags,
                       .LoggerNameOffset = sizeof block.properties,
                       .LogFileNameOffset = sizeof block.properties + 256,
                       .VersionNumber = 2,
                       .ExcludeKernelStack = 1}};

    (void)strncpy(block.names[1], folder_path("k.etl"), sizeof block.names[1] - 1);
    assert_int_equal(StartTraceA(&session, KERNEL_LOGGER_NAMEA, (void *)&block.properties),
                     ERROR_SUCCESS);
    return session;
}

void update_kernel_flags(etwas_trace_handle session, uint32_t flags, uint32_t code)
{
    struct block block;

    prepare_kernel_block(&block, flags);
    block.properties.LogFileNameOffset = 0;
    assert_int_equal(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE),
                     code);
}

uint32_t kernel_flags_of(etwas_trace_handle session)
{
    struct block block;

    prepare_kernel_block(&block, 0);
    assert_int_equal(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS);
    return block.properties.EnableFlags;
}

uint32_t u32_at(const struct event *event, size_t offset)
{
    uint32_t value;

    assert_true(event->record.UserDataLength >= offset + sizeof value);
    memcpy(&value, event->payload + offset, sizeof value);
    return value;
}

uint64_t u64_at(const struct event *event, size_t offset)
{
    uint64_t value;

    assert_true(event->record.UserDataLength >= offset + sizeof value);
    memcpy(&value, event->payload + offset, sizeof value);
    return value;
}

bool is_kernel_event(const struct event *event, const etwas_guid *class_guid, uint8_t type)
{
    return event->record.EventHeader.EventDescriptor.Opcode == type &&
           memcmp(&event->record.EventHeader.ProviderId, class_guid, sizeof *class_guid) == 0;
}

uint32_t processor_of(const struct event *event)
{
    return event->record.BufferContext.ProcessorIndex;
}

bool is_account(const struct event *event)
{
    return memcmp(&event->record.EventHeader.ProviderId, &etwas_etl_own_class,
                  sizeof etwas_etl_own_class) == 0;
}

uint32_t count_threads(const struct events *events, uint8_t type, uint32_t process_id,
                       uint32_t thread_id)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &thread_class, type) && u32_at(event, 0) == process_id &&
            (thread_id == 0 || u32_at(event, 4) == thread_id)) {
            assert_int_equal(event->record.UserDataLength, 72);
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 3);
            count++;
        }
    }
    return count;
}

uint64_t read_with_loss(etwas_trace_handle session, struct events *events)
{
    etwas_session_counts counts;
    uint64_t kernels = 0;

    stop_session(session, &counts);
    assert_int_equal(counts.lost, counts.lost_in_kernel);
    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, events);
    for (size_t index = 0; index < events->count; index++) {
        kernels += memcmp(&events->items[index].record.EventHeader.ProviderId, &header_class,
                          sizeof header_class) != 0;
    }
    assert_int_equal(kernels, counts.recorded);
    return counts.lost;
}

void read_and_account(etwas_trace_handle session, struct events *events)
{
    skip_if_lost(read_with_loss(session, events), events);
}

/* Where the kernel has a limit of its own above those of Linux. */
static bool is_paranoid(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    char line[16] = "";

    if (file != NULL) {
        (void)fgets(line, sizeof line, file);
        (void)fclose(file);
    }
    return strtol(line, NULL, 10) > 2;
}

uint64_t monitoring_capabilities(void)
{
    return UINT64_C(1) << CAP_DAC_OVERRIDE | UINT64_C(1) << CAP_PERFMON |
           (is_paranoid() ? UINT64_C(1) << CAP_SYS_ADMIN : 0);
}

bool become_nobody_with(uint64_t capabilities)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
        {.effective = (uint32_t)capabilities, .permitted = (uint32_t)capabilities},
        {.effective = (uint32_t)(capabilities >> 32), .permitted = (uint32_t)(capabilities >> 32)}};

    return prctl(PR_SET_KEEPCAPS, 1) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0 &&
           syscall(SYS_capset, &header, data) == 0;
}

void expect_as_nobody(int (*run)(void))
{
    if (geteuid() != 0) {
        print_message("skipped: only root can become another user\n");
        skip();
    }
    expect_in_child(run);
}

static void *do_nothing(void *argument)
{
    return argument;
}

/*
 * The threads' stacks are the child's own: the library would take those of threads of the parent,
 * which ThreadSanitizer believes to be there still.
 */
pid_t run_child(void)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        static uint8_t stacks[2][STACK_BYTES] __attribute__((aligned(PAGE)));
        pthread_t threads[2];
        pthread_attr_t attributes;

        for (int index = 0; index < 2; index++) {
            if (pthread_attr_init(&attributes) != 0 ||
                pthread_attr_setstack(&attributes, stacks[index], STACK_BYTES) != 0 ||
                pthread_create(&threads[index], &attributes, do_nothing, NULL) != 0) {
                _exit(1);
            }
        }
        for (int index = 0; index < 2; index++) {
            (void)pthread_join(threads[index], NULL);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return child;
}

static void *answer(void *argument)
{
    struct echo *echo = argument;
    char byte;

    echo->thread_id = (uint32_t)syscall(SYS_gettid);
    while (read(echo->request[0], &byte, 1) == 1) {
        if (write(echo->answer[1], &byte, 1) != 1) {
            abort();
        }
    }
    return NULL;
}

void ask_echo(struct echo *echo)
{
    char byte = 0;

    assert_int_equal(write(echo->request[1], &byte, 1), 1);
    assert_int_equal(read(echo->answer[0], &byte, 1), 1);
}

void begin_echo(struct echo *echo)
{
    stay_on_one_processor();
    assert_int_equal(pipe(echo->request), 0);
    assert_int_equal(pipe(echo->answer), 0);
    assert_int_equal(pthread_create(&echo->thread, NULL, answer, echo), 0);
    ask_echo(echo);
}

void end_echo(struct echo *echo)
{
    (void)close(echo->request[1]);
    (void)pthread_join(echo->thread, NULL);
    (void)close(echo->request[0]);
    (void)close(echo->answer[0]);
    (void)close(echo->answer[1]);
    leave_one_processor();
}

uint32_t hand_over(void)
{
    struct echo echo;

    begin_echo(&echo);
    for (int index = 0; index < HANDOVERS; index++) {
        ask_echo(&echo);
    }
    end_echo(&echo);
    return echo.thread_id;
}

void hand_over_until_no_buffer(etwas_trace_handle session)
{
    (void)pthread_mutex_lock(&inside_of(session)->drain.role);
    (void)hand_over();
    while (counts_of(session).lost_no_buffer == 0) {
        (void)hand_over();
    }
    (void)pthread_mutex_unlock(&inside_of(session)->drain.role);
}

uint32_t thread_called(const char *name)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    uint32_t found = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char path[sizeof "/proc/self/task//comm" + sizeof entry->d_name];
        char line[64] = "";
        FILE *file;

        (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        file = fopen(path, "re");
        if (file != NULL) {
            if (fgets(line, sizeof line, file) != NULL && strncmp(line, name, strlen(name)) == 0) {
                found = (uint32_t)strtoul(entry->d_name, NULL, 10);
            }
            (void)fclose(file);
        }
    }
    (void)closedir(folder);
    return found;
}

const char *why_no_kernel_events(void)
{
    static struct etwas_cpu_stream stream;
    static char text[256];
    struct etwas_tracepoint tracepoint;
    struct etwas_unavailability fault;

    if (etwas_cpu_stream_open(&stream, (uint32_t)sched_getcpu(), 0, PAGE, &fault)) {
        etwas_cpu_stream_close(&stream);
        if (etwas_tracepoint_read(&tracepoint, "sched/sched_switch", &fault)) {
            etwas_tracepoint_free(&tracepoint);
            return NULL;
        }
    }
    etwas_unavailability_explain(&fault, text, sizeof text);
    return text;
}

int run_kernel_tests(const char *name, const struct CMUnitTest *tests, size_t count)
{
    const char *reason = why_no_kernel_events();

    if (reason != NULL) {
        (void)printf("skipped: %s\n", reason);
        return 77;
    }
    /* Where other tests run too, the logger's thread may have to wait for seconds. */
    etwas_system_logger_ring_bytes = RING_BYTES;
    return run_in_attempts(name, tests, count);
}
