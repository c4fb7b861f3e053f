/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_TARGET_H
#define ETWAS_TOOLS_SHIP_WIRE_TARGET_H

/*
 * Where events go: shards, each of one or more replicas that have the same rows.
 *
 * When it is opened, each shard is asked what it is: version, both tables, their columns and
 * engines. What would lose rows, or have them twice, is refused with a sentence that says how it is
 * mended.
 */

#include "ship/schema/dialect.h"
#include "ship/wire/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_FOR_EVER = INT32_MAX
};

/* What it is opened for, and so how much is looked at. */
enum etwas_ship_purpose {
    ETWAS_SHIP_TO_INSERT, /* all */
    ETWAS_SHIP_TO_READ,   /* not what only inserts need: engines, rights */
    ETWAS_SHIP_TO_CREATE, /* its tables need not be there: versions alone. It has no dialect then */
};

/* What it is opened with. Strings that may be NULL say so. */
struct etwas_ship_options {
    const struct etwas_ship_shard_addresses *shards;
    uint32_t shard_count;
    /* Identifiers; the second is of ETWAS_SHIP_EVENTS. */
    const char *database;
    const char *table;
    /* A file, or NULL: see secret.h. */
    const char *credentials;
    /* A file of certificates that are trusted, or NULL: the system's are. */
    const char *ca;
    /* All shards together; 0: as fast as may be. */
    uint64_t rows_per_s;
    /* How long what will pass by itself is waited for, or ETWAS_SHIP_FOR_EVER. */
    uint32_t patience_s;
    /* Blocks are sent as gzip has them. */
    bool compresses;
    /* Rows may come twice: a server that cannot drop a block that it has is good enough. */
    bool at_least_once;
    enum etwas_ship_purpose purpose;
    /* A descriptor that is readable from when all shall end (eventfd(2)); -1: there is none. */
    int stop;
};

struct etwas_ship_target;

enum etwas_ship_opened {
    ETWAS_SHIP_OPENED,
    ETWAS_SHIP_OPEN_STOPPED, /* asked to end while it waited */
    ETWAS_SHIP_OPEN_REFUSED, /* it has been said why */
};

/*
 * Waits for servers that are not there yet, as etwas_ship_send does. What `options` points to must
 * stay until the target is closed. One target a process: libcurl is set up by this, and stays so.
 * Without libcurl in the build it is refused.
 */
enum etwas_ship_opened etwas_ship_target_open(const struct etwas_ship_options *options,
                                              struct etwas_ship_target **target);
void etwas_ship_target_close(struct etwas_ship_target *target); /* NULL: nothing */

uint32_t etwas_ship_target_shards(const struct etwas_ship_target *target);
uint32_t etwas_ship_target_replicas(const struct etwas_ship_target *target, uint32_t shard);

/* What any replica of the shard may answer goes to the next one first. */
void etwas_ship_target_turn(struct etwas_ship_target *target, uint32_t shard);

/* The shard of a session: the one that the Distributed tables' expression, `session`, says. */
uint32_t etwas_ship_target_shard(const struct etwas_ship_target *target, uint64_t session);

/*
 * Returns the name of a target with these options in cursors. It is the same for the same shards
 * and table, whatever replicas a shard has beside its first. It has only characters that any text
 * file may have. The caller frees it. Returns NULL if there is no memory.
 */
char *etwas_ship_target_make_name(const struct etwas_ship_options *options);

/* DATABASE.NAME, quoted for SQL. */
const char *etwas_ship_target_table(const struct etwas_ship_target *target,
                                    enum etwas_ship_table table);

/* The server's version as 18016 or 26007: the oldest of any shard. */
uint32_t etwas_ship_target_version(const struct etwas_ship_target *target);

/* What blocks are encoded for: the types that the tables have, the same on all shards. */
const struct etwas_ship_dialect *etwas_ship_target_dialect(const struct etwas_ship_target *target);

#endif
