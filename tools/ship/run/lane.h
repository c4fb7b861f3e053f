/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_RUN_LANE_H
#define ETWAS_TOOLS_SHIP_RUN_LANE_H

/*
 * A thread a shard, which sends what files were made into, one job after the other, while the next
 * is being made.
 *
 * A file's jobs all go to the lane of its session's shard, in the order in which they are put, and
 * one is sent when that before it has arrived. There is one job more than shards: while all of them
 * are sent, one can be made.
 */

#include "ship/schema/columns.h"
#include "ship/state/cursor.h"
#include "ship/state/server_progress.h"
#include "ship/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct etwas_ship_source;

enum etwas_ship_work {
    ETWAS_SHIP_ASK, /* what the servers have of the file */
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
    bool is_again;                 /* the cursor says that it was sent already */
    bool without_events;           /* they are there already, all of this block */

    /*
     * For ETWAS_SHIP_ASK: as in etwas_ship_file_key. The file may be removed meanwhile, and its
     * cursor then says so.
     */
    int64_t ended_ns;
    int64_t gone_ns;

    /* When it is done. */
    enum etwas_ship_sent sent;
    bool is_unkept; /* it was not sent, since the cursor could not be written; said */
    struct etwas_ship_server_progress progress; /* of ETWAS_SHIP_ASK */

    struct etwas_columns events;
    struct etwas_columns buffers;
};

struct etwas_ship_lanes;

struct etwas_ship_lanes_options {
    struct etwas_ship_target *target;
    struct etwas_ship_state *state;
    int stop;        /* readable from when all shall end */
    bool is_patient; /* where a cursor cannot be written it is tried again, once a second */
};

/* NULL after a message: there is no memory, or there can be no more threads. */
struct etwas_ship_lanes *etwas_ship_lanes_open(const struct etwas_ship_lanes_options *options);

/*
 * When the target's `stop` is readable. Waits until no thread sends; jobs that were done meanwhile
 * can be taken still.
 */
void etwas_ship_lanes_end(struct etwas_ship_lanes *lanes);

/* Likewise; jobs that are left are forgotten. NULL: nothing. */
void etwas_ship_lanes_close(struct etwas_ship_lanes *lanes);

/* Readable when a job is done. */
int etwas_ship_lanes_wake(const struct etwas_ship_lanes *lanes);

/* How many jobs there are, each with memory for a block. */
uint32_t etwas_ship_lanes_jobs(const struct etwas_ship_lanes *lanes);

/* A job for the shard, its columns empty. NULL: there is enough on its way. Put it, or free it. */
struct etwas_ship_job *etwas_ship_lanes_job(struct etwas_ship_lanes *lanes, uint32_t shard);
void etwas_ship_lanes_put(struct etwas_ship_lanes *lanes, uint32_t shard,
                          struct etwas_ship_job *job);
void etwas_ship_lanes_free(struct etwas_ship_lanes *lanes, struct etwas_ship_job *job);

/* One that is done. NULL: none. Free it. */
struct etwas_ship_job *etwas_ship_lanes_done(struct etwas_ship_lanes *lanes);

/* Takes back a job of the file that nobody has begun to send. NULL: there is none. Free it. */
struct etwas_ship_job *etwas_ship_lanes_withdraw(struct etwas_ship_lanes *lanes, uint32_t shard,
                                                 const struct etwas_ship_source *source);

/*
 * While it is held, no cursor of the shard's files is changed by the lane. For moments, and a write
 * of a cursor.
 */
void etwas_ship_lanes_hold(struct etwas_ship_lanes *lanes, uint32_t shard);
void etwas_ship_lanes_let_go(struct etwas_ship_lanes *lanes, uint32_t shard);

#endif
