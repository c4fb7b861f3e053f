/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab_histogram.h"

double sum_of(const etwas_clock_histogram *histogram)
{
    double sum = 0;

    for (uint32_t bin = 0; bin < histogram->bins; bin++) {
        sum += (double)histogram->bin[bin].count;
    }
    return sum;
}

void assert_in_order(const etwas_clock_histogram *histogram)
{
    assert_true(histogram->bins <= ETWAS_CLOCK_BINS);
    for (uint32_t bin = 0; bin < histogram->bins; bin++) {
        assert_true(histogram->bin[bin].from < histogram->bin[bin].to);
        assert_true(bin == 0 || histogram->bin[bin - 1].to <= histogram->bin[bin].from);
        assert_true(histogram->bin[bin].count > 0);
    }
}

uint64_t count_at(const etwas_clock_histogram *histogram, double ns)
{
    for (uint32_t bin = 0; bin < histogram->bins; bin++) {
        if (histogram->bin[bin].from <= ns && ns < histogram->bin[bin].to) {
            return histogram->bin[bin].count;
        }
    }
    return 0;
}
