/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "realtime/consumer.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/cancel.h"
#include "platform/testpoint.h"
#include "realtime/realtime_inside.h"

/* A consumer's thread may be cancelled where it waits, and nowhere else in here. */

const uint8_t *etwas_consumer_head(const struct etwas_consumer *consumer, uint32_t *bytes)
{
    *bytes = consumer->realtime->head_bytes;
    return consumer->realtime->head;
}

struct etwas_clock_history *etwas_consumer_clocks(const struct etwas_consumer *consumer,
                                                  uint64_t *seen)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_clock_history *clocks = NULL;

    (void)pthread_mutex_lock(&realtime->lock);
    if (realtime->clocks_set != *seen) {
        clocks = malloc(sizeof *clocks);
    }
    if (clocks != NULL) {
        *clocks = realtime->clocks;
        *seen = realtime->clocks_set;
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    return clocks;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void unlink_consumer(struct etwas_consumer *consumer)
{
    struct etwas_consumer **link = &consumer->realtime->consumers;

    while (*link != consumer) {
        link = &(*link)->next;
    }
    *link = consumer->next;
}

/*
 * Whether the next consumer wants a buffer of one that has gone: one from the backlog, which nobody
 * else has had; what the last consumer had still to get; what nobody has got.
 */
static bool is_wanted(const struct etwas_realtime *realtime,
                      const struct etwas_realtime_buffer *buffer)
{
    if (buffer == NULL || realtime->ended) {
        return false;
    }
    return buffer->of_backlog || (buffer->references == 1 && (realtime->consumers == NULL ||
                                                              etwas_realtime_ungiven(buffer) != 0));
}

/* What waits for it, and what it had taken and did not give. The disk is not touched here. */
static void hand_back_queue(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_realtime_node *node;
    uint16_t notices = 0;

    while ((node = etwas_realtime_queue_pop(&consumer->queue)) != NULL) {
        notices |= node->entry.notices;
        if (is_wanted(realtime, node->entry.buffer)) {
            node->entry.notices = notices;
            notices = 0;
            etwas_realtime_queue_push(&realtime->handed_back, node);
            continue;
        }
        if (node->entry.buffer != NULL) {
            etwas_realtime_release(realtime, node->entry.buffer);
        }
        free(node);
    }
    realtime->handed_back_notices |= notices | consumer->notices;
    consumer->notices = 0;
    consumer->queued_bytes = 0;
}

/* All changes of a consumer's state, as in realtime_inside.h; with the lock held. */
static void become(struct etwas_consumer *consumer, enum etwas_consumer_state state)
{
    struct etwas_realtime *realtime = consumer->realtime;

    if (consumer->state == ETWAS_CONSUMER_NEW) {
        consumer->next = realtime->consumers;
        realtime->consumers = consumer;
    } else if (state == ETWAS_CONSUMER_GONE) {
        unlink_consumer(consumer);
        hand_back_queue(consumer);
        (void)pthread_cond_signal(&consumer->changed);
    }
    consumer->state = state;
    ETWAS_INVARIANT(etwas_realtime_is_valid(realtime));
}

/* Whoever comes first: who stops it, its thread, or for a child the fork. */
static void leave(struct etwas_consumer *consumer)
{
    if (consumer->state != ETWAS_CONSUMER_GONE) {
        become(consumer, ETWAS_CONSUMER_GONE);
    }
}

void etwas_consumer_stop(struct etwas_consumer *consumer)
{
    (void)pthread_mutex_lock(&consumer->realtime->lock);
    leave(consumer);
    (void)pthread_mutex_unlock(&consumer->realtime->lock);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The buffer of an entry that was taken. NULL: the system refused, or there is no memory. */
static struct etwas_realtime_buffer *read_buffer(int descriptor,
                                                 const struct etwas_backlog_entry *head,
                                                 uint64_t position)
{
    struct etwas_realtime_buffer *buffer = etwas_realtime_new_buffer(head->bytes, head->records);

    if (buffer == NULL) {
        return NULL;
    }
    buffer->of_backlog = true;
    buffer->given = head->given;
    if (!etwas_backlog_read(descriptor, head, position, buffer->content)) {
        free(buffer);
        return NULL;
    }
    return buffer;
}

/* An entry that cannot be read is lost, and is a bound of nothing that tells so. */
static void read_entry(struct etwas_realtime *realtime, const struct etwas_backlog_entry *head,
                       uint64_t position, struct etwas_consumer_entry *entry)
{
    struct etwas_backlog *backlog = &realtime->backlog;

    backlog->readers++;
    (void)pthread_mutex_unlock(&realtime->lock);
    entry->buffer = read_buffer(backlog->descriptor, head, position);
    (void)pthread_mutex_lock(&realtime->lock);
    backlog->readers--;
    if (entry->buffer == NULL) {
        realtime->buffers_lost++;
        realtime->lost_records += head->records > head->given ? head->records - head->given : 0;
        entry->bound = INT64_MIN;
        entry->notices |= ETWAS_ETL_BUFFER_BACKUP_CORRUPT | ETWAS_ETL_BUFFER_BUFFER_LOST;
    }
}

/* False: there is none; from here on the consumer reads its queue. */
static bool next_of_backlog(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_backlog_entry head;
    uint64_t position;

    if (!etwas_backlog_is_empty(&realtime->backlog)) {
        if (etwas_backlog_take(&realtime->backlog, &head, &position)) {
            *entry = (struct etwas_consumer_entry){NULL, head.bound,
                                                   (uint16_t)(head.notices | consumer->notices)};
            consumer->notices = 0;
            if (head.bytes != 0) {
                read_entry(realtime, &head, position, entry);
            }
            return true;
        }
        /* Where the others are cannot be known. */
        consumer->notices |= ETWAS_ETL_BUFFER_BACKUP_CORRUPT | ETWAS_ETL_BUFFER_BUFFER_LOST;
    }
    etwas_realtime_give_up_backlog(realtime);
    become(consumer, ETWAS_CONSUMER_LIVE);
    return false;
}

static bool next_of_queue(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct etwas_realtime_node *node = etwas_realtime_queue_pop(&consumer->queue);

    if (node == NULL) {
        return false;
    }
    *entry = node->entry;
    if (entry->buffer != NULL) {
        consumer->queued_bytes -= etwas_realtime_cost(entry->buffer);
    }
    free(node);
    return true;
}

static enum etwas_consumer_got next(struct etwas_consumer *consumer,
                                    struct etwas_consumer_entry *entry, int cancelling)
{
    struct etwas_realtime *realtime = consumer->realtime;

    while (consumer->state != ETWAS_CONSUMER_GONE) {
        if ((consumer->state == ETWAS_CONSUMER_CATCHING_UP && next_of_backlog(consumer, entry)) ||
            next_of_queue(consumer, entry)) {
            return entry->buffer != NULL ? ETWAS_GOT_BUFFER : ETWAS_GOT_BOUND;
        }
        if (realtime->ended) {
            *entry = (struct etwas_consumer_entry){.notices = consumer->notices};
            consumer->notices = 0;
            return ETWAS_GOT_END;
        }
        etwas_cancel_allow(cancelling);
        (void)pthread_cond_wait(&consumer->changed, &realtime->lock);
        (void)etwas_cancel_forbid();
    }
    return ETWAS_GOT_STOP;
}

static void unlock(void *lock)
{
    (void)pthread_mutex_unlock(lock);
}

enum etwas_consumer_got etwas_consumer_next(struct etwas_consumer *consumer,
                                            struct etwas_consumer_entry *entry)
{
    pthread_mutex_t *lock = &consumer->realtime->lock;
    int cancelling = etwas_cancel_forbid();
    volatile enum etwas_consumer_got got;

    (void)pthread_mutex_lock(lock);
    pthread_cleanup_push(unlock, lock);
    got = next(consumer, entry, cancelling);
    pthread_cleanup_pop(1);
    etwas_cancel_allow(cancelling);
    return got;
}

void etwas_consumer_release(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    if (entry->buffer != NULL) {
        (void)pthread_mutex_lock(&consumer->realtime->lock);
        entry->buffer->given = UINT32_MAX;
        etwas_realtime_release(consumer->realtime, entry->buffer);
        (void)pthread_mutex_unlock(&consumer->realtime->lock);
        entry->buffer = NULL;
    }
}

void etwas_consumer_refuse(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    (void)pthread_mutex_lock(&consumer->realtime->lock);
    consumer->realtime->buffers_lost++;
    etwas_realtime_release(consumer->realtime, entry->buffer);
    (void)pthread_mutex_unlock(&consumer->realtime->lock);
    entry->buffer = NULL;
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* In front of what waits for the consumer. False: there is no memory. */
static bool put_before_queue(struct etwas_consumer *consumer, struct etwas_realtime_buffer *buffer,
                             const struct etwas_realtime_part *part)
{
    struct etwas_realtime_queue *queue = &consumer->queue;
    struct etwas_realtime_node *node = malloc(sizeof *node);

    if (node == NULL) {
        return false;
    }
    *node = (struct etwas_realtime_node){
        .next = queue->first, .entry = {.buffer = buffer}, .part = *part};
    queue->first = node;
    queue->last = queue->last != NULL ? queue->last : node;
    consumer->queued_bytes += etwas_realtime_cost(buffer);
    return true;
}

void etwas_consumer_return(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry,
                           uint32_t given_records, uint32_t given_bytes)
{
    const struct etwas_realtime_part part = {given_bytes, given_records};
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_realtime_buffer *buffer = entry->buffer;
    int cancelling = etwas_cancel_forbid();

    (void)pthread_mutex_lock(&realtime->lock);
    if (buffer->given < given_records) {
        buffer->given = given_records;
    }
    if (consumer->state == ETWAS_CONSUMER_CATCHING_UP) {
        (void)etwas_realtime_store(realtime, buffer, &part, 0, ETWAS_BACKLOG_FRONT);
        etwas_realtime_release(realtime, buffer);
    } else if (!put_before_queue(consumer, buffer, &part)) {
        realtime->buffers_lost++;
        etwas_realtime_release(realtime, buffer);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_cancel_allow(cancelling);
    entry->buffer = NULL;
}

void etwas_consumer_disconnect(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;
    int cancelling = etwas_cancel_forbid();

    (void)pthread_mutex_lock(&realtime->lock);
    leave(consumer);
    hand_back_queue(consumer); /* one that was stopped returned this since; all in a fork's child */
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_realtime_let_go(realtime);
    etwas_cancel_allow(cancelling);
    (void)pthread_cond_destroy(&consumer->changed);
    free(consumer);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static void connect(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;
    bool has_backlog = !etwas_backlog_is_empty(&realtime->backlog);

    if (realtime->consumers == NULL) {
        consumer->notices = realtime->backlog_notices;
        realtime->backlog_notices = 0;
    }
    become(consumer, has_backlog && !etwas_realtime_backlog_is_read(realtime)
                         ? ETWAS_CONSUMER_CATCHING_UP
                         : ETWAS_CONSUMER_LIVE);
    etwas_realtime_hold(realtime);
}

uint32_t etwas_realtime_connect(struct etwas_realtime *realtime, struct etwas_consumer **connected)
{
    struct etwas_consumer *consumer = malloc(sizeof *consumer);
    uint32_t code = ERROR_SUCCESS;
    int cancelling;

    if (consumer == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *consumer = (struct etwas_consumer){.realtime = realtime};
    (void)pthread_cond_init(&consumer->changed, NULL);
    cancelling = etwas_cancel_forbid();
    etwas_realtime_lock(realtime);
    if (realtime->ended) {
        code = ERROR_WMI_INSTANCE_NOT_FOUND;
    } else {
        connect(consumer);
    }
    etwas_realtime_unlock(realtime);
    etwas_cancel_allow(cancelling);
    if (code != ERROR_SUCCESS) {
        (void)pthread_cond_destroy(&consumer->changed);
        free(consumer);
        return code;
    }
    *connected = consumer;
    return ERROR_SUCCESS;
}
