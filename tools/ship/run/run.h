/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_H
#define ETWAS_TOOLS_SHIP_RUN_H

/*
 * A run of `etwas ship` that sends: a block of each file in turn, until nothing is left or it is
 * stopped. One thread reads, and the lanes' threads send.
 */

#include "ship/run/lane.h"
#include "ship/run/snapshots.h"
#include "ship/run/sources.h"
#include "ship/settings.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_LOOK_MS = 1000,          /* between looks at a folder, or at a file without more */
    ETWAS_SHIP_OPEN_FILES = 16,         /* each with its learned descriptions */
    ETWAS_SHIP_TURN_BLOCKS = 64,        /* then an open file makes room for one that waits */
    ETWAS_SHIP_SMALL_BYTES = 4 << 20,   /* of a growing file; less is sent at most once a second */
    ETWAS_SHIP_MEMORY_BYTES = 32 << 20, /* of all jobs' blocks together */
    ETWAS_SHIP_LEAST_BLOCK_BYTES = 1 << 17,
};

struct etwas_ship_run {
    const struct etwas_ship_settings *settings;
    char target_name[ETWAS_SHIP_CURSOR_NAME_BYTES]; /* as in keys */
    struct etwas_ship_target *target;
    struct etwas_ship_state *state;
    struct etwas_ship_lanes *lanes;
    struct etwas_ship_sources sources;
    struct etwas_ship_snapshots snapshots;
    struct etwas_ship_limits limits;
    int stop; /* readable when the run is to end */

    const char *folder; /* the followed one, or that of a session; NULL: none */
    bool is_one_session;
    uint64_t session;    /* the only one, if is_one_session */
    bool ends_when_done; /* and not only when it is stopped */

    bool has_looked;  /* the last look saw all files */
    int look_error;   /* why the folder could not be read then; 0: no error */
    int64_t look_ms;  /* when the next look is due */
    int64_t small_ms; /* when the next small block may be sent */
    bool owes_more;   /* there may be cursors of dropped files that are not listed yet */
    int64_t owed_ms;  /* when the next look for them is due */

    bool is_stopped;
    bool is_refused; /* a file could not be read, or must_end */
    bool must_end;   /* a server refused a request */
    bool is_unkept;  /* cursors cannot be written */
    uint64_t unsent; /* files with events that have not arrived */
};

/* Sends what the settings request. Returns the exit status. */
int etwas_ship_run(const struct etwas_ship_settings *settings);

#endif
