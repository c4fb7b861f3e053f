/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/fake_machine.h"

#include <stdio.h>
#include <string.h>

#define INTERRUPTED_NS 50000

static struct {
    const struct fake_machine *is;
    struct etwas_machine machine;
    int64_t now_ns;
    int64_t suspended_ns;
    uint32_t readings;
    uint32_t pauses;
} made;

static bool cpuid_of_hypervisor(uint32_t leaf, struct etwas_cpuid *registers)
{
    char signature[12] = {0};

    if (made.is->hypervisor == NULL || leaf > made.is->last_leaf) {
        /* Where there is no such leaf the processor answers with anything. */
        *registers = (struct etwas_cpuid){0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef};
        return true;
    }
    if (leaf == 0x40000010) {
        registers->eax = made.is->leaf_10h;
        return true;
    }
    memcpy(signature, made.is->hypervisor, strlen(made.is->hypervisor));
    registers->eax = made.is->last_leaf;
    memcpy(&registers->ebx, signature, 4);
    memcpy(&registers->ecx, signature + 4, 4);
    memcpy(&registers->edx, signature + 8, 4);
    return true;
}

static bool cpuid(uint32_t leaf, struct etwas_cpuid *registers)
{
    const struct fake_machine *is = made.is;

    memset(registers, 0, sizeof *registers);
    if (is->aarch64) {
        return false;
    }
    switch (leaf) {
    case 1:
        registers->ecx = is->hypervisor != NULL ? 0x80000000u : 0;
        return true;
    case 7:
        registers->ebx = is->adjustable ? 2 : 0;
        return true;
    case 0x15:
        *registers = (struct etwas_cpuid){is->denominator, is->numerator, is->crystal_hz, 0};
        return is->denominator != 0;
    case 0x16:
        /* The upper half is reserved. */
        registers->eax = is->base_mhz | 0x10000;
        return is->base_mhz != 0;
    case 0x80000007:
        registers->edx = is->invariant ? 0x100 : 0;
        return true;
    default:
        return leaf >= 0x40000000 && leaf < 0x80000000 && cpuid_of_hypervisor(leaf, registers);
    }
}

static bool read_text(const char *path, char *text, size_t size)
{
    const char *name = strrchr(path, '/') + 1;
    const char *value = strcmp(name, "cpuinfo") == 0               ? made.is->flags
                        : strcmp(name, "current_clocksource") == 0 ? made.is->current
                                                                   : made.is->available;

    if (value == NULL) {
        return false;
    }
    if (strcmp(name, "cpuinfo") == 0) {
        (void)snprintf(text, size,
                       "processor\t: 0\nmodel name\t: nonstop_tsc\nflags\t\t: fpu %s sse\n"
                       "bugs\t\t: nonstop_tsc tsc_known_freq\n",
                       value);
    } else {
        (void)snprintf(text, size, "%s\n", value);
    }
    return true;
}

static uint64_t stated_hz(void)
{
    return made.is->cntfrq_hz;
}

static void go_on(int64_t ns)
{
    made.readings++;
    made.now_ns += ns;
    if (made.is->interrupt != 0 && made.readings % made.is->interrupt == 0) {
        made.now_ns += INTERRUPTED_NS;
    }
}

static int64_t counter(void)
{
    uint64_t ticks;

    go_on(made.is->counter_ns != 0 ? made.is->counter_ns : 20);
    ticks = (uint64_t)((double)made.now_ns * made.is->hz / 1e9);
    ticks -= ticks % (made.is->step != 0 ? made.is->step : 1);
    ticks += (uint64_t)made.is->first_tick;
    if (made.is->backwards != 0 && made.readings % made.is->backwards == 0) {
        ticks -= (uint64_t)(made.is->hz / 1e6);
    }
    return (int64_t)ticks;
}

static int64_t raw_ns(void)
{
    int64_t step_ns = made.is->raw_step_ns != 0 ? made.is->raw_step_ns : 1;

    go_on(25);
    return (made.now_ns - made.suspended_ns) / step_ns * step_ns;
}

static void pause_ns(int64_t ns)
{
    made.now_ns += ns;
    if ((made.is->suspends >> made.pauses++ & 1) != 0) {
        made.now_ns += made.is->suspended_ns;
        made.suspended_ns += made.is->suspended_ns;
    }
}

const struct etwas_machine *make_up(const struct fake_machine *fake_machine)
{
    memset(&made, 0, sizeof made);
    made.is = fake_machine;
    made.now_ns = 1000000;
    made.machine = (struct etwas_machine){
        .architecture =
            fake_machine->aarch64 ? ETWAS_ARCHITECTURE_AARCH64 : ETWAS_ARCHITECTURE_X86_64,
        .cpuid = cpuid,
        .text = read_text,
        .stated_hz = stated_hz,
        .counter = counter,
        .raw_ns = raw_ns,
        .pause_ns = pause_ns,
    };
    return &made.machine;
}
