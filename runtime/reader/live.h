/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * ProcessTrace on a running session: buffers as they are flushed, in one time order, until the
 * session ends or the trace is closed (R171–R175).
 *
 * A processor's buffers come in order. What two processors recorded is put in order up to the bound
 * the session names with each of its flushes; what is later waits for the next one. When more waits
 * than ETWAS_LIVE_WAITING_BYTES, the oldest is given all the same.
 */
#ifndef ETWAS_READER_LIVE_H
#define ETWAS_READER_LIVE_H

#include "reader/event_step.h"

#define ETWAS_LIVE_WAITING_BYTES (UINT64_C(32) << 20)

/*
 * Connects a trace to the session of its name, of this process or where its connector finds one, and reads what the
 * session says about itself. ERROR_WMI_INSTANCE_NOT_FOUND: no real-time session of that name runs (R173).
 */
uint32_t etwas_live_connect(struct etwas_trace *trace);
void etwas_live_disconnect(struct etwas_trace *trace);

/*
 * With the table locked: gives the trace the timeline of what its session has read of the clocks
 * until now, or had when it was disconnected. Without memory it keeps the one it has, or none.
 */
void etwas_live_update_clocks(struct etwas_trace *trace);

/*
 * Runs until the session ends: ERROR_SUCCESS, also when the trace is closed meanwhile (what
 * it holds is given first); ERROR_CANCELLED when the buffer callback wants no more;
 * ERROR_NOT_ENOUGH_MEMORY; ERROR_WMI_INSTANCE_NOT_FOUND when the session's process is gone.
 */
uint32_t etwas_live_run(struct etwas_trace *trace, const struct etwas_span *span);

#endif
