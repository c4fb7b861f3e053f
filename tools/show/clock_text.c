/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clocks of a file as text.
 */

#include "show/clock.h"

#include "event/names.h"
#include "print/human.h"
#include "print/terminal.h"
#include "print/text.h"

#include <inttypes.h>

static void put_times(struct etwas_output *output, uint64_t count)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_format(output, "%s time%s", etwas_human_count(text, count), count == 1 ? "" : "s");
}

/* ---- the cycle counter ---- */

/* Writes one reason per line: + speaks for the counter, - against it. */
static void put_reasons(struct etwas_output *output, uint32_t reasons)
{
    for (uint32_t bit = 0; bit < 32; bit++) {
        uint32_t reason = reasons & UINT32_C(1) << bit;
        const char *text = etwas_clock_reason_text(reason);

        if (reason == 0) {
            continue;
        }
        etwas_label(output, "");
        etwas_output_text(output, reason < ETWAS_CLOCK_REASON_HYPERVISOR ? "+ " : "- ");
        if (text[0] != '\0') {
            etwas_output_format(output, "%s\n", text);
        } else {
            etwas_output_format(output, "reason 0x%" PRIx32 "\n", reason);
        }
    }
}

static void put_frequency(struct etwas_output *output, const etwas_trace_clock *clock)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    if (clock->frequency_hz == 0) {
        return;
    }
    etwas_label(output, "its rate");
    etwas_output_format(output, "%s Hz within %.3f ppm, as calibrated",
                        etwas_human_count(text, clock->frequency_hz),
                        clock->frequency_error_ppb / 1e3);
    if (clock->stated_hz != 0) {
        etwas_output_format(output, "; %s states %s Hz", etwas_names_stated_by(clock->stated_by),
                            etwas_human_count(text, clock->stated_hz));
    }
    etwas_output_char(output, '\n');
}

static void put_machine(struct etwas_output *output, const etwas_trace_clock *clock)
{
    etwas_label(output, "clock source");
    etwas_text_plain(output, clock->clocksource[0] != '\0' ? clock->clocksource : "unknown");
    if (clock->hypervisor[0] != '\0') {
        etwas_output_text(output, " of the kernel, a guest of ");
        etwas_text_plain(output, clock->hypervisor);
        etwas_output_char(output, '\n');
    } else {
        etwas_output_text(output, " of the kernel\n");
    }
}

static void put_counter(struct etwas_output *output, const etwas_trace_clock *clock)
{
    if (!clock->noted) {
        return;
    }
    etwas_label(output, "cycle counter");
    if (clock->examined) {
        etwas_output_format(output, "%s%s\n", etwas_names_verdict(clock->verdict),
                            clock->measured ? "" : ", by what the machine says; not measured");
        put_reasons(output, clock->reasons);
        put_frequency(output, clock);
    } else {
        etwas_output_text(output, "not examined\n");
    }
    put_machine(output, clock);
}

/* ---- the readings ---- */

static void put_error(struct etwas_output *output, uint64_t error_ns, const char *clock)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    if (error_ns == UINT64_MAX) {
        etwas_output_format(output, "not known by %s", clock);
    } else {
        etwas_output_format(output, "within %s by %s", etwas_human_ns(text, (double)error_ns),
                            clock);
    }
}

static void put_readings(struct etwas_output *output, const etwas_trace_clock *clock)
{
    char text[2][ETWAS_HUMAN_CHARACTERS];

    etwas_label(output, "readings");
    if (clock->clock_snapshots == 0) {
        etwas_output_text(output, "none: the errors of times are not known\n");
        return;
    }
    if (clock->clock_snapshots == 1) {
        etwas_output_text(output, "1 clock snapshot");
    } else {
        etwas_output_format(output, "%s clock snapshots in %s",
                            etwas_human_count(text[0], clock->clock_snapshots),
                            etwas_human_ns(text[1], 1e9 * clock->seconds));
    }
    if (clock->clock_snapshots_unusable > 0) {
        etwas_output_format(output, ", %s of them unusable",
                            etwas_human_count(text[0], clock->clock_snapshots_unusable));
    }
    etwas_output_text(output,
                      clock->clock_snapshots == 1 ? "; its time is " : "; times between them are ");
    put_error(output, clock->qpc_error_ns, "QPC");
    etwas_output_text(output, ", ");
    put_error(output, clock->system_error_ns, "system time");
    etwas_output_char(output, '\n');
}

static void put_drift(struct etwas_output *output, const char *label,
                      const etwas_clock_drift *drift, const char *what)
{
    if (drift->known) {
        etwas_label(output, label);
        etwas_output_format(output, "%s: %+.4f ppm, give or take %.4f\n", what, drift->ppm,
                            drift->interval_ppm);
    }
}

/* ---- the wall clock ---- */

static void put_step(struct etwas_output *output, const char *label, const etwas_clock_step *step)
{
    etwas_label(output, label);
    etwas_output_format(output, "%+.9f s between ", (double)step->step_ns / 1e9);
    etwas_text_time(output, step->before);
    etwas_output_text(output, " and ");
    etwas_text_time(output, step->after);
    etwas_output_char(output, '\n');
}

static void put_steps(struct etwas_output *output, const etwas_trace_clock *clock)
{
    uint64_t shown =
        clock->steps < ETWAS_TRACE_CLOCK_STEPS ? clock->steps : ETWAS_TRACE_CLOCK_STEPS;

    if (clock->steps == 0) {
        return;
    }
    etwas_label(output, "WALL CLOCK");
    etwas_output_text(output, "set ");
    put_times(output, clock->steps);
    etwas_output_format(output, ", %+.9f s together\n", (double)clock->steps_ns / 1e9);
    for (uint64_t i = 0; i < shown; i++) {
        put_step(output, "", &clock->step[i]);
    }
    if (clock->steps > shown) {
        put_step(output, "  at most", &clock->largest_step);
    }
}

void etwas_show_clock_warnings(struct etwas_output *output, const etwas_trace_clock *clock)
{
    if (clock->noted && clock->requested_clock != clock->clock) {
        etwas_label(output, "ASKED FOR");
        etwas_output_format(output, "%s\n", etwas_names_clock(clock->requested_clock));
    }
    put_steps(output, clock);
    if (clock->suspends > 0) {
        etwas_label(output, "suspended");
        put_times(output, clock->suspends);
        etwas_output_format(output, ", %.9f s together\n", (double)clock->suspended_ns / 1e9);
    }
}

void etwas_show_clock_text(struct etwas_output *output, const etwas_trace_clock *clock)
{
    put_counter(output, clock);
    put_readings(output, clock);
    put_drift(output, "drift", &clock->system_against_qpc, "system time against QPC");
    put_drift(output, "drift", &clock->tsc_against_calibrated, "TSC against its calibration");
    put_drift(output, "drift", &clock->tsc_against_stated, "TSC against the stated frequency");
}
