/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_SEND_H
#define ETWAS_TOOLS_SHIP_WIRE_SEND_H

/*
 * Sends blocks to a shard, and queries it.
 *
 * A shard is used by one thread at a time; several threads may use different shards. Transient
 * errors (no connection, no reply, a server that is busy or read-only) are retried. Waits are
 * random and grow to 30 s, replicas take turns, and the same bytes are sent each time. Messages on
 * standard error report the first failure, and the success after it. The time limit of a request is
 * 60 s. When the target's `stop` becomes readable, waits end at once, and a running request has 5 s
 * more.
 */

#include "ship/schema/columns.h"
#include "ship/wire/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_ship_sent {
    ETWAS_SHIP_SENT,    /* a server has stored it, or has answered */
    ETWAS_SHIP_STOPPED, /* stopped: unknown whether the server has it */
    /* a permanent error, or the timeout expired; reported */
    ETWAS_SHIP_REFUSED,
};

/*
 * Sends a finished block (etwas_columns_finish), and returns once a replica has stored it. It waits
 * as the rate requires. A block without rows counts as stored. `token` names the block, in at most
 * 64 letters, digits and . _ -. Modern servers recognize a repeated block by it. Every server lists
 * the running query as ETWAS_SHIP_QUERY_ID followed by it. NULL: a block is recognized by its
 * content only.
 */
#define ETWAS_SHIP_QUERY_ID "etwas-"

/* How the tokens of all blocks of a file begin: with its session and its part. */
#define ETWAS_SHIP_FILE_TOKEN "%016" PRIx64 "-%08" PRIx32 "-"

enum etwas_ship_sent etwas_ship_send(struct etwas_ship_target *target, uint32_t shard,
                                     const struct etwas_columns *columns, const char *token);

enum {
    ETWAS_SHIP_ANY = -1,                   /* the first that answers */
    ETWAS_SHIP_EACH = -2,                  /* all; waits for one that is away */
    ETWAS_SHIP_ANSWER_BYTES = 8 * 1048576, /* of a replica; a longer one is refused */
};

/*
 * A field of a row: without TabSeparated's escapes, and with a terminating 0. NULL in SQL is \N, as
 * received.
 */
struct etwas_ship_field {
    const char *text;
    size_t bytes;
};

/* Returns false if the field is not a 64-bit number of decimal digits only. */
static inline bool etwas_ship_field_number(const struct etwas_ship_field *field, uint64_t *number)
{
    bool is_number = field->bytes != 0;

    *number = 0;
    for (size_t i = 0; is_number && i < field->bytes; i++) {
        uint8_t digit = (uint8_t)(field->text[i] - '0');

        is_number = digit <= 9 && !__builtin_mul_overflow(*number, UINT64_C(10), number) &&
                    !__builtin_add_overflow(*number, digit, number);
    }
    return is_number;
}

struct etwas_ship_question {
    /* Without a FORMAT clause. */
    const char *sql;
    /*
     * The number of columns in the answer; rows with another number are refused. 0: a statement
     * that returns no rows.
     */
    uint32_t columns;
    /*
     * Takes a row, once a replica's whole answer has arrived. Returns false if it wants no more
     * rows.
     */
    bool (*row)(void *context, const struct etwas_ship_field *fields);
    void *context;
    /* A replica's time limit; 0: as for a block. */
    uint32_t limit_s;
    /*
     * If not NULL, the number of a server's permanent error is stored here instead of being
     * reported. 0: there was none.
     */
    uint32_t *error;
};

/* `replica` is an index, ETWAS_SHIP_ANY or ETWAS_SHIP_EACH. */
enum etwas_ship_sent etwas_ship_ask(struct etwas_ship_target *target, uint32_t shard, int replica,
                                    const struct etwas_ship_question *question);

#endif
