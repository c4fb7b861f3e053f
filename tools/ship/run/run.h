/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_H
#define ETWAS_TOOLS_SHIP_RUN_H

/*
 * A run of `etwas ship` that sends: its files in turn, a block each, until there is nothing more to
 * send or it is asked to end. One thread reads, the lanes' send.
 */

#include "ship/run/lane.h"
#include "ship/run/snapshots.h"
#include "ship/run/sources.h"
#include "ship/settings.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_LOOK_MS = 1000,        /* at a folder, and at a file that had nothing more */
    ETWAS_SHIP_OPEN_FILES = 16,       /* each with what it has learned */
    ETWAS_SHIP_TURN_BLOCKS = 64,      /* after so many an open file makes room for one that waits */
    ETWAS_SHIP_SMALL_BYTES = 4 << 20, /* of a file that grows: less is one small block a second */
    ETWAS_SHIP_MEMORY_BYTES = 32 << 20, /* of all jobs' blocks together */
    ETWAS_SHIP_LEAST_BLOCK_BYTES = 1 << 17,
};

struct etwas_ship_run {
    const struct etwas_ship_settings *settings;
    char target_name[ETWAS_SHIP_CURSOR_NAME_BYTES]; /* as keys have it */
    struct etwas_ship_target *target;
    struct etwas_ship_state *state;
    struct etwas_ship_lanes *lanes;
    struct etwas_ship_sources sources;
    struct etwas_ship_snapshots snapshots;
    struct etwas_ship_limits limits;
    int stop; /* readable from when all shall end */

    const char *folder; /* that is followed, or a session's; NULL: none */
    bool is_one_session;
    uint64_t session;    /* then it is this one */
    bool ends_when_done; /* and not only when it is asked to */

    bool has_looked;  /* at all that is there, at least once, as of the last look */
    int look_error;   /* why the folder could not be read then; 0: it was */
    int64_t look_ms;  /* the next one */
    int64_t small_ms; /* when the next small block may go */
    bool owes_more;   /* there may be cursors of files that went which are in no list yet */
    int64_t owed_ms;  /* the next look for them */

    bool is_stopped;
    bool is_refused; /* a file could not be read, or as the next */
    bool must_end;   /* a server refused what it was sent */
    bool is_unkept;  /* cursors cannot be written */
    uint64_t unsent; /* files that have events that have not arrived */
};

/* All that it was asked for. Returns what the program exits with. */
int etwas_ship_run(const struct etwas_ship_settings *settings);

#endif
