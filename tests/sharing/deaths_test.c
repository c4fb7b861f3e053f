/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Hosts and guests that are killed, stopped, forked or out of descriptors: the others go on, and
 * are told what they have to know.
 */
#include <ck_pr.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sharing/programs.h"

static const etwas_guid other_guid = {0x55555555, 5, 5, {5, 5, 5, 5, 5, 5, 5, 5}};

enum {
    SOME = 1000,
    KILLS = 5,
    TIMEOUT_MS = 5000,
    SHORT_MS = 100, /* where it passes anyway */
};

/* ---- hosts ----------------------------------------------------------------------------------- */

static int host_until_killed(void)
{
    etwas_trace_handle session = start_in_file("dies", "orphan.etl");

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    return 0;
}

/*
 * The guest is told that nobody enables it any more, and a session of the same name reaches it at
 * once.
 */
static void a_killed_host_leaves_its_guests_and_its_name_to_the_next(void **state)
{
    int guest = start_program(logging_program);
    int host = start_program(host_until_killed);
    struct block block;
    etwas_trace_handle session;

    (void)state;
    assert_true(comes_to(&board->logged, SOME));
    kill_program(host);
    prepare_block(&block, folder_path("log.etl"));
    session = start_block("dies", &block);
    assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
    assert_true(comes_to(&board->disabled, 1));
    assert_true(comes_to(&board->enabled, 2));
    assert_true(comes_to(&board->logged, ck_pr_load_32(&board->logged) + SOME));
    assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    assert_true(count_events(folder_path("log.etl")) >= SOME);
}

static int host_with_much_memory(void)
{
    const etwas_session_options much = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                        .buffer_size_kb = 1024,
                                        .minimum_buffers = 128,
                                        .sharing = ETWAS_SHARING_USER};
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start("large", NULL, &much, &session) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    (void)pause();
    return 0;
}

/*
 * R10: it has the name until its memory has been given back, which takes some tens of milliseconds.
 */
static void a_name_can_be_had_at_once_after_a_kill(void **state)
{
    (void)state;
    for (uint32_t kills = 0; kills < KILLS; kills++) {
        int host = start_program(host_with_much_memory);
        etwas_trace_handle session;
        struct block block;
        int status;

        assert_true(comes_to(&board->steps, kills + 1));
        assert_int_equal(kill(host, SIGKILL), 0);
        prepare_block(&block, folder_path("log.etl"));
        session = start_block("large", &block);
        assert_int_equal(waitpid(host, &status, 0), host);
        (void)stop_by_handle(session);
    }
}

/* Its host, and so in its child sessions of the same entries of the table. */
static int host_that_forks(void)
{
    etwas_trace_handle session = start_in_file("parent", "parent.etl");
    int child;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, TIMEOUT_MS) == ERROR_SUCCESS);
    child = fork_child();
    if (child == 0) {
        CHECK_IN_CHILD(enable_with_timeout(session, &other_guid, 0) == ERROR_INVALID_PARAMETER);
        session = start_in_file("child", "child.etl");
        CHECK_IN_CHILD(enable_with_timeout(session, &other_guid, TIMEOUT_MS) == ERROR_SUCCESS);
        _exit(0);
    }
    CHECK_IN_CHILD(exit_code_of(child) == 0);
    return 0;
}

/* What the parent's session enabled, the child's does not. */
static void a_child_of_a_host_hosts_nothing_of_its_parent(void **state)
{
    int guest = start_program(idle_program);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(exit_code_of(start_program(host_that_forks)), 0);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    assert_int_equal(board->enabled, 1);
}

/* ---- guests ---------------------------------------------------------------------------------- */

/* Logs on, though at some time it can open nothing. */
static int guest_without_descriptors(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);
    struct rlimit limit;
    struct rlimit none;

    log_until_recorded(0); /* it is attached */
    CHECK_IN_CHILD(comes_to(&board->go, 1) && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &none) == 0);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->end, 1));
    CHECK_IN_CHILD(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    (void)UnregisterTraceGuids(registration);
    return 0;
}

/* What one guest cannot see is there for the others all the same. */
static void a_guest_that_can_open_nothing_leaves_the_session_to_others(void **state)
{
    struct block block;
    etwas_trace_handle session;
    int poor;
    int guest;

    (void)state;
    prepare_block(&block, folder_path("log.etl"));
    session = start_block("several", &block);
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    poor = start_program(guest_without_descriptors);
    guest = start_program(logging_program);
    assert_true(comes_to(&board->enabled, 2));
    ck_pr_store_32(&board->go, 1);
    assert_true(comes_to(&board->steps, 1));
    /* Everybody looks, and one can neither read entries nor answer. */
    assert_int_equal(enable_with_timeout(session, &other_guid, SHORT_MS), ERROR_TIMEOUT);
    assert_true(comes_to(&board->logged, ck_pr_load_32(&board->logged) + SOME));
    assert_int_equal(board->refused, 0);
    assert_int_equal(board->disabled, 0);
    assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    assert_int_equal(exit_code_of(poor), 0);
}

/* Whose events are there, all of them. */
static void a_killed_guest_costs_at_most_the_record_it_was_in(void **state)
{
    struct block block;
    etwas_session_counts counts;
    etwas_trace_handle session;
    int guest = start_program(logging_program);

    (void)state;
    prepare_block(&block, folder_path("log.etl"));
    session = start_block("killed guest", &block);
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    assert_true(comes_to(&board->logged, SOME));
    kill_program(guest);
    assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("log.etl")), counts.recorded);
    assert_in_range(counts.recorded, board->logged, board->logged + 1);
    assert_in_range(counts.lost, board->lost, board->lost + 1);
}

/* STOP does not wait for it; when it goes on there is no session. */
static void a_stopped_guest_does_not_stop_its_host(void **state)
{
    struct block block;
    etwas_session_counts counts;
    etwas_trace_handle session;
    int guest = start_program(logging_program);

    (void)state;
    prepare_block(&block, folder_path("log.etl"));
    session = start_block("stopped guest", &block);
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    assert_true(comes_to(&board->logged, SOME));
    assert_int_equal(kill(guest, SIGSTOP), 0);
    block.properties.FlushTimer = 7;
    block.properties.LogFileNameOffset = 0;
    assert_int_equal(UpdateTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(block.properties.FlushTimer, 7);
    assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    assert_int_equal(kill(guest, SIGCONT), 0);
    assert_true(comes_to(&board->disabled, 1));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
    /* It was stopped anywhere: what it had recorded it may not have noted. */
    assert_int_equal(board->logged, counts.recorded);
    assert_int_equal(count_events(folder_path("log.etl")), counts.recorded);
}

/* ---- forks ----------------------------------------------------------------------------------- */

/* Forks all the while its control thread attaches and leaves; a child registers anew. */
static int guest_that_forks(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);

    for (uint32_t forks = 0; ck_pr_load_32(&board->end) == 0; forks++) {
        int child = fork_child();

        if (child == 0) {
            uint64_t parents = enabling_session();

            CHECK_IN_CHILD(parents == 0 || log_number(parents, 1) == ERROR_INVALID_HANDLE);
            _exit(0);
        }
        CHECK_IN_CHILD(exit_code_of(child) == 0);
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static void a_fork_and_a_look_do_not_wait_for_each_other(void **state)
{
    int guest = start_program(guest_that_forks);

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    for (uint32_t round = 0; round < 6; round++) {
        etwas_trace_handle session = start_in_file("short", "log.etl");
        struct block block;

        assert_int_equal(enable_with_timeout(session, &control_guid, TIMEOUT_MS), ERROR_SUCCESS);
        assert_int_equal(ck_pr_load_32(&board->enabled), round + 1);
        prepare_block(&block, NULL);
        assert_int_equal(StopTraceA(session, NULL, &block.properties), ERROR_SUCCESS);
    }
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(guest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(a_killed_host_leaves_its_guests_and_its_name_to_the_next),
        PROGRAMS_TEST(a_name_can_be_had_at_once_after_a_kill),
        PROGRAMS_TEST(a_child_of_a_host_hosts_nothing_of_its_parent),
        PROGRAMS_TEST(a_guest_that_can_open_nothing_leaves_the_session_to_others),
        PROGRAMS_TEST(a_killed_guest_costs_at_most_the_record_it_was_in),
        PROGRAMS_TEST(a_stopped_guest_does_not_stop_its_host),
        PROGRAMS_TEST(a_fork_and_a_look_do_not_wait_for_each_other),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
