/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_BLOCK_H
#define ETWAS_TOOLS_SHIP_READ_BLOCK_H

/*
 * Blocks: a run of a file's records as rows. The bounds of a block, and bytes of the file that
 * never change, determine its content, so that it can be made again byte by byte, also by another
 * process, after the file has changed. So the bounds contain what does change: the clock readings
 * of the buffer that a session rewrites while it runs, and how much of the file there was to learn
 * descriptions from.
 *
 * An event is what the session counts as one. Other records of etwas, such as descriptions, images
 * of a process that takes stacks, and clock readings, have buffers of their own. These have rows
 * with 0 events, so that no buffer number is missing.
 */

#include "ship/read/file.h"

#include <stdbool.h>
#include <stdint.h>

struct etwas_columns;

/*
 * A position: behind `pos` events of the buffer that begins at `offset`. {0, 0} is before the first
 * event of the file.
 */
struct etwas_ship_position {
    uint64_t offset;
    uint32_t pos;
};

#define ETWAS_SHIP_POINTS 16u

/* The times of raw stamps: a straight line from each point to the next. */
struct etwas_ship_times {
    uint32_t count; /* 0: there are no events; 1: all have the same stamp */
    struct {
        int64_t raw;
        int64_t unix_ns;
    } point[ETWAS_SHIP_POINTS];
    uint32_t error_ns; /* of any time on the line; UINT32_MAX: not known */
};

struct etwas_ship_bounds {
    struct etwas_ship_position from;
    struct etwas_ship_position until;
    /* Descriptions up to this place in the file count for what stands before them, too. */
    uint64_t learned_until;
    uint32_t rows; /* events */
    uint32_t day;  /* of all rows: days since 1970, UTC */
    struct etwas_ship_times times;
};

struct etwas_ship_block {
    struct etwas_ship_bounds bounds;
    /* The caller's, made for the tables that are there; emptied, then filled. */
    struct etwas_columns *events;
    struct etwas_columns *buffers;
};

/* When a block is full. A record beyond is in the next one. */
struct etwas_ship_limits {
    uint32_t rows;  /* events */
    uint64_t bytes; /* of both columns; one event may be 64 KB and more above it */
};
#define ETWAS_SHIP_BLOCK_ROWS 100000u
#define ETWAS_SHIP_BLOCK_BYTES (UINT64_C(16) << 20)

enum etwas_ship_block_result {
    ETWAS_SHIP_BLOCK,       /* there it is; it may have no events, or no buffers */
    ETWAS_SHIP_NOTHING_YET, /* there will be more: etwas_ship_file_look, later */
    ETWAS_SHIP_FILE_END,    /* there is nothing more, and will not be */
    ETWAS_SHIP_FAILED,      /* etwas_ship_file_reason says why */
};

/*
 * Makes the next block behind `from`, which is {0, 0} or where a block ended. Also makes its
 * bounds, which the caller keeps if it may need the block again. A file that grows is read further
 * than it was when etwas_ship_file_look was called; if a block ended behind that, call it again
 * before the next block.
 */
enum etwas_ship_block_result etwas_ship_block_next(struct etwas_ship_file *file,
                                                   const struct etwas_ship_position *from,
                                                   const struct etwas_ship_limits *limits,
                                                   struct etwas_ship_block *block);

/*
 * Makes the block with these bounds again: ETWAS_SHIP_BLOCK or ETWAS_SHIP_FAILED. Bounds come from
 * a file of ours that may be damaged; those that make no sense fail.
 */
enum etwas_ship_block_result etwas_ship_block_again(struct etwas_ship_file *file,
                                                    const struct etwas_ship_bounds *bounds,
                                                    struct etwas_ship_block *block);

/*
 * Makes the rows about the end of a file, which follow its last block: block->buffers gets a row of
 * state 1 (3: the file was recovered) for each of its sessions, and `events` is empty. The bytes
 * are always the same. Fails for a file without an end. For a part of a set `recorded` is
 * meaningless by itself, and may be less than 0, modulo 2^64: the sum over the parts is right.
 */
enum etwas_ship_block_result etwas_ship_block_end(struct etwas_ship_file *file,
                                                  struct etwas_ship_block *block);

/*
 * Finds where the buffer of this number begins, among those of the file's first session: where to
 * go on if only what the servers have is known. Returns false if there is no such buffer;
 * etwas_ship_file_reason says so.
 */
bool etwas_ship_find_buffer(struct etwas_ship_file *file, uint64_t buffer,
                            struct etwas_ship_position *place);

/* An event that the servers have. */
struct etwas_ship_event {
    uint64_t buffer;
    uint32_t pos;
    int64_t unix_ns;
    uint32_t error_ns; /* UINT32_MAX: not known */
};

/*
 * Returns whether the event is one of the file's first session. Another file may have an event at
 * that place, but not at that time. Also returns false if that cannot be told.
 */
bool etwas_ship_has_event(struct etwas_ship_file *file, const struct etwas_ship_event *event);

/* What a file that is dropped has that was not shipped. */
struct etwas_ship_unshipped {
    uint64_t session; /* where it goes on; of an appended file all of the rest is told as its */
    uint32_t part;
    uint64_t events;
    uint64_t bytes;        /* of the file */
    uint64_t first_buffer; /* the lowest number of its buffers */
    struct etwas_ship_position from;
    int64_t first_ns; /* of its events, since 1970, as is the next; 0: there are none */
    int64_t last_ns;
    uint32_t day; /* of the first */
};

/* Counts everything behind `from`. Returns false if it failed; etwas_ship_file_reason says why. */
bool etwas_ship_unshipped_count(struct etwas_ship_file *file,
                                const struct etwas_ship_position *from,
                                struct etwas_ship_unshipped *rest);

/*
 * Appends to `buffers` the row of state 2 about it, without its texts. Returns false without
 * memory.
 */
bool etwas_ship_unshipped_row(const struct etwas_ship_unshipped *rest,
                              struct etwas_columns *buffers);

#endif
