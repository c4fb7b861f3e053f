/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_LANE_H
#define ETWAS_TOOLS_SHIP_RUN_LANE_H

/*
 * A thread per shard, which sends one job after the other, while the next one is being made.
 *
 * All jobs of a file go to the lane of its session's shard, which keeps their order. A job is sent
 * after the previous one has arrived. There is one job more than shards, so that one can be made
 * while all lanes send.
 */

#include "ship/schema/columns.h"
#include "ship/state/cursor.h"
#include "ship/state/server_progress.h"
#include "ship/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct etwas_ship_source;

enum etwas_ship_work {
    ETWAS_SHIP_ASK, /* query what the servers have of the file */
    ETWAS_SHIP_SEND_BLOCK,
    ETWAS_SHIP_SEND_END,
    ETWAS_SHIP_SEND_GONE,
};

struct etwas_ship_job {
    struct etwas_ship_job *next;
    enum etwas_ship_work work;
    struct etwas_ship_source *source;
    /* Written by the lane, under etwas_ship_lanes_hold, until the job is done. */
    struct etwas_ship_cursor *cursor;
    struct etwas_ship_block block; /* its columns are the two below */
    bool is_again;                 /* the cursor says that it was sent before */
    bool without_events;           /* all events of the block have arrived already */

    /*
     * For ETWAS_SHIP_ASK, as in etwas_ship_file_key. They are copies, because the cursor changes if
     * the file is dropped meanwhile.
     */
    int64_t ended_ns;
    int64_t gone_ns;

    /* The results. */
    enum etwas_ship_sent sent;
    bool is_unkept; /* not sent, since the cursor could not be written; reported */
    struct etwas_ship_server_progress progress; /* for ETWAS_SHIP_ASK */

    struct etwas_columns events;
    struct etwas_columns buffers;
};

struct etwas_ship_lanes;

struct etwas_ship_lanes_options {
    struct etwas_ship_target *target;
    struct etwas_ship_state *state;
    int stop;        /* readable when the run is to end */
    bool is_patient; /* retries to write a cursor once a second */
};

/* Returns NULL after reporting that there is not enough memory, or too many threads. */
struct etwas_ship_lanes *etwas_ship_lanes_open(const struct etwas_ship_lanes_options *options);

/*
 * Call it when the target's `stop` is readable. Waits until no thread sends. Jobs that were done
 * meanwhile can still be taken.
 */
void etwas_ship_lanes_end(struct etwas_ship_lanes *lanes);

/* Likewise, and discards the remaining jobs. `lanes` may be NULL. */
void etwas_ship_lanes_close(struct etwas_ship_lanes *lanes);

/* Returns a descriptor that is readable when a job is done. */
int etwas_ship_lanes_wake(const struct etwas_ship_lanes *lanes);

/* Returns the number of jobs. Each has memory for a block. */
uint32_t etwas_ship_lanes_jobs(const struct etwas_ship_lanes *lanes);

/*
 * Returns a job for the shard, with empty columns, to be put or freed. NULL: enough is in flight.
 */
struct etwas_ship_job *etwas_ship_lanes_job(struct etwas_ship_lanes *lanes, uint32_t shard);
void etwas_ship_lanes_put(struct etwas_ship_lanes *lanes, uint32_t shard,
                          struct etwas_ship_job *job);
void etwas_ship_lanes_free(struct etwas_ship_lanes *lanes, struct etwas_ship_job *job);

/* Returns a job that is done, to be freed; NULL: none. */
struct etwas_ship_job *etwas_ship_lanes_done(struct etwas_ship_lanes *lanes);

/* Withdraws a job of the file that is not being sent yet, to be freed. NULL: there is none. */
struct etwas_ship_job *etwas_ship_lanes_withdraw(struct etwas_ship_lanes *lanes, uint32_t shard,
                                                 const struct etwas_ship_source *source);

/*
 * While it is held, the lane changes no cursor of the shard's files. Hold it only for moments, or
 * for one write of a cursor.
 */
void etwas_ship_lanes_hold(struct etwas_ship_lanes *lanes, uint32_t shard);
void etwas_ship_lanes_let_go(struct etwas_ship_lanes *lanes, uint32_t shard);

#endif
