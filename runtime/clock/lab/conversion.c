/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/lab/drift.h"

#include <stdint.h>

static const double ns_a_second = 1e9;
static const double hz_a_mhz = 1e6;
static const double ppm = 1e6;

/* Leaves the name as it is. */
static void conversion_by_rate(double hz, double measured_hz, double interval_ppm,
                               etwas_clock_conversion *conversion)
{
    const double error = measured_hz / hz - 1;
    const double ns_after_second = error * ns_a_second;

    *conversion = (etwas_clock_conversion){
        .name = conversion->name,
        .hz = hz,
        .error_ppm = error * ppm,
        .interval_ppm = interval_ppm,
        .after_second_ns = ns_after_second,
        .after_minute_ns = ns_after_second * 60,
        .after_hour_ns = ns_after_second * 3600,
        .after_day_ns = ns_after_second * 3600 * 25,
    };
}

void etwas_lab_report_conversions(const etwas_clock_trust *trust,
                                  const etwas_clock_drift *against_raw, double tick_ns,
                                  etwas_clock_conversion *conversions)
{
    const double tick_hz = tick_ns > 0 ? ns_a_second / tick_ns : 0;
    double calibrated_hz = trust->frequency_hz != 0 ? (double)trust->frequency_hz : tick_hz;
    double measured_hz = calibrated_hz;
    double interval_ppm = trust->frequency_error_ppb / 1e3;
    double exact_hz;
    double whole_hz;

    conversions[0] = (etwas_clock_conversion){.name = "exact frequency"};
    conversions[1] = (etwas_clock_conversion){.name = "whole MHz"};
    conversions[2] = (etwas_clock_conversion){.name = "calibration"};
    if (calibrated_hz < hz_a_mhz) {
        return;
    }
    if (against_raw->known && tick_hz > 0) {
        measured_hz = tick_hz * (1 + against_raw->ppm / ppm);
        interval_ppm = against_raw->interval_ppm;
    }
    exact_hz = trust->stated_hz != 0 ? (double)trust->stated_hz : measured_hz;
    whole_hz = (double)(uint64_t)(calibrated_hz / hz_a_mhz + 0.5) * hz_a_mhz;
    conversion_by_rate(exact_hz, measured_hz, interval_ppm, &conversions[0]);
    conversion_by_rate(whole_hz, measured_hz, interval_ppm, &conversions[1]);
    conversion_by_rate(calibrated_hz, measured_hz, interval_ppm, &conversions[2]);
}
