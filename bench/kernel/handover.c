/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * kernel_handover RATE SECONDS: makes context switches at a steady rate.
 *
 * On each processor two threads hand over to each other, one switch each time, in a batch per
 * millisecond with a pause after it. RATE is in switches per second, of all processors together.
 * Prints the least number of switches made.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    MOST_PROCESSORS = 1024,
    BATCH_NS = 1000000,
    NS_PER_SECOND = 1000000000,
    SWITCHES_PER_TURN = 2, /* there and back */
};

struct pair {
    pthread_t leader;
    pthread_t follower;
    int processor;
    uint64_t batches;
    uint64_t turns_per_batch;
    sem_t to_follower;
    sem_t to_leader;
};

static void must(bool good, const char *what)
{
    if (!good) {
        (void)fprintf(stderr, "kernel_handover: cannot %s\n", what);
        exit(1);
    }
}

static void stay_on(int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)processor, &set);
    must(sched_setaffinity(0, sizeof set, &set) == 0, "stay on a processor");
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
    }
}

static void *lead(void *argument)
{
    struct pair *pair = argument;
    struct timespec next;

    stay_on(pair->processor);
    (void)clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint64_t batch = 0; batch < pair->batches; batch++) {
        for (uint64_t turn = 0; turn < pair->turns_per_batch; turn++) {
            (void)sem_post(&pair->to_follower);
            await(&pair->to_leader);
        }
        next.tv_nsec += BATCH_NS;
        if (next.tv_nsec >= NS_PER_SECOND) {
            next.tv_nsec -= NS_PER_SECOND;
            next.tv_sec++;
        }
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return NULL;
}

static void *follow(void *argument)
{
    struct pair *pair = argument;

    stay_on(pair->processor);
    for (uint64_t turn = 0; turn < pair->batches * pair->turns_per_batch; turn++) {
        await(&pair->to_follower);
        (void)sem_post(&pair->to_leader);
    }
    return NULL;
}

/* Makes a pair for each processor that the process may run on. Returns their number. */
static size_t make_pairs(struct pair *pairs)
{
    cpu_set_t set;
    size_t count = 0;

    must(sched_getaffinity(0, sizeof set, &set) == 0, "ask for the processors");
    for (int processor = 0; processor < MOST_PROCESSORS; processor++) {
        if (CPU_ISSET((size_t)processor, &set)) {
            pairs[count++].processor = processor;
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct pair pairs[MOST_PROCESSORS];
    const uint64_t batches_per_second = NS_PER_SECOND / BATCH_NS;
    uint64_t switches = 0;
    uint64_t rate;
    size_t count;

    must(argc == 3, "do without RATE and SECONDS");
    rate = strtoull(argv[1], NULL, 10);
    count = make_pairs(pairs);
    for (size_t index = 0; index < count; index++) {
        struct pair *pair = &pairs[index];

        pair->batches = (uint64_t)(strtod(argv[2], NULL) * (double)batches_per_second);
        pair->turns_per_batch = rate / SWITCHES_PER_TURN / count / batches_per_second;
        switches += pair->batches * pair->turns_per_batch * SWITCHES_PER_TURN;
        (void)sem_init(&pair->to_follower, 0, 0);
        (void)sem_init(&pair->to_leader, 0, 0);
        must(pthread_create(&pair->follower, NULL, follow, pair) == 0 &&
                 pthread_create(&pair->leader, NULL, lead, pair) == 0,
             "start a thread");
    }
    for (size_t index = 0; index < count; index++) {
        (void)pthread_join(pairs[index].leader, NULL);
        (void)pthread_join(pairs[index].follower, NULL);
    }
    (void)printf("%" PRIu64 "\n", switches);
    return 0;
}
