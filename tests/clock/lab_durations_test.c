/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Many durations as the clock laboratory tells them: quantiles, a mean, and bins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock/lab/lab.h"
#include "clock/lab/tally.h"
#include "lab_histogram.h"

static void quantiles_are_values_that_enough_others_do_not_exceed_and_the_mean_leaves_1_percent_out(
    void **state)
{
    enum {
        COUNT = 2000
    };
    static double values[COUNT];
    etwas_clock_distribution of;

    (void)state;
    for (int index = 0; index < COUNT; index++) {
        values[index] = (index * 7 + 3) % COUNT + 1; /* 1 to 2,000, shuffled */
    }
    etwas_lab_distribution_of(values, COUNT, &of);
    assert_int_equal(of.count, COUNT);
    assert_true(of.minimum == 1 && of.median == 1000 && of.p90 == 1800 && of.p99 == 1980);
    assert_true(of.p999 == 1998 && of.maximum == 2000);
    assert_true(of.mean == 990.5); /* of 1 to 1,980 */
    etwas_lab_distribution_of(values, 1, &of);
    assert_true(of.minimum == 1 && of.median == 1 && of.p999 == 1 && of.maximum == 1);
    etwas_lab_distribution_of(values, 0, &of);
    assert_true(of.count == 0 && of.maximum == 0);
}

static void each_duration_is_in_a_bin_that_is_a_sixteenth_of_it_wide(void **state)
{
    static const double values[] = {0, 0.0624, 0.0625, 0.99, 1, 1.5, 19.9, 20, 4e6, 1e15, 1e30};

    (void)state;
    for (size_t index = 0; index < sizeof values / sizeof values[0]; index++) {
        struct etwas_lab_tally tally = {{0}};
        etwas_clock_histogram histogram;
        double most = values[index] < 5.7e17 ? values[index] : 5.7e17;

        etwas_lab_tally_add(&tally, values[index]);
        etwas_lab_tally_bins(&tally, &histogram);
        assert_int_equal(histogram.bins, 1);
        assert_int_equal(count_at(&histogram, most), 1);
        assert_true(histogram.bin[0].to - histogram.bin[0].from <=
                    (most < 1 ? 1.0 / 16 : most / 16));
    }
}

static void bins_are_joined_until_they_fit_and_none_is_lost(void **state)
{
    static struct etwas_lab_tally tally;
    etwas_clock_histogram histogram;
    double ns = 0.01;

    (void)state;
    for (int value = 0; value < 600; value++) {
        etwas_lab_tally_add(&tally, ns);
        ns *= 1.05;
    }
    for (int value = 0; value < 100000; value++) {
        etwas_lab_tally_add(&tally, 20);
    }
    etwas_lab_tally_bins(&tally, &histogram);
    assert_int_equal(histogram.bins, ETWAS_CLOCK_BINS);
    assert_in_order(&histogram);
    assert_true(sum_of(&histogram) == 100600);
    /* What holds nearly all is joined with nothing. */
    assert_true(histogram.bin[0].count < 100);
    assert_in_range(count_at(&histogram, 20), 100000, 100003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            quantiles_are_values_that_enough_others_do_not_exceed_and_the_mean_leaves_1_percent_out),
        cmocka_unit_test(each_duration_is_in_a_bin_that_is_a_sixteenth_of_it_wide),
        cmocka_unit_test(bins_are_joined_until_they_fit_and_none_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
