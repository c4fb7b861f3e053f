/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Private sessions of several processes: files in parts, processes that end before the session
 * does, what others see of it, and what is refused.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sharing/members.h"

enum {
    EVENTS = 1000,
};

/* ---- parts ----------------------------------------------------------------------------------- */

static int control_parts(void)
{
    CHECK_IN_CHILD(start_private("parts", folder_path("log%d.etl"),
                                 EVENT_TRACE_FILE_MODE_NEWFILE) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_INCREMENT_FILE) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, 1) && log_events(1, 1));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

/* R96, R98: each has its own parts, and INCREMENT_FILE begins the next of each. */
static void r96_each_process_has_its_parts(void **state)
{
    int children[2] = {start_registered(0), start_registered(1)};

    (void)state;
    filter_by_processes(2);
    expect_in_child(control_parts);
    for (uint32_t index = 0; index < 2; index++) {
        end_member(children[index], index);
        expect_events("log1.etl", index, 0, EVENTS, false);
        expect_events("log2.etl", index, EVENTS, 1, true);
        assert_false(has_file("log3.etl", members[index].process));
    }
}

static int control_whole(void)
{
    CHECK_IN_CHILD(start_private("whole", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, EVENTS));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_INCREMENT_FILE) ==
                   ERROR_INVALID_PARAMETER);
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME) ==
                   ERROR_INVALID_PARAMETER);
    CHECK_IN_CHILD(control_members(NULL, NULL, 77) == ERROR_INVALID_PARAMETER);
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

static void what_cannot_be_asked_changes_no_file(void **state)
{
    int child = start_registered(0);

    (void)state;
    filter_by_processes(1);
    expect_in_child(control_whole);
    end_member(child, 0);
    expect_events("log.etl", 0, 0, EVENTS, true);
}

/* ---- processes that end ---------------------------------------------------------------------- */

static int control_who_ends(void)
{
    CHECK_IN_CHILD(start_private("ends", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS) && log_events(2, EVENTS));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_FLUSH) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_FLUSH) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(2, EVENTS));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

/* Their files are there, and neither the session nor another process is held up. */
static void processes_may_end_before_the_session(void **state)
{
    int children[MEMBERS];
    struct events events;
    int controller;

    (void)state;
    for (uint32_t index = 0; index < MEMBERS; index++) {
        children[index] = start_registered(index);
    }
    filter_by_processes(MEMBERS);
    controller = start_controller(control_who_ends);
    end_member(children[0], 0);
    kill_program(children[1]);
    expect_events("log.etl", 0, 0, EVENTS, false);
    read_events(file_of("log.etl", members[1].process), 0, &events);
    assert_int_equal(events.count, EVENTS); /* flushed before */
    free_events(&events);
    ck_pr_store_32(&board->go, 1);
    expect_child(controller);
    end_member(children[2], 2);
    expect_events("log.etl", 2, 0, 2 * EVENTS, true);
}

/* ---- which processes see it ------------------------------------------------------------------ */

static int control_seen(void)
{
    CHECK_IN_CHILD(start_private("Seen", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[0].enabled, 1));
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

/*
 * Queries it by name, from a process without an instance: QueryTrace finds it, and QueryAllTraces
 * does not, which lists no private sessions.
 */
static int look_at_it(void)
{
    struct block block;
    EVENT_TRACE_PROPERTIES *array = &block.properties;
    uint32_t count = 77;

    prepare_block(&block, NULL);
    CHECK_IN_CHILD(QueryAllTracesA(&array, 1, &count) == ERROR_SUCCESS && count == 0);
    prepare_block(&block, "");
    CHECK_IN_CHILD(QueryTraceA(0, "sEEN", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(strcmp(block.session_name, "Seen") == 0);
    CHECK_IN_CHILD(block.properties.LogFileMode == EVENT_TRACE_PRIVATE_LOGGER_MODE);
    CHECK_IN_CHILD(memcmp(&block.properties.Wnode.Guid, &control_guid, sizeof control_guid) == 0);
    CHECK_IN_CHILD(block.properties.BuffersWritten == 0 && block.properties.EventsLost == 0);
    CHECK_IN_CHILD(block.file_name[0] == 0); /* the controller is none of those that are meant */
    return 0;
}

static void a_private_session_is_found_by_its_name_alone(void **state)
{
    int child = start_registered(0);
    int controller;

    (void)state;
    filter_by_processes(1);
    controller = start_controller(control_seen);
    expect_in_child(look_at_it);
    ck_pr_store_32(&board->go, 1);
    expect_child(controller);
    end_member(child, 0);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static const struct {
    uint32_t mode; /* beside or instead of PRIVATE_LOGGER */
    uint32_t type;
    uint32_t bytes;
    uint32_t count; /* of filters, all of them this one */
} refused[] = {
    {EVENT_TRACE_BUFFERING_MODE, EVENT_FILTER_TYPE_PID, 4, 1}, /* R23 */
    {EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC | EVENT_TRACE_BUFFERING_MODE,
     EVENT_FILTER_TYPE_PID, 4, 1},
    {EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_BUFFERING_MODE, EVENT_FILTER_TYPE_EVENT_ID, 6,
     1}, /* R24 */
    {EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_BUFFERING_MODE, EVENT_FILTER_TYPE_PID, 4,
     2}, /* R25 */
    {EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_BUFFERING_MODE, EVENT_FILTER_TYPE_PID, 9 * 4,
     1}, /* R26 */
    {EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_BUFFERING_MODE,
     EVENT_FILTER_TYPE_EXECUTABLE_NAME, MAX_EVENT_FILTER_DATA_SIZE + 2, 1},
};

/* Eight are all that a process may have; the name of one that was refused is free. */
static int start_too_many(void)
{
    etwas_trace_handle sessions[PRIVATE_SESSIONS + 1];
    struct block block;

    for (uint32_t number = 0; number <= PRIVATE_SESSIONS; number++) {
        char name[32];

        (void)snprintf(name, sizeof name, "one of many %u", number);
        prepare_private(&block, NULL, EVENT_TRACE_BUFFERING_MODE);
        block.properties.Wnode.Guid.Data1 += number;
        CHECK_IN_CHILD(StartTraceA(&sessions[number], name, &block.properties) ==
                       (number < PRIVATE_SESSIONS ? (uint32_t)ERROR_SUCCESS
                                                  : (uint32_t)ERROR_NO_SYSTEM_RESOURCES));
    }
    prepare_private(&block, NULL, 0);
    CHECK_IN_CHILD(StopTraceA(sessions[0], NULL, &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(start_private("one of many 8", NULL, EVENT_TRACE_BUFFERING_MODE) ==
                   ERROR_SUCCESS);
    return 0;
}

static int start_refused(void)
{
    static uint8_t data[MAX_EVENT_FILTER_DATA_SIZE + 2] = {1, 0, 1, 0};
    EVENT_FILTER_DESCRIPTOR filters[2];
    struct block block;

    for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
        filters[0] = (EVENT_FILTER_DESCRIPTOR){(uint64_t)(uintptr_t)data, refused[index].bytes,
                                               refused[index].type};
        filters[1] = filters[0];
        prepare_private(&block, NULL, 0);
        block.properties.LogFileMode = refused[index].mode;
        block.second.FilterDesc = filters;
        block.second.FilterDescCount = refused[index].count;
        CHECK_IN_CHILD(StartTraceA(&controlled, "refused", &block.properties) ==
                       ERROR_INVALID_PARAMETER);
    }
    return start_private("refused", NULL, EVENT_TRACE_BUFFERING_MODE) == ERROR_SUCCESS ? 0 : 1;
}

/*
 * R23 to R26, R47: as session/filter_test.c and private_test.c have it of one process; and nobody
 * else has heard of it.
 */
static void r47_what_is_refused_is_nobodys(void **state)
{
    int child = start_registered(0);

    (void)state;
    filter_by_programs("nobody");
    expect_in_child(start_refused);
    expect_in_child(start_too_many);
    end_member(child, 0);
    assert_int_equal(members[0].enabled, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMBERS_TEST(r96_each_process_has_its_parts),
        MEMBERS_TEST(what_cannot_be_asked_changes_no_file),
        MEMBERS_TEST(processes_may_end_before_the_session),
        MEMBERS_TEST(a_private_session_is_found_by_its_name_alone),
        MEMBERS_TEST(r47_what_is_refused_is_nobodys),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
