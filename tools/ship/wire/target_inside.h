/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_TARGET_INSIDE_H
#define ETWAS_TOOLS_SHIP_WIRE_TARGET_INSIDE_H

/* The inner structure of a target, for the sources that send to it and query it. */

#include "ship/wait.h"
#include "ship/wire/http.h"
#include "ship/wire/pack.h"
#include "ship/wire/secret.h"
#include "ship/wire/send.h"
#include "ship/wire/target.h"

struct etwas_ship_replica {
    struct etwas_ship_http_options options;
    struct etwas_ship_http *http; /* NULL until it is used first */
    uint32_t version;             /* 0: not asked since it was away last */
};

/* All of it is for the thread that uses the shard. */
struct etwas_ship_shard {
    uint32_t count;
    uint32_t current; /* the replica that answered last */
    bool is_checked;
    bool is_away;    /* what was hurried found nobody */
    uint32_t chance; /* state of the numbers by chance */
    struct etwas_ship_replica replicas[ETWAS_SHIP_REPLICAS];
    struct etwas_ship_pack pack;
};

enum {
    ETWAS_SHIP_TABLE_BYTES = 256, /* of a name as SQL has it */
    ETWAS_SHIP_OLDEST_VERSION = 18016,
};

struct etwas_ship_target {
    const struct etwas_ship_options *options;
    struct etwas_ship_secret secret;
    struct etwas_ship_rate rate;
    char tables[ETWAS_SHIP_TABLES][ETWAS_SHIP_TABLE_BYTES];

    /*
     * What the shards that were checked have in common. Written under the lock; the dialect once,
     * before blocks are made.
     */
    pthread_mutex_t lock;
    uint32_t version;
    bool has_dialect;
    struct etwas_ship_dialect dialect;

    /*
     * While it is opened: when the patience for all shards together is over, by etwas_ship_now_ms.
     * 0: it is open, or that is for ever.
     */
    int64_t open_end_ms;

    uint32_t shard_count;
    struct etwas_ship_shard shards[];
};

/* ---- attempt.c ------------------------------------------------------------------------------- */

/* A request that any replica may get, again and again. */
struct etwas_ship_attempt {
    /* All but `query`, and this for servers before and from ETWAS_SHIP_MODERN_INSERTS. */
    struct etwas_ship_request request;
    const char *query;
    const char *modern_query;
    /* Its good answer is empty; else rows of so many columns. */
    bool is_insert;
    uint32_t columns;
    /* Each replica is tried once, whatever the patience is. */
    bool is_hurried;
    /* As of etwas_ship_question. */
    uint32_t *error;
};

enum {
    ETWAS_SHIP_MODERN_INSERTS = 22002 /* by tokens, and asynchronous if they are not told */
};

/*
 * Until it is answered. `replica` is one, or ETWAS_SHIP_ANY. *reply is the answer, until the
 * shard's next request.
 */
enum etwas_ship_sent etwas_ship_attempt(struct etwas_ship_target *target, uint32_t shard,
                                        int replica, const struct etwas_ship_attempt *attempt,
                                        struct etwas_ship_reply *reply);

/* The replica that answered last. */
static inline struct etwas_ship_replica *etwas_ship_answered(struct etwas_ship_target *target,
                                                             uint32_t shard)
{
    return &target->shards[shard].replicas[target->shards[shard].current];
}

/* ---- send.c ---------------------------------------------------------------------------------- */

/* etwas_ship_ask, of one replica or ETWAS_SHIP_ANY, whether the shard is checked or not. */
enum etwas_ship_sent etwas_ship_ask_one(struct etwas_ship_target *target, uint32_t shard,
                                        int replica, bool is_hurried,
                                        const struct etwas_ship_question *question);

/* ---- check.c --------------------------------------------------------------------------------- */

/*
 * Checks a shard, as etwas_ship_target_open says, if that was not done. A hurried check does not
 * wait for a server that is away.
 */
enum etwas_ship_sent etwas_ship_check(struct etwas_ship_target *target, uint32_t shard,
                                      bool is_hurried);

#endif
