/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_BLOCK_H
#define ETWAS_TOOLS_SHIP_BLOCK_H

/*
 * Blocks: a run of a file's records as rows. What is in a block follows from its bounds and from
 * bytes of the file that never change, so that it can be made again, byte for byte, whatever the
 * file has become meanwhile, and in another process too. So the bounds also have what does change:
 * of the buffer that a session rewrites while it runs, the clocks' readings, and how much of the
 * file was there to learn descriptions from.
 *
 * An event is what the session counts as one. What etwas writes beside them, descriptions, images
 * of a process that takes stacks, readings of the clocks, has buffers of its own: these have rows,
 * so that no number is missing, with 0 events.
 */

#include "ship/file.h"

#include <stdbool.h>
#include <stdint.h>

struct etwas_columns;

/*
 * Behind so many events of the buffer that begins at `offset`. {0, 0} is before the file's first.
 */
struct etwas_ship_position {
    uint64_t offset;
    uint32_t pos;
};

#define ETWAS_SHIP_POINTS 16u

/* What time it was by raw stamps: a line from each point to the next. */
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
 * The next block behind `from`, which is {0, 0} or where a block ended. Its bounds are made here:
 * who may have to make it again keeps them. A file that grows is read further than it was when it
 * was looked at: where a block ended behind that, it has to be looked at before the next.
 */
enum etwas_ship_block_result etwas_ship_block_next(struct etwas_ship_file *file,
                                                   const struct etwas_ship_position *from,
                                                   const struct etwas_ship_limits *limits,
                                                   struct etwas_ship_block *block);

/*
 * The block with these bounds again: ETWAS_SHIP_BLOCK or ETWAS_SHIP_FAILED, also where they make no
 * sense. Bounds come from a file of ours that may be damaged.
 */
enum etwas_ship_block_result etwas_ship_block_again(struct etwas_ship_file *file,
                                                    const struct etwas_ship_bounds *bounds,
                                                    struct etwas_ship_block *block);

/*
 * What a file that has ended says of itself, to go behind its last block: block->buffers gets a row
 * of state 1 (3: the file was recovered) for each of its sessions, `events` is empty. Always the
 * same bytes. Fails for a file without an end. Of a part of a set `recorded` alone says nothing,
 * and may be less than 0, modulo 2^64: the sum over the parts is right.
 */
enum etwas_ship_block_result etwas_ship_block_end(struct etwas_ship_file *file,
                                                  struct etwas_ship_block *block);

/*
 * The place where the buffer of this number begins, of those of the file's first session: where to
 * go on when nothing but what the server has is known. False: there is no such buffer;
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
 * Is it the file's, of its first session? Another file may have one at that place, but not at that
 * time. False too where that cannot be told.
 */
bool etwas_ship_has_event(struct etwas_ship_file *file, const struct etwas_ship_event *event);

/* What a file still has, of one that goes before all of it was shipped. */
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

/* Counts what stands behind `from`, all that is there. False: etwas_ship_file_reason says why. */
bool etwas_ship_unshipped_count(struct etwas_ship_file *file,
                                const struct etwas_ship_position *from,
                                struct etwas_ship_unshipped *rest);

/*
 * Appends the row of state 2 that says so to `buffers`, without its texts. False: there is no
 * memory.
 */
bool etwas_ship_unshipped_row(const struct etwas_ship_unshipped *rest,
                              struct etwas_columns *buffers);

#endif
