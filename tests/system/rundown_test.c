/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events are recorded while the logger emits a rundown, however long that takes: the rings are
 * drained between any two processes, and both clocks are read with them.
 */
#include <ck_pr.h>
#include <etwas/evntrace_keywords.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "platform/thread.h"
#include "system/kernel_fixture.h"
#include "system/logger.h"

enum {
    CHILDREN = 40,
    SMALL_RING = 512 << 10,
    LEAST_SWITCH_BYTES = 64,
    NAPS = 250,     /* in a pause: far from filling a ring */
    NAP_NS = 50000, /* a shorter one may be over before it begins */
    PAUSES = CHILDREN,
    OLD_THREAD = 4, /* in a switch's payload */
    CYCLES = 3,     /* the clock */
    RUNDOWN_FLAGS = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD |
                    EVENT_TRACE_FLAG_IMAGE_LOAD | EVENT_TRACE_FLAG_DISK_FILE_IO |
                    EVENT_TRACE_FLAG_VAMAP,
};
/* What happens in all quiesces is far more than a ring has room for. */
_Static_assert(PAUSES *NAPS * 2 * LEAST_SWITCH_BYTES > 2 * SMALL_RING, "");

static uint32_t pauses; /* left that something happens in */
static uint32_t paused;
static uint32_t readings; /* of the clocks, by the logger since its last pause */
static uint32_t without_reading;
static uint32_t logger_thread;
static uint64_t waits; /* of the logger in quiesces: it gives way */

static uint64_t waits_of_thread(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return (uint64_t)usage.ru_nvcsw;
}

/* The logger sleeps: switches on its processor. */
static void nap(enum etwas_testpoint point)
{
    const struct timespec moment = {.tv_nsec = NAP_NS};

    if (point == ETWAS_POINT_CLOCK_READ &&
        etwas_thread_ids().thread_id == ck_pr_load_32(&logger_thread)) {
        readings++;
    }
    if (point != ETWAS_POINT_SYSTEM_QUIESCES || ck_pr_load_32(&pauses) == 0) {
        return;
    }
    ck_pr_store_32(&logger_thread, etwas_thread_ids().thread_id);
    without_reading += paused != 0 && readings == 0;
    readings = 0;
    paused++;
    ck_pr_dec_32(&pauses);
    waits -= waits_of_thread();
    for (uint32_t naps = 0; naps < NAPS; naps++) {
        (void)nanosleep(&moment, NULL);
    }
    waits += waits_of_thread();
}

static pid_t children[CHILDREN];

static int begin_test(void **state)
{
    (void)folder_setup(state);
    for (uint32_t index = 0; index < CHILDREN; index++) {
        children[index] = fork_child();
        while (children[index] == 0) {
            (void)pause();
        }
    }
    paused = 0;
    waits = 0;
    readings = 0;
    without_reading = 0;
    ck_pr_store_32(&pauses, 0);
    etwas_testpoint_set(nap);
    etwas_system_logger_ring_bytes = SMALL_RING;
    etwas_system_logger_quiesce_ns = 0;
    return 0;
}

static int end_test(void **state)
{
    etwas_testpoint_set(NULL);
    etwas_system_logger_ring_bytes = 4 << 20;
    etwas_system_logger_quiesce_ns = 20000000;
    for (uint32_t index = 0; index < CHILDREN; index++) {
        (void)kill(children[index], SIGKILL);
        (void)waitpid(children[index], NULL, 0);
    }
    return folder_teardown(state);
}

static etwas_trace_handle start_with_clock(uint32_t flags, uint32_t clock)
{
    struct block block;

    prepare_kernel_block(&block, flags | EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    block.properties.Wnode.ClientContext = clock;
    return start_block(KERNEL_LOGGER_NAMEA, &block);
}

/* Until a rundown that began is over: an update is answered behind it. */
static void await_rundown(etwas_trace_handle session, uint32_t flags)
{
    update_kernel_flags(session, flags | EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG,
                        ERROR_SUCCESS);
    ck_pr_store_32(&pauses, 0);
}

/* On a loaded machine some may be lost; most would be. */
static void expect_most(etwas_trace_handle session)
{
    struct events events;
    uint64_t gaps = 0;

    assert_int_equal(paused, PAUSES);
    assert_int_equal(without_reading, 0);
    (void)read_with_loss(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        gaps += is_kernel_event(event, &thread_class, SWITCH) &&
                u32_at(event, OLD_THREAD) == logger_thread;
    }
    assert_in_range(gaps, waits / 2, UINT64_MAX);
    free_events(&events);
}

static void what_happens_while_it_begins_is_recorded(void **state)
{
    etwas_trace_handle session;

    (void)state;
    ck_pr_store_32(&pauses, PAUSES);
    session = start_with_clock(RUNDOWN_FLAGS, CYCLES);
    await_rundown(session, RUNDOWN_FLAGS);
    expect_most(session);
}

static void what_happens_while_flags_are_added_is_recorded(void **state)
{
    etwas_trace_handle session;

    (void)state;
    session = start_with_clock(0, CYCLES);
    await_rundown(session, 0);
    ck_pr_store_32(&pauses, PAUSES);
    await_rundown(session, EVENT_TRACE_FLAG_PROCESS);
    expect_most(session);
}

static void control(etwas_trace_handle session, uint32_t code)
{
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid, code, 5,
                                    SYSTEM_PROCESS_KW_THREAD, 0, 0, NULL),
                     ERROR_SUCCESS);
}

static void what_happens_while_a_state_is_captured_is_recorded(void **state)
{
    etwas_trace_handle session;

    (void)state;
    session = start_with_clock(0, CYCLES);
    await_rundown(session, 0);
    control(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
    ck_pr_store_32(&pauses, PAUSES);
    control(session, EVENT_CONTROL_CODE_CAPTURE_STATE);
    ck_pr_store_32(&pauses, 0);
    expect_most(session);
}

#define RUNDOWN_TEST(test) cmocka_unit_test_setup_teardown(test, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNDOWN_TEST(what_happens_while_it_begins_is_recorded),
        RUNDOWN_TEST(what_happens_while_flags_are_added_is_recorded),
        RUNDOWN_TEST(what_happens_while_a_state_is_captured_is_recorded),
    };

    return RUN_KERNEL_TESTS("rundown", tests);
}
