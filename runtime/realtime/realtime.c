/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "realtime/realtime.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/fork.h"
#include "platform/testpoint.h"
#include "realtime/realtime_inside.h"

/* Of all that live, for a fork. Locked before the lock of any of them. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct etwas_realtime *all;

/* ---- buffers --------------------------------------------------------------------------------- */

struct etwas_realtime_buffer *etwas_realtime_new_buffer(uint32_t bytes, uint32_t records)
{
    struct etwas_realtime_buffer *buffer = malloc(sizeof *buffer + bytes);

    if (buffer != NULL) {
        *buffer =
            (struct etwas_realtime_buffer){.references = 1, .bytes = bytes, .records = records};
    }
    return buffer;
}

void etwas_realtime_release(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer)
{
    if (--buffer->references != 0) {
        return;
    }
    realtime->lost_records += buffer->stored ? 0 : etwas_realtime_ungiven(buffer);
    free(buffer);
}

/* ---- opening and closing --------------------------------------------------------------------- */

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
    etwas_fork_forbid();
    code = etwas_backlog_open(&made->backlog, options->backlog_folder, options->backlog_bytes);
    if (code != ERROR_SUCCESS) {
        etwas_fork_allow();
        free(made);
        return code;
    }
    made->options.backlog_folder = NULL;
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_mutex_lock(&all_lock);
    made->next = all;
    all = made;
    (void)pthread_mutex_unlock(&all_lock);
    etwas_fork_allow();
    *realtime = made;
    return ERROR_SUCCESS;
}

void etwas_realtime_hold(struct etwas_realtime *realtime)
{
    ck_pr_inc_32(&realtime->references);
}

/* A fork waits meanwhile: a child must not close a descriptor that is closed. */
static void close_last(struct etwas_realtime *realtime)
{
    struct etwas_realtime **link = &all;

    (void)pthread_mutex_lock(&all_lock);
    while (*link != realtime) {
        link = &(*link)->next;
    }
    *link = realtime->next;
    etwas_backlog_close(&realtime->backlog);
    (void)pthread_mutex_unlock(&all_lock);
}

void etwas_realtime_let_go(struct etwas_realtime *realtime)
{
    /* Everything done with it, under the lock or not, comes before the last one's free. */
    ck_pr_fence_release();
    if (ck_pr_faa_32(&realtime->references, UINT32_MAX) == 1) {
        ck_pr_fence_acquire();
        etwas_realtime_lock(realtime);
        etwas_realtime_give_up_backlog(realtime);
        etwas_realtime_unlock(realtime);
        close_last(realtime);
        (void)pthread_mutex_destroy(&realtime->lock);
        free(realtime);
    }
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_realtime_before_fork(void)
{
    (void)pthread_mutex_lock(&all_lock);
    for (struct etwas_realtime *one = all; one != NULL; one = one->next) {
        (void)pthread_mutex_lock(&one->lock);
    }
}

void etwas_realtime_after_fork_in_parent(void)
{
    for (struct etwas_realtime *one = all; one != NULL; one = one->next) {
        (void)pthread_mutex_unlock(&one->lock);
    }
    (void)pthread_mutex_unlock(&all_lock);
}

void etwas_realtime_after_fork_in_child(void)
{
    for (struct etwas_realtime *one = all; one != NULL; one = one->next) {
        etwas_backlog_close(&one->backlog);
        one->ended = true;
        for (struct etwas_consumer *each = one->consumers; each != NULL; each = each->next) {
            each->state = ETWAS_CONSUMER_GONE;
            /* Who waits for it does so in the parent. */
            (void)pthread_cond_init(&each->changed, NULL);
        }
        one->consumers = NULL;
        (void)pthread_mutex_unlock(&one->lock);
    }
    (void)pthread_mutex_unlock(&all_lock);
}

/* ---- queues and the backlog: with the lock held ---------------------------------------------- */

struct etwas_realtime_node *etwas_realtime_queue_pop(struct etwas_realtime_queue *queue)
{
    struct etwas_realtime_node *node = queue->first;

    if (node != NULL) {
        queue->first = node->next;
        queue->last = queue->first != NULL ? queue->last : NULL;
    }
    return node;
}

void etwas_realtime_queue_push(struct etwas_realtime_queue *queue, struct etwas_realtime_node *node)
{
    node->next = NULL;
    *(queue->last != NULL ? &queue->last->next : &queue->first) = node;
    queue->last = node;
}

static bool enqueue(struct etwas_consumer *consumer, struct etwas_realtime_buffer *buffer,
                    int64_t bound)
{
    struct etwas_realtime_queue *queue = &consumer->queue;
    struct etwas_realtime_node *node;

    if (buffer == NULL && queue->last != NULL && queue->last->entry.buffer == NULL) {
        queue->last->entry.bound = bound;
        return true;
    }
    node = malloc(sizeof *node);
    if (node == NULL) {
        return false;
    }
    *node = (struct etwas_realtime_node){.entry = {buffer, bound, consumer->notices},
                                         .part = etwas_realtime_all_of_it};
    consumer->notices = 0;
    etwas_realtime_queue_push(queue, node);
    if (buffer != NULL) {
        consumer->queued_bytes += etwas_realtime_cost(buffer);
    }
    (void)pthread_cond_signal(&consumer->changed);
    return true;
}

/* An empty queue takes a buffer of any size. */
static bool offer(struct etwas_consumer *consumer, struct etwas_realtime_buffer *buffer)
{
    uint64_t limit = consumer->realtime->options.queue_bytes;
    uint64_t wanted = consumer->queued_bytes + etwas_realtime_cost(buffer);

    if ((consumer->queued_bytes == 0 || wanted <= limit) && enqueue(consumer, buffer, 0)) {
        buffer->references++;
        return true;
    }
    consumer->notices |= ETWAS_ETL_BUFFER_BUFFER_LOST;
    consumer->realtime->buffers_lost++;
    return false;
}

static uint32_t behind(uint32_t count, const struct etwas_realtime_part *part)
{
    return count > part->records_before ? count - part->records_before : 0;
}

bool etwas_realtime_store(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer,
                          const struct etwas_realtime_part *part, uint16_t notices,
                          enum etwas_backlog_end end)
{
    const uint8_t *data = buffer->content + part->begin;
    struct etwas_etl_buffer_header header;
    struct etwas_backlog_entry entry = {
        .bytes = (uint32_t)sizeof header + buffer->bytes - part->begin,
        .records = behind(buffer->records, part),
        .given = behind(buffer->given, part),
        .notices = notices,
    };
    bool failed_before = realtime->backlog.failed;

    memcpy(&header, buffer->content, sizeof header);
    etwas_realtime_set_end(&header, entry.bytes);
    if (end == ETWAS_BACKLOG_FRONT) {
        buffer->stored = etwas_backlog_put_back(&realtime->backlog, &entry, &header, data);
    } else {
        entry.notices |= realtime->backlog_notices;
        buffer->stored = etwas_backlog_append(&realtime->backlog, &entry, &header, data);
        realtime->backlog_notices = buffer->stored ? 0 : (uint16_t)entry.notices;
    }
    if (!buffer->stored) {
        realtime->buffers_lost++;
        realtime->backlog_notices |= ETWAS_ETL_BUFFER_BUFFER_LOST;
    }
    if (realtime->backlog.failed && !failed_before) {
        realtime->backlog_notices |= ETWAS_ETL_BUFFER_BACKUP_CORRUPT;
    }
    return buffer->stored;
}

void etwas_realtime_give_up_backlog(struct etwas_realtime *realtime)
{
    realtime->buffers_lost += realtime->backlog.buffers;
    realtime->lost_records += realtime->backlog.records;
    etwas_backlog_empty(&realtime->backlog);
}

bool etwas_realtime_backlog_is_read(const struct etwas_realtime *realtime)
{
    const struct etwas_consumer *one = realtime->consumers;

    while (one != NULL && one->state != ETWAS_CONSUMER_CATCHING_UP) {
        one = one->next;
    }
    return one != NULL;
}

static void store_handed_back(struct etwas_realtime *realtime)
{
    struct etwas_realtime_node *node;

    while ((node = etwas_realtime_queue_pop(&realtime->handed_back)) != NULL) {
        (void)etwas_realtime_store(realtime, node->entry.buffer, &node->part, node->entry.notices,
                                   ETWAS_BACKLOG_BACK);
        etwas_realtime_release(realtime, node->entry.buffer);
        free(node);
    }
    if (realtime->consumers == NULL) {
        realtime->backlog_notices |= realtime->handed_back_notices;
    }
    realtime->handed_back_notices = 0;
}

/* Who left at its very end has not emptied it: its room would be gone for good. */
static void empty_read_backlog(struct etwas_realtime *realtime)
{
    struct etwas_backlog *backlog = &realtime->backlog;

    if (backlog->end != 0 && etwas_backlog_is_empty(backlog) &&
        !etwas_realtime_backlog_is_read(realtime)) {
        etwas_backlog_empty(backlog);
    }
}

void etwas_realtime_lock(struct etwas_realtime *realtime)
{
    (void)pthread_mutex_lock(&realtime->lock);
    empty_read_backlog(realtime);
    store_handed_back(realtime);
}

void etwas_realtime_unlock(struct etwas_realtime *realtime)
{
    (void)pthread_mutex_unlock(&realtime->lock);
}

static bool queue_is_valid(const struct etwas_realtime_queue *queue, uint64_t bytes)
{
    const struct etwas_realtime_node *last = NULL;

    for (const struct etwas_realtime_node *node = queue->first; node != NULL; node = node->next) {
        const struct etwas_realtime_buffer *buffer = node->entry.buffer;

        if (buffer != NULL &&
            (buffer->references == 0 || buffer->stored || node->part.begin > buffer->bytes)) {
            return false;
        }
        bytes -= buffer != NULL ? etwas_realtime_cost(buffer) : 0;
        last = node;
    }
    return last == queue->last && bytes == 0;
}

bool etwas_realtime_is_valid(const struct etwas_realtime *realtime)
{
    const struct etwas_backlog *backlog = &realtime->backlog;
    uint32_t catching_up = 0;

    for (const struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        catching_up += one->state == ETWAS_CONSUMER_CATCHING_UP;
        if ((one->state != ETWAS_CONSUMER_CATCHING_UP && one->state != ETWAS_CONSUMER_LIVE) ||
            !queue_is_valid(&one->queue, one->queued_bytes)) {
            return false;
        }
    }
    return catching_up <= 1 && backlog->begin <= backlog->end &&
           backlog->end <= backlog->limit_bytes &&
           (!etwas_backlog_is_empty(backlog) || (backlog->buffers == 0 && backlog->records == 0));
}

/* ---- for the session ------------------------------------------------------------------------- */

/* Without memory for a copy. */
static void lose_undelivered(struct etwas_realtime *realtime)
{
    realtime->buffers_lost++;
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        one->notices |= ETWAS_ETL_BUFFER_BUFFER_LOST;
    }
}

static bool hand_out(struct etwas_realtime *realtime, struct etwas_realtime_buffer *buffer)
{
    bool taken = false;

    if (realtime->consumers == NULL) {
        return etwas_realtime_store(realtime, buffer, &etwas_realtime_all_of_it, 0,
                                    ETWAS_BACKLOG_BACK);
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        taken = offer(one, buffer) || taken;
    }
    return taken;
}

bool etwas_realtime_deliver(struct etwas_realtime *realtime,
                            const struct etwas_etl_buffer_header *header, const void *data,
                            uint32_t records)
{
    struct etwas_etl_buffer_header numbered = *header;
    struct etwas_realtime_buffer *buffer = etwas_realtime_new_buffer(header->offset, records);
    bool taken = false;

    if (buffer != NULL) {
        memcpy(buffer->content + sizeof numbered, data, header->offset - sizeof numbered);
    }
    etwas_realtime_lock(realtime);
    numbered.sequence_number = ++realtime->sequence_number;
    if (buffer != NULL) {
        memcpy(buffer->content, &numbered, sizeof numbered);
        taken = hand_out(realtime, buffer);
        /* One that was not taken is the caller's loss. */
        buffer->records = taken ? buffer->records : 0;
        etwas_realtime_release(realtime, buffer);
    } else {
        lose_undelivered(realtime);
    }
    etwas_realtime_unlock(realtime);
    return taken;
}

void etwas_realtime_set_bound(struct etwas_realtime *realtime, int64_t stamp)
{
    struct etwas_backlog_entry entry = {.bound = stamp};

    etwas_realtime_lock(realtime);
    /* A bound that finds no room, or no memory, is replaced by the next one. */
    if (realtime->consumers == NULL && !etwas_backlog_is_empty(&realtime->backlog)) {
        (void)etwas_backlog_append(&realtime->backlog, &entry, NULL, NULL);
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        (void)enqueue(one, NULL, stamp);
    }
    etwas_realtime_unlock(realtime);
}

void etwas_realtime_set_clocks(struct etwas_realtime *realtime,
                               const struct etwas_clock_history *clocks)
{
    etwas_realtime_lock(realtime);
    realtime->clocks = *clocks;
    realtime->clocks_set++;
    etwas_realtime_unlock(realtime);
}

void etwas_realtime_note_lost_events(struct etwas_realtime *realtime)
{
    etwas_realtime_lock(realtime);
    if (realtime->consumers == NULL) {
        realtime->backlog_notices |= ETWAS_ETL_BUFFER_EVENTS_LOST;
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        one->notices |= ETWAS_ETL_BUFFER_EVENTS_LOST;
    }
    etwas_realtime_unlock(realtime);
}

uint32_t etwas_realtime_room(struct etwas_realtime *realtime, uint32_t most, uint32_t bytes)
{
    etwas_realtime_lock(realtime);
    if (realtime->consumers == NULL) {
        uint64_t room = etwas_backlog_room(&realtime->backlog, bytes);

        most = room < most ? (uint32_t)room : most;
    }
    etwas_realtime_unlock(realtime);
    return most;
}

uint64_t etwas_realtime_take_lost(struct etwas_realtime *realtime, uint64_t *buffers)
{
    uint64_t records;

    etwas_realtime_lock(realtime);
    records = realtime->lost_records;
    realtime->lost_records = 0;
    *buffers = realtime->buffers_lost;
    etwas_realtime_unlock(realtime);
    return records;
}

void etwas_realtime_end(struct etwas_realtime *realtime)
{
    etwas_realtime_lock(realtime);
    ETWAS_INVARIANT(etwas_realtime_is_valid(realtime));
    realtime->ended = true;
    if (!etwas_realtime_backlog_is_read(realtime)) {
        etwas_realtime_give_up_backlog(realtime);
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        (void)pthread_cond_signal(&one->changed);
    }
    etwas_realtime_unlock(realtime);
}
