/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_spares.h"

#include <pthread.h>

/*
 * A fork waits for both callers: for the thread that starts or stops a session, which has the lock
 * of host.c, and for handlers of the control thread.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct etwas_spares spares = ETWAS_REGISTRY_NO_SPARES;
static uint32_t hosted_sessions;

void etwas_host_spares_begin(void)
{
    (void)pthread_mutex_lock(&lock);
    hosted_sessions++;
    (void)etwas_registry_fill_spares(&spares);
    (void)pthread_mutex_unlock(&lock);
}

void etwas_host_spares_end(void)
{
    (void)pthread_mutex_lock(&lock);
    if (--hosted_sessions == 0) {
        etwas_registry_free_spares(&spares);
    }
    (void)pthread_mutex_unlock(&lock);
}

uint32_t etwas_host_spares_accept(int listener, int *connection, struct etwas_peer *peer)
{
    uint32_t code;

    (void)pthread_mutex_lock(&lock);
    code = etwas_registry_accept(listener, &spares, connection, peer);
    (void)pthread_mutex_unlock(&lock);
    return code;
}

void etwas_host_spares_lend(int connection)
{
    if (!etwas_registry_can_open(connection, 1)) {
        (void)pthread_mutex_lock(&lock);
        etwas_registry_free_spares(&spares);
        (void)pthread_mutex_unlock(&lock);
    }
}

/* A connection may outlive the last session, which closed the spares. */
void etwas_host_spares_return(void)
{
    (void)pthread_mutex_lock(&lock);
    if (hosted_sessions != 0) {
        (void)etwas_registry_fill_spares(&spares);
    }
    (void)pthread_mutex_unlock(&lock);
}

void etwas_host_spares_forget(void)
{
    etwas_registry_free_spares(&spares);
    hosted_sessions = 0;
}
