/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of control callbacks share: a provider whose callback remembers its calls and can
 * be held inside, and calls of EnableTraceEx2 in other threads.
 */
#ifndef ETWAS_TESTS_PROVIDER_FOLLOW_H
#define ETWAS_TESTS_PROVIDER_FOLLOW_H

#include <pthread.h>
#include <semaphore.h>

#include "session/fixture.h"

#define INFINITELY 0xFFFFFFFFu
#define LONG_MS 60000u /* nothing here takes so long */

enum {
    CALLS = 64
};

struct provider {
    const etwas_guid *control;
    etwas_trace_handle registration;
    uint32_t calls; /* begun */
    uint32_t returned;
    uint32_t inside;  /* callbacks that run, one inside the other */
    pthread_t thread; /* of the last call */
    WMIDPREQUESTCODE requests[CALLS];
    uint32_t levels[CALLS];
    uint32_t hold; /* not 0: the next call posts `held` and waits for `go_on` */
    sem_t held;
    sem_t go_on;
    void (*also)(struct provider *provider, etwas_trace_handle session);
    struct provider *other;
    uint32_t code; /* what `also` got */
};

void wait_for(sem_t *semaphore);

/* Registers it, and unregisters it. */
void begin(struct provider *provider, const etwas_guid *control);
void end(struct provider *provider);

uint32_t enable(const struct provider *provider, etwas_trace_handle session, uint8_t level,
                uint32_t timeout_ms);

struct other_call {
    struct provider *provider;
    etwas_trace_handle session;
    uint8_t level;
    uint32_t timeout_ms;
    uint32_t code;
    uint32_t done;
    pthread_t thread;
};

void start_call(struct other_call *call, struct provider *provider, etwas_trace_handle session,
                uint8_t level, uint32_t timeout_ms);

/* The same with level 1, until the callback is inside and stays there. */
void start_held_call(struct other_call *call, struct provider *provider,
                     etwas_trace_handle session);

void join_call(struct other_call *call);

#endif
