/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/wait_notice.h"

#include "cli/quiet.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "steer/running.h"

enum {
    SECONDS = 1, /* the query takes one more */
};

struct waiting {
    const char *command;
    const char *name;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_over;
};

/* Prints which process is the host, and whether it answers. */
static void print_notice(const struct waiting *waiting)
{
    static struct etwas_steer_found_session session; /* used by one thread only */
    char reason[128];

    if (!etwas_steer_find_session_quietly(waiting->name, &session)) {
        return; /* the session has just ended */
    }
    (void)snprintf(reason, sizeof reason,
                   session.is_silent ? "waits for its host, process %u, which does not answer: is "
                                       "it stopped?"
                                     : "its host, process %u, is not through yet",
                   session.process);
    etwas_steer_complain(waiting->command, waiting->name, reason);
}

static void *wait(void *argument)
{
    struct waiting *waiting = argument;
    struct timespec deadline;
    int error = 0;
    bool is_over;

    (void)clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += SECONDS;
    (void)pthread_mutex_lock(&waiting->lock);
    while (!waiting->is_over && error == 0) {
        error = pthread_cond_timedwait(&waiting->over, &waiting->lock, &deadline);
    }
    is_over = waiting->is_over;
    (void)pthread_mutex_unlock(&waiting->lock);
    if (!is_over && !etwas_is_quiet) {
        print_notice(waiting);
    }
    return NULL;
}

/*
 * Without a thread, no notice is printed. If `counts` is NULL, calls ControlTrace by name, else
 * etwas_stop with the handle.
 */
static bool act(const char *command, const char *name, struct etwas_steer_block *block,
                uint32_t control_code, TRACEHANDLE handle, etwas_session_counts *counts)
{
    struct waiting waiting = {.command = command,
                              .name = name,
                              .lock = PTHREAD_MUTEX_INITIALIZER,
                              .over = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    bool has_thread = pthread_create(&thread, NULL, wait, &waiting) == 0;
    bool is_fine = counts != NULL ? etwas_steer_judge(command, name, etwas_stop(handle, counts))
                                  : etwas_steer_control(command, name, block, control_code);

    (void)pthread_mutex_lock(&waiting.lock);
    waiting.is_over = true;
    (void)pthread_cond_signal(&waiting.over);
    (void)pthread_mutex_unlock(&waiting.lock);
    if (has_thread) {
        (void)pthread_join(thread, NULL);
    }
    return is_fine;
}

bool etwas_steer_control_with_notice(const char *command, const char *name,
                                     struct etwas_steer_block *block, uint32_t control_code)
{
    return act(command, name, block, control_code, 0, NULL);
}

bool etwas_steer_stop_with_notice(const char *command, const char *name, TRACEHANDLE handle,
                                  etwas_session_counts *counts)
{
    return act(command, name, NULL, EVENT_TRACE_CONTROL_STOP, handle, counts);
}
