/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas clocks --compare`: both answers, the reasons against one counter only, and a row for each
 * clock.
 */

#include "clocks/compare.h"
#include "clocks/table.h"
#include "print/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool is_in_either(const struct etwas_clocks_side *a, const struct etwas_clocks_side *b,
                         uint32_t source)
{
    return a->report.sources[source].available || b->report.sources[source].available;
}

/* Returns the cost in B relative to A; NAN if one of them is not known. */
static double cost_ratio(const struct etwas_clocks_side *a, const struct etwas_clocks_side *b,
                         uint32_t source)
{
    const etwas_clock_source_report *first = &a->report.sources[source];
    const etwas_clock_source_report *second = &b->report.sources[source];

    return first->available && second->available && first->back_to_back_ns > 0
               ? second->back_to_back_ns / first->back_to_back_ns
               : (double)NAN;
}

/* ---- The answers ---- */

static void put_side(struct etwas_output *output, const char *letter,
                     const struct etwas_clocks_side *side)
{
    const etwas_clock_report *report = &side->report;
    uint32_t source = report->recommended_clock - 1;
    const struct etwas_clocks_machine *machine = &side->machine;
    char text[640];
    char cost[64] = "";

    if (report->sources[source].available) {
        snprintf(cost, sizeof cost, ", %s a stamp",
                 etwas_clocks_duration(report->sources[source].back_to_back_ns).text);
    }
    snprintf(text, sizeof text, "use %s%s; the cycle counter is %s.", etwas_clocks_id(source), cost,
             etwas_clocks_verdict(report->trust.verdict));
    etwas_output_format(output, "%s  ", letter);
    etwas_clocks_print_paragraph(output, text, 3, 3);
    snprintf(text, sizeof text, "%s, %s, %s, %" PRIu32 " processor%s examined, %s",
             machine->host[0] != '\0' ? machine->host : "a machine without a name",
             machine->model[0] != '\0' ? machine->model : "unknown processors",
             machine->system[0] != '\0' ? machine->system : "unknown system", report->processors,
             report->processors == 1 ? "" : "s", machine->examined);
    etwas_output_text(output, "   ");
    etwas_clocks_print_paragraph(output, text, 3, 3);
}

static void put_reasons(struct etwas_output *output, const char *letter, uint32_t reasons)
{
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        if ((reasons & bit) != 0) {
            etwas_output_format(output, "  only %s: ", letter);
            etwas_clocks_print_paragraph(output, etwas_clock_reason_text(bit), 10, 10);
        }
    }
}

static void put_trust(struct etwas_output *output, const struct etwas_clocks_side *a,
                      const struct etwas_clocks_side *b)
{
    uint32_t in_a = a->report.trust.reasons;
    uint32_t in_b = b->report.trust.reasons;
    uint64_t hz_a = a->report.trust.frequency_hz;
    uint64_t hz_b = b->report.trust.frequency_hz;

    etwas_output_format(output, "\nThe cycle counter ticks at %s in A, ",
                        hz_a > 0 ? etwas_clocks_hz((double)hz_a).text : "an unknown rate");
    etwas_output_format(output, "%s in B\n",
                        hz_b > 0 ? etwas_clocks_hz((double)hz_b).text : "an unknown rate");
    put_reasons(output, "A", in_a & ~in_b);
    put_reasons(output, "B", in_b & ~in_a);
    if (in_a == in_b) {
        etwas_output_text(output, "  the same speaks for and against it in both\n");
    }
}

/* ---- The clocks ---- */

static void add_ns(struct etwas_table *table, const etwas_clock_source_report *source, double ns)
{
    etwas_table_text(table, source->available ? etwas_clocks_ns(ns).text : "-");
}

static void put_costs(struct etwas_output *output, const struct etwas_clocks_side *a,
                      const struct etwas_clocks_side *b)
{
    static const char *const titles[] = {"clock",  "A",      "B",     "B / A",
                                         "cold A", "cold B", "p99 A", "p99 B"};
    const struct etwas_clocks_view view = {.report = &a->report};
    struct etwas_table table;

    etwas_output_text(output, "\nCost of one reading in ns: in a row; cold: the median with its "
                              "code and data\nout of the caches\n");
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        const etwas_clock_source_report *first = &a->report.sources[i];
        const etwas_clock_source_report *second = &b->report.sources[i];
        double ratio = cost_ratio(a, b, i);

        if (!is_in_either(a, b, i)) {
            continue;
        }
        etwas_table_text(&table, etwas_clocks_name(&view, i));
        add_ns(&table, first, first->back_to_back_ns);
        add_ns(&table, second, second->back_to_back_ns);
        if (isfinite(ratio)) {
            etwas_table_format(&table, ratio < 1000 ? "%.2f" : "%.0e", ratio);
        } else {
            etwas_table_text(&table, "-");
        }
        add_ns(&table, first, first->cold_ns.median);
        add_ns(&table, second, second->cold_ns.median);
        add_ns(&table, first, first->warm_ns.p99);
        add_ns(&table, second, second->warm_ns.p99);
    }
    etwas_table_print(&table, output);
}

/* Adds how far a stamp was behind an earlier one of another processor. */
static void add_order(struct etwas_table *table, const struct etwas_clocks_side *side,
                      uint32_t source)
{
    const struct etwas_clocks_order *order = &side->order[source];

    etwas_table_text(table, order->smaller > 0     ? etwas_clocks_duration(order->worst_ns).text
                            : order->handovers > 0 ? "0"
                                                   : "-");
}

static void add_step(struct etwas_table *table, const etwas_clock_source_report *source)
{
    etwas_table_text(table, source->available ? etwas_clocks_duration(source->unit_ns).text : "-");
}

static void add_drift(struct etwas_table *table, const etwas_clock_source_report *source)
{
    const etwas_clock_drift *drift = &source->against_raw;

    if (drift->known && isfinite(drift->ppm)) {
        etwas_table_format(table, "%s ± %s", etwas_clocks_ppm(drift->ppm).text,
                           etwas_clocks_ppm_interval(drift->interval_ppm).text);
    } else {
        etwas_table_text(table, "-");
    }
}

static void put_errors(struct etwas_output *output, const struct etwas_clocks_side *a,
                       const struct etwas_clocks_side *b)
{
    static const char *const titles[] = {"clock",   "order A", "order B", "moves A",
                                         "moves B", "drift A", "drift B"};
    const struct etwas_clocks_view view = {.report = &a->report};
    struct etwas_table table;

    etwas_output_text(output, "\nErrors: out of order across processors by; what the clock moves "
                              "by; drift against\nCLOCK_MONOTONIC_RAW in ppm\n");
    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, ETWAS_CLOCKS_NUMBERS);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (!is_in_either(a, b, i)) {
            continue;
        }
        etwas_table_text(&table, etwas_clocks_name(&view, i));
        add_order(&table, a, i);
        add_order(&table, b, i);
        add_step(&table, &a->report.sources[i]);
        add_step(&table, &b->report.sources[i]);
        add_drift(&table, &a->report.sources[i]);
        add_drift(&table, &b->report.sources[i]);
    }
    etwas_table_print(&table, output);
}

void etwas_clocks_compare_text(struct etwas_output *output, const struct etwas_clocks_side *a,
                               const struct etwas_clocks_side *b)
{
    put_side(output, "A", a);
    put_side(output, "B", b);
    put_trust(output, a, b);
    put_costs(output, a, b);
    put_errors(output, a, b);
}

/* ---- JSON ---- */

static void put_real(struct etwas_output *output, const char *key, double value)
{
    if (isfinite(value)) {
        etwas_json_format(output, key, "%.15g", value);
    } else {
        etwas_json_null(output, key);
    }
}

static void put_side_json(struct etwas_output *output, const char *key,
                          const struct etwas_clocks_side *side)
{
    const struct etwas_clocks_machine *machine = &side->machine;

    etwas_json_object(output, key);
    etwas_json_text(output, "file", side->path);
    etwas_json_text(output, "examined", machine->examined);
    etwas_json_text(output, "host", machine->host[0] != '\0' ? machine->host : NULL);
    etwas_json_text(output, "system", machine->system[0] != '\0' ? machine->system : NULL);
    etwas_json_text(output, "cpu_model", machine->model[0] != '\0' ? machine->model : NULL);
    etwas_json_text(output, "recommended_clock", etwas_clocks_recommended(&side->report));
    etwas_json_text(output, "verdict", etwas_clocks_verdict(side->report.trust.verdict));
    etwas_json_number(output, "frequency_hz", side->report.trust.frequency_hz);
    etwas_output_char(output, '}');
}

static void put_clock_json(struct etwas_output *output, const char *key,
                           const struct etwas_clocks_side *side, uint32_t number)
{
    const etwas_clock_source_report *source = &side->report.sources[number];
    const struct etwas_clocks_order *order = &side->order[number];

    if (!source->available) {
        etwas_json_null(output, key);
        return;
    }
    etwas_json_object(output, key);
    put_real(output, "back_to_back", source->back_to_back_ns);
    put_real(output, "cold_p50", source->cold_ns.median);
    put_real(output, "warm_p99", source->warm_ns.p99);
    put_real(output, "unit", source->unit_ns);
    etwas_json_number(output, "handovers", order->handovers);
    etwas_json_number(output, "smaller", order->smaller);
    put_real(output, "worst", order->worst_ns);
    etwas_json_number(output, "backward_steps", source->backward_steps);
    put_real(output, "ppm", source->against_raw.known ? source->against_raw.ppm : (double)NAN);
    put_real(output, "interval_ppm",
             source->against_raw.known ? source->against_raw.interval_ppm : (double)NAN);
    etwas_output_char(output, '}');
}

static void put_reasons_json(struct etwas_output *output, const char *key, uint32_t reasons)
{
    etwas_json_array(output, key);
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        if ((reasons & bit) != 0) {
            etwas_json_text(output, NULL, etwas_clock_reason_text(bit));
        }
    }
    etwas_output_char(output, ']');
}

void etwas_clocks_compare_json(struct etwas_output *output, const struct etwas_clocks_side *a,
                               const struct etwas_clocks_side *b)
{
    uint32_t in_a = a->report.trust.reasons;
    uint32_t in_b = b->report.trust.reasons;

    etwas_json_begin(output, "clocks_comparison");
    put_side_json(output, "a", a);
    put_side_json(output, "b", b);
    put_reasons_json(output, "reasons_only_a", in_a & ~in_b);
    put_reasons_json(output, "reasons_only_b", in_b & ~in_a);
    etwas_json_array(output, "clocks");
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (is_in_either(a, b, i)) {
            etwas_json_object(output, NULL);
            etwas_json_text(output, "clock", etwas_clocks_id(i));
            put_clock_json(output, "a", a, i);
            put_clock_json(output, "b", b, i);
            put_real(output, "cost_ratio", cost_ratio(a, b, i));
            etwas_output_char(output, '}');
        }
    }
    etwas_output_text(output, "]}\n");
}
