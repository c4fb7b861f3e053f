/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Serves a session until it ends. One thread waits for signals, which stop it; another waits for
 * its end, whatever the cause.
 */

#include "host/host.h"

#include "steer/session.h"

#include <etwas/etwas.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

static sigset_t our_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        (void)sigaddset(&set, numbers[i]);
    }
    return set;
}

void etwas_host_block_signals(void)
{
    sigset_t set = our_signals();

    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* the program that started the host may have ended */
}

void etwas_host_let_go(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    /*
     * Without /dev/null, close them, so that the program that started us does not wait for the
     * session's end.
     */
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++) {
        if (null < 0 || dup2(null, standard) < 0) {
            (void)close(standard);
        }
    }
    if (null > STDERR_FILENO) {
        (void)close(null);
    }
}

struct watch {
    TRACEHANDLE session;
    pthread_t keeper;
    atomic_bool has_ended;
};

/* Waits for the end of the session, then wakes the thread that waits for signals. */
static void *await_end(void *argument)
{
    struct watch *watch = argument;

    (void)etwas_session_wait(watch->session, UINT32_MAX);
    atomic_store(&watch->has_ended, true);
    (void)pthread_kill(watch->keeper, numbers[0]);
    return NULL;
}

/* Fails if the session is being stopped already, which ends it as well. */
static void stop(TRACEHANDLE session)
{
    static struct etwas_steer_block block;

    etwas_host_notify("STOPPING=1");
    etwas_steer_prepare(&block);
    (void)ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP);
}

bool etwas_host_serve(TRACEHANDLE session)
{
    struct watch watch = {.session = session, .keeper = pthread_self()};
    sigset_t set = our_signals();
    pthread_t thread;
    int number;

    if (pthread_create(&thread, NULL, await_end, &watch) != 0) {
        stop(session);
        return false;
    }
    while (!atomic_load(&watch.has_ended)) {
        (void)sigwait(&set, &number);
        if (!atomic_load(&watch.has_ended)) {
            stop(session);
        }
    }
    (void)pthread_join(thread, NULL);
    return true;
}
