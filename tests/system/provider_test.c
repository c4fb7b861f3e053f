/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * System providers: what EnableTraceEx2 opens and closes in a system logger, by keyword.
 */
#include <etwas/etwas.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "etl/own_record.h"
#include "system/event_count.h"
#include "system/kernel_count.h"

enum {
    ISR = 67,
    NAPS = 200,
    NOTHING = EVENT_TRACE_FLAG_NO_SYSCONFIG,
};

static etwas_trace_handle start_logger(uint32_t flags)
{
    struct block block;

    prepare_kernel_block(&block, flags);
    block.properties.Wnode.Guid = control_guid;
    block.properties.LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
    return start_block("a system logger", &block);
}

static void control(etwas_trace_handle session, const etwas_guid *provider, uint32_t code,
                    uint64_t keywords)
{
    assert_int_equal(EnableTraceEx2(session, provider, code, 5, keywords, 0, 0, NULL),
                     ERROR_SUCCESS);
}

static void enable(etwas_trace_handle session, const etwas_guid *provider, uint64_t keywords)
{
    control(session, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, keywords);
}

static void disable(etwas_trace_handle session, const etwas_guid *provider)
{
    control(session, provider, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0);
}

/* ---- what is recorded ------------------------------------------------------------------------ */

/* Enabling again replaces; what is opened tells what there is. */
static void a_keyword_records_its_part(void **state)
{
    const uint32_t here = (uint32_t)getpid();
    const uint32_t thread = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;
    uint32_t children[3];
    uint32_t switches[3];

    (void)state;
    session = start_logger(NOTHING);
    children[0] = (uint32_t)run_child();
    switches[0] = hand_over();
    enable(session, &SystemProcessProviderGuid, SYSTEM_PROCESS_KW_THREAD);
    enable(session, &SystemSchedulerProviderGuid, SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH);
    children[1] = (uint32_t)run_child();
    switches[1] = hand_over();
    enable(session, &SystemProcessProviderGuid, SYSTEM_PROCESS_KW_GENERAL);
    disable(session, &SystemSchedulerProviderGuid);
    children[2] = (uint32_t)run_child();
    switches[2] = hand_over();
    read_and_account(session, &events);
    assert_int_equal(count_threads(&events, THREAD_START, children[0], 0), 0);
    assert_int_equal(count_threads(&events, RUNDOWN_START, here, thread), 1);
    assert_int_equal(count_threads(&events, THREAD_START, children[1], 0), 3);
    assert_int_equal(count_threads(&events, THREAD_END, children[1], 0), 3);
    assert_int_equal(count_threads(&events, THREAD_START, children[2], 0), 0);
    assert_int_equal(count_saying(&events, &ProcessGuid, 1, 8, children[1]), 0);
    assert_int_equal(count_saying(&events, &ProcessGuid, RUNDOWN_START, 8, here), 1);
    assert_int_equal(count_saying(&events, &ProcessGuid, 1, 8, children[2]), 1);
    /* One that was joined may still be on its way out. */
    assert_in_range(count_switches_to(&events, switches[0]), 0, 1);
    assert_in_range(count_switches_to(&events, switches[1]), HANDOVERS, UINT32_MAX);
    assert_int_equal(count_switches_to(&events, switches[2]), 0);
    assert_int_equal(count_class(&events, &EventTraceConfigGuid), 0);
    free_events(&events);
}

/* No keyword is all of them; an event has one, so that none has two. */
static void keywords_match_as_those_of_any_provider(void **state)
{
    const uint64_t two = SYSTEM_PROCESS_KW_GENERAL | SYSTEM_PROCESS_KW_THREAD;
    etwas_trace_handle session;
    struct events events;
    uint32_t children[3];

    (void)state;
    session = start_kernel(NOTHING);
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid,
                                    EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 0, two, 0, NULL),
                     ERROR_SUCCESS);
    children[0] = (uint32_t)run_child();
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid,
                                    EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, two,
                                    SYSTEM_PROCESS_KW_THREAD, 0, NULL),
                     ERROR_SUCCESS);
    children[1] = (uint32_t)run_child();
    assert_int_equal(EnableTrace(1, 0, 0, &SystemProcessProviderGuid, session), ERROR_SUCCESS);
    children[2] = (uint32_t)run_child();
    read_and_account(session, &events);
    for (uint32_t index = 0; index < 3; index++) {
        assert_int_equal(count_threads(&events, THREAD_START, children[index], 0),
                         index == 0 ? 0 : 3);
        assert_int_equal(count_saying(&events, &ProcessGuid, 1, 8, children[index]),
                         index == 2 ? 1 : 0);
    }
    free_events(&events);
}

/* R131: EnableFlags and providers do not know of each other; what both want is recorded once. */
static void flags_and_providers_add_up(void **state)
{
    const uint32_t threads = EVENT_TRACE_FLAG_THREAD | NOTHING;
    etwas_trace_handle session;
    struct events events;
    uint32_t children[4];

    (void)state;
    session = start_kernel(threads);
    enable(session, &SystemProcessProviderGuid, SYSTEM_PROCESS_KW_THREAD);
    children[0] = (uint32_t)run_child();
    update_kernel_flags(session, NOTHING, ERROR_SUCCESS);
    assert_int_equal(kernel_flags_of(session), NOTHING);
    children[1] = (uint32_t)run_child();
    disable(session, &SystemProcessProviderGuid);
    children[2] = (uint32_t)run_child();
    update_kernel_flags(session, threads, ERROR_SUCCESS);
    disable(session, &SystemProcessProviderGuid);
    children[3] = (uint32_t)run_child();
    read_and_account(session, &events);
    for (uint32_t index = 0; index < 4; index++) {
        assert_int_equal(count_threads(&events, THREAD_END, children[index], 0),
                         index == 2 ? 0 : 3);
    }
    free_events(&events);
}

/* State of that provider is recorded; of another one, which is not enabled, there is none. */
static void state_is_reported_when_it_is_asked_for(void **state)
{
    const uint32_t here = (uint32_t)getpid();
    const uint32_t thread = (uint32_t)syscall(SYS_gettid);
    uint32_t images = 0;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(NOTHING);
    enable(session, &SystemProcessProviderGuid,
           SYSTEM_PROCESS_KW_GENERAL | SYSTEM_PROCESS_KW_THREAD | SYSTEM_PROCESS_KW_LOADER);
    for (uint32_t index = 0; index < 2; index++) {
        control(session, &SystemProcessProviderGuid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0);
        control(session, &SystemConfigProviderGuid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0);
    }
    read_and_account(session, &events);
    assert_int_equal(count_threads(&events, RUNDOWN_START, here, thread), 3);
    assert_int_equal(count_threads(&events, RUNDOWN_END, here, thread), 1);
    assert_int_equal(count_saying(&events, &ProcessGuid, RUNDOWN_START, 8, here), 3);
    assert_int_equal(count_saying(&events, &ProcessGuid, RUNDOWN_END, 8, here), 1);
    images = count_saying(&events, &ImageLoadGuid, RUNDOWN_END, 16, here);
    assert_in_range(images, 2, 10000);
    assert_int_equal(count_saying(&events, &ImageLoadGuid, RUNDOWN_START, 16, here), 3 * images);
    images = count_saying(&events, &ImageLoadGuid, RUNDOWN_END, 16, 0);
    assert_int_equal(count_saying(&events, &ImageLoadGuid, RUNDOWN_START, 16, 0), 3 * images);
    assert_int_equal(count_class(&events, &EventTraceConfigGuid), 0);
    free_events(&events);
}

/* ---- finer than flags ------------------------------------------------------------------------ */

/* Two sets of tracepoints that one flag has together. */
static void timers_and_calls_between_processors_are_distinguished(void **state)
{
    struct kernel_count inner;
    struct kernel_count outer;
    uint64_t least;
    uint64_t most;
    uint64_t lost;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    if (access("/sys/kernel/tracing/events/irq_vectors/local_timer_exit", F_OK) != 0) {
        print_message("skipped: the kernel has no tracepoints of interrupt vectors\n");
        skip();
    }
    begin_counting(&outer, "irq_vectors/local_timer_exit", NULL);
    session = start_kernel(NOTHING);
    enable(session, &SystemInterruptProviderGuid, SYSTEM_INTERRUPT_KW_CLOCK_INTERRUPT);
    begin_counting(&inner, "irq_vectors/local_timer_exit", NULL);
    for (int index = 0; index < NAPS; index++) {
        (void)usleep(200);
    }
    least = end_counting(&inner);
    disable(session, &SystemInterruptProviderGuid);
    most = end_counting(&outer);
    enable(session, &SystemInterruptProviderGuid, SYSTEM_INTERRUPT_KW_DPC_QUEUE);
    (void)usleep(1000);
    lost = read_with_loss(session, &events);
    assert_in_range(count_class(&events, &perf_info_class), least - (lost < least ? lost : least),
                    most);
    assert_true(least > 0);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (is_kernel_event(event, &perf_info_class, ISR)) {
            assert_int_equal(event->payload[8 + 8 + 1 + 2], 1);
        }
    }
    free_events(&events);
}

/* Events of SystemConfig by type. */
static void count_configuration(const struct events *events, uint32_t *counts)
{
    memset(counts, 0, 256 * sizeof *counts);
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (memcmp(&event->record.EventHeader.ProviderId, &EventTraceConfigGuid,
                   sizeof(etwas_guid)) == 0) {
            counts[event->record.EventHeader.EventDescriptor.Opcode]++;
        }
    }
}

static void the_configuration_comes_in_parts(void **state)
{
    static const uint8_t others[] = {11, 12, 13, 14, 15, 17, 18, 22, 23};
    uint32_t counts[256];
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_logger(NOTHING);
    enable(session, &SystemConfigProviderGuid, SYSTEM_CONFIG_KW_SYSTEM);
    enable(session, &SystemConfigProviderGuid, SYSTEM_CONFIG_KW_SYSTEM); /* nothing new */
    control(session, &SystemConfigProviderGuid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0);
    read_and_account(session, &events);
    count_configuration(&events, counts);
    assert_int_equal(counts[10], 2);
    for (size_t index = 0; index < sizeof others; index++) {
        assert_int_equal(counts[others[index]], 0);
    }
    free_events(&events);
    session = start_logger(NOTHING);
    enable(session, &SystemConfigProviderGuid, SYSTEM_CONFIG_KW_NETWORK);
    read_and_account(session, &events);
    count_configuration(&events, counts);
    assert_int_equal(counts[17], 1);
    assert_int_equal(counts[10], 0);
    free_events(&events);
}

/* ---- what is refused, and what is known ------------------------------------------------------ */

static void only_a_system_logger_can_have_them(void **state)
{
    etwas_trace_handle session;
    etwas_trace_handle other;

    (void)state;
    other = start_recorder();
    assert_int_equal(EnableTraceEx2(other, &SystemProcessProviderGuid, 1, 0, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    stop_session(other, NULL);
    session = start_logger(NOTHING);
    assert_int_equal(EnableTraceEx2(session, &SystemTraceControlGuid, 1, 0, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid, 3, 0, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid, 1, 0, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
}

static void r188_a_rundown_can_have_none(void **state)
{
    etwas_trace_handle session;
    struct block block;

    (void)state;
    prepare_kernel_block(&block, 0);
    block.properties.Wnode.Guid = KernelRundownGuid;
    session = start_block("what is there", &block);
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid, 1, 0, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
}

static void providers_without_events_are_explained(void **state)
{
    static const etwas_guid *const empty[] = {
        &SystemAlpcProviderGuid,     &SystemCpuProviderGuid,      &SystemHypervisorProviderGuid,
        &SystemIoFilterProviderGuid, &SystemLockProviderGuid,     &SystemObjectProviderGuid,
        &SystemPowerProviderGuid,    &SystemRegistryProviderGuid, &SystemTimerProviderGuid};
    const uint64_t process = etwas_kernel_keywords(&SystemProcessProviderGuid);
    uint32_t notes = 0;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(NOTHING);
    for (size_t index = 0; index < sizeof empty / sizeof *empty; index++) {
        assert_true(etwas_kernel_keywords(empty[index]) == 0);
        enable(session, empty[index], 0);
    }
    enable(session, &SystemProcessProviderGuid, SYSTEM_PROCESS_KW_INSWAP);
    read_and_account(session, &events);
    /* The trace speaks of itself alone, and says that ALPC and the registry are silent. */
    assert_int_equal(count_class(&events, &etwas_etl_own_class), events.count);
    for (size_t index = 0; index < events.count; index++) {
        notes +=
            is_kernel_event(&events.items[index], &etwas_etl_own_class, ETWAS_ETL_SILENT_FLAG_TYPE);
    }
    assert_int_equal(notes, 2);
    free_events(&events);
    assert_true((process & SYSTEM_PROCESS_KW_THREAD) != 0);
    assert_true((process & SYSTEM_PROCESS_KW_INSWAP) == 0);
    assert_true(etwas_kernel_keywords(&SystemConfigProviderGuid) == 0x7F);
    assert_true(etwas_kernel_keywords(&SystemTraceControlGuid) == 0);
    assert_true(etwas_kernel_keywords(NULL) == 0);
}

/* What EnumerateTraceGuidsEx says of a provider that two sessions enable at most. */
struct known {
    TRACE_GUID_INFO head;
    TRACE_PROVIDER_INSTANCE_INFO instance;
    TRACE_ENABLE_INFO enables[2];
};

static uint32_t find_provider(const etwas_guid *provider, struct known *known, uint32_t *bytes)
{
    etwas_guid guid = *provider;

    return EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof guid, known, sizeof *known,
                                 bytes);
}

static uint32_t count_listed(const etwas_guid *provider)
{
    etwas_guid guids[64];
    uint32_t bytes = 0;
    uint32_t count = 0;

    assert_int_equal(
        EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, guids, sizeof guids, &bytes),
        ERROR_SUCCESS);
    for (uint32_t index = 0; index < bytes / sizeof *guids; index++) {
        count += memcmp(&guids[index], provider, sizeof *provider) == 0;
    }
    return count;
}

static void the_enabling_session_is_known(void **state)
{
    struct known known;
    etwas_trace_handle sessions[2];
    uint32_t bytes = 0;

    (void)state;
    sessions[0] = start_kernel(NOTHING);
    sessions[1] = start_recorder();
    stop_session(sessions[1], NULL);
    assert_int_equal(find_provider(&SystemProcessProviderGuid, &known, &bytes),
                     ERROR_WMI_GUID_NOT_FOUND);
    assert_int_equal(count_listed(&SystemProcessProviderGuid), 0);
    enable(sessions[0], &SystemProcessProviderGuid, SYSTEM_PROCESS_KW_THREAD);
    assert_int_equal(EnableTraceEx2(sessions[0], &SystemSchedulerProviderGuid, 1, 4, 3, 2, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(count_listed(&SystemProcessProviderGuid), 1);
    assert_int_equal(find_provider(&SystemSchedulerProviderGuid, &known, &bytes), ERROR_SUCCESS);
    assert_int_equal(bytes, sizeof known - sizeof *known.enables);
    assert_int_equal(known.head.InstanceCount, 1);
    assert_int_equal(known.instance.EnableCount, 1);
    assert_int_equal(known.instance.NextOffset, 0);
    assert_int_equal(known.instance.Pid, 0);
    assert_int_equal(known.enables[0].IsEnabled, 1);
    assert_int_equal(known.enables[0].Level, 4);
    assert_int_equal(known.enables[0].LoggerId, sessions[0] & 0xFF);
    assert_int_equal(known.enables[0].MatchAnyKeyword, 3);
    assert_int_equal(known.enables[0].MatchAllKeyword, 2);
    disable(sessions[0], &SystemSchedulerProviderGuid);
    assert_int_equal(find_provider(&SystemSchedulerProviderGuid, &known, &bytes),
                     ERROR_WMI_GUID_NOT_FOUND);
    stop_session(sessions[0], NULL);
    assert_int_equal(count_listed(&SystemProcessProviderGuid), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_keyword_records_its_part),
        FOLDER_TEST(keywords_match_as_those_of_any_provider),
        FOLDER_TEST(flags_and_providers_add_up),
        FOLDER_TEST(state_is_reported_when_it_is_asked_for),
        FOLDER_TEST(timers_and_calls_between_processors_are_distinguished),
        FOLDER_TEST(the_configuration_comes_in_parts),
        FOLDER_TEST(only_a_system_logger_can_have_them),
        FOLDER_TEST(r188_a_rundown_can_have_none),
        FOLDER_TEST(providers_without_events_are_explained),
        FOLDER_TEST(the_enabling_session_is_known),
    };

    return RUN_KERNEL_TESTS("system providers", tests);
}
