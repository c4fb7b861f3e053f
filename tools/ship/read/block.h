/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_BLOCK_H
#define ETWAS_TOOLS_SHIP_READ_BLOCK_H

/*
 * Blocks: a run of a file's records as rows. The content of a block is determined by its bounds and
 * by bytes of the file that never change. So any process can make it again byte by byte, also after
 * the file has changed. The bounds contain what may change: the clock readings, whose buffer a
 * session rewrites while it runs, and how much of the file was there to learn descriptions from.
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
 * The position after `pos` events of the buffer that begins at `offset`. {0, 0} is before the first
 * event of the file.
 */
struct etwas_ship_position {
    uint64_t offset;
    uint32_t pos;
};

#define ETWAS_SHIP_POINTS 16u

/* Converts raw stamps to times, by a straight line from each point to the next. */
struct etwas_ship_times {
    uint32_t count; /* 0: no events; 1: all have the same stamp */
    struct {
        int64_t raw;
        int64_t unix_ns;
    } point[ETWAS_SHIP_POINTS];
    uint32_t error_ns; /* maximum for any time on the lines; UINT32_MAX: unknown */
};

struct etwas_ship_bounds {
    struct etwas_ship_position from;
    struct etwas_ship_position until;
    /* Descriptions before this offset in the file apply to earlier events, too. */
    uint64_t learned_until;
    uint32_t rows; /* events */
    uint32_t day;  /* of all rows: days since 1970, UTC */
    struct etwas_ship_times times;
};

struct etwas_ship_block {
    struct etwas_ship_bounds bounds;
    /* Supplied by the caller, opened for the existing tables. They are emptied, then filled. */
    struct etwas_columns *events;
    struct etwas_columns *buffers;
};

/* The limits of a block. A record beyond them goes into the next block. */
struct etwas_ship_limits {
    uint32_t rows;  /* events */
    uint64_t bytes; /* of both tables; one event may exceed it by 64 KB or more */
};
#define ETWAS_SHIP_BLOCK_ROWS 100000u
#define ETWAS_SHIP_BLOCK_BYTES (UINT64_C(16) << 20)

enum etwas_ship_block_result {
    ETWAS_SHIP_BLOCK,       /* a block was made; it may have no events, or no buffers */
    ETWAS_SHIP_NOTHING_YET, /* more may come: call etwas_ship_file_look later */
    ETWAS_SHIP_FILE_END,    /* there is nothing more, and nothing will follow */
    ETWAS_SHIP_FAILED,      /* etwas_ship_file_reason says why */
};

/*
 * Makes the next block after `from`, which is {0, 0} or the end of a block. Also computes its
 * bounds; the caller keeps them if it may need the block again. A growing file is read beyond the
 * size that etwas_ship_file_look saw. If the block ended beyond it, call that again before the next
 * block.
 */
enum etwas_ship_block_result etwas_ship_block_next(struct etwas_ship_file *file,
                                                   const struct etwas_ship_position *from,
                                                   const struct etwas_ship_limits *limits,
                                                   struct etwas_ship_block *block);

/*
 * Makes the block with these bounds again: ETWAS_SHIP_BLOCK or ETWAS_SHIP_FAILED. Bounds come from
 * a cursor file, which may be damaged; inconsistent bounds fail.
 */
enum etwas_ship_block_result etwas_ship_block_again(struct etwas_ship_file *file,
                                                    const struct etwas_ship_bounds *bounds,
                                                    struct etwas_ship_block *block);

/*
 * Makes the rows about the end of a file, which follow its last block. block->buffers gets a row of
 * state 1 (3: the file was recovered) for each of its sessions, and `events` is empty. The bytes
 * are always the same. Fails for a file without an end. For a part of a set, `recorded` is
 * meaningless by itself, and may be less than 0, modulo 2^64: the sum over the parts is right.
 */
enum etwas_ship_block_result etwas_ship_block_end(struct etwas_ship_file *file,
                                                  struct etwas_ship_block *block);

/*
 * Finds where the buffer of this number begins, among those of the file's first session. Used to
 * resume if only the servers know what has arrived. Returns false if there is no such buffer;
 * etwas_ship_file_reason says so.
 */
bool etwas_ship_find_buffer(struct etwas_ship_file *file, uint64_t buffer,
                            struct etwas_ship_position *place);

/* An event that the servers have. */
struct etwas_ship_event {
    uint64_t buffer;
    uint32_t pos;
    int64_t unix_ns;
    uint32_t error_ns; /* UINT32_MAX: unknown */
};

/*
 * Returns whether the event is one of the file's first session. Another file may have an event at
 * that place, but not at that time. Also returns false if that cannot be determined.
 */
bool etwas_ship_has_event(struct etwas_ship_file *file, const struct etwas_ship_event *event);

/* The part of a dropped file that was not shipped. */
struct etwas_ship_unshipped {
    uint64_t session; /* of its first buffer; gets the whole rest of an appended file */
    uint32_t part;
    uint64_t events;
    uint64_t bytes;        /* of the file */
    uint64_t first_buffer; /* the lowest number of these buffers */
    struct etwas_ship_position from;
    int64_t first_ns; /* of its events, since 1970; 0: there are none */
    int64_t last_ns;
    uint32_t day; /* of the first event */
};

/* Counts everything after `from`. Returns false if it failed; etwas_ship_file_reason says why. */
bool etwas_ship_unshipped_count(struct etwas_ship_file *file,
                                const struct etwas_ship_position *from,
                                struct etwas_ship_unshipped *rest);

/*
 * Appends a row of state 2 about it to `buffers`, without texts. Returns false if there is not
 * enough memory.
 */
bool etwas_ship_unshipped_row(const struct etwas_ship_unshipped *rest,
                              struct etwas_columns *buffers);

#endif
