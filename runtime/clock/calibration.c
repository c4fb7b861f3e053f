/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/calibration.h"

#include "clock/clock.h"

#include <etwas/etwas.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
    READINGS = 16,
    /* Two readings are some tens of ns uncertain each: 20 ms between them leave a few ppm. */
    CALIBRATION_NS = 20000000,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t frequency_hz; /* 0: not to be trusted; written once, under `once` */

#ifdef ETWAS_TESTPOINTS

#include <ck_pr.h>

static uint32_t tsc_forbidden;

uint64_t etwas_clock_system_step;

void etwas_clock_allow_tsc(bool allowed)
{
    ck_pr_store_32(&tsc_forbidden, allowed ? 0 : 1);
}

static bool tsc_allowed(void)
{
    return ck_pr_load_32(&tsc_forbidden) == 0;
}

#else

static bool tsc_allowed(void)
{
    return true;
}

#endif

struct etwas_clock_reading etwas_clock_read_together(void)
{
    struct etwas_clock_reading best = {0};
    int64_t best_width = INT64_MAX;

    for (int attempt = 0; attempt < READINGS; attempt++) {
        int64_t before = etwas_clock_tsc();
        int64_t qpc_ns = etwas_clock_qpc();
        int64_t filetime = etwas_clock_system();
        int64_t width = etwas_clock_tsc() - before;

        if (width >= 0 && width < best_width) {
            best_width = width;
            best = (struct etwas_clock_reading){before + width / 2, qpc_ns, filetime};
        }
    }
    if (best_width == INT64_MAX) {
        /* A counter that only ever ran backwards: take what there is. */
        best = (struct etwas_clock_reading){etwas_clock_tsc(), etwas_clock_qpc(),
                                            etwas_clock_system()};
    }
    return best;
}

int64_t etwas_clock_reading_stamp(const struct etwas_clock_reading *reading, uint32_t kind)
{
    if (kind == ETWAS_CLOCK_KIND_TSC) {
        return reading->tsc;
    }
    return kind == ETWAS_CLOCK_KIND_QPC ? reading->qpc_ns : reading->filetime;
}

#if defined(__x86_64__)

static bool invariant(void)
{
    const unsigned advanced_power_management = 0x80000007u;
    const unsigned invariant_tsc = 1u << 8;
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;

    return __get_cpuid(advanced_power_management, &eax, &ebx, &ecx, &edx) != 0 &&
           (edx & invariant_tsc) != 0;
}

/* The kernel drops "tsc" from its list when it finds the counters of two processors apart. */
static bool kernel_keeps_it(void)
{
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "re");
    char line[256];
    bool found = false;

    if (file == NULL) {
        return true;
    }
    if (fgets(line, sizeof line, file) != NULL) {
        for (char *rest = line, *name; (name = strtok_r(rest, " \n", &rest)) != NULL;) {
            found = found || strcmp(name, "tsc") == 0;
        }
    }
    (void)fclose(file);
    return found;
}

static bool machine_trusts_it(void)
{
    return invariant() && kernel_keeps_it();
}

#else

static bool machine_trusts_it(void)
{
    return true;
}

#endif

static void calibrate(void)
{
    const struct timespec pause = {.tv_nsec = CALIBRATION_NS};
    struct etwas_clock_reading first;
    struct etwas_clock_reading last;
    __extension__ unsigned __int128 ticks;

    if (!machine_trusts_it()) {
        return;
    }
    first = etwas_clock_read_together();
    (void)nanosleep(&pause, NULL);
    last = etwas_clock_read_together();
    if (last.tsc <= first.tsc || last.qpc_ns <= first.qpc_ns) {
        return;
    }
    ticks = (uint64_t)(last.tsc - first.tsc);
    frequency_hz = (uint64_t)(ticks * (uint64_t)ETWAS_CLOCK_NS_PER_SECOND /
                              (uint64_t)(last.qpc_ns - first.qpc_ns));
}

uint64_t etwas_clock_tsc_frequency_hz(void)
{
    if (!tsc_allowed()) {
        return 0;
    }
    (void)pthread_once(&once, calibrate);
    return frequency_hz;
}

bool etwas_clock_tsc_trusted(void)
{
    return etwas_clock_tsc_frequency_hz() != 0;
}

uint32_t etwas_clock_select(uint32_t requested)
{
    switch (requested) {
    case 0:
    case ETWAS_CLOCK_KIND_QPC:
        return ETWAS_CLOCK_KIND_QPC;
    case ETWAS_CLOCK_KIND_SYSTEM:
        return ETWAS_CLOCK_KIND_SYSTEM;
    case ETWAS_CLOCK_KIND_TSC:
        return etwas_clock_tsc_trusted() ? ETWAS_CLOCK_KIND_TSC : ETWAS_CLOCK_KIND_SYSTEM;
    default:
        return 0;
    }
}

uint32_t etwas_clock_effective(uint32_t clock)
{
    return etwas_clock_select(clock);
}

int64_t etwas_clock_read(uint32_t clock)
{
    if (clock < ETWAS_CLOCK_KIND_QPC || clock > ETWAS_CLOCK_KIND_TSC) {
        return 0;
    }
    return etwas_clock_now(clock);
}

uint64_t etwas_clock_frequency(uint32_t clock)
{
    switch (clock) {
    case ETWAS_CLOCK_KIND_QPC:
        return (uint64_t)ETWAS_CLOCK_NS_PER_SECOND;
    case ETWAS_CLOCK_KIND_SYSTEM:
        return (uint64_t)ETWAS_CLOCK_FILETIME_PER_SECOND;
    case ETWAS_CLOCK_KIND_TSC:
        return etwas_clock_tsc_frequency_hz();
    default:
        return 0;
    }
}
