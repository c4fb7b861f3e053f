/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Offloaded tasks of several threads at once: how many are abandoned, and what becomes of their
 * slots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ck_pr.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/names/offload.h"

enum {
    ASKERS = ETWAS_OFFLOAD_MOST + 4,
    ROUNDS = 50, /* more than there are places */
    ONE_PROCESS = 4711,
};

static uint32_t goes_on;
static uint32_t ran;
static uint32_t freed;
static uint32_t left;
static uint32_t done;
static pthread_barrier_t together;

static void await_end(struct etwas_offload_task *task)
{
    (void)task;
    ck_pr_inc_32(&ran);
    while (ck_pr_load_32(&goes_on) == 0) {
        (void)usleep(1000);
    }
}

static void count_and_free(struct etwas_offload_task *task)
{
    ck_pr_inc_32(&freed);
    free(task);
}

static void count_left(struct etwas_offload_task *task)
{
    (void)task;
    ck_pr_inc_32(&left);
}

static void ask(uint32_t process_id)
{
    struct etwas_offload_task *task = calloc(1, sizeof *task);

    assert_non_null(task);
    *task = (struct etwas_offload_task){
        .run = await_end, .free = count_and_free, .abandon = count_left, .process_id = process_id};
    if (etwas_offload_run(task)) {
        ck_pr_inc_32(&done);
        count_and_free(task);
    }
}

static void *ask_once(void *number)
{
    etwas_offload_begin();
    (void)pthread_barrier_wait(&together);
    ask((uint32_t)(uintptr_t)number);
    etwas_offload_end();
    return NULL;
}

static void *ask_often(void *argument)
{
    etwas_offload_begin();
    (void)pthread_barrier_wait(&together);
    for (int round = 0; round < ROUNDS; round++) {
        ask(ONE_PROCESS);
    }
    etwas_offload_end();
    return argument;
}

static void run_askers(uint32_t count, void *(*asker)(void *))
{
    pthread_t threads[ASKERS];

    goes_on = asker == ask_often;
    ran = 0;
    freed = 0;
    left = 0;
    done = 0;
    assert_int_equal(pthread_barrier_init(&together, NULL, count), 0);
    for (uint32_t index = 0; index < count; index++) {
        assert_int_equal(
            pthread_create(&threads[index], NULL, asker, (void *)(uintptr_t)(index + 1)), 0);
    }
    for (uint32_t index = 0; index < count; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    (void)pthread_barrier_destroy(&together);
}

/* All begin before any is left: each is waited for a quarter of a second. */
static void no_more_tasks_are_abandoned_than_there_are_slots(void **state)
{
    (void)state;
    run_askers(ASKERS, ask_once);
    assert_int_equal(left, ETWAS_OFFLOAD_MOST);
    assert_int_equal(etwas_offload_abandoned(), ETWAS_OFFLOAD_MOST);
    assert_int_equal(done, 0);
    assert_int_equal(ck_pr_load_32(&freed), ASKERS - ETWAS_OFFLOAD_MOST);
    ck_pr_store_32(&goes_on, 1);
    while (etwas_offload_abandoned() != 0 || ck_pr_load_32(&freed) != ASKERS) {
        (void)usleep(1000);
    }
    assert_int_equal(ck_pr_load_32(&ran), ETWAS_OFFLOAD_MOST);
}

/* Also where several ask about one process: none of them is left alone with it. */
static void a_finished_task_releases_its_slot(void **state)
{
    (void)state;
    run_askers(ETWAS_OFFLOAD_MOST, ask_often);
    while (etwas_offload_abandoned() != 0 || ck_pr_load_32(&freed) != ETWAS_OFFLOAD_MOST * ROUNDS) {
        (void)usleep(1000);
    }
    if (left != 0) { /* an offloaded task had no processor for a quarter of a second */
        print_message("skipped: an offloaded task had no processor for a quarter of a second\n");
        skip();
    }
    assert_int_equal(done, ETWAS_OFFLOAD_MOST * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_tasks_are_abandoned_than_there_are_slots),
        cmocka_unit_test(a_finished_task_releases_its_slot),
    };

    return cmocka_run_group_tests_name("offloaded tasks", tests, NULL, NULL);
}
