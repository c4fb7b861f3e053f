/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a machine says of its cycle counter, raw: CPUID leaves, the kernel's files, the counter
 * itself beside the kernel's clock. Whatever judges the counter (clock/trust.h) asks here and
 * nowhere else, so that tests can make up machines.
 */
#ifndef ETWAS_PLATFORM_MACHINE_H
#define ETWAS_PLATFORM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_cpuid {
    uint32_t eax;
    uint32_t ebx;
    uint32_t ecx;
    uint32_t edx;
};

enum etwas_architecture {
    ETWAS_ARCHITECTURE_X86_64,
    ETWAS_ARCHITECTURE_AARCH64,
};

/* Every function is there, and may be called from any thread, not from a signal handler. */
struct etwas_machine {
    enum etwas_architecture architecture;

    /*
     * Subleaf 0 of a leaf. False for a basic or extended leaf the processor does not have, and
     * where there is no CPUID. The leaves of hypervisors, from 4000_0000h on, are not checked:
     * without a hypervisor they hold anything.
     */
    bool (*cpuid)(uint32_t leaf, struct etwas_cpuid *registers);

    /* The beginning of a file, at most size - 1 bytes, with a 0 behind it. False: unreadable. */
    bool (*text)(const char *path, char *text, size_t size);

    /* What CNTFRQ_EL0 says; 0 where there is no such register. */
    uint64_t (*stated_hz)(void);

    /* The counter, read neither before what stands before the call nor after what follows it. */
    int64_t (*counter)(void);

    /* CLOCK_MONOTONIC_RAW. */
    int64_t (*raw_ns)(void);

    /* Lets at least this much time go by. */
    void (*pause_ns)(int64_t ns);
};

/* The machine this runs on. */
extern const struct etwas_machine etwas_this_machine;

#endif
