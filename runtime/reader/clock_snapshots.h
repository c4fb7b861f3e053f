/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finding the clock snapshots of a file: in buffer 0, and in the data buffers that begin with one. OpenTrace
 * looks at buffer 0 alone. ProcessTrace finds the others when it looks at each buffer's header
 * anyway; who asks for a time before that has the file looked through then. A file of another
 * system has none.
 *
 * What cannot be read has no clock snapshots; it is no damage here.
 */
#ifndef ETWAS_READER_CLOCK_SNAPSHOTS_H
#define ETWAS_READER_CLOCK_SNAPSHOTS_H

#include "etl/own_record.h"
#include "reader/timeline.h"
#include "reader/trace.h"

/* What is looked at of each data buffer. */
struct etwas_buffer_beginning {
    struct etwas_etl_buffer_header header;
    uint8_t record[sizeof(struct etwas_etl_clock_snapshot_record)];
};
_Static_assert(sizeof(struct etwas_buffer_beginning) == 168, "read at once");

/* Is this the beginning of a clock snapshot? Of so many bytes as a clock snapshot has. */
bool etwas_clock_snapshots_match(const uint8_t *bytes);

/*
 * Adds the clock snapshots of buffer 0, as it is now: that of a running session grows. *running_from: from this stamp on no older
 * one has left it for a clock snapshot buffer; INT64_MAX: it has none that could be left there. False: no memory.
 */
bool etwas_clock_snapshots_add_first_buffer(struct etwas_trace *trace,
                                            struct etwas_clock_snapshot_list *list,
                                            int64_t *running_from);

/* Where the records of buffer 0 end now, by its header; 0: that cannot be read. */
uint32_t etwas_clock_snapshots_first_buffer_end(struct etwas_trace *trace);

/* Adds those of the data buffer at `offset`, if it is a clock snapshot buffer. False: no memory. */
bool etwas_clock_snapshots_add_buffer(struct etwas_trace *trace,
                                      struct etwas_clock_snapshot_list *list, uint64_t offset,
                                      const struct etwas_buffer_beginning *beginning);

/*
 * The same for the one at *offset, which goes on to where the next may be, where all have one size. False: no memory.
 */
bool etwas_clock_snapshots_scan_next(struct etwas_trace *trace,
                                     struct etwas_clock_snapshot_list *list, uint64_t *offset);

/* The timeline of buffer 0, or of the whole file: one read for each buffer. NULL: no memory. */
struct etwas_timeline *etwas_clock_snapshots_read_timeline(struct etwas_trace *trace, bool whole);

/* Gives the trace another timeline, which is that of the whole file if it is `complete`. */
void etwas_clock_snapshots_set_timeline(struct etwas_trace *trace, struct etwas_timeline *timeline,
                                        bool complete);

#endif
