/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What an event cannot cost less than: `floor/CLOCK/PAYLOAD` reads the clock and copies a prepared
 * record of the event's size, with the stamp in its place, into a 64 KB buffer that wraps. Inline,
 * one thread, every size a constant, no check, nothing to undo. `clock/CLOCK` is the reading alone.
 * `floor_event/…`, `floor_write/…`, `floor_message/…` and `floor_tracelogging/…` have the headers
 * of TraceEvent, EventWrite, TraceMessage and TraceLoggingWrite.
 */
#include <etwas/etwas.h>
#include <string.h>

#include "readings.h"
#include "rows.h"
#include "session.h"
#include "shim/bench.h"

enum {
    BUFFER_BYTES = 64 * 1024,
    LARGEST_PAYLOAD_BYTES = 16384,
    STAMP_OFFSET = 16
};

static _Alignas(64) uint8_t buffer[BUFFER_BYTES];
static _Alignas(64) uint8_t record[BENCH_INSTANCE_HEADER_BYTES + LARGEST_PAYLOAD_BYTES];

/* Called like those of readings.h: the macros below put the names together. */
static inline int64_t bench_read_constant(void)
{
    return 1;
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
                bench_keep_value((uint64_t)bench_read_##CLOCK());                                  \
            }                                                                                      \
            bench_batch_took(state, bench_now_ns() - start_ns);                                    \
        }                                                                                          \
    }

#define FLOOR_BODY(NAME, CLOCK, HEADER, PAYLOAD)                                                   \
    static void NAME##_##CLOCK##_##PAYLOAD(struct bench_state *state, const void *unused)          \
    {                                                                                              \
        enum {                                                                                     \
            BYTES = (HEADER) + (PAYLOAD)                                                           \
        };                                                                                         \
        size_t next = 0;                                                                           \
                                                                                                   \
        (void)unused;                                                                              \
        while (bench_next_batch(state, BENCH_BATCH)) {                                             \
            uint64_t start_ns = bench_now_ns();                                                    \
                                                                                                   \
            for (uint32_t count = 0; count < BENCH_BATCH; count++) {                               \
                int64_t stamp = bench_read_##CLOCK();                                              \
                                                                                                   \
                memcpy(buffer + next, record, BYTES);                                              \
                memcpy(buffer + next + STAMP_OFFSET, &stamp, sizeof stamp);                        \
                bench_keep_memory(buffer);                                                         \
                next = next + 2 * BYTES <= BUFFER_BYTES ? next + BYTES : 0;                        \
            }                                                                                      \
            bench_batch_took(state, bench_now_ns() - start_ns);                                    \
        }                                                                                          \
    }

#define FLOORS(CLOCK)                                                                              \
    CLOCK_BODY(CLOCK)                                                                              \
    FLOOR_BODY(floor, CLOCK, BENCH_INSTANCE_HEADER_BYTES, 0)                                       \
    FLOOR_BODY(floor, CLOCK, BENCH_INSTANCE_HEADER_BYTES, 16)                                      \
    FLOOR_BODY(floor, CLOCK, BENCH_INSTANCE_HEADER_BYTES, 64)                                      \
    FLOOR_BODY(floor, CLOCK, BENCH_INSTANCE_HEADER_BYTES, 256)                                     \
    FLOOR_BODY(floor, CLOCK, BENCH_INSTANCE_HEADER_BYTES, 4096)                                    \
    static void register_##CLOCK(void)                                                             \
    {                                                                                              \
        bench_register("clock/" #CLOCK, clock_##CLOCK, NULL);                                      \
        bench_register("floor/" #CLOCK "/0", floor_##CLOCK##_0, NULL);                             \
        bench_register("floor/" #CLOCK "/16", floor_##CLOCK##_16, NULL);                           \
        bench_register("floor/" #CLOCK "/64", floor_##CLOCK##_64, NULL);                           \
        bench_register("floor/" #CLOCK "/256", floor_##CLOCK##_256, NULL);                         \
        bench_register("floor/" #CLOCK "/4096", floor_##CLOCK##_4096, NULL);                       \
    }

#define OTHER_FLOORS(CLOCK)                                                                        \
    FLOOR_BODY(floor_event, CLOCK, BENCH_EVENT_HEADER_BYTES, 16)                                   \
    FLOOR_BODY(floor_write, CLOCK, BENCH_MODERN_HEADER_BYTES, 16)                                  \
    FLOOR_BODY(floor_message, CLOCK, BENCH_MESSAGE_HEADER_BYTES, 16)                               \
    FLOOR_BODY(floor_tracelogging, CLOCK, BENCH_TRACELOGGING_HEADER_BYTES, 12)                     \
    static void register_others_##CLOCK(void)                                                      \
    {                                                                                              \
        bench_register("floor_event/" #CLOCK "/16", floor_event_##CLOCK##_16, NULL);               \
        bench_register("floor_write/" #CLOCK "/16", floor_write_##CLOCK##_16, NULL);               \
        bench_register("floor_message/" #CLOCK "/16", floor_message_##CLOCK##_16, NULL);           \
        bench_register("floor_tracelogging/" #CLOCK "/12", floor_tracelogging_##CLOCK##_12, NULL); \
    }

/* clang-format off */
FLOORS(tsc)
FLOORS(qpc)
FLOORS(system)
OTHER_FLOORS(tsc)
OTHER_FLOORS(qpc)
FLOOR_BODY(floor, tsc, BENCH_INSTANCE_HEADER_BYTES, 1024)
FLOOR_BODY(floor, tsc, BENCH_INSTANCE_HEADER_BYTES, 16384)
FLOOR_BODY(floor, constant, BENCH_INSTANCE_HEADER_BYTES, 16)
/* clang-format on */

void bench_register_floors(void)
{
    memset(record, 0x5A, sizeof record);
    register_tsc();
    bench_register("floor/tsc/1024", floor_tsc_1024, NULL);
    bench_register("floor/tsc/16384", floor_tsc_16384, NULL);
    register_qpc();
    register_system();
    register_others_tsc();
    register_others_qpc();
}

void bench_register_floor_without_clock(void)
{
    memset(record, 0x5A, sizeof record);
    bench_register("floor/constant/16", floor_constant_16, NULL);
}
