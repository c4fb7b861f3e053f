/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_CONDITION_H
#define ETWAS_TOOLS_TRACE_CONDITION_H

#include "trace/current_event.h"

/*
 * Returns whether the condition of --where holds for the event that was read last. If it compares
 * values of different types, reports that, refuses this event and all further ones, and stops the
 * run.
 */
bool etwas_condition_holds(struct etwas_where *where, struct etwas_current_event *current);

/*
 * Reads a record into `current`, then does the same; returns true if there is no condition.
 * `duration` is that of the span that the event ends; NULL if it ends none.
 */
bool etwas_condition_holds_for(struct etwas_where *where, struct etwas_current_event *current,
                               const struct etwas_input *input, const EVENT_RECORD *record,
                               struct etwas_descriptions *descriptions,
                               const etwas_clock_time *duration);

#endif
