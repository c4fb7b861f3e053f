/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which thread runs a control callback, in which order, and which callers wait for it (R141, R191;
 * Timeout of EnableTraceEx2).
 */
#include <ck_pr.h>
#include <sys/resource.h>
#include <unistd.h>

#include "provider/follow.h"

static void look_often_that_it_is_not_done(const uint32_t *done)
{
    for (int look = 0; look < 200; look++) {
        (void)sched_yield();
        assert_int_equal(ck_pr_load_32(done), 0);
    }
}

/* ---- Timeout --------------------------------------------------------------------------------- */

static void with_timeout_0_and_infinite_the_callback_runs_in_the_calling_thread(void **state)
{
    struct provider provider;
    etwas_trace_handle session = start_recorder();

    (void)state;
    begin(&provider, &control_guid);
    assert_int_equal(enable(&provider, session, 1, 0), ERROR_SUCCESS);
    assert_int_equal(provider.returned, 1);
    assert_true(pthread_equal(provider.thread, pthread_self()));
    assert_int_equal(enable(&provider, session, 2, INFINITELY), ERROR_SUCCESS);
    assert_int_equal(provider.returned, 2);
    assert_true(pthread_equal(provider.thread, pthread_self()));
    /*
     * If the timeout is finite, the callback runs in another thread, and has returned when the call
     * returns.
     */
    assert_int_equal(enable(&provider, session, 3, LONG_MS), ERROR_SUCCESS);
    assert_int_equal(ck_pr_load_32(&provider.returned), 3);
    assert_false(pthread_equal(provider.thread, pthread_self()));
    assert_int_equal(provider.levels[2], 3);
    end(&provider);
    /* Nobody is registered: nothing to wait for. */
    assert_int_equal(enable(&provider, session, 3, LONG_MS), ERROR_SUCCESS);
    stop_session(session, NULL);
}

static void live_without_threads(void)
{
    const struct rlimit limit = {1 << 30, 1 << 30};
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .flusher.no_thread = true};
    etwas_trace_handle session;
    struct provider provider;
    pthread_attr_t attributes;

    /* The stack of a new thread is more than the process may have. */
    CHECK_IN_CHILD(pthread_attr_init(&attributes) == 0);
    CHECK_IN_CHILD(pthread_attr_setstacksize(&attributes, (size_t)4 << 30) == 0);
    CHECK_IN_CHILD(pthread_setattr_default_np(&attributes) == 0);
    CHECK_IN_CHILD(etwas_start("no threads", NULL, &options, &session) == ERROR_SUCCESS);
    begin(&provider, &control_guid);
    CHECK_IN_CHILD(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_IN_CHILD(enable(&provider, session, 1, LONG_MS) == ERROR_SUCCESS);
    CHECK_IN_CHILD(provider.returned == 1);
    CHECK_IN_CHILD(pthread_equal(provider.thread, pthread_self()));
    _exit(0);
}

static void where_no_thread_can_be_had_the_callback_runs_in_the_calling_one(void **state)
{
    pid_t child;

    (void)state;
    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer needs more address space than any limit\n");
        skip();
    }
    child = fork();
    if (child == 0) {
        live_without_threads();
    }
    assert_int_equal(exit_code_of(child), 0);
}

static void a_callback_that_does_not_return_in_time_is_reported_and_goes_on(void **state)
{
    struct provider provider;
    etwas_trace_handle session = start_recorder();
    const etwas_provider *gate;

    (void)state;
    begin(&provider, &control_guid);
    gate = etwas_provider_of(provider.registration);
    provider.hold = 1;
    assert_int_equal(enable(&provider, session, 4, 5), ERROR_TIMEOUT);
    /* The setting is made all the same. */
    assert_true(etwas_enabled(gate, 4, 1));
    assert_false(etwas_enabled(gate, 5, 1));
    wait_for(&provider.held);
    assert_int_equal(ck_pr_load_32(&provider.returned), 0);
    /* Another change waits its turn behind it; a short wait for that is in vain, too. */
    assert_int_equal(enable(&provider, session, 6, 1), ERROR_TIMEOUT);
    assert_true(etwas_enabled(gate, 6, 1));
    assert_int_equal(
        EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 1, NULL),
        ERROR_TIMEOUT);
    assert_int_equal(ck_pr_load_32(&provider.calls), 1);
    (void)sem_post(&provider.go_on);
    assert_int_equal(EnableTraceEx2(session, &control_guid, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0,
                                    0, 0, INFINITELY, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(ck_pr_load_32(&provider.returned), 4);
    assert_int_equal(provider.requests[1], WMI_ENABLE_EVENTS);
    assert_int_equal(provider.requests[2], WMI_CAPTURE_STATE);
    assert_int_equal(provider.requests[3], WMI_DISABLE_EVENTS);
    end(&provider);
    stop_session(session, NULL);
}

static void a_slow_callback_holds_up_no_other_provider_and_no_call_with_timeout_0(void **state)
{
    struct provider slow;
    struct provider other;
    struct other_call call;
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle second = start_recorder();
    etwas_guid guid = control_guid;
    uint32_t bytes = 0;

    (void)state;
    begin(&slow, &control_guid);
    start_held_call(&call, &slow, session);

    begin(&other, &second_class);
    assert_int_equal(enable(&other, second, 1, 0), ERROR_SUCCESS);
    assert_int_equal(enable(&other, second, 1, INFINITELY), ERROR_SUCCESS);
    assert_int_equal(enable(&other, second, 1, LONG_MS), ERROR_SUCCESS);
    assert_int_equal(other.returned, 3);
    assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof guid, NULL, 0, &bytes),
                     ERROR_INSUFFICIENT_BUFFER);
    stop_session(second, NULL);
    assert_int_equal(other.returned, 4);
    end(&other);
    /* The slow one itself is told later, by the thread that it keeps. */
    assert_int_equal(enable(&slow, session, 9, 0), ERROR_SUCCESS);
    assert_true(etwas_enabled(etwas_provider_of(slow.registration), 9, 1));
    assert_int_equal(ck_pr_load_32(&slow.calls), 1);
    (void)sem_post(&slow.go_on);
    join_call(&call);
    assert_int_equal(call.code, ERROR_SUCCESS);
    assert_int_equal(slow.returned, 2);
    assert_int_equal(slow.levels[1], 9);
    assert_true(pthread_equal(slow.thread, call.thread));
    end(&slow);
    stop_session(session, NULL);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void r191_requests_are_run_in_order_and_the_last_one_always(void **state)
{
    enum {
        WAITING = 16
    };
    struct provider provider;
    struct other_call call;
    etwas_trace_handle session = start_recorder();

    (void)state;
    begin(&provider, &control_guid);
    start_held_call(&call, &provider, session);
    /* Enabled, asked for state, enabled, disabled: four times, and each of these is a request. */
    for (uint32_t number = 0; number < WAITING; number++) {
        static const uint32_t codes[] = {
            EVENT_CONTROL_CODE_ENABLE_PROVIDER, EVENT_CONTROL_CODE_CAPTURE_STATE,
            EVENT_CONTROL_CODE_ENABLE_PROVIDER, EVENT_CONTROL_CODE_DISABLE_PROVIDER};

        assert_int_equal(EnableTrace(codes[number % 4], 1, number, &control_guid, session),
                         ERROR_SUCCESS);
    }
    assert_int_equal(ck_pr_load_32(&provider.calls), 1);
    (void)sem_post(&provider.go_on);
    join_call(&call);
    assert_int_equal(provider.returned, 1 + WAITING);
    for (uint32_t number = 0; number < WAITING; number++) {
        static const WMIDPREQUESTCODE requests[] = {WMI_ENABLE_EVENTS, WMI_CAPTURE_STATE,
                                                    WMI_ENABLE_EVENTS, WMI_DISABLE_EVENTS};

        assert_int_equal(provider.requests[1 + number], requests[number % 4]);
    }

    /* More than can wait: in the end it is told what was asked last. */
    assert_int_equal(enable(&provider, session, 1, 0), ERROR_SUCCESS);
    provider.calls = provider.returned = 0;
    start_held_call(&call, &provider, session);
    for (uint32_t number = 0; number < WAITING; number++) {
        assert_int_equal(enable(&provider, session, 2, 0), ERROR_SUCCESS);
    }
    assert_int_equal(EnableTrace(EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, &control_guid, session),
                     ERROR_NO_SYSTEM_RESOURCES);
    for (uint32_t number = 0; number < CALLS; number++) {
        assert_int_equal(enable(&provider, session, 3, 0), ERROR_SUCCESS);
    }
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
    (void)sem_post(&provider.go_on);
    join_call(&call);
    assert_int_equal(provider.returned, 1 + WAITING);
    assert_int_equal(provider.requests[WAITING - 1], WMI_ENABLE_EVENTS);
    assert_int_equal(provider.requests[WAITING], WMI_DISABLE_EVENTS);
    end(&provider);
    stop_session(session, NULL);
}

static void *stop_it(void *argument)
{
    struct other_call *call = argument;

    call->code = etwas_stop(call->session, NULL);
    ck_pr_store_32(&call->done, 1);
    return NULL;
}

static void r141_stop_waits_until_the_callbacks_have_returned(void **state)
{
    struct provider provider;
    struct other_call call;
    struct other_call stop = {.session = start_recorder()};

    (void)state;
    begin(&provider, &control_guid);
    start_held_call(&call, &provider, stop.session);
    assert_int_equal(pthread_create(&stop.thread, NULL, stop_it, &stop), 0);
    look_often_that_it_is_not_done(&stop.done);
    (void)sem_post(&provider.go_on);
    join_call(&stop);
    assert_int_equal(stop.code, ERROR_SUCCESS);
    assert_int_equal(ck_pr_load_32(&provider.returned), 2);
    assert_int_equal(provider.requests[1], WMI_DISABLE_EVENTS);
    join_call(&call);
    end(&provider);
}

static void *unregister_it(void *argument)
{
    struct other_call *call = argument;

    call->code = UnregisterTraceGuids(call->provider->registration);
    ck_pr_store_32(&call->done, 1);
    return NULL;
}

static void what_waits_for_a_provider_that_unregisters_is_dropped(void **state)
{
    struct provider provider;
    struct provider next;
    struct other_call call;
    struct other_call unregistering = {.provider = &provider};
    struct other_call infinite;
    etwas_trace_handle session = start_recorder();

    (void)state;
    begin(&provider, &control_guid);
    start_held_call(&call, &provider, session);
    start_call(&infinite, &provider, session, 7, INFINITELY);
    while (!etwas_enabled(etwas_provider_of(provider.registration), 7, 1)) {
        (void)sched_yield();
    }
    assert_int_equal(enable(&provider, session, 2, 0), ERROR_SUCCESS);
    assert_int_equal(pthread_create(&unregistering.thread, NULL, unregister_it, &unregistering), 0);
    look_often_that_it_is_not_done(&unregistering.done);
    while (etwas_provider_of(provider.registration) != NULL) {
        (void)sched_yield();
    }
    /* Its entry is not given to another while its callback is inside. */
    begin(&next, &control_guid);
    assert_int_not_equal(next.registration & 0xFFFF, provider.registration & 0xFFFF);
    assert_int_equal(next.returned, 1);
    assert_int_equal(enable(&next, session, 3, 0), ERROR_SUCCESS);
    assert_int_equal(next.returned, 2);
    assert_int_equal(ck_pr_load_32(&provider.calls), 1);
    (void)sem_post(&provider.go_on);
    join_call(&unregistering);
    assert_int_equal(unregistering.code, ERROR_SUCCESS);
    join_call(&call);
    join_call(&infinite);
    assert_int_equal(infinite.code, ERROR_SUCCESS);
    assert_int_equal(provider.calls, 1);
    end(&next);
    stop_session(session, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(with_timeout_0_and_infinite_the_callback_runs_in_the_calling_thread),
        FOLDER_TEST(where_no_thread_can_be_had_the_callback_runs_in_the_calling_one),
        FOLDER_TEST(a_callback_that_does_not_return_in_time_is_reported_and_goes_on),
        FOLDER_TEST(a_slow_callback_holds_up_no_other_provider_and_no_call_with_timeout_0),
        FOLDER_TEST(r191_requests_are_run_in_order_and_the_last_one_always),
        FOLDER_TEST(r141_stop_waits_until_the_callbacks_have_returned),
        FOLDER_TEST(what_waits_for_a_provider_that_unregisters_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
