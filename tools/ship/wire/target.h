/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_TARGET_H
#define ETWAS_TOOLS_SHIP_WIRE_TARGET_H

/*
 * The destination of events: shards, each with one or more replicas that have the same rows.
 *
 * When a target is opened, each shard is queried for its version, both tables, their columns and
 * engines. A shard that would lose or duplicate rows is refused, with a message that says how to
 * correct it.
 */

#include "ship/schema/dialect.h"
#include "ship/wire/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ETWAS_SHIP_FOR_EVER = INT32_MAX
};

/* The purpose of a target, which determines what is checked. */
enum etwas_ship_purpose {
    ETWAS_SHIP_TO_INSERT, /* everything */
    ETWAS_SHIP_TO_READ,   /* not engines and rights, which only inserts need */
    ETWAS_SHIP_TO_CREATE, /* only the version: tables may be missing. There is no dialect */
};

/* Strings must not be NULL unless noted. */
struct etwas_ship_options {
    const struct etwas_ship_shard_addresses *shards;
    uint32_t shard_count;
    /* Identifiers. `table` is that of ETWAS_SHIP_EVENTS. */
    const char *database;
    const char *table;
    /* The file of user and password, or NULL: see secret.h. */
    const char *credentials;
    /* A file of trusted certificates, or NULL: the system's. */
    const char *ca;
    /* For all shards together; 0: unlimited. */
    uint64_t rows_per_s;
    /* The timeout for transient errors, or ETWAS_SHIP_FOR_EVER. */
    uint32_t patience_s;
    /* Blocks are sent compressed by gzip. */
    bool compresses;
    /* Servers are accepted that cannot drop a repeated block, so rows may be stored twice. */
    bool at_least_once;
    enum etwas_ship_purpose purpose;
    /* A descriptor (eventfd(2)) that becomes readable when the process is to end; -1: none. */
    int stop;
};

struct etwas_ship_target;

enum etwas_ship_opened {
    ETWAS_SHIP_OPENED,
    ETWAS_SHIP_OPEN_STOPPED, /* stopped while it waited */
    ETWAS_SHIP_OPEN_REFUSED, /* the reason has been reported */
};

/*
 * Waits for servers that are away, as etwas_ship_send does. What `options` points to must stay
 * valid until the target is closed. A process may have only one target, since this initializes
 * libcurl. Refused if the build lacks libcurl.
 */
enum etwas_ship_opened etwas_ship_target_open(const struct etwas_ship_options *options,
                                              struct etwas_ship_target **target);
void etwas_ship_target_close(struct etwas_ship_target *target); /* may be NULL */

uint32_t etwas_ship_target_shards(const struct etwas_ship_target *target);
uint32_t etwas_ship_target_replicas(const struct etwas_ship_target *target, uint32_t shard);

/* Makes the next request to any replica of the shard begin with the next one. */
void etwas_ship_target_turn(struct etwas_ship_target *target, uint32_t shard);

/*
 * Returns the shard of a session, as the expression of the Distributed tables, `session_id`, does.
 */
uint32_t etwas_ship_target_shard(const struct etwas_ship_target *target, uint64_t session);

/*
 * Returns the name of a target with these options in cursors. It depends on the table and each
 * shard's first replica, not on other replicas. It has only characters that any text file may have.
 * The caller frees it. Returns NULL if there is not enough memory.
 */
char *etwas_ship_target_make_name(const struct etwas_ship_options *options);

/* Returns DATABASE.NAME, quoted for SQL. */
const char *etwas_ship_target_table(const struct etwas_ship_target *target,
                                    enum etwas_ship_table table);

/* Returns the oldest version of any shard, as 18016 or 26007. */
uint32_t etwas_ship_target_version(const struct etwas_ship_target *target);

/* Returns the types for which blocks are encoded. They are those of the tables on all shards. */
const struct etwas_ship_dialect *etwas_ship_target_dialect(const struct etwas_ship_target *target);

#endif
