/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * TraceSetInformation and TraceQueryInformation of a system logger: its flags as masks, and the
 * sources of samples.
 */
#include <string.h>

#include "system/event_count.h"

enum {
    MASKS = 8,
    NOTHING = EVENT_TRACE_FLAG_NO_SYSCONFIG,
    THREADS = EVENT_TRACE_FLAG_THREAD | NOTHING,
    /* PERF_... of ntwmi.h */
    SWITCHES_OF_SECOND = 0x4,
    HANDLES_OF_FIFTH = 0x40,
};

static void expect_masks(etwas_trace_handle session, uint32_t first, uint32_t second,
                         uint32_t fifth)
{
    uint32_t masks[MASKS];
    uint32_t bytes = 0;

    memset(masks, 0xEE, sizeof masks);
    assert_int_equal(TraceQueryInformation(session, TraceSystemTraceEnableFlagsInfo, masks,
                                           sizeof masks, &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(bytes, sizeof masks);
    for (uint32_t index = 0; index < MASKS; index++) {
        assert_int_equal(masks[index], index == 0   ? first
                                       : index == 1 ? second
                                       : index == 4 ? fifth
                                                    : 0);
    }
}

static uint32_t set_masks(etwas_trace_handle session, uint32_t first, uint32_t second,
                          uint32_t fifth)
{
    uint32_t masks[MASKS] = {first, second, 0, 0, fifth};

    return TraceSetInformation(session, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks);
}

/*
 * R131: the first mask is EnableFlags, whatever changes them. The others add to it, and go with it.
 */
static void r131_masks_are_flags_and_more(void **state)
{
    etwas_trace_handle session;
    struct events events;
    uint32_t switches[3];
    uint32_t children[3];

    (void)state;
    session = start_kernel(THREADS);
    expect_masks(session, THREADS, 0, 0);
    children[0] = (uint32_t)run_child();
    switches[0] = hand_over();
    assert_int_equal(set_masks(session, NOTHING, SWITCHES_OF_SECOND, HANDLES_OF_FIFTH),
                     ERROR_SUCCESS);
    expect_masks(session, NOTHING, SWITCHES_OF_SECOND, HANDLES_OF_FIFTH);
    assert_int_equal(kernel_flags_of(session), NOTHING);
    children[1] = (uint32_t)run_child();
    switches[1] = hand_over();
    update_kernel_flags(session, THREADS, ERROR_SUCCESS);
    expect_masks(session, THREADS, 0, 0);
    children[2] = (uint32_t)run_child();
    switches[2] = hand_over();
    read_and_account(session, &events);
    for (uint32_t index = 0; index < 3; index++) {
        assert_int_equal(count_threads(&events, THREAD_START, children[index], 0),
                         index == 1 ? 0 : 3);
        assert_in_range(count_switches_to(&events, switches[index]), index == 1 ? HANDOVERS : 0,
                        index == 1 ? UINT32_MAX : 0);
    }
    free_events(&events);
}

static void r131_no_flags_are_no_masks_either(void **state)
{
    etwas_trace_handle session;

    (void)state;
    session = start_kernel(NOTHING);
    assert_int_equal(set_masks(session, 0, SWITCHES_OF_SECOND, 0), ERROR_SUCCESS);
    expect_masks(session, 0, SWITCHES_OF_SECOND, 0);
    update_kernel_flags(session, 0, ERROR_SUCCESS);
    expect_masks(session, 0, 0, 0);
    stop_session(session, NULL);
}

/* R45 */
static void r45_only_a_system_logger_has_masks(void **state)
{
    uint32_t masks[MASKS] = {0};
    struct block block;
    etwas_trace_handle session;

    (void)state;
    session = start_kernel(THREADS);
    assert_int_equal(set_masks(session, THREADS | 0x08000000, 0, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(set_masks(session, THREADS | EVENT_TRACE_FLAG_DEBUG_EVENTS, 0, 0),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(
        TraceSetInformation(session, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks - 1),
        ERROR_BAD_LENGTH);
    assert_int_equal(TraceQueryInformation(session, TraceSystemTraceEnableFlagsInfo, masks,
                                           sizeof masks - 1, NULL),
                     ERROR_BAD_LENGTH);
    expect_masks(session, THREADS, 0, 0);
    stop_session(session, NULL);
    assert_int_equal(set_masks(session, THREADS, 0, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(set_masks(0, THREADS, 0, 0), ERROR_INVALID_PARAMETER);
    session = start_recorder();
    assert_int_equal(set_masks(session, THREADS, 0, 0), ERROR_NOT_SUPPORTED);
    assert_int_equal(
        TraceQueryInformation(session, TraceSystemTraceEnableFlagsInfo, masks, sizeof masks, NULL),
        ERROR_NOT_SUPPORTED);
    stop_session(session, NULL);
    prepare_kernel_block(&block, 0);
    block.properties.Wnode.Guid = KernelRundownGuid;
    session = start_block("what is there", &block);
    assert_int_equal(set_masks(session, THREADS, 0, 0), ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
}

/* ---- sources of samples ---------------------------------------------------------------------- */

static void expect_timer(etwas_trace_handle session)
{
    static const etwas_wchar name[] = ETWAS_TEXT("Timer");
    uint64_t room[16];
    const PROFILE_SOURCE_INFO *info = (const void *)room;
    uint32_t source = 77;
    uint32_t bytes = 0;

    memset(room, 0xEE, sizeof room);
    assert_int_equal(
        TraceQueryInformation(session, TraceProfileSourceListInfo, room, sizeof room, &bytes),
        ERROR_SUCCESS);
    assert_int_equal(info->NextEntryOffset, 0);
    assert_int_equal(info->Source, 0);
    assert_int_equal(info->MinInterval, 1221);
    assert_int_equal(info->MaxInterval, 1000000);
    assert_in_range(bytes, offsetof(PROFILE_SOURCE_INFO, Description) + sizeof name, sizeof room);
    assert_memory_equal(info->Description, name, sizeof name);
    assert_int_equal(
        TraceQueryInformation(session, TraceProfileSourceListInfo, room, bytes - 1, &bytes),
        ERROR_BAD_LENGTH);
    assert_int_equal(TraceQueryInformation(session, TraceProfileSourceConfigInfo, &source,
                                           sizeof source, &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(bytes, sizeof source);
    assert_int_equal(source, 0);
}

static void samples_come_from_the_timer(void **state)
{
    uint32_t sources[2] = {0, 0};
    etwas_trace_handle session;
    etwas_trace_handle other;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_PROFILE | NOTHING);
    other = start_recorder();
    expect_timer(0);
    expect_timer(session);
    assert_int_equal(
        TraceSetInformation(session, TraceProfileSourceConfigInfo, sources, sizeof sources),
        ERROR_SUCCESS);
    assert_int_equal(
        TraceSetInformation(session, TraceProfileSourceConfigInfo, sources, sizeof *sources - 1),
        ERROR_BAD_LENGTH);
    assert_int_equal(TraceSetInformation(session, TraceProfileSourceConfigInfo, sources, 0),
                     ERROR_BAD_LENGTH);
    sources[1] = 19; /* cycles */
    assert_int_equal(
        TraceSetInformation(session, TraceProfileSourceConfigInfo, sources, sizeof sources),
        ERROR_INVALID_PARAMETER);
    assert_int_equal(
        TraceSetInformation(other, TraceProfileSourceConfigInfo, sources, sizeof *sources),
        ERROR_NOT_SUPPORTED);
    stop_session(other, NULL);
    stop_session(session, NULL);
    assert_int_equal(
        TraceSetInformation(session, TraceProfileSourceConfigInfo, sources, sizeof *sources),
        ERROR_INVALID_PARAMETER);
}

static bool is_one_of(TRACE_INFO_CLASS class, const TRACE_INFO_CLASS *classes, size_t count)
{
    bool is = false;

    for (size_t index = 0; index < count; index++) {
        is = is || classes[index] == class;
    }
    return is;
}

/*
 * Counters of the processor, and what else there is no use for: ETW's answer where there are none.
 */
static void what_linux_does_not_have_is_not_supported(void **state)
{
    static const TRACE_INFO_CLASS settable[] = {
        TraceStackTracingInfo, TraceSystemTraceEnableFlagsInfo, TraceSampledProfileIntervalInfo,
        TraceProfileSourceConfigInfo};
    static const TRACE_INFO_CLASS others[] = {TraceProfileSourceListInfo, TraceVersionInfo,
                                              TraceMaxLoggersQuery};
    uint8_t before[64] = {0};
    uint8_t room[64];
    etwas_trace_handle session;

    (void)state;
    session = start_kernel(NOTHING);
    for (uint32_t class = 0; class < MaxTraceSetInfoClass + 3; class ++) {
        TRACE_INFO_CLASS asked = (TRACE_INFO_CLASS) class;
        uint32_t bytes = 77;

        memcpy(room, before, sizeof room);
        if (is_one_of(asked, settable, sizeof settable / sizeof *settable)) {
            continue;
        }
        assert_int_equal(TraceSetInformation(session, asked, room, sizeof room),
                         ERROR_NOT_SUPPORTED);
        if (is_one_of(asked, others, sizeof others / sizeof *others)) {
            assert_int_equal(TraceQueryInformation(session, asked, room, sizeof room, &bytes),
                             ERROR_SUCCESS);
        } else {
            assert_int_equal(TraceQueryInformation(session, asked, room, sizeof room, &bytes),
                             ERROR_NOT_SUPPORTED);
            assert_memory_equal(room, before, sizeof room);
            assert_int_equal(bytes, 77);
        }
    }
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r131_masks_are_flags_and_more),
        FOLDER_TEST(r131_no_flags_are_no_masks_either),
        FOLDER_TEST(r45_only_a_system_logger_has_masks),
        FOLDER_TEST(samples_come_from_the_timer),
        FOLDER_TEST(what_linux_does_not_have_is_not_supported),
    };

    return RUN_KERNEL_TESTS("information of a system logger", tests);
}
