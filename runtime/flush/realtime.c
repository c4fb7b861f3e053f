/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/realtime.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "flush/backlog.h"

/* One entry of a queue: a buffer, or a bound. */
struct node {
    struct node *next;
    struct etwas_consumer_entry entry;
};

struct etwas_consumer {
    struct etwas_realtime *realtime;
    struct etwas_consumer *next;
    struct node *first;
    struct node *last;
    uint64_t queued_bytes;
    uint16_t notices; /* for the next entry */
    bool reads_backlog;
    bool stopped;
    pthread_cond_t changed;
};

/* Everything is under the lock, but for the backlog's file while its reader reads it. */
struct etwas_realtime {
    pthread_mutex_t lock;
    uint32_t references; /* the session, each consumer, and who is about to be one; atomic */
    struct etwas_realtime_options options;
    struct etwas_consumer *consumers;
    struct etwas_backlog backlog;
    uint16_t backlog_notices; /* for its next entry */
    int64_t sequence;
    uint64_t buffers_lost;
    uint64_t lost_records; /* not yet taken by etwas_realtime_take_lost_records */
    bool ended;
    uint32_t head_bytes;
    uint8_t head[]; /* constant */
};

/* ---- buffers --------------------------------------------------------------------------------- */

static struct etwas_realtime_buffer *new_buffer(uint32_t bytes, uint32_t records)
{
    struct etwas_realtime_buffer *buffer = malloc(sizeof *buffer + bytes);

    if (buffer != NULL) {
        buffer->references = 1;
        buffer->bytes = bytes;
        buffer->records = records;
        buffer->given = 0;
    }
    return buffer;
}

/* With the lock held. What nobody got is lost with the last reference. */
static void release(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer)
{
    if (--buffer->references != 0) {
        return;
    }
    if (buffer->given == 0) {
        realtime->lost_records += buffer->records;
    }
    free(buffer);
}

/* ---- life ------------------------------------------------------------------------------------ */

uint32_t etwas_realtime_open(const struct etwas_realtime_options *options,
                             struct etwas_realtime **realtime)
{
    struct etwas_realtime *made = malloc(sizeof *made + options->head_bytes);
    uint32_t code;

    if (made == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *made = (struct etwas_realtime){
        .references = 1, .options = *options, .head_bytes = options->head_bytes};
    memcpy(made->head, options->head, options->head_bytes);
    made->options.head = NULL;
    code = etwas_backlog_open(&made->backlog, options->backlog_folder, options->backlog_bytes);
    if (code != ERROR_SUCCESS) {
        free(made);
        return code;
    }
    made->options.backlog_folder = NULL;
    (void)pthread_mutex_init(&made->lock, NULL);
    *realtime = made;
    return ERROR_SUCCESS;
}

void etwas_realtime_hold(struct etwas_realtime *realtime)
{
    ck_pr_inc_32(&realtime->references);
}

void etwas_realtime_let_go(struct etwas_realtime *realtime)
{
    /* Everything done with it, under the lock or not, comes before the last one's free. */
    ck_pr_fence_release();
    if (ck_pr_faa_32(&realtime->references, UINT32_MAX) == 1) {
        ck_pr_fence_acquire();
        etwas_backlog_close(&realtime->backlog);
        (void)pthread_mutex_destroy(&realtime->lock);
        free(realtime);
    }
}

void etwas_realtime_forget(struct etwas_realtime *realtime)
{
    etwas_backlog_close(&realtime->backlog);
}

/* ---- delivery: with the lock held ------------------------------------------------------------ */

static bool enqueue(struct etwas_consumer *consumer, struct etwas_realtime_buffer *buffer,
                    int64_t bound)
{
    struct node *node;

    if (buffer == NULL && consumer->last != NULL && consumer->last->entry.buffer == NULL) {
        consumer->last->entry.bound = bound;
        return true;
    }
    node = malloc(sizeof *node);
    if (node == NULL) {
        return false;
    }
    *node = (struct node){.entry = {buffer, bound, consumer->notices}};
    consumer->notices = 0;
    if (consumer->last == NULL) {
        consumer->first = node;
    } else {
        consumer->last->next = node;
    }
    consumer->last = node;
    if (buffer != NULL) {
        consumer->queued_bytes += buffer->bytes;
    }
    (void)pthread_cond_signal(&consumer->changed);
    return true;
}

/* An empty queue takes a buffer of any size. */
static bool offer(struct etwas_consumer *consumer, struct etwas_realtime_buffer *buffer)
{
    uint64_t limit = consumer->realtime->options.queue_bytes;
    bool fits = consumer->queued_bytes == 0 || (consumer->queued_bytes <= limit &&
                                                buffer->bytes <= limit - consumer->queued_bytes);

    if (fits && enqueue(consumer, buffer, 0)) {
        buffer->references++;
        return true;
    }
    consumer->notices |= ETWAS_ETL_BUFFER_BUFFER_LOST;
    consumer->realtime->buffers_lost++;
    return false;
}

static bool put_into_backlog(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer,
                             uint16_t notices)
{
    struct etwas_backlog_entry entry = {
        .bytes = buffer->bytes,
        .records = buffer->given != 0 ? 0 : buffer->records,
        .notices = realtime->backlog_notices | notices,
    };
    bool failed_before = realtime->backlog.failed;

    if (etwas_backlog_append(&realtime->backlog, &entry, buffer->content)) {
        realtime->backlog_notices = 0;
        buffer->given++;
        return true;
    }
    realtime->backlog_notices = (uint16_t)entry.notices | ETWAS_ETL_BUFFER_BUFFER_LOST;
    if (realtime->backlog.failed && !failed_before) {
        realtime->backlog_notices |= ETWAS_ETL_BUFFER_BACKUP_CORRUPT;
    }
    realtime->buffers_lost++;
    return false;
}

bool etwas_realtime_deliver(struct etwas_realtime *realtime,
                            const struct etwas_etl_buffer_header *header, const void *data,
                            uint32_t records)
{
    struct etwas_etl_buffer_header numbered = *header;
    struct etwas_realtime_buffer *buffer = new_buffer(header->offset, records);
    bool taken = false;

    (void)pthread_mutex_lock(&realtime->lock);
    numbered.sequence_number = ++realtime->sequence;
    if (buffer == NULL) {
        realtime->buffers_lost++;
        for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
            one->notices |= ETWAS_ETL_BUFFER_BUFFER_LOST;
        }
        (void)pthread_mutex_unlock(&realtime->lock);
        return false;
    }
    memcpy(buffer->content, &numbered, sizeof numbered);
    memcpy(buffer->content + sizeof numbered, data, header->offset - sizeof numbered);
    if (realtime->consumers == NULL) {
        taken = put_into_backlog(realtime, buffer, 0);
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        taken = offer(one, buffer) || taken;
    }
    /* One that was not taken is the caller's loss. */
    buffer->given += !taken;
    release(realtime, buffer);
    (void)pthread_mutex_unlock(&realtime->lock);
    return taken;
}

void etwas_realtime_set_bound(struct etwas_realtime *realtime, int64_t stamp)
{
    struct etwas_backlog_entry entry = {.bound = stamp};

    (void)pthread_mutex_lock(&realtime->lock);
    /* A bound that finds no room, or no memory, is replaced by the next one. */
    if (realtime->consumers == NULL && !etwas_backlog_is_empty(&realtime->backlog)) {
        (void)etwas_backlog_append(&realtime->backlog, &entry, NULL);
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        (void)enqueue(one, NULL, stamp);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
}

void etwas_realtime_note_lost_events(struct etwas_realtime *realtime)
{
    (void)pthread_mutex_lock(&realtime->lock);
    if (realtime->consumers == NULL) {
        realtime->backlog_notices |= ETWAS_ETL_BUFFER_EVENTS_LOST;
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        one->notices |= ETWAS_ETL_BUFFER_EVENTS_LOST;
    }
    (void)pthread_mutex_unlock(&realtime->lock);
}

bool etwas_realtime_has_room(struct etwas_realtime *realtime, uint64_t bytes)
{
    bool room;

    (void)pthread_mutex_lock(&realtime->lock);
    room = realtime->consumers != NULL || etwas_backlog_has_room(&realtime->backlog, bytes);
    (void)pthread_mutex_unlock(&realtime->lock);
    return room;
}

uint64_t etwas_realtime_buffers_lost(struct etwas_realtime *realtime)
{
    uint64_t lost;

    (void)pthread_mutex_lock(&realtime->lock);
    lost = realtime->buffers_lost;
    (void)pthread_mutex_unlock(&realtime->lock);
    return lost;
}

uint64_t etwas_realtime_take_lost_records(struct etwas_realtime *realtime)
{
    uint64_t lost;

    (void)pthread_mutex_lock(&realtime->lock);
    lost = realtime->lost_records;
    realtime->lost_records = 0;
    (void)pthread_mutex_unlock(&realtime->lock);
    return lost;
}

/* Nobody will read the rest of the backlog. With the lock held. */
static void give_up_backlog(struct etwas_realtime *realtime)
{
    realtime->buffers_lost += realtime->backlog.buffers;
    realtime->lost_records += realtime->backlog.records;
    etwas_backlog_empty(&realtime->backlog);
}

static const struct etwas_consumer *backlog_reader(const struct etwas_realtime *realtime)
{
    const struct etwas_consumer *one = realtime->consumers;

    while (one != NULL && !one->reads_backlog) {
        one = one->next;
    }
    return one;
}

uint64_t etwas_realtime_end(struct etwas_realtime *realtime, uint64_t *buffers_lost)
{
    uint64_t lost_records;

    (void)pthread_mutex_lock(&realtime->lock);
    realtime->ended = true;
    if (backlog_reader(realtime) == NULL) {
        give_up_backlog(realtime);
    }
    lost_records = realtime->lost_records;
    *buffers_lost = realtime->buffers_lost;
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        (void)pthread_cond_signal(&one->changed);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_realtime_let_go(realtime);
    return lost_records;
}

/* ---- consumers ------------------------------------------------------------------------------- */

struct etwas_consumer *etwas_realtime_connect(struct etwas_realtime *realtime)
{
    struct etwas_consumer *consumer = malloc(sizeof *consumer);

    if (consumer == NULL) {
        return NULL;
    }
    *consumer = (struct etwas_consumer){.realtime = realtime};
    (void)pthread_cond_init(&consumer->changed, NULL);
    (void)pthread_mutex_lock(&realtime->lock);
    if (realtime->ended) {
        (void)pthread_mutex_unlock(&realtime->lock);
        (void)pthread_cond_destroy(&consumer->changed);
        free(consumer);
        return NULL;
    }
    consumer->reads_backlog =
        backlog_reader(realtime) == NULL && !etwas_backlog_is_empty(&realtime->backlog);
    if (realtime->consumers == NULL) {
        consumer->notices = realtime->backlog_notices;
        realtime->backlog_notices = 0;
    }
    consumer->next = realtime->consumers;
    realtime->consumers = consumer;
    etwas_realtime_hold(realtime);
    (void)pthread_mutex_unlock(&realtime->lock);
    return consumer;
}

const uint8_t *etwas_consumer_head(const struct etwas_consumer *consumer, uint32_t *bytes)
{
    *bytes = consumer->realtime->head_bytes;
    return consumer->realtime->head;
}

void etwas_consumer_stop(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;

    (void)pthread_mutex_lock(&realtime->lock);
    consumer->stopped = true;
    (void)pthread_cond_signal(&consumer->changed);
    (void)pthread_mutex_unlock(&realtime->lock);
}

/*
 * The next entry of the backlog. False: there is none, or it cannot be read; what was left is given
 * up then, and the consumer is told. The file is read without the lock: nobody else reads it, and
 * nobody appends while there are consumers.
 */
static bool next_of_backlog(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_backlog *backlog = &realtime->backlog;
    struct etwas_realtime_buffer *buffer = NULL;
    struct etwas_backlog_entry head;
    bool good;

    if (etwas_backlog_is_empty(backlog)) {
        etwas_backlog_empty(backlog);
        consumer->reads_backlog = false;
        return false;
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    good = etwas_backlog_read_entry(backlog, &head);
    if (good && head.bytes != 0) {
        buffer = new_buffer(head.bytes, head.records);
        good = buffer != NULL;
    }
    good =
        good && etwas_backlog_read_bytes(backlog, &head, buffer != NULL ? buffer->content : NULL);
    (void)pthread_mutex_lock(&realtime->lock);
    if (!good) {
        free(buffer);
        give_up_backlog(realtime);
        consumer->reads_backlog = false;
        consumer->notices |= ETWAS_ETL_BUFFER_BACKUP_CORRUPT | ETWAS_ETL_BUFFER_BUFFER_LOST;
        return false;
    }
    *entry = (struct etwas_consumer_entry){buffer, head.bound,
                                           (uint16_t)(head.notices | consumer->notices)};
    consumer->notices = 0;
    return true;
}

static bool next_of_queue(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct node *node = consumer->first;

    if (node == NULL) {
        return false;
    }
    *entry = node->entry;
    consumer->first = node->next;
    if (consumer->first == NULL) {
        consumer->last = NULL;
    }
    if (entry->buffer != NULL) {
        consumer->queued_bytes -= entry->buffer->bytes;
    }
    free(node);
    return true;
}

void etwas_consumer_return(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct node *node = malloc(sizeof *node);

    (void)pthread_mutex_lock(&consumer->realtime->lock);
    entry->buffer->given--;
    if (node != NULL) {
        *node = (struct node){.next = consumer->first, .entry = *entry};
        consumer->first = node;
        consumer->last = consumer->last != NULL ? consumer->last : node;
        consumer->queued_bytes += entry->buffer->bytes;
    } else {
        release(consumer->realtime, entry->buffer);
    }
    (void)pthread_mutex_unlock(&consumer->realtime->lock);
}

void etwas_consumer_release(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    if (entry->buffer != NULL) {
        (void)pthread_mutex_lock(&consumer->realtime->lock);
        release(consumer->realtime, entry->buffer);
        (void)pthread_mutex_unlock(&consumer->realtime->lock);
        entry->buffer = NULL;
    }
}

enum etwas_consumer_got etwas_consumer_next(struct etwas_consumer *consumer,
                                            struct etwas_consumer_entry *entry)
{
    struct etwas_realtime *realtime = consumer->realtime;
    enum etwas_consumer_got got = ETWAS_CONSUMER_STOPPED;

    (void)pthread_mutex_lock(&realtime->lock);
    while (!consumer->stopped) {
        if ((consumer->reads_backlog && next_of_backlog(consumer, entry)) ||
            next_of_queue(consumer, entry)) {
            got = entry->buffer != NULL ? ETWAS_CONSUMER_BUFFER : ETWAS_CONSUMER_BOUND;
            if (entry->buffer != NULL) {
                entry->buffer->given++;
            }
            break;
        }
        if (realtime->ended) {
            *entry = (struct etwas_consumer_entry){.notices = consumer->notices};
            consumer->notices = 0;
            got = ETWAS_CONSUMER_END;
            break;
        }
        (void)pthread_cond_wait(&consumer->changed, &realtime->lock);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    return got;
}

static void unlink_consumer(struct etwas_consumer *consumer)
{
    struct etwas_consumer **link = &consumer->realtime->consumers;

    while (*link != consumer) {
        link = &(*link)->next;
    }
    *link = consumer->next;
}

/* What the last consumer leaves unread is kept for the next, behind what is in the backlog. */
static void return_queue(struct etwas_consumer *consumer, bool is_last)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_consumer_entry entry;

    while (next_of_queue(consumer, &entry)) {
        if (entry.buffer == NULL) {
            continue;
        }
        if (is_last && !realtime->ended) {
            (void)put_into_backlog(realtime, entry.buffer, entry.notices);
        }
        release(realtime, entry.buffer);
    }
    if (is_last) {
        realtime->backlog_notices |= consumer->notices;
    }
}

void etwas_consumer_disconnect(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;

    (void)pthread_mutex_lock(&realtime->lock);
    unlink_consumer(consumer);
    return_queue(consumer, realtime->consumers == NULL);
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_realtime_let_go(realtime);
    (void)pthread_cond_destroy(&consumer->changed);
    free(consumer);
}
