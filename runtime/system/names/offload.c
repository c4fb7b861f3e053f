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
    /* Of so many naps: a machine that stood still has not waited. */
    NAPS = 25,
    NAP_NS = 10000000,
    NS_PER_S = 1000000000,
};

/* A thread that does errands, one after the other. It frees itself where it was left alone. */
struct runner {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct etwas_errand *errand; /* NULL: there is none */
    bool is_done;
    bool is_left;
    bool is_over; /* there will be none any more */
};

static _Thread_local bool has_begun;
static _Thread_local struct runner *my_runner; /* NULL: none yet, or it was left alone */

/* ---- places ---------------------------------------------------------------------------------- */

static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

/* An errand has one from before it begins until it has come back: whoever is left alone has had it already. */
static struct place {
    const struct etwas_errand *errand; /* NULL: nobody */
    bool is_left;                      /* alone; until then its asker waits for it */
    uint32_t process_id;
    uint64_t device;
} places[ETWAS_ERRANDS_LEFT];

/* With the lock held. NULL: nobody has it. */
static struct place *place_of(const struct etwas_errand *errand)
{
    for (uint32_t index = 0; index < ETWAS_ERRANDS_LEFT; index++) {
        if (places[index].errand == errand) {
            return &places[index];
        }
    }
    return NULL;
}

/* With the lock held. It would wait for whom another waits for. */
static bool would_wait(uint32_t process_id)
{
    bool waits = false;

    for (uint32_t index = 0; index < ETWAS_ERRANDS_LEFT; index++) {
        waits = waits || (places[index].is_left && places[index].process_id == process_id &&
                          places[index].device == ETWAS_NO_DEVICE);
    }
    return waits;
}

/* False: there is no place for it, or it would wait. */
static bool take_place(const struct etwas_errand *errand)
{
    struct place *place;

    (void)pthread_mutex_lock(&places_lock);
    place = would_wait(errand->process_id) ? NULL : place_of(NULL);
    if (place != NULL) {
        *place = (struct place){
            .errand = errand, .process_id = errand->process_id, .device = ETWAS_NO_DEVICE};
    }
    (void)pthread_mutex_unlock(&places_lock);
    return place != NULL;
}

static void say_left(const struct etwas_errand *errand, uint64_t device)
{
    struct place *place;

    (void)pthread_mutex_lock(&places_lock);
    place = place_of(errand);
    place->is_left = true;
    place->device = device;
    (void)pthread_mutex_unlock(&places_lock);
}

static void give_place_back(const struct etwas_errand *errand)
{
    (void)pthread_mutex_lock(&places_lock);
    *place_of(errand) = (struct place){.errand = NULL};
    (void)pthread_mutex_unlock(&places_lock);
}

bool etwas_errand_waits_for(uint64_t device)
{
    bool waits = false;

    (void)pthread_mutex_lock(&places_lock);
    for (uint32_t index = 0; index < ETWAS_ERRANDS_LEFT; index++) {
        waits = waits || (places[index].is_left && places[index].device == device);
    }
    (void)pthread_mutex_unlock(&places_lock);
    return waits;
}

void etwas_errands_forget(void)
{
    (void)pthread_mutex_init(&places_lock, NULL);
    memset(places, 0, sizeof places);
}

#ifdef ETWAS_TESTPOINTS
uint32_t etwas_errands_left(void)
{
    uint32_t count = 0;

    (void)pthread_mutex_lock(&places_lock);
    for (uint32_t index = 0; index < ETWAS_ERRANDS_LEFT; index++) {
        count += places[index].is_left;
    }
    (void)pthread_mutex_unlock(&places_lock);
    return count;
}
#endif

/* ---- who does them --------------------------------------------------------------------------- */

static void free_runner(struct runner *runner)
{
    (void)pthread_cond_destroy(&runner->changed);
    (void)pthread_mutex_destroy(&runner->lock);
    free(runner);
}

/* With the lock held. False: nobody waits for it any more. */
static bool run_one(struct runner *runner)
{
    struct etwas_errand *errand = runner->errand;

    (void)pthread_mutex_unlock(&runner->lock);
    errand->run(errand);
    (void)pthread_mutex_lock(&runner->lock);
    if (runner->is_left) {
        give_place_back(errand);
        errand->free(errand);
        return false;
    }
    runner->errand = NULL;
    runner->is_done = true;
    (void)pthread_cond_signal(&runner->changed);
    return true;
}

static void *run(void *argument)
{
    struct runner *runner = argument;
    bool is_left = false;

    (void)pthread_setname_np(pthread_self(), "etwas-errands");
    (void)pthread_mutex_lock(&runner->lock);
    while (!is_left && !runner->is_over) {
        if (runner->errand != NULL) {
            is_left = !run_one(runner);
        } else {
            (void)pthread_cond_wait(&runner->changed, &runner->lock);
        }
    }
    (void)pthread_mutex_unlock(&runner->lock);
    if (is_left) {
        free_runner(runner);
    }
    return NULL;
}

/* It comes as soon as who asks for it, who waits. NULL: there can be none. */
static struct runner *make_runner(void)
{
    struct runner *runner = calloc(1, sizeof *runner);
    pthread_condattr_t steady;

    if (runner == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&runner->lock, NULL);
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&runner->changed, &steady);
    (void)pthread_condattr_destroy(&steady);
    if (etwas_thread_create(&runner->thread, NULL, run, runner) != 0) {
        free_runner(runner);
        return NULL;
    }
    return runner;
}

/* ---- who asks -------------------------------------------------------------------------------- */

void etwas_errands_begin(void)
{
    has_begun = true;
}

void etwas_errands_end(void)
{
    struct runner *runner = my_runner;

    has_begun = false;
    my_runner = NULL;
    if (runner != NULL) {
        (void)pthread_mutex_lock(&runner->lock);
        runner->is_over = true;
        (void)pthread_cond_signal(&runner->changed);
        (void)pthread_mutex_unlock(&runner->lock);
        (void)pthread_join(runner->thread, NULL);
        free_runner(runner);
    }
}

/* With the lock held. */
static void nap(struct runner *runner)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += NAP_NS;
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_nsec -= NS_PER_S;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&runner->changed, &runner->lock, &until);
}

/* With the lock held. */
static void leave_alone(struct runner *runner, struct etwas_errand *errand)
{
    if (errand->leave != NULL) {
        errand->leave(errand);
    }
    say_left(errand, ck_pr_load_64(&errand->device));
    runner->is_left = true;
    (void)pthread_detach(runner->thread);
    my_runner = NULL;
}

static bool have_done(struct runner *runner, struct etwas_errand *errand)
{
    bool is_done;

    (void)pthread_mutex_lock(&runner->lock);
    runner->errand = errand;
    runner->is_done = false;
    (void)pthread_cond_signal(&runner->changed);
    for (uint32_t naps = 0; !runner->is_done && naps < NAPS; naps++) {
        nap(runner);
    }
    is_done = runner->is_done;
    if (!is_done) {
        leave_alone(runner, errand);
    }
    (void)pthread_mutex_unlock(&runner->lock);
    if (is_done) {
        give_place_back(errand);
    }
    return is_done;
}

bool etwas_errand_do(struct etwas_errand *errand)
{
    errand->device = ETWAS_NO_DEVICE;
    if (!has_begun) {
        errand->run(errand);
        return true;
    }
    if (!take_place(errand)) {
        errand->free(errand);
        return false;
    }
    if (my_runner == NULL) {
        my_runner = make_runner();
    }
    if (my_runner == NULL) {
        give_place_back(errand);
        errand->free(errand);
        return false;
    }
    return have_done(my_runner, errand);
}
