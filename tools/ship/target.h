/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_TARGET_H
#define ETWAS_TOOLS_SHIP_TARGET_H

/*
 * Where events go: shards, each of one or more replicas that have the same rows.
 *
 * When it is opened, each shard is asked what it is: version, both tables, their columns and engines. What would lose
 * rows, or have them twice, is refused with a sentence that says how it is mended.
 */

#include "ship/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_ship_table {
    ETWAS_SHIP_EVENTS,  /* DATABASE.NAME */
    ETWAS_SHIP_BUFFERS, /* DATABASE.NAME_buffer */
    ETWAS_SHIP_TABLES,
};

/* What target and settings agree on; of `etwas ship` all is in etwas_ship_settings. */
struct etwas_ship_options {
    const struct etwas_ship_shard_addresses *shards;
    uint32_t shard_count;
    const char *table;       /* DATABASE.NAME */
    const char *credentials; /* a file, or NULL: see secret.h */
    const char *ca;          /* a file of certificates that are trusted, or NULL: the system's */
    uint64_t rows_per_s;     /* all shards together; 0: as fast as may be */
    uint32_t patience_s;     /* how long what will pass is waited for; ETWAS_SHIP_FOR_EVER */
    bool compresses;
    bool
        at_least_once; /* rows may come twice: a server that cannot drop a block that it has is good enough */
    bool reads_only; /* for questions alone: what only inserts need is not looked at */
    int stop; /* a descriptor that is readable from when all shall end (eventfd(2)); -1: none */
};

enum {
    ETWAS_SHIP_FOR_EVER = UINT32_MAX
};

struct etwas_ship_target;

enum etwas_ship_opened {
    ETWAS_SHIP_OPENED,
    ETWAS_SHIP_OPEN_STOPPED, /* asked to end while it waited */
    ETWAS_SHIP_OPEN_REFUSED, /* it has been said why */
};

/*
 * Waits for servers that are not there yet, as etwas_ship_send does. What `options` points to must stay until the target is
 * closed. One target a process: libcurl is set up by this, and stays so. Without libcurl in the build it is refused.
 */
enum etwas_ship_opened etwas_ship_target_open(const struct etwas_ship_options *options,
                                              struct etwas_ship_target **target);
void etwas_ship_target_close(struct etwas_ship_target *target); /* NULL: nothing */

uint32_t etwas_ship_target_shards(const struct etwas_ship_target *target);
uint32_t etwas_ship_target_replicas(const struct etwas_ship_target *target, uint32_t shard);

/* The shard of a session: the one that the Distributed tables' expression, `session`, says. */
uint32_t etwas_ship_target_shard(const struct etwas_ship_target *target, uint64_t session);

/*
 * The same for the same shards and table, whatever replicas a shard has beside its first: what a cursor names its target by.
 * Of characters that may be in any text file; it stays as long as the target.
 */
const char *etwas_ship_target_name(const struct etwas_ship_target *target);

/* `DATABASE`.`NAME`, quoted for SQL; and of the Distributed tables, …_all, whether they are there or not. */
const char *etwas_ship_target_table(const struct etwas_ship_target *target,
                                    enum etwas_ship_table table);
const char *etwas_ship_target_table_all(const struct etwas_ship_target *target,
                                        enum etwas_ship_table table);

/* The server's version as 18016 or 26007: the oldest of any shard. */
uint32_t etwas_ship_target_version(const struct etwas_ship_target *target);

/* The type of a column, as the server says it; NULL: the table has none such. The same on all shards. */
const char *etwas_ship_target_type(const struct etwas_ship_target *target,
                                   enum etwas_ship_table table, const char *column);

#endif
