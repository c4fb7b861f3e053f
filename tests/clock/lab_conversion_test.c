/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* How far stamps are off that were converted by three rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/clocks.h>
#include <math.h>

#include "clock/lab/drift.h"

enum {
    EXACT,
    WHOLE_MHZ,
    CALIBRATION
};

static void assert_near(double value, double wanted)
{
    double apart = fabs(value - wanted);

    if (!(apart <= 1e-6 * fabs(wanted) + 1e-6)) {
        fail_msg("%.9f is not %.9f", value, wanted);
    }
}

static void assert_error(const etwas_clock_conversion *conversion, double hz, double ppm)
{
    assert_near(conversion->hz, hz);
    assert_near(conversion->error_ppm, ppm);
    assert_near(conversion->after_second_ns, ppm * 1e3);
    assert_near(conversion->after_minute_ns, ppm * 60e3);
    assert_near(conversion->after_hour_ns, ppm * 3600e3);
    assert_near(conversion->after_day_ns, ppm * 90000e3);
}

/*
 * It runs at 3,000.75 MHz, was calibrated 1 ppm too low, and states a frequency 500 ppm too high.
 */
static void a_frequency_stated_500_ppm_wrong_costs_45_seconds_in_25_hours(void **state)
{
    const double true_hz = 3000750000;
    const etwas_clock_trust trust = {.frequency_hz = 3000747000,
                                     .frequency_error_ppb = 2000,
                                     .stated_by = ETWAS_CLOCK_STATED_HYPERVISOR,
                                     .stated_hz = 3002250375};
    const double calibrated_hz = 3000747000;
    const etwas_clock_drift drift = {
        .known = true, .ppm = (true_hz / calibrated_hz - 1) * 1e6, .interval_ppm = 0.01};
    etwas_clock_conversion conversions[ETWAS_CLOCK_CONVERSIONS];

    (void)state;
    etwas_lab_report_conversions(&trust, &drift, 1e9 / calibrated_hz, conversions);
    assert_error(&conversions[EXACT], 3002250375, (true_hz / 3002250375 - 1) * 1e6);
    assert_true(conversions[EXACT].after_day_ns < -44.9e9);
    assert_true(conversions[EXACT].after_day_ns > -45.1e9);
    assert_error(&conversions[WHOLE_MHZ], 3001000000, (true_hz / 3001e6 - 1) * 1e6);
    assert_true(fabs(conversions[WHOLE_MHZ].error_ppm + 83.3) < 0.1);
    assert_error(&conversions[CALIBRATION], calibrated_hz, (true_hz / calibrated_hz - 1) * 1e6);
    assert_true(fabs(conversions[CALIBRATION].error_ppm - 1) < 0.001);
    assert_string_equal(conversions[EXACT].name, "exact frequency");
    assert_string_equal(conversions[WHOLE_MHZ].name, "whole MHz");
    assert_string_equal(conversions[CALIBRATION].name, "calibration");
    for (int index = 0; index < ETWAS_CLOCK_CONVERSIONS; index++) {
        assert_near(conversions[index].interval_ppm, 0.01);
    }
}

static void where_nothing_states_a_frequency_the_measured_one_is_exact(void **state)
{
    const etwas_clock_trust trust = {.frequency_hz = 2000000000};
    const etwas_clock_drift drift = {.known = true, .ppm = 10, .interval_ppm = 0.5};
    etwas_clock_conversion conversions[ETWAS_CLOCK_CONVERSIONS];

    (void)state;
    etwas_lab_report_conversions(&trust, &drift, 0.5, conversions);
    assert_error(&conversions[EXACT], 2000020000, 0);
    assert_error(&conversions[WHOLE_MHZ], 2000000000, 10);
    assert_error(&conversions[CALIBRATION], 2000000000, 10);
    assert_near(conversions[EXACT].interval_ppm, 0.5);
}

static void without_a_drift_the_calibration_stands_in_with_its_bound(void **state)
{
    const etwas_clock_trust trust = {
        .frequency_hz = 2400400000, .frequency_error_ppb = 1500, .stated_hz = 2400000000};
    const etwas_clock_drift drift = {0};
    etwas_clock_conversion conversions[ETWAS_CLOCK_CONVERSIONS];

    (void)state;
    etwas_lab_report_conversions(&trust, &drift, 1e9 / 2400400000, conversions);
    assert_error(&conversions[EXACT], 2400000000, (2400.4 / 2400 - 1) * 1e6);
    assert_error(&conversions[CALIBRATION], 2400400000, 0);
    assert_near(conversions[CALIBRATION].interval_ppm, 1.5);
}

/*
 * A counter that is not trusted has no calibration, and yet a rate; without one there is nothing.
 */
static void a_counter_without_calibration_is_converted_by_its_tick_or_not_at_all(void **state)
{
    const etwas_clock_trust trust = {0};
    const etwas_clock_drift drift = {.known = true, .ppm = -100, .interval_ppm = 1};
    const etwas_clock_drift unknown = {0};
    static const double no_ticks_ns[] = {0, 2000};
    etwas_clock_conversion conversions[ETWAS_CLOCK_CONVERSIONS];

    (void)state;
    etwas_lab_report_conversions(&trust, &drift, 1, conversions);
    assert_error(&conversions[EXACT], 999900000, 0);
    assert_error(&conversions[CALIBRATION], 1000000000, -100);
    for (size_t row = 0; row < 2; row++) {
        etwas_lab_report_conversions(&trust, &unknown, no_ticks_ns[row], conversions);
        for (int index = 0; index < ETWAS_CLOCK_CONVERSIONS; index++) {
            assert_error(&conversions[index], 0, 0);
            assert_true(conversions[index].interval_ppm == 0);
            assert_non_null(conversions[index].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frequency_stated_500_ppm_wrong_costs_45_seconds_in_25_hours),
        cmocka_unit_test(where_nothing_states_a_frequency_the_measured_one_is_exact),
        cmocka_unit_test(without_a_drift_the_calibration_stands_in_with_its_bound),
        cmocka_unit_test(a_counter_without_calibration_is_converted_by_its_tick_or_not_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
