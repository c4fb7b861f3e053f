/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A library without runtime/system/: it links, it refuses kernel events with a reason, and logs
 * what programs write.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <etwas/KernelTraceControl.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const GUID provider_guid = {0x1c5e7f0a, 0x3f0d, 0x4c15, {1, 2, 3, 4, 5, 6, 7, 9}};
static char path[] = "/tmp/etwas-no-system-XXXXXX";

struct session_block {
    EVENT_TRACE_PROPERTIES properties;
    char logger_name[64];
    char log_file_name[64];
};

static uint32_t start_system_logger(const char *name, uint32_t mode, uint32_t flags)
{
    struct session_block block = {
        .properties = {.Wnode.BufferSize = sizeof block,
                       .Wnode.Flags = WNODE_FLAG_TRACED_GUID,
                       .Wnode.ClientContext = 1,
                       .LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | mode,
                       .EnableFlags = flags,
                       .LoggerNameOffset = offsetof(struct session_block, logger_name),
                       .LogFileNameOffset = offsetof(struct session_block, log_file_name)}};
    etwas_trace_handle session = 0;
    uint32_t code;

    assert_true(strlen(path) < sizeof block.log_file_name);
    memcpy(block.log_file_name, path, strlen(path) + 1);
    (void)unlink(path);
    code = StartTraceA(&session, name, &block.properties);
    assert_int_not_equal(access(path, F_OK), 0); /* a start that is refused leaves no file */
    return code;
}

static void assert_reason(void)
{
    char text[512];

    assert_in_range(etwas_kernel_refusal(text, sizeof text), 1, sizeof text - 1);
    assert_non_null(strstr(text, "no kernel events"));
}

static void a_session_that_asks_for_kernel_events_is_refused_with_a_reason(void **state)
{
    (void)state;
    assert_int_equal(start_system_logger(KERNEL_LOGGER_NAMEA, 0, EVENT_TRACE_FLAG_PROCESS),
                     ERROR_NOT_SUPPORTED);
    assert_reason();
    assert_int_equal(start_system_logger("own", EVENT_TRACE_SYSTEM_LOGGER_MODE, 0),
                     ERROR_NOT_SUPPORTED);
    assert_reason();
    assert_int_equal(etwas_kernel_scope(ETWAS_KERNEL_SCOPE_PROCESS), ERROR_SUCCESS);
    assert_int_equal(
        start_system_logger("own", EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_THREAD),
        ERROR_NOT_SUPPORTED);
    assert_reason();
}

static void arguments_are_checked_as_ever(void **state)
{
    (void)state;
    assert_int_equal(start_system_logger("own", EVENT_TRACE_SYSTEM_LOGGER_MODE, 0x88000000),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_kernel_keywords(&SystemProcessProviderGuid), 0);
}

static void a_programs_events_are_logged(void **state)
{
    static const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4};
    etwas_session_counts counts;
    etwas_trace_handle session;
    REGHANDLE provider;
    uint32_t rung;

    (void)state;
    assert_int_equal(etwas_start("programs", path, NULL, &session), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4,
                                    0, 0, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &SystemProcessProviderGuid,
                                    EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_kernel_rung(session, &rung), ERROR_NOT_SUPPORTED);
    assert_int_equal(EventRegister(&provider_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_int_equal(EventWrite(provider, &event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    assert_int_equal(etwas_stop(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.recorded, 1);
    assert_int_equal(counts.lost, 0);
}

static int set_up(void **state)
{
    int file = mkstemp(path);

    (void)state;
    return file >= 0 ? close(file) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_that_asks_for_kernel_events_is_refused_with_a_reason),
        cmocka_unit_test(arguments_are_checked_as_ever),
        cmocka_unit_test(a_programs_events_are_logged),
    };

    return cmocka_run_group_tests_name("no system", tests, set_up, tear_down);
}
