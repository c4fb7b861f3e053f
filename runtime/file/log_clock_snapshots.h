/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock snapshots of one file (etl/own_record.h). They lie in buffer 0, behind the other
 * records:
 *
 *     session started | so far, file opened | running, running … | file ended
 *     └──── fixed ─────────────────────────┘ └─ running ────────┘
 *
 * Those in the middle of the first two are a part's that is not its session's first: some of the
 * session's readings before it, because its first events are older than the part.
 *
 * Room for the last one is always kept. When there is none for another running clock snapshot, room
 * is made, by the first of these that does it:
 *
 *     1. those go that lie between two others with nothing logged in between, so an idle session's
 *        file is not touched;
 *     2. all but the last move into a data buffer of their own, a clock snapshot buffer;
 *     3. every second one goes: of the older half, since in a circular file older buffers go too,
 *        and others may get a clock snapshot buffer later; of all where there can be none, and from
 *        then on only every second reading is stored.
 *
 * A clock snapshot buffer needs room for some in buffer 0, or there would be too many of it, and in
 * a file of limited size many entries, of which it gets one in ETWAS_CLOCK_SNAPSHOTS_ENTRIES at
 * most.
 *
 * Behind them lie the losses, if there are any (log_losses.h): then the running ones have half of
 * the room that they would have.
 *
 * Buffer 0 is brought up to date in the file only when data were written to it since. Belongs to
 * the log file; the same caller.
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
        8, /* so many running clock snapshots fit in buffer 0, or there are no others */
    ETWAS_CLOCK_SNAPSHOTS_ENTRIES = 64, /* a file of limited size has so many entries, likewise */
    ETWAS_CLOCK_SNAPSHOTS_INHERITED =
        8, /* readings that a part takes over from the session at most */
};

struct etwas_log_clock_snapshots {
    uint32_t begin; /* where in buffer 0 the first is; 0: no room for those of both ends */
    uint32_t fixed;
    uint32_t running;
    uint32_t capacity; /* of running ones */
    bool is_shared;    /* half of that is the losses' by now */
    bool *quiet;       /* of running ones: nothing was logged since the one before */
    uint32_t stride;   /* one in so many readings is taken in */
    uint32_t passed;   /* since then */
    bool busy;         /* something was logged since then */
    int64_t newest;    /* no record of processor 0 in the file, or a part before, is newer */
    uint64_t
        moved_at; /* data buffers in the file when the last clock snapshot buffer was written */
    uint64_t stored_at; /* likewise, when buffer 0 was brought up to date last */
    uint32_t stored;    /* up to here, and not farther, buffer 0 in the file is as in memory */
    bool shrunk;        /* what is behind its end is none of it any more */
};

/* A clock snapshot as it lies in buffer 0. Async-signal-safe. */
struct etwas_etl_clock_snapshot_record etwas_log_clock_snapshot(
    const struct etwas_log_header *header, const struct etwas_clock_reading *reading,
    uint32_t reason);

/*
 * The first clock snapshots, into buffer 0 in memory, which is complete otherwise. False: no
 * memory. After a success, and zeroed, to be ended by etwas_log_clock_snapshots_free.
 */
bool etwas_log_clock_snapshots_begin(struct etwas_log_file *file,
                                     const struct etwas_log_file_options *options);
void etwas_log_clock_snapshots_free(struct etwas_log_clock_snapshots *clock_snapshots);

/* Before the cursor counts a buffer that was written. */
void etwas_log_clock_snapshots_count_buffer(struct etwas_log_file *file,
                                            const struct etwas_drained *buffer);

/* The last one of a file that is ENDING, or another instead of it. In memory. */
void etwas_log_clock_snapshots_end(struct etwas_log_file *file,
                                   const struct etwas_clock_reading *reading);

/*
 * Adds a reading of the clocks, unless the file has ended. `quiet`: nothing was logged since the
 * one before. Buffer 0 is brought up to date in the file if data were written since the last time.
 * Now and then a data buffer with clock snapshots is written, with this sequence number (0: the
 * next); of it is what is returned, and the code of a refusal of either. A refusal costs clock
 * snapshots and no event.
 */
struct etwas_log_write etwas_log_clock_snapshots_add(struct etwas_log_file *file,
                                                     const struct etwas_clock_reading *reading,
                                                     bool quiet, uint32_t sequence_number);

/* What the losses may have of buffer 0. */
uint32_t etwas_log_clock_snapshots_loss_bytes(
    const struct etwas_log_clock_snapshots *clock_snapshots);

/*
 * There are losses, or others than before: they are put behind the clock snapshots, which make room
 * the first time.
 */
void etwas_log_clock_snapshots_make_room_for_losses(struct etwas_log_file *file);

/* Whether they fill buffer 0 in memory as they say. */
bool etwas_log_clock_snapshots_are_valid(const struct etwas_log_file *file);

/* Makes buffer 0 in the file what it is in memory. False when the system refused. */
bool etwas_log_clock_snapshots_store(struct etwas_log_file *file);

#endif
