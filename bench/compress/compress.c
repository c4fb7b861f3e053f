/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_compress: the savings and the cost of compressed files (EVENT_TRACE_COMPRESSED_MODE).
 * Instance events of 88 bytes with a u64 and a u32: counting, the u32 below 100, or random. TSC.
 *
 *     compress/PAYLOAD/bytes/KIND      bytes per event in the file, including buffer 0 and headers;
 *                                      KIND is `plain` or `compressed`
 *     compress/PAYLOAD/speed/ENCODER   MB/s at which the buffers of the plain file are compressed;
 *                                      ENCODER is `etwas` or `lz4`
 *     compress/PAYLOAD/call/KIND       ns per call of the writer, while the flusher writes its
 *                                      events
 *     compress/LOAD/lost/KIND          share of the counting events that were lost, into a new file
 *                                      on disk; LOAD is `flood`, as fast as one thread can, or
 *                                      `paced`, 4 million a second
 *
 * The disk is $ETWAS_BENCH_DISK, else /var/tmp. Everything except the losses is measured in memory.
 */
#include <etwas/etwas.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rows_json.h"
#include "session.h"
#include "speed.h"

enum {
    PAYLOAD_BYTES = sizeof(uint64_t) + sizeof(uint32_t),
    BUFFERS = 1024, /* 64 MB */
    /* More than half of the buffers, at which the flusher is woken, and less than all of them. */
    EVENTS_A_BURST = 500000,
    BURSTS = 8,
    EVENTS_OF_A_LOAD = 12000000,
    QUICK_EVENTS = 20000,
    PACED_EVENTS = 1000, /* at a time */
    PACE_NS = 250000,
    PASSES = 9,
};

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t first;
    uint32_t second; /* the last of the payload */
};

/* The events, and how they are logged. */
struct load {
    const char *folder; /* for the file; NULL: in memory */
    bool random;
    bool compressed;
    bool paced;
    uint32_t bursts; /* after each of them, waits for the flusher */
    uint32_t events; /* in each burst */
};

struct outcome {
    uint64_t recorded;
    uint64_t lost;
    double ns_a_call; /* in the fastest burst */
    int file;         /* has no name any more */
};

static uint64_t now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline void fill(struct event *event, bool random, uint64_t *state)
{
    if (random) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        event->first = *state;
        event->second = (uint32_t)(*state * UINT64_C(0x9E3779B97F4A7C15) >> 32);
    } else {
        event->first = ++*state;
        event->second = (uint32_t)(*state % 100);
    }
}

/* Returns how long the calls took. A paced load waits between them. */
static uint64_t log_burst(etwas_trace_handle session, EVENT_INSTANCE_INFO *instance,
                          const struct load *load, uint64_t *state)
{
    struct event event;
    uint64_t begun_ns = now_ns();

    bench_prepare_instance_header(&event.header, PAYLOAD_BYTES);
    for (uint32_t number = 1; number <= load->events; number++) {
        fill(&event, load->random, state);
        (void)TraceEventInstance(session, &event.header, instance, NULL); /* loss is counted */
        while (load->paced && number % PACED_EVENTS == 0 &&
               now_ns() < begun_ns + (uint64_t)number / PACED_EVENTS * PACE_NS) {
        }
    }
    return now_ns() - begun_ns;
}

static const char *log_all(etwas_trace_handle session, const struct load *load,
                           struct outcome *outcome)
{
    EVENT_INSTANCE_INFO instance;
    uint64_t state = 88172645463325252u;

    if (!bench_make_instance(&instance)) {
        return "cannot register the provider";
    }
    state = load->random ? state : 0;
    for (uint32_t burst = 0; burst < load->bursts; burst++) {
        double ns = (double)log_burst(session, &instance, load, &state) / (double)load->events;

        outcome->ns_a_call = burst == 0 || ns < outcome->ns_a_call ? ns : outcome->ns_a_call;
        if (load->bursts > 1 && etwas_flush(session) != ERROR_SUCCESS) {
            return "a flush was refused";
        }
    }
    return NULL;
}

static const char *run(const struct load *load, struct outcome *outcome)
{
    uint32_t first = bench_first_processor();
    const etwas_session_options options = {
        .log_file_mode = load->compressed ? EVENT_TRACE_COMPRESSED_MODE : 0,
        .clock = ETWAS_CLOCK_TSC,
        .buffer_size_kb = BENCH_BUFFER_KB,
        .minimum_buffers = BUFFERS,
        .maximum_buffers = BUFFERS,
        .flusher = {.cpus = &first, .cpu_count = 1},
    };
    etwas_session_counts counts;
    etwas_trace_handle session;
    const char *wrong;
    char path[512];

    *outcome = (struct outcome){.file = -1};
    if (load->folder != NULL) {
        (void)snprintf(path, sizeof path, "%s/etwas_bench_compress.%ld.etl", load->folder,
                       (long)getpid());
    } else {
        bench_choose_log_file(path, sizeof path);
    }
    if (etwas_start("etwas_bench_compress", path, &options, &session) != ERROR_SUCCESS) {
        return "cannot start the session";
    }
    outcome->file = bench_take_name(path, sizeof path);
    wrong = log_all(session, load, outcome);
    if (etwas_stop(session, &counts) != ERROR_SUCCESS) {
        return "cannot stop the session";
    }
    outcome->recorded = counts.recorded;
    outcome->lost = counts.lost;
    if (counts.recorded + counts.lost != (uint64_t)load->bursts * load->events ||
        counts.lost != counts.lost_no_buffer) {
        return "the counts are wrong";
    }
    return wrong;
}

static void end(const struct outcome *outcome)
{
    if (outcome->file >= 0) {
        (void)close(outcome->file);
    }
}

/* Returns whether the row failed. */
static bool show(const char *what, const char *figure, const char *who, const char *unit,
                 double value, const char *wrong)
{
    char row[96];

    (void)snprintf(row, sizeof row, "compress/%s/%s/%s", what, figure, who);
    if (wrong != NULL) {
        bench_row_failed(row, wrong);
        return true;
    }
    bench_row_value(row, unit, value);
    return false;
}

static bool show_speed(const char *payload, int file, bool quick)
{
    struct speed speed;
    const char *wrong = speed_measure(file, quick ? 1 : PASSES, &speed);
    bool failed = show(payload, "speed", "etwas", "MB/s", speed.etwas_mb_per_s, wrong);

    if (speed.lz4_mb_per_s > 0) {
        failed |= show(payload, "speed", "lz4", "MB/s", speed.lz4_mb_per_s, wrong);
    }
    return failed;
}

/* Measures the file sizes of a payload, and its calls. */
static bool run_payload(const struct bench_part_options *options, const char *payload, bool random)
{
    char row[64];
    bool failed = false;

    (void)snprintf(row, sizeof row, "compress/%s", payload);
    if (!bench_row_selected(options, row)) {
        return false;
    }
    for (int compressed = 0; compressed < 2; compressed++) {
        const struct load load = {.random = random,
                                  .compressed = compressed != 0,
                                  .bursts = options->quick ? 2 : BURSTS,
                                  .events = options->quick ? QUICK_EVENTS : EVENTS_A_BURST};
        const char *kind = compressed != 0 ? "compressed" : "plain";
        struct outcome outcome;
        struct stat status = {0};
        const char *wrong = run(&load, &outcome);

        if (wrong == NULL && (outcome.lost != 0 || fstat(outcome.file, &status) != 0)) {
            wrong = "events were lost";
        }
        failed |= show(payload, "bytes", kind, "bytes",
                       (double)status.st_size / ((double)outcome.recorded + 1e-9), wrong);
        failed |= show(payload, "call", kind, "ns", outcome.ns_a_call, wrong);
        if (wrong == NULL && compressed == 0) {
            failed |= show_speed(payload, outcome.file, options->quick);
        }
        end(&outcome);
    }
    return failed;
}

static bool run_load(const struct bench_part_options *options, const char *what, bool paced)
{
    const char *disk = getenv("ETWAS_BENCH_DISK");
    char row[64];
    bool failed = false;

    (void)snprintf(row, sizeof row, "compress/%s", what);
    if (!bench_row_selected(options, row)) {
        return false;
    }
    for (int compressed = 0; compressed < 2; compressed++) {
        const struct load load = {.folder = disk != NULL ? disk : "/var/tmp",
                                  .compressed = compressed != 0,
                                  .paced = paced,
                                  .bursts = 1,
                                  .events = options->quick ? QUICK_EVENTS : EVENTS_OF_A_LOAD};
        struct outcome outcome;
        const char *wrong = run(&load, &outcome);

        failed |= show(what, "lost", compressed != 0 ? "compressed" : "plain", "share",
                       (double)outcome.lost / (double)load.events, wrong);
        end(&outcome);
    }
    return failed;
}

int main(int argc, char **argv)
{
    struct bench_part_options options = bench_part_parse(argc, argv);
    bool failed = false;

    bench_pin_last();
    for (unsigned round = 0; round < options.rounds; round++) {
        failed |= run_payload(&options, "counting", false);
        failed |= run_payload(&options, "random", true);
        failed |= run_load(&options, "flood", false);
        failed |= run_load(&options, "paced", true);
    }
    return failed ? 1 : 0;
}
