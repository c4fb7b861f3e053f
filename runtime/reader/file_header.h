/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Buffer 0: the log file header, the names, the clock and the shape of the file. */
#ifndef ETWAS_READER_FILE_HEADER_H
#define ETWAS_READER_FILE_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include <etwas/evntrace.h>

#include "etl/clock_convert.h"
#include "etl/layout.h"
#include "etl/own_record.h"
#include "reader/index.h"
#include "reader/loss_list.h"

struct etwas_trace;

/* What buffer 0 says, in the 64-bit form whatever form the file has. */
struct etwas_file_header {
    struct etwas_etl_log_header64 fields;
    struct etwas_index_entry buffer; /* buffer 0 */
    struct etwas_etl_clock clock;
    struct etwas_timeline_base base; /* the same for a timeline */
    uint32_t clock_snapshots_at;     /* the first clock snapshot in buffer 0; 0: it has none */
    int64_t first_raw;               /* stamp of the header event: T0 */
    uint64_t clock_frequency_hz;
    uint32_t session_buffer_bytes; /* the largest a buffer's data may be */
    bool uniform;                  /* every buffer has buffer.buffer_bytes */
    bool calibrated;               /* clock is from a calibration */
    bool kernel;                   /* a session of the kernel provider */
    bool own;                      /* written by etwas: buffer 0 has records of our class */
    bool replaces;      /* a circular file without an end: buffers may be half replaced, or are
                            replaced while they are read */
    bool without_times; /* known to record no processor times */
    bool may_step_back; /* stamps may, inside a buffer: the wall clock was set back */
    struct etwas_etl_totals totals;     /* zeroes in a file that has none */
    struct etwas_etl_clock_trust trust; /* likewise; its texts end with 0 */
    struct etwas_loss_list losses;
    etwas_wchar *names;         /* one allocation: session, 0, file, 0 */
    etwas_wchar *log_file_name; /* inside names */
};

/* Reads buffer 0 into trace->log. ERROR_FILE_CORRUPT if this is not a trace that can be read. */
uint32_t etwas_file_header_read(struct etwas_trace *trace);

/* The header's public form, with the names that lie in `log`. */
void etwas_file_header_fill(const struct etwas_file_header *log, TRACE_LOGFILE_HEADER *header);

#endif
