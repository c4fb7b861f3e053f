/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processes as they begin and end, during a rundown, and after a loss.
 */
#include <stdlib.h>
#include <string.h>

#include "system/made_up_processes.h"

/* ---- processes ------------------------------------------------------------------------------- */

static void a_fork_starts_what_its_parent_is(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    exit_at(110, 10, 10);
    expect("110@3 by 1 End 10 of 1, sh [sh -c x]\n");
    fork_at(120, 1, 10, 10);
    expect("120@3 by 1 Start 10 of 1, sh [sh -c x]\n");
}

static void a_process_ends_with_its_last_thread(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    fork_at(101, 10, 10, 11);
    fork_at(102, 10, 10, 12);
    fork_at(103, 10, 10, 12);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    exit_at(110, 10, 10);
    exit_at(111, 10, 12);
    exit_at(112, 10, 12);
    expect("");
    exit_at(113, 10, 11);
    expect("113@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

static void an_exec_is_the_same_process_as_another_program(void **state)
{
    (void)state;
    begin();
    fork_at(1000, 1, 10, 10);
    fork_at(1001, 10, 10, 11);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10},
                                  .start_tick = 11,
                                  .name = "ls",
                                  .command_line = "ls -l"};
    name_at(1002, 10, 10, "ls", true);
    expect("1002@3 by 1 DCStart 10 of 1, ls [ls -l] exec\n");
    /* The other thread went with the exec, whether that was seen or not. */
    exit_at(1003, 10, 10);
    expect("1003@3 by 1 End 10 of 1, ls [ls -l]\n");
    exit_at(1004, 10, 11);
    expect("");
}

static void a_command_line_of_another_program_is_ignored(void **state)
{
    (void)state;
    begin();
    fork_at(1000, 1, 10, 10);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    name_at(1001, 10, 10, "ls", true);
    expect("1001@3 by 1 DCStart 10 of 1, ls exec\n");
    /* Another program by now, another process, and one that has no arguments yet. */
    machine[1] = (struct made_up){
        .id = 10, .threads = {10}, .start_tick = 10, .name = "cat", .command_line = "cat"};
    name_at(1002, 10, 10, "ls", true);
    expect("1002@3 by 1 DCStart 10 of 1, ls exec\n");
    machine[1].start_tick = 12;
    name_at(1003, 10, 10, "cat", true);
    expect("1003@3 by 1 DCStart 10 of 1, cat exec\n");
    machine[1].start_tick = 10;
    machine[1].command_line = "";
    name_at(1004, 10, 10, "cat", true);
    expect("1004@3 by 1 DCStart 10 of 1, cat exec\n");
    machine[1].command_line = "cat a";
    name_at(1005, 10, 10, "cat", true);
    expect("1005@3 by 1 DCStart 10 of 1, cat [cat a] exec\n");
}

static void a_name_that_a_process_gives_itself_is_its_name(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    name_at(101, 10, 10, "worker\n) S", false);
    name_at(102, 10, 11, "thread", false);
    exit_at(103, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "103@3 by 1 End 10 of 1, worker\n) S [sh -c x]\n");
}

static void how_a_process_ended_is_known_once(void **state)
{
    static struct etwas_exits exits = {.socket = -1};

    (void)state;
    begin();
    processes.exits = &exits;
    exits.kept[10] = (struct etwas_exit){.thread_id = 10, .status = 3 << 8};
    fork_at(100, 1, 10, 10);
    exit_at(101, 10, 10);
    exits.kept[10] = (struct etwas_exit){.thread_id = ETWAS_EXITS_KEPT + 10, .status = 3 << 8};
    fork_at(102, 1, 10, 10);
    exit_at(103, 10, 10);
    exits.kept[10] = (struct etwas_exit){.thread_id = 10, .status = 9};
    fork_at(104, 1, 10, 10);
    fork_at(105, 1, 10, 10);
    exit_at(106, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "101@3 by 1 End 10 of 1, sh [sh -c x] with 3\n"
           "102@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "103@3 by 1 End 10 of 1, sh [sh -c x]\n"
           "104@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "105@3 by 1 End 10 of 1, sh [sh -c x] with -9 not seen\n"
           "105@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "106@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

static void a_process_ends_with_its_last_threads_status(void **state)
{
    static struct etwas_exits exits = {.socket = -1};

    (void)state;
    begin();
    processes.exits = &exits;
    for (int round = 0; round < 2; round++) { /* of the second one the last status was lost */
        exits.kept[10] = (struct etwas_exit){.thread_id = 10, .status = 3 << 8};
        exits.kept[11] = (struct etwas_exit){.thread_id = round == 0 ? 11 : 0, .status = 4 << 8};
        fork_at(100 + 10 * round, 1, 10, 10);
        fork_at(101 + 10 * round, 10, 10, 11);
        exit_at(102 + 10 * round, 10, 10);
        exit_at(103 + 10 * round, 10, 11);
    }
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "103@3 by 1 End 10 of 1, sh [sh -c x] with 4\n"
           "110@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "113@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

/*
 * Its first thread has ended, another runs a program and has its number: there is one status of
 * two.
 */
static void a_status_that_is_found_early_is_that_of_the_last_thread(void **state)
{
    static struct etwas_exits exits = {.socket = -1};

    (void)state;
    begin();
    processes.exits = &exits;
    fork_at(100, 1, 10, 10);
    fork_at(101, 10, 10, 11);
    exits.kept[10] = (struct etwas_exit){.thread_id = 10, .status = 5 << 8};
    exit_at(102, 10, 10);
    name_at(103, 10, 10, "sh", true);
    exit_at(104, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "103@3 by 1 DCStart 10 of 1, sh exec\n"
           "104@3 by 1 End 10 of 1, sh with 5\n");
}

static void numbers_that_are_none_are_passed_over(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 0, 0);
    fork_at(101, 1, UINT32_MAX, UINT32_MAX);
    name_at(102, 0, 0, "x", true);
    map_at(103, UINT32_MAX, &shell);
    exit_at(104, 0, 0);
    exit_at(105, 77, 77);
    expect("");
}

/* ---- the rundown while things happen --------------------------------------------------------- */

static void what_the_rundown_emitted_is_not_emitted_again(void **state)
{
    (void)state;
    begin_with(ETWAS_EMIT_PROCESSES | ETWAS_EMIT_IMAGES);
    expect("50* DCStart in 0 ffffffff81000000 to ffffffff81001000 vmlinux\n"
           "50* DCStart 1 of 0, sh [sh -c x]\n"
           "50* DCStart in 1 400000 to 403000 /bin/sh\n"
           "50* Id in 1 7000000 .build-id/ab/cd0102030405060708090a010203040506"
           "07ef.debug\n"
           "50* DCStart in 1 7000000 to 7002000 /lib/a.so\n");
    /* All of it was in the rings when the rundown looked. */
    fork_at(10, 9, 1, 1);
    name_at(20, 1, 1, "before", true);
    map_at(30, 1, &library);
    fork_at(40, 1, 1, 2);
    expect("");
    now_ns = 200;
    etwas_processes_finish(&processes);
    expect("200* DCEnd in 0 ffffffff81000000 to ffffffff81001000 vmlinux\n"
           "200* DCEnd in 1 400000 to 403000 /bin/sh\n"
           "200* Id in 1 7000000 .build-id/ab/cd0102030405060708090a010203040506"
           "07ef.debug\n"
           "200* DCEnd in 1 7000000 to 7002000 /lib/a.so\n"
           "200* DCEnd 1 of 0, sh [sh -c x]\n");
}

static void what_happens_during_the_rundown_is_in_order(void **state)
{
    (void)state;
    begin();
    /* It was looked at from 50 on, and was another then. */
    name_at(51, 1, 1, "cat", true);
    expect("51@3 by 1 DCStart 1 of 0, cat exec\n");
    /* A thread that is about to end is seen although its end is in the ring. */
    now_ns = 70;
    exit_at(49, 1, 1);
    expect("70* End 1 of 0, cat\n");
}

static void a_process_without_threads_is_not_found(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10, .name = "gone", .command_line = ""};
    etwas_processes_run_down(&processes);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n"); /* a known process, once more */
}

/* The process that was found has ended, and its number is that of a thread of the next one. */
static void a_rundown_alone_emits_no_ends(void **state)
{
    (void)state;
    make_up_machine();
    machine[1] = (struct made_up){
        .id = 10, .parent_id = 1, .threads = {10, 1}, .name = "cat", .command_line = "cat"};
    begin_on_machine(ETWAS_EMIT_PROCESSES);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n"
           "50* End 1 of 0, sh [sh -c x] not seen\n"
           "50* DCStart 10 of 1, cat [cat]\n");
    (void)end_test(state);
    begin_on_machine(ETWAS_EMIT_PROCESSES | ETWAS_EMIT_RUNDOWN_ALONE);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n"
           "50* DCStart 10 of 1, cat [cat]\n");
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void a_reused_number_ends_the_earlier_process(void **state)
{
    (void)state;
    begin();
    fork_at(100, 1, 10, 10);
    fork_at(200, 1, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "200@3 by 1 End 10 of 1, sh [sh -c x] not seen\n"
           "200@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    /* A thread's number, which was the only one of another process. */
    fork_at(300, 1, 1, 10);
    expect("300@3 by 1 End 10 of 1, sh [sh -c x] not seen\n");
}

static void a_process_without_a_fork_record_is_scanned(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10, 11},
                                  .start_tick = 2,
                                  .name = "lost",
                                  .command_line = "lost x"};
    now_ns = 150;
    fork_at(100, 10, 10, 11);
    expect("150* DCStart 10 of 1, lost [lost x]\n");
    exit_at(160, 10, 10);
    expect("");
    exit_at(161, 10, 11);
    expect("161@3 by 1 End 10 of 1, lost [lost x]\n");
    machine[1].id = 0;
    fork_at(170, 10, 10, 11);
    name_at(171, 10, 10, "gone", true);
    expect("");
    /* The parent is not known. */
    fork_at(180, 20, 21, 21);
    expect("180@3 by 1 Start 21 of 20, \n");
}

static void a_process_without_an_exit_record_is_missed(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10},
                                  .start_tick = 10,
                                  .name = "sh",
                                  .command_line = "sh -c x"};
    fork_at(1000, 1, 10, 10);
    fork_at(1001, 1, 11, 11);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n"
           "1001@3 by 1 Start 11 of 1, sh [sh -c x]\n");
    now_ns = 1100;
    assert_false(etwas_processes_find_lost(&processes, 1050));
    assert_false(etwas_processes_find_lost(&processes, 1099));
    expect("");
    assert_true(etwas_processes_find_lost(&processes, 1100));
    expect("1100* End 11 of 1, sh [sh -c x] not seen\n");
    machine[1].threads[0] = 0; /* it is not waited for */
    assert_false(etwas_processes_find_lost(&processes, 1100));
    expect("");
    exit_at(1090, 10, 10); /* the ring had it */
    expect("1090@3 by 1 End 10 of 1, sh [sh -c x]\n");
    now_ns = 1200;
    assert_true(etwas_processes_find_lost(&processes, 1200));
    expect("");
}

static void a_process_with_a_reused_number_has_ended_and_begun(void **state)
{
    (void)state;
    begin();
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10},
                                  .start_tick = 12,
                                  .name = "new",
                                  .command_line = "new"};
    fork_at(1000, 1, 10, 10);
    expect("1000@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    now_ns = 1300;
    assert_false(etwas_processes_find_lost(&processes, 1300));
    expect("1300* End 10 of 1, sh [sh -c x] not seen\n"
           "1300* DCStart 10 of 1, new [new]\n");
}

static void without_a_list_of_processes_none_is_missed(void **state)
{
    (void)state;
    begin();
    is_listed = false;
    fork_at(100, 1, 10, 10);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n");
    assert_false(etwas_processes_find_lost(&processes, 200));
    assert_true(etwas_processes_find_lost(&processes, 200));
    expect("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_fork_starts_what_its_parent_is, end_test),
        cmocka_unit_test_teardown(a_process_ends_with_its_last_thread, end_test),
        cmocka_unit_test_teardown(an_exec_is_the_same_process_as_another_program, end_test),
        cmocka_unit_test_teardown(a_command_line_of_another_program_is_ignored, end_test),
        cmocka_unit_test_teardown(a_name_that_a_process_gives_itself_is_its_name, end_test),
        cmocka_unit_test_teardown(how_a_process_ended_is_known_once, end_test),
        cmocka_unit_test_teardown(a_process_ends_with_its_last_threads_status, end_test),
        cmocka_unit_test_teardown(a_status_that_is_found_early_is_that_of_the_last_thread,
                                  end_test),
        cmocka_unit_test_teardown(numbers_that_are_none_are_passed_over, end_test),
        cmocka_unit_test_teardown(what_the_rundown_emitted_is_not_emitted_again, end_test),
        cmocka_unit_test_teardown(a_rundown_alone_emits_no_ends, end_test),
        cmocka_unit_test_teardown(what_happens_during_the_rundown_is_in_order, end_test),
        cmocka_unit_test_teardown(a_process_without_threads_is_not_found, end_test),
        cmocka_unit_test_teardown(a_reused_number_ends_the_earlier_process, end_test),
        cmocka_unit_test_teardown(a_process_without_a_fork_record_is_scanned, end_test),
        cmocka_unit_test_teardown(a_process_without_an_exit_record_is_missed, end_test),
        cmocka_unit_test_teardown(a_process_with_a_reused_number_has_ended_and_begun, end_test),
        cmocka_unit_test_teardown(without_a_list_of_processes_none_is_missed, end_test),
    };

    return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}
