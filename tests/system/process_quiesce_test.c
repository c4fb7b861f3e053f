/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records are handled while /proc is scanned, between any two processes: a process that begins,
 * changes or ends meanwhile is emitted once, whether it is scanned before or after that.
 */
#include "system/made_up_processes.h"

/* Called after process 1, and before 10 and 20. */
static void (*happens)(void);

static void drain_here(struct etwas_quiesce *quiesce)
{
    void (*now)(void) = happens;

    (void)quiesce;
    happens = NULL;
    if (now != NULL) {
        now();
    }
}

static struct etwas_quiesce quiesce_here = {drain_here};

static struct made_up made_up_of(uint32_t id, uint32_t parent_id, const char *name)
{
    return (struct made_up){.id = id,
                            .parent_id = parent_id,
                            .threads = {id},
                            .start_tick = 1,
                            .name = name,
                            .command_line = name,
                            .mappings = {shell}};
}

/* 10 and 20 are there beside 1. */
static void run_down(uint32_t emits, void (*meanwhile)(void))
{
    make_up_machine();
    machine[1] = made_up_of(10, 1, "ten");
    machine[2] = made_up_of(20, 10, "twenty");
    quiesce_with = &quiesce_here;
    happens = meanwhile;
    begin_on_machine(emits);
}

static void fork_of_an_unknown_one(void)
{
    now_ns = 60;
    fork_at(55, 10, 11, 11);
}

static void a_parent_that_was_not_scanned_yet_is_emitted_first_and_once(void **state)
{
    (void)state;
    run_down(ETWAS_EMIT_PROCESSES, fork_of_an_unknown_one);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n"
           "60* DCStart 10 of 1, ten [ten]\n"
           "55@3 by 1 Start 11 of 10, ten [ten]\n"
           "60* DCStart 20 of 10, twenty [twenty]\n");
}

/* The child has what its parent has. */
static void its_child_has_its_images(void **state)
{
    (void)state;
    run_down(ETWAS_EMIT_IMAGES, fork_of_an_unknown_one);
    forget();
    exit_at(70, 11, 11);
    expect("70@3 by 1 Unload in 11 400000 to 403000 /bin/sh\n");
}

static void a_fork_of_who_is_listed_later(void)
{
    machine[3] = made_up_of(30, 1, "sh");
    fork_at(55, 1, 30, 30);
}

static void a_process_that_begins_during_the_scan_has_no_rundown(void **state)
{
    (void)state;
    run_down(ETWAS_EMIT_PROCESSES, a_fork_of_who_is_listed_later);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n"
           "55@3 by 1 Start 30 of 1, sh [sh -c x]\n"
           "50* DCStart 10 of 1, ten [ten]\n"
           "50* DCStart 20 of 10, twenty [twenty]\n");
    exit_at(70, 30, 30);
    expect("70@3 by 1 End 30 of 1, sh [sh -c x]\n");
}

static void an_end_of_who_is_listed_yet(void)
{
    exit_at(55, 10, 10);
    machine[1].is_leaving[0] = true;
}

static void a_process_that_ends_during_the_scan_is_not_found(void **state)
{
    (void)state;
    run_down(ETWAS_EMIT_PROCESSES, an_end_of_who_is_listed_yet);
    expect("50* DCStart 1 of 0, sh [sh -c x]\n"
           "50* DCStart 20 of 10, twenty [twenty]\n");
}

static void nothing(void)
{
}

/* The kernel's record has a later stamp than the scan. */
static void a_process_scanned_before_its_fork_record_begins_once(void **state)
{
    (void)state;
    run_down(ETWAS_EMIT_PROCESSES, nothing);
    forget();
    fork_at(51, 1, 10, 10);
    expect("");
    exit_at(70, 10, 10);
    expect("70@3 by 1 End 10 of 1, ten [ten]\n");
    fork_at(1000, 1, 20, 20); /* another, much later */
    expect("1000@3 by 1 End 20 of 10, twenty [twenty] not seen\n"
           "1000@3 by 1 Start 20 of 1, sh [sh -c x]\n");
}

static void end_of_a_known_one(void)
{
    exit_at(155, 20, 20);
    machine[2].id = 0;
    fork_at(156, 1, 40, 40);
    machine[4] = made_up_of(40, 1, "sh");
}

/* Each that was there, and is yet. */
static void a_rundown_is_emitted_again_on_request(void **state)
{
    (void)state;
    run_down(ETWAS_EMIT_PROCESSES, nothing);
    forget();
    now_ns = 150;
    happens = end_of_a_known_one;
    etwas_processes_run_down(&processes);
    expect("150* DCStart 1 of 0, sh [sh -c x]\n"
           "155@3 by 1 End 20 of 10, twenty [twenty]\n"
           "156@3 by 1 Start 40 of 1, sh [sh -c x]\n"
           "150* DCStart 10 of 1, ten [ten]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_parent_that_was_not_scanned_yet_is_emitted_first_and_once,
                                  end_test),
        cmocka_unit_test_teardown(its_child_has_its_images, end_test),
        cmocka_unit_test_teardown(a_process_that_begins_during_the_scan_has_no_rundown, end_test),
        cmocka_unit_test_teardown(a_process_that_ends_during_the_scan_is_not_found, end_test),
        cmocka_unit_test_teardown(a_process_scanned_before_its_fork_record_begins_once, end_test),
        cmocka_unit_test_teardown(a_rundown_is_emitted_again_on_request, end_test),
    };

    return cmocka_run_group_tests_name("process quiesce", tests, NULL, NULL);
}
