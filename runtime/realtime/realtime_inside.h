/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What realtime.c and consumer.c share. Everything is under the lock of struct etwas_realtime, but
 * for the bytes of a backlog entry that a consumer has taken: it alone reads them.
 *
 * The states of a consumer (etwas_consumer_become):
 *
 *     connect ──▶ CATCHING_UP ──▶ LIVE ──▶ GONE
 *             └──────────────────▶         ▲
 *                     └────────────────────┘
 *
 *     state        | connected | reads                            | leaves it
 *     -------------+-----------+----------------------------------+------------------------------
 *     NEW          | no        |                                  | when it connects: CATCHING_UP
 *                  |           |                                  | if there is a backlog that
 *                  |           |                                  | nobody reads, else LIVE
 *     CATCHING_UP  | yes       | the backlog, alone               | LIVE: at the backlog's end
 *     LIVE         | yes       | its queue, which has grown since | GONE: stopped, disconnected
 *     GONE         | no        | nothing                          |
 *
 * Who goes hands back what waits for it, and before that, if its thread comes out of ProcessTrace
 * without having given all that it had taken, the rest of that. One that is stopped in the midst of
 * ProcessTrace goes at once: what it has taken it gives still, or hands back later.
 */
#ifndef ETWAS_REALTIME_REALTIME_INSIDE_H
#define ETWAS_REALTIME_REALTIME_INSIDE_H

#include <pthread.h>

#include "clock/history.h"
#include "realtime/backlog.h"
#include "realtime/consumer.h"
#include "realtime/realtime.h"

/* What is left of a buffer. */
struct etwas_realtime_part {
    uint32_t begin; /* from the buffer's start */
    uint32_t records_before;
};

static const struct etwas_realtime_part etwas_realtime_all_of_it = {ETWAS_ETL_BUFFER_HEADER_BYTES,
                                                                    0};

/* One entry of a queue: a buffer, or a bound. */
struct etwas_realtime_node {
    struct etwas_realtime_node *next;
    struct etwas_consumer_entry entry;
    struct etwas_realtime_part part; /* of a buffer that its consumer has given in part */
};

struct etwas_realtime_queue {
    struct etwas_realtime_node *first;
    struct etwas_realtime_node *last;
};

enum etwas_consumer_state {
    ETWAS_CONSUMER_NEW,
    ETWAS_CONSUMER_CATCHING_UP,
    ETWAS_CONSUMER_LIVE,
    ETWAS_CONSUMER_GONE,
};

struct etwas_consumer {
    struct etwas_realtime *realtime;
    struct etwas_consumer *next; /* of those connected */
    enum etwas_consumer_state state;
    struct etwas_realtime_queue queue;
    uint64_t queued_bytes;
    uint16_t notices; /* for the next entry */
    pthread_cond_t changed;
};

struct etwas_realtime {
    pthread_mutex_t lock;
    uint32_t references; /* the session, each consumer, and who is about to be one; atomic */
    struct etwas_realtime *next; /* of all; under their lock */
    struct etwas_realtime_options options;
    struct etwas_consumer *consumers;        /* connected */
    struct etwas_realtime_queue handed_back; /* by who has gone; not in the backlog yet */
    uint16_t handed_back_notices;            /* behind it */
    struct etwas_backlog backlog;
    uint16_t backlog_notices; /* for its next entry */
    int64_t sequence_number;
    uint64_t buffers_lost;
    uint64_t lost_records; /* not yet taken by etwas_realtime_take_lost */
    struct etwas_clock_history clocks;
    uint64_t clocks_set; /* so many times */
    bool ended;
    uint32_t head_bytes;
    uint8_t head[]; /* constant */
};

/* What a buffer takes in a queue: a bound may follow it. */
static inline uint64_t etwas_realtime_cost(const struct etwas_realtime_buffer *buffer)
{
    return sizeof *buffer + buffer->bytes + 2 * sizeof(struct etwas_realtime_node);
}

/* How many of its records are nowhere else. */
static inline uint32_t etwas_realtime_ungiven(const struct etwas_realtime_buffer *buffer)
{
    return buffer->records > buffer->given ? buffer->records - buffer->given : 0;
}

/*
 * Takes the lock, with all in the backlog that was handed back: nothing newer comes before it. One
 * that was read to its end has all its room.
 */
void etwas_realtime_lock(struct etwas_realtime *realtime);
void etwas_realtime_unlock(struct etwas_realtime *realtime);

/* NULL: no memory. Needs no lock. */
struct etwas_realtime_buffer *etwas_realtime_new_buffer(uint32_t bytes, uint32_t records);

/* ---- with the lock held ---- */

/* What nobody got is lost with the last reference. */
void etwas_realtime_release(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer);

/* Behind all others. */
void etwas_realtime_queue_push(struct etwas_realtime_queue *queue,
                               struct etwas_realtime_node *node);

/* The first entry, which the caller frees. NULL: there is none. */
struct etwas_realtime_node *etwas_realtime_queue_pop(struct etwas_realtime_queue *queue);

enum etwas_backlog_end {
    ETWAS_BACKLOG_FRONT, /* for what was read from there last, in reverse */
    ETWAS_BACKLOG_BACK,
};

/* Puts what is left of a buffer into the backlog, with a header of its own. False: it is lost. */
bool etwas_realtime_store(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer,
                          const struct etwas_realtime_part *part, uint16_t notices,
                          enum etwas_backlog_end end);

/* Nobody will read the backlog. */
void etwas_realtime_give_up_backlog(struct etwas_realtime *realtime);

/* Whether somebody is catching up. */
bool etwas_realtime_backlog_is_read(const struct etwas_realtime *realtime);

/*
 * Whether the table above, the queues' sums and the backlog's counts are kept. For
 * ETWAS_INVARIANT; looks at every entry.
 */
bool etwas_realtime_is_valid(const struct etwas_realtime *realtime);

#endif
