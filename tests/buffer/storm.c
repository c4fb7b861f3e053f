/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/storm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/start.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static _Thread_local struct writer *handler_writer; /* NULL: this thread's handler logs nothing */
static _Thread_local timer_t timer;

static void on_alarm(int number)
{
    (void)number;
    if (handler_writer != NULL) {
        (void)writer_log(handler_writer);
    }
}

void storm_prepare(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
}

void storm_begin(struct writer *writer, uint32_t interval_ns)
{
    const struct itimerspec interval = {{.tv_nsec = interval_ns}, {.tv_nsec = interval_ns}};
    struct sigevent event;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event.sigev_notify_thread_id = gettid();
    handler_writer = writer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &interval, NULL) != 0) {
        abort();
    }
}

void storm_end(void)
{
    sigset_t alarm;

    (void)timer_delete(timer);
    /* One may be on its way. */
    (void)sigemptyset(&alarm);
    (void)sigaddset(&alarm, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    handler_writer = NULL;
}
