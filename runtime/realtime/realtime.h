/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Real-time delivery: a session's flushed buffers to every consumer that is connected, or into the
 * backlog while there is none.
 *
 *     flusher ──deliver──▶ queue of consumer 1 ──next──▶ ProcessTrace
 *                     ├──▶ queue of consumer 2 ──next──▶ ProcessTrace
 *                     └──▶ backlog, while there is no consumer; whoever connects first reads it,
 *                          before its queue (R171)
 *
 * A buffer is copied once; the consumers share the copy. No writer and no delivery waits for a
 * consumer: what one does not read in time is lost for it alone, and it is told so (R175).
 *
 * The bound makes one order in time out of the processors' streams: all records with stamps up to
 * it have been delivered, but for those whose writers were interrupted between reading the clock
 * and committing.
 *
 * Lives until the session and all its consumers have let go of it. Thread-safe; not for signal
 * handlers.
 */
#ifndef ETWAS_REALTIME_REALTIME_H
#define ETWAS_REALTIME_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/history.h"
#include "etl/layout.h"

struct etwas_realtime;
struct etwas_consumer;

/* A flushed buffer on its way: as in a file, but no longer than its records. */
struct etwas_realtime_buffer {
    uint32_t references; /* under the lock, as `given` is */
    uint32_t bytes;
    uint32_t records; /* for the accounts; 0: they are in a file */
    uint32_t given;   /* so many of them, the first ones, were given to a consumer */
    bool of_backlog;  /* from there: one consumer alone has it */
    bool stored;      /* the rest is in the backlog (again) */
    uint8_t reserved[6];
    uint8_t content[]; /* buffer header and records; constant */
};
_Static_assert(sizeof(struct etwas_realtime_buffer) == 24, "the content is aligned");

/* Has a buffer's header say that the buffer is `end` bytes long. */
static inline void etwas_realtime_set_end(struct etwas_etl_buffer_header *header, uint32_t end)
{
    header->buffer_bytes = end;
    header->saved_offset = end;
    header->current_offset = end;
    header->offset = end;
}

struct etwas_realtime_options {
    const uint8_t
        *head; /* buffer 0 of a log file of the session, copied: what consumers know of it */
    uint32_t head_bytes;
    uint64_t queue_bytes;       /* what a consumer may leave unread */
    uint64_t backlog_bytes;     /* the same for all, while there is no consumer */
    const char *backlog_folder; /* NULL: $TMPDIR, else /var/tmp */
};

/* ---- the session's end: the owner of the flusher's role -------------------------------------- */

/* A Win32 code: ERROR_NOT_ENOUGH_MEMORY, or why there can be no backlog file. */
uint32_t etwas_realtime_open(const struct etwas_realtime_options *options,
                             struct etwas_realtime **realtime);

/*
 * Hands over a buffer: its header, whose sequence number is given here, and the records behind it.
 * `records`: how many of them are nowhere else, for the accounts. False: nobody took it, and it is
 * counted as a lost buffer.
 */
bool etwas_realtime_deliver(struct etwas_realtime *realtime,
                            const struct etwas_etl_buffer_header *header, const void *data,
                            uint32_t records);

/* Everything stamped up to `stamp` has been handed over. */
void etwas_realtime_set_bound(struct etwas_realtime *realtime, int64_t stamp);

/* What the session has read of its clocks until now: copied, for whoever consumes. */
void etwas_realtime_set_clocks(struct etwas_realtime *realtime,
                               const struct etwas_clock_history *clocks);

/* Events were lost before they got here: the consumers are told with the next buffer. */
void etwas_realtime_note_lost_events(struct etwas_realtime *realtime);

/*
 * For how many buffers of `bytes` there is room, up to `most`: all while there is a consumer, else
 * what fits in the backlog.
 */
uint32_t etwas_realtime_room(struct etwas_realtime *realtime, uint32_t most, uint32_t bytes);

/*
 * How many records were given up since the last call that were nowhere else. *buffers: how many
 * buffers a consumer, or the backlog, has not got since it was opened.
 */
uint64_t etwas_realtime_take_lost(struct etwas_realtime *realtime, uint64_t *buffers);

/*
 * The session has ended: consumers read what they have, then the end. What is in the backlog and
 * will be read by nobody is given up. Returns what etwas_realtime_take_lost does, and lets go of it.
 */
uint64_t etwas_realtime_end(struct etwas_realtime *realtime, uint64_t *buffers);

/* Keeps it from being freed, and no more. Holding is for whoever knows that it still is. */
void etwas_realtime_hold(struct etwas_realtime *realtime);
void etwas_realtime_let_go(struct etwas_realtime *realtime);

/*
 * A fork waits until nobody changes anything. In the child every session has ended, and the
 * backlogs' descriptors are closed; its copies of consumers find their end.
 */
void etwas_realtime_before_fork(void);
void etwas_realtime_after_fork_in_parent(void);
void etwas_realtime_after_fork_in_child(void);

/* ---- a consumer's end ------------------------------------------------------------------------ */

/*
 * Connects a consumer: it gets all that is delivered from now on, and before that the backlog, if
 * there is one nobody reads yet. A Win32 code: ERROR_NOT_ENOUGH_MEMORY,
 * ERROR_WMI_INSTANCE_NOT_FOUND when the session has ended.
 */
uint32_t etwas_realtime_connect(struct etwas_realtime *realtime, struct etwas_consumer **consumer);

enum etwas_consumer_got {
    ETWAS_CONSUMER_BUFFER,
    ETWAS_CONSUMER_BOUND,   /* there is no buffer, but a new bound */
    ETWAS_CONSUMER_STOPPED, /* etwas_consumer_stop was called */
    ETWAS_CONSUMER_END,     /* the session has ended, and everything was given */
};

struct etwas_consumer_entry {
    struct etwas_realtime_buffer *buffer; /* the caller lets go of it */
    int64_t bound;
    uint16_t notices; /* ETWAS_ETL_BUFFER_EVENTS_LOST, _BUFFER_LOST, _BACKUP_CORRUPT: what was lost
                         before this */
};

/* The head that the session gave; lives until the consumer is disconnected. */
const uint8_t *etwas_consumer_head(const struct etwas_consumer *consumer, uint32_t *bytes);

/*
 * What the session has read of its clocks, a copy to free(), if that is more than *seen says; 0:
 * give it anyhow. NULL: it is not, or there is no memory. May be called by any thread while the
 * consumer is connected.
 */
struct etwas_clock_history *etwas_consumer_clocks(const struct etwas_consumer *consumer,
                                                  uint64_t *seen);

/* Waits for the next entry; a cancellation point. One thread a consumer. */
enum etwas_consumer_got etwas_consumer_next(struct etwas_consumer *consumer,
                                            struct etwas_consumer_entry *entry);

/*
 * Hands back a buffer, for a consumer that is about to disconnect: the newest first. Of it so many
 * records were given, `given_bytes` is where the others begin. What a consumer hands back that was
 * stopped comes behind what waited for it.
 */
void etwas_consumer_return(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry,
                           uint32_t given_records, uint32_t given_bytes);

/* Lets go of an entry's buffer, if it has one. All of it was given. */
void etwas_consumer_release(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry);

/* The same of a buffer that cannot be read: it is lost. */
void etwas_consumer_refuse(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry);

/*
 * From any thread: the consumer gets nothing more, and etwas_consumer_next returns. What waits for
 * it, and nobody else has, is for the next one.
 */
void etwas_consumer_stop(struct etwas_consumer *consumer);

/* Stops it, and frees it. */
void etwas_consumer_disconnect(struct etwas_consumer *consumer);

#endif
