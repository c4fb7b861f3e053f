/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas clocks --json`: writes everything in the report. docs/reference/json.md explains its keys.
 */

#include "print/json.h"
#include "clocks/format.h"

#include <math.h>

/* Writes null if the text is empty. */
static void put_optional(struct etwas_output *output, const char *key, const char *text)
{
    etwas_json_text(output, key, text[0] != '\0' ? text : NULL);
}

/* JSON cannot represent a number that is not finite. */
static void put_real(struct etwas_output *output, const char *key, double value)
{
    if (isfinite(value)) {
        etwas_json_format(output, key, "%.15g", value);
    } else {
        etwas_json_null(output, key);
    }
}

/* ---- Trust ---- */

static void put_reasons(struct etwas_output *output, uint32_t reasons)
{
    etwas_json_array(output, "reasons");
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        if ((reasons & bit) != 0) {
            etwas_json_object(output, NULL);
            etwas_json_number(output, "bit", bit);
            etwas_json_boolean(output, "against", etwas_clocks_reason_against(bit));
            etwas_json_text(output, "text", etwas_clock_reason_text(bit));
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

static void put_trust(struct etwas_output *output, const etwas_clock_report *report)
{
    const etwas_clock_trust *trust = &report->trust;

    etwas_json_text(output, "recommended_clock", etwas_clocks_recommended(report));
    etwas_json_text(output, "recommendation", report->recommendation);
    etwas_json_text(output, "verdict", etwas_clocks_verdict(trust->verdict));
    etwas_json_text(output, "verdict_text", report->verdict);
    put_reasons(output, trust->reasons);
    etwas_json_number(output, "frequency_hz", trust->frequency_hz);
    etwas_json_number(output, "frequency_error_ppb", trust->frequency_error_ppb);
    etwas_json_number(output, "stated_hz", trust->stated_hz);
    put_optional(output, "stated_by", etwas_clocks_stated_by(trust->stated_by));
    put_optional(output, "clocksource", trust->clocksource);
    put_optional(output, "available_clocksources", trust->available_clocksources);
    put_optional(output, "hypervisor", trust->hypervisor);
}

/* ---- One clock ---- */

static void put_distribution(struct etwas_output *output, const char *key,
                             const etwas_clock_distribution *distribution)
{
    if (distribution->count == 0) {
        etwas_json_null(output, key);
        return;
    }
    etwas_json_object(output, key);
    etwas_json_number(output, "count", distribution->count);
    put_real(output, "min", distribution->minimum);
    put_real(output, "p50", distribution->median);
    put_real(output, "mean", distribution->mean);
    put_real(output, "p90", distribution->p90);
    put_real(output, "p99", distribution->p99);
    put_real(output, "p99_9", distribution->p999);
    put_real(output, "max", distribution->maximum);
    etwas_output_char(output, '}');
}

static void put_histogram(struct etwas_output *output, const char *key,
                          const etwas_clock_histogram *histogram)
{
    etwas_json_array(output, key);
    for (uint32_t i = 0; i < histogram->bins; i++) {
        etwas_json_object(output, NULL);
        put_real(output, "least", histogram->bin[i].from);
        put_real(output, "most", histogram->bin[i].to);
        etwas_json_number(output, "count", histogram->bin[i].count);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
}

static void put_drift(struct etwas_output *output, const char *key, const etwas_clock_drift *drift)
{
    if (!drift->known) {
        etwas_json_null(output, key);
        return;
    }
    etwas_json_object(output, key);
    put_real(output, "ppm", drift->ppm);
    put_real(output, "interval_ppm", drift->interval_ppm);
    etwas_json_number(output, "points", drift->points);
    put_real(output, "duration", drift->seconds * 1e9);
    etwas_output_char(output, '}');
}

static void put_offsets(struct etwas_output *output, const etwas_clock_source_report *source)
{
    etwas_json_array(output, "differences");
    for (uint32_t i = 0; i < source->offset_count; i++) {
        const etwas_clock_offset *pair = &source->offsets[i];

        etwas_json_object(output, NULL);
        etwas_json_number(output, "cpu", pair->processor);
        etwas_json_number(output, "other_cpu", pair->other);
        put_real(output, "difference", pair->offset_ns);
        put_real(output, "bound", pair->bound_ns);
        etwas_json_number(output, "rounds", pair->rounds);
        etwas_json_number(output, "handovers", pair->handovers);
        etwas_json_number(output, "smaller", pair->smaller);
        put_real(output, "worst", pair->worst_ns);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
}

static void put_source(struct etwas_output *output, const struct etwas_clocks_view *view,
                       uint32_t number)
{
    const etwas_clock_source_report *source = &view->report->sources[number];

    etwas_json_object(output, NULL);
    etwas_json_text(output, "clock", etwas_clocks_id(number));
    etwas_json_text(output, "name", etwas_clocks_name(view, number));
    etwas_json_boolean(output, "available", source->available);
    if (source->available) {
        put_real(output, "tick", source->tick_ns);
        etwas_json_boolean(output, "follows_thread", source->follows_thread);
        put_distribution(output, "warm", &source->warm_ns);
        put_distribution(output, "cold", &source->cold_ns);
        put_histogram(output, "warm_histogram", &source->warm);
        put_real(output, "loop", source->loop_ns);
        put_real(output, "timer_step", source->timer_step_ns);
        put_real(output, "back_to_back", source->back_to_back_ns);
        put_real(output, "resolution", source->resolution_ns);
        put_real(output, "unit", source->unit_ns);
        etwas_json_number(output, "pairs", source->pairs);
        etwas_json_number(output, "equal_pairs", source->equal_pairs);
        put_histogram(output, "steps", &source->steps);
        etwas_json_number(output, "readings", source->readings);
        etwas_json_number(output, "backward_steps", source->backward_steps);
        put_real(output, "largest_backward", source->largest_backward_ns);
        etwas_json_number(output, "stalls", source->stalls);
        put_real(output, "longest_stall", source->longest_stall_ns);
        etwas_json_number(output, "unordered_readings", source->unordered_readings);
        etwas_json_number(output, "unordered_backward_steps", source->unordered_backward_steps);
        put_real(output, "largest_unordered_backward", source->largest_unordered_backward_ns);
        put_drift(output, "against_raw", &source->against_raw);
        put_drift(output, "against_realtime", &source->against_realtime);
        etwas_json_number(output, "differences_left_out", source->offsets_left_out);
        put_offsets(output, source);
    }
    etwas_output_char(output, '}');
}

static void put_conversions(struct etwas_output *output, const etwas_clock_report *report)
{
    etwas_json_array(output, "conversions");
    for (size_t i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
        const etwas_clock_conversion *conversion = &report->conversions[i];

        if (etwas_clocks_conversion_known(conversion)) {
            etwas_json_object(output, NULL);
            etwas_json_text(output, "name", conversion->name);
            put_real(output, "hz", conversion->hz);
            put_real(output, "error_ppm", conversion->error_ppm);
            put_real(output, "interval_ppm", conversion->interval_ppm);
            put_real(output, "after_second", conversion->after_second_ns);
            put_real(output, "after_minute", conversion->after_minute_ns);
            put_real(output, "after_hour", conversion->after_hour_ns);
            put_real(output, "after_day", conversion->after_day_ns);
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

void etwas_clocks_json(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    const etwas_clock_report *report = view->report;
    const struct etwas_clocks_machine *machine = view->machine;

    etwas_json_begin(output, "clocks");
    etwas_json_text(output, "examined", machine->examined);
    put_optional(output, "host", machine->host);
    put_optional(output, "system", machine->system);
    put_optional(output, "cpu_model", machine->model);
    put_real(output, "duration", report->seconds * 1e9);
    etwas_json_array(output, "cpus");
    for (uint32_t i = 0; i < report->processors; i++) {
        etwas_json_number(output, NULL, report->processor_numbers[i]);
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "cpus_allowed", report->processors_allowed);
    etwas_json_number(output, "cpus_configured", report->processors_configured);
    etwas_json_number(output, "cpus_online", report->processors_online);
    etwas_json_boolean(output, "all_pairs", report->all_pairs);
    put_trust(output, report);
    etwas_json_text(output, "sequences", etwas_sequences_text(machine->sequences));
    etwas_json_array(output, "clocks");
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if ((view->chosen >> i & 1) != 0) {
            put_source(output, view, i);
        }
    }
    etwas_output_char(output, ']');
    put_conversions(output, report);
    etwas_output_text(output, "}\n");
}
