/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What TraceEvent and the slow path of TraceEventInstance share. */
#ifndef ETWAS_PROVIDER_TRACE_EVENT_H
#define ETWAS_PROVIDER_TRACE_EVENT_H

#include <etwas/evntrace.h>
#include <stdint.h>

/* The general path of TraceEventInstance: every case, and every error with its code. */
uint32_t etwas_trace_instance_general(etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
                                      const EVENT_INSTANCE_INFO *instance,
                                      const EVENT_INSTANCE_INFO *parent);

/* Instance ids: unique in the process, never 0 (R115). CreateTraceInstanceId allocates them. */

/*
 * Makes the next block begin at `first`, for tests of the wrap. No other thread may allocate ids
 * meanwhile.
 */
void etwas_instance_id_restart(uint32_t first);

#endif
