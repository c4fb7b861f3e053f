/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What realtime.c and consumer.c share. Everything is under the lock of struct etwas_realtime, but
 * for the backlog's file while its reader reads it: there is one reader at a time, and others only
 * append.
 *
 * Where one consumer's buffers come from, in this order: `kept`, the backlog, its queue.
 */
#ifndef ETWAS_REALTIME_REALTIME_INSIDE_H
#define ETWAS_REALTIME_REALTIME_INSIDE_H

#include <pthread.h>

#include "realtime/backlog.h"
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

struct etwas_consumer {
    struct etwas_realtime *realtime;
    struct etwas_consumer *next;
    struct etwas_realtime_node *first;
    struct etwas_realtime_node *last;
    uint64_t queued_bytes;
    uint16_t notices; /* for the next entry */
    bool reads_backlog;
    bool in_file; /* reads the backlog's file, without the lock */
    bool stopped;
    bool left; /* the list of consumers, before it was disconnected */
    pthread_cond_t changed;
};

struct etwas_realtime {
    pthread_mutex_t lock;
    uint32_t references; /* the session, each consumer, and who is about to be one; atomic */
    struct etwas_realtime *next; /* of all; under their lock */
    struct etwas_realtime_options options;
    struct etwas_consumer *consumers;
    struct etwas_backlog backlog;
    pthread_cond_t file_left; /* its reader is not in its file any more */
    /* Not given to the end by who had it, and older than what is in the backlog. */
    struct etwas_realtime_node *kept;
    uint16_t backlog_notices; /* for its next entry */
    int64_t sequence;
    uint64_t buffers_lost;
    uint64_t lost_records; /* not yet taken by etwas_realtime_take_lost_records */
    struct etwas_clock_timeline clocks;
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

static inline uint32_t etwas_realtime_less(uint32_t count, uint32_t less)
{
    return count > less ? count - less : 0;
}

/* How many of its records are nowhere else. */
static inline uint32_t etwas_realtime_ungiven(const struct etwas_realtime_buffer *buffer)
{
    return etwas_realtime_less(buffer->records, buffer->given);
}

/* All with the lock held, but the first. */

/* NULL: no memory. */
struct etwas_realtime_buffer *etwas_realtime_new_buffer(uint32_t bytes, uint32_t records);

/* What nobody got is lost with the last reference. */
void etwas_realtime_release(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer);

/* Appends what is left of a buffer to the backlog, with a header of its own. False: it is lost. */
bool etwas_realtime_put_into_backlog(struct etwas_realtime *realtime,
                                     struct etwas_realtime_buffer *buffer,
                                     const struct etwas_realtime_part *part, uint16_t notices);

/* Nobody will read what is kept. */
void etwas_realtime_give_up_backlog(struct etwas_realtime *realtime);

/* The first entry of a consumer's queue; the caller frees it. NULL: there is none. */
struct etwas_realtime_node *etwas_realtime_take_node(struct etwas_consumer *consumer);

/* Whether anybody is connected that has not been stopped. */
bool etwas_realtime_has_consumer(const struct etwas_realtime *realtime);

/*
 * A consumer that was stopped reads no more, also if its thread has not come to know it yet: what
 * waits for it goes back now, before anything newer is put there.
 */
void etwas_realtime_let_stopped_leave(struct etwas_realtime *realtime);

/* Whether who reads the backlog was stopped in the midst of that: it goes no further. */
bool etwas_realtime_is_left_soon(const struct etwas_realtime *realtime);

bool etwas_realtime_has_backlog(const struct etwas_realtime *realtime);

/* NULL: nobody. */
const struct etwas_consumer *etwas_realtime_backlog_reader(const struct etwas_realtime *realtime);

#endif
