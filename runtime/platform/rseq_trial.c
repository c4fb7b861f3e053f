/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "platform/rseq_trial.h"

#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/wait.h"

enum {
    PIECE_BYTES = 1 << 16,
    PIECES = 8,       /* copied by one sequence */
    ENOUGH = 3,       /* aborted sequences */
    SLEEP_NS = 50000, /* sleep of the other thread between two preemptions */
    SLICE_NS = 100000,
    STACK_BYTES = 1 << 18,
    FIRST_MAJOR = 6,
    FIRST_MINOR = 19,
};

struct trial_state {
    enum etwas_rseq_result (*run)(const struct etwas_rseq_sequence *sequence);
    struct etwas_rseq_trial result;
    uint64_t most_ns;
    uint32_t processor;
    uint32_t is_over;
    uint64_t counter; /* the other thread's */
    uint64_t seen;
    uint64_t target;
    uint8_t from[PIECE_BYTES];
    uint8_t to[PIECE_BYTES];
};

bool etwas_rseq_may_not_abort(enum etwas_architecture architecture, const char *release)
{
    char *end;
    unsigned long major = strtoul(release, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, &end, 10) : 0;

    return architecture == ETWAS_ARCHITECTURE_AARCH64 &&
           (end == release || major > FIRST_MAJOR ||
            (major == FIRST_MAJOR && minor >= FIRST_MINOR));
}

/* Runs one sequence. */
static void trial_run_once(struct trial_state *trial)
{
    const uint64_t before = ck_pr_load_64(&trial->counter);
    const struct etwas_rseq_check check = {&trial->counter, before};
    struct etwas_rseq_copy copies[PIECES + 1];
    struct etwas_rseq_sequence sequence = {
        .checks = &check,
        .check_count = 1,
        .copies = copies,
        .copy_count = PIECES + 1,
        .target = &trial->target,
        .value = 1,
        .processor = trial->processor,
    };
    enum etwas_rseq_result result;

    for (uint32_t piece = 0; piece < PIECES; piece++) {
        copies[piece] = (struct etwas_rseq_copy){trial->to, trial->from, PIECE_BYTES};
    }
    copies[PIECES] = (struct etwas_rseq_copy){&trial->seen, &trial->counter, sizeof trial->seen};
    result = trial->run(&sequence);
    if (result == ETWAS_RSEQ_COMMITTED && ck_pr_load_64(&trial->seen) != before) {
        trial->result.committed++;
    } else if (result == ETWAS_RSEQ_ABORTED && ck_pr_load_64(&trial->counter) != before) {
        trial->result.aborted++;
    }
}

static void *trial_subject_thread(void *argument)
{
    struct trial_state *trial = argument;
    uint64_t end_ns = etwas_monotonic_ns() + trial->most_ns;

    while (trial->result.committed == 0 && trial->result.aborted < ENOUGH &&
           etwas_monotonic_ns() < end_ns) {
        trial_run_once(trial);
    }
    ck_pr_store_32(&trial->is_over, 1);
    return NULL;
}

/*
 * Requests short time slices, which kernels grant since 6.12: a thread that wakes up with a short
 * slice preempts one with a long slice at once.
 */
static void trial_set_short_slices(void)
{
    const struct {
        uint32_t size;
        uint32_t policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime;
        uint64_t deadline;
        uint64_t period;
    } attributes = {.size = sizeof attributes, .policy = SCHED_OTHER, .runtime = SLICE_NS};

    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static void *trial_other_thread(void *argument)
{
    const struct timespec pause = {.tv_nsec = SLEEP_NS};
    struct trial_state *trial = argument;

    trial_set_short_slices();
    while (ck_pr_load_32(&trial->is_over) == 0) {
        ck_pr_inc_64(&trial->counter);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Starts a thread on the trial's processor, with all signals blocked. */
static bool trial_start_thread(pthread_t *thread, void *(*begin)(void *), struct trial_state *trial)
{
    pthread_attr_t attributes;
    cpu_set_t processors;
    sigset_t all;
    sigset_t before;
    bool started;

    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    CPU_ZERO(&processors);
    CPU_SET(trial->processor, &processors);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors) == 0 &&
              pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
              pthread_create(thread, &attributes, begin, trial) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return started;
}

struct etwas_rseq_trial etwas_rseq_trial_run(
    enum etwas_rseq_result (*run)(const struct etwas_rseq_sequence *sequence), uint64_t most_ns)
{
    struct trial_state *trial = calloc(1, sizeof *trial);
    struct etwas_rseq_trial result = {0};
    int processor = sched_getcpu();
    pthread_t subject;
    pthread_t other;

    if (trial != NULL && processor >= 0 && processor < CPU_SETSIZE) {
        trial->run = run;
        trial->most_ns = most_ns;
        trial->processor = (uint32_t)processor;
        if (trial_start_thread(&other, trial_other_thread, trial)) {
            if (trial_start_thread(&subject, trial_subject_thread, trial)) {
                (void)pthread_join(subject, NULL);
            }
            ck_pr_store_32(&trial->is_over, 1);
            (void)pthread_join(other, NULL);
        }
        result = trial->result;
    }
    free(trial);
    return result;
}
