/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Handles of open traces. */
#ifndef ETWAS_READER_TRACE_TABLE_H
#define ETWAS_READER_TRACE_TABLE_H

#include <stdint.h>

#include <etwas/etwas.h>

#include "reader/trace.h"

enum {
    ETWAS_TRACES = 1024 /* open at a time */
};

/* A handle for the trace, INVALID_PROCESSTRACE_HANDLE when the table is full. */
etwas_trace_handle etwas_trace_table_add(struct etwas_trace *trace);

/* Marks every trace as being processed, all or none. A Win32 code. */
uint32_t etwas_trace_table_acquire(const etwas_trace_handle *handles, uint32_t count,
                                   struct etwas_trace **traces);

/* Ends the processing; frees those that were closed meanwhile. */
void etwas_trace_table_release(const etwas_trace_handle *handles, uint32_t count);

/*
 * With the table locked: gives a trace its consumer, and what its session says about itself. One
 * that comes after CloseTrace is stopped at once.
 */
void etwas_trace_table_connect(struct etwas_trace *trace, struct etwas_consumer *consumer,
                               const etwas_trace_information *information);

/* Takes it away: afterwards nobody stops it any more. NULL: there is none. */
struct etwas_consumer *etwas_trace_table_disconnect(struct etwas_trace *trace);

/* With the table locked. NULL: not the handle of an open trace. */
struct etwas_trace *etwas_trace_table_find(etwas_trace_handle handle);

/* A fork waits until nobody changes the table: its child can use it, and every trace in it. */
void etwas_trace_table_lock(void);
void etwas_trace_table_unlock(void);

/* Frees a trace that is in no table. */
void etwas_trace_free(struct etwas_trace *trace);

#endif
