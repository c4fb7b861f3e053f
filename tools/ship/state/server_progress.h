/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_STATE_SERVER_PROGRESS_H
#define ETWAS_TOOLS_SHIP_STATE_SERVER_PROGRESS_H

/*
 * How far a file has arrived, by what the servers say. They are asked if there is no cursor, or if
 * a block was on its way so long ago that they may have forgotten its hash.
 */

#include "ship/read/block.h"
#include "ship/wire/send.h"

#include <stdbool.h>
#include <stdint.h>

/* What the servers have of one session and part, in the replica of the shard that has most. */
struct etwas_ship_server_progress {
    uint64_t events;
    uint64_t buffers;     /* rows of state 0 */
    uint64_t last_buffer; /* the highest number of these; 0: there is none */
    uint64_t ahead;       /* events of buffers behind that one, each once */
    bool has_end;         /* of the file that ended then */
    bool has_other_end;   /* of another one, or of this one before more was appended to it */
    bool has_gone;        /* a file of these, in part or whole, */
    bool has_this_gone;   /* or this one by that row */
    struct etwas_ship_event last; /* of its events; zeros: there is none */
};

/*
 * The file for which rows are queried. Other files of the same session and part differ in their
 * times.
 */
struct etwas_ship_file_key {
    uint64_t session;
    uint32_t part;
    int64_t ended_ns; /* 0: it has not */
    int64_t gone_ns;  /* the last time in the row that says that it went */
};

/* Asks every replica of the session's shard. Call it from the thread that uses the shard. */
enum etwas_ship_sent etwas_ship_server_progress_ask(struct etwas_ship_target *target,
                                                    const struct etwas_ship_file_key *file_key,
                                                    struct etwas_ship_server_progress *progress);

#endif
