/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The parts of etwas_bench_drain: plain writes to compare with, and the proof that a file holds
 * every event once.
 */
#ifndef ETWAS_BENCH_DRAIN_H
#define ETWAS_BENCH_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DRAIN_BUFFER_BYTES = 64 << 10,
    DRAIN_RECORD_BYTES = 88, /* an instance event with 16 bytes */
};

/* A sum over events in any order: equal sums mean equal events. */
struct drain_sum {
    uint64_t events;
    uint64_t mixed;
};

static inline uint64_t drain_mix(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
}

/*
 * Adds an event, by the numbers in its payload: its producer, and its number among that producer's.
 */
static inline void drain_add(struct drain_sum *sum, uint64_t producer, uint64_t number)
{
    sum->events++;
    sum->mixed += drain_mix(drain_mix(producer + 1) + number);
}

/*
 * Writes `bytes` into a new file, as the log file does: pieces of 64 KB, 64 at a time, past the
 * page cache or through it, and makes them durable. Returns MB/s; 0 if this is not possible here.
 */
double drain_plain(const char *path, uint64_t bytes, bool direct);

/*
 * Sums up the events of a finished file of 88-byte records. Returns NULL, or what is wrong with the
 * file.
 */
const char *drain_check(const char *path, struct drain_sum *sum);

uint64_t drain_now_ns(void);

#endif
