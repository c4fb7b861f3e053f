/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_CONDITION_H
#define ETWAS_TOOLS_TRACE_CONDITION_H

#include "trace/current_event.h"

/*
 * Does the condition hold for a subject, as it was read last? If that compares what does not
 * compare, it is said, no event is taken any more, and the run is stopped.
 */
bool etwas_condition_holds(struct etwas_where *where, struct etwas_current_event *current);

#endif
