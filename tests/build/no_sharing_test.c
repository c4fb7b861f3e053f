/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A library without runtime/sharing/ and runtime/registry/: it links, it refuses sessions that must
 * be shared, and every other session is this process's alone.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/recorder.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const GUID provider_guid = {0x1c5e7f0a, 0x3f0d, 0x4c15, {1, 2, 3, 4, 5, 6, 7, 10}};
static char folder[] = "/tmp/etwas-no-sharing-XXXXXX";
static char path[64];

struct session_block {
    EVENT_TRACE_PROPERTIES properties;
    char logger_name[64];
    char log_file_name[64];
};

static struct session_block block_of(uint32_t mode)
{
    struct session_block block = {
        .properties = {.Wnode.BufferSize = sizeof block,
                       .Wnode.Flags = WNODE_FLAG_TRACED_GUID,
                       .Wnode.ClientContext = 1,
                       .LogFileMode = mode,
                       .LoggerNameOffset = offsetof(struct session_block, logger_name),
                       .LogFileNameOffset = offsetof(struct session_block, log_file_name)}};

    (void)strcpy(block.log_file_name, path);
    return block;
}

static uint32_t entries_of_folder(void)
{
    DIR *entries = opendir(folder);
    uint32_t count = 0;

    while (entries != NULL && readdir(entries) != NULL) {
        count++;
    }
    (void)closedir(entries);
    return count - 2; /* . and .. */
}

static void a_session_that_must_be_shared_is_refused(void **state)
{
    const etwas_session_options shared = {.sharing = ETWAS_SHARING_USER};
    const etwas_session_options listed = {.sharing = ETWAS_SHARING_SNAPSHOTS,
                                          .log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    etwas_trace_handle session;

    (void)state;
    assert_int_equal(etwas_start("shared", path, &shared, &session), ERROR_NOT_SUPPORTED);
    assert_int_not_equal(access(path, F_OK), 0); /* a start that is refused leaves no file */
    assert_int_equal(etwas_start("listed", NULL, &listed, &session), ERROR_NOT_SUPPORTED);
}

static void the_process_does_not_take_part(void **state)
{
    char text[256] = "text";

    (void)state;
    assert_int_equal(etwas_share(), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_sharing_state(), ERROR_CANCELLED);
    assert_int_equal(etwas_share_nothing(), ERROR_SUCCESS);
    assert_int_equal(etwas_sharing_folder(NULL, 0, text, sizeof text), ERROR_NOT_FOUND);
    assert_string_equal(text, "");
    assert_int_equal(etwas_sharing_folder(NULL, 0, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_snapshot_all(folder, 0, NULL, NULL), ERROR_NOT_SUPPORTED);
    assert_int_equal(etwas_snapshot_all(NULL, 0, NULL, NULL), ERROR_BAD_PATHNAME);
    assert_int_equal(entries_of_folder(), 0);
}

static void other_processes_have_no_sessions_and_providers(void **state)
{
    struct session_block block = block_of(0);
    EVENT_TRACE_PROPERTIES *blocks[1] = {&block.properties};
    etwas_session_counts counts;
    etwas_retention retention;
    uint32_t found = 1;
    uint32_t guids = 1;
    char name[64];

    (void)state;
    assert_int_equal(QueryAllTracesA(blocks, 1, &found), ERROR_SUCCESS);
    assert_int_equal(found, 0);
    assert_int_equal(ControlTraceA(0, "nobody's", &block.properties, EVENT_TRACE_CONTROL_STOP),
                     ERROR_WMI_INSTANCE_NOT_FOUND);
    assert_int_equal(EnumerateTraceGuids(NULL, 0, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnumerateTraceGuids(&(TRACE_GUID_PROPERTIES *){NULL}, 0, &guids),
                     ERROR_SUCCESS);
    assert_int_equal(guids, 0);
    assert_int_equal(etwas_provider_name(&provider_guid, name, sizeof name), ERROR_NOT_FOUND);
    /* the handle of a session that another process would host */
    assert_int_equal(etwas_counts(UINT64_C(0x100000041), &counts), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_stop(UINT64_C(0x100000041), NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_retention_query(UINT64_C(0x100000041), &retention, NULL, 0),
                     ERROR_INVALID_HANDLE);
    assert_int_equal(EnableTraceEx2(UINT64_C(0x100000041), &provider_guid,
                                    EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0, 0, 0, NULL),
                     ERROR_INVALID_PARAMETER);
}

static void a_session_is_this_processs_alone(void **state)
{
    static const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4};
    struct session_block block = block_of(EVENT_TRACE_FILE_MODE_SEQUENTIAL);
    etwas_session_counts counts;
    etwas_trace_handle session;
    REGHANDLE provider;

    (void)state;
    assert_int_equal(StartTraceA(&session, "alone", &block.properties), ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &provider_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4,
                                    0, 0, 0, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(EventRegister(&provider_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    assert_int_equal(EventWrite(provider, &event, 0, NULL), ERROR_SUCCESS);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
    assert_int_equal(ControlTraceA(0, "alone", &block.properties, EVENT_TRACE_CONTROL_QUERY),
                     ERROR_SUCCESS);
    assert_int_equal(etwas_stop(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.recorded, 1);
    assert_int_equal(counts.lost, 0);
    assert_int_equal(counts.unshared, ETWAS_UNSHARED_ASKED);
    assert_int_equal(entries_of_folder(), 1); /* the log file */
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL && setenv("ETWAS_RUNTIME_DIR", folder, 1) == 0 &&
                   snprintf(path, sizeof path, "%s/log.etl", folder) > 0
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_that_must_be_shared_is_refused),
        cmocka_unit_test(the_process_does_not_take_part),
        cmocka_unit_test(other_processes_have_no_sessions_and_providers),
        cmocka_unit_test(a_session_is_this_processs_alone),
    };

    return cmocka_run_group_tests_name("no sharing", tests, set_up, tear_down);
}
