/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Groups of providers that are in several programs, and what programs are asked for their state.
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sharing/programs.h"

static const etwas_guid group_guid = {0x77777777, 7, 7, {7, 7, 7, 7, 7, 7, 7, 7}};
static const etwas_guid others_group = {0x88888888, 8, 8, {8, 8, 8, 8, 8, 8, 8, 8}};

enum {
    MEMBERS = 3, /* of the group: two at first, one later */
    TIMEOUT_MS = 60000,
};

/* ---- programs -------------------------------------------------------------------------------- */

/* The group of the next program that is started. */
static const etwas_guid *its_group;
static uint32_t its_number;

static etwas_guid guid_of(uint32_t number)
{
    return (etwas_guid){0x99999999, (uint16_t)number, 9, {9, 9, 9, 9, 9, 9, 9, 9}};
}

/* Writes its number once it may. */
static int modern_program(void)
{
    const etwas_guid guid = guid_of(its_number);
    uint64_t provider = register_modern(&guid, its_group);

    CHECK_IN_CHILD(comes_to(&board->go, 1));
    write_modern(provider, 1, its_number);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(EventUnregister(provider) == ERROR_SUCCESS);
    return 0;
}

static int start_modern(uint32_t number, const etwas_guid *group)
{
    uint32_t before = ck_pr_load_32(&board->registered);
    int child;

    its_number = number;
    its_group = group;
    child = start_program(modern_program);
    assert_true(comes_to(&board->registered, before + 1));
    return child;
}

static uint32_t use_group(etwas_trace_handle session, uint32_t control_code)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
    };

    return EnableTraceEx2(session, &group_guid, control_code, 3, 0, 0, TIMEOUT_MS, &parameters);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/*
 * Each member's number, and of those that were there when they were asked their state, by its own
 * process.
 */
static void expect_members_events(const char *file)
{
    uint32_t numbers[MEMBERS] = {0};
    uint32_t rundowns[MEMBERS] = {0};
    struct events events;

    read_events(file, 0, &events);
    assert_int_equal(events.count, MEMBERS + MEMBERS - 1);
    for (uint32_t index = 0; index < events.count; index++) {
        const EVENT_HEADER *header = &events.items[index].record.EventHeader;
        uint32_t member = header->ProviderId.Data2;
        const etwas_guid guid = guid_of(member);
        uint64_t data[2];

        assert_true(member < MEMBERS);
        assert_memory_equal(&header->ProviderId, &guid, sizeof guid);
        memcpy(data, events.items[index].payload, sizeof data);
        assert_int_equal(header->ProcessId, data[1]);
        rundowns[member] += data[0] == RUNDOWN;
        numbers[member] += data[0] == member;
    }
    for (uint32_t member = 0; member < MEMBERS; member++) {
        assert_int_equal(numbers[member], 1);
        assert_int_equal(rundowns[member], member != MEMBERS - 1);
    }
    free_events(&events);
}

/* As inside one process: provider/group_test.c. */
static void a_group_is_enabled_in_all_programs_that_its_providers_are_in(void **state)
{
    etwas_trace_handle session = start_in_file("group", "log.etl");
    int members[MEMBERS];
    int outsiders[2];

    (void)state;
    for (uint32_t index = 0; index < MEMBERS - 1; index++) {
        members[index] = start_modern(index, &group_guid);
    }
    outsiders[0] = start_modern(MEMBERS, NULL);
    outsiders[1] = start_modern(MEMBERS + 1, &others_group);
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER), ERROR_SUCCESS);
    assert_int_equal(board->enabled, MEMBERS - 1);
    assert_int_equal(board->level, 3);
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_CAPTURE_STATE), ERROR_SUCCESS);
    assert_int_equal(board->captured, MEMBERS - 1);
    members[MEMBERS - 1] = start_modern(MEMBERS - 1, &group_guid);
    assert_true(comes_to(&board->enabled, MEMBERS));
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, MEMBERS + 2));
    assert_int_equal(use_group(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER), ERROR_SUCCESS);
    assert_int_equal(board->disabled, MEMBERS);
    assert_int_equal(board->captured, MEMBERS - 1);
    assert_int_equal(stop_by_handle(session), board->lost);
    ck_pr_store_32(&board->end, 1);
    for (uint32_t index = 0; index < MEMBERS; index++) {
        assert_int_equal(exit_code_of(members[index]), 0);
    }
    assert_int_equal(exit_code_of(outsiders[0]), 0);
    assert_int_equal(exit_code_of(outsiders[1]), 0);
    assert_int_equal(board->enabled + board->disabled, 2 * MEMBERS);
    expect_members_events(folder_path("log.etl"));
}

/* ---- state ----------------------------------------------------------------------------------- */

static uint32_t use(etwas_trace_handle session, uint32_t control_code, uint32_t timeout_ms)
{
    const etwas_guid guid = guid_of(0);

    return EnableTraceEx2(session, &guid, control_code, 3, 0, 0, timeout_ms, NULL);
}

/*
 * What was asked while a program stood still is asked of it when it goes on, and no more than that.
 */
static void a_program_that_stood_still_is_asked_for_its_state(void **state)
{
    etwas_trace_handle session = start_in_file("capture", "log.etl");
    int program = start_modern(0, NULL);

    (void)state;
    assert_int_equal(kill(program, SIGSTOP), 0);
    assert_int_equal(use(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0), ERROR_SUCCESS);
    assert_int_equal(use(session, EVENT_CONTROL_CODE_CAPTURE_STATE, 0), ERROR_SUCCESS);
    assert_int_equal(kill(program, SIGCONT), 0);
    assert_true(comes_to(&board->captured, 1));
    assert_int_equal(board->enabled, 1);
    /* Enabled anew without being asked. */
    assert_int_equal(kill(program, SIGSTOP), 0);
    assert_int_equal(use(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0), ERROR_SUCCESS);
    assert_int_equal(use(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0), ERROR_SUCCESS);
    assert_int_equal(kill(program, SIGCONT), 0);
    assert_int_equal(use(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(board->captured, 1);
    assert_int_equal(stop_by_handle(session), board->lost);
    assert_int_equal(board->captured, 1);
    ck_pr_store_32(&board->go, 1);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(program), 0);
}

/*
 * A program that starts in time to be enabled at once did not exist when the state was requested.
 */
static void a_program_that_comes_later_is_not_asked_for_its_state(void **state)
{
    etwas_trace_handle session = start_in_file("later", "log.etl");
    bool was_in_time;
    int program;

    (void)state;
    assert_int_equal(use(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, TIMEOUT_MS), ERROR_SUCCESS);
    assert_int_equal(use(session, EVENT_CONTROL_CODE_CAPTURE_STATE, TIMEOUT_MS), ERROR_SUCCESS);
    program = start_modern(0, NULL);
    was_in_time = ck_pr_load_32(&board->enabled) == 1;
    assert_int_equal(use(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, TIMEOUT_MS), ERROR_SUCCESS);
    assert_true(board->enabled >= 1 && (board->captured == 0 || !was_in_time));
    assert_int_equal(stop_by_handle(session), board->lost);
    ck_pr_store_32(&board->go, 1);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(program), 0);
}

/* ---- classic providers ----------------------------------------------------------------------- */

enum {
    CALLS = 5
};

/* What the callback was called for, and what it could find out there; in memory that is shared. */
struct call {
    uint32_t request;
    uint32_t level;
    uint32_t flags;
    uint32_t error; /* of the last of these */
    uint64_t session;
};

static struct calls {
    uint32_t count;
    struct call list[CALLS];
} * calls;

static void find_out(struct call *call)
{
    etwas_SetLastError(ERROR_SUCCESS);
    call->level = GetTraceEnableLevel(call->session);
    call->flags = GetTraceEnableFlags(call->session);
    call->error = etwas_GetLastError();
}

static uint32_t note_call(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    struct call *call = &calls->list[calls->count % CALLS];

    (void)context;
    (void)bytes;
    call->request = request;
    call->session = GetTraceLoggerHandle(buffer);
    find_out(call);
    ck_pr_inc_32(&calls->count);
    return ERROR_SUCCESS;
}

/* Asks once more when the session is over. */
static int classic_program(void)
{
    etwas_trace_handle registration;
    struct call after;

    CHECK_IN_CHILD(RegisterTraceGuidsA(note_call, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->registered);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    after.session = calls->list[0].session;
    find_out(&after);
    CHECK_IN_CHILD(after.level == 0 && after.flags == 0 && after.error == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(log_number(after.session, 1) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static void expect_call(uint32_t number, uint32_t request, uint32_t level, uint32_t flags)
{
    const struct call *call = &calls->list[number - 1];

    assert_int_equal(calls->count, number);
    assert_int_equal(call->request, request);
    assert_int_equal(call->level, level);
    assert_int_equal(call->flags, flags);
    assert_int_equal(call->session, calls->list[0].session);
    assert_int_equal(call->error, request == WMI_DISABLE_EVENTS ? (uint32_t)ERROR_INVALID_HANDLE
                                                                : (uint32_t)ERROR_SUCCESS);
}

static uint32_t ask_classic(etwas_trace_handle session, uint32_t control_code, uint8_t level,
                            uint64_t flags)
{
    return EnableTraceEx2(session, &control_guid, control_code, level, flags, 0, TIMEOUT_MS, NULL);
}

/* Starts a program with a classic provider, and enables that. */
static int start_classic(etwas_trace_handle session)
{
    int program;

    calls = shared_memory(sizeof *calls);
    assert_non_null(calls);
    program = start_program(classic_program);
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(ask_classic(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 0x30),
                     ERROR_SUCCESS);
    return program;
}

/* R141, R191: as in provider/callback_test.c and enable_test.c. */
static void r191_a_classic_provider_of_another_program_hears_each_change(void **state)
{
    etwas_trace_handle session = start_in_file("classic", "log.etl");
    int program;

    (void)state;
    program = start_classic(session);
    expect_call(1, WMI_ENABLE_EVENTS, 4, 0x30);
    assert_int_equal(
        ask_classic(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 2, UINT64_C(0x500000007)),
        ERROR_SUCCESS);
    expect_call(2, WMI_ENABLE_EVENTS, 2, 7);
    assert_int_equal(ask_classic(session, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0), ERROR_SUCCESS);
    expect_call(3, WMI_CAPTURE_STATE, 2, 7);
    assert_int_equal(ask_classic(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0),
                     ERROR_SUCCESS);
    expect_call(4, WMI_DISABLE_EVENTS, 0, 0);
    assert_int_equal(ask_classic(session, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0), ERROR_SUCCESS);
    assert_int_equal(ask_classic(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0),
                     ERROR_SUCCESS);
    assert_int_equal(calls->count, 4);
    assert_int_equal(stop_by_handle(session), board->lost);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(program), 0);
    assert_int_equal(calls->count, 4);
}

static int taking_host(void)
{
    etwas_trace_handle session = start_in_file("taker", "taken.etl");
    struct block block;

    CHECK_IN_CHILD(ask_classic(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 2, 7) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    CHECK_IN_CHILD(ask_classic(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0) ==
                   ERROR_SUCCESS);
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(StopTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

/*
 * As in provider/callback_test.c: the former one can do nothing with it any more, and is not told.
 */
static void r192_another_programs_session_takes_a_classic_provider_over(void **state)
{
    etwas_trace_handle session = start_in_file("former", "log.etl");
    int program;
    int taker;

    (void)state;
    program = start_classic(session);
    taker = start_program(taking_host);
    assert_true(comes_to(&board->steps, 1));
    assert_int_equal(calls->count, 2);
    assert_int_equal(calls->list[1].request, WMI_ENABLE_EVENTS);
    assert_int_equal(calls->list[1].level, 2);
    assert_int_not_equal(calls->list[1].session, calls->list[0].session);
    assert_int_equal(ask_classic(session, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0),
                     ERROR_SUCCESS);
    assert_int_equal(stop_by_handle(session), board->lost);
    assert_int_equal(calls->count, 2);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(taker), 0);
    assert_int_equal(calls->count, 3);
    assert_int_equal(calls->list[2].request, WMI_DISABLE_EVENTS);
    assert_int_equal(calls->list[2].session, calls->list[1].session);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(program), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(a_group_is_enabled_in_all_programs_that_its_providers_are_in),
        PROGRAMS_TEST(a_program_that_stood_still_is_asked_for_its_state),
        PROGRAMS_TEST(a_program_that_comes_later_is_not_asked_for_its_state),
        PROGRAMS_TEST(r191_a_classic_provider_of_another_program_hears_each_change),
        PROGRAMS_TEST(r192_another_programs_session_takes_a_classic_provider_over),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
