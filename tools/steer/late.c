/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/late.h"

#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>

/*
 * Programs register their providers when they begin, mostly soon after a session that was started
 * for them: for so many looks it looks often.
 */
enum {
    OFTEN_MS = 5,
    OFTEN_LOOKS = 400,
    SELDOM_MS = 250,
};

static struct {
    const char *command;
    TRACEHANDLE session;
    const struct etwas_steer_provider *providers;
    uint32_t count;
    EVENT_FILTER_DESCRIPTOR *filter;
    struct etwas_steer_others *others; /* of each provider */
    pthread_t thread;
    int ended; /* an eventfd; it is readable when the thread shall end */
    bool runs;
} late;

static void *look(void *unused)
{
    struct pollfd polled = {.fd = late.ended, .events = POLLIN};

    for (uint32_t looks = 0; poll(&polled, 1, looks < OFTEN_LOOKS ? OFTEN_MS : SELDOM_MS) == 0;
         looks += looks < OFTEN_LOOKS) {
        for (uint32_t i = 0; i < late.count; i++) {
            etwas_steer_enable_others(late.command, late.session, &late.providers[i], late.filter,
                                      &late.others[i]);
        }
    }
    return unused;
}

static bool any_has_name(const struct etwas_steer_provider *providers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (etwas_steer_is_by_name(&providers[i])) {
            return true;
        }
    }
    return false;
}

/* Signals are for the threads that wait for them. */
static bool start_thread(void)
{
    sigset_t all;
    sigset_t before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    late.runs = pthread_create(&late.thread, NULL, look, NULL) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return late.runs;
}

bool etwas_steer_late_begin(const char *command, TRACEHANDLE session,
                            const struct etwas_steer_provider *providers, uint32_t count,
                            EVENT_FILTER_DESCRIPTOR *filter)
{
    if (!any_has_name(providers, count)) {
        return true;
    }
    late.command = command;
    late.session = session;
    late.providers = providers;
    late.count = count;
    late.filter = filter;
    late.others = calloc(count, sizeof *late.others);
    late.ended = eventfd(0, EFD_CLOEXEC);
    return late.others != NULL && late.ended >= 0 && start_thread();
}

void etwas_steer_late_end(void)
{
    if (late.runs) {
        (void)eventfd_write(late.ended, 1);
        (void)pthread_join(late.thread, NULL);
        late.runs = false;
    }
}
