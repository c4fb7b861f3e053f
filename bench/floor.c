/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What an event cannot cost less than: `floor/CLOCK/PAYLOAD` reads the clock and copies a prepared
 * record of the event's size, with the stamp in its place, into a 64 KB buffer that wraps. Inline,
 * one thread, every size a constant, no check, nothing to undo. `clock/CLOCK` is the reading alone.
 */
#include <etwas/etwas.h>
#include <string.h>

#include "rows.h"
#include "shim/bench.h"

enum {
    BUFFER_BYTES = 64 * 1024,
    STAMP_OFFSET = 16
};

static _Alignas(64) uint8_t buffer[BUFFER_BYTES];
static _Alignas(64) uint8_t record[BENCH_INSTANCE_HEADER_BYTES + 64];

static inline int64_t read_tsc(void)
{
#if defined(__x86_64__)
    return (int64_t)__builtin_ia32_rdtsc();
#else
    return etwas_clock_read(ETWAS_CLOCK_TSC);
#endif
}

static inline int64_t read_qpc(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t read_system(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return 116444736000000000 + (int64_t)now.tv_sec * 10000000 + now.tv_nsec / 100;
}

/*
 * Both bodies of one clock, and a floor for each size: made by macro so that sizes are constants.
 */
#define CLOCK_BODY(CLOCK)                                                                          \
    static void clock_##CLOCK(struct bench_state *state, const void *unused)                       \
    {                                                                                              \
        (void)unused;                                                                              \
        while (bench_next_batch(state, BENCH_BATCH)) {                                             \
            uint64_t start_ns = bench_now_ns();                                                    \
                                                                                                   \
            for (uint32_t count = 0; count < BENCH_BATCH; count++) {                               \
                bench_keep_value((uint64_t)read_##CLOCK());                                        \
            }                                                                                      \
            bench_batch_took(state, bench_now_ns() - start_ns);                                    \
        }                                                                                          \
    }

#define FLOOR_BODY(CLOCK, PAYLOAD)                                                                 \
    static void floor_##CLOCK##_##PAYLOAD(struct bench_state *state, const void *unused)           \
    {                                                                                              \
        enum {                                                                                     \
            BYTES = BENCH_INSTANCE_HEADER_BYTES + (PAYLOAD)                                        \
        };                                                                                         \
        size_t next = 0;                                                                           \
                                                                                                   \
        (void)unused;                                                                              \
        while (bench_next_batch(state, BENCH_BATCH)) {                                             \
            uint64_t start_ns = bench_now_ns();                                                    \
                                                                                                   \
            for (uint32_t count = 0; count < BENCH_BATCH; count++) {                               \
                int64_t stamp = read_##CLOCK();                                                    \
                                                                                                   \
                memcpy(buffer + next, record, BYTES);                                              \
                memcpy(buffer + next + STAMP_OFFSET, &stamp, sizeof stamp);                        \
                bench_keep_memory(buffer);                                                         \
                next = next + 2 * BYTES <= BUFFER_BYTES ? next + BYTES : 0;                        \
            }                                                                                      \
            bench_batch_took(state, bench_now_ns() - start_ns);                                    \
        }                                                                                          \
    }

/* clang-format off */
CLOCK_BODY(tsc)
CLOCK_BODY(qpc)
CLOCK_BODY(system)
FLOOR_BODY(tsc, 16)
FLOOR_BODY(tsc, 64)
FLOOR_BODY(qpc, 16)
FLOOR_BODY(qpc, 64)
FLOOR_BODY(system, 16)
FLOOR_BODY(system, 64)
/* clang-format on */

void bench_register_floors(void)
{
    memset(record, 0x5A, sizeof record);
    bench_register("clock/tsc", clock_tsc, NULL);
    bench_register("clock/qpc", clock_qpc, NULL);
    bench_register("clock/system", clock_system, NULL);
    bench_register("floor/tsc/16", floor_tsc_16, NULL);
    bench_register("floor/tsc/64", floor_tsc_64, NULL);
    bench_register("floor/qpc/16", floor_qpc_16, NULL);
    bench_register("floor/qpc/64", floor_qpc_64, NULL);
    bench_register("floor/system/16", floor_system_16, NULL);
    bench_register("floor/system/64", floor_system_64, NULL);
}
