/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Looking into the histograms of the clock laboratory. */
#ifndef ETWAS_TESTS_CLOCK_LAB_HISTOGRAM_H
#define ETWAS_TESTS_CLOCK_LAB_HISTOGRAM_H

#include <etwas/clocks.h>

/* How many values there are in all bins. */
double sum_of(const etwas_clock_histogram *histogram);

/* The bins are in order, apart, and none is empty. */
void assert_in_order(const etwas_clock_histogram *histogram);

/* How many of a histogram's values lie in the one bin that holds `ns`. */
uint64_t count_at(const etwas_clock_histogram *histogram, double ns);

#endif
