/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_SERVER_PROGRESS_H
#define ETWAS_TOOLS_SHIP_STATE_SERVER_PROGRESS_H

/*
 * How far a file has arrived, according to the servers. They are queried if there is no cursor.
 * They are also queried if a block was in flight so long ago that they may have forgotten its hash.
 */

#include "ship/read/block.h"
#include "ship/wire/send.h"

#include <stdbool.h>
#include <stdint.h>

/* What the servers have of a session and part: the maximum over the replicas of its shard. */
struct etwas_ship_server_progress {
    uint64_t events;
    uint64_t buffers;             /* rows of state 0 */
    uint64_t last_buffer;         /* highest number of these buffers; 0: none */
    uint64_t ahead;               /* distinct events of later buffers */
    bool has_end;                 /* the end of this file */
    bool has_other_end;           /* another end: of another file, or of this one before it grew */
    bool has_gone;                /* a row about a dropped file of this session and part */
    bool has_this_gone;           /* this row about the dropped file */
    struct etwas_ship_event last; /* the last event; zeros: none */
};

/*
 * Identifies the file whose rows are queried. Other files of the same session and part differ in
 * their times.
 */
struct etwas_ship_file_key {
    uint64_t session;
    uint32_t part;
    int64_t ended_ns; /* 0: it has not ended */
    int64_t gone_ns;  /* the last time in the row about the dropped file */
};

/* Queries every replica of the session's shard. Call it from the thread that uses the shard. */
enum etwas_ship_sent etwas_ship_server_progress_ask(struct etwas_ship_target *target,
                                                    const struct etwas_ship_file_key *file_key,
                                                    struct etwas_ship_server_progress *progress);

#endif
