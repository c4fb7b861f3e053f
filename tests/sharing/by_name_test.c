/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Providers of other programs that a session enables by a name or a pattern: from their first event
 * on, whenever they are registered, and as lists of providers show them.
 */
#include <ck_pr.h>
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sharing/programs.h"

TRACELOGGING_DEFINE_PROVIDER(till, "Shop.Till",
                             (0x3c5a1f20, 0x8e44, 0x4b1d, 1, 2, 3, 4, 5, 6, 7, 8));
TRACELOGGING_DEFINE_PROVIDER(stock, "Shop.Stock",
                             (0x3c5a1f21, 0x8e44, 0x4b1d, 1, 2, 3, 4, 5, 6, 7, 8));
TRACELOGGING_DEFINE_PROVIDER(other, "Other", (0x3c5a1f22, 0x8e44, 0x4b1d, 1, 2, 3, 4, 5, 6, 7, 8));

static const etwas_guid till_guid = {0x3c5a1f20, 0x8e44, 0x4b1d, {1, 2, 3, 4, 5, 6, 7, 8}};
static const etwas_guid key = {0x77777777, 7, 7, {7, 7, 7, 7, 7, 7, 7, 7}};

enum {
    TIMEOUT_MS = 60000,
    TIMES = 5,
};

static uint32_t enable_name(etwas_trace_handle session, uint8_t level, const char *name)
{
    EVENT_FILTER_DESCRIPTOR filter = {.Ptr = (uint64_t)(uintptr_t)name,
                                      .Size = (uint32_t)strlen(name) + 1,
                                      .Type = ETWAS_FILTER_TYPE_PROVIDER_NAME};
    ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
                                          .EnableFilterDesc = &filter,
                                          .FilterDescCount = 1};

    return EnableTraceEx2(session, &key, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, 0, 0,
                          TIMEOUT_MS, &parameters);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Registers, writes and ends at once. */
static int short_program(void)
{
    CHECK_IN_CHILD(TraceLoggingRegister(till) == ERROR_SUCCESS);
    TraceLoggingWrite(till, "Sale");
    CHECK_IN_CHILD(TraceLoggingRegister(stock) == ERROR_SUCCESS);
    CHECK_IN_CHILD(TraceLoggingRegister(other) == ERROR_SUCCESS);
    TraceLoggingWrite(stock, "Sale");
    TraceLoggingWrite(other, "Sale");
    TraceLoggingUnregister(other);
    TraceLoggingUnregister(stock);
    TraceLoggingUnregister(till);
    return 0;
}

/* Registers, and writes each time it may, as often as it is enabled. */
static int long_program(void)
{
    CHECK_IN_CHILD(TraceLoggingRegister(till) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    for (uint32_t round = 1; round <= 3; round++) {
        CHECK_IN_CHILD(comes_to(&board->go, round));
        TraceLoggingWrite(till, "Sale", TraceLoggingLevel(3));
        ck_pr_inc_32(&board->steps);
    }
    TraceLoggingUnregister(till);
    return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void WINAPI wait_for_lock(const etwas_guid *source, uint32_t code, uint8_t level,
                                 uint64_t any, uint64_t all, EVENT_FILTER_DESCRIPTOR *filter,
                                 void *context)
{
    (void)source;
    (void)level;
    (void)any;
    (void)all;
    (void)filter;
    (void)context;
    if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
        ck_pr_inc_32(&board->steps);
        (void)pthread_mutex_lock(&lock);
        (void)pthread_mutex_unlock(&lock);
    }
}

/* Registers a provider with a lock that another one's callback waits for. */
static int locking_program(void)
{
    CHECK_IN_CHILD(pthread_mutex_lock(&lock) == 0);
    CHECK_IN_CHILD(TraceLoggingRegisterEx(till, wait_for_lock, NULL) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->steps, 1));
    CHECK_IN_CHILD(TraceLoggingRegister(stock) == ERROR_SUCCESS);
    TraceLoggingWrite(stock, "Sale");
    CHECK_IN_CHILD(pthread_mutex_unlock(&lock) == 0);
    TraceLoggingUnregister(stock);
    TraceLoggingUnregister(till);
    return 0;
}

/* ---- what is in the file --------------------------------------------------------------------- */

static uint32_t events_of_program;

static void WINAPI count_one(EVENT_RECORD *record)
{
    events_of_program +=
        memcmp(&record->EventHeader.ProviderId.Data2, &till_guid.Data2, 12) == 0 ? 1 : 0;
}

static uint32_t count_written(const char *file)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)file,
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = count_one};
    etwas_trace_handle trace = OpenTraceA(&logfile);

    events_of_program = 0;
    assert_int_not_equal(trace, INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    return events_of_program;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void providers_that_come_later_are_enabled_from_their_first_event_on(void **state)
{
    etwas_trace_handle session = start_in_file("by name", "log.etl");

    (void)state;
    assert_int_equal(enable_name(session, 5, "shop.*"), ERROR_SUCCESS);
    for (uint32_t times = 0; times < TIMES; times++) {
        assert_int_equal(exit_code_of(start_program(short_program)), 0);
    }
    assert_int_equal(stop_by_handle(session), 0);
    assert_int_equal(count_written(folder_path("log.etl")), 2 * TIMES);
}

static void one_is_registered_while_anothers_callback_waits_for_it(void **state)
{
    etwas_trace_handle session = start_in_file("by name", "log.etl");
    int program = start_program(locking_program);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(enable_name(session, 5, "shop.*"), ERROR_SUCCESS);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(stop_by_handle(session), 0);
    assert_int_equal(count_written(folder_path("log.etl")), 1);
}

/* How the sessions enable the provider; the level of the first. */
static uint32_t enabling_level(const etwas_guid *guid, uint32_t *sessions)
{
    static uint8_t answer[4096];
    const TRACE_PROVIDER_INSTANCE_INFO *instance = (const void *)(answer + sizeof(TRACE_GUID_INFO));
    uint32_t bytes;

    assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryInfo, (void *)(uintptr_t)guid,
                                           sizeof *guid, answer, sizeof answer, &bytes),
                     ERROR_SUCCESS);
    *sessions = instance->EnableCount;
    return instance->EnableCount != 0 ? ((const TRACE_ENABLE_INFO *)(instance + 1))->Level : 0;
}

static void next_round(uint32_t round)
{
    ck_pr_store_32(&board->go, round);
    assert_true(comes_to(&board->steps, round));
}

static void one_that_runs_is_enabled_and_disabled_and_lists_have_it(void **state)
{
    etwas_trace_handle session = start_in_file("by name", "log.etl");
    int program = start_program(long_program);
    uint32_t sessions;
    char name[32];

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(enabling_level(&till_guid, &sessions), 0);
    assert_int_equal(enable_name(session, 3, "*.Till"), ERROR_SUCCESS);
    assert_int_equal(enabling_level(&till_guid, &sessions), 3);
    assert_int_equal(sessions, 1);
    next_round(1);
    assert_int_equal(EnableTraceEx2(session, &till_guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 2, 0,
                                    0, TIMEOUT_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(enabling_level(&till_guid, &sessions), 2);
    assert_int_equal(sessions, 1);
    next_round(2);
    assert_int_equal(EnableTraceEx2(session, &key, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0,
                                    TIMEOUT_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(EnableTraceEx2(session, &till_guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0,
                                    0, TIMEOUT_MS, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(enabling_level(&till_guid, &sessions), 0);
    assert_int_equal(sessions, 0);
    next_round(3);
    assert_int_equal(etwas_provider_name(&key, name, sizeof name), ERROR_NOT_FOUND);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(stop_by_handle(session), 0);
    assert_int_equal(count_written(folder_path("log.etl")), 1);
}

/* Another process sees what the GUID stands for, which nobody has registered. */
static int asking_program(void)
{
    char name[32];

    CHECK_IN_CHILD(etwas_share() == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_provider_name(&key, name, sizeof name) == ERROR_SUCCESS);
    CHECK_IN_CHILD(strcmp(name, "Shop.*") == 0);
    return 0;
}

static void the_guid_of_a_pattern_has_the_pattern_for_its_name(void **state)
{
    etwas_trace_handle session = start_in_file("by name", "log.etl");

    char name[32];

    (void)state;
    assert_int_equal(enable_name(session, 3, "Shop.*"), ERROR_SUCCESS);
    assert_int_equal(etwas_provider_name(&key, name, sizeof name), ERROR_SUCCESS);
    assert_string_equal(name, "Shop.*");
    assert_int_equal(exit_code_of(start_program(asking_program)), 0);
    assert_int_equal(stop_by_handle(session), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(providers_that_come_later_are_enabled_from_their_first_event_on),
        PROGRAMS_TEST(one_is_registered_while_anothers_callback_waits_for_it),
        PROGRAMS_TEST(one_that_runs_is_enabled_and_disabled_and_lists_have_it),
        PROGRAMS_TEST(the_guid_of_a_pattern_has_the_pattern_for_its_name),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
