/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas clocks --json`: everything in the report, its keys documented in the help.
 */

#include "clocks/format.h"
#include "print/text.h"

#include <inttypes.h>
#include <math.h>

/* `before` is what separates the key from what is there: "," or "{". */
static void put_key(struct etwas_output *output, const char *before, const char *key)
{
    etwas_output_format(output, "%s\"%s\":", before, key);
}

static void put_string(struct etwas_output *output, const char *before, const char *key,
                       const char *text)
{
    put_key(output, before, key);
    etwas_output_char(output, '"');
    etwas_text_utf8(output, ETWAS_TEXT_JSON, text, strlen(text));
    etwas_output_char(output, '"');
}

/* null where it is not known. */
static void put_optional(struct etwas_output *output, const char *key, const char *text)
{
    if (text[0] != '\0') {
        put_string(output, ",", key, text);
    } else {
        put_key(output, ",", key);
        etwas_output_text(output, "null");
    }
}

static void put_unsigned(struct etwas_output *output, const char *before, const char *key,
                         uint64_t value)
{
    put_key(output, before, key);
    etwas_output_unsigned(output, value);
}

static void put_bool(struct etwas_output *output, const char *key, bool value)
{
    put_key(output, ",", key);
    etwas_output_text(output, value ? "true" : "false");
}

/* JSON has no word for a number that is not finite. */
static void put_real(struct etwas_output *output, const char *before, const char *key, double value)
{
    put_key(output, before, key);
    if (isfinite(value)) {
        etwas_output_format(output, "%.15g", value);
    } else {
        etwas_output_text(output, "null");
    }
}

/* ---- Trust ---- */

static void put_reasons(struct etwas_output *output, uint32_t reasons)
{
    const char *before = "{";

    put_key(output, ",", "reasons");
    etwas_output_char(output, '[');
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        if ((reasons & bit) != 0) {
            put_unsigned(output, before, "bit", bit);
            put_bool(output, "against", etwas_clocks_reason_against(bit));
            put_string(output, ",", "text", etwas_clock_reason_text(bit));
            etwas_output_char(output, '}');
            before = ",{";
        }
    }
    etwas_output_char(output, ']');
}

static void put_trust(struct etwas_output *output, const etwas_clock_report *report)
{
    const etwas_clock_trust *trust = &report->trust;

    put_unsigned(output, ",", "recommended_clock", report->recommended_clock);
    put_string(output, ",", "recommendation", report->recommendation);
    put_string(output, ",", "verdict", etwas_clocks_verdict(trust->verdict));
    put_string(output, ",", "verdict_text", report->verdict);
    put_reasons(output, trust->reasons);
    put_unsigned(output, ",", "frequency_hz", trust->frequency_hz);
    put_unsigned(output, ",", "frequency_error_ppb", trust->frequency_error_ppb);
    put_unsigned(output, ",", "stated_hz", trust->stated_hz);
    put_optional(output, "stated_by", etwas_clocks_stated_by(trust->stated_by));
    put_optional(output, "clocksource", trust->clocksource);
    put_optional(output, "available_clocksources", trust->available_clocksources);
    put_optional(output, "hypervisor", trust->hypervisor);
}

/* ---- One clock ---- */

static void put_distribution(struct etwas_output *output, const char *key,
                             const etwas_clock_distribution *distribution)
{
    put_key(output, ",", key);
    if (distribution->count == 0) {
        etwas_output_text(output, "null");
        return;
    }
    put_unsigned(output, "{", "count", distribution->count);
    put_real(output, ",", "minimum", distribution->minimum);
    put_real(output, ",", "median", distribution->median);
    put_real(output, ",", "mean", distribution->mean);
    put_real(output, ",", "p90", distribution->p90);
    put_real(output, ",", "p99", distribution->p99);
    put_real(output, ",", "p999", distribution->p999);
    put_real(output, ",", "maximum", distribution->maximum);
    etwas_output_char(output, '}');
}

static void put_histogram(struct etwas_output *output, const char *key,
                          const etwas_clock_histogram *histogram)
{
    put_key(output, ",", key);
    etwas_output_char(output, '[');
    for (uint32_t i = 0; i < histogram->bins; i++) {
        put_real(output, i > 0 ? ",{" : "{", "from", histogram->bin[i].from);
        put_real(output, ",", "to", histogram->bin[i].to);
        put_unsigned(output, ",", "count", histogram->bin[i].count);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
}

static void put_drift(struct etwas_output *output, const char *key, const etwas_clock_drift *drift)
{
    put_key(output, ",", key);
    if (!drift->known) {
        etwas_output_text(output, "null");
        return;
    }
    put_real(output, "{", "ppm", drift->ppm);
    put_real(output, ",", "interval_ppm", drift->interval_ppm);
    put_unsigned(output, ",", "points", drift->points);
    put_real(output, ",", "seconds", drift->seconds);
    etwas_output_char(output, '}');
}

static void put_offsets(struct etwas_output *output, const etwas_clock_source_report *source)
{
    put_key(output, ",", "offsets");
    etwas_output_char(output, '[');
    for (uint32_t i = 0; i < source->offset_count; i++) {
        const etwas_clock_offset *pair = &source->offsets[i];

        put_unsigned(output, i > 0 ? ",{" : "{", "processor", pair->processor);
        put_unsigned(output, ",", "other", pair->other);
        put_real(output, ",", "offset_ns", pair->offset_ns);
        put_real(output, ",", "bound_ns", pair->bound_ns);
        put_unsigned(output, ",", "rounds", pair->rounds);
        put_unsigned(output, ",", "handovers", pair->handovers);
        put_unsigned(output, ",", "smaller", pair->smaller);
        put_real(output, ",", "worst_ns", pair->worst_ns);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
}

static void put_source(struct etwas_output *output, const struct etwas_clocks_view *view,
                       uint32_t number)
{
    const etwas_clock_source_report *source = &view->report->sources[number];

    put_string(output, "{", "clock", etwas_clocks_id(number));
    put_string(output, ",", "name", etwas_clocks_name(view, number));
    put_bool(output, "available", source->available);
    if (source->available) {
        put_real(output, ",", "tick_ns", source->tick_ns);
        put_bool(output, "follows_thread", source->follows_thread);
        put_distribution(output, "warm", &source->warm_ns);
        put_distribution(output, "cold", &source->cold_ns);
        put_histogram(output, "warm_histogram", &source->warm);
        put_real(output, ",", "loop_ns", source->loop_ns);
        put_real(output, ",", "timer_step_ns", source->timer_step_ns);
        put_real(output, ",", "back_to_back_ns", source->back_to_back_ns);
        put_real(output, ",", "resolution_ns", source->resolution_ns);
        put_real(output, ",", "unit_ns", source->unit_ns);
        put_unsigned(output, ",", "pairs", source->pairs);
        put_unsigned(output, ",", "equal_pairs", source->equal_pairs);
        put_histogram(output, "steps", &source->steps);
        put_unsigned(output, ",", "readings", source->readings);
        put_unsigned(output, ",", "backward_steps", source->backward_steps);
        put_real(output, ",", "largest_backward_ns", source->largest_backward_ns);
        put_unsigned(output, ",", "stalls", source->stalls);
        put_real(output, ",", "longest_stall_ns", source->longest_stall_ns);
        put_unsigned(output, ",", "unordered_readings", source->unordered_readings);
        put_unsigned(output, ",", "unordered_backward_steps", source->unordered_backward_steps);
        put_real(output, ",", "largest_unordered_backward_ns",
                 source->largest_unordered_backward_ns);
        put_drift(output, "against_raw", &source->against_raw);
        put_drift(output, "against_realtime", &source->against_realtime);
        put_unsigned(output, ",", "offsets_left_out", source->offsets_left_out);
        put_offsets(output, source);
    }
    etwas_output_char(output, '}');
}

static void put_conversions(struct etwas_output *output, const etwas_clock_report *report)
{
    const char *before = "{";

    put_key(output, ",", "conversions");
    etwas_output_char(output, '[');
    for (size_t i = 0; i < ETWAS_CLOCK_CONVERSIONS; i++) {
        const etwas_clock_conversion *conversion = &report->conversions[i];

        if (etwas_clocks_conversion_known(conversion)) {
            put_string(output, before, "name", conversion->name);
            put_real(output, ",", "hz", conversion->hz);
            put_real(output, ",", "error_ppm", conversion->error_ppm);
            put_real(output, ",", "interval_ppm", conversion->interval_ppm);
            put_real(output, ",", "after_second_ns", conversion->after_second_ns);
            put_real(output, ",", "after_minute_ns", conversion->after_minute_ns);
            put_real(output, ",", "after_hour_ns", conversion->after_hour_ns);
            put_real(output, ",", "after_day_ns", conversion->after_day_ns);
            etwas_output_char(output, '}');
            before = ",{";
        }
    }
    etwas_output_char(output, ']');
}

void etwas_clocks_json(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    const etwas_clock_report *report = view->report;
    const struct etwas_clocks_machine *machine = view->machine;
    const char *before = "";

    put_string(output, "{", "examined", machine->examined);
    put_optional(output, "host", machine->host);
    put_optional(output, "system", machine->system);
    put_optional(output, "processor_model", machine->model);
    put_real(output, ",", "seconds", report->seconds);
    put_key(output, ",", "processors");
    for (uint32_t i = 0; i < report->processors; i++) {
        etwas_output_char(output, i > 0 ? ',' : '[');
        etwas_output_unsigned(output, report->processor_numbers[i]);
    }
    etwas_output_text(output, report->processors > 0 ? "]" : "[]");
    put_unsigned(output, ",", "processors_allowed", report->processors_allowed);
    put_unsigned(output, ",", "processors_configured", report->processors_configured);
    put_unsigned(output, ",", "processors_online", report->processors_online);
    put_bool(output, "all_pairs", report->all_pairs);
    put_trust(output, report);
    put_string(output, ",", "sequences", etwas_sequences_text(machine->sequences));
    put_key(output, ",", "clocks");
    etwas_output_char(output, '[');
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if ((view->chosen >> i & 1) != 0) {
            etwas_output_text(output, before);
            put_source(output, view, i);
            before = ",";
        }
    }
    etwas_output_char(output, ']');
    put_conversions(output, report);
    etwas_output_text(output, "}\n");
}
