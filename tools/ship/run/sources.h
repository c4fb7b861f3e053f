/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_SOURCES_H
#define ETWAS_TOOLS_SHIP_RUN_SOURCES_H

/*
 * The files that are to be shipped, in turn. A file is told from another by what is in it, its
 * session and part, whatever it is called; a folder's entry is known by its mark, so that one with
 * which all is done need not be opened again.
 */

#include "ship/state/cursor.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
    ETWAS_SHIP_SOURCES = 4096,  /* at a time; what else there is comes when some are finished */
    ETWAS_SHIP_MARKS = 1 << 20, /* of finished entries; more are forgotten, and looked at again */
};

enum etwas_ship_phase {
    ETWAS_SHIP_CLOSED, /* not opened yet, or closed since others wait */
    ETWAS_SHIP_ASKING, /* what the servers have of it */
    ETWAS_SHIP_READING,
    ETWAS_SHIP_ENDING, /* its last rows are on their way */
};

struct etwas_ship_source {
    char *path;
    uint64_t mark;     /* of the folder's entry, when it was seen last */
    struct stat facts; /* likewise */
    bool is_seen;      /* in the last look at the folder */
    bool is_gone;      /* there is no file, only rows that are owed */
    bool is_unsent;    /* it is finished, and has events that have not arrived */

    enum etwas_ship_phase phase;
    int64_t due_ms;        /* its next turn, by etwas_ship_now_ms */
    uint64_t resting_mark; /* CLOSED: all of it had arrived when its entry had this mark; 0: not */
    uint32_t in_flight;    /* jobs */
    uint32_t blocks;       /* since it was opened */

    /* While it is open. */
    struct etwas_ship_file *file;
    struct etwas_ship_cursor *cursor; /* the lane's while a job is in flight */
    uint64_t session;
    uint32_t part;
    uint32_t shard;
    struct etwas_ship_position next; /* what was cut ends here */
    uint64_t ahead;                  /* events behind it that have arrived */
    uint64_t behind_buffer; /* where that is: behind this buffer, not found yet; 0: it is known */
    bool is_on_its_way;     /* what the cursor says was sent is to be sent again first */
    bool must_look;         /* there was nothing more: it may have grown */
    bool is_left;           /* nobody writes it any more, and it has no end */
    int64_t idle_since_ms;  /* there is nothing more; 0: there is */
};

struct etwas_ship_sources {
    struct etwas_ship_source **list; /* ETWAS_SHIP_SOURCES */
    uint32_t count;
    uint32_t turn; /* index of the source with the next turn */
    uint32_t open; /* files */
    uint64_t *marks;
    uint32_t mark_count;
    uint32_t mark_room;
    bool is_full; /* there were more in the last look */
};

bool etwas_ship_sources_open(struct etwas_ship_sources *sources);
void etwas_ship_sources_close(struct etwas_ship_sources *sources);

/*
 * Adds a source with the facts of its entry. Returns NULL if the list is full or there is no
 * memory.
 */
struct etwas_ship_source *etwas_ship_sources_add(struct etwas_ship_sources *sources,
                                                 const char *path, const struct stat *facts);
struct etwas_ship_source *etwas_ship_sources_find(const struct etwas_ship_sources *sources,
                                                  const char *path);

/* Another one that is open and of the same session and part. */
struct etwas_ship_source *etwas_ship_sources_same(const struct etwas_ship_sources *sources,
                                                  const struct etwas_ship_source *source);

/*
 * Closes its file and forgets the position, which the cursor on disk has. No job of it may be in
 * flight.
 */
void etwas_ship_sources_shut(struct etwas_ship_sources *sources, struct etwas_ship_source *source);

/*
 * All is done with it, or nothing can be (is_unsent): it is removed, and its entry is passed over
 * from now on, as long as it stays as it is.
 */
void etwas_ship_sources_finish(struct etwas_ship_sources *sources,
                               struct etwas_ship_source *source);

/* What is in it may be something else now: to be removed without a mark. */
void etwas_ship_sources_drop(struct etwas_ship_sources *sources, struct etwas_ship_source *source);

/*
 * Returns the mark of a folder's entry: an even number that changes when the entry is written to or
 * replaced.
 */
uint64_t etwas_ship_mark(const char *path, const struct stat *facts);
void etwas_ship_sources_remember(struct etwas_ship_sources *sources, uint64_t mark);
bool etwas_ship_sources_is_finished(const struct etwas_ship_sources *sources, uint64_t mark);

/* It is finished, and all of it has arrived. */
bool etwas_ship_sources_has_arrived(const struct etwas_ship_sources *sources, uint64_t mark);

#endif
