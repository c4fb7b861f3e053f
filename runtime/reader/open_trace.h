/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* OpenTrace, except for where sessions are found. */
#ifndef ETWAS_READER_OPEN_TRACE_H
#define ETWAS_READER_OPEN_TRACE_H

#include "reader/trace.h"

/*
 * Opens a trace. `logfile` is the caller's EVENT_TRACE_LOGFILEW, or A, as `wide` says. Returns
 * INVALID_PROCESSTRACE_HANDLE with the reason in the thread's last error.
 */
etwas_trace_handle etwas_open_trace(void *logfile, bool wide, etwas_trace_connector connect);

#endif
