/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What belongs to a thread: its ids, and its last error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "child.h"
#include "platform/thread.h"

static int ids_are_those_the_kernel_gives(void)
{
    struct etwas_thread_ids ids = etwas_thread_ids();

    CHECK(ids.thread_id == (uint32_t)gettid());
    CHECK(ids.process_id == (uint32_t)getpid());
    return 0;
}

static void *check_ids(void *result)
{
    *(int *)result = ids_are_those_the_kernel_gives();
    return NULL;
}

static void each_thread_has_the_ids_the_kernel_gives_it(void **state)
{
    (void)state;
    assert_int_equal(ids_are_those_the_kernel_gives(), 0);
    for (int index = 0; index < 3; index++) {
        pthread_t thread;
        int result = -1;

        assert_int_equal(pthread_create(&thread, NULL, check_ids, &result), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(result, 0);
    }
    assert_int_equal(ids_are_those_the_kernel_gives(), 0);
}

static void ids_are_asked_for_once_and_again_when_forgotten(void **state)
{
    struct etwas_thread_ids ids;

    (void)state;
    etwas_thread_ids_cache = (struct etwas_thread_ids){.thread_id = 5, .process_id = 6};
    ids = etwas_thread_ids();
    assert_int_equal(ids.thread_id, 5);
    assert_int_equal(ids.process_id, 6);
    etwas_thread_ids_forget();
    assert_int_equal(ids_are_those_the_kernel_gives(), 0);
}

static int ids_of_a_child(void)
{
    etwas_thread_ids_forget();
    return ids_are_those_the_kernel_gives();
}

static void a_forks_child_has_its_own_ids_once_the_parents_are_forgotten(void **state)
{
    (void)state;
    assert_int_equal(ids_are_those_the_kernel_gives(), 0);
    expect_child_passes(ids_of_a_child);
    assert_int_equal(ids_are_those_the_kernel_gives(), 0);
}

static void *have_an_error_of_my_own(void *result)
{
    bool right = etwas_GetLastError() == 0;

    etwas_SetLastError(ERROR_ACCESS_DENIED);
    right = right && GetLastError() == ERROR_ACCESS_DENIED;
    SetLastError(ERROR_BAD_LENGTH);
    right = right && etwas_GetLastError() == ERROR_BAD_LENGTH;
    *(bool *)result = right;
    return NULL;
}

static void the_last_error_is_the_threads_own(void **state)
{
    pthread_t thread;
    bool right = false;

    (void)state;
    etwas_SetLastError(ERROR_MORE_DATA);
    assert_int_equal(pthread_create(&thread, NULL, have_an_error_of_my_own, &right), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(right);
    assert_int_equal(etwas_GetLastError(), ERROR_MORE_DATA);
    assert_int_equal(GetLastError(), ERROR_MORE_DATA);
    etwas_SetLastError(UINT32_MAX);
    assert_int_equal(GetLastError(), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_the_ids_the_kernel_gives_it),
        cmocka_unit_test(ids_are_asked_for_once_and_again_when_forgotten),
        cmocka_unit_test(a_forks_child_has_its_own_ids_once_the_parents_are_forgotten),
        cmocka_unit_test(the_last_error_is_the_threads_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
