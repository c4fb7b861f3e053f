/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions of the own process without privileges: its threads, its images, no other processes, and
 * what is refused.
 */
#include <ck_pr.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "system/own_fixture.h"

enum {
    THREADS = 20,
    LOAD = 10,
    KNOWN = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD,
    DISK = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_DISK_IO,
    AT_START = 4,
    GENERATIONS = 8,
};

static void *do_nothing(void *argument)
{
    return argument;
}

/* A thread that begins another. */
static void *begin_one(void *argument)
{
    pthread_t thread;

    CHECK_IN_CHILD(pthread_create(&thread, NULL, do_nothing, NULL) == 0);
    (void)pthread_join(thread, NULL);
    return argument;
}

static void begin_threads(etwas_trace_handle session)
{
    (void)session;
    for (int index = 0; index < THREADS; index++) {
        pthread_t thread;

        CHECK_IN_CHILD(pthread_create(&thread, NULL, begin_one, NULL) == 0);
        (void)pthread_join(thread, NULL);
    }
}

static void threads_and_those_that_they_begin_are_recorded(void **state)
{
    struct events events;

    (void)state;
    record_own(EVENT_TRACE_FLAG_THREAD, begin_threads, &events);
    assert_int_equal(count_threads(&events, THREAD_START, own_facts->process_id, 0), 2 * THREADS);
    assert_int_equal(count_threads(&events, THREAD_END, own_facts->process_id, 0), 2 * THREADS);
    assert_int_equal(
        count_threads(&events, RUNDOWN_START, own_facts->process_id, own_facts->thread_id), 1);
    assert_int_equal(
        count_threads(&events, RUNDOWN_END, own_facts->process_id, own_facts->thread_id), 1);
    for (size_t index = 0; index < events.count; index++) {
        if (memcmp(&events.items[index].record.EventHeader.ProviderId, &ThreadGuid, 16) == 0) {
            assert_int_equal(u32_at(&events.items[index], 0), own_facts->process_id);
        }
    }
    free_events(&events);
}

/* ---- images, and other processes ------------------------------------------------------------- */

static const char library[] = "libresolv.so.2";

static void fork_and_load(etwas_trace_handle session)
{
    pid_t child = fork();

    (void)session;
    if (child == 0) {
        begin_threads(0);
        _exit(0);
    }
    CHECK_IN_CHILD(waitpid(child, NULL, 0) == child);
    CHECK_IN_CHILD(dlopen(library, RTLD_NOW | RTLD_NOLOAD) == NULL);
    CHECK_IN_CHILD(dlopen(library, RTLD_NOW) != NULL);
}

static bool ends_with(const struct event *event, const char *text)
{
    size_t length = strlen(text) + 1;
    bool same = event->record.UserDataLength >= 2 * length;

    for (size_t index = 0; same && index < length; index++) {
        same = event->payload[event->record.UserDataLength - 2 * length + 2 * index] ==
               (uint8_t)text[index];
    }
    return same;
}

static void only_the_own_process_is_recorded(void **state)
{
    struct events events;
    uint32_t processes[256] = {0};
    uint32_t found = 0;
    uint32_t loads = 0;

    (void)state;
    record_own(KNOWN, fork_and_load, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];
        uint8_t type = event->record.EventHeader.EventDescriptor.Opcode;

        if (is_kernel_event(event, &ProcessGuid, type)) {
            assert_int_equal(u32_at(event, 8), own_facts->process_id);
            processes[type]++;
        } else if (is_kernel_event(event, &ImageLoadGuid, type)) {
            assert_int_equal(u32_at(event, 16), own_facts->process_id);
            found += type == RUNDOWN_START;
            loads += type == LOAD && ends_with(event, library);
        }
    }
    assert_int_equal(processes[RUNDOWN_START], 1);
    assert_int_equal(processes[RUNDOWN_END], 1);
    assert_int_equal(processes[THREAD_START] + processes[THREAD_END], 0);
    assert_int_equal(count_threads(&events, THREAD_START, own_facts->process_id, 0), 0);
    assert_in_range(found, 3, UINT32_MAX);
    assert_int_equal(loads, 1);
    free_events(&events);
}

/* ---- while threads come and go --------------------------------------------------------------- */

/* A relay of threads: when it is told to, each begins the next, which notes itself, and ends. */
static uint32_t emitted;
static uint32_t generation;

static void begin_next(void);

static void *wait_and_begin_next(void *argument)
{
    uint32_t mine = ck_pr_load_32(&generation) + 1;

    own_facts->numbers[mine] = (uint64_t)syscall(SYS_gettid);
    ck_pr_store_32(&generation, mine);
    while (ck_pr_load_32(&emitted) < mine) {
        (void)usleep(100);
    }
    if (mine < GENERATIONS) {
        begin_next();
    }
    return argument;
}

static void begin_next(void)
{
    pthread_t thread;

    CHECK_IN_CHILD(pthread_create(&thread, NULL, wait_and_begin_next, NULL) == 0);
    (void)pthread_detach(thread);
}

/* The next is there. */
static void emit_relay(void)
{
    uint32_t now = ck_pr_load_32(&generation);

    ck_pr_store_32(&emitted, now);
    while (ck_pr_load_32(&generation) == now) {
        (void)usleep(100);
    }
}

static void go_on_between_list_and_events(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_THREADS_LISTED && ck_pr_load_32(&generation) < AT_START) {
        emit_relay();
    }
}

static void relay_while_it_starts(void)
{
    etwas_trace_handle session;

    become_own();
    begin_next();
    while (ck_pr_load_32(&generation) == 0) {
        (void)usleep(100);
    }
    etwas_testpoint_set(go_on_between_list_and_events);
    session = start_own(EVENT_TRACE_FLAG_THREAD, ETWAS_KERNEL_RUNG_PROCESS);
    for (uint32_t more = AT_START; more < GENERATIONS; more++) {
        emit_relay();
    }
    stop_own(session);
    ck_pr_store_32(&emitted, GENERATIONS);
    _exit(0);
}

/*
 * Threads that were begun after the list of threads was read, by a thread that was not watched yet.
 */
static void threads_that_begin_during_the_start_are_recorded(void **state)
{
    struct events events;
    int child;

    (void)state;
    open_folder();
    child = fork_child();
    if (child == 0) {
        relay_while_it_starts();
    }
    assert_int_equal(exit_code_of(child), 0);
    read_own(&events);
    for (uint32_t number = 1; number <= GENERATIONS; number++) {
        assert_int_equal(count_threads(&events, THREAD_START, own_facts->process_id,
                                       (uint32_t)own_facts->numbers[number]),
                         number > AT_START);
    }
    free_events(&events);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

/* A refused start closes no descriptor of the program, which has descriptor 0. */
static int ask_for_disks(void)
{
    int opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int of_input = fcntl(0, F_GETFD);
    struct block block;
    etwas_trace_handle session;
    char sentence[512];
    uint32_t rung;

    become_own();
    prepare_kernel_block(&block, DISK);
    CHECK_IN_CHILD(StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) ==
                   ERROR_ACCESS_DENIED);
    (void)etwas_kernel_refusal(sentence, sizeof sentence);
    CHECK_IN_CHILD(strstr(sentence, "EVENT_TRACE_FLAG_DISK_IO ") != NULL);
    CHECK_IN_CHILD(fcntl(opened, F_GETFD) == FD_CLOEXEC && fcntl(0, F_GETFD) == of_input);

    session = start_own(KNOWN, ETWAS_KERNEL_RUNG_PROCESS);
    CHECK_IN_CHILD(etwas_kernel_refusal(NULL, 0) == 0);
    prepare_kernel_block(&block, DISK);
    block.properties.LogFileNameOffset = 0;
    CHECK_IN_CHILD(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_UPDATE) ==
                   ERROR_ACCESS_DENIED);
    CHECK_IN_CHILD(etwas_kernel_refusal(NULL, 0) != 0);
    stop_own(session);
    CHECK_IN_CHILD(etwas_kernel_rung(session, &rung) == ERROR_INVALID_HANDLE);
    return 0;
}

static void what_needs_the_system_is_denied_by_name(void **state)
{
    (void)state;
    open_folder();
    expect_as_nobody(ask_for_disks);
}

static void a_scope_is_one_of_two(void **state)
{
    etwas_trace_handle session;
    uint32_t rung;

    (void)state;
    assert_int_equal(etwas_kernel_scope(0), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_kernel_scope(3), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_kernel_scope(ETWAS_KERNEL_SCOPE_SYSTEM), ERROR_SUCCESS);
    session = start_recorder();
    assert_int_equal(etwas_kernel_rung(session, &rung), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_kernel_rung(session, NULL), ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
}

static void *choose(void *argument)
{
    CHECK_IN_CHILD(etwas_kernel_scope(ETWAS_KERNEL_SCOPE_PROCESS) == ERROR_SUCCESS);
    return argument;
}

static int choose_for_another_thread(void)
{
    struct block block;
    etwas_trace_handle session;
    pthread_t thread;

    CHECK_IN_CHILD(setgid(65534) == 0 && setuid(65534) == 0);
    CHECK_IN_CHILD(pthread_create(&thread, NULL, choose, NULL) == 0);
    (void)pthread_join(thread, NULL);
    prepare_kernel_block(&block, KNOWN);
    CHECK_IN_CHILD(StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) ==
                   ERROR_ACCESS_DENIED);
    return 0;
}

static void it_is_the_calling_threads_choice(void **state)
{
    (void)state;
    open_folder();
    expect_as_nobody(choose_for_another_thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(threads_and_those_that_they_begin_are_recorded),
        FOLDER_TEST(only_the_own_process_is_recorded),
        FOLDER_TEST(threads_that_begin_during_the_start_are_recorded),
        FOLDER_TEST(what_needs_the_system_is_denied_by_name),
        FOLDER_TEST(a_scope_is_one_of_two),
        FOLDER_TEST(it_is_the_calling_threads_choice),
    };

    return RUN_OWN_TESTS("system own process", tests);
}
