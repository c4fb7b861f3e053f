/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_CURSOR_H
#define ETWAS_TOOLS_SHIP_STATE_CURSOR_H

/*
 * How far a file has been shipped. The bounds of a block are in the cursor before it is sent, so
 * that the same bytes can be sent again after any doubt.
 *
 * The text has lines `NAME VALUE`, always in the same order. The last one is a checksum of the
 * others.
 */

#include "ship/read/block.h"
#include "ship/schema/dialect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_CURSOR_BYTES = 16384, /* of the text, with its terminating 0 */
    ETWAS_SHIP_CURSOR_NAME_BYTES = 1024,
};

/* Identifies the file and its target. */
struct etwas_ship_key {
    char target[ETWAS_SHIP_CURSOR_NAME_BYTES]; /* by etwas_ship_key_target */
    uint64_t session;
    uint32_t part;
};

/*
 * Makes the name of a target in keys. It is the name itself, or if that is too long its beginning
 * and a hash.
 */
void etwas_ship_key_target(const char *name, char target[ETWAS_SHIP_CURSOR_NAME_BYTES]);

enum etwas_ship_stage {
    ETWAS_SHIP_AT_REST,    /* nothing is in flight */
    ETWAS_SHIP_SENT_BLOCK, /* a block is in flight, or was when the shipper ended: `bounds` */
    ETWAS_SHIP_SENT_END,   /* the rows about the file's end are in flight */
    ETWAS_SHIP_SENT_GONE,  /* the rows about the dropped file are in flight */
    ETWAS_SHIP_DONE,       /* all has arrived */
};

/* The numbers in a row of ETWAS_SHIP_BUFFERS. Its texts are not here. */
struct etwas_ship_row {
    bool is_there;
    uint64_t values[ETWAS_SHIP_BUFFER_COLUMNS];
};

struct etwas_ship_cursor {
    struct etwas_ship_key key;
    uint64_t written_as; /* of the file (file.h); a session and part may have several */
    enum etwas_ship_stage stage;
    int64_t since_unix_s; /* when what is in flight was first sent */

    /*
     * The contents of its rows, even if host and file have other names now, and the types of their
     * encoding.
     */
    char host[ETWAS_SHIP_CURSOR_NAME_BYTES];
    char file[ETWAS_SHIP_CURSOR_NAME_BYTES];
    struct etwas_ship_dialect dialect;

    struct etwas_ship_position place; /* all before it has arrived: */
    uint64_t events;                  /* this number of events and of rows of buffers */
    uint64_t buffers;
    /*
     * Number of events after `place` that have arrived, too, but without the rows of their buffers.
     * It is 0 except after resuming without a cursor.
     */
    uint64_t ahead;
    struct etwas_ship_bounds bounds; /* of the block in flight, else 0 */

    /*
     * If `gone` is there, the file was dropped before it was shipped, or is about to be. The rows
     * about that are owed, after the block in flight. `gone` counts the events behind that block.
     * `end` is there if the file had an end.
     */
    struct etwas_ship_row gone;
    struct etwas_ship_row end;
};

/*
 * Returns whether something has been in flight for minutes, so that servers may have forgotten it.
 */
bool etwas_ship_cursor_is_old(const struct etwas_ship_cursor *cursor);

/* Sets the names in its rows from now on. `path` is the file's. */
void etwas_ship_cursor_name(struct etwas_ship_cursor *cursor, const char *host, const char *path);

/* Writes the cursor as text, with a terminating 0. Returns the length. Names may have any bytes. */
size_t etwas_ship_cursor_write(const struct etwas_ship_cursor *cursor,
                               char text[ETWAS_SHIP_CURSOR_BYTES]);

/*
 * Reads a cursor from any bytes. Returns false if they are not a cursor or it is damaged; *cursor
 * is undefined then.
 */
bool etwas_ship_cursor_read(const char *text, size_t bytes, struct etwas_ship_cursor *cursor);

#endif
