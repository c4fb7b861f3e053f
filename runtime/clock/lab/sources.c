/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What can be read on this machine, and what a tick of it means. */
#include "clock/lab/sources.h"

#include <pthread.h>
#include <string.h>

#include "clock/lab/counter.h"
#include "clock/reading.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
    /* For a counter that sessions may not use: its rate is measured here, to some ppm. */
    MEASURING_NS = 20000000,
};

/* Where the counter is read by an instruction there is no system clock to ask for. */
#define NO_SYSTEM_CLOCK ((clockid_t)-1)

struct row {
    struct etwas_lab_source source;
    clockid_t clock;
};

#define ROW(id, text, reader, system_clock, tick)                                                  \
    [ETWAS_CLOCK_SOURCE_##                                                                         \
        id] = {{.name = (text), .read = etwas_lab_read_##reader, .tick_ns = (tick)}, system_clock}

static struct row rows[ETWAS_CLOCK_SOURCES] = {
    ROW(QPC, "QPC", qpc, CLOCK_MONOTONIC_RAW, 1),
    ROW(SYSTEM_TIME, "system time", system_time, CLOCK_REALTIME, 100),
#if defined(__x86_64__)
    ROW(TSC, "TSC", tsc, NO_SYSTEM_CLOCK, 0),
    ROW(RDTSCP, "rdtscp", rdtscp, NO_SYSTEM_CLOCK, 0),
    ROW(LFENCE_RDTSC, "lfence+rdtsc", fenced, NO_SYSTEM_CLOCK, 0),
#else
    ROW(TSC, "cntvct_el0", tsc, NO_SYSTEM_CLOCK, 0),
    [ETWAS_CLOCK_SOURCE_RDTSCP] = {{.name = "rdtscp"}, NO_SYSTEM_CLOCK},
    ROW(LFENCE_RDTSC, "isb+cntvct_el0", fenced, NO_SYSTEM_CLOCK, 0),
#endif
    ROW(MONOTONIC, "CLOCK_MONOTONIC", monotonic, CLOCK_MONOTONIC, 1),
    ROW(MONOTONIC_RAW, "CLOCK_MONOTONIC_RAW", monotonic_raw, CLOCK_MONOTONIC_RAW, 1),
    ROW(MONOTONIC_COARSE, "CLOCK_MONOTONIC_COARSE", monotonic_coarse, CLOCK_MONOTONIC_COARSE, 1),
    ROW(REALTIME, "CLOCK_REALTIME", realtime, CLOCK_REALTIME, 1),
    ROW(REALTIME_COARSE, "CLOCK_REALTIME_COARSE", realtime_coarse, CLOCK_REALTIME_COARSE, 1),
    ROW(BOOTTIME, "CLOCK_BOOTTIME", boottime, CLOCK_BOOTTIME, 1),
    ROW(TAI, "CLOCK_TAI", tai, CLOCK_TAI, 1),
    ROW(THREAD_CPUTIME, "CLOCK_THREAD_CPUTIME_ID", thread_cputime, CLOCK_THREAD_CPUTIME_ID, 1),
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

uint64_t etwas_lab_now_ns(void)
{
    return (uint64_t)etwas_lab_read_monotonic();
}

/* 0: it does not count. */
static double measured_tick_ns(void)
{
    const struct timespec pause = {.tv_nsec = MEASURING_NS};
    struct etwas_clock_reading first = etwas_clock_read_together();
    struct etwas_clock_reading last;

    (void)nanosleep(&pause, NULL);
    last = etwas_clock_read_together();
    if (last.tsc <= first.tsc || last.qpc_ns <= first.qpc_ns) {
        return 0;
    }
    return (double)(last.qpc_ns - first.qpc_ns) / (double)(last.tsc - first.tsc);
}

static double counter_tick_ns(void)
{
    uint64_t frequency_hz = etwas_clock_frequency(ETWAS_CLOCK_TSC);

    return frequency_hz != 0 ? (double)ETWAS_CLOCK_NS_PER_SECOND / (double)frequency_hz
                             : measured_tick_ns();
}

static bool has_instruction(uint32_t source)
{
#if defined(__x86_64__)
    const unsigned extended_features = 0x80000001u;
    const unsigned rdtscp = 1u << 27;
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;

    return source != ETWAS_CLOCK_SOURCE_RDTSCP ||
           (__get_cpuid(extended_features, &eax, &ebx, &ecx, &edx) != 0 && (edx & rdtscp) != 0);
#else
    return source != ETWAS_CLOCK_SOURCE_RDTSCP;
#endif
}

static void try_all(void)
{
    double counter_ns = counter_tick_ns();

    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        struct etwas_lab_source *source = &rows[number].source;
        struct timespec now;

        if (rows[number].clock != NO_SYSTEM_CLOCK) {
            source->available = clock_gettime(rows[number].clock, &now) == 0;
        } else {
            source->available = has_instruction(number) && counter_ns != 0;
            source->tick_ns = counter_ns;
        }
        source->follows_thread = number == ETWAS_CLOCK_SOURCE_THREAD_CPUTIME;
        if (!source->available) {
            *source = (struct etwas_lab_source){.name = source->name};
        }
    }
}

double etwas_lab_counter_tick_ns(void)
{
    (void)pthread_once(&once, try_all);
    return rows[ETWAS_CLOCK_SOURCE_TSC].source.tick_ns;
}

#ifdef ETWAS_TESTPOINTS

static const struct etwas_lab_source *replaced[ETWAS_CLOCK_SOURCES];

void etwas_lab_source_replace(uint32_t source, const struct etwas_lab_source *replacement)
{
    replaced[source] = replacement;
}

bool etwas_lab_source_is_replaced(uint32_t source)
{
    return replaced[source] != NULL;
}

const struct etwas_lab_source *etwas_lab_source(uint32_t source)
{
    (void)pthread_once(&once, try_all);
    return replaced[source] != NULL ? replaced[source] : &rows[source].source;
}

#else

const struct etwas_lab_source *etwas_lab_source(uint32_t source)
{
    (void)pthread_once(&once, try_all);
    return &rows[source].source;
}

#endif
