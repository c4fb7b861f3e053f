/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Control callbacks that call the library themselves, beside many others, and across a fork: nobody
 * waits for ever (R191).
 */
#include <ck_pr.h>
#include <string.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "provider/follow.h"

/* ---- inside callbacks ------------------------------------------------------------------------ */

static void enable_itself_twice(struct provider *provider, etwas_trace_handle session)
{
    if (provider->calls == 1) {
        provider->code = enable(provider, session, 2, LONG_MS);
        assert_int_equal(provider->returned, 1);
        provider->code |= enable(provider, session, 3, INFINITELY);
        assert_int_equal(provider->returned, 2);
    }
}

static void inside_its_own_callback_a_provider_is_called_at_once_and_in_the_same_thread(
    void **state)
{
    struct provider provider;
    etwas_trace_handle session = start_recorder();

    (void)state;
    begin(&provider, &control_guid);
    provider.also = enable_itself_twice;
    assert_int_equal(enable(&provider, session, 1, INFINITELY), ERROR_SUCCESS);
    assert_int_equal(provider.code, ERROR_SUCCESS);
    assert_int_equal(provider.returned, 3);
    assert_int_equal(provider.levels[0], 1);
    assert_int_equal(provider.levels[1], 2);
    assert_int_equal(provider.levels[2], 3);
    assert_true(pthread_equal(provider.thread, pthread_self()));
    /* The same in a thread of the library. */
    provider.calls = provider.returned = 0;
    provider.code = 77;
    assert_int_equal(enable(&provider, session, 1, LONG_MS), ERROR_SUCCESS);
    assert_int_equal(provider.code, ERROR_SUCCESS);
    assert_int_equal(ck_pr_load_32(&provider.returned), 3);
    provider.also = NULL;
    end(&provider);
    stop_session(session, NULL);
}

/* Each callback meets the other one before it goes on. */
static pthread_barrier_t both_inside;

static void enable_the_other(struct provider *provider, etwas_trace_handle session)
{
    if (provider->calls == 1) {
        (void)pthread_barrier_wait(&both_inside);
        provider->code = enable(provider->other, session, 2, INFINITELY);
    }
}

static void unregister_the_other(struct provider *provider, etwas_trace_handle session)
{
    (void)session;
    (void)pthread_barrier_wait(&both_inside);
    provider->code = UnregisterTraceGuids(provider->other->registration);
}

static void run_both(struct provider *left, struct provider *right,
                     void (*also)(struct provider *, etwas_trace_handle), uint32_t timeout_ms)
{
    struct other_call calls[2];
    etwas_trace_handle session = start_recorder();

    begin(left, &control_guid);
    begin(right, &second_class);
    left->other = right;
    right->other = left;
    left->also = right->also = also;
    assert_int_equal(pthread_barrier_init(&both_inside, NULL, 2), 0);
    start_call(&calls[0], left, session, 1, timeout_ms);
    start_call(&calls[1], right, session, 1, timeout_ms);
    join_call(&calls[0]);
    join_call(&calls[1]);
    assert_int_equal(calls[0].code, ERROR_SUCCESS);
    assert_int_equal(calls[1].code, ERROR_SUCCESS);
    (void)pthread_barrier_destroy(&both_inside);
    stop_session(session, NULL);
}

static void two_callbacks_that_enable_each_others_provider_do_not_wait_for_ever(void **state)
{
    struct provider left;
    struct provider right;

    (void)state;
    for (uint32_t round = 0; round < 20; round++) {
        run_both(&left, &right, enable_the_other, round % 2 == 0 ? INFINITELY : LONG_MS);
        /* One waited for the other; to that one it was said that its callback is yet to come. */
        assert_true((left.code == ERROR_SUCCESS && right.code == ERROR_TIMEOUT) ||
                    (left.code == ERROR_TIMEOUT && right.code == ERROR_SUCCESS));
        /* Each: enabled, enabled by the other, disabled at the stop. */
        assert_int_equal(left.returned, 3);
        assert_int_equal(right.returned, 3);
        end(&left);
        end(&right);
    }
}

static void two_callbacks_that_unregister_each_others_provider_do_not_wait_for_ever(void **state)
{
    struct provider left;
    struct provider right;

    (void)state;
    for (uint32_t round = 0; round < 20; round++) {
        run_both(&left, &right, unregister_the_other, INFINITELY);
        assert_int_equal(left.code, ERROR_SUCCESS);
        assert_int_equal(right.code, ERROR_SUCCESS);
        assert_int_equal(left.returned, 1);
        assert_int_equal(right.returned, 1);
    }
}

/* ---- what stays inside a callback, or ends there --------------------------------------------- */

static void what_nobody_runs_does_not_wait_for_a_callback_that_stays_inside(void **state)
{
    struct provider held;
    struct provider other;
    struct other_call first;
    struct other_call second;
    etwas_trace_handle session = start_recorder();

    (void)state;
    begin(&held, &control_guid);
    start_held_call(&first, &held, session);
    /* Registers after it, and so is looked at after it. */
    begin(&other, &control_guid);
    assert_int_equal(other.returned, 1);
    ck_pr_store_32(&other.hold, 1);
    start_call(&second, &held, session, 2, INFINITELY);
    /* Comes to this while the first one is held. */
    wait_for(&other.held);
    assert_int_equal(ck_pr_load_32(&held.returned), 0);
    assert_int_equal(other.levels[1], 2);
    (void)sem_post(&other.go_on);
    (void)sem_post(&held.go_on);
    join_call(&first);
    join_call(&second);
    assert_int_equal(second.code, ERROR_SUCCESS);
    assert_int_equal(held.returned, 2);
    assert_int_equal(other.returned, 2);
    end(&other);
    end(&held);
    stop_session(session, NULL);
}

static void a_session_that_does_not_enable_the_provider_waits_for_no_callback(void **state)
{
    static const uint32_t timeouts[] = {50, INFINITELY, 0};
    struct provider held;
    struct other_call call;
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle other_session = start_recorder();

    (void)state;
    begin(&held, &control_guid);
    start_held_call(&call, &held, session);
    for (size_t index = 0; index < sizeof timeouts / sizeof timeouts[0]; index++) {
        assert_int_equal(EnableTraceEx2(other_session, &control_guid,
                                        EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0,
                                        timeouts[index], NULL),
                         ERROR_SUCCESS);
        assert_int_equal(EnableTraceEx2(other_session, &control_guid,
                                        EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, timeouts[index],
                                        NULL),
                         ERROR_SUCCESS);
    }
    assert_int_equal(ck_pr_load_32(&held.returned), 0);
    (void)sem_post(&held.go_on);
    join_call(&call);
    assert_int_equal(held.calls, 1);
    end(&held);
    stop_session(other_session, NULL);
    stop_session(session, NULL);
}

static struct provider asked_twice;
static struct other_call later;
static uint32_t asked_first;

static void stay_inside_the_second_call(struct provider *provider, etwas_trace_handle session)
{
    (void)session;
    if (provider->calls == 2) {
        (void)sem_post(&provider->held);
        wait_for(&provider->go_on);
    }
}

/* When the first has asked, and does not wait yet, another asks, and runs what both asked for. */
static void ask_once_more(enum etwas_testpoint point)
{
    if (point == ETWAS_POINT_ENABLE_ASKED && ck_pr_fas_32(&asked_first, 1) == 0) {
        start_call(&later, &asked_twice, later.session, 2, 0);
        wait_for(&asked_twice.held);
    }
}

static void a_timeout_is_for_the_request_of_the_caller_and_not_for_one_asked_after_it(void **state)
{
    etwas_trace_handle session = start_recorder();

    (void)state;
    begin(&asked_twice, &control_guid);
    asked_twice.also = stay_inside_the_second_call;
    later.session = session;
    etwas_testpoint_set(ask_once_more);
    assert_int_equal(enable(&asked_twice, session, 1, 200), ERROR_SUCCESS);
    etwas_testpoint_set(NULL);
    assert_int_equal(ck_pr_load_32(&asked_twice.returned), 1);
    (void)sem_post(&asked_twice.go_on);
    join_call(&later);
    assert_int_equal(asked_twice.calls, 2);
    stop_session(session, NULL);
    end(&asked_twice);
}

/* The callback waits in sem_wait, where a thread that is cancelled would end. */
static void a_thread_that_is_cancelled_inside_a_callback_comes_out_of_it_first(void **state)
{
    struct provider provider;
    struct other_call call;
    etwas_trace_handle session = start_recorder();

    (void)state;
    begin(&provider, &control_guid);
    start_held_call(&call, &provider, session);
    assert_int_equal(pthread_cancel(call.thread), 0);
    (void)sem_post(&provider.go_on);
    join_call(&call);
    assert_int_equal(provider.returned, 1);
    stop_session(session, NULL);
    assert_int_equal(provider.returned, 2);
    assert_int_equal(provider.requests[1], WMI_DISABLE_EVENTS);
    end(&provider);
}

/* ---- many threads ---------------------------------------------------------------------------- */

enum {
    THREADS = 6,
    ROUNDS = FIXTURE_SANITIZER ? 300 : 2000,
    SHARED = 3,
};

static etwas_trace_handle crowd_sessions[2];
static struct crowd {
    pthread_t runner;
    uint32_t depth;
    uint32_t calls;
    uint32_t overlaps; /* calls while another thread was inside */
} crowd[THREADS];

static etwas_guid crowd_guid(uint32_t number)
{
    etwas_guid guid = control_guid;

    guid.Data2 = (uint16_t)number;
    return guid;
}

static uint32_t crowd_callback(WMIDPREQUESTCODE request, void *context, uint32_t *bytes,
                               void *buffer)
{
    struct crowd *member = context;
    etwas_trace_handle session = GetTraceLoggerHandle(buffer);
    etwas_guid guid;

    (void)bytes;
    if (ck_pr_load_32(&member->depth) != 0 && !pthread_equal(member->runner, pthread_self())) {
        ck_pr_inc_32(&member->overlaps);
    }
    member->runner = pthread_self();
    ck_pr_inc_32(&member->depth);
    member->calls++;
    (void)log_number(session, member->calls);
    if (request == WMI_CAPTURE_STATE && member->depth < 3) {
        /* Across to another provider, which may be in some callback of its own. */
        guid = crowd_guid(member->calls % SHARED);
        (void)EnableTraceEx2(session, &guid, member->calls % 3, 1, 1, 0,
                             member->calls % 2 == 0 ? INFINITELY : 0, NULL);
    }
    ck_pr_dec_32(&member->depth);
    return ERROR_SUCCESS;
}

static void *live_in_the_crowd(void *argument)
{
    struct crowd *member = argument;
    uint32_t number = (uint32_t)(member - crowd);
    etwas_guid own = crowd_guid(number % SHARED);
    etwas_trace_handle registration = 0;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        static const uint32_t timeouts[] = {0, INFINITELY, 0, 1, 0, LONG_MS, INFINITELY, 0};
        etwas_guid guid = crowd_guid((round + number) % SHARED);
        uint32_t bytes;

        if (round % 5 == 0) {
            assert_int_equal(RegisterTraceGuidsA(crowd_callback, member, &own, 0, NULL, NULL, NULL,
                                                 &registration),
                             ERROR_SUCCESS);
        }
        (void)EnableTraceEx2(crowd_sessions[round / 3 % 2], &guid, (round * 7 + number) % 3, 1, 1,
                             0, timeouts[(round / 3 + number) % 8], NULL);
        (void)EnumerateTraceGuidsEx(TraceGuidQueryInfo, &guid, sizeof guid, NULL, 0, &bytes);
        if (round % 5 == 4) {
            uint32_t calls;

            assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
            calls = member->calls;
            assert_int_equal(ck_pr_load_32(&member->depth), 0);
            (void)sched_yield();
            assert_int_equal(member->calls, calls);
        }
    }
    return NULL;
}

static void callbacks_of_a_registration_never_meet_and_never_outlive_it(void **state)
{
    pthread_t threads[THREADS];
    uint32_t calls = 0;
    uint32_t bytes = 77;

    (void)state;
    memset(crowd, 0, sizeof crowd);
    crowd_sessions[0] = start_recorder();
    crowd_sessions[1] = start_recorder();
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_create(&threads[index], NULL, live_in_the_crowd, &crowd[index]),
                         0);
    }
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(threads[index], NULL), 0);
    }
    stop_session(crowd_sessions[0], NULL);
    stop_session(crowd_sessions[1], NULL);
    for (uint32_t index = 0; index < THREADS; index++) {
        assert_int_equal(crowd[index].overlaps, 0);
        assert_int_equal(crowd[index].depth, 0);
        calls += crowd[index].calls;
    }
    assert_true(calls > THREADS);
    /* Nobody is registered and nobody enabled. */
    assert_int_equal(EnumerateTraceGuidsEx(TraceGuidQueryList, NULL, 0, NULL, 0, &bytes),
                     ERROR_SUCCESS);
    assert_int_equal(bytes, 0);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static pid_t forked;

static void fork_inside(struct provider *provider, etwas_trace_handle session)
{
    if (provider->calls == 1) {
        forked = fork();
        if (forked == 0) {
            (void)alarm(60);
            /* The parent's session enables nobody here. */
            CHECK_IN_CHILD(GetTraceEnableLevel(session) == 0);
            CHECK_IN_CHILD(!etwas_enabled(etwas_provider_of(provider->registration), 0, 0));
        }
    }
}

/* In the child: the registration is there, its callback works, and its entry can be left. */
static void live_as_child(struct provider *provider, struct provider *held)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .flusher.no_thread = FIXTURE_SANITIZER};
    etwas_trace_handle session = 0;
    uint32_t calls = provider->calls;

    CHECK_IN_CHILD(etwas_start("childs own", NULL, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable(provider, session, 3, INFINITELY) == ERROR_SUCCESS);
    CHECK_IN_CHILD(provider->calls == calls + 1 && provider->levels[calls] == 3);
    if (!FIXTURE_SANITIZER) {
        CHECK_IN_CHILD(enable(provider, session, 4, LONG_MS) == ERROR_SUCCESS);
        CHECK_IN_CHILD(provider->calls == calls + 2);
    }
    if (held != NULL) {
        /* The thread that was inside its callback is not here. */
        calls = held->calls;
        CHECK_IN_CHILD(enable(held, session, 5, INFINITELY) == ERROR_SUCCESS);
        CHECK_IN_CHILD(held->calls == calls + 1);
        CHECK_IN_CHILD(UnregisterTraceGuids(held->registration) == ERROR_SUCCESS);
    }
    CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
    CHECK_IN_CHILD(UnregisterTraceGuids(provider->registration) == ERROR_SUCCESS);
    _exit(0);
}

static void a_child_forked_inside_a_callback_or_beside_one_is_told_again(void **state)
{
    struct provider provider;
    struct provider held;
    struct other_call call;
    etwas_trace_handle session = start_recorder();
    pid_t child;

    (void)state;
    begin(&provider, &control_guid);
    begin(&held, &second_class);
    start_held_call(&call, &held, session);
    assert_int_equal(enable(&held, session, 2, 0), ERROR_SUCCESS);
    child = fork();
    if (child == 0) {
        (void)alarm(60);
        live_as_child(&provider, &held);
    }
    assert_int_equal(exit_code_of(child), 0);
    (void)sem_post(&held.go_on);
    join_call(&call);
    assert_int_equal(held.returned, 2);

    provider.also = fork_inside;
    assert_int_equal(enable(&provider, session, 1, 0), ERROR_SUCCESS);
    if (forked == 0) {
        live_as_child(&provider, NULL);
    }
    assert_int_equal(exit_code_of(forked), 0);
    assert_int_equal(provider.returned, 1);
    end(&provider);
    end(&held);
    stop_session(session, NULL);
}

static pid_t forked_at_stop = -1;

static void fork_at_disabling(struct provider *provider, etwas_trace_handle session)
{
    (void)session;
    if (provider->requests[provider->calls - 1] == WMI_DISABLE_EVENTS && forked_at_stop == -1) {
        forked_at_stop = fork();
        if (forked_at_stop == 0) {
            (void)alarm(60);
        }
    }
}

static void a_stop_whose_callback_forks_ends_the_session_in_the_parent_alone(void **state)
{
    struct provider provider;
    etwas_trace_handle session = start_recorder();
    etwas_session_counts counts;
    uint32_t code;

    (void)state;
    assert_int_equal(log_number(session, 1), ERROR_SUCCESS);
    begin(&provider, &control_guid);
    provider.also = fork_at_disabling;
    assert_int_equal(enable(&provider, session, 1, 0), ERROR_SUCCESS);
    code = etwas_stop(session, &counts);
    if (forked_at_stop == 0) {
        CHECK_IN_CHILD(code == ERROR_INVALID_HANDLE);
        CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_INVALID_HANDLE);
        provider.also = NULL;
        live_as_child(&provider, NULL);
    }
    assert_int_equal(code, ERROR_SUCCESS);
    assert_int_equal(counts.recorded, 1);
    assert_int_equal(exit_code_of(forked_at_stop), 0);
    assert_int_equal(provider.returned, 2);
    end(&provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(inside_its_own_callback_a_provider_is_called_at_once_and_in_the_same_thread),
        FOLDER_TEST(two_callbacks_that_enable_each_others_provider_do_not_wait_for_ever),
        FOLDER_TEST(two_callbacks_that_unregister_each_others_provider_do_not_wait_for_ever),
        FOLDER_TEST(what_nobody_runs_does_not_wait_for_a_callback_that_stays_inside),
        FOLDER_TEST(a_session_that_does_not_enable_the_provider_waits_for_no_callback),
        FOLDER_TEST(a_timeout_is_for_the_request_of_the_caller_and_not_for_one_asked_after_it),
        FOLDER_TEST(a_thread_that_is_cancelled_inside_a_callback_comes_out_of_it_first),
        FOLDER_TEST(callbacks_of_a_registration_never_meet_and_never_outlive_it),
        FOLDER_TEST(a_child_forked_inside_a_callback_or_beside_one_is_told_again),
        FOLDER_TEST(a_stop_whose_callback_forks_ends_the_session_in_the_parent_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
