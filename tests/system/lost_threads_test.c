/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Threads whose beginning or end was lost: after a gap a process has the threads that exist, and
 * ends with the last one.
 */
#include "system/made_up_processes.h"

/* Process 10 with threads 10 and 11, of which the rings tell. */
static void begin_two_threads(void)
{
    begin();
    machine[1] = (struct made_up){.id = 10,
                                  .parent_id = 1,
                                  .threads = {10, 11},
                                  .start_tick = 1,
                                  .name = "sh",
                                  .command_line = "sh -c x"};
    fork_at(100, 1, 10, 10);
    fork_at(101, 10, 10, 11);
    expect("100@3 by 1 Start 10 of 1, sh [sh -c x]\n");
}

static void scan_process(int64_t time_ns)
{
    now_ns = time_ns;
    assert_false(etwas_processes_find_lost(&processes, time_ns));
    assert_false(etwas_processes_find_lost(&processes, time_ns - 1));
    assert_true(etwas_processes_find_lost(&processes, time_ns));
}

static void a_thread_whose_end_was_lost_is_no_thread_any_more(void **state)
{
    (void)state;
    begin_two_threads();
    machine[1].threads[1] = 0;
    scan_process(200);
    expect("");
    exit_at(210, 10, 10);
    expect("210@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

static void a_thread_whose_beginning_was_lost_is_one(void **state)
{
    (void)state;
    begin_two_threads();
    machine[1].threads[2] = 12;
    scan_process(200);
    exit_at(210, 10, 10);
    exit_at(211, 10, 11);
    expect("");
    exit_at(212, 10, 12);
    expect("212@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

/* The rings tell of it yet. */
static void a_thread_that_ends_during_a_scan_has_the_time_of_its_record(void **state)
{
    (void)state;
    begin_two_threads();
    machine[1].threads[0] = 0;
    now_ns = 200;
    assert_false(etwas_processes_find_lost(&processes, 150));
    exit_at(190, 10, 10);
    exit_at(191, 10, 11);
    expect("191@3 by 1 End 10 of 1, sh [sh -c x]\n");
    assert_true(etwas_processes_find_lost(&processes, 200));
    expect("");
}

static void all_threads_that_are_gone_are_a_process_that_is_gone(void **state)
{
    (void)state;
    begin_two_threads();
    machine[1].threads[0] = 0;
    scan_process(200);
    expect("200* End 10 of 1, sh [sh -c x] not seen\n");
}

/* It was known, so its end is to come. */
static void a_known_thread_that_is_leaving_is_there_yet(void **state)
{
    (void)state;
    begin_two_threads();
    machine[1].is_leaving[0] = true;
    machine[1].is_leaving[1] = true;
    scan_process(200);
    expect("");
    exit_at(210, 10, 10);
    exit_at(211, 10, 11);
    expect("211@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

/* Its end may have been told already. */
static void an_unknown_thread_that_is_leaving_is_not_found(void **state)
{
    (void)state;
    begin_two_threads();
    exit_at(110, 10, 11);
    machine[1].is_leaving[1] = true;
    scan_process(200);
    exit_at(210, 10, 10);
    expect("210@3 by 1 End 10 of 1, sh [sh -c x]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_thread_whose_end_was_lost_is_no_thread_any_more, end_test),
        cmocka_unit_test_teardown(a_thread_whose_beginning_was_lost_is_one, end_test),
        cmocka_unit_test_teardown(a_thread_that_ends_during_a_scan_has_the_time_of_its_record,
                                  end_test),
        cmocka_unit_test_teardown(all_threads_that_are_gone_are_a_process_that_is_gone, end_test),
        cmocka_unit_test_teardown(a_known_thread_that_is_leaving_is_there_yet, end_test),
        cmocka_unit_test_teardown(an_unknown_thread_that_is_leaving_is_not_found, end_test),
    };

    return cmocka_run_group_tests_name("lost threads", tests, NULL, NULL);
}
