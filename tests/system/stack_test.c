/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Stacks of chosen events: after their event, with its stamp, and only there.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/stack.h"
#include "system/kernel_fixture.h"
#include "system/spin.h"

enum {
    SAMPLE = 46,
    STACK = 32,
    FRAMES_AT = 16,
    MOST_IDS = 256,
    STACK_FLAGS = FLAGS | EVENT_TRACE_FLAG_PROFILE,
};

static bool is_of_kernel(uint64_t address)
{
    return address >> 63 != 0;
}

static etwas_trace_handle start_with_stacks(const STACK_TRACING_EVENT_ID *ids, uint32_t count,
                                            uint32_t clock)
{
    etwas_trace_handle session;
    struct block block;

    prepare_kernel_block(&block, STACK_FLAGS);
    block.properties.Wnode.ClientContext = clock;
    (void)wide_of(folder_path("k.etl"), (etwas_wchar *)(void *)block.file_name,
                  sizeof block.file_name / sizeof(etwas_wchar));
    assert_int_equal(StartKernelTrace(&session, &block.properties, ids, count), ERROR_SUCCESS);
    return session;
}

struct found {
    uint32_t switches;
    uint32_t switches_with_stack;
    uint32_t samples_with_stack;
    uint32_t kernel_parts;
    uint32_t user_parts;
    uint32_t spins; /* stacks of user parts whose innermost frame is in the function that spins */
};

/* Each stack is right behind its event in the processor's stream, or behind another part of it. */
static void look(const struct events *events, struct found *found)
{
    const struct event *before[ETWAS_MOST_PROCESSORS + 1] = {NULL};

    *found = (struct found){0};
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        const struct event **last = &before[processor_of(event)];

        if (!is_kernel_event(event, &StackWalkGuid, STACK)) {
            found->switches += is_kernel_event(event, &thread_class, SWITCH);
            *last = event;
            continue;
        }
        assert_non_null(*last);
        assert_true(u64_at(event, 0) == (uint64_t)(*last)->record.EventHeader.TimeStamp.QuadPart);
        assert_true(event->record.EventHeader.TimeStamp.QuadPart ==
                    (*last)->record.EventHeader.TimeStamp.QuadPart);
        found->switches_with_stack +=
            is_kernel_event(*last, &thread_class, SWITCH) && is_of_kernel(u64_at(event, FRAMES_AT));
        found->samples_with_stack += is_kernel_event(*last, &PerfInfoGuid, SAMPLE);
        for (size_t at = FRAMES_AT; at < event->record.UserDataLength; at += sizeof(uint64_t)) {
            /* Where the program has no frame pointers the user's part may go anywhere. */
            assert_true(is_of_kernel(u64_at(event, at)) || !is_of_kernel(u64_at(event, FRAMES_AT)));
            assert_true(u64_at(event, at) < (uint64_t)-4095 ||
                        u64_at(event, at) == ETWAS_STACK_CUT);
        }
        found->kernel_parts += is_of_kernel(u64_at(event, FRAMES_AT));
        found->user_parts += !is_of_kernel(u64_at(event, FRAMES_AT));
        found->spins += is_in_spin(u64_at(event, FRAMES_AT));
    }
}

static void r184_every_switch_that_is_asked_for_has_its_stack(void **state)
{
    const STACK_TRACING_EVENT_ID ids[] = {{.EventGuid = thread_class, .Type = SWITCH},
                                          {.EventGuid = thread_class, .Type = 99},
                                          {.EventGuid = FileIoGuid, .Type = 64},
                                          {.EventGuid = control_guid, .Type = SWITCH}};
    struct events events;
    struct found found;
    etwas_trace_handle session;

    (void)state;
    for (uint32_t clock = 1; clock <= 3; clock += 2) {
        session = start_with_stacks(ids, 4, clock);
        (void)hand_over();
        read_and_account(session, &events);
        look(&events, &found);
        assert_in_range(found.switches_with_stack, 2 * HANDOVERS, found.switches);
        assert_int_equal(found.samples_with_stack, 0);
        assert_in_range(found.user_parts, 2 * HANDOVERS, UINT32_MAX);
        free_events(&events);
    }
}

/* Waits with so many callers. */
static __attribute__((noinline)) void descend(uint32_t levels)
{
    if (levels == 0) {
        (void)usleep(1000);
    } else {
        descend(levels - 1);
    }
    __asm__ volatile(""); /* not a tail call */
}

/* 127 frames as the kernel comes, 192 at most. */
static void a_stack_that_goes_on_is_cut_at_its_root(void **state)
{
    const STACK_TRACING_EVENT_ID id = {.EventGuid = thread_class, .Type = SWITCH};
    etwas_trace_handle session;
    uint32_t cut = 0;
    struct events events;

    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message("skipped: a sanitizer switches threads in functions of its own\n");
    skip();
#endif
    session = start_with_stacks(&id, 1, 1);
    descend(250);
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_kernel_event(event, &StackWalkGuid, STACK) &&
            u32_at(event, 12) == (uint32_t)syscall(SYS_gettid)) {
            cut +=
                u64_at(event, event->record.UserDataLength - sizeof(uint64_t)) == ETWAS_STACK_CUT;
        }
    }
    assert_in_range(cut, 1, UINT32_MAX);
    free_events(&events);
}

static void set_stacks(etwas_trace_handle session, CLASSIC_EVENT_ID *ids, uint32_t count)
{
    CLASSIC_EVENT_ID now[MOST_IDS];
    uint32_t bytes = 0;

    assert_int_equal(
        TraceSetInformation(session, TraceStackTracingInfo, ids, count * (uint32_t)sizeof *ids),
        ERROR_SUCCESS);
    assert_int_equal(TraceQueryInformation(session, TraceStackTracingInfo, now, sizeof now, &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(bytes, count * sizeof *ids);
    if (count != 0) {
        assert_memory_equal(now, ids, bytes);
    }
}

/* Each list replaces the one before, and an empty one is the end of stacks. */
static void stacks_change_while_it_runs(void **state)
{
    CLASSIC_EVENT_ID switches = {.EventGuid = thread_class, .Type = SWITCH};
    CLASSIC_EVENT_ID samples = {.EventGuid = PerfInfoGuid, .Type = SAMPLE};
    etwas_trace_handle session;
    struct events events;
    struct found found;
    struct spin spin;

    (void)state;
    session = start_with_stacks(NULL, 0, 1);
    set_stacks(session, &switches, 1);
    set_stacks(session, &samples, 1);
    (void)hand_over();
    spin_for(&spin, 100000000);
    set_stacks(session, NULL, 0);
    (void)hand_over();
    read_and_account(session, &events);
    look(&events, &found);
    assert_in_range(found.switches, 4 * HANDOVERS, UINT32_MAX);
    assert_in_range(found.switches_with_stack, 0, HANDOVERS);
    assert_in_range(found.samples_with_stack, 10, UINT32_MAX);
    assert_in_range(found.spins, 5, UINT32_MAX);
    free_events(&events);
}

static void the_kernels_part_can_be_left_out(void **state)
{
    CLASSIC_EVENT_ID switches = {.EventGuid = thread_class, .Type = SWITCH};
    etwas_trace_handle session;
    struct events events;
    struct found found;

    (void)state;
    session = start_without_kernel_stacks(STACK_FLAGS);
    set_stacks(session, &switches, 1);
    (void)hand_over();
    read_and_account(session, &events);
    look(&events, &found);
    assert_int_equal(found.kernel_parts, 0);
    assert_in_range(found.user_parts, 2 * HANDOVERS, UINT32_MAX);
    free_events(&events);
}

static void r189_more_stacks_than_there_may_be_are_refused(void **state)
{
    static STACK_TRACING_EVENT_ID ids[MOST_IDS + 1];
    struct block block;
    etwas_trace_handle session = 7;

    (void)state;
    prepare_kernel_block(&block, STACK_FLAGS);
    assert_int_equal(StartKernelTrace(&session, &block.properties, ids, MOST_IDS + 1),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
    session = start_with_stacks(ids, MOST_IDS, 1);
    assert_int_equal(TraceSetInformation(session, TraceStackTracingInfo, ids, sizeof ids),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(TraceSetInformation(session, TraceStackTracingInfo, ids, sizeof *ids - 1),
                     ERROR_BAD_LENGTH);
    stop_session(session, NULL);
    assert_int_equal(TraceSetInformation(session, TraceStackTracingInfo, ids, sizeof *ids),
                     ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r184_every_switch_that_is_asked_for_has_its_stack),
        FOLDER_TEST(a_stack_that_goes_on_is_cut_at_its_root),
        FOLDER_TEST(stacks_change_while_it_runs),
        FOLDER_TEST(the_kernels_part_can_be_left_out),
        FOLDER_TEST(r189_more_stacks_than_there_may_be_are_refused),
    };

    return RUN_KERNEL_TESTS("system stack", tests);
}
