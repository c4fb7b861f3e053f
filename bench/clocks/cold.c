/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Nothing is flushed from the caches explicitly. The program does much else in between, like a
 * program that reads a clock now and then. It writes to more memory than the caches hold, and runs
 * more code than the instruction caches hold.
 */
#include "clocks/cold.h"

#include "latency.h"

enum {
    LINE_BYTES = 64,
    DATA_BYTES = 64 * 1024 * 1024,
    WARM_CALLS = 8, /* warm the timing itself up again, after everything else ran */
};

static uint8_t data[DATA_BYTES];

static void touch_data(void)
{
    volatile uint8_t *line = data;

    for (uint32_t offset = 0; offset < DATA_BYTES; offset += LINE_BYTES) {
        line[offset]++;
    }
}

/* 256 KB of jumps, each to the next line. */
static __attribute__((noinline)) void run_code(void)
{
#if defined(__x86_64__)
    __asm__ volatile(".rept 4096\n\tjmp 1f\n\t.balign 64, 0xcc\n1:\n\t.endr");
#else
    __asm__ volatile(".rept 4096\n\tb 1f\n\t.balign 64\n1:\n\t.endr");
#endif
}

static __attribute__((noinline)) uint64_t time_call(bench_reading *read)
{
    uint64_t begin = bench_tick_begin();

    (void)read();
    return bench_tick_end() - begin;
}

static int64_t read_nothing(void)
{
    return 0;
}

uint64_t bench_cold_ticks(bench_reading *read)
{
    uint64_t without = UINT64_MAX;
    uint64_t with;

    touch_data();
    run_code();
    for (uint32_t call = 0; call < WARM_CALLS; call++) {
        uint64_t ticks = time_call(read_nothing);

        without = ticks < without ? ticks : without;
    }
    with = time_call(read);
    return with > without ? with - without : 0;
}
