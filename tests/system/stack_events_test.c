/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which events can have a stack, and that it is the stack of the thread that caused them: a known
 * function is in it.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/processor.h"
#include "system/kernel_fixture.h"
#include "system/known.h"

enum {
    TIMES = 50,
    PAGE = 4096,
    STACK = 32,
    THREAD_AT = 12,
    FRAMES_AT = 16,
    MOST_IDS = 4,
    VIRTUAL_ALLOC = 98,
    VIRTUAL_FREE = 99,
    DEMAND_ZERO = 11,
    ENTER = 51,
    READY = 50,
    SEND = 10,
    READ = 67,
    OPERATION_END = 76,
    PROCESS_START = 1,
};

static etwas_trace_handle start_with(uint32_t flags, const CLASSIC_EVENT_ID *ids, uint32_t count)
{
    etwas_trace_handle session = start_kernel(flags | EVENT_TRACE_FLAG_NO_SYSCONFIG);

    assert_int_equal(TraceSetInformation(session, TraceStackTracingInfo, (void *)(uintptr_t)ids,
                                         count * (uint32_t)sizeof *ids),
                     ERROR_SUCCESS);
    return session;
}

/* Stacks of this thread behind events of a type. */
struct found {
    uint32_t kernel_parts;
    uint32_t user_parts;
    uint32_t through_known; /* with a known frame somewhere */
    uint32_t in_known;      /* as the innermost */
};

static void scan_process(const struct event *stack, struct found *found)
{
    bool is_through = false;

    if (u64_at(stack, FRAMES_AT) >> 63 != 0) {
        found->kernel_parts++;
        return;
    }
    for (size_t at = FRAMES_AT; at < stack->record.UserDataLength; at += sizeof(uint64_t)) {
        is_through = is_through || is_in_known(u64_at(stack, at));
    }
    found->user_parts++;
    found->through_known += is_through;
    found->in_known += is_in_known(u64_at(stack, FRAMES_AT));
}

static struct found look(const struct events *events, const etwas_guid *class_guid, uint8_t type)
{
    const struct event *before[ETWAS_MOST_PROCESSORS + 1] = {NULL};
    const uint32_t thread_id = (uint32_t)syscall(SYS_gettid);
    struct found found = {0};

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        const struct event **last = &before[processor_of(event)];

        if (!is_kernel_event(event, &StackWalkGuid, STACK)) {
            *last = event;
            continue;
        }
        assert_non_null(*last);
        assert_true(u64_at(event, 0) == (uint64_t)(*last)->record.EventHeader.TimeStamp.QuadPart);
        if (is_kernel_event(*last, class_guid, type) && u32_at(event, THREAD_AT) == thread_id) {
            scan_process(event, &found);
        }
    }
    return found;
}

static void map_and_unmap(void *argument)
{
    (void)argument;
    for (int index = 0; index < TIMES; index++) {
        void *memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        assert_ptr_not_equal(memory, MAP_FAILED);
        assert_int_equal(munmap(memory, PAGE), 0);
    }
}

static void memory_calls_have_the_stack_of_the_caller(void **state)
{
    const CLASSIC_EVENT_ID ids[] = {{.EventGuid = PageFaultGuid, .Type = VIRTUAL_ALLOC},
                                    {.EventGuid = PageFaultGuid, .Type = VIRTUAL_FREE}};
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_with(EVENT_TRACE_FLAG_VIRTUAL_ALLOC, ids, 2);
    call_from_known(map_and_unmap, NULL);
    read_and_account(session, &events);
    for (uint32_t index = 0; index < 2; index++) {
        struct found found = look(&events, &PageFaultGuid, ids[index].Type);

        assert_in_range(found.through_known, TIMES, found.user_parts);
    }
    free_events(&events);
}

static void a_page_fault_is_where_memory_is_touched(void **state)
{
    const CLASSIC_EVENT_ID id = {.EventGuid = PageFaultGuid, .Type = DEMAND_ZERO};
    uint8_t *memory =
        mmap(NULL, TIMES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    etwas_trace_handle session;
    struct events events;
    struct found found;

    (void)state;
    if (access("/sys/kernel/tracing/events/exceptions", F_OK) != 0) {
        print_message("skipped: the kernel has no tracepoints of page faults\n");
        skip();
    }
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(madvise(memory, TIMES * PAGE, MADV_NOHUGEPAGE), 0);
    session = start_with(EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS, &id, 1);
    touch_in_known(memory, TIMES, PAGE);
    read_and_account(session, &events);
    found = look(&events, &PageFaultGuid, DEMAND_ZERO);
    assert_in_range(found.in_known, TIMES, found.user_parts);
    free_events(&events);
    assert_int_equal(munmap(memory, TIMES * PAGE), 0);
}

static void call_kernel(void *argument)
{
    (void)argument;
    for (int index = 0; index < TIMES; index++) {
        (void)syscall(SYS_getppid);
    }
}

static void a_system_call_is_where_it_is_called(void **state)
{
    const CLASSIC_EVENT_ID id = {.EventGuid = PerfInfoGuid, .Type = ENTER};
    etwas_trace_handle session;
    struct events events;
    struct found found;

    (void)state;
    session = start_with(EVENT_TRACE_FLAG_SYSTEMCALL, &id, 1);
    call_from_known(call_kernel, NULL);
    read_and_account(session, &events);
    found = look(&events, &PerfInfoGuid, ENTER);
    assert_in_range(found.through_known, TIMES, found.user_parts);
    assert_in_range(found.kernel_parts, TIMES, UINT32_MAX);
    free_events(&events);
}

/* Calls a function of the library that keeps the frame pointer, which read and write may not do. */
static void ask_often(void *argument)
{
    const struct echo *echo = argument;
    char byte = 0;

    for (int index = 0; index < TIMES; index++) {
        assert_int_equal(syscall(SYS_write, echo->request[1], &byte, 1), 1);
        assert_int_equal(syscall(SYS_read, echo->answer[0], &byte, 1), 1);
        (void)usleep(100); /* so that it sleeps again, and has to be woken */
    }
}

static void a_wake_has_the_stack_of_the_waker(void **state)
{
    const CLASSIC_EVENT_ID id = {.EventGuid = ThreadGuid, .Type = READY};
    etwas_trace_handle session;
    struct events events;
    struct found found;
    struct echo echo;

    (void)state;
    begin_echo(&echo);
    session = start_with(EVENT_TRACE_FLAG_DISPATCHER, &id, 1);
    call_from_known(ask_often, &echo);
    (void)read_with_loss(session, &events); /* the kernel does not hand over each in interrupts */
    end_echo(&echo);
    found = look(&events, &ThreadGuid, READY);
    assert_in_range(found.through_known, 1, found.user_parts);
    assert_in_range(found.kernel_parts, found.user_parts, UINT32_MAX);
    free_events(&events);
}

static void read_often(void *argument)
{
    char byte;

    for (int index = 0; index < TIMES; index++) {
        assert_int_equal(syscall(SYS_pread64, *(const int *)argument, &byte, 1, 0), 0);
    }
}

static void a_read_has_the_stack_of_the_reader(void **state)
{
    const CLASSIC_EVENT_ID ids[] = {{.EventGuid = FileIoGuid, .Type = READ},
                                    {.EventGuid = FileIoGuid, .Type = OPERATION_END}};
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_with(EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT, ids, 2);
    call_from_known(read_often, &file);
    read_and_account(session, &events);
    for (uint32_t index = 0; index < 2; index++) {
        struct found found = look(&events, &FileIoGuid, ids[index].Type);

        assert_in_range(found.through_known, TIMES, found.user_parts);
    }
    free_events(&events);
    (void)close(file);
}

struct sender {
    int socket;
    struct sockaddr_in address;
};

static void send_often(void *argument)
{
    const struct sender *sender = argument;

    for (int index = 0; index < TIMES; index++) {
        assert_int_equal(syscall(SYS_sendto, sender->socket, "x", 1, 0, &sender->address,
                                 sizeof sender->address),
                         1);
    }
}

static void a_send_has_the_stack_of_the_sender(void **state)
{
    const CLASSIC_EVENT_ID id = {.EventGuid = UdpIpGuid, .Type = SEND};
    struct sender sender = {
        .socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
        .address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}}};
    socklen_t bytes = sizeof sender.address;
    etwas_trace_handle session;
    struct events events;
    struct found found;

    (void)state;
    if (access("/sys/kernel/tracing/events/sock/sock_send_length", F_OK) != 0) {
        print_message("skipped: the kernel has no tracepoint of what is sent\n");
        skip();
    }
    assert_int_equal(bind(sender.socket, (const void *)&sender.address, bytes), 0);
    assert_int_equal(getsockname(sender.socket, (void *)&sender.address, &bytes), 0);
    session = start_with(EVENT_TRACE_FLAG_NETWORK_TCPIP, &id, 1);
    call_from_known(send_often, &sender);
    read_and_account(session, &events);
    found = look(&events, &UdpIpGuid, SEND);
    assert_in_range(found.through_known, TIMES, found.user_parts);
    free_events(&events);
    (void)close(sender.socket);
}

/* What the kernel tells beside its tracepoints has no stack, and is asked for in vain. */
static void r184_an_event_without_a_stack_is_ignored(void **state)
{
    const CLASSIC_EVENT_ID ids[] = {{.EventGuid = ProcessGuid, .Type = PROCESS_START},
                                    {.EventGuid = RegistryGuid, .Type = SEND}};
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_with(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_VIRTUAL_ALLOC, ids, 2);
    (void)run_child();
    call_from_known(map_and_unmap, NULL);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        assert_false(is_kernel_event(&events.items[index], &StackWalkGuid, STACK));
    }
    free_events(&events);
}

static void the_kernels_part_can_be_left_out_of_all(void **state)
{
    const CLASSIC_EVENT_ID id = {.EventGuid = PerfInfoGuid, .Type = ENTER};
    etwas_trace_handle session;
    struct events events;
    struct found found;

    (void)state;
    session =
        start_without_kernel_stacks(EVENT_TRACE_FLAG_SYSTEMCALL | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    assert_int_equal(
        TraceSetInformation(session, TraceStackTracingInfo, (void *)(uintptr_t)&id, sizeof id),
        ERROR_SUCCESS);
    call_from_known(call_kernel, NULL);
    read_and_account(session, &events);
    found = look(&events, &PerfInfoGuid, ENTER);
    assert_int_equal(found.kernel_parts, 0);
    assert_in_range(found.through_known, TIMES, found.user_parts);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(memory_calls_have_the_stack_of_the_caller),
        FOLDER_TEST(a_page_fault_is_where_memory_is_touched),
        FOLDER_TEST(a_system_call_is_where_it_is_called),
        FOLDER_TEST(a_wake_has_the_stack_of_the_waker),
        FOLDER_TEST(a_read_has_the_stack_of_the_reader),
        FOLDER_TEST(a_send_has_the_stack_of_the_sender),
        FOLDER_TEST(r184_an_event_without_a_stack_is_ignored),
        FOLDER_TEST(the_kernels_part_can_be_left_out_of_all),
    };

    return RUN_KERNEL_TESTS("system stack events", tests);
}
