/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A test that lost events once begins again, as new; one that always loses them does not pass.
 */
#include <fcntl.h>
#include <unistd.h>

#include "system/attempts.h"

static uint32_t begun;
static uint32_t ended;
static uint32_t passed;

static int begin(void **state)
{
    static uint32_t number;

    number = ++begun;
    *state = &number;
    return 0;
}

static int end(void **state)
{
    (void)state;
    ended++;
    return 0;
}

static void lose_at_first(void **state)
{
    struct events events = {.items = NULL};

    assert_int_equal(*(uint32_t *)*state, begun);
    assert_int_equal(ended, begun - 1);
    skip_if_lost(begun < 2, &events);
    passed++;
}

static void lose_always(void **state)
{
    struct events events = {.items = NULL};

    (void)state;
    skip_if_lost(1, &events);
    passed++;
}

static int run_quietly(void (*test)(void **state))
{
    const struct CMUnitTest tests[] = {{"", test, begin, end, NULL}};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    return run_in_attempts("", tests, 1);
}

static int run_lose_at_first(void)
{
    return run_quietly(lose_at_first) == 0 && passed == 1 && begun == 2 && ended == 2 ? 0 : 1;
}

static int run_lose_always(void)
{
    (void)run_quietly(lose_always);
    return passed == 0 && begun == KERNEL_ATTEMPTS && ended == KERNEL_ATTEMPTS ? 0 : 1;
}

static void a_test_that_lost_events_begins_again(void **state)
{
    (void)state;
    expect_in_child(run_lose_at_first);
}

static void one_that_always_loses_them_does_not_pass(void **state)
{
    (void)state;
    expect_in_child(run_lose_always);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_test_that_lost_events_begins_again),
        cmocka_unit_test(one_that_always_loses_them_does_not_pass),
    };

    return cmocka_run_group_tests_name("attempts", tests, NULL, NULL);
}
