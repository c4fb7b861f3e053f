/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_CONDITION_H
#define ETWAS_TOOLS_TRACE_CONDITION_H

#include "trace/current_event.h"

/*
 * Returns whether the condition of --where holds for the current event, as it was read last. If the
 * condition compares values of different types, that is reported, the event and all further ones
 * are refused, and the run stops.
 */
bool etwas_condition_holds(struct etwas_where *where, struct etwas_current_event *current);

/*
 * Reads a record into `current`, and returns the same for it; without a condition, true. `duration`
 * is that of the span that the event ends; NULL: it ends none.
 */
bool etwas_condition_holds_for(struct etwas_where *where, struct etwas_current_event *current,
                               const struct etwas_input *input, const EVENT_RECORD *record,
                               struct etwas_descriptions *descriptions,
                               const etwas_clock_time *duration);

#endif
