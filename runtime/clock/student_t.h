/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How wide an interval of confidence is that rests on few measurements: Student's t, two-sided,
 * 95 %.
 */
#ifndef ETWAS_CLOCK_STUDENT_T_H
#define ETWAS_CLOCK_STUDENT_T_H

#include <stdint.h>

/* t for so many degrees of freedom, at least 1. */
double etwas_student_t(uint32_t degrees);

/* Half the width of the interval of an estimate whose variance, 0 or more, has so many. */
double etwas_student_interval(double variance, uint32_t degrees);

#endif
