/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * ProcessTrace on a running session: buffers as they are flushed, in one time order, until the
 * session ends or the trace is closed (R171–R175).
 *
 * The buffers of one processor come in order. Records of different processors are sorted up to the
 * time bound that the session names with each flush; later records wait for the next bound. When
 * more than ETWAS_LIVE_WAITING_BYTES wait, the oldest records are delivered nevertheless.
 */
#ifndef ETWAS_READER_LIVE_H
#define ETWAS_READER_LIVE_H

#include "reader/event_step.h"

#define ETWAS_LIVE_WAITING_BYTES (UINT64_C(32) << 20)

/*
 * Connects a trace to the session of its name, through the trace's connector, and reads the
 * session's header. ERROR_WMI_INSTANCE_NOT_FOUND: no real-time session of that name runs (R173).
 */
uint32_t etwas_live_connect(struct etwas_trace *trace);
void etwas_live_disconnect(struct etwas_trace *trace);

/*
 * Replaces the timeline of the trace by one of the clock readings that its session has taken until
 * now, or had taken when the trace was disconnected. The table is locked. Without memory the trace
 * keeps the timeline that it has, or none.
 */
void etwas_live_update_clocks(struct etwas_trace *trace);

/*
 * Delivers until the session ends. Returns ERROR_SUCCESS, also when the trace is closed meanwhile,
 * after everything that was received was delivered; ERROR_CANCELLED when the buffer callback
 * returns 0; ERROR_NOT_ENOUGH_MEMORY; ERROR_WMI_INSTANCE_NOT_FOUND when the session's process is
 * gone.
 */
uint32_t etwas_live_run(struct etwas_trace *trace, const struct etwas_span *span);

#endif
