/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * etwas_bench_hot: the hot path, its floors, and what tracing costs while no session traces. Takes
 * Google Benchmark's options; report.py runs it.
 */
#include <etwas/etwas.h>
#include <stdio.h>
#include <sys/resource.h>

#include "call.h"
#include "rows.h"
#include "session.h"
#include "shim/bench.h"

static const struct {
    const char *name;
    uint32_t clock;
} clocks[] = {
    {"tsc", ETWAS_CLOCK_TSC}, {"qpc", ETWAS_CLOCK_QPC}, {"system", ETWAS_CLOCK_SYSTEM_TIME}};

static const struct {
    const char *name;
    enum bench_call_mode mode;
} modes[] = {{"file", BENCH_CALL_FILE}, {"buffering", BENCH_CALL_BUFFERING}};

static const uint32_t protocols[] = {ETWAS_PROTOCOL_RSEQ, ETWAS_PROTOCOL_SHARED};

/* The TSC is measured with all of them, the other clocks with the first ones. */
static const uint32_t payloads[] = {0, 16, 64, 256, 4096, 1024, 16384};

enum {
    PAYLOADS_OF_EACH_CLOCK = 5
};

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static void register_hot(uint32_t mode, uint32_t protocol, uint32_t clock)
{
    const size_t count =
        clocks[clock].clock == ETWAS_CLOCK_TSC ? COUNT_OF(payloads) : PAYLOADS_OF_EACH_CLOCK;

    for (size_t payload = 0; payload < count; payload++) {
        struct bench_call call = {
            .entry = BENCH_CALL_INSTANCE,
            .mode = modes[mode].mode,
            .protocol = protocol,
            .clock = clocks[clock].clock,
            .payload_bytes = payloads[payload],
            .buffers = BENCH_CALL_BUFFERS,
        };

        (void)snprintf(call.name, sizeof call.name, "hot/%s/%s/%s/%u", modes[mode].name,
                       bench_protocol_name(protocol), clocks[clock].name, payloads[payload]);
        bench_call_register(&call);
    }
}

static void register_one(const char *name, const struct bench_call *model, uint32_t protocol,
                         uint32_t clock)
{
    struct bench_call call = *model;

    call.protocol = protocol;
    call.clock = clocks[clock].clock;
    call.payload_bytes = call.entry == BENCH_CALL_TRACELOGGING ? 12 : 16;
    (void)snprintf(call.name, sizeof call.name, "%s/%s/%s/%u", name, bench_protocol_name(protocol),
                   clocks[clock].name, call.payload_bytes);
    bench_call_register(&call);
}

static void register_sized(const char *name, enum bench_call_entry entry, enum bench_call_mode mode,
                           uint32_t buffers, uint32_t buffer_kb)
{
    const struct bench_call model = {
        .entry = entry, .mode = mode, .buffers = buffers, .buffer_kb = buffer_kb};

    for (size_t protocol = 0; protocol < COUNT_OF(protocols); protocol++) {
        register_one(name, &model, protocols[protocol], 0);
    }
}

static void register_variant(const char *name, enum bench_call_entry entry,
                             enum bench_call_mode mode, uint32_t buffers)
{
    register_sized(name, entry, mode, buffers, 0);
}

/* Registers a kind of call; for rseq slots also with QPC. */
static void register_call(const char *name, enum bench_call_entry entry)
{
    const struct bench_call model = {
        .entry = entry, .mode = BENCH_CALL_BUFFERING, .buffers = BENCH_CALL_BUFFERS};

    register_variant(name, entry, BENCH_CALL_BUFFERING, BENCH_CALL_BUFFERS);
    register_one(name, &model, ETWAS_PROTOCOL_RSEQ, 1);
}

static void register_batch(const char *name, enum bench_call_entry entry, enum bench_call_mode mode,
                           uint32_t batch)
{
    const struct bench_call model = {
        .entry = entry, .mode = mode, .buffers = BENCH_CALL_BUFFERS, .batch = batch};

    for (size_t protocol = 0; protocol < COUNT_OF(protocols); protocol++) {
        register_one(name, &model, protocols[protocol], 0);
    }
}

static void register_batches(void)
{
    for (size_t mode = 0; mode < COUNT_OF(modes); mode++) {
        for (uint32_t batch = 1; batch <= ETWAS_BATCH_EVENTS; batch *= 2) {
            char name[32];

            (void)snprintf(name, sizeof name, "many/%u/%s", batch, modes[mode].name);
            register_batch(name, BENCH_CALL_MANY, modes[mode].mode, batch);
        }
    }
    register_batch("many_write/8", BENCH_CALL_MANY_WRITE, BENCH_CALL_BUFFERING, 8);
}

/* Flight recorders that have wrapped: the cost of a call must not grow with their size. */
static void register_recorders(void)
{
    static const struct {
        const char *name;
        uint32_t buffers;
        uint32_t buffer_kb;
    } recorders[] = {
        {"recorder/64kb/4mb", 64, 64},    {"recorder/64kb/64mb", 1024, 64},
        {"recorder/64kb/1gb", 16384, 64}, {"recorder/4kb/4mb", 1024, 4},
        {"recorder/4kb/256mb", 65536, 4},
    };

    for (size_t index = 0; index < COUNT_OF(recorders); index++) {
        register_sized(recorders[index].name, BENCH_CALL_INSTANCE, BENCH_CALL_BUFFERING,
                       recorders[index].buffers, recorders[index].buffer_kb);
    }
}

/* A session with one slot for all processors uses the shared protocol. */
static void register_one_slot(void)
{
    const struct bench_call call = {
        .name = "one_slot/shared/tsc/16",
        .entry = BENCH_CALL_INSTANCE,
        .mode = BENCH_CALL_ONE_SLOT,
        .protocol = ETWAS_PROTOCOL_SHARED,
        .clock = ETWAS_CLOCK_TSC,
        .payload_bytes = 16,
        .buffers = BENCH_CALL_BUFFERS,
    };

    bench_call_register(&call);
}

static void ask_for_times(struct bench_state *state, const void *unused)
{
    (void)unused;
    while (bench_next_batch(state, BENCH_BATCH)) {
        uint64_t start_ns = bench_now_ns();

        for (uint32_t count = 0; count < BENCH_BATCH; count++) {
            struct rusage usage;

            if (getrusage(RUSAGE_THREAD, &usage) != 0) {
                bench_fail(state, "the system does not say");
            }
            bench_keep_value((uint64_t)usage.ru_utime.tv_usec);
        }
        bench_batch_took(state, bench_now_ns() - start_ns);
    }
}

int main(int argc, char **argv)
{
    bench_pin_last();
    bench_register_floors();
    for (uint32_t mode = 0; mode < COUNT_OF(modes); mode++) {
        for (size_t protocol = 0; protocol < COUNT_OF(protocols); protocol++) {
            for (uint32_t clock = 0; clock < COUNT_OF(clocks); clock++) {
                register_hot(mode, protocols[protocol], clock);
            }
        }
    }
    register_call("parent", BENCH_CALL_PARENT);
    register_call("fields", BENCH_CALL_FIELDS);
    register_call("event", BENCH_CALL_EVENT);
    register_call("write", BENCH_CALL_WRITE);
    register_call("message", BENCH_CALL_MESSAGE);
    register_call("tracelogging", BENCH_CALL_TRACELOGGING);
    register_variant("write_two", BENCH_CALL_WRITE, BENCH_CALL_TWO, BENCH_CALL_BUFFERS);
    register_variant("stack", BENCH_CALL_STACK, BENCH_CALL_BUFFERING, BENCH_CALL_BUFFERS);
    register_batches();
    register_recorders();
    register_variant("file_thread", BENCH_CALL_INSTANCE, BENCH_CALL_FILE_THREAD,
                     BENCH_CALL_BUFFERS);
    register_one_slot();
    register_variant("times", BENCH_CALL_INSTANCE, BENCH_CALL_TIMES, BENCH_CALL_BUFFERS);
    register_variant("crash_safe", BENCH_CALL_INSTANCE, BENCH_CALL_CRASH_SAFE, BENCH_CALL_BUFFERS);
    register_variant("classes", BENCH_CALL_INSTANCE, BENCH_CALL_CLASSES, BENCH_CALL_BUFFERS);
    register_variant("classes_event", BENCH_CALL_EVENT, BENCH_CALL_CLASSES, BENCH_CALL_BUFFERS);
    register_variant("classes_write", BENCH_CALL_WRITE, BENCH_CALL_CLASSES, BENCH_CALL_BUFFERS);
    register_variant("classes_tracelogging", BENCH_CALL_TRACELOGGING, BENCH_CALL_CLASSES,
                     BENCH_CALL_BUFFERS);
    bench_register("getrusage", ask_for_times, NULL);
    register_variant("counted", BENCH_CALL_COUNTED, BENCH_CALL_BUFFERING, BENCH_CALL_BUFFERS);
    register_variant("stopped", BENCH_CALL_INSTANCE, BENCH_CALL_STOPPED, BENCH_CALL_BUFFERS);
    bench_register_gates();
    return bench_run(argc, argv);
}
