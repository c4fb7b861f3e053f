/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The width of a confidence interval from few measurements: Student's t, two-sided, 95 %. */
#ifndef ETWAS_CLOCK_STUDENT_T_H
#define ETWAS_CLOCK_STUDENT_T_H

#include <stdint.h>

/* Returns t for `degrees` degrees of freedom, at least 1. */
double etwas_student_t(uint32_t degrees);

/*
 * Returns half the width of the interval of an estimate with this variance, 0 or more, and these
 * degrees of freedom.
 */
double etwas_student_interval(double variance, uint32_t degrees);

#endif
