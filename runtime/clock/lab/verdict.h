/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the numbers of a report mean, in sentences: what the cycle counter is worth, and which clock
 * a session should ask for.
 */
#ifndef ETWAS_CLOCK_LAB_VERDICT_H
#define ETWAS_CLOCK_LAB_VERDICT_H

#include <etwas/clocks.h>

/*
 * The part etwas_lab_conclude for a report whose `trust` is filled already: adds to its reasons
 * what the examination found, and fills recommended_clock, recommendation and verdict.
 */
void etwas_lab_judge(etwas_clock_report *report);

#endif
