/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The only C++ here: implements bench.h with Google Benchmark. */
#include "shim/bench.h"

#include <benchmark/benchmark.h>

struct bench_state {
    benchmark::State &state;
};

static benchmark::internal::Benchmark *add(const char *name, bench_body *body, const void *argument)
{
    auto run = [body, argument](benchmark::State &state) {
        bench_state wrapped{state};

        body(&wrapped, argument);
    };

    return benchmark::RegisterBenchmark(name, run)->UseManualTime();
}

void bench_register(const char *name, bench_body *body, const void *argument)
{
    add(name, body, argument);
}

void bench_register_few(const char *name, bench_body *body, const void *argument,
                        uint32_t operations)
{
    add(name, body, argument)->Iterations(operations);
}

int bench_run(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    return benchmark::RunSpecifiedBenchmarks() != 0 ? 0 : 1;
}

bool bench_next_batch(bench_state *state, uint32_t operations)
{
    return state->state.KeepRunningBatch(operations);
}

void bench_batch_took(bench_state *state, uint64_t elapsed_ns)
{
    state->state.SetIterationTime(static_cast<double>(elapsed_ns) * 1e-9);
}

void bench_counter(bench_state *state, const char *name, double value)
{
    state->state.counters[name] = value;
}

void bench_fail(bench_state *state, const char *reason)
{
    if (!state->state.error_occurred()) {
        state->state.SkipWithError(reason);
    }
}
