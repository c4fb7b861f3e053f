/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/callback_thread.h"

#include <pthread.h>
#include <signal.h>

#include "provider/callback.h"
#include "session/session.h"

/*
 * If the control GUID's entry has become another's meanwhile, callbacks of that one run here:
 * whoever asked for them leaves them to us, or waits for them.
 */
static void *run(void *argument)
{
    uint32_t control = (uint32_t)(uintptr_t)argument;

    (void)pthread_setname_np(pthread_self(), "etwas-callback");
    etwas_control_lock();
    etwas_callback_run_waiting(control);
    etwas_control_unlock();
    return NULL;
}

bool etwas_callback_thread_start(uint32_t control)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    int error;

    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* It inherits a mask with everything in it: no handler of the host ever runs there. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, run, (void *)(uintptr_t)control);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return error == 0;
}
