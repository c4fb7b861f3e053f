/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The counters that messages take their sequence numbers from (R110). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <etwas/evntrace.h>
#include <pthread.h>
#include <string.h>

#include "session/sequence_number.h"

enum {
    TAKERS = 5,
    NUMBERS_TO_TAKE = 300000,
};

struct taker {
    struct etwas_sequence_numbers *numbers;
    pthread_t thread;
    uint32_t taken[NUMBERS_TO_TAKE];
};

static pthread_barrier_t all_takers;

static void *taker_main(void *argument)
{
    struct taker *taker = argument;

    (void)pthread_barrier_wait(&all_takers);
    for (uint32_t index = 0; index < NUMBERS_TO_TAKE; index++) {
        taker->taken[index] = etwas_sequence_numbers_next(taker->numbers, 1);
    }
    return NULL;
}

/* The threads do nothing between two numbers, so that they really meet. */
static void r110_threads_that_take_numbers_at_once_get_each_number_once(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                     EVENT_TRACE_USE_GLOBAL_SEQUENCE};
    static struct etwas_sequence_numbers numbers;
    static struct taker takers[TAKERS];
    static uint8_t seen[TAKERS * NUMBERS_TO_TAKE + 1];

    (void)state;
    for (size_t mode = 0; mode < 2; mode++) {
        etwas_sequence_numbers_begin(&numbers, 1, modes[mode]);
        etwas_sequence_numbers_set(&numbers, 0);
        memset(seen, 0, sizeof seen);
        assert_int_equal(pthread_barrier_init(&all_takers, NULL, TAKERS), 0);
        for (uint32_t index = 0; index < TAKERS; index++) {
            takers[index].numbers = &numbers;
            assert_int_equal(
                pthread_create(&takers[index].thread, NULL, taker_main, &takers[index]), 0);
        }
        for (uint32_t index = 0; index < TAKERS; index++) {
            assert_int_equal(pthread_join(takers[index].thread, NULL), 0);
            for (uint32_t at = 0; at < NUMBERS_TO_TAKE; at++) {
                uint32_t number = takers[index].taken[at];

                assert_true(number >= 1 && number <= TAKERS * NUMBERS_TO_TAKE);
                assert_int_equal(seen[number], 0);
                seen[number] = 1;
            }
        }
        assert_int_equal(pthread_barrier_destroy(&all_takers), 0);
    }
}

static void a_writer_held_since_the_last_session_takes_no_number_of_this_one(void **state)
{
    struct etwas_sequence_numbers numbers;

    (void)state;
    etwas_sequence_numbers_begin(&numbers, 7, EVENT_TRACE_USE_LOCAL_SEQUENCE);
    assert_true(etwas_sequence_numbers_has(&numbers, 7));
    assert_int_equal(etwas_sequence_numbers_next(&numbers, 7), 1);
    etwas_sequence_numbers_begin(&numbers, 8, EVENT_TRACE_USE_LOCAL_SEQUENCE);
    assert_false(etwas_sequence_numbers_has(&numbers, 7));
    assert_int_equal(etwas_sequence_numbers_next(&numbers, 7), 0);
    assert_int_equal(etwas_sequence_numbers_next(&numbers, 8), 1);
    etwas_sequence_numbers_begin(&numbers, 9, EVENT_TRACE_USE_GLOBAL_SEQUENCE);
    assert_int_equal(etwas_sequence_numbers_next(&numbers, 8), 0);
    assert_true(etwas_sequence_numbers_has(&numbers, 9));
    etwas_sequence_numbers_begin(&numbers, 10, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
    assert_false(etwas_sequence_numbers_has(&numbers, 10));
    assert_false(etwas_sequence_numbers_has(&numbers, 9));
    assert_int_equal(etwas_sequence_numbers_next(&numbers, 10), 0);
}

static void r110_after_the_last_number_comes_1(void **state)
{
    static const uint32_t modes[] = {EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                     EVENT_TRACE_USE_GLOBAL_SEQUENCE};
    struct etwas_sequence_numbers numbers;

    (void)state;
    for (size_t index = 0; index < 2; index++) {
        etwas_sequence_numbers_begin(&numbers, UINT32_MAX, modes[index]);
        etwas_sequence_numbers_set(&numbers, UINT32_MAX - 2);
        assert_int_equal(etwas_sequence_numbers_next(&numbers, UINT32_MAX), UINT32_MAX - 1);
        assert_int_equal(etwas_sequence_numbers_next(&numbers, UINT32_MAX), UINT32_MAX);
        assert_int_equal(etwas_sequence_numbers_next(&numbers, UINT32_MAX), 1);
        assert_int_equal(etwas_sequence_numbers_next(&numbers, UINT32_MAX), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r110_threads_that_take_numbers_at_once_get_each_number_once),
        cmocka_unit_test(a_writer_held_since_the_last_session_takes_no_number_of_this_one),
        cmocka_unit_test(r110_after_the_last_number_comes_1),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
