/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * KernelTraceControl.h: bad arguments are told from what is not in this release, and a handle is
 * never left as it was (R186).
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <etwas/KernelTraceControl.h>

static const uint32_t pids[] = {1};

static void r186_a_kernel_session_that_cannot_start_gives_handle_zero(void **state)
{
    EVENT_TRACE_PROPERTIES properties;
    TRACEHANDLE handle = 7;

    (void)state;
    memset(&properties, 0, sizeof(properties));
    assert_int_equal(StartKernelTrace(&handle, &properties, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_true(handle == 0);
    handle = 7;
    assert_int_equal(StartKernelTrace(&handle, NULL, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_true(handle == 0);
    assert_int_equal(StartKernelTrace(NULL, &properties, NULL, 0), ERROR_INVALID_PARAMETER);
}

static void r186_a_heap_session_that_cannot_start_gives_handle_zero(void **state)
{
    const WCHAR *name = ETWAS_TEXT("heap");
    EVENT_TRACE_PROPERTIES properties;
    TRACEHANDLE handle = 7;

    (void)state;
    memset(&properties, 0, sizeof(properties));
    assert_int_equal(StartHeapTrace(&handle, &properties, name, pids, 1, NULL, 0),
                     ERROR_NOT_SUPPORTED);
    assert_true(handle == 0);
    handle = 7;
    assert_int_equal(StartHeapTrace(&handle, NULL, name, pids, 1, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    assert_true(handle == 0);
    assert_int_equal(StartHeapTrace(&handle, &properties, NULL, pids, 1, NULL, 0),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(StartHeapTrace(NULL, &properties, name, pids, 1, NULL, 0),
                     ERROR_INVALID_PARAMETER);
}

static void updating_and_merging_refuse_null_before_they_say_unsupported(void **state)
{
    const WCHAR *files[] = {ETWAS_TEXT("a.etl"), ETWAS_TEXT("b.etl")};
    const WCHAR *name = ETWAS_TEXT("heap");
    EVENT_TRACE_PROPERTIES properties;

    (void)state;
    memset(&properties, 0, sizeof(properties));
    assert_int_equal(UpdateHeapTrace(&properties, name, pids, 1, NULL, 0), ERROR_NOT_SUPPORTED);
    assert_int_equal(UpdateHeapTrace(NULL, name, pids, 1, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(UpdateHeapTrace(&properties, NULL, pids, 1, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(CreateMergedTraceFile(ETWAS_TEXT("c.etl"), files, 2, 0), ERROR_NOT_SUPPORTED);
    assert_int_equal(CreateMergedTraceFile(NULL, files, 2, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(CreateMergedTraceFile(ETWAS_TEXT("c.etl"), NULL, 2, 0),
                     ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r186_a_kernel_session_that_cannot_start_gives_handle_zero),
        cmocka_unit_test(r186_a_heap_session_that_cannot_start_gives_handle_zero),
        cmocka_unit_test(updating_and_merging_refuse_null_before_they_say_unsupported),
    };
    return cmocka_run_group_tests_name("kernel_trace_control", tests, NULL, NULL);
}
