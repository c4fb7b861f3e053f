/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A machine that is made up: what its processor, hypervisor and kernel say, and a counter beside
 * the kernel's clock, in a time of its own that goes on only when somebody looks or waits.
 */
#ifndef ETWAS_TESTS_CLOCK_FAKE_MACHINE_H
#define ETWAS_TESTS_CLOCK_FAKE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/machine.h"

struct fake_machine {
    const char *name;

    /* What is said. */
    bool aarch64;
    bool invariant;
    bool adjustable;
    const char *hypervisor; /* signature; NULL: bare metal */
    uint32_t last_leaf;     /* of the hypervisor's */
    uint32_t leaf_10h;      /* its eax */
    uint32_t crystal_hz;    /* CPUID 15h: crystal × numerator / denominator */
    uint32_t numerator;
    uint32_t denominator; /* 0: no such leaf */
    uint32_t base_mhz;    /* CPUID 16h; 0: no such leaf */
    uint64_t cntfrq_hz;
    const char *current;   /* clock source; NULL: no such file */
    const char *available; /* likewise */
    const char *flags;     /* in /proc/cpuinfo; likewise */

    /* What is so. */
    double hz;
    int64_t first_tick;
    int64_t counter_ns;   /* what a reading of the counter takes; 0: 20 */
    uint64_t step;        /* in which it counts, in ticks; 0: 1 */
    int64_t raw_step_ns;  /* in which the kernel's clock counts; 0: 1 */
    uint32_t interrupt;   /* every how manieth reading 50 µs go by before it; 0: none */
    uint32_t suspends;    /* bit n: in pause n the kernel's clock stands still … */
    int64_t suspended_ns; /* … for so long */
    uint32_t backwards;   /* every how manieth reading of the counter is 1 µs too small; 0: none */
};

/* From here on `made_up_machine` is what `fake_machine` says. It must stay. */
const struct etwas_machine *make_up(const struct fake_machine *fake_machine);

#endif
