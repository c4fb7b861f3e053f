/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_scaling: how much many threads log together into one flight recorder, in memory, TSC,
 * 16 bytes.
 *
 *     scaling/PROTOCOL/pinned/N        events/s of N threads, one a processor
 *     scaling/PROTOCOL/unpinned/4N     of four times as many threads as processors, running where
 *                                      the kernel puts them
 *     …/cpu                            processor time per event: the sum of the threads' own clocks
 *     …/restarts                       restarts of restartable sequences, per event
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "rows_json.h"
#include "session.h"

enum {
    PAYLOAD_BYTES = 16,
    BUFFERS_A_PROCESSOR = 16,
    CHECK_EVERY = 1024, /* events between two checks of `stop` */
    DURATION_MS = 250,
    QUICK_DURATION_MS = 20,
    THREADS_A_PROCESSOR = 4,
};

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[PAYLOAD_BYTES / sizeof(uint64_t)];
};

struct crowd {
    etwas_trace_handle session;
    pthread_barrier_t ready;
    uint32_t stop;
};

/* The data of a producer: no two threads share a cache line of it. */
struct producer {
    _Alignas(128) struct event event;
    EVENT_INSTANCE_INFO instance;
    struct crowd *crowd;
    pthread_t thread;
    const uint32_t *processor; /* NULL: not pinned */
    uint64_t events;
    uint64_t cpu_ns;
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t codes;
};

struct configuration {
    uint32_t protocol;
    bool pinned;
    uint32_t threads;
};

static uint32_t processors[CPU_SETSIZE];
static uint32_t processor_count;
static struct producer producers[CPU_SETSIZE * THREADS_A_PROCESSOR];

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void log_some(struct producer *producer)
{
    for (uint32_t count = 0; count < CHECK_EVERY; count++) {
        producer->event.payload[0] = count;
        producer->codes |= TraceEventInstance(producer->crowd->session, &producer->event.header,
                                              &producer->instance, NULL);
    }
    producer->events += CHECK_EVERY;
}

static void *produce(void *argument)
{
    struct producer *producer = argument;
    struct crowd *crowd = producer->crowd;
    uint64_t cpu_ns;

    if (producer->processor != NULL && !bench_pin(*producer->processor)) {
        producer->codes = ERROR_ACCESS_DENIED;
    }
    log_some(producer); /* the thread's first event, and the first touch of its memory */
    (void)pthread_barrier_wait(&crowd->ready);
    producer->start_ns = read_ns(CLOCK_MONOTONIC);
    cpu_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
    while (ck_pr_load_32(&crowd->stop) == 0) {
        log_some(producer);
    }
    producer->cpu_ns = read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    producer->end_ns = read_ns(CLOCK_MONOTONIC);
    return NULL;
}

static void prepare(struct crowd *crowd, const struct configuration *configuration,
                    EVENT_INSTANCE_INFO instance)
{
    for (uint32_t index = 0; index < configuration->threads; index++) {
        struct producer *producer = &producers[index];

        *producer = (struct producer){
            .crowd = crowd,
            .instance = instance,
            .processor = configuration->pinned ? &processors[index] : NULL,
        };
        bench_prepare_instance_header(&producer->event.header, PAYLOAD_BYTES);
    }
}

/* Starts every thread before any of them logs in earnest. Exits if a thread cannot be started. */
static void run(struct crowd *crowd, uint32_t threads, uint32_t duration_ms)
{
    const struct timespec duration = {.tv_nsec = (long)duration_ms * 1000000};

    (void)pthread_barrier_init(&crowd->ready, NULL, threads + 1);
    for (uint32_t index = 0; index < threads; index++) {
        if (pthread_create(&producers[index].thread, NULL, produce, &producers[index]) != 0) {
            (void)fprintf(stderr, "etwas_bench_scaling: a thread cannot be started\n");
            exit(1);
        }
    }
    (void)pthread_barrier_wait(&crowd->ready);
    (void)nanosleep(&duration, NULL);
    ck_pr_store_32(&crowd->stop, 1);
    for (uint32_t index = 0; index < threads; index++) {
        (void)pthread_join(producers[index].thread, NULL);
    }
    (void)pthread_barrier_destroy(&crowd->ready);
}

static void print_row(const char *row, uint32_t threads, const etwas_session_counts *counts,
                      uint64_t attempted)
{
    uint64_t start_ns = UINT64_MAX;
    uint64_t end_ns = 0;
    uint64_t cpu_ns = 0;
    uint64_t events = attempted - (uint64_t)threads * CHECK_EVERY;
    char name[96];

    for (uint32_t index = 0; index < threads; index++) {
        const struct producer *producer = &producers[index];

        start_ns = producer->start_ns < start_ns ? producer->start_ns : start_ns;
        end_ns = producer->end_ns > end_ns ? producer->end_ns : end_ns;
        cpu_ns += producer->cpu_ns;
    }
    bench_row_value(row, "events/s", (double)events * 1e9 / (double)(end_ns - start_ns));
    (void)snprintf(name, sizeof name, "%s/cpu", row);
    bench_row_value(name, "ns", (double)cpu_ns / (double)events);
    (void)snprintf(name, sizeof name, "%s/restarts", row);
    bench_row_value(name, "restarts/event", (double)counts->restarts / (double)attempted);
}

/* Returns whether the row failed. */
static bool run_row(const struct configuration *configuration, const char *row, bool quick)
{
    struct crowd crowd = {0};
    const struct bench_session_request request = {
        .buffering = true,
        .protocol = configuration->protocol,
        .clock = ETWAS_CLOCK_TSC,
        .buffers = BUFFERS_A_PROCESSOR * processor_count,
    };
    struct bench_session session;
    etwas_session_counts counts;
    EVENT_INSTANCE_INFO instance;
    uint64_t attempted = 0;
    uint32_t codes = 0;
    const char *reason;
    char text[128];

    if (!bench_make_instance(&instance)) {
        return bench_row_refused(row, "cannot register the provider");
    }
    reason = bench_session_start(&session, &request);
    if (reason != NULL) {
        return bench_row_refused(row, reason);
    }
    crowd.session = session.handle;
    prepare(&crowd, configuration, instance);
    run(&crowd, configuration->threads, quick ? QUICK_DURATION_MS : DURATION_MS);
    for (uint32_t index = 0; index < configuration->threads; index++) {
        attempted += producers[index].events;
        codes |= producers[index].codes;
    }
    reason = bench_session_stop(&session, attempted, &counts);
    if (codes != ERROR_SUCCESS) {
        (void)snprintf(
            text, sizeof text, "%llu events lost, %llu missing, or a thread not pinned (codes %u)",
            (unsigned long long)counts.lost,
            (unsigned long long)(attempted - counts.recorded - counts.overwritten - counts.lost),
            codes);
        reason = text;
    }
    if (reason != NULL) {
        return bench_row_refused(row, reason);
    }
    print_row(row, configuration->threads, &counts, attempted);
    return false;
}

static bool run_if_selected(const struct bench_part_options *options, uint32_t protocol,
                            bool pinned, uint32_t threads)
{
    const struct configuration configuration = {protocol, pinned, threads};
    char row[64];

    (void)snprintf(row, sizeof row, "scaling/%s/%s/%u", bench_protocol_name(protocol),
                   pinned ? "pinned" : "unpinned", threads);
    return bench_row_selected(options, row) && run_row(&configuration, row, options->quick);
}

/* Runs 1, 2, 4, … threads below the number of processors, that number, and four times as many. */
static bool run_protocol(const struct bench_part_options *options, uint32_t protocol)
{
    bool failed = false;

    for (uint32_t threads = 1; threads < processor_count; threads *= 2) {
        failed |= run_if_selected(options, protocol, true, threads);
    }
    failed |= run_if_selected(options, protocol, true, processor_count);
    failed |= run_if_selected(options, protocol, false, THREADS_A_PROCESSOR * processor_count);
    return failed;
}

int main(int argc, char **argv)
{
    struct bench_part_options options = bench_part_parse(argc, argv);
    bool failed = false;

    processor_count = bench_processors(processors, CPU_SETSIZE);
    for (unsigned round = 0; round < options.rounds; round++) {
        failed |= run_protocol(&options, ETWAS_PROTOCOL_RSEQ);
        failed |= run_protocol(&options, ETWAS_PROTOCOL_SHARED);
    }
    return failed ? 1 : 0;
}
