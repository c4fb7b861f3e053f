/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHOW_CLOCK_H
#define ETWAS_TOOLS_SHOW_CLOCK_H

/*
 * A file's clocks: what the cycle counter was worth, how the clocks ran against each other, and how
 * well times are known.
 */

#include "print/output.h"

#include <etwas/etwas.h>

/*
 * Lines of "etwas stat", labelled as its others: what makes times other than they seem, and all
 * that is known of the clocks.
 */
void etwas_show_clock_warnings(struct etwas_output *output, const etwas_trace_clock *clock);
void etwas_show_clock_text(struct etwas_output *output, const etwas_trace_clock *clock);

/* One JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_show_clock_json(struct etwas_output *output, const etwas_trace_clock *clock);

#endif
