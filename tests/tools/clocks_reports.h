/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TESTS_CLOCKS_REPORTS_H
#define ETWAS_TESTS_CLOCKS_REPORTS_H

/*
 * Made-up reports of the clock laboratory: what is shown of them must not depend on the machine
 * that runs the tests.
 */

#include "clocks/clocks.h"

/*
 * Fills the report and the machine of one of these:
 *   laptop    8 processors, all is well
 *   guest     a bad one: an untrusted counter that drifts and steps backwards, names to be escaped
 *   single    one processor
 *   pair      two of them
 *   server    64 of 256 processors, not all pairs
 *   nothing   no clock could be read, no figure is there
 *   numberless  a laptop with figures that are no numbers
 * False: there is no such report. Nothing is freed: the program ends.
 */
bool etwas_clocks_make_up(const char *name, etwas_clock_report *report,
                          struct etwas_clocks_machine *machine);

#endif
