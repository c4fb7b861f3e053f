/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A logger in a PID namespace of its own records the numbers of that namespace: threads outside
 * have number 0, and are not confused.
 */
#include <ck_pr.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "system/event_count.h"

enum {
    READY = 50,
    ENTER = 51,
    ALLOC = 98,
    PAGE = 4096,
    OUTSIDERS = 2,
    PIECES = 500, /* that each of them takes */
    MOST_NUMBER = 1 << 22,
};

static const etwas_guid fault_class = {
    0x3d6fa8d3, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* In a child that is number 1 of a namespace of its own. Skipped where there may be none. */
static void expect_inside(int (*run)(void))
{
    int outer = fork_child();

    if (outer == 0) {
        pid_t inner;

        if (unshare(CLONE_NEWPID) != 0) {
            print_message("skipped: a PID namespace is not granted\n");
            _exit(77);
        }
        inner = fork();
        if (inner == 0) {
            limit_child();
            _exit(getpid() == 1 ? run() : 1);
        }
        _exit(exit_code_of(inner));
    }
    expect_child(outer);
}

static etwas_trace_handle start_inside(uint32_t flags)
{
    return start_kernel(flags | EVENT_TRACE_FLAG_NO_SYSCONFIG);
}

/* The file states the namespace of its numbers. */
static void expect_namespace(const struct events *events)
{
    char link[64];
    char found[64];
    ssize_t length = readlink("/proc/self/ns/pid", link, sizeof link - 1);
    uint32_t count = 0;

    assert_in_range(length, 1, sizeof link - 1);
    link[length] = 0;
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, &etwas_etl_own_class, ETWAS_ETL_NAMESPACE_TYPE)) {
            assert_int_equal(u32_at(event, 4), getpid());
            (void)snprintf(found, sizeof found, "pid:[%llu]", (unsigned long long)u64_at(event, 8));
            assert_string_equal(found, link);
            count++;
        }
    }
    assert_int_equal(count, 1);
}

/* ---- switches -------------------------------------------------------------------------------- */

/*
 * The thread that is switched in is the one that gives way next. 0 is an idle processor, or any
 * thread outside. Now and then the kernel leaves out a switch from one of these to a thread of the
 * namespace, and does not count it as lost. So after a 0 any thread may give way.
 */
static void expect_chains(const struct events *events)
{
    uint32_t running[ETWAS_MOST_PROCESSORS];

    memset(running, 0xFF, sizeof running);
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        uint32_t *thread = &running[processor_of(event)];

        if (is_kernel_event(event, &thread_class, SWITCH)) {
            if (*thread != UINT32_MAX && *thread != 0) {
                assert_int_equal(u32_at(event, 4), *thread);
            }
            *thread = u32_at(event, 0);
            assert_in_range(*thread, 0, 1000); /* no namespace of ours has so many */
        }
    }
}

static int log_switches(void)
{
    etwas_trace_handle session = start_inside(
        EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_DISPATCHER | EVENT_TRACE_FLAG_THREAD);
    uint32_t thread = hand_over();
    uint32_t child = (uint32_t)run_child(); /* with threads that run once */
    struct events events;

    if (read_with_loss(session, &events) != 0) {
        print_message("skipped: events were lost\n");
        return 77;
    }
    assert_in_range(thread, 2, 100);
    assert_in_range(count_saying(&events, &thread_class, SWITCH, 0, thread), HANDOVERS, UINT32_MAX);
    assert_in_range(count_saying(&events, &thread_class, SWITCH, 4, thread), HANDOVERS, UINT32_MAX);
    assert_in_range(count_saying(&events, &thread_class, SWITCH, 0, 1), HANDOVERS, UINT32_MAX);
    /*
     * A thread that is not asleep yet is not woken. If a woken thread runs at once, one of the two
     * never sleeps.
     */
    assert_in_range(count_saying(&events, &thread_class, READY, 0, thread) +
                        count_saying(&events, &thread_class, READY, 0, 1),
                    1, UINT32_MAX);
    for (uint32_t number = child; number < child + 3; number++) {
        assert_int_equal(count_threads(&events, THREAD_START, child, number), 1);
        assert_in_range(count_saying(&events, &thread_class, SWITCH, 0, number), 1, UINT32_MAX);
    }
    expect_chains(&events);
    expect_namespace(&events);
    free_events(&events);
    return 0;
}

static void switches_say_the_namespaces_numbers(void **state)
{
    (void)state;
    expect_inside(log_switches);
}

static void the_file_says_which_namespace_it_is(void **state)
{
    struct events events;

    (void)state;
    (void)read_with_loss(start_kernel(FLAGS), &events);
    expect_namespace(&events);
    free_events(&events);
}

/* ---- the logger's own thread ----------------------------------------------------------------- */

static uint32_t drains;

static void count_drains(enum etwas_testpoint point)
{
    ck_pr_faa_32(&drains, point == ETWAS_POINT_SYSTEM_DRAINS);
}

/* No other thread of the process polls; /proc, being that of outside, does not say which it is. */
static bool is_loggers(const struct event *event)
{
    return event->record.EventHeader.ThreadId != 1 && (u64_at(event, 0) == SYS_ppoll
#ifdef SYS_poll
                                                       || u64_at(event, 0) == SYS_poll
#endif
                                                      );
}

static int log_calls(void)
{
    etwas_trace_handle session;
    uint32_t ours = 0;
    struct events events;

    etwas_testpoint_set(count_drains);
    session = start_inside(EVENT_TRACE_FLAG_SYSTEMCALL);
    while (ck_pr_load_32(&drains) < 3) {
        (void)usleep(1000);
    }
    for (int index = 0; index < 1000; index++) {
        (void)getppid();
    }
    if (read_with_loss(session, &events) != 0) {
        print_message("skipped: events were lost\n");
        return 77;
    }
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_kernel_event(event, &perf_info_class, ENTER) &&
            event->record.EventHeader.ProcessId == 1) {
            ours += event->record.EventHeader.ThreadId == 1;
            assert_false(is_loggers(event));
        }
    }
    assert_in_range(ours, 1000, 20000);
    free_events(&events);
    return 0;
}

static void the_loggers_own_calls_are_not_there(void **state)
{
    (void)state;
    expect_inside(log_calls);
}

/* ---- threads outside ------------------------------------------------------------------------- */

struct outside {
    uint32_t goes_on;
    uint32_t done;
    uint64_t pieces[OUTSIDERS][PIECES]; /* where they are */
};

static struct outside *outside;

/* Returns the bytes of one process, a different number for each. */
static uint64_t bytes_of(uint32_t outsider)
{
    return (uint64_t)PAGE * (1000 + outsider);
}

static void take_pieces(uint32_t outsider)
{
    while (ck_pr_load_32(&outside->goes_on) == 0) {
        (void)usleep(100);
    }
    for (int index = 0; index < PIECES; index++) {
        void *piece = mmap(NULL, bytes_of(outsider), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        outside->pieces[outsider][index] = (uint64_t)(uintptr_t)piece;
    }
    ck_pr_inc_32(&outside->done);
}

static int log_outsiders(void)
{
    etwas_trace_handle session = start_inside(EVENT_TRACE_FLAG_VIRTUAL_ALLOC);
    uint32_t found[OUTSIDERS] = {0};
    struct events events;

    ck_pr_store_32(&outside->goes_on, 1);
    while (ck_pr_load_32(&outside->done) < OUTSIDERS) {
        (void)usleep(1000);
    }
    if (read_with_loss(session, &events) != 0) {
        print_message("skipped: events were lost\n");
        return 77;
    }
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        for (uint32_t outsider = 0; outsider < OUTSIDERS; outsider++) {
            if (is_kernel_event(event, &fault_class, ALLOC) && u32_at(event, 16) == 0 &&
                u64_at(event, 8) == bytes_of(outsider)) {
                assert_true(found[outsider] < PIECES);
                assert_true(u64_at(event, 0) == outside->pieces[outsider][found[outsider]]);
                found[outsider]++;
            }
        }
    }
    for (uint32_t outsider = 0; outsider < OUTSIDERS; outsider++) {
        assert_int_equal(found[outsider], PIECES);
    }
    free_events(&events);
    return 0;
}

static void calls_of_threads_outside_are_not_mixed(void **state)
{
    pid_t outsiders[OUTSIDERS];

    (void)state;
    outside =
        mmap(NULL, sizeof *outside, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(outside != MAP_FAILED);
    for (uint32_t outsider = 0; outsider < OUTSIDERS; outsider++) {
        outsiders[outsider] = fork();
        if (outsiders[outsider] == 0) {
            limit_child();
            take_pieces(outsider);
            _exit(0);
        }
    }
    expect_inside(log_outsiders);
    for (uint32_t outsider = 0; outsider < OUTSIDERS; outsider++) {
        assert_int_equal(waitpid(outsiders[outsider], NULL, 0), outsiders[outsider]);
    }
    (void)munmap(outside, sizeof *outside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_file_says_which_namespace_it_is),
        FOLDER_TEST(switches_say_the_namespaces_numbers),
        FOLDER_TEST(the_loggers_own_calls_are_not_there),
        FOLDER_TEST(calls_of_threads_outside_are_not_mixed),
    };

    return RUN_KERNEL_TESTS("system namespace", tests);
}
