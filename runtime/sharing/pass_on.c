/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/pass_on.h"

#include <etwas/etwas.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clock/clock.h"
#include "etl/clock_convert.h"
#include "sharing/service.h"
#include "sharing/snapshot_all.h"

enum {
    NS_A_SECOND = 1000000000
};

/* What one thread is asked for: a window, or several of one session's that none had begun with. */
struct passing {
    struct passing *next;
    struct etwas_snapshot_wish wish;
    struct etwas_session_key key; /* of whose windows they are */
    uint32_t windows;
    char folder[ETWAS_PATH_BYTES];
};

/* Under the control lock. */
static struct passing *waiting; /* the first that came is at the end */
static uint32_t threads;

/* NULL: the thread that asks has to end, and is counted no more. */
static struct passing *take_first(void)
{
    struct passing **link = &waiting;
    struct passing *first;

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

/* That there are no others is no failure. */
static void *pass(void *argument)
{
    struct etwas_held_session held;
    struct passing *passing;

    while ((passing = take_first()) != NULL) {
        uint32_t code = etwas_snapshot_all_of(&passing->wish, NULL, NULL);

        if ((code == ERROR_SUCCESS || code == ERROR_NOT_FOUND) &&
            etwas_session_hold(etwas_session_handle(passing->key), &held) == ERROR_SUCCESS) {
            held.session->trigger.passed_on += passing->windows;
            etwas_session_let_go(&held);
        }
        free(passing);
    }
    return argument;
}

/* One snapshot has what both ask for: it is of the time from the earlier beginning on. */
static void join(struct etwas_snapshot_wish *wish, const struct etwas_snapshot_wish *other)
{
    const int64_t begin = wish->moment - (int64_t)wish->before_ns;
    const int64_t other_begin = other->moment - (int64_t)other->before_ns;
    const bool is_all = wish->before_ns == 0 || other->before_ns == 0;

    wish->moment = wish->moment > other->moment ? wish->moment : other->moment;
    wish->before_ns =
        is_all ? 0 : (uint64_t)(wish->moment - (begin < other_begin ? begin : other_begin));
}

static bool is_same(struct etwas_session_key one, struct etwas_session_key other)
{
    return one.index == other.index && one.generation == other.generation;
}

/* Whether a thread more has to come. `*passing` is taken over, unless it was joined to one that waits. */
static bool ask(struct passing **passing)
{
    struct passing *one;
    bool wants_thread;

    etwas_control_lock();
    for (one = waiting; one != NULL; one = one->next) {
        if (is_same(one->key, (*passing)->key) && strcmp(one->folder, (*passing)->folder) == 0) {
            break;
        }
    }
    if (one != NULL) {
        join(&one->wish, &(*passing)->wish);
        one->windows++;
    } else {
        (*passing)->next = waiting;
        waiting = *passing;
        *passing = NULL;
    }
    wants_thread = one == NULL && threads < ETWAS_PASS_ON_THREADS;
    threads += wants_thread;
    etwas_control_unlock();
    return wants_thread;
}

/* Without any, nobody would come to what waits. */
static void count_out(void)
{
    struct passing *left = NULL;

    etwas_control_lock();
    if (--threads == 0) {
        left = waiting;
        waiting = NULL;
    }
    etwas_control_unlock();
    while (left != NULL) {
        struct passing *next = left->next;

        free(left);
        left = next;
    }
}

void etwas_pass_on_forget(void)
{
    waiting = NULL; /* the parent's threads have it */
    threads = 0;
}

/* The part of a path before its last component. */
static void cut_name(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL) {
        (void)strcpy(path, ".");
    } else {
        slash[slash == path] = '\0';
    }
}

static uint64_t before_ns(const struct etwas_snapshot_window *window, uint32_t clock)
{
    const etwas_etl_wide before = (etwas_etl_wide)window->trigger - window->begin;

    return window->begin == INT64_MIN
               ? 0
               : (uint64_t)etwas_etl_saturate(before * NS_A_SECOND /
                                              (etwas_etl_wide)etwas_clock_frequency(clock));
}

/* Without memory or a thread it is passed on to nobody: `passed_on` does not count it. */
void etwas_pass_on(const struct etwas_session *session, const etwas_wchar *file_name,
                   const struct etwas_snapshot_window *window)
{
    const uint32_t clock = session->configuration.clock;
    struct passing *passing = malloc(sizeof *passing);

    if (passing == NULL) {
        return;
    }
    *passing = (struct passing){.key = etwas_session_key(session), .windows = 1};
    passing->wish = (struct etwas_snapshot_wish){
        .folder = passing->folder,
        .moment = etwas_trigger_stamp(clock, window->trigger, ETWAS_CLOCK_KIND_QPC),
        .before_ns = before_ns(window, clock),
        .except = session->configuration.guid,
    };
    if (etwas_configuration_path(file_name, passing->folder) == ERROR_SUCCESS) {
        cut_name(passing->folder);
        (void)mkdir(passing->folder, 0700); /* before the flusher writes its own file there */
        if (ask(&passing) && !etwas_service_spawn(pass, NULL, "etwas-trigger")) {
            count_out();
        }
    }
    free(passing);
}
