/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * System loggers beside the NT Kernel Logger.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/event_count.h"

enum {
    IMAGE_LOAD = 10
};

/* A block for StartKernelTrace, whose names are wide. */
static void prepare_rundown(struct block *block, const char *name)
{
    prepare_kernel_block(block, 0);
    block->properties.Wnode.Guid = KernelRundownGuid;
    (void)wide_of(name, (etwas_wchar *)(void *)block->session_name,
                  sizeof block->session_name / sizeof(etwas_wchar));
    (void)wide_of(folder_path("k.etl"), (etwas_wchar *)(void *)block->file_name,
                  sizeof block->file_name / sizeof(etwas_wchar));
}

/* Counts the events of a process. Events of both classes have its id at this offset. */
static uint32_t count_rundown(const struct events *events, const etwas_guid *class_guid,
                              uint32_t process_id)
{
    const size_t offset = class_guid == &ProcessGuid ? 8 : 16;

    return count_saying(events, class_guid, RUNDOWN_START, offset, process_id);
}

/* Beginnings, ends, and what is there at the end. */
static bool happens(const struct event *event)
{
    static const uint8_t types[] = {THREAD_START, THREAD_END, RUNDOWN_END, SWITCH, IMAGE_LOAD};
    const etwas_guid *const classes[] = {&ProcessGuid, &thread_class, &ImageLoadGuid};

    for (size_t type = 0; type < sizeof types; type++) {
        for (size_t class = 0; class < sizeof classes / sizeof *classes; class ++) {
            if (is_kernel_event(event, classes[class], types[type])) {
                return true;
            }
        }
    }
    return false;
}

static void r188_a_rundown_has_what_exists_and_no_events(void **state)
{
    uint32_t here = (uint32_t)getpid();
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    etwas_trace_handle session;
    struct events events;
    struct block block;

    (void)state;
    prepare_rundown(&block, "what is there");
    block.properties.EnableFlags = EVENT_TRACE_FLAG_CSWITCH;
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    (void)run_child();
    (void)hand_over();
    read_and_account(session, &events);
    assert_int_equal(count_threads(&events, RUNDOWN_START, here, thread), 1);
    assert_in_range(count_class(&events, &EventTraceConfigGuid), 2, events.count);
    assert_int_equal(count_rundown(&events, &ProcessGuid, here), 1);
    assert_in_range(count_rundown(&events, &ImageLoadGuid, here), 2, events.count);
    for (size_t index = 0; index < events.count; index++) {
        const struct event *event = &events.items[index];

        if (happens(event)) {
            fail_msg("event %zu of %zu, type %u, says %u, %u, %u", index, (size_t)events.count,
                     event->record.EventHeader.EventDescriptor.Opcode, u32_at(event, 8),
                     u32_at(event, 12), u32_at(event, 16));
        }
    }
    free_events(&events);
}

static void r181_a_rundown_has_the_callers_name(void **state)
{
    static const etwas_wchar name[] = u"what is there";
    etwas_trace_handle session;
    etwas_trace_handle second = 7;
    struct block block;
    struct block other;

    (void)state;
    prepare_rundown(&block, "what is there");
    other = block;
    other.properties.LoggerNameOffset = 0;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(second, 0);
    other = block;
    memset(other.session_name, 0, sizeof name);
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    memset(other.session_name, 'x', sizeof other.session_name);
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    other = block;
    other.properties.Wnode.BufferSize = 0;
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0), ERROR_BAD_LENGTH);
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    assert_memory_equal(block.session_name, name, sizeof name);
    /* R41 */
    prepare_rundown(&other, "another");
    assert_int_equal(StartKernelTrace(&second, &other.properties, NULL, 0), ERROR_ALREADY_EXISTS);
    stop_session(session, NULL);
}

/* Without the configuration, if that is not wanted. */
static void r188_a_rundown_heeds_no_sysconfig(void **state)
{
    etwas_trace_handle session;
    struct events events;
    struct block block;

    (void)state;
    prepare_rundown(&block, "what is there");
    block.properties.EnableFlags = EVENT_TRACE_FLAG_NO_SYSCONFIG;
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    read_and_account(session, &events);
    assert_int_equal(count_class(&events, &EventTraceConfigGuid), 0);
    assert_in_range(count_class(&events, &thread_class), 1, events.count);
    free_events(&events);
}

static int run_down_as_nobody(void)
{
    struct block block;
    etwas_trace_handle session;

    prepare_rundown(&block, "what is there");
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    block.properties.LogFileNameOffset = 0;
    if (setgid(65534) != 0 || setuid(65534) != 0) {
        return 1;
    }
    if (StartKernelTrace(&session, &block.properties, NULL, 0) != ERROR_SUCCESS) {
        return 2;
    }
    return ControlTraceW(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP) ==
                   ERROR_SUCCESS
               ? 0
               : 3;
}

static void without_leave_for_events_a_rundown_is_possible(void **state)
{
    (void)state;
    expect_as_nobody(run_down_as_nobody);
}

/* ---- several --------------------------------------------------------------------------------- */

enum {
    LOGGERS = 8
};

static const char *file_of(uint32_t number)
{
    char name[32];

    (void)snprintf(name, sizeof name, "%u.etl", number);
    return folder_path(name);
}

/* Starts a system logger: by the mode SYSTEM_LOGGER, unless it has the GUID of one. */
static uint32_t try_logger(uint32_t number, uint32_t flags, const etwas_guid *guid,
                           etwas_trace_handle *session)
{
    struct block block;
    char name[32];

    prepare_block(&block, file_of(number));
    block.properties.Wnode.ClientContext = 1;
    block.properties.EnableFlags = flags;
    if (guid != NULL) {
        block.properties.Wnode.Guid = *guid;
    } else {
        block.properties.LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
    }
    (void)snprintf(name, sizeof name, "logger %u", number);
    return StartTraceA(session, name, &block.properties);
}

static void read_logger(etwas_trace_handle session, uint32_t number, struct events *events)
{
    etwas_session_counts counts;

    stop_session(session, &counts);
    expect_nothing_lost(counts);
    read_events(file_of(number), PROCESS_TRACE_MODE_RAW_TIMESTAMP, events);
}

/* R42: by the mode, or by the GUID; what each records is its own. */
static void r42_each_system_logger_has_its_own_flags(void **state)
{
    const uint32_t threads = EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    const uint32_t switches = EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    etwas_trace_handle sessions[3];
    struct events events;
    uint32_t child;

    (void)state;
    sessions[0] = start_kernel(0);
    assert_int_equal(try_logger(1, threads, NULL, &sessions[1]), ERROR_SUCCESS);
    assert_int_equal(try_logger(2, switches, &GlobalLoggerGuid, &sessions[2]), ERROR_SUCCESS);
    child = (uint32_t)run_child();
    (void)hand_over();
    read_logger(sessions[1], 1, &events);
    assert_int_equal(count_threads(&events, THREAD_START, child, 0), 3);
    assert_int_equal(count_class(&events, &EventTraceConfigGuid), 0);
    for (size_t index = 0; index < events.count; index++) {
        assert_false(is_kernel_event(&events.items[index], &thread_class, SWITCH));
    }
    free_events(&events);
    read_logger(sessions[2], 2, &events);
    assert_in_range(count_class(&events, &thread_class), HANDOVERS, UINT32_MAX);
    for (size_t index = 0; index < events.count; index++) {
        assert_true(is_kernel_event(&events.items[index], &thread_class, SWITCH) ||
                    is_account(&events.items[index]));
    }
    free_events(&events);
    read_and_account(sessions[0], &events);
    assert_int_equal(count_class(&events, &thread_class), 0);
    assert_in_range(count_class(&events, &EventTraceConfigGuid), 2, events.count);
    free_events(&events);
}

/* R43: the name says which one it is, whatever the mode. */
static void r43_the_kernel_logger_may_have_the_mode(void **state)
{
    struct block block;
    etwas_trace_handle session;
    etwas_trace_handle second;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    block.properties.Wnode.Guid = control_guid;
    block.properties.LogFileMode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
    session = start_block(KERNEL_LOGGER_NAMEA, &block);
    assert_memory_equal(&block.properties.Wnode.Guid, &SystemTraceControlGuid, sizeof(etwas_guid));
    assert_int_equal(try_logger(1, FLAGS, &SystemTraceControlGuid, &second),
                     ERROR_INVALID_PARAMETER);
    stop_session(session, NULL);
}

/* R43: a caller that names the kernel logger does not mean another session. */
static void r43_the_kernel_loggers_guid_goes_with_its_name(void **state)
{
    struct block block;
    etwas_trace_handle session;
    etwas_trace_handle other;

    (void)state;
    prepare_kernel_block(&block, FLAGS);
    session = start_block(KERNEL_LOGGER_NAMEA, &block);
    assert_int_equal(try_logger(1, FLAGS, NULL, &other), ERROR_SUCCESS);
    prepare_kernel_block(&block, 0);
    assert_int_equal(ControlTraceA(0, "another name", &block.properties, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(
        ControlTraceA(session, "logger 1", &block.properties, EVENT_TRACE_CONTROL_STOP),
        ERROR_INVALID_PARAMETER);
    assert_int_equal(
        ControlTraceA(0, "nt kernel LOGGER", &block.properties, EVENT_TRACE_CONTROL_STOP),
        ERROR_SUCCESS);
    prepare_kernel_block(&block, 0);
    assert_int_equal(ControlTraceA(other, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP),
                     ERROR_SUCCESS);
}

static void r46_there_are_eight_system_loggers_at_most(void **state)
{
    const uint32_t threads = EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_NO_SYSCONFIG;
    etwas_trace_handle sessions[LOGGERS];
    etwas_trace_handle another = 7;
    struct events events;
    uint32_t child;

    (void)state;
    for (uint32_t number = 0; number < LOGGERS; number++) {
        assert_int_equal(try_logger(number, threads, NULL, &sessions[number]), ERROR_SUCCESS);
    }
    assert_int_equal(try_logger(LOGGERS, threads, NULL, &another), ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(another, 0);
    assert_int_not_equal(access(file_of(LOGGERS), F_OK), 0);
    another = start_recorder(); /* of other sessions there may be more */
    child = (uint32_t)run_child();
    for (uint32_t number = 0; number < LOGGERS; number++) {
        read_logger(sessions[number], number, &events);
        assert_int_equal(count_threads(&events, THREAD_START, child, 0), 3);
        assert_int_equal(count_threads(&events, THREAD_END, child, 0), 3);
        free_events(&events);
    }
    stop_session(another, NULL);
    assert_int_equal(try_logger(LOGGERS, threads, NULL, &another), ERROR_SUCCESS);
    stop_session(another, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r188_a_rundown_has_what_exists_and_no_events),
        FOLDER_TEST(r181_a_rundown_has_the_callers_name),
        FOLDER_TEST(r188_a_rundown_heeds_no_sysconfig),
        FOLDER_TEST(without_leave_for_events_a_rundown_is_possible),
        FOLDER_TEST(r42_each_system_logger_has_its_own_flags),
        FOLDER_TEST(r43_the_kernel_logger_may_have_the_mode),
        FOLDER_TEST(r43_the_kernel_loggers_guid_goes_with_its_name),
        FOLDER_TEST(r46_there_are_eight_system_loggers_at_most),
    };

    return RUN_KERNEL_TESTS("system loggers", tests);
}
