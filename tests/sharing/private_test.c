/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Private sessions with filters for other processes. Each of these has a session of its own, with
 * its own file, and does what the controller says; other processes have nothing. The test uses
 * public calls alone.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sharing/members.h"

enum {
    EVENTS = 1000,
    MOST_DESCRIPTORS = 4096,
};

/* ---- processes by their ids ------------------------------------------------------------------ */

/* It is none of those that are meant itself, and its file is named from its folder. */
static int control_processes(void)
{
    struct block block;

    CHECK_IN_CHILD(chdir(folder_path(".")) == 0);
    CHECK_IN_CHILD(start_private("by id", "log.etl", 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[0].enabled, 1));
    ck_pr_store_32(&members[1].may_register, 1);
    CHECK_IN_CHILD(comes_to(&members[1].registered, 1));
    CHECK_IN_CHILD(members[1].enabled_at_once == 1);
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS));
    prepare_private(&block, "", 0);
    CHECK_IN_CHILD(QueryTraceA(controlled, NULL, &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(block.properties.BuffersWritten == 0);
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[0].disabled, 1) && comes_to(&members[1].disabled, 1));
    CHECK_IN_CHILD(members[2].enabled == 0);
    CHECK_IN_CHILD(!has_file("log.etl", getpid()));
    return 0;
}

/* R24, R48, R98 */
static void processes_named_by_id_have_sessions_of_their_own(void **state)
{
    int children[MEMBERS];

    (void)state;
    children[0] = start_registered(0);
    children[1] = start_member(1);
    children[2] = start_registered(2);
    filter_by_processes(2);
    expect_in_child(control_processes);
    for (uint32_t index = 0; index < MEMBERS; index++) {
        end_member(children[index], index);
    }
    expect_events("log.etl", 0, 0, EVENTS, true);
    expect_events("log.etl", 1, 0, EVENTS, true);
    assert_false(has_file("log.etl", members[2].process));
}

/* ---- programs by their names ----------------------------------------------------------------- */

static int control_programs(void)
{
    CHECK_IN_CHILD(start_private("by name", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&members[1].registered, 1));
    CHECK_IN_CHILD(log_events(1, EVENTS));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[1].disabled, 1));
    return 0;
}

/*
 * R24, R26: without regard to case, one of several; a program that begins later has it from its
 * first event on.
 */
static void programs_named_have_sessions_of_their_own(void **state)
{
    int other = start_registered(0);
    int controller;
    int program;

    (void)state;
    filter_by_programs("nobody;Shop-TILL");
    controller = start_controller(control_programs);
    ck_pr_store_32(&members[1].may_register, 1);
    program = run_as(folder_path("shop-till"));
    expect_child(controller);
    end_member(program, 1);
    end_member(other, 0);
    assert_int_equal(members[1].enabled_at_once, 1);
    assert_int_equal(members[0].enabled, 0);
    expect_events("log.etl", 1, 0, EVENTS, true);
    assert_false(has_file("log.etl", members[0].process));
}

/* ---- control --------------------------------------------------------------------------------- */

static int control_by_name(void)
{
    CHECK_IN_CHILD(control_members("controlled", NULL, EVENT_TRACE_CONTROL_QUERY) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control_members("controlled", folder_path("other.etl"),
                                   EVENT_TRACE_CONTROL_UPDATE) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, 1) && log_events(1, 1));
    CHECK_IN_CHILD(control_members("controlled", NULL, EVENT_TRACE_CONTROL_FLUSH) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control_members("controlled", NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control_members("controlled", NULL, EVENT_TRACE_CONTROL_STOP) ==
                   ERROR_WMI_INSTANCE_NOT_FOUND);
    return 0;
}

static int control_them(void)
{
    CHECK_IN_CHILD(start_private("controlled", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[0].enabled, 1) && comes_to(&members[1].enabled, 1));
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS));
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&members[0].disabled, 1));
    CHECK_IN_CHILD(comes_to(&members[1].disabled, 1));
    return 0;
}

/* R27, R135: UPDATE, FLUSH and STOP, asked for by a process that is neither, reach all of them. */
static void control_reaches_every_process(void **state)
{
    int children[2] = {start_registered(0), start_registered(1)};
    int controller;

    (void)state;
    filter_by_processes(2);
    controller = start_controller(control_them);
    expect_in_child(control_by_name);
    expect_child(controller);
    for (uint32_t index = 0; index < 2; index++) {
        end_member(children[index], index);
        expect_events("log.etl", index, 0, EVENTS, false);
        expect_events("other.etl", index, EVENTS, 1, true);
    }
}

static int control_recorders(void)
{
    CHECK_IN_CHILD(start_private("recorders", NULL, EVENT_TRACE_BUFFERING_MODE) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, EVENTS) && log_events(1, EVENTS));
    CHECK_IN_CHILD(control_members(NULL, folder_path("snapshot.etl"), EVENT_TRACE_CONTROL_FLUSH) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

static void a_flush_takes_a_snapshot_of_each_recorder(void **state)
{
    int children[2] = {start_registered(0), start_registered(1)};

    (void)state;
    filter_by_processes(2);
    expect_in_child(control_recorders);
    for (uint32_t index = 0; index < 2; index++) {
        end_member(children[index], index);
        expect_events("snapshot.etl", index, 0, EVENTS, false);
    }
}

/* ---- ends and limits ------------------------------------------------------------------------- */

static int control_until_killed(void)
{
    CHECK_IN_CHILD(start_private("killed", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    (void)pause();
    return 0;
}

/* The files are whole. Nobody has to look for that: another registration is not needed. */
static void sessions_end_when_the_controller_is_killed(void **state)
{
    int child = start_registered(0);
    int controller;

    (void)state;
    filter_by_processes(1);
    controller = start_controller(control_until_killed);
    assert_true(log_events(0, EVENTS));
    kill_program(controller);
    assert_true(comes_to(&members[0].disabled, 1));
    end_member(child, 0);
    expect_events("log.etl", 0, 0, EVENTS, true);
}

/* Ends all connections of this process. All of their sockets are of one type. */
static void cut_connections(void)
{
    for (int number = 3; number < MOST_DESCRIPTORS; number++) {
        int type = 0;
        int listens = 0;
        socklen_t size = sizeof type;

        if (getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET &&
            getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens == 0) {
            CHECK_IN_CHILD(shutdown(number, SHUT_RDWR) == 0);
        }
    }
}

static int control_and_cut(void)
{
    CHECK_IN_CHILD(start_private("cut", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    cut_connections();
    CHECK_IN_CHILD(enable_members(5) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 2));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

/* While the host lives, its session goes on in the file that it has. */
static void a_session_goes_on_when_its_connection_is_cut(void **state)
{
    int child = start_registered(0);
    int controller;

    (void)state;
    filter_by_processes(1);
    controller = start_controller(control_and_cut);
    assert_true(log_events(0, EVENTS));
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 2));
    assert_true(comes_to(&members[0].enabled, 2));
    assert_true(log_events(0, EVENTS));
    ck_pr_store_32(&board->go, 2);
    assert_int_equal(exit_code_of(controller), 0);
    assert_true(comes_to(&members[0].disabled, 1));
    end_member(child, 0);
    expect_events("log.etl", 0, 0, 2 * EVENTS, true);
}

static int control_a_full_process(void)
{
    CHECK_IN_CHILD(start_private("full", folder_path("log.etl"), 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_FLUSH) == ERROR_SUCCESS);
    CHECK_IN_CHILD(members[0].enabled == 0);
    ck_pr_store_32(&members[0].may_have_room, 1);
    CHECK_IN_CHILD(comes_to(&members[0].has_room, 1));
    CHECK_IN_CHILD(enable_members(5) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_events(0, EVENTS));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&members[0].disabled, 1));
    return 0;
}

/*
 * R47: a process that has all it may has none of these, until there is room and the controller asks
 * for something.
 */
static void r47_a_process_without_room_is_passed_by(void **state)
{
    int child;

    (void)state;
    ck_pr_store_32(&members[0].is_full, 1);
    child = start_registered(0);
    filter_by_processes(1);
    expect_in_child(control_a_full_process);
    end_member(child, 0);
    expect_events("log.etl", 0, 0, EVENTS, true);
}

static int start_what_there_is(void)
{
    const etwas_guid another = {0xabc, 1, 2, {3}};
    struct block block;

    CHECK_IN_CHILD(start_private("TAKEN", NULL, EVENT_TRACE_BUFFERING_MODE) ==
                   ERROR_ALREADY_EXISTS);
    CHECK_IN_CHILD(start_private("free", NULL, EVENT_TRACE_BUFFERING_MODE) == ERROR_ALREADY_EXISTS);
    prepare_private(&block, NULL, EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_PRIVATE_IN_PROC);
    CHECK_IN_CHILD(StartTraceA(&controlled, "free", &block.properties) == ERROR_INVALID_PARAMETER);
    prepare_private(&block, NULL, EVENT_TRACE_BUFFERING_MODE);
    block.properties.Wnode.Guid = another;
    CHECK_IN_CHILD(StartTraceA(&controlled, "free", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

/* R10, R41, R23; and one without filters is nobody's but its own process's. */
static int control_names(void)
{
    struct block block;

    prepare_private(&block, NULL, EVENT_TRACE_BUFFERING_MODE);
    block.second.FilterDescCount = 0;
    CHECK_IN_CHILD(StartTraceA(&controlled, "own", &block.properties) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_members(4) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(controlled, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(start_private("taken", NULL, EVENT_TRACE_BUFFERING_MODE) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&members[0].may_end, 1));
    CHECK_IN_CHILD(control_members(NULL, NULL, EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS);
    return 0;
}

static void names_and_providers_are_taken_once(void **state)
{
    int child = start_registered(0);
    int controller;

    (void)state;
    filter_by_processes(1);
    controller = start_controller(control_names);
    expect_in_child(start_what_there_is);
    end_member(child, 0);
    expect_child(controller);
    assert_int_equal(members[0].enabled, 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        MEMBERS_TEST(processes_named_by_id_have_sessions_of_their_own),
        MEMBERS_TEST(programs_named_have_sessions_of_their_own),
        MEMBERS_TEST(control_reaches_every_process),
        MEMBERS_TEST(a_flush_takes_a_snapshot_of_each_recorder),
        MEMBERS_TEST(sessions_end_when_the_controller_is_killed),
        MEMBERS_TEST(a_session_goes_on_when_its_connection_is_cut),
        MEMBERS_TEST(r47_a_process_without_room_is_passed_by),
        MEMBERS_TEST(names_and_providers_are_taken_once),
    };

    const int code = run_member(count, arguments);

    return code >= 0 ? code : cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
