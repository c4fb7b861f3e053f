/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_CURSOR_H
#define ETWAS_TOOLS_SHIP_STATE_CURSOR_H

/*
 * How far a file has been shipped. The bounds of a block are in its cursor before it is sent, so
 * that after any doubt the same bytes are sent again.
 *
 * As text it is lines, `NAME VALUE`, always the same ones in the same order, the last of which is a
 * checksum of those before it.
 */

#include "ship/read/block.h"
#include "ship/schema/dialect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_CURSOR_BYTES = 16384, /* of the text, with its 0 */
    ETWAS_SHIP_CURSOR_NAME_BYTES = 1024,
};

/* Which file, sent where. */
struct etwas_ship_key {
    char target[ETWAS_SHIP_CURSOR_NAME_BYTES]; /* by etwas_ship_key_target */
    uint64_t session;
    uint32_t part;
};

/*
 * What a key calls the target of that name: so, or, where that is too long, by its beginning and a
 * hash.
 */
void etwas_ship_key_target(const char *name, char target[ETWAS_SHIP_CURSOR_NAME_BYTES]);

enum etwas_ship_stage {
    ETWAS_SHIP_AT_REST,    /* nothing is on its way */
    ETWAS_SHIP_SENT_BLOCK, /* the block of these bounds is, or was when the shipper ended */
    ETWAS_SHIP_SENT_END,   /* the rows of the file's end are */
    ETWAS_SHIP_SENT_GONE,  /* the rows that say that the file went are */
    ETWAS_SHIP_DONE,       /* all has arrived */
};

/* A row of ETWAS_SHIP_BUFFERS, all but its texts, as numbers. */
struct etwas_ship_row {
    bool is_there;
    uint64_t values[ETWAS_SHIP_BUFFER_COLUMNS];
};

struct etwas_ship_cursor {
    struct etwas_ship_key key;
    uint64_t written_as; /* of the file (file.h): of one session and part there may be several */
    enum etwas_ship_stage stage;
    int64_t since_unix_s; /* what is on its way is */

    /*
     * What its rows say, whatever the host and the file are called by now, and for which types they
     * are made.
     */
    char host[ETWAS_SHIP_CURSOR_NAME_BYTES];
    char file[ETWAS_SHIP_CURSOR_NAME_BYTES];
    struct etwas_ship_dialect dialect;

    struct etwas_ship_position place; /* all before it has arrived, */
    uint64_t events;                  /* so many events and rows of buffers */
    uint64_t buffers;
    /*
     * So many events behind the place have arrived too, but not the rows of their buffers: found
     * without a cursor.
     */
    uint64_t ahead;
    struct etwas_ship_bounds bounds; /* of ETWAS_SHIP_SENT_BLOCK, else 0 */

    /*
     * Where `gone` is there, the file went before it was shipped, or shall go: its rows are owed,
     * behind the block on its way. `gone` counts what stands behind that block; `end` is there
     * where the file had one.
     */
    struct etwas_ship_row gone;
    struct etwas_ship_row end;
};

/* Is what is on its way so for minutes? Servers may have forgotten it. */
bool etwas_ship_cursor_is_old(const struct etwas_ship_cursor *cursor);

/* What its rows are to say from now on: `path` is the file's. */
void etwas_ship_cursor_name(struct etwas_ship_cursor *cursor, const char *host, const char *path);

/* Returns the length; `text` ends with a 0. Names in it may have any bytes. */
size_t etwas_ship_cursor_write(const struct etwas_ship_cursor *cursor,
                               char text[ETWAS_SHIP_CURSOR_BYTES]);

/*
 * Any bytes will do. False: they are no cursor, or one that was damaged; *cursor is of no use then.
 */
bool etwas_ship_cursor_read(const char *text, size_t bytes, struct etwas_ship_cursor *cursor);

#endif
