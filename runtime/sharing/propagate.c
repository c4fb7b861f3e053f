/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/propagate.h"

#include <etwas/etwas.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock/clock.h"
#include "etl/clock_convert.h"
#include "sharing/service.h"

enum {
    NS_A_SECOND = 1000000000
};

/*
 * A request to one thread: a window, or several windows of one session that no thread had begun to
 * serve.
 */
struct propagation {
    struct propagation *next;
    struct etwas_snapshot_all_options options;
    struct etwas_session_key key; /* the session whose windows they are */
    uint32_t windows;
    char folder[ETWAS_PATH_BYTES];
};

/* Guarded by the control lock. */
static struct propagation *waiting; /* the oldest is at the end */
static uint32_t threads;

/*
 * Takes the oldest request. Returns NULL if there is none; the calling thread must end then, and is
 * no longer counted.
 */
static struct propagation *propagate_take_first(void)
{
    struct propagation **link = &waiting;
    struct propagation *first;

    etwas_control_lock();
    while (*link != NULL && (*link)->next != NULL) {
        link = &(*link)->next;
    }
    first = *link;
    *link = NULL;
    threads -= first == NULL;
    etwas_control_unlock();
    return first;
}

/* Thread: serves requests until there are none. A lack of other recorders is no failure. */
static void *propagate_thread(void *argument)
{
    struct etwas_held_session held;
    struct propagation *propagation;

    while ((propagation = propagate_take_first()) != NULL) {
        uint32_t code = etwas_snapshot_all_of(&propagation->options, NULL, NULL);

        if ((code == ERROR_SUCCESS || code == ERROR_NOT_FOUND) &&
            etwas_session_hold(etwas_session_handle(propagation->key), &held) == ERROR_SUCCESS) {
            held.session->trigger.passed_on += propagation->windows;
            etwas_session_release(&held);
        }
        free(propagation);
    }
    return argument;
}

/* Joins two windows: one snapshot from the earlier beginning on covers both. */
static void propagate_join(struct etwas_snapshot_all_options *options,
                           const struct etwas_snapshot_all_options *other)
{
    const int64_t begin = options->moment - (int64_t)options->before_ns;
    const int64_t other_begin = other->moment - (int64_t)other->before_ns;
    const bool is_all = options->before_ns == 0 || other->before_ns == 0;

    options->moment = options->moment > other->moment ? options->moment : other->moment;
    options->before_ns =
        is_all ? 0 : (uint64_t)(options->moment - (begin < other_begin ? begin : other_begin));
}

static bool propagate_is_same(struct etwas_session_key one, struct etwas_session_key other)
{
    return one.index == other.index && one.generation == other.generation;
}

/*
 * Queues a request, or joins it to a waiting one of the same session; in the latter case the caller
 * still owns it. Returns whether a thread has to be started.
 */
static bool propagate_request(struct propagation **propagation)
{
    struct propagation *one;
    bool wants_thread;

    etwas_control_lock();
    for (one = waiting; one != NULL; one = one->next) {
        if (propagate_is_same(one->key, (*propagation)->key) &&
            strcmp(one->folder, (*propagation)->folder) == 0) {
            break;
        }
    }
    if (one != NULL) {
        propagate_join(&one->options, &(*propagation)->options);
        one->windows++;
    } else {
        (*propagation)->next = waiting;
        waiting = *propagation;
        *propagation = NULL;
    }
    wants_thread = one == NULL && threads < ETWAS_PROPAGATE_THREADS;
    threads += wants_thread;
    etwas_control_unlock();
    return wants_thread;
}

/*
 * Counts a thread that could not be started. The last one drops the waiting requests, which no
 * thread would serve.
 */
static void propagate_count_out(void)
{
    struct propagation *left = NULL;

    etwas_control_lock();
    if (--threads == 0) {
        left = waiting;
        waiting = NULL;
    }
    etwas_control_unlock();
    while (left != NULL) {
        struct propagation *next = left->next;

        free(left);
        left = next;
    }
}

void etwas_propagate_forget(void)
{
    waiting = NULL; /* the parent's threads serve them */
    threads = 0;
}

/* Cuts the last component off a path. */
static void propagate_cut_name(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL) {
        (void)strcpy(path, ".");
    } else {
        slash[slash == path] = '\0';
    }
}

static uint64_t propagate_before_ns(const struct etwas_snapshot_window *window, uint32_t clock)
{
    const etwas_etl_wide before = (etwas_etl_wide)window->trigger - window->begin;

    return window->begin == INT64_MIN
               ? 0
               : (uint64_t)etwas_etl_saturate(before * NS_A_SECOND /
                                              (etwas_etl_wide)etwas_clock_frequency(clock));
}

/* Without memory or a thread nothing is propagated, and `passed_on` does not count it. */
void etwas_propagate(const struct etwas_session *session, const etwas_wchar *file_name,
                     const struct etwas_snapshot_window *window)
{
    const uint32_t clock = session->configuration.clock;
    struct propagation *propagation = malloc(sizeof *propagation);

    if (propagation == NULL) {
        return;
    }
    *propagation = (struct propagation){.key = etwas_session_key(session), .windows = 1};
    propagation->options = (struct etwas_snapshot_all_options){
        .folder = propagation->folder,
        .moment = etwas_trigger_stamp(clock, window->trigger, ETWAS_CLOCK_KIND_QPC),
        .before_ns = propagate_before_ns(window, clock),
        .except = session->configuration.guid,
    };
    if (etwas_configuration_path(file_name, propagation->folder) == ERROR_SUCCESS) {
        propagate_cut_name(propagation->folder);
        (void)mkdir(propagation->folder, 0700); /* before the flusher writes its own file there */
        if (propagate_request(&propagation) &&
            !etwas_service_spawn(propagate_thread, NULL, "etwas-trigger")) {
            propagate_count_out();
        }
    }
    free(propagation);
}
