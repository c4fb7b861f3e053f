/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Control callbacks, the gate, and registrations (R107, R141, R190–R193).
 */
#include <ck_pr.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "provider/registration.h"
#include "session/fixture.h"

/* ---- a callback that remembers --------------------------------------------------------------- */

enum {
    CALLS = 16
};

struct call {
    WMIDPREQUESTCODE request;
    etwas_trace_handle session;
    uint8_t level;
    uint32_t flags;
    uint32_t error; /* GetLastError after both */
    uint32_t logged;
    WNODE_HEADER header;
};

struct provider {
    struct call calls[CALLS];
    uint32_t count;
    uint32_t result;
    void (*also)(struct provider *provider, const struct call *call);
};

static uint32_t remember(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    struct provider *provider = context;
    struct call *call = &provider->calls[provider->count % CALLS];

    assert_non_null(bytes);
    call->request = request;
    call->session = GetTraceLoggerHandle(buffer);
    SetLastError(ERROR_SUCCESS);
    call->level = GetTraceEnableLevel(call->session);
    call->flags = GetTraceEnableFlags(call->session);
    call->error = GetLastError();
    call->logged = log_number(call->session, provider->count);
    memcpy(&call->header, buffer, sizeof call->header);
    provider->count++;
    if (provider->also != NULL) {
        provider->also(provider, call);
    }
    return provider->result;
}

static etwas_trace_handle register_as(const etwas_guid *control, struct provider *provider)
{
    etwas_trace_handle registration = 0;

    assert_int_equal(
        RegisterTraceGuidsA(remember, provider, control, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    assert_int_not_equal(registration, 0);
    return registration;
}

/* A handle of the callback and one of StartTrace are the same session. */
static bool same_session(etwas_trace_handle left, etwas_trace_handle right)
{
    return (left & 0xFFFFFFFFFF) == (right & 0xFFFFFFFFFF);
}

static void expect_call(const struct provider *provider, uint32_t index, WMIDPREQUESTCODE request,
                        etwas_trace_handle session)
{
    const struct call *call = &provider->calls[index];

    assert_true(index < provider->count);
    assert_int_equal(call->request, request);
    assert_true(same_session(call->session, session));
    assert_int_equal(call->logged, ERROR_SUCCESS);
    assert_int_equal(call->header.BufferSize, sizeof call->header);
    assert_memory_equal(&call->header.Guid, &control_guid, sizeof control_guid);
}

/* ---- enable, update, disable, stop ----------------------------------------------------------- */

static void r191_the_callback_runs_on_enable_update_disable_and_stop(void **state)
{
    struct provider provider = {0};
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle registration = register_as(&control_guid, &provider);
    const etwas_provider *gate = etwas_provider_of(registration);

    (void)state;
    assert_int_equal(provider.count, 0);
    assert_non_null(gate);
    assert_false(etwas_enabled(gate, 0, 0));

    assert_int_equal(EnableTrace(1, 0x30, 4, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(provider.count, 1);
    expect_call(&provider, 0, WMI_ENABLE_EVENTS, session);
    assert_int_equal(provider.calls[0].level, 4);
    assert_int_equal(provider.calls[0].flags, 0x30);
    assert_int_equal(provider.calls[0].error, ERROR_SUCCESS);
    assert_true(etwas_enabled(gate, 4, 0x10));
    assert_false(etwas_enabled(gate, 5, 0x10));

    /* Other values; 0 and 0 are reported as they are, and are no error. */
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(provider.count, 2);
    expect_call(&provider, 1, WMI_ENABLE_EVENTS, session);
    assert_int_equal(provider.calls[1].level, 0);
    assert_int_equal(provider.calls[1].flags, 0);
    assert_int_equal(provider.calls[1].error, ERROR_SUCCESS);
    assert_true(etwas_enabled(gate, 255, 0x80000000));

    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(provider.count, 3);
    expect_call(&provider, 2, WMI_DISABLE_EVENTS, session);
    assert_false(etwas_enabled(gate, 0, 0));
    /* Again: nothing changes, nobody is told. */
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(provider.count, 3);

    /* R141: at stop, while its events still count. */
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(provider.count, 5);
    expect_call(&provider, 4, WMI_DISABLE_EVENTS, session);
    assert_false(etwas_enabled(gate, 0, 0));
    assert_int_equal(count_events(folder_path("f.etl")), 5);

    SetLastError(ERROR_SUCCESS);
    assert_int_equal(GetTraceEnableLevel(provider.calls[3].session), 0);
    assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
    SetLastError(ERROR_SUCCESS);
    assert_int_equal(GetTraceEnableFlags(session), 0);
    assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

static void r190_and_r193_a_provider_enabled_before_it_registers_is_told_then(void **state)
{
    struct provider provider = {.result = 4711};
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle registration = 0;
    etwas_trace_handle second;
    struct provider other = {0};

    (void)state;
    assert_int_equal(EnableTrace(1, 0xABCD, 3, &control_guid, session), ERROR_SUCCESS);
    /* The callback's value is the function's, and the provider is registered whatever it is. */
    assert_int_equal(
        RegisterTraceGuidsA(remember, &provider, &control_guid, 0, NULL, NULL, NULL, &registration),
        4711);
    assert_int_not_equal(registration, 0);
    assert_int_equal(provider.count, 1);
    expect_call(&provider, 0, WMI_ENABLE_EVENTS, session);
    assert_int_equal(provider.calls[0].level, 3);
    assert_int_equal(provider.calls[0].flags, 0xABCD);
    assert_true(etwas_enabled(etwas_provider_of(registration), 3, 0x8000));
    /* Values of later callbacks are not used. */
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(provider.count, 2);
    /* A second registration of the same GUID is enabled at once, and both are told from then on. */
    second = register_as(&control_guid, &other);
    assert_int_equal(other.count, 1);
    assert_int_equal(provider.count, 2);
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(provider.count, 3);
    assert_int_equal(other.count, 2);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(second), ERROR_SUCCESS);
    /* If no session enables the provider, the value is success. */
    assert_int_equal(
        RegisterTraceGuidsA(remember, &provider, &control_guid, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(provider.count, 3);
}

static void r192_the_last_session_to_enable_a_provider_has_it(void **state)
{
    struct provider provider = {0};
    etwas_trace_handle first = start_session(folder_path("1.etl"), NULL);
    etwas_trace_handle second = start_session(folder_path("2.etl"), NULL);
    etwas_trace_handle registration = register_as(&control_guid, &provider);
    const etwas_provider *gate = etwas_provider_of(registration);

    (void)state;
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, first), ERROR_SUCCESS);
    assert_int_equal(EnableTrace(1, 2, 2, &control_guid, second), ERROR_SUCCESS);
    assert_int_equal(provider.count, 2);
    expect_call(&provider, 1, WMI_ENABLE_EVENTS, second);
    assert_int_equal(GetTraceEnableLevel(provider.calls[1].session), 2);
    SetLastError(ERROR_SUCCESS);
    assert_int_equal(GetTraceEnableLevel(provider.calls[0].session), 0);
    assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
    /* What the first one says now is nobody's business. */
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, first), ERROR_SUCCESS);
    assert_true(etwas_enabled(gate, 2, 2));
    stop_session(first, NULL);
    assert_int_equal(provider.count, 2);
    assert_true(etwas_enabled(gate, 2, 2));
    stop_session(second, NULL);
    assert_int_equal(provider.count, 3);
    assert_false(etwas_enabled(gate, 1, 1));
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, second), ERROR_INVALID_PARAMETER);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    assert_int_equal(count_events(folder_path("1.etl")), 1);
    assert_int_equal(count_events(folder_path("2.etl")), 2);
}

/* ---- the gate -------------------------------------------------------------------------------- */

/*
 * R107, for every level asked and enabled: a provider logs when the enabled level is 0 or not below
 * the event's, and when no flags are enabled or one of the event's is; an event without flags needs
 * none.
 */
static void r107_the_gate_says_what_the_documented_comparison_says(void **state)
{
    static const uint32_t flags[] = {0, 1, 2, 3, 0x80000000, 0xFFFFFFFF, 0x5555, 0xAAAA};
    enum {
        FLAGS = sizeof flags / sizeof flags[0]
    };
    struct provider provider = {0};
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registration = register_as(&control_guid, &provider);
    const etwas_provider *gate = etwas_provider_of(registration);

    (void)state;
    for (uint32_t enabled_level = 0; enabled_level < 256; enabled_level++) {
        for (size_t enabled = 0; enabled < FLAGS; enabled++) {
            assert_int_equal(EnableTrace(1, flags[enabled], enabled_level, &control_guid, session),
                             ERROR_SUCCESS);
            for (uint32_t level = 0; level < 256; level++) {
                for (size_t wanted = 0; wanted < FLAGS; wanted++) {
                    bool by_level = enabled_level == 0 || level <= enabled_level;
                    bool by_flags = flags[enabled] == 0 || flags[wanted] == 0 ||
                                    (flags[enabled] & flags[wanted]) != 0;

                    if (etwas_enabled(gate, (uint8_t)level, flags[wanted]) !=
                        (by_level && by_flags)) {
                        fail_msg("enabled with level %u, flags 0x%x: level %u, flags 0x%x",
                                 enabled_level, flags[enabled], level, flags[wanted]);
                    }
                }
            }
        }
    }
    assert_int_equal(EnableTrace(0, 0, 0, &control_guid, session), ERROR_SUCCESS);
    for (uint32_t level = 0; level < 256; level++) {
        assert_false(etwas_enabled(gate, (uint8_t)level, 0));
        assert_false(etwas_enabled(gate, (uint8_t)level, 0xFFFFFFFF));
    }
    /* Stale, the pointer is harmless: what it points to lives as long as the process. */
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    assert_false(etwas_enabled(gate, 0, 0));
    assert_null(etwas_provider_of(registration));
    stop_session(session, NULL);
}

/* ---- from inside a callback ------------------------------------------------------------------ */

static struct provider inner;
static etwas_trace_handle inner_registration;
static etwas_trace_handle outer_registration;
static uint32_t inside_code;

static void register_another(struct provider *provider, const struct call *call)
{
    (void)provider;
    (void)call;
    inside_code = RegisterTraceGuidsA(remember, &inner, &control_guid, 0, NULL, NULL, NULL,
                                      &inner_registration);
}

static void enable_another(struct provider *provider, const struct call *call)
{
    (void)provider;
    if (call->request == WMI_ENABLE_EVENTS) {
        inside_code = EnableTrace(1, 1, 1, &second_class, call->session);
    }
}

static void stop_the_session(struct provider *provider, const struct call *call)
{
    if (call->request == WMI_ENABLE_EVENTS) {
        /* The stop calls this provider again, to disable it. */
        inside_code = etwas_stop(call->session, NULL);
    } else {
        provider->result = 99;
    }
}

static void unregister_itself(struct provider *provider, const struct call *call)
{
    (void)provider;
    (void)call;
    inside_code = UnregisterTraceGuids(outer_registration);
}

static void a_callback_may_log_register_enable_stop_and_unregister(void **state)
{
    struct provider outer = {0};
    etwas_trace_handle session = start_session(folder_path("f.etl"), NULL);
    etwas_trace_handle second;
    struct provider other = {0};

    (void)state;
    memset(&inner, 0, sizeof inner);
    inside_code = 77;
    outer_registration = register_as(&control_guid, &outer);

    outer.also = register_another;
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(inside_code, ERROR_SUCCESS);
    assert_int_equal(outer.count, 1);
    assert_true(inner.count >= 1);
    outer.also = NULL;
    assert_int_equal(UnregisterTraceGuids(inner_registration), ERROR_SUCCESS);

    inside_code = 77;
    second = register_as(&second_class, &other);
    outer.also = enable_another;
    assert_int_equal(EnableTrace(1, 1, 1, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(inside_code, ERROR_SUCCESS);
    assert_int_equal(other.count, 1);
    assert_int_equal(UnregisterTraceGuids(second), ERROR_SUCCESS);

    inside_code = 77;
    outer.also = stop_the_session;
    assert_int_equal(EnableTrace(1, 2, 2, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(inside_code, ERROR_SUCCESS);
    assert_int_equal(outer.result, 99);
    assert_int_equal(log_number(session, 1), ERROR_INVALID_HANDLE);
    assert_false(etwas_enabled(etwas_provider_of(outer_registration), 0, 0));

    inside_code = 77;
    outer.also = unregister_itself;
    session = start_recorder();
    assert_int_equal(EnableTrace(1, 2, 2, &control_guid, session), ERROR_SUCCESS);
    assert_int_equal(inside_code, ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(outer_registration), ERROR_INVALID_PARAMETER);
    outer.count = 0;
    assert_int_equal(EnableTrace(1, 2, 2, &control_guid, session), ERROR_SUCCESS);
    stop_session(session, NULL);
    assert_int_equal(outer.count, 0);
}

/* ---- unregistering --------------------------------------------------------------------------- */

static sem_t in_callback;
static sem_t may_return;
static uint32_t callback_has_returned;
static uint32_t unregistered;

static uint32_t stay_inside(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    (void)context;
    (void)bytes;
    (void)buffer;
    if (request == WMI_ENABLE_EVENTS) {
        (void)sem_post(&in_callback);
        while (sem_wait(&may_return) != 0) {
        }
        ck_pr_store_32(&callback_has_returned, 1);
    }
    return ERROR_SUCCESS;
}

static void *enable_it(void *argument)
{
    (void)EnableTrace(1, 1, 1, &control_guid, *(const etwas_trace_handle *)argument);
    return NULL;
}

static void *unregister_it(void *argument)
{
    if (UnregisterTraceGuids(*(const etwas_trace_handle *)argument) == ERROR_SUCCESS) {
        ck_pr_store_32(&unregistered, 1 + ck_pr_load_32(&callback_has_returned));
    }
    return NULL;
}

static void unregistering_waits_for_a_callback_that_runs(void **state)
{
    etwas_trace_handle session = start_recorder();
    etwas_trace_handle registration;
    pthread_t enabling;
    pthread_t unregistering;

    (void)state;
    assert_int_equal(sem_init(&in_callback, 0, 0), 0);
    assert_int_equal(sem_init(&may_return, 0, 0), 0);
    assert_int_equal(
        RegisterTraceGuidsA(stay_inside, NULL, &control_guid, 0, NULL, NULL, NULL, &registration),
        ERROR_SUCCESS);
    assert_int_equal(pthread_create(&enabling, NULL, enable_it, &session), 0);
    while (sem_wait(&in_callback) != 0) {
    }
    assert_int_equal(pthread_create(&unregistering, NULL, unregister_it, &registration), 0);
    /* However long it takes to get there, it cannot be done before the callback is. */
    for (int look = 0; look < 100; look++) {
        (void)sched_yield();
        assert_int_equal(ck_pr_load_32(&unregistered), 0);
    }
    (void)sem_post(&may_return);
    assert_int_equal(pthread_join(enabling, NULL), 0);
    assert_int_equal(pthread_join(unregistering, NULL), 0);
    assert_int_equal(unregistered, 2);
    stop_session(session, NULL);
    (void)sem_destroy(&in_callback);
    (void)sem_destroy(&may_return);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void registering_refuses_what_it_cannot_use(void **state)
{
    TRACE_GUID_REGISTRATION classes[] = {{.Guid = &first_class}, {.Guid = NULL}};
    struct provider provider = {0};
    etwas_trace_handle registration = 77;

    (void)state;
    assert_int_equal(
        RegisterTraceGuidsA(NULL, NULL, &control_guid, 0, NULL, NULL, NULL, &registration),
        ERROR_INVALID_PARAMETER);
    assert_int_equal(registration, 0);
    assert_int_equal(RegisterTraceGuidsA(remember, NULL, NULL, 0, NULL, NULL, NULL, &registration),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegisterTraceGuidsA(remember, NULL, &control_guid, 0, NULL, NULL, NULL, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(
        RegisterTraceGuidsW(remember, NULL, &control_guid, 1, NULL, NULL, NULL, &registration),
        ERROR_INVALID_PARAMETER);
    assert_int_equal(
        RegisterTraceGuidsW(remember, NULL, &control_guid, 2, classes, NULL, NULL, &registration),
        ERROR_INVALID_PARAMETER);
    assert_int_equal(registration, 0);

    registration = register_as(&control_guid, &provider);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_INVALID_PARAMETER);
    assert_int_equal(UnregisterTraceGuids(registration + 1), ERROR_INVALID_PARAMETER);

    SetLastError(ERROR_SUCCESS);
    assert_true(GetTraceLoggerHandle(NULL) == INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    {
        WNODE_HEADER header = {.BufferSize = sizeof header};

        assert_true(GetTraceLoggerHandle(&header) == INVALID_PROCESSTRACE_HANDLE);
        assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
        header.HistoricalContext = 0x101;
        assert_true(GetTraceLoggerHandle(&header) == 0x101);
        header.BufferSize = sizeof header - 1;
        assert_true(GetTraceLoggerHandle(&header) == INVALID_PROCESSTRACE_HANDLE);
    }
}

/* Tables end: then nothing is registered, and after one is given back one fits again. */
static void a_process_has_1024_registrations_and_not_one_more(void **state)
{
    static etwas_trace_handle registrations[ETWAS_REGISTRATIONS];
    static TRACE_GUID_REGISTRATION classes[ETWAS_CLASSES + 1];
    struct provider provider = {0};
    etwas_trace_handle registration = 77;

    (void)state;
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        registrations[index] = register_as(&control_guid, &provider);
    }
    assert_int_equal(
        RegisterTraceGuidsA(remember, &provider, &control_guid, 0, NULL, NULL, NULL, &registration),
        ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(registration, 0);
    assert_int_equal(UnregisterTraceGuids(registrations[500]), ERROR_SUCCESS);
    registrations[500] = register_as(&control_guid, &provider);
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        assert_int_equal(UnregisterTraceGuids(registrations[index]), ERROR_SUCCESS);
    }
    for (uint32_t index = 0; index <= ETWAS_CLASSES; index++) {
        classes[index].Guid = &first_class;
    }
    assert_int_equal(RegisterTraceGuidsA(remember, &provider, &control_guid, ETWAS_CLASSES + 1,
                                         classes, NULL, NULL, &registration),
                     ERROR_NO_SYSTEM_RESOURCES);
    assert_int_equal(registration, 0);
    assert_int_equal(RegisterTraceGuidsA(remember, &provider, &control_guid, ETWAS_CLASSES, classes,
                                         NULL, NULL, &registration),
                     ERROR_SUCCESS);
    assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r191_the_callback_runs_on_enable_update_disable_and_stop),
        FOLDER_TEST(r190_and_r193_a_provider_enabled_before_it_registers_is_told_then),
        FOLDER_TEST(r192_the_last_session_to_enable_a_provider_has_it),
        FOLDER_TEST(r107_the_gate_says_what_the_documented_comparison_says),
        FOLDER_TEST(a_callback_may_log_register_enable_stop_and_unregister),
        FOLDER_TEST(unregistering_waits_for_a_callback_that_runs),
        FOLDER_TEST(registering_refuses_what_it_cannot_use),
        FOLDER_TEST(a_process_has_1024_registrations_and_not_one_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
