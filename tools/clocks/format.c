/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Formats the names and numbers of the clock report. */

#include "clocks/format.h"

#include "print/human.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

/* ---- Numbers ---- */

static struct etwas_clocks_word word(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct etwas_clocks_word word(const char *format, ...)
{
    struct etwas_clocks_word result;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(result.text, sizeof result.text, format, arguments);
    va_end(arguments);
    return result;
}

struct etwas_clocks_word etwas_clocks_count(uint64_t count)
{
    struct etwas_clocks_word result;

    (void)etwas_human_count(result.text, count);
    return result;
}

struct etwas_clocks_word etwas_clocks_duration(double ns)
{
    struct etwas_clocks_word result;

    (void)etwas_human_ns(result.text, ns);
    return result;
}

struct etwas_clocks_word etwas_clocks_ns(double ns)
{
    struct etwas_clocks_word result;
    double size = fabs(ns);

    if (!isfinite(ns)) {
        return word("-");
    }
    if (size >= 99999.5) {
        return etwas_clocks_duration(ns);
    }
    if (size >= 999.5) {
        struct etwas_clocks_word digits = etwas_clocks_count((uint64_t)(size + 0.5));

        return word("%s%.20s", ns < 0 ? "-" : "", digits.text);
    }
    (void)etwas_human_digits(result.text, ns);
    return result;
}

struct etwas_clocks_word etwas_clocks_percent(uint64_t part, uint64_t whole)
{
    double percent = whole > 0 ? 100 * (double)part / (double)whole : 0;

    if (whole == 0) {
        return word("-");
    }
    if (part == 0 || part >= whole) {
        return word(part == 0 ? "0 %%" : "100 %%");
    }
    if (percent < 0.01) {
        return word("<0.01 %%");
    }
    return percent > 99.99 ? word(">99.99 %%") : word("%.*f %%", percent < 9.995 ? 2 : 1, percent);
}

struct etwas_clocks_word etwas_clocks_ppm(double ppm)
{
    double size = fabs(ppm);

    if (!isfinite(ppm)) {
        return word("-");
    }
    if (size < 0.0005) {
        return word("0.000");
    }
    if (size >= 1e6) {
        return word("%+.1e", ppm);
    }
    return word("%+.*f", size < 9.9995 ? 3 : size < 999.95 ? 1 : 0, ppm);
}

struct etwas_clocks_word etwas_clocks_ppm_interval(double ppm)
{
    if (!isfinite(ppm)) {
        return word("-");
    }
    if (ppm > 0 && ppm < 0.001) {
        return word("<0.001");
    }
    if (ppm >= 1e6) {
        return word("%.1e", ppm);
    }
    return word("%.*f", ppm < 9.9995 ? 3 : ppm < 999.95 ? 1 : 0, ppm);
}

struct etwas_clocks_word etwas_clocks_hz(double hz)
{
    struct etwas_clocks_word digits;

    if (!(hz >= 0 && hz < 1e18)) {
        return word("-");
    }
    digits = etwas_clocks_count((uint64_t)(hz + 0.5));
    return word("%.30s Hz", digits.text);
}

/* ---- Sources ---- */

static const struct {
    const char *id;
    const char *in_c; /* its name in C, if that is different */
} sources[ETWAS_CLOCK_SOURCES] = {
    [ETWAS_CLOCK_SOURCE_QPC] = {"qpc", "QueryPerformanceCounter"},
    [ETWAS_CLOCK_SOURCE_SYSTEM_TIME] = {"system", "system-time"},
    [ETWAS_CLOCK_SOURCE_TSC] = {"tsc", "rdtsc"},
    [ETWAS_CLOCK_SOURCE_RDTSCP] = {"rdtscp", NULL},
    [ETWAS_CLOCK_SOURCE_LFENCE_RDTSC] = {"lfence+rdtsc", "isb+cntvct_el0"},
    [ETWAS_CLOCK_SOURCE_MONOTONIC] = {"monotonic", "CLOCK_MONOTONIC"},
    [ETWAS_CLOCK_SOURCE_MONOTONIC_RAW] = {"monotonic-raw", "CLOCK_MONOTONIC_RAW"},
    [ETWAS_CLOCK_SOURCE_MONOTONIC_COARSE] = {"monotonic-coarse", "CLOCK_MONOTONIC_COARSE"},
    [ETWAS_CLOCK_SOURCE_REALTIME] = {"realtime", "CLOCK_REALTIME"},
    [ETWAS_CLOCK_SOURCE_REALTIME_COARSE] = {"realtime-coarse", "CLOCK_REALTIME_COARSE"},
    [ETWAS_CLOCK_SOURCE_BOOTTIME] = {"boottime", "CLOCK_BOOTTIME"},
    [ETWAS_CLOCK_SOURCE_TAI] = {"tai", "CLOCK_TAI"},
    [ETWAS_CLOCK_SOURCE_THREAD_CPUTIME] = {"thread-cputime", "CLOCK_THREAD_CPUTIME_ID"},
};

const char *etwas_clocks_id(uint32_t source)
{
    return sources[source].id;
}

static bool same(const char *name, const char *text)
{
    return name != NULL && strcasecmp(name, text) == 0;
}

bool etwas_clocks_find(const char *text, uint32_t *source)
{
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (same(sources[i].id, text) || same(sources[i].in_c, text)) {
            *source = i;
            return true;
        }
    }
    return false;
}

const char *etwas_clocks_recommended(const etwas_clock_report *report)
{
    uint32_t source = report->recommended_clock - 1;

    return etwas_clocks_of_session(source) ? sources[source].id : NULL;
}

const char *etwas_clocks_name(const struct etwas_clocks_view *view, uint32_t source)
{
    const char *name = view->report->sources[source].name;

    return name != NULL ? name : sources[source].id;
}

bool etwas_clocks_shown(const struct etwas_clocks_view *view, uint32_t source)
{
    return (view->chosen >> source & 1) != 0 && view->report->sources[source].available;
}

bool etwas_clocks_of_session(uint32_t source)
{
    return source <= ETWAS_CLOCK_SOURCE_TSC;
}

double etwas_clocks_hour_ns(const etwas_clock_source_report *source)
{
    const etwas_clock_drift *drift = &source->against_raw;
    const double ns_a_ppm = 3.6e6;

    return drift->known ? (fabs(drift->ppm) + drift->interval_ppm) * ns_a_ppm : (double)NAN;
}

bool etwas_clocks_missing(const struct etwas_clocks_view *view, char *text, size_t bytes)
{
    size_t used = 0;

    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES && used < bytes; i++) {
        if ((view->chosen >> i & 1) != 0 && !view->report->sources[i].available) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                                     etwas_clocks_name(view, i));
        }
    }
    return used > 0;
}

/* ---- Trust ---- */

const char *etwas_clocks_verdict(uint32_t verdict)
{
    switch (verdict) {
    case ETWAS_CLOCK_VERDICT_TRUSTED:
        return "trusted";
    case ETWAS_CLOCK_VERDICT_DOUBTFUL:
        return "doubtful";
    default:
        return "unusable";
    }
}

const char *etwas_clocks_stated_by(uint32_t stated_by)
{
    switch (stated_by) {
    case ETWAS_CLOCK_STATED_CPUID_15H:
        return "CPUID leaf 15h";
    case ETWAS_CLOCK_STATED_CPUID_16H:
        return "CPUID leaf 16h";
    case ETWAS_CLOCK_STATED_HYPERVISOR:
        return "the hypervisor";
    case ETWAS_CLOCK_STATED_CNTFRQ:
        return "CNTFRQ_EL0";
    default:
        return "";
    }
}

bool etwas_clocks_reason_against(uint32_t reason)
{
    return reason >= ETWAS_CLOCK_REASON_HYPERVISOR;
}

double etwas_clocks_frequency_error_ppm(const etwas_clock_trust *trust)
{
    return (double)trust->frequency_error_ppb / 1e3;
}

double etwas_clocks_stated_error_ppm(const etwas_clock_trust *trust)
{
    if (trust->frequency_hz == 0) {
        return NAN;
    }
    return ((double)trust->stated_hz / (double)trust->frequency_hz - 1) * 1e6;
}

bool etwas_clocks_conversion_known(const etwas_clock_conversion *conversion)
{
    return conversion->name != NULL && conversion->hz > 0;
}

/* ---- Pairs of processors ---- */

bool etwas_clocks_apart(const etwas_clock_offset *offset)
{
    return fabs(offset->offset_ns) > offset->bound_ns;
}

struct etwas_clocks_order etwas_clocks_order_of(const etwas_clock_source_report *source)
{
    struct etwas_clocks_order order = {0};

    for (uint32_t i = 0; i < source->offset_count; i++) {
        const etwas_clock_offset *pair = &source->offsets[i];

        order.largest_offset_ns = fmax(order.largest_offset_ns, fabs(pair->offset_ns));
        order.largest_bound_ns = fmax(order.largest_bound_ns, pair->bound_ns);
        order.worst_ns = fmax(order.worst_ns, pair->worst_ns);
        order.apart += etwas_clocks_apart(pair);
        order.handovers += pair->handovers;
        order.smaller += pair->smaller;
    }
    return order;
}

const etwas_clock_offset *etwas_clocks_pair(const etwas_clock_source_report *source,
                                            uint32_t processor, uint32_t other)
{
    for (uint32_t i = 0; i < source->offset_count; i++) {
        const etwas_clock_offset *pair = &source->offsets[i];

        if ((pair->processor == processor && pair->other == other) ||
            (pair->processor == other && pair->other == processor)) {
            return pair;
        }
    }
    return NULL;
}

static double smaller_share(const etwas_clock_offset *pair)
{
    return pair->handovers > 0 ? (double)pair->smaller / (double)pair->handovers : 0;
}

static bool worse(const etwas_clock_offset *one, const etwas_clock_offset *other)
{
    double difference = smaller_share(one) - smaller_share(other);

    if (difference > 0 || difference < 0) {
        return difference > 0;
    }
    return fabs(one->offset_ns) - one->bound_ns > fabs(other->offset_ns) - other->bound_ns;
}

uint32_t etwas_clocks_worst_pairs(const etwas_clock_source_report *source,
                                  const etwas_clock_offset **worst, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < source->offset_count; i++) {
        const etwas_clock_offset *pair = &source->offsets[i];
        uint32_t place = count < most ? count++ : most;

        while (place > 0 && worse(pair, worst[place - 1])) {
            if (place < most) {
                worst[place] = worst[place - 1];
            }
            place--;
        }
        if (place < most) {
            worst[place] = pair;
        }
    }
    return count;
}
