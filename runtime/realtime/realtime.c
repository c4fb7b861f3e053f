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
#include "realtime/realtime_internal.h"

/* Guards the list of all deliveries, for a fork. Taken before the lock of any delivery. */
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

void etwas_realtime_release_buffer(struct etwas_realtime *realtime,
                                   struct etwas_realtime_buffer *buffer)
{
    if (--buffer->references != 0) {
        return;
    }
    realtime->lost_records += etwas_realtime_undelivered_records(buffer);
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
        .references = 1, .queue_bytes = options->queue_bytes, .head_bytes = options->head_bytes};
    memcpy(made->head, options->head, options->head_bytes);
    etwas_fork_forbid();
    code = etwas_backlog_open(&made->backlog, options->backlog_folder, options->backlog_bytes);
    if (code != ERROR_SUCCESS) {
        etwas_fork_allow();
        free(made);
        return code;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_mutex_lock(&all_lock);
    made->next = all;
    all = made;
    (void)pthread_mutex_unlock(&all_lock);
    etwas_fork_allow();
    *realtime = made;
    return ERROR_SUCCESS;
}

void etwas_realtime_reference(struct etwas_realtime *realtime)
{
    ck_pr_inc_32(&realtime->references);
}

/*
 * Forks are held off meanwhile, because a child must not close a descriptor that is closed already.
 */
static void realtime_close(struct etwas_realtime *realtime)
{
    struct etwas_realtime **link = &all;

    etwas_fork_forbid();
    (void)pthread_mutex_lock(&all_lock);
    while (*link != realtime) {
        link = &(*link)->next;
    }
    *link = realtime->next;
    (void)pthread_mutex_unlock(&all_lock);
    etwas_backlog_close(&realtime->backlog);
    etwas_fork_allow();
}

void etwas_realtime_unreference(struct etwas_realtime *realtime)
{
    /* All accesses, under the lock or not, come before the free by the last owner. */
    ck_pr_fence_release();
    if (ck_pr_faa_32(&realtime->references, UINT32_MAX) == 1) {
        ck_pr_fence_acquire();
        etwas_backlog_discard(realtime);
        realtime_close(realtime);
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

static void realtime_forget(struct etwas_realtime *realtime)
{
    etwas_backlog_close(&realtime->backlog);
    realtime->ended = true;
    for (struct etwas_local_consumer *each = realtime->consumers; each != NULL; each = each->next) {
        each->state = ETWAS_CONSUMER_DISCONNECTED;
        /* The thread that waits for it is in the parent. */
        (void)pthread_cond_init(&each->changed, NULL);
    }
    realtime->consumers = NULL;
}

void etwas_realtime_after_fork(bool is_child)
{
    for (struct etwas_realtime *one = all; one != NULL; one = one->next) {
        if (is_child) {
            realtime_forget(one);
        }
        (void)pthread_mutex_unlock(&one->lock);
    }
    (void)pthread_mutex_unlock(&all_lock);
}

/* ---- queues: with the lock held -------------------------------------------------------------- */

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

/* Appends a buffer, or a time bound if `buffer` is NULL. Returns false without memory. */
static bool realtime_queue_append(struct etwas_realtime_queue *queue, uint16_t *notices,
                                  struct etwas_realtime_buffer *buffer, int64_t bound)
{
    struct etwas_realtime_node *last = queue->last;
    struct etwas_realtime_node *node;

    if (buffer == NULL && last != NULL && last->entry.buffer == NULL && last->bytes == 0) {
        last->entry.bound = bound;
        return true;
    }
    node = malloc(sizeof *node);
    if (node == NULL) {
        return false;
    }
    *node = (struct etwas_realtime_node){.entry = {buffer, bound, *notices}};
    *notices = 0;
    etwas_realtime_queue_push(queue, node);
    return true;
}

/*
 * Offers a buffer to a consumer. An empty queue takes a buffer of any size. Returns whether the
 * consumer took it.
 */
static bool realtime_offer(struct etwas_local_consumer *consumer,
                           struct etwas_realtime_buffer *buffer)
{
    uint64_t limit = consumer->realtime->queue_bytes;
    uint64_t wanted = consumer->queued_bytes + etwas_realtime_queue_cost(buffer);

    if ((consumer->queued_bytes == 0 || wanted <= limit) &&
        realtime_queue_append(&consumer->queue, &consumer->notices, buffer, 0)) {
        buffer->references++;
        consumer->queued_bytes = wanted;
        (void)pthread_cond_signal(&consumer->changed);
        return true;
    }
    consumer->notices |= ETWAS_ETL_BUFFER_BUFFER_LOST;
    consumer->realtime->buffers_lost++;
    return false;
}

static bool realtime_queue_is_valid(const struct etwas_realtime_queue *queue, uint64_t bytes)
{
    const struct etwas_realtime_node *last = NULL;

    for (const struct etwas_realtime_node *node = queue->first; node != NULL; node = node->next) {
        const struct etwas_realtime_buffer *buffer = node->entry.buffer;

        if (buffer != NULL && (buffer->references == 0 || node->bytes != 0)) {
            return false;
        }
        bytes -= buffer != NULL ? etwas_realtime_queue_cost(buffer) : 0;
        last = node;
    }
    return last == queue->last && bytes == 0;
}

bool etwas_realtime_is_valid(const struct etwas_realtime *realtime)
{
    const struct etwas_backlog *backlog = &realtime->backlog;
    uint32_t catching_up = 0;

    for (const struct etwas_local_consumer *one = realtime->consumers; one != NULL;
         one = one->next) {
        catching_up += one->state == ETWAS_CONSUMER_CATCHING_UP;
        if ((one->state != ETWAS_CONSUMER_CATCHING_UP && one->state != ETWAS_CONSUMER_LIVE) ||
            !realtime_queue_is_valid(&one->queue, one->queued_bytes)) {
            return false;
        }
    }
    return catching_up <= 1 && backlog->end <= backlog->limit_bytes;
}

/* ---- for the session ------------------------------------------------------------------------- */

/* Adds a notice to the next entry of each consumer, or of the backlog while there is none. */
static void realtime_add_notice(struct etwas_realtime *realtime, uint16_t notice)
{
    if (realtime->consumers == NULL) {
        realtime->backlog.notices |= notice;
    }
    for (struct etwas_local_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        one->notices |= notice;
    }
}

/*
 * Gives the buffer to all consumers, or to the backlog. The backlog's disk may be slow: a consumer
 * that connects meanwhile gets the buffer. Returns whether a consumer or the backlog took it.
 */
static bool realtime_distribute(struct etwas_realtime *realtime,
                                struct etwas_realtime_buffer *buffer)
{
    bool taken = false;

    if (realtime->consumers == NULL && etwas_backlog_write(realtime, buffer)) {
        buffer->records = 0;
        return true;
    }
    for (struct etwas_local_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        taken = realtime_offer(one, buffer) || taken;
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
    (void)pthread_mutex_lock(&realtime->lock);
    numbered.sequence_number = ++realtime->sequence_number;
    if (buffer != NULL) {
        memcpy(buffer->content, &numbered, sizeof numbered);
        taken = realtime_distribute(realtime, buffer);
        /* The caller counts a buffer that neither a consumer nor the backlog took. */
        buffer->records = taken ? buffer->records : 0;
        etwas_realtime_release_buffer(realtime, buffer);
    } else {
        realtime->buffers_lost++;
        realtime_add_notice(realtime, ETWAS_ETL_BUFFER_BUFFER_LOST);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    return taken;
}

void etwas_realtime_set_bound(struct etwas_realtime *realtime, int64_t stamp)
{
    struct etwas_backlog *backlog = &realtime->backlog;

    (void)pthread_mutex_lock(&realtime->lock);
    /* If there is no memory for a bound, the next one takes its place. */
    if (realtime->consumers == NULL && backlog->entries.first != NULL) {
        (void)realtime_queue_append(&backlog->entries, &backlog->notices, NULL, stamp);
    }
    for (struct etwas_local_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        (void)realtime_queue_append(&one->queue, &one->notices, NULL, stamp);
        (void)pthread_cond_signal(&one->changed);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
}

void etwas_realtime_set_clocks(struct etwas_realtime *realtime,
                               const struct etwas_clock_history *clocks)
{
    (void)pthread_mutex_lock(&realtime->lock);
    realtime->clocks = *clocks;
    realtime->clocks_set++;
    (void)pthread_mutex_unlock(&realtime->lock);
}

void etwas_realtime_enable_stacks(struct etwas_realtime *realtime)
{
    (void)pthread_mutex_lock(&realtime->lock);
    realtime->takes_stacks = true;
    (void)pthread_mutex_unlock(&realtime->lock);
}

void etwas_realtime_notify_lost_events(struct etwas_realtime *realtime)
{
    (void)pthread_mutex_lock(&realtime->lock);
    realtime_add_notice(realtime, ETWAS_ETL_BUFFER_EVENTS_LOST);
    (void)pthread_mutex_unlock(&realtime->lock);
}

uint32_t etwas_realtime_free_buffers(struct etwas_realtime *realtime, uint32_t most, uint32_t bytes)
{
    uint64_t room;

    (void)pthread_mutex_lock(&realtime->lock);
    room = etwas_backlog_free_buffers(realtime, bytes);
    if (realtime->consumers == NULL && room < most) {
        most = (uint32_t)room;
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    return most;
}

uint64_t etwas_realtime_collect_lost(struct etwas_realtime *realtime, uint64_t *buffers)
{
    uint64_t records;

    (void)pthread_mutex_lock(&realtime->lock);
    records = realtime->lost_records;
    realtime->lost_records = 0;
    *buffers = realtime->buffers_lost;
    (void)pthread_mutex_unlock(&realtime->lock);
    return records;
}

void etwas_realtime_end(struct etwas_realtime *realtime)
{
    (void)pthread_mutex_lock(&realtime->lock);
    ETWAS_INVARIANT(etwas_realtime_is_valid(realtime));
    realtime->ended = true;
    if (!etwas_backlog_is_read(realtime)) {
        etwas_backlog_discard(realtime);
    }
    for (struct etwas_local_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        (void)pthread_cond_signal(&one->changed);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
}
