/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "support/alarm.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/start.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

void handle_signal(int number, void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

timer_t start_alarms(uint32_t interval_ns)
{
    const struct itimerspec interval = {{.tv_nsec = interval_ns}, {.tv_nsec = interval_ns}};
    struct sigevent event;
    timer_t timer;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &interval, NULL) != 0) {
        abort();
    }
    return timer;
}

void end_alarms(timer_t timer)
{
    sigset_t alarm;

    (void)timer_delete(timer);
    (void)sigemptyset(&alarm);
    (void)sigaddset(&alarm, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarm, NULL);
}
