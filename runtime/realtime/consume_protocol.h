/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a host and a consumer in another process say to each other, on a connection of their own (registry/message.h;
 * the op is CONSUME):
 *
 *     consumer ──CONSUME, empty─────────────────────────▶ host
 *     consumer ◀──HEAD, in pieces; then as it comes─────── host
 *              ◀──CLOCKS, BUFFER in pieces, BOUND, END────
 *     consumer ──DONE, for each buffer──────────────────▶ host
 *
 * or the host answers with an error alone. The pieces of one thing come in order, and nothing comes between them. The
 * host keeps each buffer until it hears what became of it; when the connection ends, it takes back what it has not
 * heard of. So a buffer is given by a consumer or by the next one, and the accounts are those of a consumer in the
 * host's own process.
 *
 * A consumer that reads no more has its connection full: what it does not take waits in its queue, whose size is
 * the session's.
 */
#ifndef ETWAS_REALTIME_CONSUME_PROTOCOL_H
#define ETWAS_REALTIME_CONSUME_PROTOCOL_H

#include <assert.h>
#include <stdint.h>

#include "clock/clock_history.h"
#include "registry/message.h"

enum etwas_consume_kind {
    ETWAS_CONSUME_HEAD = 1, /* what the session says of itself */
    ETWAS_CONSUME_CLOCKS,   /* struct etwas_clock_history, as long as its count says */
    ETWAS_CONSUME_BUFFER,
    ETWAS_CONSUME_BOUND,
    ETWAS_CONSUME_END, /* the session has ended, and nothing more comes */
    ETWAS_CONSUME_DONE,
};

/* Before what the host sends. */
struct etwas_consume_piece {
    uint16_t kind;
    uint16_t notices; /* BUFFER, BOUND, END */
    uint32_t number;  /* of a BUFFER */
    uint32_t bytes;   /* of the whole; HEAD and BUFFER may be longer than a message */
    uint32_t at;      /* where in it the piece is */
    int64_t bound;    /* BOUND */
};
_Static_assert(sizeof(struct etwas_consume_piece) == 24, "as it is sent");

enum {
    ETWAS_CONSUME_PIECE_BYTES = ETWAS_MESSAGE_BYTES - (int)sizeof(struct etwas_consume_piece),
};
_Static_assert(sizeof(struct etwas_clock_history) <= ETWAS_CONSUME_PIECE_BYTES, "one message");

/* What became of a buffer. */
enum etwas_consume_disposition {
    ETWAS_CONSUME_DELIVERED, /* all of it */
    ETWAS_CONSUME_REFUSED,   /* it can be read no further than so many records */
    ETWAS_CONSUME_RETURNED,  /* what is not given of it is for another consumer */
};

struct etwas_consume_done {
    uint16_t kind; /* DONE */
    uint16_t disposition;
    uint32_t number;
    uint32_t delivered_records;
    uint32_t delivered_bytes; /* RETURNED: where the others begin */
};
_Static_assert(sizeof(struct etwas_consume_done) == 16, "as it is sent");

#endif
