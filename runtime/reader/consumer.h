/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A consumer of a real-time session: its end of the delivery that realtime/realtime.h describes.
 * The session is in this process (realtime/consumer.c) or another process hosts it
 * (sharing/remote.h). The reader knows both by this table of verbs.
 */
#ifndef ETWAS_READER_CONSUMER_H
#define ETWAS_READER_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/clock_reading.h"

struct etwas_consumer_verbs;

struct etwas_consumer {
    const struct etwas_consumer_verbs *verbs;
};

/* A buffer on its way to consumers, laid out as in a file but no longer than its records. */
struct etwas_realtime_buffer {
    uint32_t references; /* guarded by the lock of struct etwas_realtime, as `delivered` is */
    uint32_t bytes;
    uint32_t records;   /* for the accounts; 0: the records are in a file too */
    uint32_t delivered; /* how many of them, from the first on, a consumer delivered */
    bool from_backlog;  /* from the backlog: only one consumer has it */
    uint8_t reserved[3];
    uint32_t number;   /* of a remote consumer's buffer: the number by which the host knows it */
    uint8_t content[]; /* buffer header and records; constant while several consumers have it */
};
_Static_assert(sizeof(struct etwas_realtime_buffer) == 24, "the content is aligned");

enum etwas_consumer_result {
    ETWAS_CONSUMER_RESULT_BUFFER,
    ETWAS_CONSUMER_RESULT_BOUND,   /* no buffer, but a new time bound */
    ETWAS_CONSUMER_RESULT_STOPPED, /* etwas_consumer_stop was called */
    ETWAS_CONSUMER_RESULT_ENDED,   /* the session has ended, and everything was delivered */
    ETWAS_CONSUMER_RESULT_BROKEN,  /* the session's process is gone, or sent something invalid */
};

struct etwas_consumer_entry {
    struct etwas_realtime_buffer *buffer; /* the caller returns, releases or refuses it */
    int64_t bound;
    /* ETWAS_ETL_BUFFER_EVENTS_LOST, _BUFFER_LOST, _BACKUP_CORRUPT: what was lost before this */
    uint16_t notices;
};

/* The functions of each kind of consumer, as described below. */
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

/* Returns the header that the session sent. It lives until the consumer is disconnected. */
static inline const uint8_t *etwas_consumer_head(const struct etwas_consumer *consumer,
                                                 uint32_t *bytes)
{
    return consumer->verbs->head(consumer, bytes);
}

/*
 * Returns a copy of the session's clock readings, to be freed with free(), if they are newer than
 * *version; 0 requests any version. *version receives the version of the copy. NULL: nothing new,
 * or no memory. Any thread may call it while the consumer is connected.
 */
static inline struct etwas_clock_history *etwas_consumer_clocks(
    const struct etwas_consumer *consumer, uint64_t *version)
{
    return consumer->verbs->clocks(consumer, version);
}

/*
 * Waits for the next entry, which is a cancellation point. One thread of a consumer may call it.
 * Metadata (provider/metadata.h) comes before the first buffer, and new metadata before the next
 * one, in buffers of processor 0 that are stamped with the session's start.
 */
static inline enum etwas_consumer_result etwas_consumer_next(struct etwas_consumer *consumer,
                                                             struct etwas_consumer_entry *entry)
{
    return consumer->verbs->next(consumer, entry);
}

/*
 * Returns a buffer to the session before the consumer disconnects; the newest buffer is returned
 * first. `delivered_records` were delivered, and the others begin at `delivered_bytes`. What a
 * stopped consumer returns is queued behind what waited for it.
 */
static inline void etwas_consumer_return(struct etwas_consumer *consumer,
                                         struct etwas_consumer_entry *entry,
                                         uint32_t delivered_records, uint32_t delivered_bytes)
{
    consumer->verbs->give_back(consumer, entry, delivered_records, delivered_bytes);
}

/* Releases the buffer of an entry, if it has one, after all of it was delivered. */
static inline void etwas_consumer_release(struct etwas_consumer *consumer,
                                          struct etwas_consumer_entry *entry)
{
    consumer->verbs->release(consumer, entry);
}

/*
 * Releases a buffer that cannot be read beyond the records that were delivered. The buffer and its
 * other records count as lost.
 */
static inline void etwas_consumer_refuse(struct etwas_consumer *consumer,
                                         struct etwas_consumer_entry *entry,
                                         uint32_t delivered_records)
{
    consumer->verbs->refuse(consumer, entry, delivered_records);
}

/*
 * Stops the consumer, from any thread: it gets nothing more, and etwas_consumer_next returns. What
 * waits for it, and no other consumer has, goes to the next consumer.
 */
static inline void etwas_consumer_stop(struct etwas_consumer *consumer)
{
    consumer->verbs->stop(consumer);
}

/* Stops the consumer and frees it. */
static inline void etwas_consumer_disconnect(struct etwas_consumer *consumer)
{
    consumer->verbs->disconnect(consumer);
}

/*
 * Ends the consumer in the child of a fork: it gets nothing more, and its session is the parent's.
 */
static inline void etwas_consumer_after_fork_in_child(struct etwas_consumer *consumer)
{
    consumer->verbs->after_fork_in_child(consumer);
}

#endif
