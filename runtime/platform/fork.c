/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/fork.h"

#include <ck_pr.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* A fork that waits lets nobody in before it: it would wait for ever. */
#define NOBODY PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_rwlock_t forbidden = NOBODY;
static const struct etwas_fork_handlers *parts[ETWAS_FORK_PARTS];

/* What `before` found, and no part that came since. Under `forbidden`. */
static const struct etwas_fork_handlers *found[ETWAS_FORK_PARTS];

static void before(void)
{
    (void)pthread_rwlock_wrlock(&forbidden);
    for (int part = 0; part < ETWAS_FORK_PARTS; part++) {
        found[part] = ck_pr_load_ptr(&parts[part]);
        if (found[part] != NULL) {
            found[part]->before();
        }
    }
}

static void after_in_parent(void)
{
    for (int part = ETWAS_FORK_PARTS - 1; part >= 0; part--) {
        if (found[part] != NULL) {
            found[part]->after_in_parent();
        }
    }
    (void)pthread_rwlock_unlock(&forbidden);
}

static void after_in_child(void)
{
    for (int part = ETWAS_FORK_PARTS - 1; part >= 0; part--) {
        if (found[part] != NULL) {
            found[part]->after_in_child();
        }
    }
#ifdef __SANITIZE_THREAD__
    /* For its accounts alone. */
    (void)pthread_rwlock_unlock(&forbidden);
#endif
    /* It was locked by a thread with another id: the child has no other thread. */
    forbidden = (pthread_rwlock_t)NOBODY;
}

static void handle_forks(void)
{
    (void)pthread_atfork(before, after_in_parent, after_in_child);
}

void etwas_fork_handle(enum etwas_fork_part part, const struct etwas_fork_handlers *handlers)
{
    ck_pr_store_ptr(&parts[part], (void *)(uintptr_t)handlers);
    (void)pthread_once(&once, handle_forks);
}

void etwas_fork_forbid(void)
{
    (void)pthread_once(&once, handle_forks);
    (void)pthread_rwlock_rdlock(&forbidden);
}

void etwas_fork_allow(void)
{
    (void)pthread_rwlock_unlock(&forbidden);
}
