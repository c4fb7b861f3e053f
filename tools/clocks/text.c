/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* `etwas clocks` as text and tables: first what to do and why, then the measurements. */

#include "print/text.h"
#include "clocks/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    INDENT = 2,
    LABEL = 17,
};

/* ---- What to do, and why ---- */

static void put_machine(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    const struct etwas_clocks_machine *machine = view->machine;
    const etwas_clock_report *report = view->report;
    const char *parts[] = {machine->host, machine->model, machine->system};
    char text[640];
    size_t used = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i][0] != '\0') {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s, ", parts[i]);
        }
    }
    snprintf(text + used, sizeof text - used,
             "%" PRIu32 " of %" PRIu32 " online processor%s examined, for %s, until %s.",
             report->processors, report->processors_online,
             report->processors_online == 1 ? "" : "s",
             etwas_clocks_duration(report->seconds * 1e9).text, machine->examined);
    etwas_clocks_print_paragraph(output, text, 0, 0);
}

static void put_sentences(struct etwas_output *output, const char *text)
{
    if (text[0] != '\0') {
        etwas_output_text(output, "  ");
        etwas_clocks_print_paragraph(output, text, INDENT, INDENT);
    }
}

static void put_label(struct etwas_output *output, const char *label)
{
    etwas_output_text(output, "  ");
    etwas_text_left(output, label, LABEL);
}

static void put_fact(struct etwas_output *output, const char *label, const char *text)
{
    put_label(output, label);
    etwas_clocks_print_paragraph(output, text, INDENT + LABEL, INDENT + LABEL);
}

static void put_frequency(struct etwas_output *output, const etwas_clock_trust *trust)
{
    char text[256];

    if (trust->frequency_hz == 0) {
        put_fact(output, "frequency", "could not be calibrated");
    } else {
        snprintf(text, sizeof text, "%s ± %s ppm, as calibrated",
                 etwas_clocks_hz((double)trust->frequency_hz).text,
                 etwas_clocks_ppm_interval(etwas_clocks_frequency_error_ppm(trust)).text);
        put_fact(output, "frequency", text);
    }
    if (trust->stated_hz == 0) {
        put_fact(output, "stated", "nowhere");
    } else {
        snprintf(
            text, sizeof text, "%s by %s%s%s%s", etwas_clocks_hz((double)trust->stated_hz).text,
            etwas_clocks_stated_by(trust->stated_by), trust->frequency_hz > 0 ? ", " : "",
            trust->frequency_hz > 0 ? etwas_clocks_ppm(etwas_clocks_stated_error_ppm(trust)).text
                                    : "",
            trust->frequency_hz > 0 ? " ppm against that" : "");
        put_fact(output, "stated", text);
    }
}

static void put_trust(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    const etwas_clock_trust *trust = &view->report->trust;
    char text[192];

    etwas_output_format(output, "\nThe cycle counter (TSC) is %s\n",
                        etwas_clocks_verdict(trust->verdict));
    put_sentences(output, view->report->verdict);
    put_frequency(output, trust);
    snprintf(text, sizeof text, "%s (offered: %s)",
             trust->clocksource[0] != '\0' ? trust->clocksource : "not known",
             trust->available_clocksources[0] != '\0' ? trust->available_clocksources
                                                      : "not known");
    put_fact(output, "kernel's source", text);
    put_fact(output, "sequences", etwas_sequences_text(view->machine->sequences));
    put_fact(output, "hypervisor", trust->hypervisor[0] != '\0' ? trust->hypervisor : "none");
}

static void put_reasons(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    if (view->report->recommendation[0] != '\0') {
        etwas_output_text(output, "\nWhy\n");
        put_sentences(output, view->report->recommendation);
    }
}

/* ---- What was measured ---- */

static void put_title(struct etwas_output *output, const char *title)
{
    etwas_output_char(output, '\n');
    etwas_clocks_print_paragraph(output, title, 0, 0);
}

static void put_cost(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock", "in a row", "mean", "min",      "p50",
                                         "p99",   "p99.9",    "max",  "cold p50", "cold p99"};
    double timer_step_ns = 0;
    struct etwas_table table;

    put_title(output, "Cost of one reading in ns, the loop's own subtracted. Cold: its code and "
                      "data out of the caches");
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];
        const etwas_clock_distribution *warm = &source->warm_ns;
        const etwas_clock_distribution *cold = &source->cold_ns;
        const double numbers[] = {source->back_to_back_ns,
                                  warm->mean,
                                  warm->minimum,
                                  warm->median,
                                  warm->p99,
                                  warm->p999,
                                  warm->maximum,
                                  cold->median,
                                  cold->p99};

        if (!etwas_clocks_shown(view, i)) {
            continue;
        }
        timer_step_ns = fmax(timer_step_ns, source->timer_step_ns);
        etwas_table_text(&table, etwas_clocks_name(view, i));
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            bool measured = k == 0 || (k < 7 ? warm->count : cold->count) > 0;

            etwas_table_text(&table, measured ? etwas_clocks_ns(numbers[k]).text : "-");
        }
    }
    etwas_table_print(&table, output);
    if (timer_step_ns > 0) {
        etwas_output_format(output,
                            "  single readings are timed in steps of %s: of cheap ones, in a row "
                            "and\n  mean say more\n",
                            etwas_clocks_duration(timer_step_ns).text);
    }
}

/* Adds the bin with most steps. The bin of equal readings is not a step. */
static void add_usual_step(struct etwas_table *table, const etwas_clock_histogram *steps)
{
    uint64_t all = 0;
    uint32_t usual = 0;

    for (uint32_t i = 0; i < steps->bins; i++) {
        if (steps->bin[i].from > 0) {
            all += steps->bin[i].count;
            usual = steps->bin[usual].from > 0 && steps->bin[usual].count >= steps->bin[i].count
                        ? usual
                        : i;
        }
    }
    if (all == 0) {
        etwas_table_text(table, "-");
        return;
    }
    etwas_table_format(table, "%s to %s (%s)", etwas_clocks_duration(steps->bin[usual].from).text,
                       etwas_clocks_duration(steps->bin[usual].to).text,
                       etwas_clocks_percent(steps->bin[usual].count, all).text);
}

static void put_resolution(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock",    "one tick", "smallest step",
                                         "moves by", "equal",    "most often"};
    struct etwas_table table;

    put_title(output, "Resolution: steps between readings one after the other");
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (etwas_clocks_shown(view, i)) {
            etwas_table_text(&table, etwas_clocks_name(view, i));
            etwas_table_text(&table, etwas_clocks_duration(source->tick_ns).text);
            etwas_table_text(&table, etwas_clocks_duration(source->resolution_ns).text);
            etwas_table_text(&table, etwas_clocks_duration(source->unit_ns).text);
            etwas_table_text(&table, etwas_clocks_percent(source->equal_pairs, source->pairs).text);
            add_usual_step(&table, &source->steps);
        }
    }
    etwas_table_print(&table, output);
}

static void put_monotony(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock",   "readings", "backward steps",
                                         "largest", "stalls",   "longest"};
    struct etwas_table table;

    put_title(output,
              "Monotony of readings in order, on threads that the kernel moved as it liked");
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];

        if (!etwas_clocks_shown(view, i)) {
            continue;
        }
        etwas_table_text(&table, etwas_clocks_name(view, i));
        etwas_table_count(&table, source->readings);
        etwas_table_count(&table, source->backward_steps);
        etwas_table_text(&table, source->backward_steps > 0
                                     ? etwas_clocks_duration(source->largest_backward_ns).text
                                     : "-");
        etwas_table_count(&table, source->stalls);
        etwas_table_text(&table, source->stalls > 0
                                     ? etwas_clocks_duration(source->longest_stall_ns).text
                                     : "-");
    }
    etwas_table_print(&table, output);
}

static void add_drift(struct etwas_table *table, const etwas_clock_drift *drift)
{
    if (!drift->known) {
        etwas_table_text(table, "-");
        return;
    }
    etwas_table_format(table, "%s ± %s", etwas_clocks_ppm(drift->ppm).text,
                       etwas_clocks_ppm_interval(drift->interval_ppm).text);
}

static void put_drift(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {"clock", "CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME",
                                         "readings", "over"};
    struct etwas_table table;

    put_title(output, "Drift in ppm with its interval of 95 %; a clock that is fast has more");
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *source = &view->report->sources[i];
        const etwas_clock_drift *drift =
            source->against_raw.known ? &source->against_raw : &source->against_realtime;

        if (!etwas_clocks_shown(view, i) || !drift->known) {
            continue;
        }
        etwas_table_text(&table, etwas_clocks_name(view, i));
        add_drift(&table, &source->against_raw);
        add_drift(&table, &source->against_realtime);
        etwas_table_count(&table, drift->points);
        etwas_table_text(&table, etwas_clocks_duration(drift->seconds * 1e9).text);
    }
    etwas_table_print(&table, output);
}

static void put_conversions(struct etwas_output *output, const etwas_clock_report *report)
{
    static const char *const titles[] = {"rate", "", "off by, ppm", "1 s", "1 min", "1 h", "25 h"};
    struct etwas_table table;

    put_title(
        output,
        "Conversion: how far stamps of the cycle counter are off after a time, by the rate used");
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (size_t i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
        const etwas_clock_conversion *conversion = &report->conversions[i];

        if (!etwas_clocks_conversion_known(conversion)) {
            continue;
        }
        etwas_table_text(&table, conversion->name);
        etwas_table_text(&table, etwas_clocks_hz(conversion->hz).text);
        etwas_table_format(&table, "%s ± %s", etwas_clocks_ppm(conversion->error_ppm).text,
                           etwas_clocks_ppm_interval(conversion->interval_ppm).text);
        etwas_table_text(&table, etwas_clocks_duration(conversion->after_second_ns).text);
        etwas_table_text(&table, etwas_clocks_duration(conversion->after_minute_ns).text);
        etwas_table_text(&table, etwas_clocks_duration(conversion->after_hour_ns).text);
        etwas_table_text(&table, etwas_clocks_duration(conversion->after_day_ns).text);
    }
    etwas_table_print(&table, output);
}

void etwas_clocks_text(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    char missing[512];

    etwas_clocks_text_answer(output, view);
    etwas_output_char(output, '\n');
    put_machine(output, view);
    put_reasons(output, view);
    put_trust(output, view);
    put_cost(output, view);
    if (etwas_clocks_missing(view, missing, sizeof missing)) {
        etwas_output_text(output, "  not available here: ");
        etwas_clocks_print_paragraph(output, missing, INDENT + 20, INDENT + 20);
    }
    put_resolution(output, view);
    etwas_clocks_text_order(output, view);
    put_monotony(output, view);
    put_drift(output, view);
    put_conversions(output, view->report);
}
