/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_SOURCES_H
#define ETWAS_TOOLS_SHIP_RUN_SOURCES_H

/*
 * The files to ship, in turn. A file is identified by its content, namely its session and part,
 * whatever its name is. An entry of a folder is identified by its mark, so that a finished one need
 * not be opened again.
 */

#include "ship/state/cursor.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
    ETWAS_SHIP_SOURCES = 4096,  /* at a time; others are added when some are finished */
    ETWAS_SHIP_MARKS = 1 << 20, /* of finished entries; beyond that all are forgotten */
};

enum etwas_ship_phase {
    ETWAS_SHIP_CLOSED, /* not opened yet, or closed to make room for others */
    ETWAS_SHIP_ASKING, /* the servers are queried for what they have of it */
    ETWAS_SHIP_READING,
    ETWAS_SHIP_ENDING, /* its last rows are in flight */
};

struct etwas_ship_source {
    char *path;
    uint64_t mark;     /* of the folder's entry, as seen last */
    struct stat facts; /* likewise */
    bool is_seen;      /* by the last look at the folder */
    bool is_gone;      /* the file was dropped, and rows about it are owed */
    bool is_unsent;    /* it is finished, with events that have not arrived */

    enum etwas_ship_phase phase;
    int64_t due_ms;        /* time of its next turn, by etwas_ship_now_ms */
    uint64_t resting_mark; /* CLOSED: its mark when all of it had arrived; 0: not all had */
    uint32_t in_flight;    /* number of jobs */
    uint32_t blocks;       /* since it was opened */

    /* While it is open. */
    struct etwas_ship_file *file;
    struct etwas_ship_cursor *cursor; /* the lane's while a job is in flight */
    uint64_t session;
    uint32_t part;
    uint32_t shard;
    struct etwas_ship_position next; /* end of the last block made */
    uint64_t ahead;                  /* events after `next` that have arrived */
    uint64_t behind_buffer; /* `next` is after this buffer, not found yet; 0: it is known */
    bool is_on_its_way;     /* what was in flight must be sent again first */
    bool must_look;         /* there was nothing more; it may have grown */
    bool is_left;           /* etwas_ship_file_leave was called */
    int64_t idle_since_ms;  /* when it was found to have nothing more; 0: it has more */
};

struct etwas_ship_sources {
    struct etwas_ship_source **list; /* room for ETWAS_SHIP_SOURCES */
    uint32_t count;
    uint32_t turn; /* index of the source with the next turn */
    uint32_t open; /* number of open files */
    uint64_t *marks;
    uint32_t mark_count;
    uint32_t mark_room;
    bool is_full; /* the last look found more */
};

bool etwas_ship_sources_open(struct etwas_ship_sources *sources);
void etwas_ship_sources_close(struct etwas_ship_sources *sources);

/*
 * Adds a source with the facts of its entry. Returns NULL if the list is full or there is not
 * enough memory.
 */
struct etwas_ship_source *etwas_ship_sources_add(struct etwas_ship_sources *sources,
                                                 const char *path, const struct stat *facts);
struct etwas_ship_source *etwas_ship_sources_find(const struct etwas_ship_sources *sources,
                                                  const char *path);

/* Returns another open source of the same session and part, or NULL. */
struct etwas_ship_source *etwas_ship_sources_same(const struct etwas_ship_sources *sources,
                                                  const struct etwas_ship_source *source);

/*
 * Closes its file and forgets the position, which the cursor on disk has. No job of it may be in
 * flight.
 */
void etwas_ship_sources_shut(struct etwas_ship_sources *sources, struct etwas_ship_source *source);

/*
 * Removes a source that is done, or given up (is_unsent). From now on its entry is ignored until it
 * changes.
 */
void etwas_ship_sources_finish(struct etwas_ship_sources *sources,
                               struct etwas_ship_source *source);

/* Removes a source without remembering its mark, since its entry may be another file now. */
void etwas_ship_sources_drop(struct etwas_ship_sources *sources, struct etwas_ship_source *source);

/*
 * Returns the mark of a folder's entry: an even number that changes when the entry is written to or
 * replaced.
 */
uint64_t etwas_ship_mark(const char *path, const struct stat *facts);
void etwas_ship_sources_remember(struct etwas_ship_sources *sources, uint64_t mark);
bool etwas_ship_sources_is_finished(const struct etwas_ship_sources *sources, uint64_t mark);

/* Returns whether the entry is finished and all of it has arrived. */
bool etwas_ship_sources_has_arrived(const struct etwas_ship_sources *sources, uint64_t mark);

#endif
