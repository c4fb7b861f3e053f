/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What tracing costs while no session traces. `gate` is etwas_enabled on a provider that is
 * registered and not enabled, `tracelogging_gate` is TraceLoggingWrite to such a provider.
 * `empty_call` calls a function of another shared library that does nothing. Each is a loop of its
 * own, counter included.
 */
#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>

#include "empty_call/empty_call.h"
#include "rows.h"
#include "shim/bench.h"

static const etwas_guid provider_guid = {
    0x7d90b1e4, 0x15c3, 0x47fa, {0xa2, 0x3e, 0x58, 0x0c, 0x9b, 0x66, 0xf1, 0x2d}};

static uint32_t ignore_control(WMIDPREQUESTCODE code, void *context, uint32_t *reserved,
                               void *wnode)
{
    (void)code;
    (void)context;
    (void)reserved;
    (void)wnode;
    return ERROR_SUCCESS;
}

static void gate_body(struct bench_state *state, const void *unused)
{
    TRACE_GUID_REGISTRATION class_registration = {.Guid = &provider_guid};
    etwas_trace_handle registration;
    const etwas_provider *provider;

    (void)unused;
    if (RegisterTraceGuidsA(ignore_control, NULL, &provider_guid, 1, &class_registration, NULL,
                            NULL, &registration) != ERROR_SUCCESS) {
        bench_fail(state, "cannot register the provider");
        return;
    }
    provider = etwas_provider_of(registration);
    while (bench_next_batch(state, BENCH_BATCH)) {
        uint64_t start_ns = bench_now_ns();

        for (uint32_t count = 0; count < BENCH_BATCH; count++) {
            if (etwas_enabled(provider, TRACE_LEVEL_INFORMATION, 1)) {
                bench_fail(state, "the provider is enabled");
            }
        }
        bench_batch_took(state, bench_now_ns() - start_ns);
    }
    (void)UnregisterTraceGuids(registration);
}

TRACELOGGING_DEFINE_PROVIDER(never_enabled, "Etwas.Bench.Gate",
                             (0x0be7d41f, 0x36a5, 0x4cf9, 0x94, 0x7c, 0x83, 0x12, 0xf0, 0x5d, 0x6e,
                              0xa1));

static void tracelogging_gate_body(struct bench_state *state, const void *unused)
{
    (void)unused;
    if (TraceLoggingRegister(never_enabled) != S_OK) {
        bench_fail(state, "cannot register the provider");
        return;
    }
    while (bench_next_batch(state, BENCH_BATCH)) {
        uint64_t start_ns = bench_now_ns();

        for (uint32_t count = 0; count < BENCH_BATCH; count++) {
            TraceLoggingWrite(never_enabled, "Event", TraceLoggingUInt32(count));
        }
        bench_batch_took(state, bench_now_ns() - start_ns);
    }
    TraceLoggingUnregister(never_enabled);
}

static void empty_call_body(struct bench_state *state, const void *unused)
{
    (void)unused;
    while (bench_next_batch(state, BENCH_BATCH)) {
        uint64_t start_ns = bench_now_ns();

        for (uint32_t count = 0; count < BENCH_BATCH; count++) {
            bench_empty_call();
        }
        bench_batch_took(state, bench_now_ns() - start_ns);
    }
}

void bench_register_gates(void)
{
    bench_register("gate", gate_body, NULL);
    bench_register("tracelogging_gate", tracelogging_gate_body, NULL);
    bench_register("empty_call", empty_call_body, NULL);
}
