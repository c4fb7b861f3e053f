/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A system logger that is changed while it runs: an opened group emits its rundown, and what cannot
 * be opened any more is not in force.
 */
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    INTERVAL_AT_BEGIN = 73,
    SWITCHES = EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG,
    LIVES = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD,
};

/*
 * Returns the first event of this class and type with this number at the offset, and how many there
 * are.
 */
static const struct event *find_event(const struct events *events, const etwas_guid *class_guid,
                                      uint8_t type, size_t offset, uint32_t number, uint32_t *count)
{
    const struct event *first = NULL;

    *count = 0;
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_kernel_event(event, class_guid, type) && u32_at(event, offset) == number) {
            first = first == NULL ? event : first;
            ++*count;
        }
    }
    return first;
}

static void expect_before(const struct event *one, const struct event *other)
{
    assert_non_null(one);
    assert_non_null(other);
    assert_true(one->record.EventHeader.TimeStamp.QuadPart <
                other->record.EventHeader.TimeStamp.QuadPart);
}

/* Once, before anything that happens then; by a second update, which opens nothing, not again. */
static void r131_an_opened_group_emits_its_rundown(void **state)
{
    const uint32_t flags = LIVES | EVENT_TRACE_FLAG_PROFILE | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    const uint32_t here = (uint32_t)getpid();
    const uint32_t thread = (uint32_t)syscall(SYS_gettid);
    const struct event *begin;
    etwas_trace_handle session;
    struct events events;
    uint32_t child;
    uint32_t count;

    (void)state;
    session = start_kernel(SWITCHES);
    update_kernel_flags(session, flags, ERROR_SUCCESS);
    child = (uint32_t)run_child();
    update_kernel_flags(session, flags | EVENT_TRACE_FLAG_CSWITCH, ERROR_SUCCESS);
    read_and_account(session, &events);
    begin = find_event(&events, &thread_class, THREAD_START, 0, child, &count);
    expect_before(find_event(&events, &thread_class, RUNDOWN_START, 4, thread, &count), begin);
    assert_int_equal(count, 1);
    expect_before(find_event(&events, &ProcessGuid, RUNDOWN_START, 8, here, &count), begin);
    assert_int_equal(count, 1);
    expect_before(find_event(&events, &ImageLoadGuid, RUNDOWN_START, 16, here, &count), begin);
    assert_in_range(count, 2, UINT32_MAX);
    expect_before(find_event(&events, &perf_info_class, INTERVAL_AT_BEGIN, 0, 0, &count), begin);
    assert_int_equal(count, 1);
    free_events(&events);
}

static uint32_t flags_in_force(etwas_trace_handle session)
{
    struct block block;

    prepare_kernel_block(&block, 0);
    assert_int_equal(ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS);
    return block.properties.EnableFlags;
}

/*
 * Other stacks are other events of the kernel's: the old ones are closed, and the process may open
 * none any more.
 */
static void what_cannot_be_opened_again_is_not_in_force(void **state)
{
    const CLASSIC_EVENT_ID id = {thread_class, SWITCH, {0}};
    struct rlimit before;
    struct rlimit none;
    etwas_trace_handle session;
    struct events events;
    uint32_t first;
    uint32_t second;
    uint32_t count;
    uint32_t child;
    uint32_t code;
    char sentence[512];

    (void)state;
    session = start_kernel(FLAGS);
    assert_int_equal(flags_in_force(session), FLAGS);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    code = TraceSetInformation(session, TraceStackTracingInfo, (void *)(uintptr_t)&id, sizeof id);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(code, ERROR_NO_SYSTEM_RESOURCES);
    (void)etwas_kernel_refusal(sentence, sizeof sentence);
    assert_non_null(strstr(sentence, "RLIMIT_NOFILE"));
    assert_int_equal(flags_in_force(session), FLAGS & ~EVENT_TRACE_FLAG_CSWITCH);
    first = hand_over();
    child = (uint32_t)run_child();
    update_kernel_flags(session, FLAGS, ERROR_SUCCESS); /* and is asked for again */
    assert_int_equal(flags_in_force(session), FLAGS);
    second = hand_over();
    read_and_account(session, &events);
    assert_int_equal(count_threads(&events, THREAD_START, child, 0), 3);
    (void)find_event(&events, &thread_class, SWITCH, 0, first, &count);
    assert_int_equal(count, 0);
    (void)find_event(&events, &thread_class, SWITCH, 0, second, &count);
    assert_in_range(count, HANDOVERS, UINT32_MAX);
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r131_an_opened_group_emits_its_rundown),
        FOLDER_TEST(what_cannot_be_opened_again_is_not_in_force),
    };

    return RUN_KERNEL_TESTS("changes of a system logger", tests);
}
