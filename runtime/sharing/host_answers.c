/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_entry.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "buffer/slot.h"
#include "platform/wait.h"

enum {
    NANOSECONDS_A_SECOND = 1000000000,
};

/* Indexed by the session's index in the table. Guarded by `answers_lock`. */
static struct etwas_waiter *waiters[ETWAS_SESSION_ENTRIES];
static pthread_mutex_t answers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers; /* waits by CLOCK_MONOTONIC */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void answers_prepare(void)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&answers, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void etwas_answers_prepare(void)
{
    (void)pthread_once(&once, answers_prepare);
}

static struct timespec answers_deadline_after(uint32_t milliseconds)
{
    uint64_t end_ns = etwas_monotonic_ns() + (uint64_t)milliseconds * ETWAS_NS_A_MILLISECOND;

    return (struct timespec){
        .tv_sec = (time_t)(end_ns / NANOSECONDS_A_SECOND),
        .tv_nsec = (long)(end_ns % NANOSECONDS_A_SECOND),
    };
}

void etwas_answers_receive(const struct etwas_notification *notification)
{
    (void)pthread_mutex_lock(&answers_lock);
    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        for (struct etwas_waiter *waiter = waiters[index]; waiter != NULL; waiter = waiter->next) {
            waiter->answered +=
                waiter->number == notification->number &&
                memcmp(&waiter->session, &notification->session, sizeof notification->session) == 0;
        }
    }
    (void)pthread_cond_broadcast(&answers);
    (void)pthread_mutex_unlock(&answers_lock);
}

void etwas_answers_begin(uint32_t index, struct etwas_waiter *waiter,
                         const struct etwas_notification *notification)
{
    (void)pthread_mutex_lock(&answers_lock);
    *waiter = (struct etwas_waiter){
        .next = waiters[index], .session = notification->session, .number = notification->number};
    waiters[index] = waiter;
    (void)pthread_mutex_unlock(&answers_lock);
}

uint32_t etwas_answers_wait(uint32_t index, struct etwas_waiter *waiter, uint32_t notified,
                            uint32_t timeout_ms)
{
    struct timespec deadline = answers_deadline_after(
        timeout_ms < ETWAS_ANSWER_TIMEOUT_MS ? timeout_ms : ETWAS_ANSWER_TIMEOUT_MS);
    struct etwas_waiter **link = &waiters[index];
    int error = 0;

    (void)pthread_mutex_lock(&answers_lock);
    while (waiter->answered < notified && !waiter->is_over && error == 0) {
        error = pthread_cond_timedwait(&answers, &answers_lock, &deadline);
    }
    while (!waiter->is_over && *link != waiter) {
        link = &(*link)->next;
    }
    if (!waiter->is_over) {
        *link = waiter->next;
    }
    (void)pthread_mutex_unlock(&answers_lock);
    return waiter->is_over || waiter->answered >= notified ? ERROR_SUCCESS : ERROR_TIMEOUT;
}

void etwas_answers_end(uint32_t index)
{
    (void)pthread_mutex_lock(&answers_lock);
    for (struct etwas_waiter *waiter = waiters[index]; waiter != NULL; waiter = waiter->next) {
        waiter->is_over = true;
    }
    waiters[index] = NULL;
    (void)pthread_cond_broadcast(&answers);
    (void)pthread_mutex_unlock(&answers_lock);
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_answers_before_fork(void)
{
    (void)pthread_mutex_lock(&answers_lock);
}

/* The parent's waiting threads are not in the child. */
void etwas_answers_after_fork(bool is_child)
{
    if (is_child) {
        memset(waiters, 0, sizeof waiters);
        answers_prepare();
    }
    (void)pthread_mutex_unlock(&answers_lock);
}
