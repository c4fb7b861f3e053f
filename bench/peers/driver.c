/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Measures one row of one peer, and prints it as bench/README.md describes:
 *
 *     peers/ROW            ns an event costs its producer, in a loop: the median of batches
 *     peers_tails/ROW/…    single calls
 *     peers/ROW/attempted  events logged, in all
 *     peers/ROW/lost       events the peer dropped; no line if only its tools know
 *
 * Producers are pinned, one per processor; the peer's own threads run anywhere. In a burst, 4,096
 * events are logged at full speed, then the producer pauses. So the peer's background thread keeps
 * up, and only the call is measured. In a flood there are no pauses.
 */
#include <ck_barrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "peer.h"

enum {
    BATCH_EVENTS = 4096,
    PAUSE_NS = 2000000,
    MAXIMUM_PRODUCERS = 64,
    MAXIMUM_BATCHES = 256,
};

struct plan {
    unsigned warm_up_batches; /* in a flood, enough to fill every buffer once */
    unsigned batches;         /* of each kind: timed as a whole, and timed by calls */
};

struct options {
    const char *row;
    const char *what;
    const char *folder;
    enum peer_payload payload;
    unsigned producers;
    bool burst;
    bool quick;
};

struct producer {
    pthread_t thread;
    unsigned index;
    bool failed;
    uint64_t attempted;
    double batch_ns[MAXIMUM_BATCHES]; /* per event */
    struct bench_latency latency;
};

static struct options options = {.producers = 1, .burst = true};
static struct plan plan;
static struct producer producers[MAXIMUM_PRODUCERS];
static ck_barrier_centralized_t barrier = CK_BARRIER_CENTRALIZED_INITIALIZER;

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct plan make_plan(void)
{
    if (options.quick) {
        return (struct plan){.warm_up_batches = 2, .batches = 4};
    }
    if (options.burst) {
        return (struct plan){.warm_up_batches = 4, .batches = 64};
    }
    return (struct plan){.warm_up_batches = 128, .batches = MAXIMUM_BATCHES};
}

/*
 * Uses the last processor first, because the first one serves most interrupts. Starts over if there
 * are too few.
 */
static bool pin(unsigned index)
{
    cpu_set_t allowed;
    cpu_set_t one;
    unsigned skip;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return false;
    }
    skip = index % (unsigned)CPU_COUNT(&allowed);
    for (size_t cpu = CPU_SETSIZE; cpu-- != 0;) {
        if (CPU_ISSET(cpu, &allowed) && skip-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    return false;
}

static void after_batch(struct producer *producer)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};

    producer->attempted += BATCH_EVENTS;
    if (options.burst) {
        (void)nanosleep(&pause, NULL);
        peer_settle();
    }
}

/* All producers run their n-th batch at the same time. */
static void *produce(void *argument)
{
    struct producer *producer = argument;
    ck_barrier_centralized_state_t state = CK_BARRIER_CENTRALIZED_STATE_INITIALIZER;

    bench_latency_clear(&producer->latency);
    producer->failed = !pin(producer->index) || !peer_producer_begin();
    for (unsigned batch = 0; batch < plan.warm_up_batches + plan.batches; batch++) {
        uint64_t start_ns;

        ck_barrier_centralized(&barrier, &state, options.producers);
        start_ns = now_ns();
        peer_log(options.payload, BATCH_EVENTS);
        if (batch >= plan.warm_up_batches) {
            producer->batch_ns[batch - plan.warm_up_batches] =
                (double)(now_ns() - start_ns) / BATCH_EVENTS;
        }
        after_batch(producer);
    }
    for (unsigned batch = 0; batch < plan.batches; batch++) {
        ck_barrier_centralized(&barrier, &state, options.producers);
        peer_log_timed(options.payload, BATCH_EVENTS, &producer->latency);
        after_batch(producer);
    }
    return NULL;
}

static bool run_producers(void)
{
    bool failed = false;

    for (unsigned index = 0; index < options.producers; index++) {
        producers[index].index = index;
        if (pthread_create(&producers[index].thread, NULL, produce, &producers[index]) != 0) {
            (void)fprintf(stderr, "a thread cannot be started\n");
            exit(1); /* the others wait for it at the barrier */
        }
    }
    for (unsigned index = 0; index < options.producers; index++) {
        (void)pthread_join(producers[index].thread, NULL);
        failed |= producers[index].failed;
    }
    if (failed) {
        (void)fprintf(stderr, "a producer cannot be pinned, or cannot begin\n");
    }
    return !failed;
}

static int compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

static double median_batch_ns(void)
{
    static double all[MAXIMUM_PRODUCERS * MAXIMUM_BATCHES];
    size_t count = 0;

    for (unsigned index = 0; index < options.producers; index++) {
        for (unsigned batch = 0; batch < plan.batches; batch++) {
            all[count++] = producers[index].batch_ns[batch];
        }
    }
    qsort(all, count, sizeof all[0], compare);
    return all[count / 2];
}

static void join_latencies(struct bench_latency *all)
{
    for (unsigned index = 0; index < options.producers; index++) {
        const struct bench_latency *one = &producers[index].latency;

        for (uint32_t place = 0; place < BENCH_LATENCY_COUNTS; place++) {
            all->counts[place] += one->counts[place];
        }
        all->samples += one->samples;
        if (one->longest_ticks > all->longest_ticks) {
            all->longest_ticks = one->longest_ticks;
        }
    }
}

static void print_rows(const struct bench_timer *timer, uint64_t attempted,
                       const struct peer_counts *counts)
{
    static struct bench_latency latency;
    double median_ns;
    char row[96];

    (void)snprintf(row, sizeof row, "peers/%s", options.row);
    median_ns = median_batch_ns();
    bench_row(row, "ns", &median_ns, 1, counts->note[0] != '\0' ? counts->note : NULL);
    (void)snprintf(row, sizeof row, "peers_tails/%s", options.row);
    join_latencies(&latency);
    bench_latency_print(&latency, timer, row);
    (void)snprintf(row, sizeof row, "peers/%s/attempted", options.row);
    bench_row_value(row, "events", (double)attempted);
    if (counts->known) {
        (void)snprintf(row, sizeof row, "peers/%s/lost", options.row);
        bench_row_value(row, "events", (double)counts->lost);
    }
}

static void usage(const char *program)
{
    (void)fprintf(stderr,
                  "usage: %s --row ROW --what WHAT --folder FOLDER [--payload u64_u32|blob64]\n"
                  "       [--producers N] [--pace burst|flood] [--quick]\n",
                  program);
    exit(2);
}

static void parse(int argc, char **argv)
{
    for (int index = 1; index < argc; index++) {
        const char *option = argv[index];
        const char *value = index + 1 < argc ? argv[index + 1] : "";

        if (strcmp(option, "--quick") == 0) {
            options.quick = true;
            continue;
        }
        if (strcmp(option, "--row") == 0) {
            options.row = value;
        } else if (strcmp(option, "--what") == 0) {
            options.what = value;
        } else if (strcmp(option, "--folder") == 0) {
            options.folder = value;
        } else if (strcmp(option, "--payload") == 0) {
            options.payload = strcmp(value, "blob64") == 0 ? PEER_BLOB64 : PEER_U64_U32;
        } else if (strcmp(option, "--producers") == 0) {
            options.producers = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(option, "--pace") == 0) {
            options.burst = strcmp(value, "burst") == 0;
        } else {
            usage(argv[0]);
        }
        index++;
    }
    if (options.row == NULL || options.what == NULL || options.folder == NULL ||
        options.producers == 0 || options.producers > MAXIMUM_PRODUCERS) {
        usage(argv[0]);
    }
}

int main(int argc, char **argv)
{
    struct bench_timer timer;
    struct peer_counts counts = {0};
    uint64_t attempted = 0;

    parse(argc, argv);
    plan = make_plan();
    timer = bench_timer_calibrate();
    if (!peer_start(options.what, options.folder) || !run_producers()) {
        return 1;
    }
    for (unsigned index = 0; index < options.producers; index++) {
        attempted += producers[index].attempted;
    }
    if (!peer_stop(attempted, &counts)) {
        return 1;
    }
    print_rows(&timer, attempted, &counts);
    return 0;
}
