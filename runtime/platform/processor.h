/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Processor numbers: how many the machine may have, and which one runs the caller.
 *
 * The current processor comes from the rseq area that glibc registers for each thread: one load.
 * Without one (glibc before 2.35, rseq switched off, valgrind) the number comes from the kernel,
 * through the vDSO if it supports that.
 */
#ifndef ETWAS_PLATFORM_PROCESSOR_H
#define ETWAS_PLATFORM_PROCESSOR_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/machine.h"

/*
 * Distance from the thread pointer to a signed 32-bit processor number: in the thread's rseq area
 * or, if there is no rseq, a thread-local -1. Set once by etwas_processor_prepare.
 */
extern ptrdiff_t etwas_processor_offset __attribute__((visibility("hidden")));

/* Whether glibc registers the threads of this process for rseq. */
bool etwas_processor_is_registered(void);

/* Finds the rseq area. Called before the first session starts; a repeated call changes nothing. */
void etwas_processor_prepare(void);

/* Processor indexes on disk have 11 bits, and the extra slot takes one: see buffer/slot.c. */
#define ETWAS_MOST_PROCESSORS 2047u

/*
 * Returns one more than the highest processor number that the machine may have; numbers below it
 * may be missing. If the system does not report it, returns the number of processors
 * (_SC_NPROCESSORS_CONF). From 1 to ETWAS_MOST_PROCESSORS, constant in a process. The first call
 * reads a file.
 */
uint32_t etwas_processor_count(void);

/*
 * Returns the same for the processors that are present. A virtual machine often has few of many
 * possible ones. Reads a file.
 */
uint32_t etwas_processor_present(void);

/* Returns the same for another machine, from one of its files. */
#define ETWAS_PROCESSORS_POSSIBLE "/sys/devices/system/cpu/possible"
#define ETWAS_PROCESSORS_PRESENT "/sys/devices/system/cpu/present"
uint32_t etwas_processor_count_of(const struct etwas_machine *machine, const char *path);

/*
 * Whether the machine reports that the processor is offline now. False if it does not report it.
 * Reads a file.
 */
#define ETWAS_PROCESSORS_ONLINE "/sys/devices/system/cpu/online"
bool etwas_processor_is_offline(const struct etwas_machine *machine, uint32_t processor);

/* Queries the current processor from the kernel, for threads without rseq. */
uint32_t etwas_processor_query(void);

static inline const char *etwas_thread_pointer(void)
{
    const char *pointer;

#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
#error "etwas needs to know how this architecture finds the thread pointer"
#endif
    return pointer;
}

/*
 * Returns the processor that runs the caller, or ran it a moment ago, by rseq; UINT32_MAX without
 * rseq.
 */
static inline uint32_t etwas_processor_of_rseq(void)
{
#if defined(__x86_64__)
    uint64_t processor;

    __asm__ volatile("movl %%fs:(%1), %k0" : "=r"(processor) : "r"(etwas_processor_offset));
    return (uint32_t)processor;
#else
    const char *address = etwas_thread_pointer() + etwas_processor_offset;

    return ck_pr_load_32((const uint32_t *)(const void *)address);
#endif
}

/*
 * Returns the processor that runs the caller, or ran it a moment ago. May exceed
 * etwas_processor_count() - 1 if that is ETWAS_MOST_PROCESSORS, or on a kernel that reports odd
 * numbers; callers reduce it. Async-signal-safe.
 */
static inline uint32_t etwas_processor_current(void)
{
    uint32_t processor = etwas_processor_of_rseq();

    return (int32_t)processor >= 0 ? processor : etwas_processor_query();
}

#endif
