/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/meter.h"

#include "clock/lab/sources.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* The value is needed, says this, so the reading cannot be left out. */
#define KEEP(value) __asm__ volatile("" : : "r"(value) : "memory")

static ALWAYS_INLINE int64_t timer_start(void)
{
    int64_t now;

    etwas_lab_fence();
    now = etwas_clock_tsc();
    etwas_lab_fence();
    return now;
}

/* The fence after it is that of the next start, or nothing that matters. */
static ALWAYS_INLINE int64_t timer_stop(void)
{
    etwas_lab_fence();
    return etwas_clock_tsc();
}

static ALWAYS_INLINE void time_each(int64_t (*read)(void), int64_t *ticks, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        int64_t start = timer_start();

        KEEP(read());
        ticks[index] = timer_stop() - start;
    }
}

static ALWAYS_INLINE int64_t time_row(int64_t (*read)(void), uint32_t count)
{
    int64_t start = timer_start();

    for (uint32_t index = 0; index < count; index += 8) {
        KEEP(read());
        KEEP(read());
        KEEP(read());
        KEEP(read());
        KEEP(read());
        KEEP(read());
        KEEP(read());
        KEEP(read());
    }
    return timer_stop() - start;
}

static ALWAYS_INLINE void take_stamps(int64_t (*read)(void), int64_t *stamps, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        stamps[index] = read();
    }
}

#define METER(name, reading)                                                                       \
    static void each_##name(int64_t (*read)(void), int64_t *ticks, uint32_t count)                 \
    {                                                                                              \
        (void)read;                                                                                \
        time_each(reading, ticks, count);                                                          \
    }                                                                                              \
    static int64_t row_##name(int64_t (*read)(void), uint32_t count)                               \
    {                                                                                              \
        (void)read;                                                                                \
        return time_row(reading, count);                                                           \
    }                                                                                              \
    static void stamps_##name(int64_t (*read)(void), int64_t *stamps, uint32_t count)              \
    {                                                                                              \
        (void)read;                                                                                \
        take_stamps(reading, stamps, count);                                                       \
    }                                                                                              \
    static const struct etwas_lab_meter meter_##name = {each_##name, row_##name, stamps_##name}

static ALWAYS_INLINE int64_t nothing(void)
{
    return 0;
}

METER(nothing, nothing);
METER(qpc, etwas_lab_read_qpc);
METER(system_time, etwas_lab_read_system_time);
METER(tsc, etwas_lab_read_tsc);
#if defined(__x86_64__)
METER(rdtscp, etwas_lab_read_rdtscp);
#endif
METER(fenced, etwas_lab_read_fenced);
METER(monotonic, etwas_lab_read_monotonic);
METER(monotonic_raw, etwas_lab_read_monotonic_raw);
METER(monotonic_coarse, etwas_lab_read_monotonic_coarse);
METER(realtime, etwas_lab_read_realtime);
METER(realtime_coarse, etwas_lab_read_realtime_coarse);
METER(boottime, etwas_lab_read_boottime);
METER(tai, etwas_lab_read_tai);
METER(thread_cputime, etwas_lab_read_thread_cputime);

static const struct etwas_lab_meter *const meters[ETWAS_CLOCK_SOURCES] = {
    [ETWAS_CLOCK_SOURCE_QPC] = &meter_qpc,
    [ETWAS_CLOCK_SOURCE_SYSTEM_TIME] = &meter_system_time,
    [ETWAS_CLOCK_SOURCE_TSC] = &meter_tsc,
#if defined(__x86_64__)
    [ETWAS_CLOCK_SOURCE_RDTSCP] = &meter_rdtscp,
#endif
    [ETWAS_CLOCK_SOURCE_LFENCE_RDTSC] = &meter_fenced,
    [ETWAS_CLOCK_SOURCE_MONOTONIC] = &meter_monotonic,
    [ETWAS_CLOCK_SOURCE_MONOTONIC_RAW] = &meter_monotonic_raw,
    [ETWAS_CLOCK_SOURCE_MONOTONIC_COARSE] = &meter_monotonic_coarse,
    [ETWAS_CLOCK_SOURCE_REALTIME] = &meter_realtime,
    [ETWAS_CLOCK_SOURCE_REALTIME_COARSE] = &meter_realtime_coarse,
    [ETWAS_CLOCK_SOURCE_BOOTTIME] = &meter_boottime,
    [ETWAS_CLOCK_SOURCE_TAI] = &meter_tai,
    [ETWAS_CLOCK_SOURCE_THREAD_CPUTIME] = &meter_thread_cputime,
};

const struct etwas_lab_meter *etwas_lab_meter_empty(void)
{
    return &meter_nothing;
}

#ifdef ETWAS_TESTPOINTS

/* For sources that a test has replaced: through the pointer. */
static void each_called(int64_t (*read)(void), int64_t *ticks, uint32_t count)
{
    time_each(read, ticks, count);
}

static int64_t row_called(int64_t (*read)(void), uint32_t count)
{
    return time_row(read, count);
}

static void stamps_called(int64_t (*read)(void), int64_t *stamps, uint32_t count)
{
    take_stamps(read, stamps, count);
}

static const struct etwas_lab_meter meter_called = {each_called, row_called, stamps_called};

const struct etwas_lab_meter *etwas_lab_meter(uint32_t source)
{
    return etwas_lab_source_is_replaced(source) ? &meter_called : meters[source];
}

#else

const struct etwas_lab_meter *etwas_lab_meter(uint32_t source)
{
    return meters[source];
}

#endif

int64_t etwas_lab_read_nothing(void)
{
    return 0;
}

__attribute__((noinline)) int64_t etwas_lab_meter_call(int64_t (*read)(void))
{
    int64_t start = timer_start();

    KEEP(read());
    return timer_stop() - start;
}
