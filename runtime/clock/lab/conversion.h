/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How wrong the cycle counter's stamps become when they are converted to time by a rate that is not
 * quite the counter's own.
 *
 *     counter runs at 3,000.75 MHz, converted by 3,001 MHz      -83.3 ppm, -7.5 s after 25 hours
 */
#ifndef ETWAS_CLOCK_LAB_CONVERSION_H
#define ETWAS_CLOCK_LAB_CONVERSION_H

#include <etwas/clocks.h>

/*
 * Fills the conversions by three rates:
 *
 *     exact frequency  what CPUID, the hypervisor or CNTFRQ states; if nothing does, the rate
 *           measured over the whole examination, whose error is the interval alone
 *     whole MHz        the calibrated rate rounded, as CpuSpeedInMHz of a log file header is
 *     calibration      trust->frequency_hz, or, for a counter that is not trusted, 1e9 / tick_ns
 *
 * against_raw was measured, of a source of tick_ns a tick. If it is not known, the calibration
 * stands in for it, with its own bound. error_ppm > 0: stamps are too late, they gain that much;
 * after_…_ns has the same sign. All members but the names are 0 if the counter has no rate, or one
 * below a megahertz.
 */
void etwas_lab_report_conversions(const etwas_clock_trust *trust,
                                  const etwas_clock_drift *against_raw, double tick_ns,
                                  etwas_clock_conversion *conversions);

#endif
