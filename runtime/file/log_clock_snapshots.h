/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock snapshots of one file (etl/own_record.h). They lie in buffer 0, behind the other
 * records:
 *
 *     session started | so far, file opened | running, running … | file ended
 *     └──── fixed ─────────────────────────┘ └─ running ────────┘
 *
 * A part that is not its session's first inherits those between the first two: some of the
 * session's readings before it, because its first events are older than the part.
 *
 * Room for the last one is always reserved. When there is none for another running clock snapshot,
 * room is made by the first of these that makes any:
 *
 *     1. Clock snapshots between two others with nothing logged in between are dropped, so the file
 *        of an idle session is not changed.
 *     2. All but the last move into a data buffer of their own.
 *     3. Every second one is dropped: of the older half if others may get a buffer later, or in a
 *        circular file, whose older buffers are replaced too; else of all, and from then on only
 *        every second reading is added.
 *
 * A buffer of their own needs room for some in buffer 0, or there would be too many such buffers.
 * In a file of limited size it needs many entries, of which it gets one in
 * ETWAS_CLOCK_SNAPSHOTS_ENTRIES at most.
 *
 * Losses lie behind them, if there are any (log_losses.h). The running clock snapshots then have
 * half of the room.
 *
 * Buffer 0 is brought up to date in the file only when data were written to it since. The object
 * belongs to the log file and has the same caller.
 */
#ifndef ETWAS_FILE_LOG_CLOCK_SNAPSHOTS_H
#define ETWAS_FILE_LOG_CLOCK_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/clock_reading.h"
#include "etl/own_record.h"
#include "file/log_file.h"
#include "file/log_header.h"

enum {
    ETWAS_CLOCK_SNAPSHOTS_LEAST =
        8, /* the least that must fit in buffer 0, or none get a buffer of their own */
    ETWAS_CLOCK_SNAPSHOTS_ENTRIES = 64,  /* the least entries of a file of limited size, likewise */
    ETWAS_CLOCK_SNAPSHOTS_INHERITED = 8, /* most readings that a part inherits from the session */
};

struct etwas_log_clock_snapshots {
    uint32_t begin; /* offset of the first in buffer 0; 0: no room for those of both ends */
    uint32_t fixed;
    uint32_t running;
    uint32_t capacity;  /* of running ones */
    bool is_shared;     /* half of the room was given to losses */
    bool *quiet;        /* per running one: nothing was logged since the one before */
    uint32_t stride;    /* one in so many readings is added */
    uint32_t passed;    /* readings since the last one that was added */
    bool busy;          /* something was logged since the last one that was added */
    int64_t newest;     /* newest stamp of processor 0 in the file, or in a part before */
    uint64_t moved_at;  /* data buffers in the file when clock snapshots moved last */
    uint64_t stored_at; /* data buffers in the file when buffer 0 was brought up to date last */
    uint32_t stored;    /* up to this offset buffer 0 in the file is as in memory */
    bool shrunk;        /* buffer 0 in the file has bytes behind its end */
};

/* Makes a clock snapshot as it lies in buffer 0. Async-signal-safe. */
struct etwas_etl_clock_snapshot_record etwas_log_clock_snapshot(
    const struct etwas_log_header *header, const struct etwas_clock_reading *reading,
    uint32_t reason);

/*
 * Puts the first clock snapshots into buffer 0 in memory, which is complete otherwise. Returns
 * false without memory. After a success, and zeroed, it is ended by etwas_log_clock_snapshots_free.
 */
bool etwas_log_clock_snapshots_begin(struct etwas_log_file *file,
                                     const struct etwas_log_file_options *options);
void etwas_log_clock_snapshots_free(struct etwas_log_clock_snapshots *clock_snapshots);

/* Called for a buffer that was written, before the cursor counts it. */
void etwas_log_clock_snapshots_count_buffer(struct etwas_log_file *file,
                                            const struct etwas_drained *buffer);

/* Puts the last one of a file that is ENDING, or replaces it, in memory only. */
void etwas_log_clock_snapshots_end(struct etwas_log_file *file,
                                   const struct etwas_clock_reading *reading);

/*
 * Adds a clock reading, unless the file has ended. `quiet`: nothing was logged since the one
 * before. Buffer 0 is brought up to date in the file if data were written since the last time. Now
 * and then a data buffer with clock snapshots is written, with this sequence number (0: the next).
 * Returns what was written of it, and the code of a failure of either. A failure costs clock
 * snapshots and no event.
 */
struct etwas_log_write etwas_log_clock_snapshots_add(struct etwas_log_file *file,
                                                     const struct etwas_clock_reading *reading,
                                                     bool quiet, uint32_t sequence_number);

/* Returns how much of buffer 0 the losses may take. */
uint32_t etwas_log_clock_snapshots_loss_bytes(
    const struct etwas_log_clock_snapshots *clock_snapshots);

/* Puts new or changed losses behind the clock snapshots, which make room the first time. */
void etwas_log_clock_snapshots_make_room_for_losses(struct etwas_log_file *file);

/* Returns whether they fill buffer 0 in memory as the members say. */
bool etwas_log_clock_snapshots_are_valid(const struct etwas_log_file *file);

/*
 * Brings buffer 0 in the file up to date: its header, and what lies behind it. etwas_log_file_end
 * completes the header so. Returns false if the system refused.
 */
bool etwas_log_first_buffer_store(struct etwas_log_file *file);

#endif
