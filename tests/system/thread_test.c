/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_THREAD: every thread begins and ends once, and those of before are in the
 * rundown.
 */
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    CHILDREN = 20,
    PAGE = 4096,
    STACK_BYTES = 64 * PAGE,
    PROCESS_END = 2,
    UNLOAD = 2,
};

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
    /* A thread that existed before and afterwards has rundown events at both ends. */
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

        if (is_kernel_event(event, &thread_class, THREAD_START) && u32_at(event, 0) == child) {
            bool is_first = u32_at(event, 4) == child;

            assert_int_equal(event->record.EventHeader.ProcessId, is_first ? getpid() : (int)child);
            seen++;
        }
    }
    assert_int_equal(seen, 3);
    free_events(&events);
}

static void *run_true(void *argument)
{
    (void)argument;
    (void)execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

/* A process in which the second thread executes another program. Its stack is as in run_child. */
static uint32_t run_by_another(void)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        static uint8_t stack[STACK_BYTES] __attribute__((aligned(PAGE)));
        pthread_t thread;
        pthread_attr_t attributes;

        if (pthread_attr_init(&attributes) != 0 ||
            pthread_attr_setstack(&attributes, stack, STACK_BYTES) != 0 ||
            pthread_create(&thread, &attributes, run_true, NULL) != 0) {
            _exit(1);
        }
        for (;;) {
            (void)pause();
        }
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return (uint32_t)child;
}

/* The events of a process: s and e of its first thread, S and E of others. */
static void lives_of(const struct events *events, uint32_t process_id, char *lives, size_t room)
{
    size_t length = 0;

    for (size_t index = 0; index < events->count && length + 1 < room; index++) {
        const struct event *event = &events->items[index];
        bool starts = is_kernel_event(event, &thread_class, THREAD_START);

        if ((starts || is_kernel_event(event, &thread_class, THREAD_END)) &&
            u32_at(event, 0) == process_id) {
            bool is_first = u32_at(event, 4) == process_id;

            lives[length++] = (char)(is_first ? (starts ? 's' : 'e') : (starts ? 'S' : 'E'));
        }
    }
    lives[length] = 0;
}

static void a_thread_that_runs_another_program_becomes_the_first_one(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint32_t child;
    char lives[16];

    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message("skipped: a sanitizer lets no such thread run another program\n");
    skip();
#endif
    session = start_kernel(EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    child = run_by_another();
    read_and_account(session, &events);
    lives_of(&events, child, lives, sizeof lives);
    assert_string_equal(lives, "sSeEse");
    free_events(&events);
}

static void a_process_ends_after_its_threads_and_images(void **state)
{
    const uint32_t flags = EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_PROCESS |
                           EVENT_TRACE_FLAG_IMAGE_LOAD | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    etwas_trace_handle session;
    struct events events;
    uint32_t child;
    uint32_t before = 0;
    bool has_ended = false;

    (void)state;
    session = start_kernel(flags);
    child = (uint32_t)run_child();
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if ((is_kernel_event(event, &ImageLoadGuid, UNLOAD) && u32_at(event, 16) == child) ||
            (is_kernel_event(event, &thread_class, THREAD_END) && u32_at(event, 0) == child)) {
            assert_false(has_ended);
            before++;
        }
        has_ended |= is_kernel_event(event, &ProcessGuid, PROCESS_END) && u32_at(event, 8) == child;
    }
    assert_true(has_ended);
    assert_in_range(before, 4, UINT32_MAX); /* three threads, and the program at least */
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_thread_begins_and_ends_once),
        FOLDER_TEST(a_thread_is_begun_by_another),
        FOLDER_TEST(a_thread_that_runs_another_program_becomes_the_first_one),
        FOLDER_TEST(a_process_ends_after_its_threads_and_images),
    };

    return RUN_KERNEL_TESTS("system thread", tests);
}
