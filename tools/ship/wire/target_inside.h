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
    struct etwas_ship_http *http; /* NULL until its first use */
    uint32_t version;             /* 0: not queried since it was last away */
};

/* Used only by the thread that uses the shard. */
struct etwas_ship_shard {
    uint32_t count;
    uint32_t current; /* the replica that answered last */
    bool is_checked;
    bool is_away;    /* a hurried check reached no replica */
    uint32_t chance; /* state of the random number generator */
    struct etwas_ship_replica replicas[ETWAS_SHIP_REPLICAS];
    struct etwas_ship_pack pack;
};

enum {
    ETWAS_SHIP_TABLE_BYTES = 256, /* of a name quoted for SQL */
    ETWAS_SHIP_OLDEST_VERSION = 18016,
};

struct etwas_ship_target {
    const struct etwas_ship_options *options;
    struct etwas_ship_secret secret;
    struct etwas_ship_rate rate;
    char tables[ETWAS_SHIP_TABLES][ETWAS_SHIP_TABLE_BYTES];

    /*
     * What the checked shards have in common. Written under the lock; the dialect is written once,
     * before blocks are made.
     */
    pthread_mutex_t lock;
    uint32_t version;
    bool has_dialect;
    struct etwas_ship_dialect dialect;

    /*
     * While the target is being opened: when the timeout for all shards together expires, by
     * etwas_ship_now_ms. 0: it is open, or there is no timeout.
     */
    int64_t open_end_ms;

    uint32_t shard_count;
    struct etwas_ship_shard shards[];
};

/* ---- attempt.c ------------------------------------------------------------------------------- */

/* A request that may be sent to any replica, repeatedly. */
struct etwas_ship_attempt {
    /*
     * The request without its query. `modern_query`, if not NULL, is for servers from
     * ETWAS_SHIP_MODERN_INSERTS on, `query` for the others.
     */
    struct etwas_ship_request request;
    const char *query;
    const char *modern_query;
    /* A good answer is empty. Otherwise it has rows with this number of columns. */
    bool is_insert;
    uint32_t columns;
    /* Each replica is tried once, whatever the timeout is. */
    bool is_hurried;
    /* As in etwas_ship_question. */
    uint32_t *error;
};

enum {
    ETWAS_SHIP_MODERN_INSERTS = 22002 /* with tokens; inserts may be asynchronous by default */
};

/*
 * Sends the request until it is answered. `replica` is an index or ETWAS_SHIP_ANY. *reply is valid
 * until the shard's next request.
 */
enum etwas_ship_sent etwas_ship_attempt(struct etwas_ship_target *target, uint32_t shard,
                                        int replica, const struct etwas_ship_attempt *attempt,
                                        struct etwas_ship_reply *reply);

/* Returns the replica that answered last. */
static inline struct etwas_ship_replica *etwas_ship_answered(struct etwas_ship_target *target,
                                                             uint32_t shard)
{
    return &target->shards[shard].replicas[target->shards[shard].current];
}

/* ---- send.c ---------------------------------------------------------------------------------- */

/* Like etwas_ship_ask, for one replica or ETWAS_SHIP_ANY, but does not check the shard. */
enum etwas_ship_sent etwas_ship_ask_one(struct etwas_ship_target *target, uint32_t shard,
                                        int replica, bool is_hurried,
                                        const struct etwas_ship_question *question);

/* ---- check.c --------------------------------------------------------------------------------- */

/*
 * Checks a shard, as described in target.h, unless that was done. A hurried check does not wait for
 * a server that is away.
 */
enum etwas_ship_sent etwas_ship_check(struct etwas_ship_target *target, uint32_t shard,
                                      bool is_hurried);

#endif
