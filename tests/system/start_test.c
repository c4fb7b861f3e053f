/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * StartKernelTrace: what its properties may say, and how a session ends by itself.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "system/kernel_fixture.h"

enum {
    READY_THREAD = 50,
    VIRTUAL_ALLOC = 98,
    MEGABYTES = 2,
    LOGGERS = 8,
    MOST_ROUNDS = 2000,
};

/* For StartKernelTrace, whose names are wide. */
static void prepare_wide(struct block *block, uint32_t flags)
{
    prepare_kernel_block(block, flags);
    (void)wide_of(folder_path("k.etl"), (etwas_wchar *)(void *)block->file_name,
                  sizeof block->file_name / sizeof(etwas_wchar));
}

static void expect_refusal(const struct block *given, uint32_t code)
{
    struct block block = *given;
    etwas_trace_handle session = 7;

    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), code);
    assert_int_equal(session, 0); /* R186 */
    assert_int_not_equal(access(folder_path("k.etl"), F_OK), 0);
}

/* R183 */
static void r183_dispatcher_and_virtual_alloc_are_flags_of_it(void **state)
{
    const uint32_t flags = EVENT_TRACE_FLAG_DISPATCHER | EVENT_TRACE_FLAG_VIRTUAL_ALLOC |
                           EVENT_TRACE_FLAG_NO_SYSCONFIG;
    etwas_trace_handle session;
    struct events events;
    struct block block;
    uint32_t allocations = 0;
    uint32_t readied = 0;
    uint32_t echo;
    uint64_t lost;

    (void)state;
    prepare_wide(&block, flags);
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(block.properties.EnableFlags, flags);
    echo = hand_over();
    lost = read_with_loss(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        allocations += is_kernel_event(&events.items[index], &PageFaultGuid, VIRTUAL_ALLOC);
        readied += is_kernel_event(&events.items[index], &thread_class, READY_THREAD) &&
                   u32_at(&events.items[index], 0) == echo;
    }
    assert_in_range(readied + lost, 1, UINT32_MAX);     /* not one that has not slept yet */
    assert_in_range(allocations + lost, 1, UINT32_MAX); /* the stack of a thread */
    free_events(&events);
}

/* R150, R187 */
static void r187_the_other_members_are_those_of_any_start(void **state)
{
    etwas_trace_handle session;
    struct events events;
    struct block block;
    struct block asked;

    (void)state;
    prepare_wide(&block, FLAGS);
    block.properties.BufferSize = 128;
    block.properties.MinimumBuffers = 10;
    block.properties.MaximumBuffers = 40;
    block.properties.MaximumFileSize = MEGABYTES * 20;
    block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_CIRCULAR;
    block.properties.Wnode.ClientContext = 2;
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(block.properties.Wnode.HistoricalContext, session);
    prepare_kernel_block(&asked, 0);
    assert_int_equal(ControlTraceA(session, NULL, &asked.properties, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS);
    assert_int_equal(asked.properties.BufferSize, 128);
    assert_in_range(asked.properties.MinimumBuffers, 10, 40);
    assert_int_equal(asked.properties.MaximumFileSize, MEGABYTES * 20);
    assert_int_equal(asked.properties.LogFileMode & EVENT_TRACE_FILE_MODE_CIRCULAR,
                     EVENT_TRACE_FILE_MODE_CIRCULAR);
    assert_int_equal(asked.properties.Wnode.ClientContext, 2);
    assert_string_equal(asked.file_name, folder_path("k.etl"));
    (void)hand_over();
    read_and_account(session, &events);
    free_events(&events);
}

static void r187_what_no_start_may_say_is_refused(void **state)
{
    struct block block;

    (void)state;
    prepare_wide(&block, FLAGS);
    block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_CIRCULAR; /* without a size */
    expect_refusal(&block, ERROR_INVALID_PARAMETER);
    prepare_wide(&block, FLAGS);
    block.properties.Wnode.ClientContext = 4;
    expect_refusal(&block, ERROR_INVALID_PARAMETER);
    prepare_wide(&block, FLAGS);
    block.properties.Wnode.Flags = 0;
    expect_refusal(&block, ERROR_INVALID_PARAMETER);
    prepare_wide(&block, FLAGS);
    block.properties.Wnode.BufferSize = sizeof block.properties - 1;
    expect_refusal(&block, ERROR_BAD_LENGTH);
    prepare_wide(&block, FLAGS);
    block.properties.LogFileMode = 0;
    block.properties.LogFileNameOffset = 0;
    expect_refusal(&block, ERROR_BAD_PATHNAME);
}

/* R51, and what a kernel's session cannot be: one process's own. */
static void r51_a_kernel_trace_is_neither_private_nor_paged(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_PRIVATE_LOGGER_MODE,
                                     EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC,
                                     EVENT_TRACE_USE_PAGED_MEMORY};
    static const etwas_wchar name[] = u"what is there";
    struct block block;

    (void)state;
    for (size_t index = 0; index < sizeof modes / sizeof *modes; index++) {
        prepare_wide(&block, FLAGS);
        block.properties.LogFileMode |= modes[index];
        expect_refusal(&block, ERROR_INVALID_PARAMETER);
        block.properties.Wnode.Guid = KernelRundownGuid;
        memcpy(block.session_name, name, sizeof name);
        expect_refusal(&block, ERROR_INVALID_PARAMETER);
    }
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
/* R182: StartTrace says it otherwise. */
static void r182_a_start_without_memory_returns_its_code(void **state)
{
    pid_t child = fork_child();

    (void)state;
    if (child == 0) {
        etwas_trace_handle session = 7;
        struct block block;

        limit_address_space((uint64_t)MEGABYTES << 20);
        prepare_wide(&block, FLAGS);
        block.properties.BufferSize = 16384;
        CHECK_IN_CHILD(StartKernelTrace(&session, &block.properties, NULL, 0) == ERROR_OUTOFMEMORY);
        CHECK_IN_CHILD(session == 0);
        prepare_kernel_block(&block, FLAGS);
        block.properties.BufferSize = 16384;
        CHECK_IN_CHILD(StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties) ==
                       ERROR_NOT_ENOUGH_MEMORY);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
}
#else
static void r182_a_start_without_memory_returns_its_code(void **state)
{
    (void)state;
    print_message("skipped: a sanitizer needs address space of its own\n");
    skip();
}
#endif

/*
 * R180: the name goes where there is room for it; whether the caller has put one there is nothing
 * to it.
 */
static void r180_the_name_is_put_in(void **state)
{
    static const etwas_wchar name[] = KERNEL_LOGGER_NAMEW;
    etwas_trace_handle session;
    struct block block;

    (void)state;
    prepare_wide(&block, FLAGS);
    memset(block.session_name, 'x', sizeof block.session_name);
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    assert_memory_equal(block.session_name, name, sizeof name);
    stop_session(session, NULL);
    assert_int_equal(unlink(folder_path("k.etl")), 0);
    block.properties.Wnode.BufferSize =
        (uint32_t)(block.properties.LoggerNameOffset + sizeof name - sizeof *name);
    block.properties.LogFileNameOffset = 0;
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    expect_refusal(&block, ERROR_BAD_LENGTH);
}

/* R46: a rundown is one of the eight, too. */
static void r46_every_kind_of_system_logger_counts(void **state)
{
    etwas_trace_handle sessions[LOGGERS];
    etwas_trace_handle another = 7;
    struct block block;

    (void)state;
    for (uint32_t number = 0; number < LOGGERS - 1; number++) {
        char name[] = "logger 0";

        name[sizeof name - 2] = (char)('0' + number);
        prepare_kernel_block(&block, EVENT_TRACE_FLAG_NO_SYSCONFIG);
        block.properties.Wnode.Guid =
            number == 0 ? KernelRundownGuid : (etwas_guid){number, 0, 0, {0}};
        block.properties.LogFileMode = EVENT_TRACE_SYSTEM_LOGGER_MODE | EVENT_TRACE_BUFFERING_MODE;
        block.properties.LogFileNameOffset = 0;
        sessions[number] = start_block(name, &block);
    }
    sessions[LOGGERS - 1] = start_kernel(FLAGS);
    prepare_kernel_block(&block, FLAGS);
    block.properties.Wnode.Guid = GlobalLoggerGuid;
    block.properties.LogFileMode = EVENT_TRACE_BUFFERING_MODE;
    block.properties.LogFileNameOffset = 0;
    assert_int_equal(StartTraceA(&another, GLOBAL_LOGGER_NAMEA, &block.properties),
                     ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(another, 0);
    for (uint32_t number = 0; number < LOGGERS; number++) {
        stop_session(sessions[number], NULL);
    }
}

/* R49: by its full file; nothing of it is left, and there may be another. */
static void r49_a_full_file_ends_it(void **state)
{
    struct belongings before;
    struct events events;
    struct block block;
    etwas_trace_handle session;
    uint32_t code = ERROR_SUCCESS;

    (void)state;
    stop_session(start_kernel(FLAGS), NULL);
    before = count_belongings();
    prepare_wide(&block, FLAGS | EVENT_TRACE_FLAG_SYSTEMCALL);
    block.properties.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
    block.properties.MaximumFileSize = MEGABYTES;
    assert_int_equal(StartKernelTrace(&session, &block.properties, NULL, 0), ERROR_SUCCESS);
    for (uint32_t round = 0; code == ERROR_SUCCESS && round < MOST_ROUNDS; round++) {
        struct block asked;

        (void)hand_over();
        prepare_kernel_block(&asked, 0);
        code = ControlTraceA(session, NULL, &asked.properties, EVENT_TRACE_CONTROL_QUERY);
    }
    assert_int_not_equal(code, ERROR_SUCCESS);
    assert_nothing_gained(&before);
    read_events(folder_path("k.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
    assert_in_range(events.count, 10000, UINT32_MAX);
    free_events(&events);
    stop_session(start_kernel(FLAGS), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r183_dispatcher_and_virtual_alloc_are_flags_of_it),
        FOLDER_TEST(r187_the_other_members_are_those_of_any_start),
        FOLDER_TEST(r187_what_no_start_may_say_is_refused),
        FOLDER_TEST(r51_a_kernel_trace_is_neither_private_nor_paged),
        FOLDER_TEST(r182_a_start_without_memory_returns_its_code),
        FOLDER_TEST(r180_the_name_is_put_in),
        FOLDER_TEST(r46_every_kind_of_system_logger_counts),
        FOLDER_TEST(r49_a_full_file_ends_it),
    };

    return RUN_KERNEL_TESTS("starts of a system logger", tests);
}
