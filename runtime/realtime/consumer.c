/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A consumer's end of real-time delivery. Its thread may be cancelled where it waits, and nowhere
 * else in here.
 */
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/cancel.h"
#include "realtime/realtime_inside.h"

const uint8_t *etwas_consumer_head(const struct etwas_consumer *consumer, uint32_t *bytes)
{
    *bytes = consumer->realtime->head_bytes;
    return consumer->realtime->head;
}

struct etwas_clock_timeline *etwas_consumer_clocks(const struct etwas_consumer *consumer,
                                                   uint64_t *seen)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_clock_timeline *clocks = NULL;

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

void etwas_consumer_stop(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;

    (void)pthread_mutex_lock(&realtime->lock);
    consumer->stopped = true;
    (void)pthread_cond_signal(&consumer->changed);
    (void)pthread_mutex_unlock(&realtime->lock);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* NULL and a bound, or a buffer. False: the system refused, or there is no memory. */
static bool read_backlog(const struct etwas_backlog *backlog, struct etwas_backlog_entry *head,
                         struct etwas_realtime_buffer **buffer)
{
    *buffer = NULL;
    if (!etwas_backlog_read_entry(backlog, head)) {
        return false;
    }
    if (head->bytes != 0) {
        *buffer = etwas_realtime_new_buffer(head->bytes, head->records);
        if (*buffer == NULL) {
            return false;
        }
        (*buffer)->of_backlog = 1;
        (*buffer)->given = head->given;
    }
    if (etwas_backlog_read_bytes(backlog, head, *buffer != NULL ? (*buffer)->content : NULL)) {
        return true;
    }
    free(*buffer);
    return false;
}

/*
 * The next entry of the backlog's file. False: it cannot be read; what was left is given up then,
 * and the consumer is told. The file is read without the lock: nobody else reads it.
 */
static bool next_of_file(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_realtime_buffer *buffer;
    struct etwas_backlog_entry head;
    struct etwas_backlog backlog = realtime->backlog;
    int before = etwas_cancel_forbid();
    bool good;

    consumer->in_file = true;
    (void)pthread_mutex_unlock(&realtime->lock);
    good = read_backlog(&backlog, &head, &buffer);
    (void)pthread_mutex_lock(&realtime->lock);
    consumer->in_file = false;
    (void)pthread_cond_broadcast(&realtime->file_left);
    etwas_cancel_allow(before);
    if (!good) {
        etwas_realtime_give_up_backlog(realtime);
        consumer->reads_backlog = false;
        consumer->notices |= ETWAS_ETL_BUFFER_BACKUP_CORRUPT | ETWAS_ETL_BUFFER_BUFFER_LOST;
        return false;
    }
    etwas_backlog_drop_entry(&realtime->backlog, &head);
    *entry = (struct etwas_consumer_entry){buffer, head.bound,
                                           (uint16_t)(head.notices | consumer->notices)};
    consumer->notices = 0;
    return true;
}

static bool next_of_backlog(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_realtime_node *node = realtime->kept;

    if (node != NULL) {
        realtime->kept = node->next;
        *entry = node->entry;
        free(node);
        return true;
    }
    if (!etwas_backlog_is_empty(&realtime->backlog)) {
        return next_of_file(consumer, entry);
    }
    etwas_backlog_empty(&realtime->backlog);
    consumer->reads_backlog = false;
    return false;
}

struct etwas_realtime_node *etwas_realtime_take_node(struct etwas_consumer *consumer)
{
    struct etwas_realtime_node *node = consumer->first;

    if (node != NULL) {
        consumer->first = node->next;
        if (consumer->first == NULL) {
            consumer->last = NULL;
        }
    }
    return node;
}

static bool next_of_queue(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry)
{
    struct etwas_realtime_node *node = etwas_realtime_take_node(consumer);

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

static enum etwas_consumer_got wait_for_next(struct etwas_consumer *consumer,
                                             struct etwas_consumer_entry *entry)
{
    struct etwas_realtime *realtime = consumer->realtime;

    while (!consumer->stopped) {
        if ((consumer->reads_backlog && next_of_backlog(consumer, entry)) ||
            next_of_queue(consumer, entry)) {
            return entry->buffer != NULL ? ETWAS_CONSUMER_BUFFER : ETWAS_CONSUMER_BOUND;
        }
        if (realtime->ended) {
            *entry = (struct etwas_consumer_entry){.notices = consumer->notices};
            consumer->notices = 0;
            return ETWAS_CONSUMER_END;
        }
        (void)pthread_cond_wait(&consumer->changed, &realtime->lock);
    }
    return ETWAS_CONSUMER_STOPPED;
}

static void unlock(void *lock)
{
    (void)pthread_mutex_unlock(lock);
}

enum etwas_consumer_got etwas_consumer_next(struct etwas_consumer *consumer,
                                            struct etwas_consumer_entry *entry)
{
    pthread_mutex_t *lock = &consumer->realtime->lock;
    volatile enum etwas_consumer_got got;

    (void)pthread_mutex_lock(lock);
    pthread_cleanup_push(unlock, lock);
    got = wait_for_next(consumer, entry);
    pthread_cleanup_pop(1);
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

void etwas_consumer_return(struct etwas_consumer *consumer, struct etwas_consumer_entry *entry,
                           uint32_t given_records, uint32_t given_bytes)
{
    struct etwas_realtime_buffer *buffer = entry->buffer;
    struct etwas_realtime_node *node = malloc(sizeof *node);

    (void)pthread_mutex_lock(&consumer->realtime->lock);
    if (buffer->given < given_records) {
        buffer->given = given_records;
    }
    if (node != NULL) {
        *node = (struct etwas_realtime_node){
            .next = consumer->first,
            .entry = {.buffer = buffer},
            .part = {given_bytes, given_records},
        };
        consumer->first = node;
        consumer->last = consumer->last != NULL ? consumer->last : node;
    } else {
        consumer->realtime->buffers_lost++;
        etwas_realtime_release(consumer->realtime, buffer);
    }
    (void)pthread_mutex_unlock(&consumer->realtime->lock);
    entry->buffer = NULL;
}

static void unlink_consumer(struct etwas_consumer *consumer)
{
    struct etwas_consumer **link = &consumer->realtime->consumers;

    while (*link != consumer) {
        link = &(*link)->next;
    }
    *link = consumer->next;
}

/* A copy of what is left of a buffer; the buffer itself if that is all. NULL: no memory. */
static struct etwas_realtime_buffer *rest_of(struct etwas_realtime *realtime,
                                             struct etwas_realtime_buffer *buffer,
                                             const struct etwas_realtime_part *part)
{
    struct etwas_etl_buffer_header header;
    struct etwas_realtime_buffer *rest;

    if (part->records_before == 0) {
        return buffer;
    }
    rest = etwas_realtime_new_buffer((uint32_t)sizeof header + buffer->bytes - part->begin,
                                     etwas_realtime_less(buffer->records, part->records_before));
    if (rest != NULL) {
        memcpy(&header, buffer->content, sizeof header);
        etwas_realtime_set_end(&header, rest->bytes);
        memcpy(rest->content, &header, sizeof header);
        memcpy(rest->content + sizeof header, buffer->content + part->begin,
               buffer->bytes - part->begin);
        rest->given = etwas_realtime_less(buffer->given, part->records_before);
        buffer->given = UINT32_MAX;
        etwas_realtime_release(realtime, buffer);
    }
    return rest;
}

/* Older than what is in the backlog: keeps it before that. Returns where the next one belongs. */
static struct etwas_realtime_node **keep(struct etwas_realtime *realtime,
                                         struct etwas_realtime_node **link,
                                         struct etwas_realtime_node *node)
{
    struct etwas_realtime_buffer *rest = rest_of(realtime, node->entry.buffer, &node->part);

    if (rest == NULL) {
        realtime->buffers_lost++;
        etwas_realtime_release(realtime, node->entry.buffer);
        free(node);
        return link;
    }
    rest->of_backlog = 1;
    *node = (struct etwas_realtime_node){
        .next = *link, .entry = {.buffer = rest}, .part = etwas_realtime_all_of_it};
    *link = node;
    return &node->next;
}

/*
 * What nobody else has: the last consumer's is wanted by the next one; another's, if it was given
 * to nobody.
 */
static bool is_wanted(const struct etwas_realtime *realtime,
                      const struct etwas_realtime_buffer *buffer)
{
    if (buffer == NULL || realtime->ended) {
        return false;
    }
    return buffer->of_backlog != 0 ||
           (buffer->references == 1 &&
            (!etwas_realtime_has_consumer(realtime) || etwas_realtime_ungiven(buffer) != 0));
}

/*
 * What is wanted is kept for the next consumer, behind what is in the backlog; before that, if it
 * was in the backlog itself.
 */
static void return_queue(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;
    struct etwas_realtime_node **kept_end = &realtime->kept;
    struct etwas_realtime_node *node;
    uint16_t notices = 0;

    while ((node = etwas_realtime_take_node(consumer)) != NULL) {
        struct etwas_realtime_buffer *buffer = node->entry.buffer;

        notices |= node->entry.notices;
        if (is_wanted(realtime, buffer)) {
            /* What a callback that ended its thread left is older than all the rest. */
            if (consumer->left || (buffer->of_backlog != 0 && consumer->reads_backlog)) {
                kept_end = keep(realtime, kept_end, node);
                continue;
            }
            (void)etwas_realtime_put_into_backlog(realtime, buffer, &node->part, notices);
            notices = 0;
        }
        if (buffer != NULL) {
            etwas_realtime_release(realtime, buffer);
        }
        free(node);
    }
    if (!etwas_realtime_has_consumer(realtime)) {
        realtime->backlog_notices |= notices | consumer->notices;
        consumer->notices = 0;
    }
}

void etwas_consumer_disconnect(struct etwas_consumer *consumer)
{
    struct etwas_realtime *realtime = consumer->realtime;
    int before = etwas_cancel_forbid();

    (void)pthread_mutex_lock(&realtime->lock);
    etwas_realtime_let_stopped_leave(realtime);
    if (!consumer->left) {
        unlink_consumer(consumer);
    }
    return_queue(consumer);
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_realtime_let_go(realtime);
    etwas_cancel_allow(before);
    (void)pthread_cond_destroy(&consumer->changed);
    free(consumer);
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* One that reads the backlog's file just now stays for that. */
void etwas_realtime_let_stopped_leave(struct etwas_realtime *realtime)
{
    struct etwas_consumer *one = realtime->consumers;

    while (one != NULL) {
        struct etwas_consumer *next = one->next;

        if (one->stopped && !one->in_file) {
            unlink_consumer(one);
        }
        if (one->stopped) {
            return_queue(one);
            one->left = !one->in_file;
        }
        one = next;
    }
}

bool etwas_realtime_is_left_soon(const struct etwas_realtime *realtime)
{
    const struct etwas_consumer *reader = etwas_realtime_backlog_reader(realtime);

    return !realtime->ended && reader != NULL && reader->stopped && reader->in_file;
}

static void join(struct etwas_realtime *realtime, struct etwas_consumer *consumer)
{
    consumer->reads_backlog =
        etwas_realtime_backlog_reader(realtime) == NULL && etwas_realtime_has_backlog(realtime);
    if (!etwas_realtime_has_consumer(realtime)) {
        consumer->notices = realtime->backlog_notices;
        realtime->backlog_notices = 0;
    }
    consumer->next = realtime->consumers;
    realtime->consumers = consumer;
    etwas_realtime_hold(realtime);
}

uint32_t etwas_realtime_connect(struct etwas_realtime *realtime, struct etwas_consumer **connected)
{
    struct etwas_consumer *consumer = malloc(sizeof *consumer);
    uint32_t code = ERROR_SUCCESS;
    int before;

    if (consumer == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *consumer = (struct etwas_consumer){.realtime = realtime};
    (void)pthread_cond_init(&consumer->changed, NULL);
    before = etwas_cancel_forbid();
    (void)pthread_mutex_lock(&realtime->lock);
    etwas_realtime_let_stopped_leave(realtime);
    while (etwas_realtime_is_left_soon(realtime)) {
        (void)pthread_cond_wait(&realtime->file_left, &realtime->lock);
        etwas_realtime_let_stopped_leave(realtime);
    }
    if (realtime->ended) {
        code = ERROR_WMI_INSTANCE_NOT_FOUND;
    } else {
        join(realtime, consumer);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_cancel_allow(before);
    if (code != ERROR_SUCCESS) {
        (void)pthread_cond_destroy(&consumer->changed);
        free(consumer);
        return code;
    }
    *connected = consumer;
    return ERROR_SUCCESS;
}
