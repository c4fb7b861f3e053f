/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Kernel counters of a thread and of a processor, which explain slow calls. */
#ifndef ETWAS_BENCH_MACHINE_H
#define ETWAS_BENCH_MACHINE_H

#include <stdint.h>

struct bench_thread_counts {
    uint64_t page_faults;
    uint64_t preemptions; /* the thread lost its processor, voluntarily or not */
};

/* Returns the counts of the calling thread. One system call. */
struct bench_thread_counts bench_thread_counts(void);

/*
 * Returns the interrupts of all kinds that `processor` has served; 0 if unknown. Reads a file,
 * which takes about 100 µs.
 */
uint64_t bench_interrupts(uint32_t processor);

/* Returns the memory that the process occupies now, in KB; 0 if unknown. */
uint64_t bench_resident_kb(void);

#endif
