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

/* Adds the trace and returns its handle; INVALID_PROCESSTRACE_HANDLE when the table is full. */
etwas_trace_handle etwas_trace_table_add(struct etwas_trace *trace);

/* Marks every trace as being processed, all or none. Returns a Win32 code. */
uint32_t etwas_trace_table_acquire(const etwas_trace_handle *handles, uint32_t count,
                                   struct etwas_trace **traces);

/* Ends the processing, and frees the traces that were closed meanwhile. */
void etwas_trace_table_release(const etwas_trace_handle *handles, uint32_t count);

/*
 * Gives a trace its consumer and the session's information. The table is locked. A consumer that
 * comes after CloseTrace is stopped at once.
 */
void etwas_trace_table_connect(struct etwas_trace *trace, struct etwas_consumer *consumer,
                               const etwas_trace_information *information);

/* Takes the consumer away, so that no other thread can stop it any more. NULL: there is none. */
struct etwas_consumer *etwas_trace_table_disconnect(struct etwas_trace *trace);

/* Returns the open trace of a handle; NULL if there is none. The table is locked. */
struct etwas_trace *etwas_trace_table_find(etwas_trace_handle handle);

/*
 * Locks the table. A fork takes the lock too, so the child can use the table and every trace in it.
 */
void etwas_trace_table_lock(void);
void etwas_trace_table_unlock(void);

/* Frees a trace that is in no table. */
void etwas_trace_free(struct etwas_trace *trace);

#endif
