/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the kernel counts about a thread and a processor: the causes of slow calls.
 */
#ifndef ETWAS_BENCH_MACHINE_H
#define ETWAS_BENCH_MACHINE_H

#include <stdint.h>

struct bench_thread_counts {
    uint64_t page_faults;
    uint64_t preemptions; /* the thread lost its processor, whether it wanted to or not */
};

/* Returns the counts of the calling thread. One system call. */
struct bench_thread_counts bench_thread_counts(void);

/* Interrupts that `processor` has served, of all kinds. Reads a file: some 100 µs. 0: not known. */
uint64_t bench_interrupts(uint32_t processor);

/* The memory the process occupies now, in KB. 0: not known. */
uint64_t bench_resident_kb(void);

#endif
