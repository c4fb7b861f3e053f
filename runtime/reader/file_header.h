/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Buffer 0 of a file: the log file header, the names, the clock and the shape of the file. */
#ifndef ETWAS_READER_FILE_HEADER_H
#define ETWAS_READER_FILE_HEADER_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include <etwas/evntrace.h>

#include "etl/clock_convert.h"
#include "etl/layout.h"
#include "etl/own_record.h"
#include "etl/record.h"
#include "reader/index.h"

struct etwas_trace;

/* The losses that buffer 0 of a file records (etl/own_record.h). */

/* Zeroed: empty. */
struct etwas_loss_list {
    etwas_loss *losses; /* the owner frees them */
    uint32_t count;
};

/* Adds the loss of a record, unless its contents are not valid. Returns false without memory. */
bool etwas_loss_list_add(struct etwas_loss_list *list, const struct etwas_record *record);

/* ---- buffer 0 -------------------------------------------------------------------------------- */

/* The contents of buffer 0, in the 64-bit form whatever form the file has. */
struct etwas_file_header {
    struct etwas_etl_log_header64 fields;
    struct etwas_index_entry buffer; /* buffer 0 */
    struct etwas_etl_clock clock;
    struct etwas_timeline_base base; /* the same clock for a timeline */
    /* offset of the first clock snapshot in buffer 0; 0: there is none */
    uint32_t clock_snapshots_at;
    int64_t first_raw; /* stamp of the header event, T0 */
    uint64_t clock_frequency_hz;
    uint32_t session_buffer_bytes; /* the largest a buffer's data may be */
    bool uniform;                  /* every buffer has buffer.buffer_bytes */
    bool calibrated;               /* the clock's rate is from a calibration */
    bool kernel;                   /* a session of the kernel provider */
    bool own;                      /* written by etwas: buffer 0 has records of our class */
    /*
     * a circular file without an end: buffers may be half replaced, or are replaced while they are
     * read
     */
    bool replaces;
    bool without_times; /* known to record no processor times */
    bool may_step_back; /* stamps inside a buffer may decrease, since the wall clock was set back */
    struct etwas_etl_totals totals;     /* all zeroes if the file has none */
    struct etwas_etl_clock_trust trust; /* all zeroes if the file has none; its texts end with 0 */
    struct etwas_loss_list losses;
    etwas_wchar *names;         /* one allocation: session, 0, file, 0 */
    etwas_wchar *log_file_name; /* inside names */
};

/*
 * Reads buffer 0 into trace->log. Returns ERROR_FILE_CORRUPT if the file is not a trace that can be
 * read, or ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_file_header_read(struct etwas_trace *trace);

/* Fills the public form of the header. Its names point into `log`. */
void etwas_file_header_fill(const struct etwas_file_header *log, TRACE_LOGFILE_HEADER *header);

#endif
