/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Filters of system providers by event, and of events with stacks; and which filters are refused.
 */
#include <string.h>

#include "system/kernel_fixture.h"
#include "system/worker.h"

enum {
    STACK = 32,
    HOOK_ENTER = 0x0F33,
    HOOK_SWITCH = 0x0524,
    HOOK_THREAD_START = 0x0501,
};

static const etwas_guid stack_class = {
    0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}};

/* Its layout is that of EVENT_FILTER_EVENT_ID. */
struct ids {
    uint8_t in;
    uint8_t reserved;
    uint16_t count;
    uint16_t ids[4];
};

static EVENT_FILTER_DESCRIPTOR filter_of_ids(uint32_t type, const struct ids *ids)
{
    return filter_of(type, ids, 4 + 2 * (size_t)ids->count);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Enabling again replaces the filters, and without any there are none. */
static void events_are_chosen_by_group_and_type(void **state)
{
    const struct ids enters = {.in = 1, .count = 2, .ids = {HOOK_ENTER, HOOK_SWITCH}};
    const struct ids others = {.in = 0, .count = 1, .ids = {HOOK_ENTER}};
    EVENT_FILTER_DESCRIPTOR filters[2];
    uint32_t entered[3];
    uint32_t left[3];
    etwas_trace_handle session;
    struct worker worker;
    uint32_t listed;

    (void)state;
    begin_worker(&worker);
    listed = (uint32_t)worker.process;
    filters[0] = filter_of(EVENT_FILTER_TYPE_PID, &listed, sizeof listed);
    for (uint32_t round = 0; round < 3; round++) {
        struct events events;

        session = start_kernel(NOTHING);
        filters[1] = filter_of_ids(EVENT_FILTER_TYPE_EVENT_ID, &others);
        assert_int_equal(enable_with(session, &SystemSyscallProviderGuid, 0, 0, filters, 2),
                         ERROR_SUCCESS);
        filters[1] = filter_of_ids(EVENT_FILTER_TYPE_EVENT_ID, round == 0 ? &enters : &others);
        assert_int_equal(
            enable_with(session, &SystemSyscallProviderGuid, 0, 0, filters, round == 2 ? 1 : 2),
            ERROR_SUCCESS);
        order(&worker);
        read_and_account(session, &events);
        entered[round] = count_calls(&events, ENTER, listed);
        left[round] = count_calls(&events, EXIT, listed);
        free_events(&events);
    }
    assert_int_equal(entered[0], (1 + THREADS) * CALLS);
    assert_int_equal(left[0], 0);
    assert_int_equal(entered[1], 0);
    assert_in_range(left[1], (1 + THREADS) * CALLS, 100000);
    assert_int_equal(entered[2], (1 + THREADS) * CALLS);
    assert_in_range(left[2], (1 + THREADS) * CALLS, 100000);
    end_worker(&worker);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint32_t count_stacked(const struct events *events, const etwas_guid *class_guid,
                              uint8_t type)
{
    uint32_t count = 0;

    for (size_t index = 0; index + 1 < events->count; index++) {
        count += is_kernel_event(&events->items[index], class_guid, type) &&
                 is_kernel_event(&events->items[index + 1], &stack_class, STACK) &&
                 u64_at(&events->items[index + 1], 0) ==
                     (uint64_t)events->items[index].record.EventHeader.TimeStamp.QuadPart;
    }
    return count;
}

/* As EnumerateTraceGuidsEx says, of one session. */
static uint32_t property_of(const etwas_guid *provider)
{
    etwas_guid guid = *provider;
    struct {
        TRACE_GUID_INFO head;
        TRACE_PROVIDER_INSTANCE_INFO instance;
        TRACE_ENABLE_INFO enable;
    } known;
    uint32_t bytes = 0;

    assert_int_equal(
        EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof guid, &known, sizeof known, &bytes),
        ERROR_SUCCESS);
    return known.enable.EnableProperty;
}

/*
 * R184, with EVENT_ENABLE_PROPERTY_STACK_TRACE instead: all that can have one do, or those of the
 * filter.
 */
static void r184_stacks_are_of_what_is_chosen(void **state)
{
    const struct ids enters = {.in = 1, .count = 2, .ids = {HOOK_ENTER, HOOK_THREAD_START}};
    const uint32_t property = EVENT_ENABLE_PROPERTY_STACK_TRACE;
    EVENT_FILTER_DESCRIPTOR filters[2];
    uint32_t with[3][2];
    struct worker worker;
    uint32_t listed;

    (void)state;
    begin_worker(&worker);
    listed = (uint32_t)worker.process;
    filters[0] = filter_of(EVENT_FILTER_TYPE_PID, &listed, sizeof listed);
    filters[1] = filter_of_ids(EVENT_FILTER_TYPE_STACKWALK, &enters);
    for (uint32_t round = 0; round < 3; round++) {
        etwas_trace_handle session = start_kernel(NOTHING);
        struct events events;

        assert_int_equal(enable_with(session, &SystemSyscallProviderGuid, 0,
                                     round == 2 ? 0 : property, filters, round == 0 ? 1 : 2),
                         ERROR_SUCCESS);
        assert_int_equal(property_of(&SystemSyscallProviderGuid), round == 2 ? 0 : property);
        order(&worker);
        read_and_account(session, &events);
        with[round][0] = count_stacked(&events, &perf_info_class, ENTER);
        with[round][1] = count_stacked(&events, &perf_info_class, EXIT);
        free_events(&events);
    }
    end_worker(&worker);
    assert_in_range(with[0][0], CALLS, 100000);
    assert_in_range(with[0][1], CALLS, 100000);
    assert_in_range(with[1][0], CALLS, 100000);
    assert_int_equal(with[1][1], 0);
    assert_int_equal(with[2][0], 0);
    assert_int_equal(with[2][1], 0);
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* R26 */
static void r26_other_filters_and_properties_are_refused(void **state)
{
    static const uint32_t types[] = {EVENT_FILTER_TYPE_SCHEMATIZED, EVENT_FILTER_TYPE_SYSTEM_FLAGS,
                                     EVENT_FILTER_TYPE_TRACEHANDLE, EVENT_FILTER_TYPE_PACKAGE_ID,
                                     EVENT_FILTER_TYPE_PAYLOAD,     EVENT_FILTER_TYPE_CONTAINER};
    static const etwas_wchar name[] = ETWAS_TEXT("name");
    const uint32_t processes[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const EVENT_FILTER_LEVEL_KW level = {.FilterIn = 1};
    EVENT_FILTER_DESCRIPTOR filters[2];
    etwas_trace_handle session;

    (void)state;
    session = start_kernel(NOTHING);
    for (size_t index = 0; index < sizeof types / sizeof *types; index++) {
        filters[0] = filter_of(types[index], processes, 8);
        assert_int_equal(enable_with(session, &SystemMemoryProviderGuid, 0, 0, filters, 1),
                         ERROR_NOT_SUPPORTED);
    }
    filters[0] = filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, name, sizeof name);
    assert_int_equal(enable_with(session, &SystemMemoryProviderGuid, 0, 0, filters, 1),
                     ERROR_NOT_SUPPORTED);
    filters[0] = filter_of(EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, &level, sizeof level);
    assert_int_equal(enable_with(session, &SystemMemoryProviderGuid, 0, 0, filters, 1),
                     ERROR_NOT_SUPPORTED);
    assert_int_equal(
        enable_with(session, &SystemMemoryProviderGuid, 0, EVENT_ENABLE_PROPERTY_SID, NULL, 0),
        ERROR_NOT_SUPPORTED);
    filters[0] = filter_of(EVENT_FILTER_TYPE_PID, processes, sizeof processes);
    assert_int_equal(enable_with(session, &SystemMemoryProviderGuid, 0, 0, filters, 1),
                     ERROR_INVALID_PARAMETER);
    filters[0] = filter_of(EVENT_FILTER_TYPE_PID, processes, 3);
    assert_int_equal(enable_with(session, &SystemMemoryProviderGuid, 0, 0, filters, 1),
                     ERROR_INVALID_PARAMETER);
    filters[0] = filter_of(EVENT_FILTER_TYPE_PID, processes, 4);
    filters[1] = filters[0];
    assert_int_equal(enable_with(session, &SystemMemoryProviderGuid, 0, 0, filters, 2),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(session, &SystemMemoryProviderGuid,
                                    EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, 0, NULL),
                     ERROR_SUCCESS);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(events_are_chosen_by_group_and_type),
        FOLDER_TEST(r184_stacks_are_of_what_is_chosen),
        FOLDER_TEST(r26_other_filters_and_properties_are_refused),
    };

    return RUN_KERNEL_TESTS("filters of system providers by event", tests);
}
