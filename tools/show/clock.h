/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_CLOCK_H
#define ETWAS_TOOLS_SHOW_CLOCK_H

/*
 * The clocks of a file: the quality of the cycle counter, the drift between the clocks, and the
 * errors of times.
 */

#include "print/output.h"

#include <etwas/etwas.h>

/*
 * Write labelled lines of `etwas stat`: what makes times misleading, such as steps of the wall
 * clock, and all that is known about the clocks.
 */
void etwas_show_clock_warnings(struct etwas_output *output, const etwas_trace_clock *clock);
void etwas_show_clock_text(struct etwas_output *output, const etwas_trace_clock *clock);

/* Writes one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_show_clock_json(struct etwas_output *output, const etwas_trace_clock *clock);

#endif
