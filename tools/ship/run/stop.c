/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "ship/run/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int opened = -1;

static sigset_t ending_signals(void)
{
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGHUP);
    return signals;
}

bool etwas_ship_stop(int stop)
{
    const uint64_t one = 1;

    return write(stop, &one, sizeof one) == (ssize_t)sizeof one;
}

/* After the first signal, another one ends the process without waiting for what is in flight. */
static void *wait_for_signal(void *argument)
{
    const sigset_t signals = ending_signals();
    int number;

    (void)sigwait(&signals, &number);
    (void)etwas_ship_stop(*(const int *)argument);
    (void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    for (;;) {
        (void)pause();
    }
    return NULL;
}

int etwas_ship_stop_open(void)
{
    const sigset_t signals = ending_signals();
    pthread_t thread;

    (void)signal(SIGPIPE, SIG_IGN); /* a server may close its connection */
    opened = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (opened < 0) {
        return -1;
    }
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (pthread_create(&thread, NULL, wait_for_signal, &opened) != 0 ||
        pthread_detach(thread) != 0) {
        (void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    }
    return opened;
}
