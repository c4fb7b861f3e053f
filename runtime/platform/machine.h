/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Raw facts that a machine reports of its cycle counter: CPUID leaves, the kernel's files, and the
 * counter itself next to the kernel's clock. The judgement of the counter (clock/trust.h) reads
 * only these, so that tests can invent machines.
 */
#ifndef ETWAS_PLATFORM_MACHINE_H
#define ETWAS_PLATFORM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"

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

/* Every function is set, and may be called from any thread, not from a signal handler. */
struct etwas_machine {
    enum etwas_architecture architecture;

    /*
     * Reads subleaf 0 of a leaf. Returns false for a basic or extended leaf that the processor does
     * not have, and if there is no CPUID. The leaves of hypervisors, from 4000_0000h on, are not
     * checked: without a hypervisor their content is arbitrary.
     */
    bool (*cpuid)(uint32_t leaf, struct etwas_cpuid *registers);

    /*
     * Reads the beginning of a file, at most size - 1 bytes, and terminates it. Returns false if
     * the file cannot be read.
     */
    bool (*text)(const char *path, char *text, size_t size);

    /* Reads CNTFRQ_EL0; 0 if there is no such register. */
    uint64_t (*stated_hz)(void);

    /*
     * Reads the counter, ordered after everything before the call and before everything after it.
     */
    int64_t (*counter)(void);

    /* Reads CLOCK_MONOTONIC_RAW. */
    int64_t (*raw_ns)(void);

    /* Sleeps at least this long. */
    void (*pause_ns)(int64_t ns);
};

/* The machine this runs on. */
extern const struct etwas_machine etwas_this_machine;

/* Facts of the machine in a log file header, outside of the session itself. */

/*
 * Reads the local time zone as it is now: its offset and name, without a rule for daylight saving.
 */
void etwas_system_time_zone(struct etwas_etl_time_zone *zone);

/* Returns the processor's nominal speed as the system reports it; 1000 if it does not. Never 0. */
uint32_t etwas_system_cpu_speed_mhz(void);

#endif
