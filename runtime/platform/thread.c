/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/thread.h"

#include <ck_pr.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

_Thread_local struct etwas_thread_ids etwas_thread_ids_cache;

static uint32_t settled_process_id; /* 0: it is not */

void etwas_process_id_set(uint32_t process_id)
{
    (void)ck_pr_cas_32(&settled_process_id, 0, process_id);
}

uint32_t etwas_process_id_peek(void)
{
    uint32_t settled = ck_pr_load_32(&settled_process_id);

    return settled != 0 ? settled : (uint32_t)getpid();
}

uint32_t etwas_process_id(void)
{
    etwas_process_id_set((uint32_t)getpid());
    return ck_pr_load_32(&settled_process_id);
}

void etwas_thread_ids_forget(void)
{
    ck_pr_store_32(&settled_process_id, 0);
    etwas_thread_ids_cache.thread_id = 0;
}

void etwas_thread_ids_load(void)
{
    etwas_thread_ids_cache.process_id = etwas_process_id();
    /* A signal handler on this thread must not see the thread id before the process id. */
    atomic_signal_fence(memory_order_seq_cst);
    etwas_thread_ids_cache.thread_id = (uint32_t)gettid();
}

int etwas_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                        void *argument)
{
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, attributes, run, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
