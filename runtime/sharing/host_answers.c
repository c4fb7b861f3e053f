/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_answers.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "buffer/slot.h"
#include "platform/wait.h"

enum {
    NANOSECONDS_A_MILLISECOND = 1000000,
    NANOSECONDS_A_SECOND = 1000000000,
};

/* By the session's entry. Under `answering`. */
static struct etwas_waiter *waiters[ETWAS_SESSION_ENTRIES];
static pthread_mutex_t answering = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers; /* by CLOCK_MONOTONIC */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&answers, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void etwas_answers_prepare(void)
{
    (void)pthread_once(&once, prepare);
}

static struct timespec deadline_after(uint32_t milliseconds)
{
    uint64_t end_ns = etwas_monotonic_ns() + (uint64_t)milliseconds * NANOSECONDS_A_MILLISECOND;

    return (struct timespec){
        .tv_sec = (time_t)(end_ns / NANOSECONDS_A_SECOND),
        .tv_nsec = (long)(end_ns % NANOSECONDS_A_SECOND),
    };
}

void etwas_answers_heard(const struct etwas_tell *tell)
{
    (void)pthread_mutex_lock(&answering);
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        for (struct etwas_waiter *waiter = waiters[index]; waiter != NULL; waiter = waiter->next) {
            waiter->answered += waiter->number == tell->number &&
                                memcmp(&waiter->session, &tell->session, sizeof tell->session) == 0;
        }
    }
    (void)pthread_cond_broadcast(&answers);
    (void)pthread_mutex_unlock(&answering);
}

void etwas_answers_begin(uint32_t index, struct etwas_waiter *waiter, const struct etwas_tell *tell)
{
    (void)pthread_mutex_lock(&answering);
    *waiter = (struct etwas_waiter){
        .next = waiters[index], .session = tell->session, .number = tell->number};
    waiters[index] = waiter;
    (void)pthread_mutex_unlock(&answering);
}

uint32_t etwas_answers_wait(uint32_t index, struct etwas_waiter *waiter, uint32_t told,
                            uint32_t timeout_ms)
{
    struct timespec deadline = deadline_after(
        timeout_ms < ETWAS_ANSWER_PATIENCE_MS ? timeout_ms : ETWAS_ANSWER_PATIENCE_MS);
    struct etwas_waiter **link = &waiters[index];
    int error = 0;

    (void)pthread_mutex_lock(&answering);
    while (waiter->answered < told && !waiter->is_over && error == 0) {
        error = pthread_cond_timedwait(&answers, &answering, &deadline);
    }
    while (!waiter->is_over && *link != waiter) {
        link = &(*link)->next;
    }
    if (!waiter->is_over) {
        *link = waiter->next;
    }
    (void)pthread_mutex_unlock(&answering);
    return waiter->is_over || waiter->answered >= told ? ERROR_SUCCESS : ERROR_TIMEOUT;
}

void etwas_answers_end(uint32_t index)
{
    (void)pthread_mutex_lock(&answering);
    for (struct etwas_waiter *waiter = waiters[index]; waiter != NULL; waiter = waiter->next) {
        waiter->is_over = true;
    }
    waiters[index] = NULL;
    (void)pthread_cond_broadcast(&answers);
    (void)pthread_mutex_unlock(&answering);
}

/* ---- fork -------------------------------------------------------------------------------------- */

void etwas_answers_before_fork(void)
{
    (void)pthread_mutex_lock(&answering);
}

/* The parent's waiters are not in the child, and nobody may wait for them. */
void etwas_answers_after_fork(bool is_child)
{
    if (is_child) {
        memset(waiters, 0, sizeof waiters);
        prepare();
    }
    (void)pthread_mutex_unlock(&answering);
}
