/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableTraceEx2's filters over programs: each judges for itself what a filter lets through, as one
 * process does (provider/enable_test.c, provider/filter_test.c), and what is wrong has the same
 * codes wherever it is asked.
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <string.h>
#include <unistd.h>

#include "sharing/members.h"

enum {
    EVENTS = 100,
    IDS = 6, /* of events */
    WRITERS = 2,
    TIMEOUT_MS = 60000,
    MANY = MAX_EVENT_FILTER_PID_COUNT,
};

static const etwas_guid modern_guid = {0x99999999, 9, 9, {9, 9, 9, 9, 9, 9, 9, 9}};

static uint32_t enable_filtered(etwas_trace_handle session, const etwas_guid *provider,
                                uint32_t property, EVENT_FILTER_DESCRIPTOR *filters, uint32_t count)
{
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = property,
        .EnableFilterDesc = filters,
        .FilterDescCount = count,
    };

    return EnableTraceEx2(session, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
                          TIMEOUT_MS, &parameters);
}

static EVENT_FILTER_DESCRIPTOR filter_of(uint32_t type, const void *data, size_t bytes)
{
    return (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)data, (uint32_t)bytes, type};
}

/* ---- processes and programs ------------------------------------------------------------------ */

static uint32_t enable_processes(etwas_trace_handle session, const uint32_t *ids, uint32_t count)
{
    EVENT_FILTER_DESCRIPTOR filter = filter_of(EVENT_FILTER_TYPE_PID, ids, count * sizeof ids[0]);

    return enable_filtered(session, &control_guid, 0, &filter, 1);
}

/* Checks the events of each member, and what it logged last when it was disabled. */
static void expect_members_events(const char *file, const uint32_t counts[MEMBERS])
{
    uint32_t found[MEMBERS] = {0};
    struct events events;

    read_events(file, 0, &events);
    for (uint32_t index = 0; index < events.count; index++) {
        for (uint32_t member = 0; member < MEMBERS; member++) {
            found[member] += (int32_t)events.items[index].record.EventHeader.ProcessId ==
                                 members[member].process &&
                             number_of(&events.items[index]) != LAST;
        }
    }
    for (uint32_t member = 0; member < MEMBERS; member++) {
        assert_int_equal(found[member], counts[member]);
    }
    free_events(&events);
}

/* R26: up to 8 ids; those that are not meant are not enabled, or no longer. */
static void a_filter_by_id_enables_a_provider_in_these_processes(void **state)
{
    const uint32_t counts[MEMBERS] = {EVENTS, EVENTS, 2 * EVENTS};
    uint32_t ids[MANY + 1];
    int children[MEMBERS];
    etwas_trace_handle session;

    (void)state;
    for (uint32_t index = 0; index < MEMBERS; index++) {
        children[index] = start_registered(index);
    }
    for (uint32_t index = 0; index < MANY + 1; index++) {
        ids[index] = index < 2 ? (uint32_t)members[index].process : UINT32_MAX - index;
    }
    session = start_in_file("by id", "log.etl");
    assert_int_equal(enable_processes(session, ids, MANY), ERROR_SUCCESS);
    assert_int_equal(members[0].enabled + members[1].enabled, 2);
    assert_int_equal(members[2].enabled, 0);
    assert_int_equal(enable_processes(session, ids, MANY + 1), ERROR_INVALID_PARAMETER);
    assert_true(log_events(0, EVENTS) && log_events(1, EVENTS));
    ids[0] = (uint32_t)members[2].process;
    assert_int_equal(enable_processes(session, ids, 1), ERROR_SUCCESS);
    assert_int_equal(members[0].disabled + members[1].disabled, 2);
    assert_int_equal(members[2].enabled, 1);
    assert_true(log_events(2, EVENTS));
    assert_int_equal(enable_filtered(session, &control_guid, 0, NULL, 0), ERROR_SUCCESS);
    assert_int_equal(members[0].enabled + members[1].enabled + members[2].enabled, 6);
    assert_true(log_events(2, EVENTS));
    (void)stop_by_handle(session);
    for (uint32_t index = 0; index < MEMBERS; index++) {
        end_member(children[index], index);
    }
    expect_members_events(folder_path("log.etl"), counts);
}

/* Without regard to case, one of several, running or started later. */
static void a_filter_by_name_enables_a_provider_in_these_programs(void **state)
{
    static etwas_wchar names[64];
    const uint32_t counts[MEMBERS] = {0, EVENTS, 0};
    EVENT_FILTER_DESCRIPTOR filter;
    etwas_trace_handle session;
    int other = start_registered(0);
    int program;

    (void)state;
    (void)wide_of("nobody;Shop-TILL", names, 64);
    filter = filter_of(EVENT_FILTER_TYPE_EXECUTABLE_NAME, names, sizeof "nobody;Shop-TILL" * 2);
    session = start_in_file("by name", "log.etl");
    assert_int_equal(enable_filtered(session, &control_guid, 0, &filter, 1), ERROR_SUCCESS);
    ck_pr_store_32(&members[1].may_register, 1);
    program = run_as(folder_path("shop-till"));
    assert_true(comes_to(&members[1].enabled, 1));
    assert_true(log_events(1, EVENTS));
    assert_int_equal(enable_filtered(session, &control_guid, 0, &filter, 1), ERROR_SUCCESS);
    assert_int_equal(members[1].enabled, 2);
    assert_int_equal(members[0].enabled, 0);
    (void)stop_by_handle(session);
    end_member(program, 1);
    end_member(other, 0);
    expect_members_events(folder_path("log.etl"), counts);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Each id from 1 on, each time it may. */
static int writer(void)
{
    uint64_t provider = register_modern(&modern_guid, NULL);

    for (uint32_t round = 1; round <= 3; round++) {
        CHECK_IN_CHILD(comes_to(&board->go, round));
        for (uint16_t id = 1; id <= IDS; id++) {
            write_modern(provider, id, round);
        }
        ck_pr_inc_32(&board->steps);
    }
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(EventUnregister(provider) == ERROR_SUCCESS);
    return 0;
}

/* Lets the writers write once more. */
static void next_round(uint32_t round)
{
    ck_pr_store_32(&board->go, round);
    assert_true(comes_to(&board->steps, round * WRITERS));
}

/* In one round: 2 and 3 alone, all but these, and all with stacks of these. */
static bool is_let_through(uint16_t id, uint64_t round)
{
    const bool is_named = id == 2 || id == 3;

    return round == 3 || is_named == (round == 1);
}

static bool has_stack(const EVENT_RECORD *record)
{
    for (uint32_t index = 0; index < record->ExtendedDataCount; index++) {
        if (record->ExtendedData[index].ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64) {
            return true;
        }
    }
    return false;
}

static uint32_t writers_events;

static void WINAPI check_event(EVENT_RECORD *record)
{
    const uint16_t id = record->EventHeader.EventDescriptor.Id;
    uint64_t round;

    if (memcmp(&record->EventHeader.ProviderId, &modern_guid, sizeof modern_guid) != 0) {
        return;
    }
    memcpy(&round, record->UserData, sizeof round);
    assert_true(is_let_through(id, round));
    assert_int_equal(has_stack(record), round == 3 && (id == 2 || id == 3));
    writers_events++;
}

static void read_writers_events(const char *file)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)file,
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = check_event};
    etwas_trace_handle trace = OpenTraceA(&logfile);

    writers_events = 0;
    assert_int_not_equal(trace, INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void a_filter_of_events_is_judged_where_the_events_are(void **state)
{
    uint16_t ids[] = {1, 2, 2, 3}; /* in; how many; these */
    EVENT_FILTER_DESCRIPTOR filter = filter_of(EVENT_FILTER_TYPE_EVENT_ID, ids, sizeof ids);
    etwas_trace_handle session = start_in_file("events", "log.etl");
    int writers[WRITERS];

    (void)state;
    for (uint32_t index = 0; index < WRITERS; index++) {
        writers[index] = start_program(writer);
    }
    assert_true(comes_to(&board->registered, WRITERS));
    assert_int_equal(enable_filtered(session, &modern_guid, 0, &filter, 1), ERROR_SUCCESS);
    next_round(1);
    ids[0] = 0;
    assert_int_equal(enable_filtered(session, &modern_guid, 0, &filter, 1), ERROR_SUCCESS);
    next_round(2);
    ids[0] = 1;
    filter.Type = EVENT_FILTER_TYPE_STACKWALK;
    assert_int_equal(
        enable_filtered(session, &modern_guid, EVENT_ENABLE_PROPERTY_STACK_TRACE, &filter, 1),
        ERROR_SUCCESS);
    next_round(3);
    assert_int_equal(stop_by_handle(session), board->lost);
    ck_pr_store_32(&board->end, 1);
    for (uint32_t index = 0; index < WRITERS; index++) {
        assert_int_equal(exit_code_of(writers[index]), 0);
    }
    read_writers_events(folder_path("log.etl"));
    assert_int_equal(writers_events, WRITERS * (2 + IDS - 2 + IDS));
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static const struct {
    uint32_t type;
    uint32_t bytes;
    uint32_t code;
    uint32_t property;
    uint32_t count; /* of filters, all of them the same */
} wrong[] = {
    {EVENT_FILTER_TYPE_PID, MAX_EVENT_FILTER_DATA_SIZE + 4, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_PID, 9 * 4, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_PID, 7, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_PID, 4, ERROR_INVALID_PARAMETER, 0, 2},
    {EVENT_FILTER_TYPE_PID, 4, ERROR_INVALID_PARAMETER, 0, MAX_EVENT_FILTERS_COUNT + 1},
    {EVENT_FILTER_TYPE_EXECUTABLE_NAME, MAX_EVENT_FILTER_DATA_SIZE + 2, ERROR_INVALID_PARAMETER, 0,
     1},
    {EVENT_FILTER_TYPE_EVENT_ID, MAX_EVENT_FILTER_DATA_SIZE + 2, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_EVENT_ID, 2, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_EVENT_NAME, MAX_EVENT_FILTER_EVENT_NAME_SIZE + 1, ERROR_INVALID_PARAMETER, 0,
     1},
    {EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, 8, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_PAYLOAD, 64, ERROR_NOT_SUPPORTED, 0, 1},
    {EVENT_FILTER_TYPE_PAYLOAD, MAX_EVENT_FILTER_PAYLOAD_SIZE + 1, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_SCHEMATIZED, 64, ERROR_NOT_SUPPORTED, 0, 1},
    {EVENT_FILTER_TYPE_SCHEMATIZED, MAX_EVENT_FILTER_DATA_SIZE + 1, ERROR_INVALID_PARAMETER, 0, 1},
    {0x80F00000u, 64, ERROR_INVALID_PARAMETER, 0, 1},
    {EVENT_FILTER_TYPE_PID, 4, ERROR_INVALID_PARAMETER, 0x40000000u, 1},
    {EVENT_FILTER_TYPE_EVENT_ID, 6, ERROR_INVALID_PARAMETER, EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
     1},
    {EVENT_FILTER_TYPE_EVENT_ID, 6, ERROR_SUCCESS, 0, 1},
};

/* C17, R26 */
static void ask_what_is_wrong(etwas_trace_handle session)
{
    static uint16_t data[4096] = {1, 1, 5};
    EVENT_FILTER_DESCRIPTOR filters[MAX_EVENT_FILTERS_COUNT + 1];

    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        for (uint32_t at = 0; at < wrong[index].count; at++) {
            filters[at] = filter_of(wrong[index].type, data, wrong[index].bytes);
        }
        CHECK_IN_CHILD(enable_filtered(session, &modern_guid, wrong[index].property, filters,
                                       wrong[index].count) == wrong[index].code);
    }
}

static int ask_from_elsewhere(void)
{
    struct block block;

    prepare_block(&block, NULL);
    CHECK_IN_CHILD(QueryTraceA(0, "wrong", &block.properties) == ERROR_SUCCESS);
    ask_what_is_wrong(block.properties.Wnode.HistoricalContext);
    return 0;
}

static void what_is_wrong_with_a_filter_is_said_alike_wherever_it_is_asked(void **state)
{
    const etwas_session_options alone = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE};
    etwas_trace_handle shared = start_in_file("wrong", "log.etl");
    etwas_trace_handle session;
    int program = start_program(writer);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(etwas_start("alone", NULL, &alone, &session), ERROR_SUCCESS);
    ask_what_is_wrong(session);
    assert_int_equal(etwas_stop(session, NULL), ERROR_SUCCESS);
    assert_int_equal(board->enabled, 0);
    expect_in_child(ask_from_elsewhere);
    assert_int_equal(board->enabled, 1); /* by the last, which is right */
    ask_what_is_wrong(shared);
    assert_int_equal(board->enabled, 2);
    (void)stop_by_handle(shared);
    ck_pr_store_32(&board->go, 3);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(program), 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        MEMBERS_TEST(a_filter_by_id_enables_a_provider_in_these_processes),
        MEMBERS_TEST(a_filter_by_name_enables_a_provider_in_these_programs),
        PROGRAMS_TEST(a_filter_of_events_is_judged_where_the_events_are),
        PROGRAMS_TEST(what_is_wrong_with_a_filter_is_said_alike_wherever_it_is_asked),
    };
    const int code = run_member(count, arguments);

    return code >= 0 ? code : cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
