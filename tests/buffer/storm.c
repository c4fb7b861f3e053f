/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/storm.h"

#include <signal.h>

#include "support/alarm.h"

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
    handle_signal(SIGALRM, on_alarm);
}

void storm_begin(struct writer *writer, uint32_t interval_ns)
{
    handler_writer = writer;
    timer = start_alarms(interval_ns);
}

void storm_end(void)
{
    end_alarms(timer);
    handler_writer = NULL;
}
