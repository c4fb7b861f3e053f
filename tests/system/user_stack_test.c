/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Registers and stacks of programs, for unwinding: after the stacks of events, as many bytes as
 * requested.
 */
#include <string.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "system/kernel_fixture.h"
#include "system/stream/sample.h"

enum {
    STACK = 32,
    HEAD_BYTES = sizeof(struct etwas_etl_user_stack),
    REGISTER_BYTES = 8 * __builtin_popcountll(ETWAS_SAMPLE_REGISTERS),
    BYTES = 512,
};

static void set_stack_of_switches(etwas_trace_handle session)
{
    CLASSIC_EVENT_ID id = {.EventGuid = thread_class, .Type = SWITCH};

    assert_int_equal(TraceSetInformation(session, TraceStackTracingInfo, &id, sizeof id),
                     ERROR_SUCCESS);
}

static bool is_user_stack(const struct event *event)
{
    return is_kernel_event(event, &etwas_etl_own_class, ETWAS_ETL_USER_STACK_TYPE);
}

/* Counts the stacks of this process. Each follows a part of a stack with its stamp. */
static uint32_t count_own(const struct events *events)
{
    const struct event *before[2048] = {NULL};
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        const struct event *last = before[processor_of(event)];

        before[processor_of(event)] = event;
        if (!is_user_stack(event)) {
            continue;
        }
        assert_non_null(last);
        assert_true(is_kernel_event(last, &StackWalkGuid, STACK));
        assert_true(u64_at(event, 16) == u64_at(last, 0));
        assert_int_equal(u32_at(event, 0), ETWAS_ETL_USER_STACK_VERSION);
        assert_true(u64_at(event, 24) == ETWAS_SAMPLE_REGISTERS);
        assert_in_range(event->record.UserDataLength, HEAD_BYTES + REGISTER_BYTES,
                        HEAD_BYTES + REGISTER_BYTES + BYTES);
        count += u32_at(event, 8) == (uint32_t)getpid();
    }
    return count;
}

static void they_are_behind_the_stacks_that_are_asked_for(void **state)
{
    etwas_trace_handle session = start_kernel(FLAGS);
    struct events events;

    (void)state;
    assert_int_equal(etwas_kernel_user_stacks(session, BYTES), ERROR_SUCCESS);
    (void)hand_over(); /* no event has a stack */
    set_stack_of_switches(session);
    (void)hand_over();
    assert_int_equal(etwas_kernel_user_stacks(session, 0), ERROR_SUCCESS);
    (void)hand_over();
    read_and_account(session, &events);
    assert_in_range(count_own(&events), 2 * HANDOVERS, 2 * HANDOVERS + HANDOVERS / 2);
    free_events(&events);
}

static void what_cannot_be_is_refused(void **state)
{
    etwas_trace_handle session = start_kernel(FLAGS);

    (void)state;
    assert_int_equal(etwas_kernel_user_stacks(session, 7), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_kernel_user_stacks(session, 32776), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_kernel_user_stacks(session, 32768), ERROR_SUCCESS);
    assert_int_equal(etwas_kernel_user_stacks(0, 8), ERROR_INVALID_HANDLE);
    stop_session(session, NULL);
    assert_int_equal(etwas_kernel_user_stacks(session, 8), ERROR_INVALID_HANDLE);
}

static void other_sessions_have_none(void **state)
{
    etwas_trace_handle session;
    struct block block;

    (void)state;
    prepare_block(&block, folder_path("a.etl"));
    session = start_block("no system logger", &block);
    assert_int_equal(etwas_kernel_user_stacks(session, 8), ERROR_NOT_SUPPORTED);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(they_are_behind_the_stacks_that_are_asked_for),
        FOLDER_TEST(what_cannot_be_is_refused),
        FOLDER_TEST(other_sessions_have_none),
    };

    return RUN_KERNEL_TESTS("system user stack", tests);
}
