/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Google Benchmark for C: a row is a name and a C function.
 *
 * A body runs operations in batches and times each batch itself. What a batch needs before and
 * after (emptying buffers, checking counts) is not in the figure, and two readings of the clock
 * around thousands of operations hardly are. Google Benchmark chooses the number of batches,
 * repeats and interleaves the rows, and writes the report; its "real_time" is the time of one
 * operation.
 *
 *     static void body(struct bench_state *state, const void *argument)
 *     {
 *         while (bench_next_batch(state, 4096)) {
 *             uint64_t start_ns = bench_now_ns();
 *             ... 4096 operations ...
 *             bench_batch_took(state, bench_now_ns() - start_ns);
 *         }
 *     }
 */
#ifndef ETWAS_BENCH_SHIM_BENCH_H
#define ETWAS_BENCH_SHIM_BENCH_H

#ifdef __cplusplus
#include <cstdint>
#include <ctime>
extern "C" {
#else
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#endif

struct bench_state;

typedef void bench_body(struct bench_state *state, const void *argument);

/* Adds a row. `argument` is passed to `body` and must live until bench_run returns. */
void bench_register(const char *name, bench_body *body, const void *argument);

/* Adds a row that takes long to set up: each of its values covers exactly `operations`. */
void bench_register_few(const char *name, bench_body *body, const void *argument,
                        uint32_t operations);

/*
 * Runs the rows that the command line selects (Google Benchmark's own options). Returns the exit
 * status.
 */
int bench_run(int argc, char **argv);

/* Returns whether to run another batch of `operations`. Call it until it returns false. */
bool bench_next_batch(struct bench_state *state, uint32_t operations);

/* Reports the time of a batch, exactly once for each batch. */
void bench_batch_took(struct bench_state *state, uint64_t elapsed_ns);

/* Reports a number beside the time. */
void bench_counter(struct bench_state *state, const char *name, double value);

/* Reports the row as an error instead of a time. bench_next_batch then returns false. */
void bench_fail(struct bench_state *state, const char *reason);

static inline uint64_t bench_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Force the compiler to compute the value, and to store what `pointer` leads to in memory. */
static inline void bench_keep_value(uint64_t value)
{
    __asm__ volatile("" : : "r"(value));
}

static inline void bench_keep_memory(const void *pointer)
{
    __asm__ volatile("" : : "r"(pointer) : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
