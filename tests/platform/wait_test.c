/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* How a flusher sleeps and is woken. What never returns is ended by CTest's limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ck_pr.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "platform/wait.h"

static const uint64_t hour_ns = UINT64_C(3600) * 1000000000;

static void a_wait_ends_at_once_when_the_count_has_changed_and_when_its_time_is_over(void **state)
{
    struct ck_ec32 count;

    (void)state;
    ck_ec32_init(&count, 5);
    etwas_wait(&count, 4, hour_ns);
    ck_ec32_inc(&count, &etwas_wait_mode);
    etwas_wait(&count, 5, hour_ns);
    etwas_wait(&count, 6, 0);
    etwas_wait(&count, 6, 1000000);
    assert_int_equal(ck_ec32_value(&count), 6);
}

enum {
    TURNS = 200,
    SLEEPING_TURNS = 20
};

struct sleeper {
    struct ck_ec32 asked;
    struct ck_ec32 answered;
    uint32_t thread_id;
};

/* Answers each increment with one. */
static void *answer(void *argument)
{
    struct sleeper *sleeper = argument;

    ck_pr_store_32(&sleeper->thread_id, (uint32_t)gettid());
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        while (ck_ec32_value(&sleeper->asked) == turn) {
            etwas_wait(&sleeper->asked, turn, hour_ns);
        }
        ck_ec32_inc(&sleeper->answered, &etwas_wait_mode);
    }
    return NULL;
}

static bool is_asleep(uint32_t thread_id)
{
    char path[64];
    char line[256] = {0};
    const char *after_name;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%u/stat", thread_id);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(fclose(file), 0);
    after_name = strrchr(line, ')');
    return after_name != NULL && after_name[2] == 'S';
}

/* In the first turns the other thread is known to sleep when it is woken. */
static void a_wake_from_another_thread_ends_a_long_wait(void **state)
{
    struct sleeper sleeper = {.thread_id = 0};
    pthread_t thread;

    (void)state;
    ck_ec32_init(&sleeper.asked, 0);
    ck_ec32_init(&sleeper.answered, 0);
    assert_int_equal(pthread_create(&thread, NULL, answer, &sleeper), 0);
    while (ck_pr_load_32(&sleeper.thread_id) == 0) {
        (void)sched_yield();
    }
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        while (turn < SLEEPING_TURNS && !is_asleep(sleeper.thread_id)) {
            (void)sched_yield();
        }
        ck_ec32_inc(&sleeper.asked, &etwas_wait_mode);
        while (ck_ec32_value(&sleeper.answered) == turn) {
            etwas_wait(&sleeper.answered, turn, hour_ns);
        }
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(ck_ec32_value(&sleeper.answered), TURNS);
}

struct lone_sleeper {
    uint32_t word;
    uint32_t thread_id;
};

static void wait_below_the_event_count(const uint32_t *word, uint32_t expected, time_t seconds)
{
    const struct ck_ec_ops *operations = etwas_wait_mode.ops;
    const struct ck_ec_wait_state state = {.ops = operations};
    struct timespec deadline;

    assert_int_equal(operations->gettime(operations, &deadline), 0);
    deadline.tv_sec += seconds;
    operations->wait32(&state, word, expected, &deadline);
}

static void *sleep_for_an_hour(void *argument)
{
    struct lone_sleeper *sleeper = argument;

    ck_pr_store_32(&sleeper->thread_id, (uint32_t)gettid());
    while (ck_pr_load_32(&sleeper->word) == 0) {
        wait_below_the_event_count(&sleeper->word, 0, 3600);
    }
    return NULL;
}

/*
 * The event count looks again by itself after a while, and so hides a wake that is lost: here it
 * cannot.
 */
static void the_systems_wake_ends_the_systems_wait(void **state)
{
    struct lone_sleeper sleeper = {0};
    pthread_t thread;

    (void)state;
    assert_false(etwas_wait_mode.single_producer);
    wait_below_the_event_count(&sleeper.word, 1, 3600);
    wait_below_the_event_count(&sleeper.word, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, sleep_for_an_hour, &sleeper), 0);
    while (ck_pr_load_32(&sleeper.thread_id) == 0 || !is_asleep(sleeper.thread_id)) {
        (void)sched_yield();
    }
    ck_pr_store_32(&sleeper.word, 1);
    etwas_wait_mode.ops->wake32(etwas_wait_mode.ops, &sleeper.word);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static uint32_t calls;

static void count_calls(enum etwas_testpoint point)
{
    calls += point == ETWAS_POINT_WAKING;
}

/*
 * The sleeper's mark is gone once another thread has counted, which may be held before its system
 * call. So a thread that finds that it was not the first calls the system itself. The first calls
 * it for a sleeper only, also where the count begins anew.
 */
static void who_is_not_the_first_to_wake_calls_the_system_too(void **state)
{
    struct ck_ec32 count;

    (void)state;
    calls = 0;
    etwas_testpoint_set(count_calls);
    ck_ec32_init(&count, 5);
    etwas_wake(&count, 5);
    assert_int_equal(calls, 0);
    etwas_wake(&count, 5);
    assert_int_equal(calls, 1);
    etwas_wake(&count, 5);
    assert_int_equal(calls, 2);
    etwas_wake(&count, 8);
    assert_int_equal(calls, 2);
    ck_ec32_init(&count, INT32_MAX);
    etwas_wake(&count, INT32_MAX);
    assert_int_equal(calls, 2);
    etwas_testpoint_set(NULL);
}

static void the_clock_of_waits_is_the_monotonic_one_in_nanoseconds(void **state)
{
    struct timespec before;
    struct timespec after;
    uint64_t now_ns;

    (void)state;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &before), 0);
    now_ns = etwas_monotonic_ns();
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &after), 0);
    assert_true((uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec <= now_ns);
    assert_true(now_ns <= (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_at_once_when_the_count_has_changed_and_when_its_time_is_over),
        cmocka_unit_test(a_wake_from_another_thread_ends_a_long_wait),
        cmocka_unit_test(the_systems_wake_ends_the_systems_wait),
        cmocka_unit_test(who_is_not_the_first_to_wake_calls_the_system_too),
        cmocka_unit_test(the_clock_of_waits_is_the_monotonic_one_in_nanoseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
