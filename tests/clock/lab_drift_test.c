/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Lines through made-up readings, and drift of made-up clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <etwas/clocks.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "clock/lab/drift.h"
#include "clock/lab/lab.h"
#include "clock/student_t.h"

enum {
    CASES = 1000,
    POINTS = 500,
};

static const double spacing_ns = 10e6;
static const double true_ppm = -37.25;
static const double noise_ns = 40;

/* ---- made-up points -------------------------------------------------------------------------- */

static struct etwas_lab_point points[ETWAS_LAB_POINTS];

/* Twelve uniform numbers are as good as normal here. */
static double normal(unsigned short *seed)
{
    double sum = -6;

    for (int index = 0; index < 12; index++) {
        sum += erand48(seed);
    }
    return sum;
}

static void make_line(uint32_t count, double ppm)
{
    for (uint32_t index = 0; index < count; index++) {
        double at_ns = index * spacing_ns;

        points[index] =
            (struct etwas_lab_point){.at_ns = at_ns, .ahead_ns = ppm * 1e-6 * at_ns, .width_ns = 1};
    }
}

/* `memory` of the last error remains in the next one: 0 for none. */
static void add_noise(uint32_t count, double memory, unsigned short *seed)
{
    double error_ns = 0;

    for (uint32_t index = 0; index < count; index++) {
        error_ns = memory * error_ns + noise_ns * normal(seed);
        points[index].ahead_ns += error_ns;
    }
}

static void add_step(uint32_t first, uint32_t count, double step_ns)
{
    for (uint32_t index = first; index < count; index++) {
        points[index].ahead_ns += step_ns;
    }
}

static etwas_clock_drift fitted(uint32_t count)
{
    etwas_clock_drift drift;

    etwas_lab_fit(points, count, 1, &drift);
    return drift;
}

static bool holds(const etwas_clock_drift *drift, double ppm)
{
    return drift->known && fabs(drift->ppm - ppm) <= drift->interval_ppm;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static void an_interval_of_95_percent_holds_the_slope_in_95_percent(void **state)
{
    static const uint32_t counts[] = {POINTS, 20, 5, ETWAS_LAB_POINTS};

    (void)state;
    for (size_t index = 0; index < sizeof counts / sizeof counts[0]; index++) {
        int right = 0;

        for (unsigned number = 0; number < CASES; number++) {
            unsigned short seed[3] = {(unsigned short)number, 1, (unsigned short)index};
            etwas_clock_drift drift;

            make_line(counts[index], true_ppm);
            add_noise(counts[index], 0, seed);
            drift = fitted(counts[index]);
            right += holds(&drift, true_ppm);
            assert_int_equal(drift.points, counts[index]);
            assert_true(fabs(drift.seconds - (counts[index] - 1) * spacing_ns / 1e9) < 1e-9);
        }
        print_message("[ measured ] %u points: %d of %d\n", counts[index], right, CASES);
        /* Four standard deviations about 950. */
        assert_in_range(right, 922, 978);
    }
}

/* Independent errors of the same size would promise a third of the true width. */
static void errors_that_last_do_not_make_the_interval_promise_too_much(void **state)
{
    int right = 0;

    (void)state;
    for (unsigned number = 0; number < CASES; number++) {
        unsigned short seed[3] = {(unsigned short)number, 2, 0};
        etwas_clock_drift drift;

        make_line(POINTS, true_ppm);
        add_noise(POINTS, 0.8, seed);
        drift = fitted(POINTS);
        right += holds(&drift, true_ppm);
    }
    print_message("[ measured ] %d of %d\n", right, CASES);
    assert_in_range(right, 900, 978);
}

static void a_clock_that_is_set_keeps_its_slope(void **state)
{
    static const double steps_ns[] = {1e9, -3.6e12, 200000, -5e15};
    int right = 0;

    (void)state;
    for (unsigned number = 0; number < CASES; number++) {
        unsigned short seed[3] = {(unsigned short)number, 3, 0};
        etwas_clock_drift drift;

        make_line(POINTS, true_ppm);
        add_noise(POINTS, 0, seed);
        add_step(number % POINTS, POINTS, steps_ns[number % 4]);
        add_step(number * 7 % POINTS, POINTS, steps_ns[number / 4 % 4]);
        drift = fitted(POINTS);
        assert_true(drift.known);
        /* Two steps cost some width, not more. */
        assert_true(drift.interval_ppm < 0.05);
        right += holds(&drift, true_ppm);
    }
    print_message("[ measured ] %d of %d\n", right, CASES);
    assert_in_range(right, 922, 978);
}

/* Its steps of 4 ms are not taken for settings, also if their size is not known. */
static void a_coarse_clock_keeps_its_slope(void **state)
{
    static const double spacings_ns[] = {1.7e6, 2.3e6, 10.1e6, 33.3e6};

    (void)state;
    for (size_t row = 0; row < sizeof spacings_ns / sizeof spacings_ns[0]; row++) {
        etwas_clock_drift drift;

        for (uint32_t index = 0; index < POINTS; index++) {
            double at_ns = index * spacings_ns[row];
            double clock_ns = floor(at_ns * (1 + true_ppm * 1e-6) / 4e6) * 4e6;

            points[index] = (struct etwas_lab_point){at_ns, clock_ns - at_ns, 1};
        }
        drift = fitted(POINTS);
        assert_true(drift.known);
        assert_true(fabs(drift.ppm - true_ppm) < 4e6 / (drift.seconds * 1e9) * 1e6);
    }
}

static void interrupted_readings_are_left_out(void **state)
{
    unsigned short seed[3] = {4, 4, 4};
    etwas_clock_drift drift;

    (void)state;
    make_line(POINTS, true_ppm);
    add_noise(POINTS, 0, seed);
    for (uint32_t index = POINTS - 50; index < POINTS; index += 2) {
        points[index].width_ns = 2e6;
        points[index].ahead_ns += 1e6;
    }
    drift = fitted(POINTS);
    assert_int_equal(drift.points, POINTS - 25);
    assert_true(fabs(drift.ppm - true_ppm) < 0.02);
    assert_true(drift.interval_ppm < 0.02);
}

static void no_interval_is_narrower_than_the_brackets_and_steps_allow(void **state)
{
    etwas_clock_drift drift;

    (void)state;
    make_line(101, 12.5);
    for (uint32_t index = 0; index < 101; index++) {
        points[index].width_ns = 60;
        points[index].ahead_ns += index % 2 == 0 ? 0.1 : -0.1;
    }
    etwas_lab_fit(points, 101, 40, &drift);
    assert_true(drift.known);
    assert_true(fabs(drift.ppm - 12.5) < 1e-3);
    assert_true(fabs(drift.interval_ppm - 0.1) < 1e-9); /* 100 ns over a second */
}

static void too_few_readings_say_nothing(void **state)
{
    etwas_clock_drift drift;

    (void)state;
    for (uint32_t count = 0; count < 3; count++) {
        make_line(count, true_ppm);
        drift = fitted(count);
        assert_false(drift.known);
        assert_int_equal(drift.points, 0);
    }
    make_line(3, true_ppm);
    drift = fitted(3);
    assert_true(holds(&drift, true_ppm));

    /* All at one time, as of a reference that stands still. */
    for (uint32_t index = 0; index < 3; index++) {
        points[index] = (struct etwas_lab_point){0};
    }
    drift = fitted(3);
    assert_false(drift.known);
}

static void student_is_that_of_the_tables(void **state)
{
    static const struct {
        uint32_t degrees;
        double value;
    } rows[] = {{1, 12.706}, {2, 4.303},  {10, 2.228},  {14, 2.145},   {30, 2.042},
                {40, 2.021}, {60, 2.000}, {120, 1.980}, {1000, 1.962}, {UINT32_MAX, 1.960}};

    (void)state;
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        assert_true(fabs(etwas_student_t(rows[index].degrees) - rows[index].value) < 0.0025);
    }
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static void a_full_track_keeps_the_narrower_of_neighbours_over_the_whole_time(void **state)
{
    enum {
        SAMPLES = 10000
    };
    static struct etwas_lab_track track;

    (void)state;
    for (uint32_t index = 0; index < SAMPLES; index++) {
        struct etwas_lab_point point = {.at_ns = index, .width_ns = index % 4 == 1 ? 10 : 100};

        etwas_lab_track_add(&track, &point);
        assert_true(track.count < ETWAS_LAB_POINTS);
    }
    assert_int_equal(track.stride, 16);
    etwas_lab_track_finish(&track);
    assert_int_equal(track.count, SAMPLES / 16);
    for (uint32_t index = 0; index < track.count; index++) {
        assert_true(track.points[index].width_ns == 10);
        assert_true(index == 0 || track.points[index].at_ns > track.points[index - 1].at_ns);
    }
    assert_true(track.points[0].at_ns < 16);
    assert_true(track.points[track.count - 1].at_ns >= SAMPLES - 16);
}

static void a_track_is_finished_with_what_is_left(void **state)
{
    static struct etwas_lab_track track;
    struct etwas_lab_point point = {.width_ns = 1};

    (void)state;
    for (uint32_t index = 0; index < ETWAS_LAB_POINTS + 1; index++) {
        point.at_ns = index;
        etwas_lab_track_add(&track, &point);
    }
    assert_int_equal(track.count, ETWAS_LAB_POINTS / 2);
    etwas_lab_track_finish(&track);
    assert_int_equal(track.count, ETWAS_LAB_POINTS / 2 + 1);
    assert_true(track.points[track.count - 1].at_ns == ETWAS_LAB_POINTS);
    etwas_lab_track_finish(&track);
    assert_int_equal(track.count, ETWAS_LAB_POINTS / 2 + 1);
}

/* ---- clocks that are made up ----------------------------------------------------------------- */

/* Each reading takes 20 to 30 ns of a time that only exists here. */
static double now_ns;
static double wall_clock_step_ns;
static unsigned short time_seed[3];

static double pass(void)
{
    now_ns += 20 + 10 * erand48(time_seed);
    return now_ns;
}

static int64_t read_raw(void)
{
    return (int64_t)pass();
}

/* 20 ppm fast, and set. */
static int64_t read_realtime(void)
{
    return (int64_t)(pass() * (1 + 20e-6) + wall_clock_step_ns);
}

/* Ticks of a third of a nanosecond that come 50 ppm too often; its highest bit is set. */
static int64_t read_counter(void)
{
    return (int64_t)((uint64_t)INT64_MAX + (uint64_t)(pass() * 3 * (1 + 50e-6)));
}

static const struct etwas_lab_source made_up_raw = {
    .name = "raw", .read = read_raw, .tick_ns = 1, .available = true};
static const struct etwas_lab_source made_up_realtime = {
    .name = "realtime", .read = read_realtime, .tick_ns = 1, .available = true};
static const struct etwas_lab_source made_up_counter = {
    .name = "counter", .read = read_counter, .tick_ns = 1.0 / 3, .available = true};
static const struct etwas_lab_source none = {.name = "none"};

static void replace(const struct etwas_lab_source *raw, const struct etwas_lab_source *realtime,
                    const struct etwas_lab_source *counter)
{
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_MONOTONIC_RAW, raw);
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_REALTIME, realtime);
    etwas_lab_source_replace(ETWAS_CLOCK_SOURCE_TSC, counter);
}

static void made_up_clocks_drift_as_they_were_made(void **state)
{
    enum {
        SAMPLES = 500
    };
    const uint32_t raw = ETWAS_CLOCK_SOURCE_MONOTONIC_RAW;
    const uint32_t realtime = ETWAS_CLOCK_SOURCE_REALTIME;
    const uint32_t counter = ETWAS_CLOCK_SOURCE_TSC;
    static etwas_clock_report report;
    struct etwas_lab_drift *drift;

    (void)state;
    replace(&made_up_raw, &made_up_realtime, &made_up_counter);
    drift = etwas_lab_drift_begin(1u << raw | 1u << realtime | 1u << counter |
                                  1u << ETWAS_CLOCK_SOURCE_THREAD_CPUTIME);
    assert_non_null(drift);
    for (int sample = 0; sample < SAMPLES; sample++) {
        now_ns += 9e6 + 2e6 * erand48(time_seed);
        if (sample == 100) {
            wall_clock_step_ns = 3.6e12;
        } else if (sample == 350) {
            wall_clock_step_ns = -1e9;
        }
        etwas_lab_drift_sample(drift);
    }
    report.trust.frequency_hz = 3000000000;
    report.trust.stated_hz = 2998500000; /* 500 ppm wrong */
    etwas_lab_drift_end(drift, &report);
    replace(NULL, NULL, NULL);

    assert_true(holds(&report.sources[counter].against_raw, 50));
    assert_true(report.sources[counter].against_raw.interval_ppm < 0.05);
    assert_true(holds(&report.sources[counter].against_realtime, 30));
    assert_true(report.sources[counter].against_realtime.interval_ppm < 0.05);
    assert_true(holds(&report.sources[realtime].against_raw, 20));
    assert_true(holds(&report.sources[realtime].against_realtime, 0));
    assert_true(holds(&report.sources[raw].against_raw, 0));
    assert_true(holds(&report.sources[raw].against_realtime, -20));
    assert_int_equal(report.sources[raw].against_raw.points, SAMPLES);
    assert_true(fabs(report.sources[raw].against_raw.seconds - 5) < 0.1);
    assert_false(report.sources[ETWAS_CLOCK_SOURCE_THREAD_CPUTIME].against_raw.known);
    assert_false(report.sources[ETWAS_CLOCK_SOURCE_QPC].against_raw.known);

    assert_true(fabs(report.conversions[0].error_ppm - 550.3) < 0.2);
    assert_true(fabs(report.conversions[2].error_ppm - 50) < 0.1);
}

static void without_a_counter_there_are_no_conversions(void **state)
{
    static etwas_clock_report report;
    struct etwas_lab_drift *drift;

    (void)state;
    replace(&made_up_raw, &made_up_realtime, &none);
    drift = etwas_lab_drift_begin(UINT32_MAX);
    assert_non_null(drift);
    for (int sample = 0; sample < 10; sample++) {
        now_ns += 1e7;
        etwas_lab_drift_sample(drift);
    }
    etwas_lab_drift_end(drift, &report);
    replace(NULL, NULL, NULL);
    assert_false(report.sources[ETWAS_CLOCK_SOURCE_TSC].against_raw.known);
    assert_true(report.sources[ETWAS_CLOCK_SOURCE_REALTIME].against_raw.known);
    for (int index = 0; index < ETWAS_CLOCK_CONVERSIONS; index++) {
        assert_non_null(report.conversions[index].name);
        assert_true(report.conversions[index].hz == 0);
        assert_true(report.conversions[index].after_day_ns == 0);
    }
}

static void the_clocks_of_this_machine_have_a_drift(void **state)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    static etwas_clock_report report;
    struct etwas_lab_drift *drift = etwas_lab_drift_begin(UINT32_MAX);

    (void)state;
    assert_non_null(drift);
    for (int sample = 0; sample < 50; sample++) {
        etwas_lab_drift_sample(drift);
        (void)nanosleep(&pause, NULL);
    }
    etwas_lab_drift_end(drift, &report);
    for (uint32_t number = 0; number < ETWAS_CLOCK_SOURCES; number++) {
        const struct etwas_lab_source *source = etwas_lab_source(number);
        const etwas_clock_drift *raw = &report.sources[number].against_raw;

        assert_int_equal(raw->known, source->available && !source->follows_thread);
        if (raw->known) {
            print_message("[ measured ] %-22s %.4f ± %.4f ppm\n", source->name, raw->ppm,
                          raw->interval_ppm);
            assert_true(raw->interval_ppm > 0 && raw->seconds > 0);
            /* Coarse clocks say little in so short a time; the others do not run away. */
            assert_true(fabs(raw->ppm) < 1e5 || number == ETWAS_CLOCK_SOURCE_MONOTONIC_COARSE ||
                        number == ETWAS_CLOCK_SOURCE_REALTIME_COARSE);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_of_95_percent_holds_the_slope_in_95_percent),
        cmocka_unit_test(errors_that_last_do_not_make_the_interval_promise_too_much),
        cmocka_unit_test(a_clock_that_is_set_keeps_its_slope),
        cmocka_unit_test(a_coarse_clock_keeps_its_slope),
        cmocka_unit_test(interrupted_readings_are_left_out),
        cmocka_unit_test(no_interval_is_narrower_than_the_brackets_and_steps_allow),
        cmocka_unit_test(too_few_readings_say_nothing),
        cmocka_unit_test(student_is_that_of_the_tables),
        cmocka_unit_test(a_full_track_keeps_the_narrower_of_neighbours_over_the_whole_time),
        cmocka_unit_test(a_track_is_finished_with_what_is_left),
        cmocka_unit_test(made_up_clocks_drift_as_they_were_made),
        cmocka_unit_test(without_a_counter_there_are_no_conversions),
        cmocka_unit_test(the_clocks_of_this_machine_have_a_drift),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
