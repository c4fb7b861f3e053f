/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "realtime/realtime.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flush/drain.h"
#include "realtime/realtime_inside.h"

enum {
    NS_PER_SECOND = 1000000000
};

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
    realtime->lost_records += etwas_realtime_ungiven(buffer);
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
    (void)pthread_cond_init(&made->file_left, NULL);
    (void)pthread_mutex_lock(&all_lock);
    made->next = all;
    all = made;
    (void)pthread_mutex_unlock(&all_lock);
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
        etwas_realtime_give_up_backlog(realtime);
        close_last(realtime);
        (void)pthread_cond_destroy(&realtime->file_left);
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
        (void)pthread_cond_init(&one->file_left, NULL);
        for (struct etwas_consumer *each = one->consumers; each != NULL; each = each->next) {
            each->stopped = true;
            /* Who waits for it does so in the parent. */
            (void)pthread_cond_init(&each->changed, NULL);
        }
        (void)pthread_mutex_unlock(&one->lock);
    }
    (void)pthread_mutex_unlock(&all_lock);
}

/* ---- delivery: with the lock held ------------------------------------------------------------ */

static bool enqueue(struct etwas_consumer *consumer, struct etwas_realtime_buffer *buffer,
                    int64_t bound)
{
    struct etwas_realtime_node *node;

    if (buffer == NULL && consumer->last != NULL && consumer->last->entry.buffer == NULL) {
        consumer->last->entry.bound = bound;
        return true;
    }
    node = malloc(sizeof *node);
    if (node == NULL) {
        return false;
    }
    *node = (struct etwas_realtime_node){.entry = {buffer, bound, consumer->notices},
                                         .part = etwas_realtime_all_of_it};
    consumer->notices = 0;
    if (consumer->last == NULL) {
        consumer->first = node;
    } else {
        consumer->last->next = node;
    }
    consumer->last = node;
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

bool etwas_realtime_put_into_backlog(struct etwas_realtime *realtime,
                                     struct etwas_realtime_buffer *buffer,
                                     const struct etwas_realtime_part *part, uint16_t notices)
{
    struct etwas_etl_buffer_header header;
    uint32_t data_bytes = buffer->bytes - part->begin;
    struct etwas_backlog_entry entry = {
        .bytes = (uint32_t)sizeof header + data_bytes,
        .records = etwas_realtime_less(buffer->records, part->records_before),
        .given = etwas_realtime_less(buffer->given, part->records_before),
        .notices = realtime->backlog_notices | notices,
    };
    bool failed_before = realtime->backlog.failed;

    memcpy(&header, buffer->content, sizeof header);
    etwas_realtime_set_end(&header, entry.bytes);
    if (etwas_backlog_append(&realtime->backlog, &entry, &header, buffer->content + part->begin)) {
        realtime->backlog_notices = 0;
        buffer->given = UINT32_MAX;
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
    struct etwas_realtime_buffer *buffer = etwas_realtime_new_buffer(header->offset, records);
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
    etwas_realtime_let_stopped_leave(realtime);
    if (!etwas_realtime_has_consumer(realtime)) {
        taken = etwas_realtime_put_into_backlog(realtime, buffer, &etwas_realtime_all_of_it, 0);
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        taken = (!one->stopped && offer(one, buffer)) || taken;
    }
    /* One that was not taken is the caller's loss. */
    buffer->given = taken ? buffer->given : UINT32_MAX;
    etwas_realtime_release(realtime, buffer);
    (void)pthread_mutex_unlock(&realtime->lock);
    return taken;
}

void etwas_realtime_set_bound(struct etwas_realtime *realtime, int64_t stamp)
{
    struct etwas_backlog_entry entry = {.bound = stamp};

    (void)pthread_mutex_lock(&realtime->lock);
    etwas_realtime_let_stopped_leave(realtime);
    /* A bound that finds no room, or no memory, is replaced by the next one. */
    if (!etwas_realtime_has_consumer(realtime) && !etwas_backlog_is_empty(&realtime->backlog)) {
        (void)etwas_backlog_append(&realtime->backlog, &entry, NULL, NULL);
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        if (!one->stopped) {
            (void)enqueue(one, NULL, stamp);
        }
    }
    (void)pthread_mutex_unlock(&realtime->lock);
}

void etwas_realtime_set_clocks(struct etwas_realtime *realtime,
                               const struct etwas_clock_timeline *clocks)
{
    (void)pthread_mutex_lock(&realtime->lock);
    realtime->clocks = *clocks;
    realtime->clocks_set++;
    (void)pthread_mutex_unlock(&realtime->lock);
}

void etwas_realtime_note_lost_events(struct etwas_realtime *realtime)
{
    (void)pthread_mutex_lock(&realtime->lock);
    etwas_realtime_let_stopped_leave(realtime);
    if (!etwas_realtime_has_consumer(realtime)) {
        realtime->backlog_notices |= ETWAS_ETL_BUFFER_EVENTS_LOST;
    }
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        one->notices |= one->stopped ? 0 : ETWAS_ETL_BUFFER_EVENTS_LOST;
    }
    (void)pthread_mutex_unlock(&realtime->lock);
}

uint32_t etwas_realtime_room(struct etwas_realtime *realtime, uint32_t most, uint32_t bytes)
{
    (void)pthread_mutex_lock(&realtime->lock);
    etwas_realtime_let_stopped_leave(realtime);
    if (!etwas_realtime_has_consumer(realtime)) {
        uint64_t room = etwas_backlog_room(&realtime->backlog, bytes);

        most = room < most ? (uint32_t)room : most;
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    return most;
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

bool etwas_realtime_has_consumer(const struct etwas_realtime *realtime)
{
    const struct etwas_consumer *one = realtime->consumers;

    while (one != NULL && one->stopped) {
        one = one->next;
    }
    return one != NULL;
}

bool etwas_realtime_has_backlog(const struct etwas_realtime *realtime)
{
    return realtime->kept != NULL || !etwas_backlog_is_empty(&realtime->backlog);
}

void etwas_realtime_give_up_backlog(struct etwas_realtime *realtime)
{
    while (realtime->kept != NULL) {
        struct etwas_realtime_node *node = realtime->kept;

        realtime->kept = node->next;
        realtime->buffers_lost++;
        etwas_realtime_release(realtime, node->entry.buffer);
        free(node);
    }
    realtime->buffers_lost += realtime->backlog.buffers;
    realtime->lost_records += realtime->backlog.records;
    etwas_backlog_empty(&realtime->backlog);
}

const struct etwas_consumer *etwas_realtime_backlog_reader(const struct etwas_realtime *realtime)
{
    const struct etwas_consumer *one = realtime->consumers;

    while (one != NULL && !one->reads_backlog) {
        one = one->next;
    }
    return one;
}

/*
 * A consumer that was stopped reads no more, but its thread need not have come to know it: what
 * waits for it is given up while the session still counts. But for the backlog of one that is
 * reading its file at this moment: nobody else may touch that.
 */
static void give_up_stopped(struct etwas_realtime *realtime)
{
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        struct etwas_realtime_node *node;

        one->reads_backlog = one->reads_backlog && (!one->stopped || one->in_file);
        while (one->stopped && (node = etwas_realtime_take_node(one)) != NULL) {
            struct etwas_realtime_buffer *buffer = node->entry.buffer;

            if (buffer != NULL) {
                realtime->buffers_lost +=
                    buffer->references == 1 && buffer->given != UINT32_MAX &&
                    (buffer->records == 0 || etwas_realtime_ungiven(buffer) != 0);
                etwas_realtime_release(realtime, buffer);
            }
            free(node);
        }
    }
}

/* So that the rest of the backlog can be counted; but not for ever. */
static void wait_for_stopped(struct etwas_realtime *realtime)
{
    struct timespec deadline;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_nsec += (long)(etwas_drain_patience_ns % NS_PER_SECOND);
    deadline.tv_sec +=
        (time_t)(etwas_drain_patience_ns / NS_PER_SECOND) + deadline.tv_nsec / NS_PER_SECOND;
    deadline.tv_nsec %= NS_PER_SECOND;
    while (error == 0 && etwas_realtime_is_left_soon(realtime)) {
        error = pthread_cond_clockwait(&realtime->file_left, &realtime->lock, CLOCK_MONOTONIC,
                                       &deadline);
    }
}

uint64_t etwas_realtime_end(struct etwas_realtime *realtime, uint64_t *buffers_lost)
{
    uint64_t lost_records;

    (void)pthread_mutex_lock(&realtime->lock);
    wait_for_stopped(realtime);
    realtime->ended = true;
    give_up_stopped(realtime);
    if (etwas_realtime_backlog_reader(realtime) == NULL) {
        etwas_realtime_give_up_backlog(realtime);
    }
    lost_records = realtime->lost_records;
    *buffers_lost = realtime->buffers_lost;
    (void)pthread_cond_broadcast(&realtime->file_left);
    for (struct etwas_consumer *one = realtime->consumers; one != NULL; one = one->next) {
        (void)pthread_cond_signal(&one->changed);
    }
    (void)pthread_mutex_unlock(&realtime->lock);
    etwas_realtime_let_go(realtime);
    return lost_records;
}
