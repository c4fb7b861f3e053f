/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sources that can be read on this machine, how, and what their ticks mean. Readings are
 * async-signal-safe.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "clock/clock.h"
#include "clock/clock_reading.h"
#include "clock/lab/lab.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
    /* Measures the rate of a counter that sessions may not use, to some ppm. */
    MEASURING_NS = 20000000,
};

/* For the counter, which is read by an instruction. */
#define NO_SYSTEM_CLOCK ((clockid_t)-1)

struct row {
    struct etwas_lab_source source;
    clockid_t clock;
};

/*
 * Waits until all before it is complete, as rdtscp does; what follows may still be executed before
 * it.
 */
static int64_t read_fenced(void)
{
    etwas_lab_fence();
    return etwas_clock_tsc();
}

#if defined(__x86_64__)

static int64_t read_rdtscp(void)
{
    unsigned processor;

    return (int64_t)__builtin_ia32_rdtscp(&processor);
}

#endif

/* Reads clock_gettime, in nanoseconds. */
#define READER(name, clock)                                                                        \
    static int64_t read_##name(void)                                                               \
    {                                                                                              \
        return etwas_clock_ns(clock);                                                              \
    }

READER(monotonic, CLOCK_MONOTONIC)
READER(monotonic_raw, CLOCK_MONOTONIC_RAW)
READER(monotonic_coarse, CLOCK_MONOTONIC_COARSE)
READER(realtime, CLOCK_REALTIME)
READER(realtime_coarse, CLOCK_REALTIME_COARSE)
READER(boottime, CLOCK_BOOTTIME)
READER(tai, CLOCK_TAI)
READER(thread_cputime, CLOCK_THREAD_CPUTIME_ID)

#define ROW(text, reader, system_clock, tick)                                                      \
    {                                                                                              \
        {.name = (text), .read = (reader), .tick_ns = (tick)}, system_clock                        \
    }
#define SYSTEM_ROW(clock, reader) ROW(#clock, reader, clock, 1)

/* Ordered by number. */
static struct row rows[] = {
    ROW("QPC", etwas_clock_qpc, CLOCK_MONOTONIC_RAW, 1),
    ROW("system time", etwas_clock_system, CLOCK_REALTIME, 100),
#if defined(__x86_64__)
    ROW("TSC", etwas_clock_tsc, NO_SYSTEM_CLOCK, 0),
    ROW("rdtscp", read_rdtscp, NO_SYSTEM_CLOCK, 0),
    ROW("lfence+rdtsc", read_fenced, NO_SYSTEM_CLOCK, 0),
#else
    ROW("cntvct_el0", etwas_clock_tsc, NO_SYSTEM_CLOCK, 0),
    ROW("rdtscp", NULL, NO_SYSTEM_CLOCK, 0),
    ROW("isb+cntvct_el0", read_fenced, NO_SYSTEM_CLOCK, 0),
#endif
    SYSTEM_ROW(CLOCK_MONOTONIC, read_monotonic),
    SYSTEM_ROW(CLOCK_MONOTONIC_RAW, read_monotonic_raw),
    SYSTEM_ROW(CLOCK_MONOTONIC_COARSE, read_monotonic_coarse),
    SYSTEM_ROW(CLOCK_REALTIME, read_realtime),
    SYSTEM_ROW(CLOCK_REALTIME_COARSE, read_realtime_coarse),
    SYSTEM_ROW(CLOCK_BOOTTIME, read_boottime),
    SYSTEM_ROW(CLOCK_TAI, read_tai),
    SYSTEM_ROW(CLOCK_THREAD_CPUTIME_ID, read_thread_cputime),
};
_Static_assert(sizeof rows / sizeof rows[0] == ETWAS_CLOCK_SOURCES, "a row for each source");

static pthread_once_t once = PTHREAD_ONCE_INIT;

uint64_t etwas_lab_now_ns(void)
{
    return (uint64_t)read_monotonic();
}

/* Returns the measured nanoseconds of a tick; 0: the counter does not count. */
static double source_measured_tick_ns(void)
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

static double source_counter_tick_ns(void)
{
    uint64_t frequency_hz = etwas_clock_frequency(ETWAS_CLOCK_TSC);

    return frequency_hz != 0 ? (double)ETWAS_CLOCK_NS_PER_SECOND / (double)frequency_hz
                             : source_measured_tick_ns();
}

static bool source_has_instruction(uint32_t source)
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

static void sources_try_all(void)
{
    double counter_ns = source_counter_tick_ns();

    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        struct etwas_lab_source *source = &rows[number].source;
        struct timespec now;

        if (rows[number].clock != NO_SYSTEM_CLOCK) {
            source->available = clock_gettime(rows[number].clock, &now) == 0;
        } else {
            source->available = source_has_instruction(number) && counter_ns != 0;
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
    (void)pthread_once(&once, sources_try_all);
    return rows[ETWAS_CLOCK_SOURCE_TSC].source.tick_ns;
}

#ifdef ETWAS_TESTPOINTS

static const struct etwas_lab_source *replaced[ETWAS_CLOCK_SOURCES];

void etwas_lab_source_replace(uint32_t source, const struct etwas_lab_source *replacement)
{
    replaced[source] = replacement;
}

#endif

const struct etwas_lab_source *etwas_lab_source(uint32_t source)
{
    (void)pthread_once(&once, sources_try_all);
#ifdef ETWAS_TESTPOINTS
    if (replaced[source] != NULL) {
        return replaced[source];
    }
#endif
    return &rows[source].source;
}
