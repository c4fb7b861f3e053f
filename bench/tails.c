/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_tails: how long single calls take, and why the slow ones are slow.
 *
 *     tails/PROTOCOL/other       a log file, the flusher on another processor
 *     tails/PROTOCOL/same        the flusher on the caller's processor
 *     tails/PROTOCOL/other_1mb   buffers of 1 MB instead of 64 KB
 *     tails/PROTOCOL/buffering   a flight recorder of 1 MB
 *
 * An event of 16 bytes is logged every 500 ns, from a thread pinned to one processor. A log file
 * can take this load, so that nothing is lost and the rows can be compared. `tails/timer` is the
 * time of an empty pair of readings, which is subtracted; `tails/timer_step` is the counter's step.
 * A ROW is followed by:
 *
 *     /p50 … /max         all calls
 *     /switching/p50 …    the calls that took a new buffer. On one processor it is every n-th call
 *     /slow_KIND          calls of 500 ns or more, per million, by cause. The kernel's counters of
 *                         the thread show preempted and fault; the rest is switch or other
 *     /interrupts         interrupts this processor served, per million calls …
 *     /interrupts_inside  … and the part of them inside calls, if they are spread evenly, to
 *                         compare with slow_other. On a virtual machine the host adds to slow_other
 */
#include <etwas/etwas.h>
#include <sched.h>
#include <stdio.h>

#include "latency.h"
#include "machine.h"
#include "rows_json.h"
#include "session.h"

enum {
    PAYLOAD_BYTES = 16,
    GAP_NS = 500,
    SLOW_NS = 500,
    CALLS = 1000000,
    QUICK_CALLS = 20000,
};

enum place {
    PLACE_OTHER,
    PLACE_SAME,
    PLACE_BUFFERING
};

struct row {
    const char *name;
    uint32_t protocol;
    enum place place;
    uint32_t buffer_kb;
};

static const struct row rows[] = {
    {"tails/rseq/other", ETWAS_PROTOCOL_RSEQ, PLACE_OTHER, 64},
    {"tails/rseq/same", ETWAS_PROTOCOL_RSEQ, PLACE_SAME, 64},
    {"tails/rseq/other_1mb", ETWAS_PROTOCOL_RSEQ, PLACE_OTHER, 1024},
    {"tails/rseq/buffering", ETWAS_PROTOCOL_RSEQ, PLACE_BUFFERING, 64},
    {"tails/shared/other", ETWAS_PROTOCOL_SHARED, PLACE_OTHER, 64},
    {"tails/shared/same", ETWAS_PROTOCOL_SHARED, PLACE_SAME, 64},
    {"tails/shared/other_1mb", ETWAS_PROTOCOL_SHARED, PLACE_OTHER, 1024},
    {"tails/shared/buffering", ETWAS_PROTOCOL_SHARED, PLACE_BUFFERING, 64},
};

struct event {
    EVENT_INSTANCE_HEADER header;
    uint64_t payload[PAYLOAD_BYTES / sizeof(uint64_t)];
};

enum cause {
    CAUSE_PREEMPTED,
    CAUSE_FAULT,
    CAUSE_SWITCH,
    CAUSE_OTHER,
    CAUSES
};

static const char *const cause_names[CAUSES] = {"slow_preempted", "slow_fault", "slow_switch",
                                                "slow_other"};

struct measured {
    struct bench_latency all;
    struct bench_latency switching;
    uint64_t slow[CAUSES];
    uint64_t interrupts;
    uint64_t inside_ticks;  /* spent in calls */
    uint64_t elapsed_ticks; /* spent in total */
    uint32_t codes;
};

/* About 120 KB, too large for the stack. */
static struct measured measured;

static uint32_t processors[CPU_SETSIZE];
static uint32_t processor_count;

static enum cause cause_of(struct bench_thread_counts *seen, bool switched)
{
    struct bench_thread_counts now = bench_thread_counts();
    enum cause cause = switched ? CAUSE_SWITCH : CAUSE_OTHER;

    if (now.preemptions != seen->preemptions) {
        cause = CAUSE_PREEMPTED;
    } else if (now.page_faults != seen->page_faults) {
        cause = CAUSE_FAULT;
    }
    *seen = now;
    return cause;
}

/*
 * Waits for the rest of the gap. What happens to the thread meanwhile is not counted for the next
 * call.
 */
static void wait_until(uint64_t end_ticks, uint64_t slow_ticks, struct bench_thread_counts *seen)
{
    uint64_t before = bench_tick_begin();

    while (before < end_ticks) {
        uint64_t now = bench_tick_begin();

        if (now - before > slow_ticks) {
            *seen = bench_thread_counts();
            now = bench_tick_begin();
        }
        before = now;
    }
}

static void measure(const struct bench_timer *timer, etwas_trace_handle session,
                    struct event *event, EVENT_INSTANCE_INFO *instance, uint32_t buffer_kb,
                    uint32_t calls)
{
    const uint64_t per_buffer = (buffer_kb * 1024 - BENCH_BUFFER_HEADER_BYTES) /
                                (BENCH_INSTANCE_HEADER_BYTES + PAYLOAD_BYTES);
    const uint64_t gap_ticks = (uint64_t)(GAP_NS / timer->ns_per_tick);
    const uint64_t slow_ticks = (uint64_t)(SLOW_NS / timer->ns_per_tick) + timer->overhead_ticks;
    uint32_t processor = processors[processor_count - 1];
    struct bench_thread_counts seen;
    uint64_t started;

    memset(&measured, 0, sizeof measured);
    measured.interrupts = bench_interrupts(processor);
    seen = bench_thread_counts();
    started = bench_tick_begin();
    for (uint64_t call = 0; call < calls; call++) {
        bool switched = call % per_buffer == 0;
        uint64_t begin = bench_tick_begin();
        uint64_t ticks;

        event->payload[0] = call;
        measured.codes |= TraceEventInstance(session, &event->header, instance, NULL);
        ticks = bench_tick_end() - begin;
        bench_latency_add(&measured.all, ticks);
        measured.inside_ticks += ticks;
        if (switched) {
            bench_latency_add(&measured.switching, ticks);
        }
        if (ticks > slow_ticks) {
            measured.slow[cause_of(&seen, switched)]++;
        }
        wait_until(begin + gap_ticks, slow_ticks, &seen);
    }
    measured.elapsed_ticks = bench_tick_end() - started;
    measured.interrupts = bench_interrupts(processor) - measured.interrupts;
}

static void print_per_million(const char *row, const char *what, double number, uint32_t calls)
{
    char name[96];

    (void)snprintf(name, sizeof name, "%s/%s", row, what);
    bench_row_value(name, "per million", number * 1e6 / calls);
}

static void print_row(const struct row *row, const struct bench_timer *timer, uint32_t calls)
{
    char name[96];

    bench_latency_print(&measured.all, timer, row->name);
    (void)snprintf(name, sizeof name, "%s/switching", row->name);
    bench_latency_print(&measured.switching, timer, name);
    for (uint32_t cause = 0; cause < CAUSES; cause++) {
        print_per_million(row->name, cause_names[cause], (double)measured.slow[cause], calls);
    }
    print_per_million(row->name, "interrupts", (double)measured.interrupts, calls);
    print_per_million(row->name, "interrupts_inside",
                      (double)measured.interrupts * (double)measured.inside_ticks /
                          (double)measured.elapsed_ticks,
                      calls);
}

/* Returns NULL, or why the row failed. */
static const char *run_row(const struct row *row, const struct bench_timer *timer, uint32_t calls)
{
    static _Alignas(64) struct event event;
    const struct bench_session_request request = {
        .buffering = row->place == PLACE_BUFFERING,
        .protocol = row->protocol,
        .clock = ETWAS_CLOCK_TSC,
        .buffer_kb = row->buffer_kb,
        .buffers = 16,
        .flusher_cpu = &processors[row->place == PLACE_OTHER ? 0 : processor_count - 1],
    };
    struct bench_session session;
    EVENT_INSTANCE_INFO instance;
    const char *reason;

    if (row->place == PLACE_OTHER && processor_count < 2) {
        return BENCH_SKIPPED "there is only one processor";
    }
    bench_prepare_instance_header(&event.header, PAYLOAD_BYTES);
    if (!bench_make_instance(&instance)) {
        return "cannot register the provider";
    }
    reason = bench_session_start(&session, &request);
    if (reason != NULL) {
        return reason;
    }
    measure(timer, session.handle, &event, &instance, row->buffer_kb, calls);
    reason = bench_session_stop(&session, calls, NULL);
    if (measured.codes != ERROR_SUCCESS) {
        return "an event was refused or lost";
    }
    return reason;
}

int main(int argc, char **argv)
{
    struct bench_part_options options = bench_part_parse(argc, argv);
    uint32_t calls = options.quick ? QUICK_CALLS : CALLS;
    struct bench_timer timer;
    bool failed = false;

    processor_count = bench_processors(processors, CPU_SETSIZE);
    bench_pin_last();
    timer = bench_timer_calibrate();
    bench_row_value("tails/timer", "ns", (double)timer.overhead_ticks * timer.ns_per_tick);
    bench_row_value("tails/timer_step", "ns", bench_timer_step_ns(&timer));
    for (unsigned round = 0; round < options.rounds; round++) {
        for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
            const char *reason;

            if (!bench_row_selected(&options, rows[index].name)) {
                continue;
            }
            reason = run_row(&rows[index], &timer, calls);
            if (reason != NULL) {
                failed |= bench_row_refused(rows[index].name, reason);
            } else {
                print_row(&rows[index], &timer, calls);
            }
        }
    }
    return failed ? 1 : 0;
}
