/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clocks of a file as JSON. The keys are part of the command's interface.
 */

#include "show/clock.h"

#include "event/names.h"
#include "print/json.h"
#include "print/text.h"

static void put_reasons(struct etwas_output *output, uint32_t reasons)
{
    etwas_json_array(output, "reasons");
    for (uint32_t bit = 0; bit < 32; bit++) {
        uint32_t reason = reasons & UINT32_C(1) << bit;

        if (reason != 0) {
            etwas_json_object(output, NULL);
            etwas_json_number(output, "bit", reason);
            etwas_json_text(output, "text", etwas_clock_reason_text(reason));
            etwas_output_char(output, '}');
        }
    }
    etwas_output_char(output, ']');
}

static void put_counter(struct etwas_output *output, const etwas_trace_clock *clock)
{
    if (!clock->noted) {
        etwas_json_null(output, "requested");
        etwas_json_null(output, "counter");
        return;
    }
    etwas_json_text(output, "requested", etwas_names_clock(clock->requested_clock));
    etwas_json_object(output, "counter");
    etwas_json_text(output, "verdict",
                    clock->examined ? etwas_names_verdict(clock->verdict) : NULL);
    etwas_json_boolean(output, "measured", clock->measured);
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
        etwas_json_null(output, key);
        return;
    }
    etwas_json_object(output, key);
    etwas_json_format(output, "ppm", "%.6f", drift->ppm);
    etwas_json_format(output, "interval_ppm", "%.6f", drift->interval_ppm);
    etwas_json_number(output, "points", drift->points);
    etwas_json_format(output, "duration", "%.0f", drift->seconds * 1e9);
    etwas_output_char(output, '}');
}

static void put_step(struct etwas_output *output, const char *key, const etwas_clock_step *step)
{
    etwas_json_object(output, key);
    etwas_json_time(output, "before", step->before);
    etwas_json_time(output, "after", step->after);
    etwas_json_signed(output, "step", step->step_ns);
    etwas_output_char(output, '}');
}

static void put_steps(struct etwas_output *output, const etwas_trace_clock *clock)
{
    etwas_json_number(output, "steps", clock->steps);
    etwas_json_signed(output, "step_total", clock->steps_ns);
    etwas_json_array(output, "first_steps");
    for (uint64_t i = 0; i < clock->steps && i < ETWAS_TRACE_CLOCK_STEPS; i++) {
        put_step(output, NULL, &clock->step[i]);
    }
    etwas_output_char(output, ']');
    if (clock->steps > 0) {
        put_step(output, "largest_step", &clock->largest_step);
    } else {
        etwas_json_null(output, "largest_step");
    }
}

void etwas_show_clock_json(struct etwas_output *output, const etwas_trace_clock *clock)
{
    etwas_json_object(output, "clocks");
    put_counter(output, clock);
    etwas_json_number(output, "clock_snapshots", clock->clock_snapshots);
    etwas_json_number(output, "clock_snapshots_unusable", clock->clock_snapshots_unusable);
    etwas_json_format(output, "duration", "%.0f", clock->seconds * 1e9);
    etwas_json_error(output, "qpc_error", clock->qpc_error_ns);
    etwas_json_error(output, "system_error", clock->system_error_ns);
    put_drift(output, "system_against_qpc", &clock->system_against_qpc);
    put_drift(output, "tsc_against_calibrated", &clock->tsc_against_calibrated);
    put_drift(output, "tsc_against_stated", &clock->tsc_against_stated);
    put_steps(output, clock);
    etwas_json_number(output, "suspends", clock->suspends);
    etwas_json_number(output, "suspended_time", clock->suspended_ns);
    etwas_output_char(output, '}');
}
