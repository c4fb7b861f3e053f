/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_SEND_H
#define ETWAS_TOOLS_SHIP_SEND_H

/*
 * Blocks to a shard, and questions to it.
 *
 * A shard is used by one thread at a time; different ones by as many threads as there are. What will pass (no connection, no
 * reply, a server that is busy or read-only) is waited for, with waits that grow to 30 s and differ by chance, replicas in
 * turn, and always the same bytes are sent again. It is said on standard error when that begins, and when it is over. A
 * request has 60 s. When the target's `stop` becomes readable waits end at once; a request that is on its way has 5 s more.
 */

#include "ship/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum etwas_ship_sent {
    ETWAS_SHIP_SENT,    /* the server has it, or has answered */
    ETWAS_SHIP_STOPPED, /* asked to end: unknown whether the server has it */
    ETWAS_SHIP_REFUSED, /* will not pass by itself, or not within the patience; it has been said why */
};

/* A Native block, in pieces one behind the other. Owned by the caller; not changed. */
struct etwas_ship_body {
    const struct iovec *pieces;
    uint32_t count;
    uint32_t rows;
    uint64_t bytes;      /* of all pieces */
    const char *columns; /* their names as SQL has them: "day, host, `ints.k`" */
    const char *
        token; /* names the block where servers drop by tokens (modern): [A-Za-z0-9._-]; NULL: by what is in it */
};

/* Returns once the block is stored, by a replica at least. The rate is kept before it is sent. */
enum etwas_ship_sent etwas_ship_send(struct etwas_ship_target *target, uint32_t shard,
                                     enum etwas_ship_table table,
                                     const struct etwas_ship_body *body);

enum {
    ETWAS_SHIP_ANY = -1,  /* replica: which one answers */
    ETWAS_SHIP_EACH = -2, /* all of them, one after the other: one that is away is waited for */
    ETWAS_SHIP_ANSWER_BYTES = 8 * 1048576, /* a longer answer is refused */
};

/* Of a row: without TabSeparated's escapes, and with a 0 behind it. NULL of SQL is \N, as it comes. */
struct etwas_ship_field {
    const char *text;
    size_t bytes;
};

struct etwas_ship_question {
    const char *sql;  /* without FORMAT */
    uint32_t columns; /* of each row of its answer; one that has others is refused */
    /* Takes a row of the answer, once the whole of a replica's answer is there. False: no more rows, please. */
    bool (*row)(void *context, const struct etwas_ship_field *fields);
    void *context;
    /* NULL; else an error of the server's that will not pass is not said but put here, by its number, 0 where there is none. */
    uint32_t *error;
};

/* `replica` is its index, or ETWAS_SHIP_ANY or _EACH. */
enum etwas_ship_sent etwas_ship_ask(struct etwas_ship_target *target, uint32_t shard, int replica,
                                    const struct etwas_ship_question *question);

#endif
