/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_session_wait: the end of a session, whatever ends it, and what is no end of it.
 */
#include <pthread.h>

#include "session/fixture.h"

#define FOR_EVER UINT32_MAX

enum {
    WAITERS = 4
};

struct waiter {
    etwas_trace_handle session;
    uint32_t code;
};

static void *wait_for_the_end(void *argument)
{
    struct waiter *waiter = argument;

    waiter->code = etwas_session_wait(waiter->session, FOR_EVER);
    return NULL;
}

static void everybody_who_waits_is_told_of_a_stop(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other = start_recorder();
    struct waiter waiters[WAITERS];
    pthread_t threads[WAITERS];

    (void)state;
    for (int index = 0; index < WAITERS; index++) {
        waiters[index] = (struct waiter){.session = session, .code = ERROR_INVALID_FUNCTION};
        assert_int_equal(pthread_create(&threads[index], NULL, wait_for_the_end, &waiters[index]),
                         0);
    }
    /* The end of another one is none of this one. */
    stop_session(other, NULL);
    assert_int_equal(etwas_session_wait(session, 1), ERROR_TIMEOUT);
    stop_session(session, NULL);
    for (int index = 0; index < WAITERS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
        assert_int_equal(waiters[index].code, ERROR_SUCCESS);
    }
    assert_int_equal(etwas_session_wait(session, 0), ERROR_SUCCESS);
}

static void a_full_file_is_an_end(void **state)
{
    const etwas_session_options full = {
        .log_file_mode = EVENT_TRACE_USE_KBYTES_FOR_SIZE,
        .buffer_size_kb = 4,
        .maximum_file_size = 64,
    };
    etwas_trace_handle session = start_session(folder_path("f.etl"), &full);
    struct waiter waiter = {.session = session};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_the_end, &waiter), 0);
    for (uint64_t number = 0; etwas_session_wait(session, 0) == ERROR_TIMEOUT; number++) {
        (void)log_number(session, number);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(waiter.code, ERROR_SUCCESS);
}

static void what_is_no_session_is_refused(void **state)
{
    etwas_trace_handle session = start_recorder();

    (void)state;
    assert_int_equal(etwas_session_wait(0, FOR_EVER), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_session_wait(session + 0x100, FOR_EVER), ERROR_INVALID_HANDLE);
    assert_int_equal(etwas_session_wait(session, 0), ERROR_TIMEOUT);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(everybody_who_waits_is_told_of_a_stop),
        FOLDER_TEST(a_full_file_is_an_end),
        FOLDER_TEST(what_is_no_session_is_refused),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
