/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clocks of a file as JSON. The keys are part of the command's interface.
 */

#include "stat/clock.h"

#include "event/names.h"
#include "print/json.h"
#include "print/text.h"

#include <inttypes.h>

/* null: not known */
static void put_error(struct etwas_output *output, const char *key, uint64_t error_ns)
{
    if (error_ns == UINT64_MAX) {
        etwas_output_format(output, ",\"%s\":null", key);
    } else {
        etwas_json_number(output, key, error_ns);
    }
}

static void put_reasons(struct etwas_output *output, uint32_t reasons)
{
    const char *before = "";

    etwas_output_text(output, ",\"reasons\":[");
    for (uint32_t bit = 0; bit < 32; bit++) {
        uint32_t reason = reasons & UINT32_C(1) << bit;

        if (reason != 0) {
            etwas_output_format(output, "%s{\"bit\":%" PRIu32 ",\"text\":\"", before, reason);
            etwas_text_utf8(output, ETWAS_TEXT_JSON, etwas_clock_reason_text(reason),
                            strlen(etwas_clock_reason_text(reason)));
            etwas_output_text(output, "\"}");
            before = ",";
        }
    }
    etwas_output_char(output, ']');
}

static void put_counter(struct etwas_output *output, const etwas_trace_clock *clock)
{
    if (!clock->noted) {
        etwas_output_text(output, "\"requested\":null,\"counter\":null");
        return;
    }
    etwas_output_format(output, "\"requested\":\"%s\",\"counter\":{\"verdict\":",
                        etwas_names_clock(clock->requested_clock));
    if (clock->examined) {
        etwas_output_format(output, "\"%s\"", etwas_names_verdict(clock->verdict));
    } else {
        etwas_output_text(output, "null");
    }
    etwas_output_format(output, ",\"measured\":%s", clock->measured ? "true" : "false");
    put_reasons(output, clock->reasons);
    etwas_json_number(output, "frequency_hz", clock->frequency_hz);
    etwas_json_number(output, "frequency_error_ppb", clock->frequency_error_ppb);
    etwas_json_number(output, "stated_hz", clock->stated_hz);
    etwas_json_text(output, "stated_by", etwas_names_stated_by(clock->stated_by));
    etwas_json_text(output, "clocksource", clock->clocksource);
    etwas_json_text(output, "hypervisor", clock->hypervisor);
    etwas_output_char(output, '}');
}

static void put_drift(struct etwas_output *output, const char *key, const etwas_clock_drift *drift)
{
    if (!drift->known) {
        etwas_output_format(output, ",\"%s\":null", key);
        return;
    }
    etwas_output_format(output,
                        ",\"%s\":{\"ppm\":%.6f,\"interval_ppm\":%.6f,\"points\":%" PRIu32
                        ",\"seconds\":%.9f}",
                        key, drift->ppm, drift->interval_ppm, drift->points, drift->seconds);
}

static void put_step(struct etwas_output *output, const etwas_clock_step *step)
{
    etwas_output_text(output, "{\"before\":\"");
    etwas_text_time(output, step->before);
    etwas_output_text(output, "\",\"after\":\"");
    etwas_text_time(output, step->after);
    etwas_output_format(output, "\",\"step_ns\":%" PRId64 "}", step->step_ns);
}

static void put_steps(struct etwas_output *output, const etwas_trace_clock *clock)
{
    etwas_json_number(output, "steps", clock->steps);
    etwas_output_format(output, ",\"steps_ns\":%" PRId64 ",\"first_steps\":[", clock->steps_ns);
    for (uint64_t i = 0; i < clock->steps && i < ETWAS_TRACE_CLOCK_STEPS; i++) {
        etwas_output_text(output, i > 0 ? "," : "");
        put_step(output, &clock->step[i]);
    }
    etwas_output_text(output, "],\"largest_step\":");
    if (clock->steps > 0) {
        put_step(output, &clock->largest_step);
    } else {
        etwas_output_text(output, "null");
    }
}

void etwas_stat_clock_json(struct etwas_output *output, const etwas_trace_clock *clock)
{
    etwas_output_char(output, '{');
    put_counter(output, clock);
    etwas_json_number(output, "knots", clock->knots);
    etwas_json_number(output, "knots_unusable", clock->knots_unusable);
    etwas_output_format(output, ",\"seconds\":%.9f", clock->seconds);
    put_error(output, "qpc_error_ns", clock->qpc_error_ns);
    put_error(output, "system_error_ns", clock->system_error_ns);
    put_drift(output, "system_against_qpc", &clock->system_against_qpc);
    put_drift(output, "tsc_against_calibrated", &clock->tsc_against_calibrated);
    put_drift(output, "tsc_against_stated", &clock->tsc_against_stated);
    put_steps(output, clock);
    etwas_json_number(output, "suspends", clock->suspends);
    etwas_json_number(output, "suspended_ns", clock->suspended_ns);
    etwas_output_char(output, '}');
}
