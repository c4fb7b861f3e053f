/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/student_t.h"

double etwas_student_t(uint32_t degrees)
{
    static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                   2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                   2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                   2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    const double normal = 1.959964;
    const double cube = normal * normal * normal;

    if (degrees <= sizeof table / sizeof table[0]) {
        return table[degrees - 1];
    }
    /* The first term of the expansion in 1/degrees; the next is below 0.003 from 31 degrees on. */
    return normal + (cube + normal) / (4.0 * degrees);
}

/*
 * Compiled without errno (-fno-math-errno): the root is one instruction, so libm need not be
 * linked.
 */
double etwas_student_interval(double variance, uint32_t degrees)
{
    return etwas_student_t(degrees) * __builtin_sqrt(variance);
}
