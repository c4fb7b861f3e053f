/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What realtime.c, backlog.c and consumer.c share. Everything is under the lock of struct
 * etwas_realtime, but for the backlog's file, which has rules of its own (backlog.c).
 *
 * The states of a consumer (`local_consumer_set_state` in consumer.c):
 *
 *     DISCONNECTED ──▶ CATCHING_UP ──▶ LIVE ──▶ DISCONNECTED
 *                  └──────────────────▶         ▲
 *                          └────────────────────┘
 *
 *     state        | reads                            | leaves it
 *     -------------+----------------------------------+------------------------------------------
 *     DISCONNECTED | nothing                          | when it connects, once: CATCHING_UP if
 *                  |                                  | a backlog is read by nobody, else LIVE
 *     CATCHING_UP  | the backlog, alone               | at the backlog's end: LIVE; or as LIVE does
 *     LIVE         | its queue, which has grown since | stopped, or going: DISCONNECTED, for good
 *
 * Who goes hands back what waits for it, and before that, if its thread comes out of ProcessTrace
 * without having given all that it had taken, the rest of that. One that is stopped in the midst of
 * ProcessTrace goes at once: what it has taken it gives still, or hands back later.
 */
#ifndef ETWAS_REALTIME_REALTIME_INTERNAL_H
#define ETWAS_REALTIME_REALTIME_INTERNAL_H

#include <pthread.h>

#include "clock/clock_history.h"
#include "provider/metadata.h"
#include "realtime/consumer.h"
#include "realtime/realtime.h"

/* One entry of a queue: a buffer, or a bound. */
struct etwas_realtime_node {
    struct etwas_realtime_node *next;
    struct etwas_consumer_entry entry;
    uint64_t position; /* of a buffer in the backlog's file */
    uint32_t bytes;    /* of it there; 0: it is not there */
    uint32_t records;  /* likewise; for the accounts */
};

struct etwas_realtime_queue {
    struct etwas_realtime_node *first;
    struct etwas_realtime_node *last;
};

enum etwas_consumer_state {
    ETWAS_CONSUMER_DISCONNECTED,
    ETWAS_CONSUMER_CATCHING_UP,
    ETWAS_CONSUMER_LIVE,
};

struct etwas_backlog {
    int descriptor; /* -1: closed */
    uint64_t limit_bytes;
    uint64_t end;     /* of what was taken of them since the backlog was last empty */
    uint32_t readers; /* of entries that were taken: the file is not cut under them */
    uint16_t notices; /* for the next entry, or the next consumer */
    struct etwas_realtime_queue entries;
};

/* A consumer of this process. */
struct etwas_local_consumer {
    struct etwas_consumer base;
    struct etwas_realtime *realtime;
    struct etwas_local_consumer *next; /* of those connected */
    enum etwas_consumer_state state;
    struct etwas_realtime_queue queue;
    uint64_t queued_bytes;
    uint16_t notices;                       /* for the next entry */
    struct etwas_metadata_cursor described; /* what of the metadata it was given */
    pthread_cond_t changed;
};

struct etwas_realtime {
    pthread_mutex_t lock;
    uint32_t references; /* the session, each consumer, and who is about to be one; atomic */
    struct etwas_realtime *next;            /* of all; under their lock */
    uint64_t queue_bytes;                   /* what a consumer may leave unread */
    struct etwas_local_consumer *consumers; /* connected */
    struct etwas_backlog backlog;
    int64_t sequence_number;
    uint64_t buffers_lost;
    uint64_t lost_records; /* not yet taken by etwas_realtime_collect_lost */
    struct etwas_clock_history clocks;
    uint64_t clocks_set; /* so many times */
    bool ended;
    bool takes_stacks; /* the session does */
    uint32_t head_bytes;
    uint8_t head[]; /* constant */
};

/* What a buffer takes in a queue: a bound may follow it. */
static inline uint64_t etwas_realtime_queue_cost(const struct etwas_realtime_buffer *buffer)
{
    return sizeof *buffer + buffer->bytes + 2 * sizeof(struct etwas_realtime_node);
}

/* How many of its records are nowhere else. */
static inline uint32_t etwas_realtime_undelivered_records(
    const struct etwas_realtime_buffer *buffer)
{
    return buffer->records > buffer->delivered ? buffer->records - buffer->delivered : 0;
}

/* NULL: no memory. Needs no lock. */
struct etwas_realtime_buffer *etwas_realtime_new_buffer(uint32_t bytes, uint32_t records);

/* ---- with the lock held ---- */

/* What nobody got is lost with the last reference. */
void etwas_realtime_release_buffer(struct etwas_realtime *realtime,
                                   struct etwas_realtime_buffer *buffer);

/* Behind all others. */
void etwas_realtime_queue_push(struct etwas_realtime_queue *queue,
                               struct etwas_realtime_node *node);

/* The first entry, which the caller frees. NULL: there is none. */
struct etwas_realtime_node *etwas_realtime_queue_pop(struct etwas_realtime_queue *queue);

/* ---- the backlog (backlog.c) ---- */

/*
 * Opens a file without a name in `folder` (NULL: $TMPDIR, else /var/tmp). A Win32 code, as from
 * etwas_file_create.
 */
uint32_t etwas_backlog_open(struct etwas_backlog *backlog, const char *folder,
                            uint64_t limit_bytes);
void etwas_backlog_close(struct etwas_backlog *backlog);

/* With the lock held; the first two by who has the session's role. They and reading let it go. */

/* How many buffers of `bytes` would still fit; all its room if it was read to its end. */
uint64_t etwas_backlog_free_buffers(struct etwas_realtime *realtime, uint32_t bytes);

/*
 * Appends a buffer that no consumer wants. False: it is lost, unless somebody has connected since:
 * it is for them.
 */
bool etwas_backlog_write(struct etwas_realtime *realtime,
                         const struct etwas_realtime_buffer *buffer);

/* Appends what a consumer hands back; if there is no room it is lost. */
void etwas_backlog_append_returned(struct etwas_realtime *realtime,
                                   struct etwas_realtime_node *node);

/* Reads the buffer of an entry that was taken, with the lock let go meanwhile: else it is lost. */
void etwas_backlog_read(struct etwas_realtime *realtime, struct etwas_realtime_node *node);

/* Nobody will read it. */
void etwas_backlog_discard(struct etwas_realtime *realtime);

/* Whether somebody is catching up. */
bool etwas_backlog_is_read(const struct etwas_realtime *realtime);

/*
 * Whether the table above, the queues' sums and the backlog's counts are kept. For
 * ETWAS_INVARIANT; looks at every entry.
 */
bool etwas_realtime_is_valid(const struct etwas_realtime *realtime);

#endif
