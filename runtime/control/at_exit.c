/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/prepare.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/etwas.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "buffer/slot.h"
#include "control/lifecycle.h"
#include "platform/thread.h"
#include "provider/callback.h"
#include "session/session.h"
#include "session/sharing.h"

enum {
    USUAL_WAIT_MS = 1000,
    LOOK_AGAIN_NS = 1000000,
    MS_A_SECOND = 1000,
    NS_A_MS = 1000000,
    NS_A_SECOND = 1000000000,
    /*
     * Destructors run in descending order of priority, and 101 is the lowest that programs may use.
     */
    AFTER_ALL_OTHERS = 101,
};

static uint32_t wait_ms = USUAL_WAIT_MS;
static bool prepared; /* written once, before there is a session */

/*
 * Posted for each session, and once for all. They are static because a hanging thread is left
 * behind.
 */
static sem_t ended;
static sem_t all_ended;

void etwas_at_exit_prepare(void)
{
    prepared = true;
}

void etwas_exit_wait(uint32_t milliseconds)
{
    ck_pr_store_32(&wait_ms, milliseconds);
}

/* Returns the state of the session in an entry, and its key. */
static enum etwas_session_state at_exit_state_of(uint32_t index, struct etwas_session_key *key)
{
    enum etwas_session_state state;

    etwas_control_lock();
    state = etwas_sessions[index].entry.state;
    *key = etwas_session_key(&etwas_sessions[index]);
    etwas_control_unlock();
    return state;
}

/* If another thread already stops the session, waits for it. */
static void *at_exit_stop_session(void *argument)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
    uint32_t index = (uint32_t)(uintptr_t)argument;
    struct etwas_session_key key;

    if (at_exit_state_of(index, &key) == ETWAS_SESSION_RUNNING) {
        (void)etwas_lifecycle_stop(key, NULL, NULL);
    }
    while (at_exit_state_of(index, &key) == ETWAS_SESSION_STOPPING) {
        (void)nanosleep(&pause, NULL);
    }
    (void)sem_post(&ended);
    return NULL;
}

/*
 * Starts a thread for each session, so that a disk that hangs does not delay the others. Sessions
 * for which no thread starts are stopped one after the other. Returns the number of sessions.
 */
static uint32_t stop_each_session(void)
{
    void *without_thread[ETWAS_SESSION_ENTRIES];
    uint32_t without = 0;
    struct etwas_session_key key;
    uint32_t sessions = 0;
    pthread_t thread;

    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        enum etwas_session_state state = at_exit_state_of(index, &key);
        void *argument = (void *)(uintptr_t)index;

        if (state != ETWAS_SESSION_RUNNING && state != ETWAS_SESSION_STOPPING) {
            continue;
        }
        sessions++;
        if (etwas_thread_create(&thread, NULL, at_exit_stop_session, argument) == 0) {
            (void)pthread_detach(thread);
        } else {
            without_thread[without++] = argument;
        }
    }
    while (without != 0) {
        (void)at_exit_stop_session(without_thread[--without]);
    }
    return sessions;
}

/*
 * Runs in a thread, since the thread that ends the process must take no lock, wherever it was
 * interrupted.
 */
static void *stop_sessions(void *argument)
{
    uint32_t sessions;

    etwas_callbacks_disable();
    sessions = stop_each_session();
    while (sessions != 0) {
        sessions -= sem_wait(&ended) == 0;
    }
    etwas_sharing.end();
    (void)sem_post(&all_ended);
    return argument;
}

static struct timespec at_exit_deadline_after(uint32_t milliseconds)
{
    struct timespec deadline;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += milliseconds / MS_A_SECOND;
    deadline.tv_nsec += (long)(milliseconds % MS_A_SECOND) * NS_A_MS;
    if (deadline.tv_nsec >= NS_A_SECOND) {
        deadline.tv_nsec -= NS_A_SECOND;
        deadline.tv_sec++;
    }
    return deadline;
}

/*
 * A child of fork has no sessions of its parent, and a child of _Fork or clone has nothing attached
 * (buffer/slot.h).
 */
static bool has_had_sessions(void)
{
    bool any = false;

    for (uint32_t index = 0; index < ETWAS_SESSION_ENTRIES; index++) {
        any = any || ck_pr_load_ptr(&etwas_attachment_of(index)->pool) != NULL;
    }
    return any && etwas_slots_are_attached();
}

/*
 * A destructor of the library. The destructors of the code that uses it have run before, and so
 * have the handlers of atexit. No callback of the program is called any more, since its data may be
 * gone.
 */
__attribute__((destructor(AFTER_ALL_OTHERS))) static void stop_at_exit(void)
{
    uint32_t milliseconds = ck_pr_load_32(&wait_ms);
    struct timespec deadline;
    pthread_t thread;

    if (!prepared || milliseconds == 0 || !(has_had_sessions() || etwas_sharing.is_running())) {
        return;
    }
    deadline = at_exit_deadline_after(milliseconds);
    (void)sem_init(&ended, 0, 0);
    (void)sem_init(&all_ended, 0, 0);
    if (etwas_thread_create(&thread, NULL, stop_sessions, NULL) != 0) {
        return;
    }
    (void)pthread_detach(thread);
    while (sem_clockwait(&all_ended, CLOCK_MONOTONIC, &deadline) != 0 && errno == EINTR) {
    }
}
