/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds the clock snapshots of a file: in buffer 0, and in data buffers that begin with one.
 * OpenTrace reads buffer 0 alone. ProcessTrace finds the others while it reads the header of each
 * buffer. A time that is requested before ProcessTrace has the whole file scanned. A file that
 * etwas did not write has none.
 *
 * A place that cannot be read has no clock snapshots. It is not reported as damage here.
 */
#ifndef ETWAS_READER_CLOCK_SNAPSHOTS_H
#define ETWAS_READER_CLOCK_SNAPSHOTS_H

#include "etl/own_record.h"
#include "reader/timeline.h"
#include "reader/trace.h"

/* The part of each data buffer that is read at first. */
struct etwas_buffer_beginning {
    struct etwas_etl_buffer_header header;
    uint8_t record[sizeof(struct etwas_etl_clock_snapshot_record)];
};
_Static_assert(sizeof(struct etwas_buffer_beginning) == 168, "read at once");

/* Returns whether these bytes, as many as a clock snapshot record has, begin a clock snapshot. */
bool etwas_clock_snapshots_match(const uint8_t *bytes);

/*
 * Adds the clock snapshots of buffer 0 as it is now; that of a running session grows. *running_from
 * receives the stamp from which on buffer 0 is complete, so that no newer clock snapshot has moved
 * to a buffer of its own; INT64_MAX if buffer 0 has none taken since the file was opened. Returns
 * false without memory.
 */
bool etwas_clock_snapshots_add_first_buffer(struct etwas_trace *trace,
                                            struct etwas_clock_snapshot_list *list,
                                            int64_t *running_from);

/* Returns where the records of buffer 0 end now, by its header; 0 if that cannot be read. */
uint32_t etwas_clock_snapshots_first_buffer_end(struct etwas_trace *trace);

/*
 * Adds those of the data buffer at `offset` if it is a buffer of clock snapshots. Returns false
 * without memory.
 */
bool etwas_clock_snapshots_add_buffer(struct etwas_trace *trace,
                                      struct etwas_clock_snapshot_list *list, uint64_t offset,
                                      const struct etwas_buffer_beginning *beginning);

/*
 * Does the same for the buffer at *offset, and moves *offset to where the next buffer may be, in a
 * file whose buffers have one size. Returns false without memory.
 */
bool etwas_clock_snapshots_scan_next(struct etwas_trace *trace,
                                     struct etwas_clock_snapshot_list *list, uint64_t *offset);

/*
 * Makes a timeline of buffer 0, or of the `whole` file with one read for each buffer. The caller
 * owns it. NULL without memory.
 */
struct etwas_timeline *etwas_clock_snapshots_read_timeline(struct etwas_trace *trace, bool whole);

/*
 * Replaces the timeline of the trace under the table's lock. `complete` says that it is that of the
 * whole file. The trace owns it from here on.
 */
void etwas_clock_snapshots_set_timeline(struct etwas_trace *trace, struct etwas_timeline *timeline,
                                        bool complete);

#endif
