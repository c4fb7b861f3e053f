/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The made-up reports.
 */

#include "clocks_reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What a source is like on a machine where all is well. */
struct kind {
    const char *name;
    double tick_ns;
    double median_ns;
    double step_ns;
    double equal; /* share of equal successive readings */
};

static const struct kind kinds[ETWAS_CLOCK_SOURCES] = {
    {"QPC", 1, 18.4, 17, 0},
    {"system time", 100, 19.1, 100, 0.81},
    {"TSC", 0.409, 7.2, 6.95, 0},
    {"rdtscp", 0.409, 10.6, 10.2, 0},
    {"lfence+rdtsc", 0.409, 11.9, 11.4, 0},
    {"CLOCK_MONOTONIC", 1, 18.2, 17, 0},
    {"CLOCK_MONOTONIC_RAW", 1, 18.3, 17, 0},
    {"CLOCK_MONOTONIC_COARSE", 1, 3.9, 4e6, 0.999999},
    {"CLOCK_REALTIME", 1, 18.2, 17, 0},
    {"CLOCK_REALTIME_COARSE", 1, 3.8, 4e6, 0.999999},
    {"CLOCK_BOOTTIME", 1, 18.5, 17, 0},
    {"CLOCK_TAI", 1, 18.5, 17, 0},
    {"CLOCK_THREAD_CPUTIME_ID", 1, 212, 200, 0},
};

static bool coarse(uint32_t source)
{
    return source == ETWAS_CLOCK_SOURCE_MONOTONIC_COARSE ||
           source == ETWAS_CLOCK_SOURCE_REALTIME_COARSE;
}

/* The same sequence each time: 0 to 1. */
static double chance(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state / 4294967296.0;
}

/* A steep hill around `median`, a second one at `again`, and rare values up to `maximum`. */
static void make_histogram(etwas_clock_histogram *histogram, double median, double maximum,
                           double all)
{
    double low = median * 0.9;
    double factor = pow(maximum / low, 1.0 / 48);

    histogram->bins = 0;
    for (int i = 0; i < 48; i++) {
        double from = low * pow(factor, i);
        double away = log(from * sqrt(factor) / median) / 0.09;
        double tail = 3e-4 * pow(0.78, i) * (0.3 + chance());
        double count = all * (0.4 * exp(-away * away / 2) + tail);
        etwas_clock_bin *bin = &histogram->bin[histogram->bins];

        if (count >= 1) {
            *bin = (etwas_clock_bin){from, from * factor, (uint64_t)count};
            histogram->bins++;
        }
    }
}

/* Where it belongs: bins ascend. */
static void add_bin(etwas_clock_histogram *histogram, double from, double to, uint64_t count)
{
    uint32_t place = histogram->bins++;

    while (place > 0 && histogram->bin[place - 1].from > from) {
        histogram->bin[place] = histogram->bin[place - 1];
        place--;
    }
    histogram->bin[place] = (etwas_clock_bin){from, to, count};
}

static etwas_clock_distribution make_distribution(double median, double spread, double maximum)
{
    return (etwas_clock_distribution){
        .count = 1000000,
        .minimum = median * 0.93,
        .median = median,
        .mean = median * (1 + spread / 4),
        .p90 = median * (1 + spread / 3),
        .p99 = median * (1 + spread),
        .p999 = median * (1 + 6 * spread),
        .maximum = maximum,
    };
}

static void make_source(etwas_clock_report *report, uint32_t number, double slower)
{
    const struct kind *kind = &kinds[number];
    etwas_clock_source_report *source = &report->sources[number];
    double median = kind->median_ns * slower;
    bool counter = number >= ETWAS_CLOCK_SOURCE_TSC && number <= ETWAS_CLOCK_SOURCE_LFENCE_RDTSC;

    *source = (etwas_clock_source_report){
        .source = number,
        .name = kind->name,
        .available = true,
        .tick_ns = kind->tick_ns,
        .follows_thread = number == ETWAS_CLOCK_SOURCE_THREAD_CPUTIME,
        .warm_ns = make_distribution(median, 0.14, 9000 + 40000 * chance()),
        .cold_ns = make_distribution(median * 6 + 70, 0.5, 60000),
        .loop_ns = 0.31,
        .back_to_back_ns = median * 0.97,
        .timer_step_ns = 10.0139,
        .resolution_ns = kind->step_ns,
        .unit_ns = fmax(kind->step_ns, 10.0139),
        .pairs = 4000000,
        .equal_pairs = (uint64_t)(4000000 * kind->equal),
        .readings = 61234567 + (uint64_t)(1e6 * chance()),
    };
    source->cold_ns.count = 2000;
    make_histogram(&source->warm, median, source->warm_ns.maximum, 1e6);
    if (coarse(number)) {
        add_bin(&source->steps, 3.9e6, 4.1e6, 1249);
        source->against_raw = (etwas_clock_drift){true, 93.2, 809, 79, 4.9};
        source->against_realtime = source->against_raw;
    } else {
        make_histogram(&source->steps, fmax(kind->step_ns, median), 40000, 4e6 * (1 - kind->equal));
        add_bin(&source->steps, 1.8e7, 1.9e7, 3);
    }
    if (number == ETWAS_CLOCK_SOURCE_TSC) {
        source->resolution_ns = kind->tick_ns;
        add_bin(&source->steps, 0.39, 0.44, 1000);
    }
    if (source->equal_pairs > 0) {
        add_bin(&source->steps, 0, 0.0625, source->equal_pairs);
    }
    if (!source->follows_thread && !coarse(number)) {
        source->against_raw = (etwas_clock_drift){true,
                                                  counter                     ? 0.021
                                                  : number > 4 && number != 6 ? 7.412
                                                                              : 0,
                                                  0.012, 250, 4.9};
        source->against_realtime =
            (etwas_clock_drift){true, source->against_raw.ppm - 7.412, 0.034, 250, 4.9};
    }
    if (number == ETWAS_CLOCK_SOURCE_SYSTEM_TIME) {
        source->against_raw.ppm = 7.412;
        source->against_realtime.ppm = 0;
    }
}

/* Pairs of all processors, or of every third where there are too many. */
static void make_pairs(etwas_clock_report *report, uint32_t number, double reach_ns,
                       double bound_ns)
{
    etwas_clock_source_report *source = &report->sources[number];
    size_t most = (size_t)report->processors * report->processors / 2;

    free(source->offsets);
    source->offset_count = 0;
    source->offsets = calloc(most + 1, sizeof *source->offsets);
    for (uint32_t i = 0; source->offsets != NULL && i < report->processors; i++) {
        for (uint32_t k = i + 1; k < report->processors; k++) {
            if (report->all_pairs || (i + k) % 3 == 0) {
                source->offsets[source->offset_count++] = (etwas_clock_offset){
                    .processor = report->processor_numbers[i],
                    .other = report->processor_numbers[k],
                    .offset_ns = (chance() - 0.5) * 2 * reach_ns,
                    .bound_ns = bound_ns * (0.8 + 0.4 * chance()),
                    .rounds = 20000,
                    .handovers = 40000,
                };
            }
        }
    }
}

static etwas_clock_conversion convert(const char *name, double hz, double error_ppm)
{
    double second_ns = error_ppm * 1e3;

    return (etwas_clock_conversion){
        name, hz, error_ppm, 0.012, second_ns, second_ns * 60, second_ns * 3600, second_ns * 90000};
}

static void make_machine(etwas_clock_report *report, uint32_t processors, uint32_t configured)
{
    report->seconds = 5.03;
    report->processors = processors;
    report->processors_configured = configured;
    report->processors_online = configured;
    report->all_pairs = true;
    report->processor_numbers = calloc(processors + 1, sizeof *report->processor_numbers);
    for (uint32_t i = 0; report->processor_numbers != NULL && i < processors; i++) {
        report->processor_numbers[i] = i * (configured / processors);
    }
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        make_source(report, i, 1);
    }
}

static void make_all_pairs(etwas_clock_report *report)
{
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (!report->sources[i].follows_thread && !coarse(i)) {
            make_pairs(report, i, i == ETWAS_CLOCK_SOURCE_SYSTEM_TIME ? 50 : 9,
                       i == ETWAS_CLOCK_SOURCE_SYSTEM_TIME ? 130 : 44);
        }
    }
}

static void make_trusted(etwas_clock_report *report)
{
    report->trust = (etwas_clock_trust){
        .verdict = ETWAS_CLOCK_VERDICT_TRUSTED,
        .reasons = ETWAS_CLOCK_REASON_INVARIANT | ETWAS_CLOCK_REASON_NONSTOP |
                   ETWAS_CLOCK_REASON_STATED_FREQUENCY | ETWAS_CLOCK_REASON_KERNEL_USES_IT |
                   ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT | ETWAS_CLOCK_REASON_ADJUSTABLE,
        .frequency_hz = 2445405312,
        .frequency_error_ppb = 420,
        .stated_by = ETWAS_CLOCK_STATED_CPUID_15H,
        .stated_hz = 2445404000,
        .clocksource = "tsc",
        .available_clocksources = "tsc hpet acpi_pm",
    };
    report->conversions[0] = convert("exact frequency", 2445404000, 0.536);
    report->conversions[1] = convert("whole MHz", 2445e6, 165.778);
    report->conversions[2] = convert("calibration", 2445405312, 0.021);
    report->recommended_clock = ETWAS_CLOCK_TSC;
    snprintf(report->verdict, sizeof report->verdict, "%s",
             "The cycle counter can be trusted. It runs at one rate in all power states. It does "
             "not stop in deep sleep. The kernel itself keeps time by it. It ticks at 2445.405312 "
             "MHz, known within 0.42 ppm. Stated by CPUID 15h: 2445.404000 MHz, -0.5 ppm of that. "
             "Over 4.9 s it was 0.021 ± 0.012 ppm fast against CLOCK_MONOTONIC_RAW. No two of 8 "
             "processors are more than 60.1 ns apart.");
    snprintf(report->recommendation, sizeof report->recommendation, "%s",
             "Ask for ClientContext 3, the cycle counter. A stamp costs 17.8 ns with 1 (QPC), "
             "18.5 ns with 2 (system time), 7.0 ns with 3. Ask for 1 where other readers than "
             "etwas convert long traces: they know whole MHz only, 597 ms off after an hour.");
}

static void make_laptop(etwas_clock_report *report, struct etwas_clocks_machine *machine)
{
    make_machine(report, 8, 8);
    make_all_pairs(report);
    make_trusted(report);
    *machine = (struct etwas_clocks_machine){"heron", "Linux 6.1.0-27-amd64 x86_64",
                                             "Quillwort 7 8840 with Graphics",
                                             "2026-03-14T15:09:26Z", ETWAS_SEQUENCES_USED};
}

static void make_single(etwas_clock_report *report, struct etwas_clocks_machine *machine)
{
    make_machine(report, 1, 1);
    make_trusted(report);
    *machine = (struct etwas_clocks_machine){
        .host = "wren", .examined = "2026-03-14T15:09:26Z", ETWAS_SEQUENCES_USED};
}

static void make_pair(etwas_clock_report *report, struct etwas_clocks_machine *machine)
{
    make_machine(report, 2, 2);
    make_all_pairs(report);
    make_trusted(report);
    report->trust.reasons |= ETWAS_CLOCK_REASON_HYPERVISOR;
    *machine = (struct etwas_clocks_machine){
        .host = "auk", .examined = "2026-03-14T15:09:26Z", ETWAS_SEQUENCES_USED};
}

static void make_server(etwas_clock_report *report, struct etwas_clocks_machine *machine)
{
    make_machine(report, 64, 256);
    report->all_pairs = false;
    make_all_pairs(report);
    make_trusted(report);
    report->recommended_clock = ETWAS_CLOCK_QPC;
    *machine = (struct etwas_clocks_machine){
        "albatross-with-a-long-name.example.org", "Linux 6.1.0-27-amd64 x86_64",
        "Quillwort 9754 128-Core Processor", "2026-03-14T15:09:26Z", ETWAS_SEQUENCES_USED};
}

static void spoil_counter(etwas_clock_report *report)
{
    for (uint32_t i = ETWAS_CLOCK_SOURCE_TSC; i <= ETWAS_CLOCK_SOURCE_LFENCE_RDTSC; i++) {
        etwas_clock_source_report *source = &report->sources[i];

        make_pairs(report, i, 41000, 900);
        source->backward_steps = 1841;
        source->largest_backward_ns = 40213;
        source->stalls = 3;
        source->longest_stall_ns = 11.2e6;
        source->against_raw = (etwas_clock_drift){true, 512.4, 3.1, 250, 4.9};
        source->against_realtime = (etwas_clock_drift){true, 498.1, 6.7, 250, 4.9};
        for (uint32_t k = 0; k < source->offset_count; k++) {
            source->offsets[k].smaller = (uint64_t)fabs(source->offsets[k].offset_ns / 3);
            source->offsets[k].worst_ns = fabs(source->offsets[k].offset_ns) * 1.2;
        }
    }
}

static void make_guest(etwas_clock_report *report, struct etwas_clocks_machine *machine)
{
    make_machine(report, 4, 6);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        make_source(report, i, i == ETWAS_CLOCK_SOURCE_THREAD_CPUTIME ? 3 : 41.3);
    }
    make_all_pairs(report);
    spoil_counter(report);
    report->sources[ETWAS_CLOCK_SOURCE_QPC].offset_count--;
    report->sources[ETWAS_CLOCK_SOURCE_QPC].offsets_left_out++;
    free(report->sources[ETWAS_CLOCK_SOURCE_RDTSCP].offsets);
    free(report->sources[ETWAS_CLOCK_SOURCE_TAI].offsets);
    report->sources[ETWAS_CLOCK_SOURCE_RDTSCP] =
        (etwas_clock_source_report){.source = ETWAS_CLOCK_SOURCE_RDTSCP, .name = "rdtscp"};
    report->sources[ETWAS_CLOCK_SOURCE_TAI] =
        (etwas_clock_source_report){.source = ETWAS_CLOCK_SOURCE_TAI};
    report->trust = (etwas_clock_trust){
        .verdict = ETWAS_CLOCK_VERDICT_UNUSABLE,
        .reasons = ETWAS_CLOCK_REASON_KERNEL_OFFERS_IT | ETWAS_CLOCK_REASON_HYPERVISOR |
                   ETWAS_CLOCK_REASON_NOT_INVARIANT | ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT |
                   ETWAS_CLOCK_REASON_WRONG_FREQUENCY | ETWAS_CLOCK_REASON_BACKWARDS |
                   ETWAS_CLOCK_REASON_APART,
        .frequency_hz = 2999103411,
        .frequency_error_ppb = 12000,
        .stated_by = ETWAS_CLOCK_STATED_HYPERVISOR,
        .stated_hz = 3000600000,
        .clocksource = "<b>\"acpi&pm'",
        .available_clocksources = "acpi_pm \033[31mred",
        .hypervisor = "</script>\xff",
    };
    report->conversions[0] = convert("exact frequency", 3000600000, 499);
    report->conversions[1] = convert("whole MHz", 2999e6, -34.5);
    report->conversions[2] = convert("calibration", 2999103411, 0);
    report->recommended_clock = ETWAS_CLOCK_QPC;
    snprintf(report->verdict, sizeof report->verdict, "%s",
             "The cycle counter cannot be used: a session that asks for it gets system time. It "
             "was seen running backwards, 1841 times in 61700000 readings, by up to 40.2 us. It "
             "is not the same on all processors: that of processor 2 is 38.1 us ahead of that of "
             "0, ± 0.9 us. a < b & \"c\"");
    snprintf(report->recommendation, sizeof report->recommendation, "%s",
             "Ask for ClientContext 1, QPC: the cycle counter cannot be used. A stamp costs 731 ns "
             "with 1 (QPC), 760 ns with 2 (system time).");
    *machine = (struct etwas_clocks_machine){"<img src=x>&amp;", "Linux 4.19.0 x86_64",
                                             "Virtual \"CPU\" <3>", "2026-03-14T15:09:26Z",
                                             ETWAS_SEQUENCES_USED};
}

static void make_numberless(etwas_clock_report *report, struct etwas_clocks_machine *machine)
{
    make_laptop(report, machine);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        etwas_clock_source_report *source = &report->sources[i];

        source->warm_ns.median = NAN;
        source->warm_ns.maximum = INFINITY;
        source->cold_ns.minimum = -3;
        source->tick_ns = NAN;
        source->resolution_ns = 1e300;
        source->against_raw.ppm = NAN;
        source->against_raw.interval_ppm = INFINITY;
        source->against_realtime.ppm = -1e300;
        for (uint32_t k = 0; k < source->offset_count; k++) {
            source->offsets[k].offset_ns = k % 2 == 0 ? NAN : -1e300;
            source->offsets[k].bound_ns = INFINITY;
        }
    }
    for (int i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
        report->conversions[i].after_day_ns = INFINITY;
        report->conversions[i].interval_ppm = NAN;
    }
    report->seconds = NAN;
}

bool etwas_clocks_make_up(const char *name, etwas_clock_report *report,
                          struct etwas_clocks_machine *machine)
{
    *report = (etwas_clock_report){0};
    *machine = (struct etwas_clocks_machine){0};
    if (strcmp(name, "laptop") == 0) {
        make_laptop(report, machine);
    } else if (strcmp(name, "guest") == 0) {
        make_guest(report, machine);
    } else if (strcmp(name, "single") == 0) {
        make_single(report, machine);
    } else if (strcmp(name, "pair") == 0) {
        make_pair(report, machine);
    } else if (strcmp(name, "server") == 0) {
        make_server(report, machine);
    } else if (strcmp(name, "numberless") == 0) {
        make_numberless(report, machine);
    } else if (strcmp(name, "nothing") != 0) {
        return false;
    }
    return true;
}
