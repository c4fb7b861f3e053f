/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the tests of the file modes share: the header and totals of a file, and sets of files. */
#ifndef ETWAS_FLUSH_FILE_MODES_H
#define ETWAS_FLUSH_FILE_MODES_H

#include <etwas/etwas.h>
#include <stdint.h>
#include <sys/types.h>

#include "etl/layout.h"
#include "etl/own_record.h"

off_t size_of(const char *path);

/* Bytes the file system has set aside for the file. */
off_t space_of(const char *path);

/* The log file header. Fails the test when it cannot be read. */
struct etwas_etl_log_header64 log_header_of(const char *path);

/*
 * Where in the buffer of a place the first record of our own of this type is, at `from` or behind
 * it; 0: nowhere. Among records of ours and the log file header only.
 */
uint32_t own_record_at(const char *path, uint32_t place, uint32_t buffer_bytes, uint8_t type,
                       uint32_t from);

/* The totals record of a file of ours. */
struct etwas_etl_totals totals_of(const char *path);

/* The header of the buffer in a place. */
struct etwas_etl_buffer_header buffer_header_of(const char *path, uint32_t place,
                                                uint32_t buffer_bytes);

/*
 * A file of a stopped session that lost what it lost to no write error and had part of its events
 * replaced: fails the test unless it is in order and holds exactly the others.
 */
void expect_circular_file(etwas_trace_handle session, const char *path,
                          const etwas_session_counts *counts);

/* What the files of a new-file set hold together. */
struct parts {
    uint32_t count;
    uint64_t events;
    uint64_t events_lost;  /* by the log file headers */
    uint64_t attempted;    /* by their totals: what there is and what was lost */
    uint64_t buffers_lost; /* likewise */
    uint64_t buffers;
    uint32_t with_losses; /* parts that say they lost something */
};

/*
 * The set "`prefix`%d.etl" of a stopped session, serials from 1 up to the first that is not there.
 * Fails the test unless each part is complete in itself, says which it is, and no event is in two.
 */
void read_parts(etwas_trace_handle session, const char *prefix, struct parts *parts);

/* The same, and together they hold exactly what was recorded and say what was lost. */
void expect_parts_are_exact(etwas_trace_handle session, const char *prefix,
                            const etwas_session_counts *counts, struct parts *parts);

/*
 * From now on, until etwas_file_set_failure_hook(NULL), of so many larger writes one stops after
 * half of what was asked for, and what follows is refused; what then cleans up is not.
 */
void tear_one_write_of(uint32_t count);

#endif
