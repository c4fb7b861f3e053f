/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_snapshot: how long single calls take while a flight recorder writes a file, compared
 * with other times.
 *
 *     snapshot/PROTOCOL/WHERE/quiet    TraceEvent of 16 bytes every 500 ns into a flight recorder
 *                                      of 64 MB
 *     snapshot/PROTOCOL/WHERE/during   the same while a trigger's file of the whole recorder is
 *                                      written
 *     snapshot/PROTOCOL/WHERE/ratio_p50 … ratio_max     during / quiet
 *     snapshot/PROTOCOL/WHERE/write    how long a file takes
 *     snapshot/PROTOCOL/WHERE/KIND/faults, preempted    page faults and preemptions of the thread,
 *                                      per million calls
 *
 * The caller is on the last processor. The flusher, which writes the file, is on the first (other)
 * or on the same. Both kinds alternate: a quiet stretch as long as the last file took, then a file.
 * A ratio is the median over the pairs, so that other activity of the machine in a few of them does
 * not decide it.
 */
#include <etwas/etwas.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "latency.h"
#include "machine.h"
#include "rows_json.h"
#include "session.h"

enum {
    PAYLOAD_BYTES = 16,
    GAP_NS = 500,
    BUFFERS = 1024, /* of 64 KB */
    QUICK_BUFFERS = 64,
    PAIRS = 15,
    QUICK_PAIRS = 2,
    FIRST_STRETCH_NS = 50000000,
    CALLS_A_LOOK = 256, /* between two checks for the file */
};

struct event {
    EVENT_TRACE_HEADER header;
    uint64_t payload[PAYLOAD_BYTES / sizeof(uint64_t)];
};

struct kind {
    struct bench_latency all;
    struct bench_latency stretch;
    uint64_t faults;
    uint64_t preemptions;
};

static const struct {
    const char *name;
    double share;
} shares[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

enum {
    SHARES = sizeof shares / sizeof shares[0]
};

/* Several hundred KB, too large for the stack. */
static struct kind quiet;
static struct kind during;
static double ratios[SHARES][PAIRS];
static uint64_t attempted;
static uint32_t codes;

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void log_calls(struct kind *kind, etwas_trace_handle session, struct event *event,
                      uint64_t gap_ticks)
{
    for (uint32_t call = 0; call < CALLS_A_LOOK; call++) {
        uint64_t begin = bench_tick_begin();

        event->payload[0] = attempted++;
        codes |= TraceEvent(session, &event->header);
        bench_latency_add(&kind->stretch, bench_tick_end() - begin);
        while (bench_tick_begin() - begin < gap_ticks) {
        }
    }
}

static uint64_t files_of(etwas_trace_handle session)
{
    etwas_trigger_counts counts;

    return etwas_trigger_query(session, &counts) == ERROR_SUCCESS ? counts.files + counts.failed
                                                                  : 0;
}

static void begin_stretch(struct kind *kind)
{
    struct bench_thread_counts counts;

    bench_latency_clear(&kind->stretch);
    counts = bench_thread_counts();
    kind->faults -= counts.page_faults;
    kind->preemptions -= counts.preemptions;
}

static void end_stretch(struct kind *kind)
{
    struct bench_thread_counts counts = bench_thread_counts();

    kind->faults += counts.page_faults;
    kind->preemptions += counts.preemptions;
    kind->all.samples += kind->stretch.samples;
    for (uint32_t index = 0; index < BENCH_LATENCY_COUNTS; index++) {
        kind->all.counts[index] += kind->stretch.counts[index];
    }
    if (kind->stretch.longest_ticks > kind->all.longest_ticks) {
        kind->all.longest_ticks = kind->stretch.longest_ticks;
    }
}

static double share_of(const struct bench_latency *latency, const struct bench_timer *timer,
                       double share)
{
    return bench_ticks_ns(timer, share < 1 ? bench_latency_percentile(latency, share)
                                           : latency->longest_ticks);
}

/* Measures a quiet stretch of `stretch_ns`, then a file. Returns how long the file took, in ns. */
static uint64_t measure_pair(uint32_t pair, const struct bench_timer *timer,
                             etwas_trace_handle session, struct event *event, uint64_t stretch_ns)
{
    uint64_t gap_ticks = (uint64_t)(GAP_NS / timer->ns_per_tick);
    uint64_t files = files_of(session);
    uint64_t begin_ns = now_ns();

    begin_stretch(&quiet);
    do {
        log_calls(&quiet, session, event, gap_ticks);
    } while (now_ns() - begin_ns < stretch_ns);
    end_stretch(&quiet);
    begin_stretch(&during);
    begin_ns = now_ns();
    codes |= etwas_trigger(session);
    do { /* at least once, even if the flusher had the processor */
        log_calls(&during, session, event, gap_ticks);
    } while (files_of(session) == files);
    stretch_ns = now_ns() - begin_ns;
    end_stretch(&during);
    for (uint32_t share = 0; share < SHARES; share++) {
        ratios[share][pair] = share_of(&during.stretch, timer, shares[share].share) /
                              share_of(&quiet.stretch, timer, shares[share].share);
    }
    return stretch_ns;
}

static int smaller_first(const void *left, const void *right)
{
    double one = *(const double *)left;
    double other = *(const double *)right;

    return one < other ? -1 : one > other;
}

static void print_kind(const char *row, const char *name, const struct kind *kind,
                       const struct bench_timer *timer)
{
    char full[96];

    (void)snprintf(full, sizeof full, "%s/%s", row, name);
    bench_latency_print(&kind->all, timer, full);
    (void)snprintf(full, sizeof full, "%s/%s/faults", row, name);
    bench_row_value(full, "per million", (double)kind->faults * 1e6 / (double)kind->all.samples);
    (void)snprintf(full, sizeof full, "%s/%s/preempted", row, name);
    bench_row_value(full, "per million",
                    (double)kind->preemptions * 1e6 / (double)kind->all.samples);
}

static void print_ratios(const char *row, uint32_t pairs)
{
    char full[96];

    for (uint32_t share = 0; share < SHARES; share++) {
        qsort(ratios[share], pairs, sizeof ratios[share][0], smaller_first);
        (void)snprintf(full, sizeof full, "%s/ratio_%s", row, shares[share].name);
        bench_row_value(full, "ratio", ratios[share][pairs / 2]);
    }
}

static void prepare_event(struct event *event)
{
    *event = (struct event){.header = {.Size = sizeof *event}};
    event->header.Flags = WNODE_FLAG_TRACED_GUID;
    event->header.Guid = bench_class_guid;
    event->header.Class.Type = EVENT_TRACE_TYPE_INFO;
}

/* Fills all buffers, so that each page has been touched. */
static void fill(etwas_trace_handle session, struct event *event, uint32_t buffers)
{
    uint64_t events = (uint64_t)buffers * BENCH_BUFFER_KB * 1024 / BENCH_EVENT_HEADER_BYTES;

    for (uint64_t count = 0; count < events; count++) {
        codes |= TraceEvent(session, &event->header);
        attempted++;
    }
}

/* Returns NULL, or why the session cannot be armed. The name has a %d. */
static const char *arm(etwas_trace_handle session, const char *name)
{
    const etwas_trigger_options options = {.log_file = name};

    return etwas_trigger_arm(session, &options) == ERROR_SUCCESS ? NULL : "cannot be armed";
}

static const char *measure(const char *row, const struct bench_timer *timer,
                           etwas_trace_handle session, uint32_t buffers, uint32_t pairs)
{
    static _Alignas(64) struct event event;
    uint64_t stretch_ns = FIRST_STRETCH_NS;
    uint64_t total_ns = 0;
    char base[256];
    char name[300];
    etwas_trigger_counts counts;
    const char *reason;

    bench_choose_log_file(base, sizeof base);
    (void)snprintf(name, sizeof name, "%s.%%d", base);
    reason = arm(session, name);
    if (reason != NULL) {
        return reason;
    }
    prepare_event(&event);
    fill(session, &event, buffers);
    for (uint32_t pair = 0; pair < pairs; pair++) {
        stretch_ns = measure_pair(pair, timer, session, &event, stretch_ns);
        total_ns += stretch_ns;
        (void)snprintf(name, sizeof name, "%s.%u", base, pair + 1);
        (void)unlink(name);
    }
    if (etwas_trigger_query(session, &counts) != ERROR_SUCCESS || counts.files != pairs) {
        return "a file was not written";
    }
    print_kind(row, "quiet", &quiet, timer);
    print_kind(row, "during", &during, timer);
    print_ratios(row, pairs);
    (void)snprintf(name, sizeof name, "%s/write", row);
    bench_row_value(name, "us", (double)total_ns / 1000 / pairs);
    return NULL;
}

struct row {
    const char *name;
    uint32_t protocol;
    bool same; /* the flusher is on the caller's processor */
};

static const struct row rows[] = {
    {"snapshot/rseq/other", ETWAS_PROTOCOL_RSEQ, false},
    {"snapshot/rseq/same", ETWAS_PROTOCOL_RSEQ, true},
    {"snapshot/shared/other", ETWAS_PROTOCOL_SHARED, false},
    {"snapshot/shared/same", ETWAS_PROTOCOL_SHARED, true},
};

static uint32_t processors[CPU_SETSIZE];
static uint32_t processor_count;

/* Returns NULL, or why the row failed. */
static const char *run_row(const struct row *row, const struct bench_timer *timer, bool quick)
{
    uint32_t buffers = quick ? QUICK_BUFFERS : BUFFERS;
    const struct bench_session_request request = {
        .buffering = true,
        .protocol = row->protocol,
        .clock = ETWAS_CLOCK_TSC,
        .buffers = buffers,
        .flusher_cpu = &processors[row->same ? processor_count - 1 : 0],
    };
    struct bench_session session;
    const char *reason;
    const char *stop_reason;

    if (!row->same && processor_count < 2) {
        return BENCH_SKIPPED "there is only one processor";
    }
    memset(&quiet, 0, sizeof quiet);
    memset(&during, 0, sizeof during);
    attempted = 0;
    codes = 0;
    reason = bench_session_start(&session, &request);
    if (reason != NULL) {
        return reason;
    }
    reason = measure(row->name, timer, session.handle, buffers, quick ? QUICK_PAIRS : PAIRS);
    stop_reason = bench_session_stop(&session, attempted, NULL);
    if (reason != NULL) {
        return reason;
    }
    return codes != ERROR_SUCCESS ? "an event was refused or lost" : stop_reason;
}

int main(int argc, char **argv)
{
    struct bench_part_options options = bench_part_parse(argc, argv);
    struct bench_timer timer;
    bool failed = false;

    processor_count = bench_processors(processors, CPU_SETSIZE);
    bench_pin_last();
    timer = bench_timer_calibrate();
    for (unsigned round = 0; round < options.rounds; round++) {
        for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
            const char *reason;

            if (!bench_row_selected(&options, rows[index].name)) {
                continue;
            }
            reason = run_row(&rows[index], &timer, options.quick);
            failed |= reason != NULL && bench_row_refused(rows[index].name, reason);
        }
    }
    return failed ? 1 : 0;
}
