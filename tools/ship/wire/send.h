/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_WIRE_SEND_H
#define ETWAS_TOOLS_SHIP_WIRE_SEND_H

/*
 * Blocks to a shard, and questions to it.
 *
 * A shard is used by one thread at a time; different ones by as many threads as there are. What
 * will pass (no connection, no reply, a server that is busy or read-only) is waited for, with waits
 * that grow to 30 s and differ by chance, replicas in turn, and always the same bytes are sent
 * again. It is said on standard error when that begins, and when it is over. A request has 60 s.
 * When the target's `stop` becomes readable waits end at once; a request that is on its way has 5 s
 * more.
 */

#include "ship/schema/columns.h"
#include "ship/wire/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_ship_sent {
    ETWAS_SHIP_SENT,    /* the server has it, or has answered */
    ETWAS_SHIP_STOPPED, /* asked to end: unknown whether the server has it */
    /* a permanent error, or one beyond the timeout; it has been reported */
    ETWAS_SHIP_REFUSED,
};

/*
 * Sends a block that is finished (etwas_columns_finish), and returns once a replica has stored it.
 * Before it is sent the rate is kept. A block of no rows is there already. `token` names the block,
 * in letters, digits and . _ -, 64 at most: modern servers recognize a repeated block by it, and
 * every server lists the running query as ETWAS_SHIP_QUERY_ID followed by it. NULL: a block is
 * recognized by its content only.
 */
#define ETWAS_SHIP_QUERY_ID "etwas-"

/* The beginning of the tokens of all blocks of a file: its session and its part. */
#define ETWAS_SHIP_FILE_TOKEN "%016" PRIx64 "-%08" PRIx32 "-"

enum etwas_ship_sent etwas_ship_send(struct etwas_ship_target *target, uint32_t shard,
                                     const struct etwas_columns *columns, const char *token);

enum {
    ETWAS_SHIP_ANY = -1,                   /* whichever answers */
    ETWAS_SHIP_EACH = -2,                  /* all; one that is away is waited for */
    ETWAS_SHIP_ANSWER_BYTES = 8 * 1048576, /* of a replica; a longer one is refused */
};

/*
 * A field of a row: without TabSeparated's escapes, and with a terminating 0. NULL of SQL is \N, as
 * received.
 */
struct etwas_ship_field {
    const char *text;
    size_t bytes;
};

/* False: it is no number of 64 bits, in digits alone. */
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
    /* Without FORMAT. */
    const char *sql;
    /*
     * The columns of each row of its answer; a row with another number is refused. 0: a statement
     * that returns no rows.
     */
    uint32_t columns;
    /*
     * Takes a row of the answer, once the whole of a replica's answer is there. False: no more
     * rows, please.
     */
    bool (*row)(void *context, const struct etwas_ship_field *fields);
    void *context;
    /* How long a replica may take for it; 0: as long as for a block. */
    uint32_t limit_s;
    /*
     * NULL; else a server's error that will not pass is not said, but its number put here; 0: there
     * was none.
     */
    uint32_t *error;
};

/* `replica` is its index, or ETWAS_SHIP_ANY or _EACH. */
enum etwas_ship_sent etwas_ship_ask(struct etwas_ship_target *target, uint32_t shard, int replica,
                                    const struct etwas_ship_question *question);

#endif
