/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "etl/utf16.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define NS_PER_SECOND INT64_C(1000000000)

static bool machine_read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t length;

    if (file == NULL) {
        return false;
    }
    length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    (void)fclose(file);
    return length > 0;
}

static int64_t machine_timespec_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static int64_t machine_raw_ns(void)
{
    return machine_timespec_ns(CLOCK_MONOTONIC_RAW);
}

/* Sleeps until a time, not for a duration: a signal that repeats must not make it endless. */
static void machine_pause_ns(int64_t ns)
{
    int64_t end_ns = machine_timespec_ns(CLOCK_MONOTONIC) + ns;
    const struct timespec end = {.tv_sec = end_ns / NS_PER_SECOND,
                                 .tv_nsec = end_ns % NS_PER_SECOND};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {
    }
}

#if defined(__x86_64__)

#define ARCHITECTURE ETWAS_ARCHITECTURE_X86_64

static bool machine_cpuid(uint32_t leaf, struct etwas_cpuid *registers)
{
    const uint32_t first_of_hypervisor = 0x40000000;
    const uint32_t extended = 0x80000000;

    if ((leaf < first_of_hypervisor || leaf >= extended) &&
        (uint32_t)__get_cpuid_max(leaf & extended, NULL) < leaf) {
        return false;
    }
    __cpuid_count(leaf, 0, registers->eax, registers->ebx, registers->ecx, registers->edx);
    return true;
}

static uint64_t machine_stated_hz(void)
{
    return 0;
}

static int64_t machine_counter(void)
{
    int64_t ticks;

    __builtin_ia32_lfence();
    ticks = (int64_t)__builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return ticks;
}

#elif defined(__aarch64__)

#define ARCHITECTURE ETWAS_ARCHITECTURE_AARCH64

static bool machine_cpuid(uint32_t leaf, struct etwas_cpuid *registers)
{
    (void)leaf;
    (void)registers;
    return false;
}

static uint64_t machine_stated_hz(void)
{
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}

static int64_t machine_counter(void)
{
    int64_t ticks;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}

#else
#error "etwas needs to know this architecture's cycle counter"
#endif

const struct etwas_machine etwas_this_machine = {
    .architecture = ARCHITECTURE,
    .cpuid = machine_cpuid,
    .text = machine_read_text,
    .stated_hz = machine_stated_hz,
    .counter = machine_counter,
    .raw_ns = machine_raw_ns,
    .pause_ns = machine_pause_ns,
};

/* ---- zone and speed -------------------------------------------------------------------------- */

enum {
    SECONDS_A_MINUTE = 60,
    SPEED_WHEN_UNKNOWN_MHZ = 1000,
    CPUINFO_LINES = 40, /* the first processor's block */
};

void etwas_system_time_zone(struct etwas_etl_time_zone *zone)
{
    time_t now = time(NULL);
    struct tm local;
    etwas_wchar name[32];
    size_t units;

    memset(zone, 0, sizeof *zone);
    if (localtime_r(&now, &local) == NULL) {
        return;
    }
    zone->bias_minutes = (int32_t)(-local.tm_gmtoff / SECONDS_A_MINUTE);
    if (local.tm_zone != NULL && etwas_utf8_to_utf16(local.tm_zone, strlen(local.tm_zone), name, 32,
                                                     &units) == ETWAS_UTF_OK) {
        memcpy(zone->standard_name, name, units * sizeof name[0]);
    }
}

uint32_t etwas_system_cpu_speed_mhz(void)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    uint32_t speed_mhz = SPEED_WHEN_UNKNOWN_MHZ;
    char line[2048];

    if (file == NULL) {
        return speed_mhz;
    }
    for (int read = 0; read < CPUINFO_LINES && fgets(line, sizeof line, file) != NULL; read++) {
        double value;

        if (sscanf(line, "cpu MHz : %lf", &value) == 1 && value >= 1 && value < 1e6) {
            speed_mhz = (uint32_t)(value + 0.5);
            break;
        }
    }
    (void)fclose(file);
    return speed_mhz;
}
