/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/consumer.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"
#include "platform/cancel.h"
#include "platform/testpoint.h"
#include "realtime/realtime_internal.h"

/* A consumer's thread may be cancelled while it waits, and nowhere else in this file. */

static struct etwas_local_consumer *local_consumer_of(const struct etwas_consumer *consumer)
{
    /* The objects themselves are never constant. */
    return (struct etwas_local_consumer *)(uintptr_t)consumer;
}

static const uint8_t *local_consumer_head(const struct etwas_consumer *base, uint32_t *bytes)
{
    const struct etwas_local_consumer *consumer = local_consumer_of(base);

    *bytes = consumer->realtime->head_bytes;
    return consumer->realtime->head;
}

static struct etwas_clock_history *local_consumer_clocks(const struct etwas_consumer *base,
                                                         uint64_t *version)
{
    struct etwas_realtime *realtime = local_consumer_of(base)->realtime;
    struct etwas_clock_history *history = NULL;

    (void)pthread_mutex_lock(&realtime->lock);
    if (realtime->clocks_set != *version) {
        history = malloc(sizeof *history);
    }
    if (history != NULL) {
        *history = realtime->clocks;
        *version = realtime->clocks_set;
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    return history;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void local_consumer_unlink(struct etwas_local_consumer *consumer)
{
    struct etwas_local_consumer **link = &consumer->realtime->consumers;

    while (*link != consumer) {
        link = &(*link)->next;
    }
    *link = consumer->next;
}

/*
 * Returns whether the next consumer gets a buffer of a consumer that has left. It does if the
 * buffer came from the backlog, or if no other consumer has it and either none is connected or some
 * of its records were not delivered.
 */
static bool realtime_wants_returned(const struct etwas_realtime *realtime,
                                    const struct etwas_realtime_buffer *buffer)
{
    if (buffer == NULL || realtime->ended) {
        return false;
    }
    return buffer->from_backlog ||
           (buffer->references == 1 &&
            (realtime->consumers == NULL || etwas_realtime_undelivered_records(buffer) != 0));
}

/* Returns queued buffers to the backlog, and those that the consumer took and did not deliver. */
static void local_consumer_return_queue(struct etwas_local_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_realtime_node *node;
    uint16_t notices = 0;

    while ((node = etwas_realtime_queue_pop(&consumer->queue)) != NULL) {
        notices |= node->entry.notices;
        if (realtime_wants_returned(realtime, node->entry.buffer)) {
            node->entry.notices = notices;
            notices = 0;
            etwas_backlog_append_returned(realtime, node);
            continue;
        }
        if (node->entry.buffer != NULL) {
            etwas_realtime_release_buffer(realtime, node->entry.buffer);
        }
        free(node);
    }
    if (realtime->consumers == NULL) {
        realtime->backlog.notices |= notices | consumer->notices;
    }
    consumer->notices = 0;
    consumer->queued_bytes = 0;
}

/* Changes the consumer's state, as in the table of realtime_internal.h. The lock is held. */
static void local_consumer_set_state(struct etwas_local_consumer *consumer,
                                     enum etwas_consumer_state state)
{
    struct etwas_realtime *realtime = consumer->realtime;

    if (consumer->state == ETWAS_CONSUMER_DISCONNECTED) {
        consumer->next = realtime->consumers;
        realtime->consumers = consumer;
    } else if (state == ETWAS_CONSUMER_DISCONNECTED) {
        local_consumer_unlink(consumer);
        local_consumer_return_queue(consumer);
        (void)pthread_cond_signal(&consumer->changed);
    }
    consumer->state = state;
    ETWAS_INVARIANT(etwas_realtime_is_valid(realtime));
}

/*
 * Disconnects the consumer, unless the thread that stops it, its own thread, or the fork in a child
 * did so before.
 */
static void local_consumer_leave(struct etwas_local_consumer *consumer)
{
    if (consumer->state != ETWAS_CONSUMER_DISCONNECTED) {
        local_consumer_set_state(consumer, ETWAS_CONSUMER_DISCONNECTED);
    }
}

static void local_consumer_stop(struct etwas_consumer *base)
{
    struct etwas_local_consumer *consumer = local_consumer_of(base);

    (void)pthread_mutex_lock(&consumer->realtime->lock);
    local_consumer_leave(consumer);
    (void)pthread_mutex_unlock(&consumer->realtime->lock);
}

/* ---- reading --------------------------------------------------------------------------------- */

/*
 * Makes a buffer of metadata that the consumer has not got yet. NULL: there is none, or no memory.
 */
static struct etwas_realtime_buffer *local_consumer_read_metadata(
    struct etwas_local_consumer *consumer)
{
    const bool takes_stacks = consumer->realtime->takes_stacks;
    struct etwas_realtime_buffer *buffer = NULL;
    struct etwas_etl_buffer_header header;
    struct etwas_etl_system_header first;
    uint32_t bytes = 0;

    memcpy(&header, consumer->realtime->head, sizeof header);
    memcpy(&first, consumer->realtime->head + sizeof header, sizeof first);
    if (etwas_metadata_has_more(&consumer->described, takes_stacks)) {
        buffer = etwas_realtime_new_buffer(header.buffer_bytes, 0);
    }
    if (buffer != NULL) {
        bytes =
            etwas_metadata_read(&consumer->described, takes_stacks, buffer->content + sizeof header,
                                header.buffer_bytes - (uint32_t)sizeof header, first.time_stamp);
    }
    if (bytes == 0) {
        free(buffer);
        return NULL;
    }
    buffer->bytes = (uint32_t)sizeof header + bytes;
    header.time_stamp = first.time_stamp;
    header.sequence_number = consumer->realtime->sequence_number;
    header.flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX;
    header.type = ETWAS_ETL_BUFFER_GENERIC;
    etwas_realtime_set_end(&header, buffer->bytes);
    memcpy(buffer->content, &header, sizeof header);
    return buffer;
}

/* Takes the next entry of the backlog or the queue. Returns false if there is none. */
static bool local_consumer_pop_entry(struct etwas_local_consumer *consumer,
                                     struct etwas_consumer_entry *entry)
{
    struct etwas_realtime *realtime = consumer->realtime;
    bool catching_up = consumer->state == ETWAS_CONSUMER_CATCHING_UP;
    struct etwas_realtime_node *node =
        etwas_realtime_queue_pop(catching_up ? &realtime->backlog.entries : &consumer->queue);

    if (node == NULL) {
        return false;
    }
    if (node->bytes != 0) {
        etwas_backlog_read(realtime, node);
    } else if (!catching_up && node->entry.buffer != NULL) {
        consumer->queued_bytes -= etwas_realtime_queue_cost(node->entry.buffer);
    }
    *entry = node->entry;
    free(node);
    return true;
}

static enum etwas_consumer_result local_consumer_next_locked(struct etwas_local_consumer *consumer,
                                                             struct etwas_consumer_entry *entry,
                                                             int cancelling)
{
    struct etwas_realtime *realtime = consumer->realtime;

    while (consumer->state != ETWAS_CONSUMER_DISCONNECTED) {
        *entry = (struct etwas_consumer_entry){.buffer = local_consumer_read_metadata(consumer)};
        if (entry->buffer != NULL || local_consumer_pop_entry(consumer, entry)) {
            return entry->buffer != NULL ? ETWAS_CONSUMER_RESULT_BUFFER
                                         : ETWAS_CONSUMER_RESULT_BOUND;
        }
        if (consumer->state == ETWAS_CONSUMER_CATCHING_UP) {
            local_consumer_set_state(consumer, ETWAS_CONSUMER_LIVE);
            continue;
        }
        if (realtime->ended) {
            *entry = (struct etwas_consumer_entry){.notices = consumer->notices};
            consumer->notices = 0;
            return ETWAS_CONSUMER_RESULT_ENDED;
        }
        etwas_cancel_allow(cancelling);
        (void)pthread_cond_wait(&consumer->changed, &realtime->lock);
        (void)etwas_cancel_forbid();
    }
    return ETWAS_CONSUMER_RESULT_STOPPED;
}

static void local_consumer_unlock(void *lock)
{
    (void)pthread_mutex_unlock(lock);
}

static enum etwas_consumer_result local_consumer_next(struct etwas_consumer *base,
                                                      struct etwas_consumer_entry *entry)
{
    struct etwas_local_consumer *consumer = local_consumer_of(base);
    pthread_mutex_t *lock = &consumer->realtime->lock;
    int cancelling = etwas_cancel_forbid();
    volatile enum etwas_consumer_result result;

    (void)pthread_mutex_lock(lock);
    pthread_cleanup_push(local_consumer_unlock, lock);
    result = local_consumer_next_locked(consumer, entry, cancelling);
    pthread_cleanup_pop(1);
    etwas_cancel_allow(cancelling);
    return result;
}

static void local_consumer_release(struct etwas_consumer *base, struct etwas_consumer_entry *entry)
{
    struct etwas_local_consumer *consumer = local_consumer_of(base);

    if (entry->buffer != NULL) {
        (void)pthread_mutex_lock(&consumer->realtime->lock);
        entry->buffer->delivered = UINT32_MAX;
        etwas_realtime_release_buffer(consumer->realtime, entry->buffer);
        (void)pthread_mutex_unlock(&consumer->realtime->lock);
        entry->buffer = NULL;
    }
}

static void local_consumer_refuse(struct etwas_consumer *base, struct etwas_consumer_entry *entry,
                                  uint32_t delivered_records)
{
    struct etwas_local_consumer *consumer = local_consumer_of(base);
    struct etwas_realtime_buffer *buffer = entry->buffer;

    (void)pthread_mutex_lock(&consumer->realtime->lock);
    consumer->realtime->buffers_lost++;
    buffer->delivered =
        buffer->delivered > delivered_records ? buffer->delivered : delivered_records;
    etwas_realtime_release_buffer(consumer->realtime, buffer);
    (void)pthread_mutex_unlock(&consumer->realtime->lock);
    entry->buffer = NULL;
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* Cuts off the delivered records of a buffer that no other consumer has. */
static void realtime_buffer_cut(struct etwas_realtime_buffer *buffer, uint32_t delivered_records,
                                uint32_t delivered_bytes)
{
    struct etwas_etl_buffer_header header;

    memcpy(&header, buffer->content, sizeof header);
    buffer->bytes -= delivered_bytes - (uint32_t)sizeof header;
    buffer->records -= delivered_records < buffer->records ? delivered_records : buffer->records;
    buffer->delivered -= delivered_records;
    etwas_realtime_set_end(&header, buffer->bytes);
    memcpy(buffer->content, &header, sizeof header);
    memmove(buffer->content + sizeof header, buffer->content + delivered_bytes,
            buffer->bytes - sizeof header);
}

/* Puts a buffer in front of what waits for the consumer. Returns false without memory. */
static bool local_consumer_push_front(struct etwas_local_consumer *consumer,
                                      struct etwas_realtime_buffer *buffer)
{
    bool catching_up = consumer->state == ETWAS_CONSUMER_CATCHING_UP;
    struct etwas_realtime_queue *queue =
        catching_up ? &consumer->realtime->backlog.entries : &consumer->queue;
    struct etwas_realtime_node *node = malloc(sizeof *node);

    if (node == NULL) {
        return false;
    }
    *node = (struct etwas_realtime_node){.next = queue->first, .entry = {.buffer = buffer}};
    queue->first = node;
    queue->last = queue->last != NULL ? queue->last : node;
    consumer->queued_bytes += catching_up ? 0 : etwas_realtime_queue_cost(buffer);
    return true;
}

static void local_consumer_return(struct etwas_consumer *base, struct etwas_consumer_entry *entry,
                                  uint32_t delivered_records, uint32_t delivered_bytes)
{
    struct etwas_local_consumer *consumer = local_consumer_of(base);
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_realtime_buffer *buffer = entry->buffer;
    ETWAS_UNCANCELLED_SCOPE;

    (void)pthread_mutex_lock(&realtime->lock);
    if (buffer->delivered < delivered_records) {
        buffer->delivered = delivered_records;
    }
    if (buffer->references > 1) {
        etwas_realtime_release_buffer(realtime, buffer);
    } else {
        realtime_buffer_cut(buffer, delivered_records, delivered_bytes);
        if (!local_consumer_push_front(consumer, buffer)) {
            realtime->buffers_lost++;
            etwas_realtime_release_buffer(realtime, buffer);
        }
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    entry->buffer = NULL;
}

static void local_consumer_disconnect(struct etwas_consumer *base)
{
    struct etwas_local_consumer *consumer = local_consumer_of(base);
    struct etwas_realtime *realtime = consumer->realtime;
    ETWAS_UNCANCELLED_SCOPE;

    (void)pthread_mutex_lock(&realtime->lock);
    local_consumer_leave(consumer);
    local_consumer_return_queue(
        consumer); /* buffers that a stopped consumer returned; in a fork's child, all */
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_realtime_unreference(realtime);
    (void)pthread_cond_destroy(&consumer->changed);
    free(consumer);
}

/* Does nothing; etwas_realtime_after_fork_in_child handles all consumers. */
static void local_consumer_after_fork_in_child(struct etwas_consumer *base)
{
    (void)base;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static const struct etwas_consumer_verbs verbs = {
    .head = local_consumer_head,
    .clocks = local_consumer_clocks,
    .next = local_consumer_next,
    .give_back = local_consumer_return,
    .release = local_consumer_release,
    .refuse = local_consumer_refuse,
    .stop = local_consumer_stop,
    .disconnect = local_consumer_disconnect,
    .after_fork_in_child = local_consumer_after_fork_in_child,
};

static void local_consumer_connect(struct etwas_local_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;

    if (realtime->consumers == NULL) {
        consumer->notices = realtime->backlog.notices;
        realtime->backlog.notices = 0;
    }
    local_consumer_set_state(consumer, realtime->backlog.entries.first != NULL &&
                                               !etwas_backlog_is_read(realtime)
                                           ? ETWAS_CONSUMER_CATCHING_UP
                                           : ETWAS_CONSUMER_LIVE);
    etwas_realtime_reference(realtime);
}

uint32_t etwas_realtime_connect(struct etwas_realtime *realtime, struct etwas_consumer **connected)
{
    struct etwas_local_consumer *consumer = malloc(sizeof *consumer);
    uint32_t code = ERROR_SUCCESS;
    ETWAS_UNCANCELLED_SCOPE;

    if (consumer == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *consumer = (struct etwas_local_consumer){.base = {&verbs}, .realtime = realtime};
    (void)pthread_cond_init(&consumer->changed, NULL);
    (void)pthread_mutex_lock(&realtime->lock);
    if (realtime->ended) {
        code = ERROR_WMI_INSTANCE_NOT_FOUND;
    } else {
        local_consumer_connect(consumer);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    if (code != ERROR_SUCCESS) {
        (void)pthread_cond_destroy(&consumer->changed);
        free(consumer);
        return code;
    }
    *connected = &consumer->base;
    return ERROR_SUCCESS;
}
