/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Controllers and hosts that exit, and forks of guests and of controllers: what outlives them, and
 * what their children have.
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sharing/programs.h"

static const etwas_guid other_guid = {0x55555555, 5, 5, {5, 5, 5, 5, 5, 5, 5, 5}};

enum {
    SOME = 1000,
    TIMEOUT_MS = 60000,
    CLASSES = 32, /* of information */
};

/* Returns the handle by name, from a process that is not its host. */
static etwas_trace_handle handle_of(const char *name)
{
    struct block block;

    prepare_block(&block, NULL);
    CHECK_IN_CHILD(QueryTraceA(0, name, &block.properties) == ERROR_SUCCESS);
    return block.properties.Wnode.HistoricalContext;
}

/* ---- controllers ----------------------------------------------------------------------------- */

static int passing_controller(void)
{
    CHECK_IN_CHILD(enable_with_timeout(handle_of("goes on"), &control_guid, TIMEOUT_MS) ==
                   ERROR_SUCCESS);
    return 0;
}

/* R49: an enablement stays when its controller has gone, also for programs that start later. */
static void r49_a_session_and_what_it_enables_outlive_their_controller(void **state)
{
    etwas_trace_handle session = start_in_file("goes on", "log.etl");
    int early = start_program(logging_program);
    int late;

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(exit_code_of(start_program(passing_controller)), 0);
    assert_int_equal(board->enabled, 1);
    late = start_program(logging_program);
    assert_true(comes_to(&board->enabled, 2));
    assert_true(comes_to(&board->logged, SOME));
    assert_int_equal(board->disabled, 0);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(early), 0);
    assert_int_equal(exit_code_of(late), 0);
    assert_int_equal(stop_by_handle(session), board->lost);
    assert_int_equal(count_events(folder_path("log.etl")), board->logged);
}

/* Its parent's handle means nothing to it, and names do; nobody is disturbed by its end. */
static int controller_that_forks(void)
{
    etwas_trace_handle session = handle_of("forked");
    struct block block;
    int child;

    child = fork_child();
    if (child == 0) {
        prepare_block(&block, NULL);
        CHECK_IN_CHILD(enable_with_timeout(session, &other_guid, 0) == ERROR_INVALID_PARAMETER);
        CHECK_IN_CHILD(QueryTraceA(session, NULL, &block.properties) ==
                       ERROR_WMI_INSTANCE_NOT_FOUND);
        CHECK_IN_CHILD(enable_with_timeout(handle_of("forked"), &control_guid, TIMEOUT_MS) ==
                       ERROR_SUCCESS);
        return 0;
    }
    CHECK_IN_CHILD(exit_code_of(child) == 0);
    CHECK_IN_CHILD(enable_with_timeout(session, &other_guid, TIMEOUT_MS) == ERROR_SUCCESS);
    prepare_block(&block, NULL);
    CHECK_IN_CHILD(QueryTraceA(session, NULL, &block.properties) == ERROR_SUCCESS);
    return 0;
}

static void a_child_of_a_controller_has_to_ask_by_name(void **state)
{
    etwas_trace_handle session = start_in_file("forked", "log.etl");
    int guest = start_program(logging_program);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(exit_code_of(start_program(controller_that_forks)), 0);
    assert_true(comes_to(&board->logged, SOME));
    assert_int_equal(board->enabled, 1);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    assert_int_equal(stop_by_handle(session), board->lost);
    assert_int_equal(count_events(folder_path("log.etl")), board->logged);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static int host_that_exits(void)
{
    etwas_trace_handle session = start_in_file("exits", "log.etl");

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    return 0;
}

/* As if it were stopped: guests are told, and what they had logged is there, to the event. */
static void the_exit_of_a_host_is_the_end_of_its_session(void **state)
{
    int host = start_program(host_that_exits);
    int guest = start_program(logging_program);

    (void)state;
    assert_true(comes_to(&board->logged, SOME));
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(host), 0);
    assert_true(comes_to(&board->disabled, 1));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    assert_int_equal(count_events(folder_path("log.etl")), board->logged);
}

/* ---- guests ---------------------------------------------------------------------------------- */

static void log_some(void)
{
    for (uint32_t number = 0; number < SOME; number++) {
        log_until_recorded(number);
    }
}

/* A child takes part anew with its first registration, whatever it has of its parent's. */
static int guest_that_forks(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);
    int child;

    CHECK_IN_CHILD(comes_to(&board->enabled, 1));
    log_some();
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(log_number(enabling_session(), 1) == ERROR_INVALID_HANDLE);
        (void)register_provider(&control_guid);
        CHECK_IN_CHILD(comes_to(&board->enabled, 2));
        log_some();
        return 0;
    }
    CHECK_IN_CHILD(exit_code_of(child) == 0);
    log_some();
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static void a_guest_and_its_child_log_into_one_session(void **state)
{
    etwas_trace_handle session = start_in_file("family", "log.etl");

    (void)state;
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    assert_int_equal(exit_code_of(start_program(guest_that_forks)), 0);
    assert_int_equal(stop_by_handle(session), board->lost);
    assert_int_equal(board->logged, 3 * SOME);
    assert_int_equal(count_events(folder_path("log.etl")), board->logged);
}

/* ---- information ----------------------------------------------------------------------------- */

static struct {
    uint32_t query[CLASSES];
    uint32_t set[CLASSES];
} * of_host;

static void ask_all(etwas_trace_handle session, uint32_t query[CLASSES], uint32_t set[CLASSES])
{
    uint8_t room[1024] = {0};
    uint32_t bytes;

    for (uint32_t class = 0; class < CLASSES; class ++) {
        query[class] =
            TraceQueryInformation(session, (TRACE_INFO_CLASS) class, room, sizeof room, &bytes);
        set[class] = TraceSetInformation(session, (TRACE_INFO_CLASS) class, room, sizeof room);
    }
}

static int ask_from_elsewhere(void)
{
    uint32_t query[CLASSES];
    uint32_t set[CLASSES];

    ask_all(handle_of("informed"), query, set);
    CHECK_IN_CHILD(query[TraceVersionInfo] == ERROR_SUCCESS);
    CHECK_IN_CHILD(query[TraceMaxLoggersQuery] == ERROR_SUCCESS);
    CHECK_IN_CHILD(memcmp(query, of_host->query, sizeof query) == 0);
    CHECK_IN_CHILD(memcmp(set, of_host->set, sizeof set) == 0);
    return 0;
}

/*
 * TraceQueryInformation and TraceSetInformation: as control/enumerate_test.c has it of a session of
 * the own process.
 */
static void each_class_of_information_is_answered_alike_elsewhere(void **state)
{
    etwas_trace_handle session = start_in_file("informed", "log.etl");

    (void)state;
    of_host = shared_memory(sizeof *of_host);
    ask_all(session, of_host->query, of_host->set);
    expect_in_child(ask_from_elsewhere);
    assert_int_equal(stop_by_handle(session), board->lost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(r49_a_session_and_what_it_enables_outlive_their_controller),
        PROGRAMS_TEST(a_child_of_a_controller_has_to_ask_by_name),
        PROGRAMS_TEST(the_exit_of_a_host_is_the_end_of_its_session),
        PROGRAMS_TEST(a_guest_and_its_child_log_into_one_session),
        PROGRAMS_TEST(each_class_of_information_is_answered_alike_elsewhere),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
