/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Filters of system providers by process.
 */
#include <ck_pr.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/kernel_fixture.h"
#include "system/logger.h"
#include "system/worker.h"

enum {
    READY = 50,
    SEND = 10,
};

static void enable_for(etwas_trace_handle session, const etwas_guid *provider, uint64_t keywords,
                       const uint32_t *processes, uint32_t count)
{
    EVENT_FILTER_DESCRIPTOR filter =
        filter_of(EVENT_FILTER_TYPE_PID, processes, count * sizeof *processes);

    assert_int_equal(enable_with(session, provider, keywords, 0, &filter, 1), ERROR_SUCCESS);
}

/* Counts the events of all processes. */
static uint32_t count_type(const struct events *events, const etwas_guid *class_guid, uint8_t type)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        count += is_kernel_event(&events->items[index], class_guid, type);
    }
    return count;
}

static uint32_t count_of_others(const struct events *events, uint32_t process_id)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        count += (is_kernel_event(event, &perf_info_class, ENTER) ||
                  is_kernel_event(event, &perf_info_class, EXIT)) &&
                 event->record.EventHeader.ProcessId != process_id;
    }
    return count;
}

/* ---- processes ------------------------------------------------------------------------------- */

/*
 * Its threads are, those too that it begins later; its child is not. What does not pass is no loss,
 * and no event.
 */
static void only_the_listed_process_is_recorded(void **state)
{
    etwas_trace_handle session;
    struct worker workers[2];
    struct events events;
    uint32_t listed;

    (void)state;
    begin_worker(&workers[0]);
    begin_worker(&workers[1]);
    listed = (uint32_t)workers[0].process;
    session = start_kernel(NOTHING);
    enable_for(session, &SystemSyscallProviderGuid, 0, &listed, 1);
    order(&workers[0]);
    order(&workers[1]);
    read_and_account(session, &events);
    assert_int_equal(count_calls(&events, ENTER, listed), (1 + THREADS) * CALLS);
    assert_int_equal(count_of_others(&events, listed), 0);
    free_events(&events);
    end_worker(&workers[0]);
    end_worker(&workers[1]);
}

/* Whether a thread event of the type says it. */
static bool is_said(const struct events *events, uint8_t type, uint32_t thread_id)
{
    bool is = false;

    for (size_t index = 0; index < events->count; index++) {
        is = is || (is_kernel_event(&events->items[index], &thread_class, type) &&
                    u32_at(&events->items[index], 4) == thread_id);
    }
    return is;
}

/* Whether the thread began meanwhile: the worker's do alone. */
static bool is_started(const struct events *events, uint32_t thread_id)
{
    return is_said(events, THREAD_START, thread_id);
}

/* Whether it is the worker's: a sanitizer's own is, too. */
static bool is_workers(const struct events *events, uint32_t thread_id)
{
    return is_started(events, thread_id) || is_said(events, RUNDOWN_START, thread_id);
}

enum {
    MOST_AWAKE = 64
};

/*
 * Keeps the processors from idling: Linux 6.18 leaves out switches of a filtered thread on one that
 * it wakes, and counts them as lost. Returns how many children there are.
 */
static int keep_awake(pid_t children[MOST_AWAKE])
{
    int count = (int)sysconf(_SC_NPROCESSORS_ONLN);

    count = count < MOST_AWAKE ? count : MOST_AWAKE;
    for (int index = 0; index < count; index++) {
        children[index] = fork_child();
        if (children[index] == 0) {
            if (nice(19) != 19) {
                _exit(1);
            }
            for (;;) {
                ck_pr_stall();
            }
        }
        assert_true(children[index] > 0);
    }
    return count;
}

static void let_sleep(const pid_t *children, int count)
{
    for (int index = 0; index < count; index++) {
        (void)kill(children[index], SIGKILL);
        assert_int_equal(waitpid(children[index], NULL, 0), children[index]);
    }
}

/* A switch passes if either side passes, a wake-up if either thread does. */
static void switches_are_of_both_sides(void **state)
{
    etwas_trace_handle session;
    struct worker worker;
    struct events events;
    uint32_t listed;
    uint32_t to = 0;
    uint32_t from = 0;
    uint32_t woken = 0;
    pid_t awake[MOST_AWAKE];
    int awake_count;

    (void)state;
    begin_worker(&worker);
    awake_count = keep_awake(awake);
    listed = (uint32_t)worker.process;
    session = start_kernel(NOTHING);
    enable_for(session, &SystemProcessProviderGuid, SYSTEM_PROCESS_KW_THREAD, &listed, 1);
    enable_for(session, &SystemSchedulerProviderGuid, 0, &listed, 1);
    order(&worker);
    let_sleep(awake, awake_count);
    read_and_account(session, &events);
    end_worker(&worker);
    assert_int_equal(count_threads(&events, THREAD_START, listed, 0), THREADS);
    assert_int_equal(count_threads(&events, RUNDOWN_START, listed, listed), 1);
    assert_int_equal(count_type(&events, &thread_class, THREAD_START), THREADS);
    assert_int_equal(count_type(&events, &thread_class, RUNDOWN_START),
                     count_threads(&events, RUNDOWN_START, listed, 0));
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_kernel_event(event, &thread_class, SWITCH)) {
            to += is_started(&events, u32_at(event, 0));
            from += is_started(&events, u32_at(event, 4));
            assert_true(is_workers(&events, u32_at(event, 0)) ||
                        is_workers(&events, u32_at(event, 4)));
        }
        woken +=
            is_kernel_event(event, &thread_class, READY) && is_started(&events, u32_at(event, 0));
    }
    assert_in_range(to, 2 * THREADS, 100000); /* it begins, and has slept */
    assert_in_range(woken, 2 * THREADS, 100000);
    /* Each has ended, so that there are as many; but for what the kernel left out by itself. */
    skip_if_lost(from > to ? from - to : to - from, &events);
    free_events(&events);
}

/*
 * R26: at most eight; a number that another process has later does not bring it in, nor does
 * another change.
 */
static void r26_a_number_that_is_used_again_is_another_process(void **state)
{
    uint32_t ids[8] = {4000000};
    struct worker worker;
    struct worker next;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    begin_worker(&worker);
    ids[7] = (uint32_t)worker.process;
    session = start_kernel(NOTHING);
    enable_for(session, &SystemSyscallProviderGuid, 0, ids, 8);
    order(&worker);
    end_worker(&worker);
    if (!begin_worker_with_number(&next, worker.process)) {
        stop_session(session, NULL);
        print_message("skipped: the process id could not be used again\n");
        skip();
    }
    order(&next);
    assert_int_equal(enable_with(session, &SystemTimerProviderGuid, 0, 0, NULL, 0), ERROR_SUCCESS);
    order(&next);
    end_worker(&next);
    read_and_account(session, &events);
    assert_int_equal(count_calls(&events, ENTER, (uint32_t)worker.process), (1 + THREADS) * CALLS);
    free_events(&events);
}

/*
 * Processes and images of the listed one alone, in a rundown that quiesces too. EnableFlags have no
 * filter.
 */
static void what_flags_want_is_not_filtered(void **state)
{
    const uint64_t keywords =
        SYSTEM_PROCESS_KW_GENERAL | SYSTEM_PROCESS_KW_THREAD | SYSTEM_PROCESS_KW_LOADER;
    const uint32_t here = (uint32_t)getpid();
    int64_t pause_ns = etwas_system_logger_quiesce_ns;
    etwas_trace_handle session;
    struct events events;
    uint32_t child;

    (void)state;
    etwas_system_logger_quiesce_ns = 0;
    session = start_kernel(EVENT_TRACE_FLAG_THREAD | NOTHING);
    enable_for(session, &SystemProcessProviderGuid, keywords, &here, 1);
    child = (uint32_t)run_child();
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid,
                                    EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0, NULL),
                     ERROR_SUCCESS);
    read_and_account(session, &events);
    etwas_system_logger_quiesce_ns = pause_ns;
    assert_int_equal(count_threads(&events, THREAD_START, child, 0), 3);
    assert_int_equal(count_type(&events, &ProcessGuid, THREAD_START), 0);
    assert_int_equal(count_type(&events, &ProcessGuid, RUNDOWN_START), 2);
    assert_int_equal(count_type(&events, &ProcessGuid, RUNDOWN_END), 1);
    assert_in_range(count_type(&events, &ImageLoadGuid, RUNDOWN_END), 2, 10000);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (memcmp(&event->record.EventHeader.ProviderId, &ImageLoadGuid, sizeof ImageLoadGuid) ==
            0) {
            assert_int_equal(u32_at(event, 16), here);
        }
        if (memcmp(&event->record.EventHeader.ProviderId, &ProcessGuid, sizeof ProcessGuid) == 0) {
            assert_int_equal(u32_at(event, 8), here);
        }
    }
    free_events(&events);
}

/* Whose they are their payload says. */
static void datagrams_belong_to_their_sender(void **state)
{
    etwas_trace_handle session;
    struct worker worker;
    struct events events;
    uint32_t listed;
    uint32_t sent = 0;

    (void)state;
    begin_worker(&worker);
    listed = (uint32_t)worker.process;
    session = start_kernel(NOTHING);
    enable_for(session, &SystemIoProviderGuid, SYSTEM_IO_KW_NETWORK, &listed, 1);
    send_datagrams();
    order(&worker);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        if (is_kernel_event(&events.items[index], &UdpIpGuid, SEND)) {
            assert_int_equal(u32_at(&events.items[index], 0), listed);
            sent++;
        }
    }
    assert_int_equal(sent, DATAGRAMS);
    free_events(&events);
    end_worker(&worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(only_the_listed_process_is_recorded),
        FOLDER_TEST(switches_are_of_both_sides),
        FOLDER_TEST(r26_a_number_that_is_used_again_is_another_process),
        FOLDER_TEST(what_flags_want_is_not_filtered),
        FOLDER_TEST(datagrams_belong_to_their_sender),
    };

    return RUN_KERNEL_TESTS("filters of system providers by process", tests);
}
