/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The clock snapshots of one file (etl/own_record.h). They lie in buffer 0, after the other
 * records:
 *
 *     session started | so far, file opened | running, running … | file ended
 *     └──── fixed ─────────────────────────┘ └─ running ────────┘
 *
 * A part that is not its session's first inherits those between "session started" and "file
 * opened": some of the session's earlier readings, because its first events are older than the
 * part.
 *
 * Room for the last one is always reserved. When there is none for another running clock snapshot,
 * the first of these steps that yields room makes it:
 *
 *     1. Clock snapshots between two others with nothing logged in between are dropped, so the file
 *        of an idle session is not changed.
 *     2. All but the last move into a data buffer of their own.
 *     3. Every second one is dropped: of the older half if others may get a buffer later, or in a
 *        circular file, whose older buffers are replaced too; else of all, and from then on only
 *        every second reading is added.
 *
 * They get a buffer of their own only if buffer 0 has room for several, or there would be too many
 * such buffers. In a file of limited size at most one in ETWAS_CLOCK_SNAPSHOTS_ENTRIES entries is
 * such a buffer, so a file with fewer entries has none.
 *
 * Losses follow them, if there are any (log_losses.h). The running clock snapshots then have half
 * of the room.
 *
 * Buffer 0 in the file is updated only if data were written to the file since the last update. The
 * object belongs to the log file and has the same caller.
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
    ETWAS_CLOCK_SNAPSHOTS_LEAST = 8, /* if fewer fit in buffer 0, none get a buffer of their own */
    ETWAS_CLOCK_SNAPSHOTS_ENTRIES = 64,  /* least entries of a file of limited size for that */
    ETWAS_CLOCK_SNAPSHOTS_INHERITED = 8, /* most readings that a part inherits from the session */
};

struct etwas_log_clock_snapshots {
    uint32_t begin; /* offset of the first in buffer 0; 0: no room for the first and the last */
    uint32_t fixed;
    uint32_t running;
    uint32_t capacity;  /* how many running ones fit */
    bool is_shared;     /* losses have half of the room */
    bool *quiet;        /* per running one: nothing was logged since the previous one */
    uint32_t stride;    /* one of every `stride` readings is added */
    uint32_t passed;    /* readings since the last one that was added */
    bool busy;          /* something was logged since the last one that was added */
    int64_t newest;     /* newest stamp of processor 0 in the file, or in an earlier part */
    uint64_t moved_at;  /* data buffers in the file when clock snapshots moved last */
    uint64_t stored_at; /* data buffers in the file when buffer 0 was updated last */
    uint32_t stored;    /* up to this offset, buffer 0 in the file equals that in memory */
    bool shrunk;        /* buffer 0 in the file has bytes after its end */
};

/* Makes a clock snapshot in the form that it has in buffer 0. Async-signal-safe. */
struct etwas_etl_clock_snapshot_record etwas_log_clock_snapshot(
    const struct etwas_log_header *header, const struct etwas_clock_reading *reading,
    uint32_t reason);

/*
 * Stores the first clock snapshots in buffer 0 in memory, which is complete otherwise. Returns
 * false if there is no memory. After a success, or zeroed, etwas_log_clock_snapshots_free frees it.
 */
bool etwas_log_clock_snapshots_begin(struct etwas_log_file *file,
                                     const struct etwas_log_file_options *options);
void etwas_log_clock_snapshots_free(struct etwas_log_clock_snapshots *clock_snapshots);

/* Called for a buffer that was written, before the cursor counts it. */
void etwas_log_clock_snapshots_count_buffer(struct etwas_log_file *file,
                                            const struct etwas_drained *buffer);

/* Adds or replaces the last one of a file that is ENDING, in memory only. */
void etwas_log_clock_snapshots_end(struct etwas_log_file *file,
                                   const struct etwas_clock_reading *reading);

/*
 * Adds a clock reading, unless the file has ended. `quiet`: nothing was logged since the previous
 * one. Updates buffer 0 in the file if data were written since the last update. Occasionally writes
 * a data buffer with clock snapshots, with this sequence number (0: the next). Returns what was
 * written of that buffer, and the code of a failure of either write. A failure loses clock
 * snapshots and no event.
 */
struct etwas_log_write etwas_log_clock_snapshots_add(struct etwas_log_file *file,
                                                     const struct etwas_clock_reading *reading,
                                                     bool quiet, uint32_t sequence_number);

/* Returns how much of buffer 0 the losses may take. */
uint32_t etwas_log_clock_snapshots_loss_bytes(
    const struct etwas_log_clock_snapshots *clock_snapshots);

/* Writes new or changed losses after the clock snapshots, which make room the first time. */
void etwas_log_clock_snapshots_make_room_for_losses(struct etwas_log_file *file);

/* Returns whether buffer 0 in memory agrees with the members. */
bool etwas_log_clock_snapshots_are_valid(const struct etwas_log_file *file);

/*
 * Updates buffer 0 in the file: its header, and what follows it. etwas_log_file_end completes the
 * header by this. Returns false if the system refused.
 */
bool etwas_log_first_buffer_store(struct etwas_log_file *file);

#endif
