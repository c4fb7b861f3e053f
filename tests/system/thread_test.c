/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_THREAD: every thread begins and ends once, and who was there is said so.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    CHILDREN = 20
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

        if (is_kernel_event(event, &thread_class, THREAD_START) && u32_at(event, 0) == child) {
            bool is_first = u32_at(event, 4) == child;

            assert_int_equal(event->record.EventHeader.ProcessId, is_first ? getpid() : (int)child);
            seen++;
        }
    }
    assert_int_equal(seen, 3);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_thread_begins_and_ends_once),
        FOLDER_TEST(a_thread_is_begun_by_another),
    };

    return RUN_KERNEL_TESTS("system thread", tests);
}
