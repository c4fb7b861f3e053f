/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_CONDITION_H
#define ETWAS_TOOLS_TRACE_CONDITION_H

#include "trace/subject.h"

/*
 * Does the condition hold for a subject, as it was read last? If that compares what does not compare, it is said, no
 * event is taken any more, and the run is stopped.
 */
bool etwas_where_takes(struct etwas_where *where, struct etwas_subject *subject);

#endif
