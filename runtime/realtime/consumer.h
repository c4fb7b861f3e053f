/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A consumer of a real-time session: its end of the delivery that realtime.h describes. The session is of this process
 * (consumer.c), or another process hosts it (remote_consumer.h).
 */
#ifndef ETWAS_REALTIME_CONSUMER_H
#define ETWAS_REALTIME_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/clock_history.h"

struct etwas_realtime;
struct etwas_consumer_verbs;

struct etwas_consumer {
    const struct etwas_consumer_verbs *verbs;
};

/* A buffer on its way to consumers: as in a file, but no longer than its records. */
struct etwas_realtime_buffer {
    uint32_t references; /* under the lock, as `delivered` is */
    uint32_t bytes;
    uint32_t records;   /* for the accounts; 0: they are in a file */
    uint32_t delivered; /* so many of them, the first ones, were given to a consumer */
    bool from_backlog;  /* from there: one consumer alone has it */
    uint8_t reserved[3];
    uint32_t number;   /* of a remote consumer: what its host calls it */
    uint8_t content[]; /* buffer header and records; constant while several have it */
};
_Static_assert(sizeof(struct etwas_realtime_buffer) == 24, "the content is aligned");

/*
 * Connects a consumer: it gets all that is delivered from now on, and before that the backlog, if
 * there is one nobody reads yet. A Win32 code: ERROR_NOT_ENOUGH_MEMORY,
 * ERROR_WMI_INSTANCE_NOT_FOUND when the session has ended.
 */
uint32_t etwas_realtime_connect(struct etwas_realtime *realtime, struct etwas_consumer **consumer);

enum etwas_consumer_result {
    ETWAS_CONSUMER_RESULT_BUFFER,
    ETWAS_CONSUMER_RESULT_BOUND,   /* there is no buffer, but a new bound */
    ETWAS_CONSUMER_RESULT_STOPPED, /* etwas_consumer_stop was called */
    ETWAS_CONSUMER_RESULT_ENDED,   /* the session has ended, and everything was given */
    ETWAS_CONSUMER_RESULT_BROKEN, /* the session's process is gone, or what it says makes no sense */
};

struct etwas_consumer_entry {
    struct etwas_realtime_buffer *buffer; /* the caller lets go of it */
    int64_t bound;
    uint16_t notices; /* ETWAS_ETL_BUFFER_EVENTS_LOST, _BUFFER_LOST, _BACKUP_CORRUPT: what was lost
                         before this */
};

/* What each kind of consumer does, as the functions below say. */
struct etwas_consumer_verbs {
    const uint8_t *(*head)(const struct etwas_consumer *consumer, uint32_t *bytes);
    struct etwas_clock_history *(*clocks)(const struct etwas_consumer *consumer, uint64_t *version);
    enum etwas_consumer_result (*next)(struct etwas_consumer *consumer,
                                       struct etwas_consumer_entry *entry);
    void (*give_back)(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry,
                      uint32_t delivered_records, uint32_t delivered_bytes);
    void (*release)(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry);
    void (*refuse)(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry,
                   uint32_t delivered_records);
    void (*stop)(struct etwas_consumer *consumer);
    void (*disconnect)(struct etwas_consumer *consumer);
    void (*after_fork_in_child)(struct etwas_consumer *consumer);
};

/* The head that the session gave; lives until the consumer is disconnected. */
static inline const uint8_t *etwas_consumer_head(const struct etwas_consumer *consumer,
                                                 uint32_t *bytes)
{
    return consumer->verbs->head(consumer, bytes);
}

/*
 * What the session has read of its clocks, a copy to free(), if that is more than *seen says; 0:
 * give it anyhow. NULL: it is not, or there is no memory. May be called by any thread while the
 * consumer is connected.
 */
static inline struct etwas_clock_history *etwas_consumer_clocks(
    const struct etwas_consumer *consumer, uint64_t *version)
{
    return consumer->verbs->clocks(consumer, version);
}

/*
 * Waits for the next entry; a cancellation point. One thread a consumer. Before the first buffer, and
 * before the next one when there is more, comes metadata (provider/metadata.h): in buffers of
 * processor 0, stamped with the session's start.
 */
static inline enum etwas_consumer_result etwas_consumer_next(struct etwas_consumer *consumer,
                                                             struct etwas_consumer_entry *entry)
{
    return consumer->verbs->next(consumer, entry);
}

/*
 * Hands back a buffer, for a consumer that is about to disconnect: the newest first. Of it so many
 * records were given, `delivered_bytes` is where the others begin. What a consumer hands back that was
 * stopped comes behind what waited for it.
 */
static inline void etwas_consumer_return(struct etwas_consumer *consumer,
                                         struct etwas_consumer_entry *entry,
                                         uint32_t delivered_records, uint32_t delivered_bytes)
{
    consumer->verbs->give_back(consumer, entry, delivered_records, delivered_bytes);
}

/* Lets go of an entry's buffer, if it has one. All of it was given. */
static inline void etwas_consumer_release(struct etwas_consumer *consumer,
                                          struct etwas_consumer_entry *entry)
{
    consumer->verbs->release(consumer, entry);
}

/* The same of a buffer that can be read no further than the records that were given: it is lost, and so are the others. */
static inline void etwas_consumer_refuse(struct etwas_consumer *consumer,
                                         struct etwas_consumer_entry *entry,
                                         uint32_t delivered_records)
{
    consumer->verbs->refuse(consumer, entry, delivered_records);
}

/*
 * From any thread: the consumer gets nothing more, and etwas_consumer_next returns. What waits for
 * it, and nobody else has, is for the next one.
 */
static inline void etwas_consumer_stop(struct etwas_consumer *consumer)
{
    consumer->verbs->stop(consumer);
}

/* Stops it, and frees it. */
static inline void etwas_consumer_disconnect(struct etwas_consumer *consumer)
{
    consumer->verbs->disconnect(consumer);
}

/* In a fork's child: it gets nothing more, and its session is none of the child's. */
static inline void etwas_consumer_after_fork_in_child(struct etwas_consumer *consumer)
{
    consumer->verbs->after_fork_in_child(consumer);
}

#endif
