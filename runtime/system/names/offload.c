/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/offload.h"

#include <ck_pr.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/thread.h"

enum {
    /*
     * A quarter of a second in parts, so that a machine that stood still is not taken for a
     * timeout.
     */
    NAPS = 25,
    NAP_NS = 10000000,
    NS_PER_S = 1000000000,
};

/*
 * A thread that runs tasks, one after the other. It frees its memory by itself after it was
 * abandoned.
 */
struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct etwas_offload_task *task; /* NULL: there is none */
    bool is_done;
    bool is_abandoned;
    bool is_over; /* there will be no more tasks */
};

static _Thread_local bool has_begun;
static _Thread_local struct worker *my_worker; /* NULL: there is none yet, or it was abandoned */

/* ---- slots ----------------------------------------------------------------------------------- */

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

/* A task has a slot from before it runs until it returns, so an abandoned one has a slot, too. */
static struct slot {
    const struct etwas_offload_task *task; /* NULL: the slot is free */
    bool is_abandoned;                     /* until then the caller waits for it */
    uint32_t process_id;
    uint64_t device;
} slots[ETWAS_OFFLOAD_MOST];

/* The lock is held. NULL: no slot has this task. */
static struct slot *slot_of(const struct etwas_offload_task *task)
{
    for (uint32_t index = 0; index < ETWAS_OFFLOAD_MOST; index++) {
        if (slots[index].task == task) {
            return &slots[index];
        }
    }
    return NULL;
}

/* The lock is held. Whether an abandoned task waits for the same process. */
static bool would_block(uint32_t process_id)
{
    bool waits = false;

    for (uint32_t index = 0; index < ETWAS_OFFLOAD_MOST; index++) {
        waits = waits || (slots[index].is_abandoned && slots[index].process_id == process_id &&
                          slots[index].device == ETWAS_NO_DEVICE);
    }
    return waits;
}

/* Returns false if there is no free slot, or the task would block. */
static bool claim_slot(const struct etwas_offload_task *task)
{
    struct slot *slot;

    (void)pthread_mutex_lock(&slots_lock);
    slot = would_block(task->process_id) ? NULL : slot_of(NULL);
    if (slot != NULL) {
        *slot =
            (struct slot){.task = task, .process_id = task->process_id, .device = ETWAS_NO_DEVICE};
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return slot != NULL;
}

static void mark_abandoned(const struct etwas_offload_task *task, uint64_t device)
{
    struct slot *slot;

    (void)pthread_mutex_lock(&slots_lock);
    slot = slot_of(task);
    slot->is_abandoned = true;
    slot->device = device;
    (void)pthread_mutex_unlock(&slots_lock);
}

static void release_slot(const struct etwas_offload_task *task)
{
    (void)pthread_mutex_lock(&slots_lock);
    *slot_of(task) = (struct slot){.task = NULL};
    (void)pthread_mutex_unlock(&slots_lock);
}

bool etwas_offload_waits_for(uint64_t device)
{
    bool waits = false;

    (void)pthread_mutex_lock(&slots_lock);
    for (uint32_t index = 0; index < ETWAS_OFFLOAD_MOST; index++) {
        waits = waits || (slots[index].is_abandoned && slots[index].device == device);
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return waits;
}

void etwas_offload_forget(void)
{
    (void)pthread_mutex_init(&slots_lock, NULL);
    memset(slots, 0, sizeof slots);
}

#ifdef ETWAS_TESTPOINTS
uint32_t etwas_offload_abandoned(void)
{
    uint32_t count = 0;

    (void)pthread_mutex_lock(&slots_lock);
    for (uint32_t index = 0; index < ETWAS_OFFLOAD_MOST; index++) {
        count += slots[index].is_abandoned;
    }
    (void)pthread_mutex_unlock(&slots_lock);
    return count;
}
#endif

/* ---- workers --------------------------------------------------------------------------------- */

static void free_worker(struct worker *worker)
{
    (void)pthread_cond_destroy(&worker->changed);
    (void)pthread_mutex_destroy(&worker->lock);
    free(worker);
}

/* The lock is held. Returns false if the worker was abandoned meanwhile. */
static bool run_task(struct worker *worker)
{
    struct etwas_offload_task *task = worker->task;

    (void)pthread_mutex_unlock(&worker->lock);
    task->run(task);
    (void)pthread_mutex_lock(&worker->lock);
    if (worker->is_abandoned) {
        release_slot(task);
        task->free(task);
        return false;
    }
    worker->task = NULL;
    worker->is_done = true;
    (void)pthread_cond_signal(&worker->changed);
    return true;
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    bool is_abandoned = false;

    (void)pthread_setname_np(pthread_self(), "etwas-offload");
    (void)pthread_mutex_lock(&worker->lock);
    while (!is_abandoned && !worker->is_over) {
        if (worker->task != NULL) {
            is_abandoned = !run_task(worker);
        } else {
            (void)pthread_cond_wait(&worker->changed, &worker->lock);
        }
    }
    (void)pthread_mutex_unlock(&worker->lock);
    if (is_abandoned) {
        free_worker(worker);
    }
    return NULL;
}

/* The thread has the priority of the caller, which waits for it. NULL: it cannot be created. */
static struct worker *make_worker(void)
{
    struct worker *worker = calloc(1, sizeof *worker);
    pthread_condattr_t steady;

    if (worker == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&worker->lock, NULL);
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&worker->changed, &steady);
    (void)pthread_condattr_destroy(&steady);
    if (etwas_thread_create(&worker->thread, NULL, run, worker) != 0) {
        free_worker(worker);
        return NULL;
    }
    return worker;
}

/* ---- running a task -------------------------------------------------------------------------- */

void etwas_offload_begin(void)
{
    has_begun = true;
}

void etwas_offload_end(void)
{
    struct worker *worker = my_worker;

    has_begun = false;
    my_worker = NULL;
    if (worker != NULL) {
        (void)pthread_mutex_lock(&worker->lock);
        worker->is_over = true;
        (void)pthread_cond_signal(&worker->changed);
        (void)pthread_mutex_unlock(&worker->lock);
        (void)pthread_join(worker->thread, NULL);
        free_worker(worker);
    }
}

/* The lock is held. */
static void nap(struct worker *worker)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += NAP_NS;
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_nsec -= NS_PER_S;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
}

/* The lock is held. */
static void abandon_task(struct worker *worker, struct etwas_offload_task *task)
{
    if (task->abandon != NULL) {
        task->abandon(task);
    }
    mark_abandoned(task, ck_pr_load_64(&task->device));
    worker->is_abandoned = true;
    (void)pthread_detach(worker->thread);
    my_worker = NULL;
}

static bool run_with_timeout(struct worker *worker, struct etwas_offload_task *task)
{
    bool is_done;

    (void)pthread_mutex_lock(&worker->lock);
    worker->task = task;
    worker->is_done = false;
    (void)pthread_cond_signal(&worker->changed);
    for (uint32_t naps = 0; !worker->is_done && naps < NAPS; naps++) {
        nap(worker);
    }
    is_done = worker->is_done;
    if (!is_done) {
        abandon_task(worker, task);
    }
    (void)pthread_mutex_unlock(&worker->lock);
    if (is_done) {
        release_slot(task);
    }
    return is_done;
}

bool etwas_offload_run(struct etwas_offload_task *task)
{
    task->device = ETWAS_NO_DEVICE;
    if (!has_begun) {
        task->run(task);
        return true;
    }
    if (!claim_slot(task)) {
        task->free(task);
        return false;
    }
    if (my_worker == NULL) {
        my_worker = make_worker();
    }
    if (my_worker == NULL) {
        release_slot(task);
        task->free(task);
        return false;
    }
    return run_with_timeout(my_worker, task);
}
