/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/follow.h"

#include <ck_pr.h>
#include <string.h>

void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
    }
}

static uint32_t follow(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    struct provider *provider = context;
    etwas_trace_handle session = GetTraceLoggerHandle(buffer);
    uint32_t call = ck_pr_load_32(&provider->calls);

    (void)bytes;
    provider->thread = pthread_self();
    provider->requests[call % CALLS] = request;
    provider->levels[call % CALLS] = GetTraceEnableLevel(session);
    ck_pr_store_32(&provider->calls, call + 1);
    if (ck_pr_fas_32(&provider->hold, 0) != 0) {
        (void)sem_post(&provider->held);
        wait_for(&provider->go_on);
    }
    if (provider->also != NULL) {
        provider->also(provider, session);
    }
    ck_pr_inc_32(&provider->returned);
    return ERROR_SUCCESS;
}

void begin(struct provider *provider, const etwas_guid *control)
{
    memset(provider, 0, sizeof *provider);
    provider->control = control;
    assert_int_equal(sem_init(&provider->held, 0, 0), 0);
    assert_int_equal(sem_init(&provider->go_on, 0, 0), 0);
    assert_int_equal(RegisterTraceGuidsA(follow, provider, control, 0, NULL, NULL, NULL,
                                         &provider->registration),
                     ERROR_SUCCESS);
}

void end(struct provider *provider)
{
    assert_int_equal(UnregisterTraceGuids(provider->registration), ERROR_SUCCESS);
    (void)sem_destroy(&provider->held);
    (void)sem_destroy(&provider->go_on);
}

uint32_t enable(const struct provider *provider, etwas_trace_handle session, uint8_t level,
                uint32_t timeout_ms)
{
    return EnableTraceEx2(session, provider->control, EVENT_CONTROL_CODE_ENABLE_PROVIDER, level, 1,
                          0, timeout_ms, NULL);
}

static void *enable_elsewhere(void *argument)
{
    struct other_call *call = argument;

    call->code = enable(call->provider, call->session, call->level, call->timeout_ms);
    ck_pr_store_32(&call->done, 1);
    return NULL;
}

void start_call(struct other_call *call, struct provider *provider, etwas_trace_handle session,
                uint8_t level, uint32_t timeout_ms)
{
    *call = (struct other_call){
        .provider = provider, .session = session, .level = level, .timeout_ms = timeout_ms};
    assert_int_equal(pthread_create(&call->thread, NULL, enable_elsewhere, call), 0);
}

void start_held_call(struct other_call *call, struct provider *provider, etwas_trace_handle session)
{
    ck_pr_store_32(&provider->hold, 1);
    start_call(call, provider, session, 1, 0);
    wait_for(&provider->held);
}

void join_call(struct other_call *call)
{
    assert_int_equal(pthread_join(call->thread, NULL), 0);
}
