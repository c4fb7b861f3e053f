/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/visit.h"

#include <ck_pr.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/cancel.h"
#include "platform/machine.h"
#include "platform/processor.h"
#include "platform/thread.h"
#include "platform/wait.h"

enum {
    /*
     * Each visitor takes the next processor that is free. A visitor that waits for a processor with
     * a thread of real-time priority delays no other. On a machine with hundreds of processors they
     * take turns, at some 50 µs for each processor.
     */
    MOST_VISITORS = 16,
    SLICE_NS = 100000,
    NAP_NS = 10000000,
    NS_PER_S = 1000000000,
};

#ifdef ETWAS_TESTPOINTS
bool etwas_visits_fail;
#endif

struct visit_round {
    bool *wanted; /* each element is one visitor's */
    uint32_t count;
    uint32_t next;    /* no visitor has taken this processor, nor any later one */
    uint32_t is_over; /* the timeout has passed */
    sem_t is_through; /* posted by each visitor that is through */
    sem_t may_end;    /* posted when all are through: until then each can be called back */
};

/* Room for any processor's number; CPU_SETSIZE is less. */
struct processor_set {
    cpu_set_t words[ETWAS_MOST_PROCESSORS / CPU_SETSIZE + 1];
};

static struct processor_set visit_only(uint32_t processor)
{
    struct processor_set set;

    CPU_ZERO_S(sizeof set, set.words);
    CPU_SET_S(processor, sizeof set, set.words);
    return set;
}

/* ---- a visitor ------------------------------------------------------------------------------- */

/*
 * struct sched_attr of <linux/sched/types.h>, which cannot be included beside <sched.h> everywhere.
 */
struct scheduling {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;
    uint64_t deadline;
    uint64_t period;
};
_Static_assert(sizeof(struct scheduling) == 48, "SCHED_ATTR_SIZE_VER0");

/*
 * Requests short time slices: busy processors schedule such threads sooner. Kernels before 6.12
 * ignore the request; if it is refused, visitors wait longer.
 */
static void visit_set_short_slices(void)
{
    struct scheduling scheduling;

    if (syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0) == 0 &&
        scheduling.policy == SCHED_OTHER) {
        scheduling.runtime = SLICE_NS;
        (void)syscall(SYS_sched_setattr, 0, &scheduling, 0);
    }
}

/*
 * The kernel returns when the thread has been moved. If it is elsewhere nevertheless, the cpuset
 * changed meanwhile, or the visitor was called back.
 */
static bool visit_thread(const struct visit_round *round, uint32_t processor)
{
    struct processor_set there = visit_only(processor);

    while (ck_pr_load_32(&round->is_over) == 0) {
        if (sched_setaffinity(0, sizeof there, there.words) != 0) {
            return errno == EINVAL && etwas_processor_is_offline(&etwas_this_machine, processor);
        }
        if (etwas_processor_query() == processor) {
            return true;
        }
    }
    return false;
}

static void visit_wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

static void *visit_some(void *argument)
{
    struct visit_round *round = argument;
    uint32_t processor;

    (void)pthread_setname_np(pthread_self(), "etwas-visit");
    visit_set_short_slices();
    while ((processor = ck_pr_faa_32(&round->next, 1)) < round->count) {
        if (round->wanted[processor] && visit_thread(round, processor)) {
            round->wanted[processor] = false;
        }
    }
    (void)sem_post(&round->is_through);
    visit_wait_for(&round->may_end);
    return NULL;
}

/*
 * ---- the calling thread -------------------------------------------------------------------------
 */

static uint32_t visit_count_wanted(const struct visit_round *round)
{
    uint32_t wanted = 0;

    for (uint32_t processor = 0; processor < round->count; processor++) {
        wanted += round->wanted[processor];
    }
    return wanted;
}

/* Returns false if no visitor had finished by then. */
static bool visit_wait_until(sem_t *semaphore, uint64_t end_ns)
{
    const struct timespec end = {.tv_sec = (time_t)(end_ns / NS_PER_S),
                                 .tv_nsec = (long)(end_ns % NS_PER_S)};
    int failed;

    do {
        failed = sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
    } while (failed != 0 && errno == EINTR);
    return failed == 0;
}

/*
 * Calls visitors back. A visitor may wait for a processor for ever, so it is moved to the caller's
 * processor, and the caller yields to it. This is repeated, since the visitor may have been on its
 * way to the next processor.
 */
static void visit_call_back(struct visit_round *round, const pthread_t *visitors, uint32_t count,
                            uint32_t through)
{
    ck_pr_store_32(&round->is_over, 1);
    while (through < count) {
        struct processor_set here = visit_only(etwas_processor_query());

        for (uint32_t index = 0; index < count; index++) {
            (void)pthread_setaffinity_np(visitors[index], sizeof here, here.words);
        }
        through += visit_wait_until(&round->is_through, etwas_monotonic_ns() + NAP_NS);
    }
}

static void visit_start_threads(struct visit_round *round, uint32_t most, uint64_t end_ns)
{
    pthread_t visitors[MOST_VISITORS];
    uint32_t count = 0;
    uint32_t through = 0;

    while (count < most && count < MOST_VISITORS &&
           etwas_thread_create(&visitors[count], NULL, visit_some, round) == 0) {
        count++;
    }
    while (through < count && visit_wait_until(&round->is_through, end_ns)) {
        through++;
    }
    visit_call_back(round, visitors, count, through);
    for (uint32_t index = 0; index < count; index++) {
        (void)sem_post(&round->may_end);
    }
    for (uint32_t index = 0; index < count; index++) {
        (void)pthread_join(visitors[index], NULL);
    }
}

bool etwas_visit_processors(bool *wanted, uint32_t count, uint64_t timeout_ns)
{
    struct visit_round round = {.wanted = wanted, .count = count};
    uint64_t end_ns = etwas_monotonic_ns() + timeout_ns;
    ETWAS_UNCANCELLED_SCOPE;

#ifdef ETWAS_TESTPOINTS
    if (etwas_visits_fail) {
        return false;
    }
#endif
    /* Each sequence that begins after a visit sees what was stored before it. */
    ck_pr_fence_memory();
    (void)sem_init(&round.is_through, 0, 0);
    (void)sem_init(&round.may_end, 0, 0);
    visit_start_threads(&round, visit_count_wanted(&round), end_ns);
    (void)sem_destroy(&round.is_through);
    (void)sem_destroy(&round.may_end);
    return visit_count_wanted(&round) == 0;
}
