/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/attempts.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FIRST_PAUSE_US = 250000, /* each is twice the one before */
};

static const struct CMUnitTest *current;
static pid_t judge; /* a child of the test's has nothing to begin again */
static uint32_t attempt;
static jmp_buf next_attempt;
static cpu_set_t processors;

/*
 * More threads want to run than there are processors: the thread that empties the rings may come
 * late.
 */
static bool is_machine_loaded(void)
{
    double load;

    return getloadavg(&load, 1) == 1 && load > (double)sysconf(_SC_NPROCESSORS_ONLN);
}

void skip_if_lost(uint64_t lost, struct events *events)
{
    if (lost == 0) {
        return;
    }
    (void)printf("the kernel lost %llu events on this machine, as it is now\n",
                 (unsigned long long)lost);
    if (judge == getpid() && attempt + 1 < KERNEL_ATTEMPTS) {
        free_events(events);
        longjmp(next_attempt, 1);
    }
    if (is_machine_loaded()) {
        free_events(events);
        print_message("skipped: the machine is too busy\n");
        skip();
    }
    assert_int_equal(lost, 0);
}

static int begin(void **state)
{
    return current->setup_func != NULL ? current->setup_func(state) : 0;
}

static int end(void **state)
{
    return current->teardown_func != NULL ? current->teardown_func(state) : 0;
}

static int begin_first(void **state)
{
    current = *state;
    *state = current->initial_state;
    attempt = 0;
    judge = getpid();
    (void)sched_getaffinity(0, sizeof processors, &processors);
    return begin(state);
}

/* The test may have been left anywhere. */
static void begin_again(void **state)
{
    (void)sched_setaffinity(0, sizeof processors, &processors);
    assert_int_equal(end(state), 0);
    (void)usleep(FIRST_PAUSE_US << attempt);
    attempt++;
    assert_int_equal(begin(state), 0);
}

static void run_until_nothing_is_lost(void **state)
{
    while (setjmp(next_attempt) != 0) {
        begin_again(state);
    }
    current->test_func(state);
}

int run_in_attempts(const char *name, const struct CMUnitTest *tests, size_t count)
{
    struct CMUnitTest *all = calloc(count, sizeof *all);
    int result;

    assert_non_null(all);
    for (size_t index = 0; index < count; index++) {
        all[index] = (struct CMUnitTest){.name = tests[index].name,
                                         .test_func = run_until_nothing_is_lost,
                                         .setup_func = begin_first,
                                         .teardown_func = tests[index].teardown_func,
                                         .initial_state = (void *)(uintptr_t)&tests[index]};
    }
    result = _cmocka_run_group_tests(name, all, count, NULL, NULL);
    free(all);
    return result;
}
