/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The messages between a host and a consumer in another process, on a connection of their own
 * (registry/connection.h; the op is CONSUME):
 *
 *     consumer ──CONSUME, empty─────────────────────────▶ host
 *     consumer ◀──HEAD, in pieces; then as it comes─────── host
 *              ◀──CLOCKS, BUFFER in pieces, BOUND, END────
 *     consumer ──DONE, for each buffer──────────────────▶ host
 *
 * or the host answers with an error alone. The pieces of one thing come in order, and nothing comes
 * between them. The host stores each buffer until it receives its disposition. When the connection
 * ends, the host takes back the buffers without one. So a buffer is delivered by this consumer or
 * by the next one, and the accounts are the same as for a consumer in the host's own process.
 *
 * A consumer that stops reading lets its connection fill up. Buffers that it does not take wait in
 * its queue, whose size the session sets.
 */
#ifndef ETWAS_SHARING_CONSUME_PROTOCOL_H
#define ETWAS_SHARING_CONSUME_PROTOCOL_H

#include <assert.h>
#include <stdint.h>

#include "clock/clock_reading.h"
#include "registry/connection.h"

enum etwas_consume_kind {
    ETWAS_CONSUME_HEAD = 1, /* header of the session */
    ETWAS_CONSUME_CLOCKS,   /* struct etwas_clock_history, cut to its count */
    ETWAS_CONSUME_BUFFER,
    ETWAS_CONSUME_BOUND,
    ETWAS_CONSUME_END, /* the session has ended; the last message */
    ETWAS_CONSUME_DONE,
};

/* Precedes everything that the host sends. */
struct etwas_consume_piece {
    uint16_t kind;
    uint16_t notices; /* BUFFER, BOUND, END */
    uint32_t number;  /* of a BUFFER */
    uint32_t bytes;   /* of the whole; HEAD and BUFFER may be longer than a message */
    uint32_t at;      /* offset of the piece in the whole */
    int64_t bound;    /* BOUND */
};
_Static_assert(sizeof(struct etwas_consume_piece) == 24, "as it is sent");

enum {
    ETWAS_CONSUME_PIECE_BYTES = ETWAS_MESSAGE_BYTES - (int)sizeof(struct etwas_consume_piece),
};
_Static_assert(sizeof(struct etwas_clock_history) <= ETWAS_CONSUME_PIECE_BYTES, "one message");

/* What happened to a buffer at the consumer. */
enum etwas_consume_disposition {
    ETWAS_CONSUME_DELIVERED, /* all of it was delivered */
    ETWAS_CONSUME_REFUSED,   /* it cannot be read beyond so many records */
    ETWAS_CONSUME_RETURNED,  /* the records not delivered go to another consumer */
};

struct etwas_consume_done {
    uint16_t kind; /* DONE */
    uint16_t disposition;
    uint32_t number;
    uint32_t delivered_records;
    uint32_t delivered_bytes; /* RETURNED: offset of the first record not delivered */
};
_Static_assert(sizeof(struct etwas_consume_done) == 16, "as it is sent");

#endif
