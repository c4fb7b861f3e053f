/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/fork.h"

#include <ck_pr.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Waiting forks take precedence over openers; otherwise a fork would wait for ever. */
#define NOBODY PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_rwlock_t forbidden = NOBODY;
static const struct etwas_fork_handlers *parts[ETWAS_FORK_PARTS];

/*
 * What `fork_before` did in the thread that forks. Only that is undone: parts may have registered
 * since.
 */
static __thread struct {
    bool forbidden;
    bool parts[ETWAS_FORK_PARTS];
} fork_state;

static bool fork_wait_for_openers(void)
{
    struct timespec deadline;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += ETWAS_FORK_WAITS_S;
    return pthread_rwlock_clockwrlock(&forbidden, CLOCK_MONOTONIC, &deadline) == 0;
}

static void fork_before_part(int part)
{
    const struct etwas_fork_handlers *handlers = ck_pr_load_ptr(&parts[part]);

    fork_state.parts[part] = handlers != NULL;
    if (handlers != NULL) {
        handlers->before();
    }
}

static void fork_before(void)
{
    fork_before_part(ETWAS_FORK_GUESTS);
    fork_state.forbidden = fork_wait_for_openers();
    for (int part = ETWAS_FORK_GUESTS + 1; part < ETWAS_FORK_PARTS; part++) {
        fork_before_part(part);
    }
}

static void fork_after_in_parent(void)
{
    for (int part = ETWAS_FORK_PARTS - 1; part > ETWAS_FORK_GUESTS; part--) {
        if (fork_state.parts[part]) {
            parts[part]->after_in_parent();
        }
    }
    if (fork_state.forbidden) {
        (void)pthread_rwlock_unlock(&forbidden);
    }
    if (fork_state.parts[ETWAS_FORK_GUESTS]) {
        parts[ETWAS_FORK_GUESTS]->after_in_parent();
    }
}

static void fork_after_in_child(void)
{
    for (int part = ETWAS_FORK_PARTS - 1; part >= 0; part--) {
        if (fork_state.parts[part]) {
            parts[part]->after_in_child();
        }
    }
#ifdef __SANITIZE_THREAD__
    /* Needed only for ThreadSanitizer's bookkeeping. */
    if (fork_state.forbidden) {
        (void)pthread_rwlock_unlock(&forbidden);
    }
#endif
    /* It was locked under another thread id: the child has only this thread. */
    forbidden = (pthread_rwlock_t)NOBODY;
}

static void fork_register_handlers(void)
{
    (void)pthread_atfork(fork_before, fork_after_in_parent, fork_after_in_child);
}

void etwas_fork_handle(enum etwas_fork_part part, const struct etwas_fork_handlers *handlers)
{
    ck_pr_store_ptr(&parts[part], (void *)(uintptr_t)handlers);
    (void)pthread_once(&once, fork_register_handlers);
}

void etwas_fork_forbid(void)
{
    (void)pthread_once(&once, fork_register_handlers);
    (void)pthread_rwlock_rdlock(&forbidden);
}

void etwas_fork_allow(void)
{
    (void)pthread_rwlock_unlock(&forbidden);
}
