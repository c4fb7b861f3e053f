/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_DISPATCHER: which threads are woken, how often, and by which thread. On a busy
 * machine Linux 6.18 counts a few wakes that it does not deliver; they are counted lost.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_count.h"
#include "system/kernel_fixture.h"

enum {
    READY_THREAD = 50,
    READIED_FROM_DPC = 1,
    DISPATCHER = EVENT_TRACE_FLAG_DISPATCHER | EVENT_TRACE_FLAG_NO_SYSCONFIG,
};

static bool readies(const struct event *event, uint32_t thread_id)
{
    if (!is_kernel_event(event, &thread_class, READY_THREAD)) {
        return false;
    }
    assert_int_equal(event->record.UserDataLength, 8);
    assert_int_equal(event->record.EventHeader.EventDescriptor.Version, 2);
    return u32_at(event, 0) == thread_id;
}

/* A thread that waits is woken by each request, as often as the kernel says. */
static void each_wake_has_the_waker_and_the_woken_thread(void **state)
{
    uint32_t here = (uint32_t)syscall(SYS_gettid);
    struct kernel_count counter;
    etwas_trace_handle session;
    struct events events;
    struct echo echo;
    uint64_t counted;
    uint64_t by_us = 0;
    uint64_t wakes = 0;
    uint64_t lost;
    char filter[32];

    (void)state;
    begin_echo(&echo);
    session = start_kernel(DISPATCHER);
    (void)snprintf(filter, sizeof filter, "pid == %u", echo.thread_id);
    begin_counting(&counter, "sched/sched_waking", filter);
    for (int index = 0; index < HANDOVERS; index++) {
        ask_echo(&echo);
    }
    counted = end_counting(&counter);
    lost = read_with_loss(session, &events);
    end_echo(&echo);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (readies(event, echo.thread_id)) {
            wakes++;
            if (event->record.EventHeader.ThreadId == here) {
                assert_int_equal(event->record.EventHeader.ProcessId, getpid());
                by_us += (event->payload[6] & READIED_FROM_DPC) == 0;
            }
        }
    }
    assert_in_range(counted, 1, UINT64_MAX); /* a thread that is not asleep yet is not woken */
    assert_in_range(wakes, counted - lost, counted);
    assert_in_range(by_us, 1, wakes);
    free_events(&events);
}

static void a_new_thread_is_readied_by_its_creator(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint32_t child;
    bool is_found = false;

    (void)state;
    session = start_kernel(DISPATCHER);
    child = (uint32_t)run_child();
    (void)read_with_loss(session, &events);
    for (size_t index = 0; index < events.count && !is_found; index++) {
        if (readies(&events.items[index], child)) {
            is_found = true;
            assert_int_equal(events.items[index].record.EventHeader.ThreadId, syscall(SYS_gettid));
        }
    }
    assert_true(is_found);
    free_events(&events);
}

/* A thread that sleeps is woken by the clock's interrupt. */
static void an_interrupted_thread_is_no_waker(void **state)
{
    enum {
        NAPS = 50
    };
    const uint32_t here = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;
    uint64_t from_interrupts = 0;
    uint64_t lost;

    (void)state;
    session = start_kernel(DISPATCHER);
    for (int index = 0; index < NAPS; index++) {
        (void)usleep(200);
    }
    lost = read_with_loss(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        from_interrupts += readies(&events.items[index], here) &&
                           events.items[index].payload[6] == READIED_FROM_DPC;
    }
    assert_in_range(from_interrupts + lost, NAPS, UINT64_MAX);
    assert_in_range(from_interrupts, 0, 2 * NAPS);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(each_wake_has_the_waker_and_the_woken_thread),
        FOLDER_TEST(a_new_thread_is_readied_by_its_creator),
        FOLDER_TEST(an_interrupted_thread_is_no_waker),
    };

    return RUN_KERNEL_TESTS("system ready thread", tests);
}
