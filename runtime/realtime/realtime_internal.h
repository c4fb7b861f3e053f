/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What realtime.c, backlog.c and consumer.c share. Everything is guarded by the lock of struct
 * etwas_realtime, except the backlog's file, which has rules of its own (backlog.c).
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
 *                  |                                  | no consumer reads the backlog, else LIVE
 *     CATCHING_UP  | the backlog, alone               | at the backlog's end: LIVE; or as LIVE does
 *     LIVE         | its queue, which has grown since | stopped, or leaving: DISCONNECTED, for good
 *
 * A consumer that leaves returns the buffers that wait for it. If its thread leaves ProcessTrace
 * before it has delivered all that it took, the rest of that is returned first. A consumer that is
 * stopped during ProcessTrace leaves at once; what it took, it still delivers or returns later.
 */
#ifndef ETWAS_REALTIME_REALTIME_INTERNAL_H
#define ETWAS_REALTIME_REALTIME_INTERNAL_H

#include <pthread.h>

#include "clock/clock_reading.h"
#include "provider/metadata.h"
#include "reader/consumer.h"
#include "realtime/realtime.h"

/* One entry of a queue: a buffer, or a time bound. */
struct etwas_realtime_node {
    struct etwas_realtime_node *next;
    struct etwas_consumer_entry entry;
    uint64_t position; /* of a buffer in the backlog's file */
    uint32_t bytes;    /* its bytes in that file; 0: not in the file */
    uint32_t records;  /* its records in that file, for the accounts */
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
    uint64_t end;     /* bytes of the file used since the backlog was last empty */
    uint32_t readers; /* threads that read taken entries: the file is not truncated meanwhile */
    uint16_t notices; /* notices for the next entry, or the next consumer */
    struct etwas_realtime_queue entries;
};

/* A consumer in this process. */
struct etwas_local_consumer {
    struct etwas_consumer base;
    struct etwas_realtime *realtime;
    struct etwas_local_consumer *next; /* next in the list of connected consumers */
    enum etwas_consumer_state state;
    struct etwas_realtime_queue queue;
    uint64_t queued_bytes;
    uint16_t notices;                       /* notices for the next entry */
    struct etwas_metadata_cursor described; /* how much of the metadata it was sent */
    pthread_cond_t changed;
};

struct etwas_realtime {
    pthread_mutex_t lock;
    /* of the session, of each consumer, and of each thread that connects one; atomic */
    uint32_t references;
    /* next in the list of all, which has a lock of its own */
    struct etwas_realtime *next;
    uint64_t queue_bytes;                   /* limit of what a consumer leaves unread */
    struct etwas_local_consumer *consumers; /* the connected consumers */
    struct etwas_backlog backlog;
    int64_t sequence_number;
    uint64_t buffers_lost;
    uint64_t lost_records; /* not yet collected by etwas_realtime_collect_lost */
    struct etwas_clock_history clocks;
    uint64_t clocks_set; /* how many times; the version of the readings */
    bool ended;
    bool takes_stacks; /* the session records stacks */
    uint32_t head_bytes;
    uint8_t head[]; /* constant */
};

/* Returns what a buffer costs in a queue; a bound may follow it. */
static inline uint64_t etwas_realtime_queue_cost(const struct etwas_realtime_buffer *buffer)
{
    return sizeof *buffer + buffer->bytes + 2 * sizeof(struct etwas_realtime_node);
}

/* Returns how many of its records no consumer has delivered and are stored nowhere else. */
static inline uint32_t etwas_realtime_undelivered_records(
    const struct etwas_realtime_buffer *buffer)
{
    return buffer->records > buffer->delivered ? buffer->records - buffer->delivered : 0;
}

/* Allocates a buffer, without a lock. NULL without memory. */
struct etwas_realtime_buffer *etwas_realtime_new_buffer(uint32_t bytes, uint32_t records);

/* ---- with the lock held ---- */

/*
 * Drops a reference. When it was the last one, records that no consumer delivered are counted lost.
 */
void etwas_realtime_release_buffer(struct etwas_realtime *realtime,
                                   struct etwas_realtime_buffer *buffer);

/* Appends a node. */
void etwas_realtime_queue_push(struct etwas_realtime_queue *queue,
                               struct etwas_realtime_node *node);

/* Removes the first node, which the caller frees. NULL: there is none. */
struct etwas_realtime_node *etwas_realtime_queue_pop(struct etwas_realtime_queue *queue);

/* ---- the backlog (backlog.c) ---- */

/*
 * Opens a file without a name in `folder` (NULL: $TMPDIR, else /var/tmp). Returns a Win32 code, as
 * etwas_file_create does.
 */
uint32_t etwas_backlog_open(struct etwas_backlog *backlog, const char *folder,
                            uint64_t limit_bytes);
void etwas_backlog_close(struct etwas_backlog *backlog);

/*
 * The lock is held. The first two are called with the session's role held. These two and reading
 * release the lock meanwhile.
 */

/*
 * Returns how many buffers of `bytes` still fit: as many as fit in an empty one if the backlog was
 * read to its end.
 */
uint64_t etwas_backlog_free_buffers(struct etwas_realtime *realtime, uint32_t bytes);

/*
 * Appends a buffer while no consumer is connected. Returns false if it was not written: the buffer
 * is lost, or a consumer has connected meanwhile and gets it.
 */
bool etwas_backlog_write(struct etwas_realtime *realtime,
                         const struct etwas_realtime_buffer *buffer);

/* Appends what a consumer returns; if there is no room it is lost. */
void etwas_backlog_append_returned(struct etwas_realtime *realtime,
                                   struct etwas_realtime_node *node);

/*
 * Reads the buffer of an entry that was taken, without the lock meanwhile. A buffer that cannot be
 * read is counted lost.
 */
void etwas_backlog_read(struct etwas_realtime *realtime, struct etwas_realtime_node *node);

/* Discards all entries, because no consumer will read them. */
void etwas_backlog_discard(struct etwas_realtime *realtime);

/* Returns whether a consumer reads the backlog. */
bool etwas_backlog_is_read(const struct etwas_realtime *realtime);

/*
 * Returns whether the table of states above, the queues' sums and the backlog's counts hold. For
 * ETWAS_INVARIANT; visits every entry.
 */
bool etwas_realtime_is_valid(const struct etwas_realtime *realtime);

#endif
