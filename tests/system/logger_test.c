/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system logger against the real kernel: what a test does is in the file, in order, as often as it
 * happened, and nothing else is called recorded.
 */
#include <ck_pr.h>
#include <etwas/KernelTraceControl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/testpoint.h"
#include "session/fixture.h"
#include "support/inside.h"
#include "system/feed.h"
#include "system/logger.h"
#include "system/tracepoint.h"

enum {
    THREAD_START = 1,
    THREAD_END = 2,
    RUNDOWN_START = 3,
    RUNDOWN_END = 4,
    SWITCH = 36,
    HANDOVERS = 2000,
    CHILDREN = 20,
    PAGE = 4096,
    STACK_BYTES = 1 << 20,
    FLAGS = EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG,
};

static const etwas_guid thread_class = {
    0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

static void prepare_kernel_block(struct block *block, uint32_t flags)
{
    prepare_block(block, folder_path("k.etl"));
    block->properties.Wnode.Guid = SystemTraceControlGuid;
    block->properties.Wnode.ClientContext = 1;
    block->properties.EnableFlags = flags;
}

static etwas_trace_handle start_kernel(uint32_t flags)
{
    struct block block;

    prepare_kernel_block(&block, flags);
    return start_block(KERNEL_LOGGER_NAMEA, &block);
}

static uint32_t u32_at(const struct event *event, size_t offset)
{
    uint32_t value;

    assert_true(event->record.UserDataLength >= offset + sizeof value);
    memcpy(&value, event->payload + offset, sizeof value);
    return value;
}

static bool is_type(const struct event *event, uint8_t type)
{
    return event->record.EventHeader.EventDescriptor.Opcode == type &&
           memcmp(&event->record.EventHeader.ProviderId, &thread_class, sizeof thread_class) == 0;
}

/* Events of a type whose payload says this process, and this thread unless it is 0. */
static uint32_t count_threads(const struct events *events, uint8_t type, uint32_t process_id,
                              uint32_t thread_id)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_type(event, type) && u32_at(event, 0) == process_id &&
            (thread_id == 0 || u32_at(event, 4) == thread_id)) {
            assert_int_equal(event->record.UserDataLength, 72);
            assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 3);
            count++;
        }
    }
    return count;
}

static void read_and_account(etwas_trace_handle session, struct events *events)
{
    etwas_session_counts counts;
    uint64_t kernels = 0;

    stop_session(session, &counts);
    expect_nothing_lost(counts);
    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, events);
    for (size_t index = 0; index < events->count; index++) {
        kernels += memcmp(&events->items[index].record.EventHeader.ProviderId, &thread_class,
                          sizeof thread_class) == 0;
    }
    assert_int_equal(kernels, counts.recorded);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *do_nothing(void *argument)
{
    return argument;
}

/*
 * A process with two threads more, until it ends. Their stacks are its own: the library would take
 * those of threads of the parent, which ThreadSanitizer believes to be there still.
 */
static pid_t run_child(void)
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

static void every_thread_begins_and_ends_once(void **state)
{
    pid_t children[CHILDREN];
    uint32_t here = (uint32_t)getpid();
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    for (int index = 0; index < CHILDREN; index++) {
        children[index] = run_child();
    }
    read_and_account(session, &events);
    for (int index = 0; index < CHILDREN; index++) {
        uint32_t child = (uint32_t)children[index];

        assert_int_equal(count_threads(&events, THREAD_START, child, 0), 3);
        assert_int_equal(count_threads(&events, THREAD_START, child, child), 1);
        assert_int_equal(count_threads(&events, THREAD_END, child, 0), 3);
        assert_int_equal(count_threads(&events, THREAD_END, child, child), 1);
        assert_int_equal(count_threads(&events, RUNDOWN_END, child, 0), 0);
    }
    /* Who was there before and is there afterwards is said so. */
    assert_int_equal(count_threads(&events, RUNDOWN_START, here, thread), 1);
    assert_int_equal(count_threads(&events, RUNDOWN_END, here, thread), 1);
    assert_int_equal(count_threads(&events, RUNDOWN_START, 1, 1), 1);
    assert_int_equal(count_threads(&events, SWITCH, here, 0), 0);
    free_events(&events);
}

static void a_thread_is_begun_by_another(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint32_t child;
    uint32_t seen = 0;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    child = (uint32_t)run_child();
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_type(event, THREAD_START) && u32_at(event, 0) == child) {
            bool is_first = u32_at(event, 4) == child;

            assert_int_equal(event->record.EventHeader.ProcessId, is_first ? getpid() : (int)child);
            seen++;
        }
    }
    assert_int_equal(seen, 3);
    free_events(&events);
}

/* ---- context switches ------------------------------------------------------------------------ */

struct handover {
    int request[2];
    int answer[2];
    uint32_t thread_id;
};

static void *answer(void *argument)
{
    struct handover *handover = argument;
    char byte;

    handover->thread_id = (uint32_t)syscall(SYS_gettid);
    while (read(handover->request[0], &byte, 1) == 1) {
        if (write(handover->answer[1], &byte, 1) != 1) {
            abort();
        }
    }
    return NULL;
}

/* Two threads on one processor: each request and each answer is a switch at least. */
static uint32_t hand_over(void)
{
    struct handover handover;
    pthread_t thread;
    char byte = 0;

    stay_on_one_processor();
    assert_int_equal(pipe(handover.request), 0);
    assert_int_equal(pipe(handover.answer), 0);
    assert_int_equal(pthread_create(&thread, NULL, answer, &handover), 0);
    for (int index = 0; index < HANDOVERS; index++) {
        assert_int_equal(write(handover.request[1], &byte, 1), 1);
        assert_int_equal(read(handover.answer[0], &byte, 1), 1);
    }
    (void)close(handover.request[1]);
    (void)pthread_join(thread, NULL);
    (void)close(handover.request[0]);
    (void)close(handover.answer[0]);
    (void)close(handover.answer[1]);
    leave_one_processor();
    return handover.thread_id;
}

static uint32_t processor_of(const struct event *event)
{
    return event->record.BufferContext.ProcessorIndex;
}

/*
 * On each processor, of our two threads, the one that came is the next to give way: none of their
 * switches is missing, none there twice, and their order is true. I2, I8. Of idle threads and the
 * kernel's own, Linux 6.18 itself neither counts nor hands over each one; perf record shows the same gaps.
 */
static void every_switch_of_a_thread_follows_the_one_before(void **state)
{
    uint32_t running[ETWAS_MOST_PROCESSORS + 1];
    int64_t newest[ETWAS_MOST_PROCESSORS + 1] = {0};
    etwas_trace_handle session;
    struct events events;
    uint32_t here = (uint32_t)syscall(SYS_gettid);
    uint32_t other;
    uint32_t there = 0;
    uint32_t back = 0;

    (void)state;
    memset(running, 0xFF, sizeof running);
    session = start_kernel(FLAGS);
    other = hand_over();
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        uint32_t processor = processor_of(event);

        if (!is_type(event, SWITCH)) {
            continue;
        }
        assert_int_equal(event->record.UserDataLength, 24);
        assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
        assert_true(event->record.EventHeader.TimeStamp.QuadPart >= newest[processor]);
        newest[processor] = event->record.EventHeader.TimeStamp.QuadPart;
        if (running[processor] == here || running[processor] == other) {
            assert_int_equal(u32_at(event, 4), running[processor]);
        }
        running[processor] = u32_at(event, 0);
        there += u32_at(event, 0) == other;
        back += u32_at(event, 4) == other;
        if (u32_at(event, 4) == here && u32_at(event, 0) == other) {
            assert_int_equal(event->payload[9], 8); /* nice 0 */
        }
    }
    assert_in_range(there, HANDOVERS, UINT32_MAX);
    assert_in_range(back, HANDOVERS, UINT32_MAX);
    free_events(&events);
}

/* ---- accounts -------------------------------------------------------------------------------- */

/* The machine's switches, as the kernel counts them for anybody. */
struct switch_counter {
    int events[ETWAS_MOST_PROCESSORS];
    uint32_t count;
};

static void begin_counting(struct switch_counter *counter)
{
    struct perf_event_attr attributes = {.size = sizeof attributes, .type = PERF_TYPE_TRACEPOINT};
    struct etwas_tracepoint tracepoint;
    struct etwas_fault fault;

    assert_true(etwas_tracepoint_read(&tracepoint, "sched/sched_switch", &fault));
    attributes.config = tracepoint.id;
    etwas_tracepoint_free(&tracepoint);
    counter->count = 0;
    for (uint32_t processor = 0; processor < etwas_processor_count(); processor++) {
        long event =
            syscall(SYS_perf_event_open, &attributes, -1, (int)processor, -1, PERF_FLAG_FD_CLOEXEC);

        if (event >= 0) {
            counter->events[counter->count++] = (int)event;
        }
    }
    assert_int_not_equal(counter->count, 0);
}

static uint64_t end_counting(struct switch_counter *counter)
{
    uint64_t sum = 0;

    for (uint32_t index = 0; index < counter->count; index++) {
        uint64_t value;

        assert_int_equal(read(counter->events[index], &value, sizeof value), sizeof value);
        (void)close(counter->events[index]);
        sum += value;
    }
    return sum;
}

/* While this is 1 the rings are not read. */
static uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
}

/*
 * I4: rings of a page overflow; what is recorded and what is lost are together what the kernel counted.
 * It is counted here too, from before the start to behind the end, and once less than that.
 */
static void what_the_kernel_had_no_room_for_is_counted(void **state)
{
    static struct switch_counter outer;
    static struct switch_counter inner;
    uint64_t least;
    const uint32_t ring_bytes = etwas_system_logger_ring_bytes;
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct events events;
    uint64_t switches = 0;

    (void)state;
    etwas_system_logger_ring_bytes = 4096;
    ck_pr_store_32(&keep_rings_full, 1);
    etwas_testpoint_set(wait_before_drain);
    begin_counting(&outer);
    session = start_kernel(EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    etwas_system_logger_ring_bytes = ring_bytes;
    begin_counting(&inner);
    (void)hand_over();
    ck_pr_store_32(&keep_rings_full, 0);
    (void)hand_over();
    least = end_counting(&inner);
    stop_session(session, &counts);
    etwas_testpoint_set(NULL);
    assert_in_range(counts.lost_in_kernel, HANDOVERS, UINT64_MAX);
    assert_int_equal(counts.lost, counts.lost_in_kernel);
    assert_in_range(least, 4 * HANDOVERS, UINT64_MAX);
    assert_in_range(counts.recorded + counts.lost, least, end_counting(&outer));
    read_events(folder_path("k.etl"), 0, &events);
    for (size_t index = 0; index < events.count; index++) {
        switches += is_type(&events.items[index], SWITCH);
    }
    assert_int_equal(switches, counts.recorded);
    assert_int_equal(events.header.EventsLost, counts.lost);
    free_events(&events);
}

/* The same where the pool has no room, because nothing is taken out of it. */
static void what_the_pool_has_no_room_for_is_counted(void **state)
{
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct block block;
    struct events events;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    block.properties.BufferSize = 4;
    block.properties.MaximumBuffers = 1;
    session = start_block(KERNEL_LOGGER_NAMEA, &block);
    (void)pthread_mutex_lock(&inside_of(session)->role);
    (void)hand_over();
    while (counts_of(session).lost_no_buffer == 0) {
        (void)hand_over();
    }
    (void)pthread_mutex_unlock(&inside_of(session)->role);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, counts.lost_no_buffer + counts.lost_in_kernel);
    read_events(folder_path("k.etl"), 0, &events);
    assert_int_equal(events.header.EventsLost, counts.lost);
    free_events(&events);
}

/* ---- what a system logger is not ------------------------------------------------------------- */

static void r105_nobody_else_writes_to_it(void **state)
{
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(FLAGS);
    assert_int_equal(log_number(session, 1), ERROR_INVALID_HANDLE);
    assert_int_equal(EnableTraceEx2(session, &control_guid, 1, 0, 0, 0, 0, &parameters),
                     ERROR_INVALID_PARAMETER);
    read_and_account(session, &events);
    free_events(&events);
}

static void expect_code(uint32_t code, const char *name, const struct block *given)
{
    struct block block = *given;
    etwas_trace_handle session = 7;

    assert_int_equal(StartTraceA(&session, name, &block.properties), code);
    assert_int_equal(session, 0);
    assert_int_not_equal(access(folder_path("k.etl"), F_OK), 0);
}

static void r43_r51_what_cannot_be_is_refused(void **state)
{
    struct block block;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    expect_code(ERROR_INVALID_PARAMETER, "another", &block);
    block.properties.LogFileMode |= EVENT_TRACE_USE_PAGED_MEMORY;
    expect_code(ERROR_INVALID_PARAMETER, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, FLAGS | 0x08000000);
    expect_code(ERROR_INVALID_PARAMETER, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, FLAGS | EVENT_TRACE_FLAG_PROFILE);
    expect_code(ERROR_NOT_SUPPORTED, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, EVENT_TRACE_FLAG_CSWITCH); /* the configuration, too */
    expect_code(ERROR_NOT_SUPPORTED, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, FLAGS);
    block.properties.Wnode.ClientContext = 2;
    expect_code(ERROR_NOT_SUPPORTED, KERNEL_LOGGER_NAMEA, &block);
    prepare_kernel_block(&block, FLAGS);
    block.properties.LogFileMode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    expect_code(ERROR_NOT_SUPPORTED, KERNEL_LOGGER_NAMEA, &block);
}

static void r43_the_name_brings_the_guid(void **state)
{
    struct block block;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    block.properties.Wnode.Guid = control_guid;
    session = start_block("nt KERNEL logger", &block);
    assert_memory_equal(&block.properties.Wnode.Guid, &SystemTraceControlGuid, sizeof(etwas_guid));
    assert_int_equal(block.properties.EnableFlags, FLAGS);
    read_and_account(session, &events);
    free_events(&events);
}

/* R180, R181, R182 */
static void r182_the_kernels_own_call_starts_the_kernel_logger(void **state)
{
    const STACK_TRACING_EVENT_ID id = {.EventGuid = thread_class, .Type = SWITCH};
    static const etwas_wchar name[] = KERNEL_LOGGER_NAMEW;
    etwas_trace_handle session;
    etwas_trace_handle second = 7;
    struct block block;
    struct block other;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    (void)wide_of(folder_path("k.etl"), (etwas_wchar *)(void *)block.file_name,
                  sizeof block.file_name / sizeof(etwas_wchar));
    other = block;
    assert_int_equal(StartKernelTrace(&second, &other.properties, &id, 1), ERROR_NOT_SUPPORTED);
    assert_int_equal(second, 0);
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 1),
                     ERROR_INVALID_PARAMETER);
    other.properties.EnableFlags |= EVENT_TRACE_FLAG_EXTENSION;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0), ERROR_INVALID_FLAGS);
    other.properties.Wnode.Guid = control_guid;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    other.properties.Wnode.Guid = KernelRundownGuid;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0), ERROR_NOT_SUPPORTED);
    other = block;
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    assert_memory_equal(block.session_name, name, sizeof name);
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0), ERROR_ALREADY_EXISTS);
    assert_int_equal(second, 0);
    stop_session(session, NULL);
}

static void flags_do_not_change_while_it_runs(void **state)
{
    etwas_trace_handle session;
    struct block block;

    (void)state;
    session = start_kernel(FLAGS);
    prepare_kernel_block(&block, FLAGS | EVENT_TRACE_FLAG_PROFILE);
    block.properties.LogFileNameOffset = 0;
    assert_int_equal(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE),
                     ERROR_NOT_SUPPORTED);
    block.properties.EnableFlags = FLAGS;
    assert_int_equal(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE),
                     ERROR_SUCCESS);
    stop_session(session, NULL);
}

/* ---- belongings ------------------------------------------------------------------------------ */

static void it_leaves_nothing_behind(void **state)
{
    struct belongings before;

    (void)state;
    stop_session(start_kernel(FLAGS), NULL);
    before = count_belongings();
    for (int round = 0; round < 3; round++) {
        stop_session(start_kernel(FLAGS), NULL);
    }
    assert_nothing_gained(&before);
}

static uint32_t count_events_of_perf(void)
{
    char path[64];
    char target[64];
    uint32_t count = 0;

    for (int descriptor = 0; descriptor < 256; descriptor++) {
        ssize_t length;

        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        count += strstr(target, "perf_event") != NULL;
    }
    return count;
}

static void a_forks_child_has_none_of_it(void **state)
{
    uint32_t here = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;
    uint32_t inside;
    int child;

    (void)state;
    session = start_kernel(FLAGS);
    assert_in_range(count_events_of_perf(), 2, 256);
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(count_events_of_perf() == 0);
        CHECK_IN_CHILD(log_number(session, 1) == ERROR_INVALID_HANDLE);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    inside = (uint32_t)run_child();
    read_and_account(session, &events);
    assert_int_equal(count_threads(&events, THREAD_START, (uint32_t)child, 0), 1);
    assert_int_equal(count_threads(&events, THREAD_START, inside, 0), 3);
    assert_int_equal(count_threads(&events, RUNDOWN_END, (uint32_t)getpid(), here), 1);
    free_events(&events);
}

static int start_as_nobody(void)
{
    struct block block;
    etwas_trace_handle session = 7;

    prepare_kernel_block(&block, FLAGS);
    if (setgid(65534) != 0 || setuid(65534) != 0) {
        return 1;
    }
    return StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) == ERROR_ACCESS_DENIED &&
                   session == 0
               ? 0
               : 2;
}

static void who_may_not_see_the_system_is_denied(void **state)
{
    int child;

    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    child = fork_child();
    if (child == 0) {
        _exit(start_as_nobody());
    }
    assert_int_equal(exit_code_of(child), 0);
}

/* NULL, or why there is nothing to test. */
static const char *why_not(void)
{
    static struct etwas_feed feed;
    static char text[256];
    struct etwas_tracepoint tracepoint;
    struct etwas_fault fault;

    if (etwas_feed_open(&feed, (uint32_t)sched_getcpu(), 4096, 0, &fault)) {
        etwas_feed_close(&feed);
        if (etwas_tracepoint_read(&tracepoint, "sched/sched_switch", &fault)) {
            etwas_tracepoint_free(&tracepoint);
            return NULL;
        }
    }
    etwas_fault_explain(&fault, text, sizeof text);
    return text;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_thread_begins_and_ends_once),
        FOLDER_TEST(a_thread_is_begun_by_another),
        FOLDER_TEST(every_switch_of_a_thread_follows_the_one_before),
        FOLDER_TEST(what_the_kernel_had_no_room_for_is_counted),
        FOLDER_TEST(what_the_pool_has_no_room_for_is_counted),
        FOLDER_TEST(r105_nobody_else_writes_to_it),
        FOLDER_TEST(r43_r51_what_cannot_be_is_refused),
        FOLDER_TEST(r43_the_name_brings_the_guid),
        FOLDER_TEST(r182_the_kernels_own_call_starts_the_kernel_logger),
        FOLDER_TEST(flags_do_not_change_while_it_runs),
        FOLDER_TEST(it_leaves_nothing_behind),
        FOLDER_TEST(a_forks_child_has_none_of_it),
        FOLDER_TEST(who_may_not_see_the_system_is_denied),
    };
    const char *reason = why_not();

    if (reason != NULL) {
        (void)printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests_name("system logger", tests, NULL, NULL);
}
