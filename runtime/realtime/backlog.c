/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The backlog: what was flushed while no consumer was connected (R170). Its entries are in memory.
 * The bytes of a buffer are in a file without a name, or still in memory if a consumer returned it.
 *
 * The file is never touched with the lock held, so a disk that hangs delays only the thread that
 * needs it: the thread with the session's role writes and truncates the file, and the thread that
 * took an entry reads it.
 */
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "realtime/realtime_internal.h"

static const char default_folder[] = "/var/tmp";

uint32_t etwas_backlog_open(struct etwas_backlog *backlog, const char *folder, uint64_t limit_bytes)
{
    const char *temporary = secure_getenv("TMPDIR");

    if (folder == NULL) {
        folder = temporary != NULL && *temporary != 0 ? temporary : default_folder;
    }
    *backlog = (struct etwas_backlog){.limit_bytes = limit_bytes};
    return etwas_file_create_unnamed(folder, &backlog->descriptor);
}

void etwas_backlog_close(struct etwas_backlog *backlog)
{
    if (backlog->descriptor >= 0) {
        (void)etwas_file_close(backlog->descriptor);
        backlog->descriptor = -1;
    }
}

/* ---- with the lock held ---------------------------------------------------------------------- */

/*
 * Returns what a buffer costs of the limit: an entry's memory counts too, and that of a bound
 * behind it.
 */
static uint64_t backlog_cost(uint32_t bytes)
{
    return bytes + 2 * sizeof(struct etwas_realtime_node);
}

static uint64_t backlog_free_room(const struct etwas_backlog *backlog, uint32_t bytes)
{
    return (backlog->limit_bytes - backlog->end) / backlog_cost(bytes);
}

uint64_t etwas_backlog_free_buffers(struct etwas_realtime *realtime, uint32_t bytes)
{
    struct etwas_backlog *backlog = &realtime->backlog;

    if (backlog->end != 0 && backlog->entries.first == NULL && backlog->readers == 0) {
        backlog->end = 0;
        (void)pthread_mutex_unlock(&realtime->lock);
        (void)etwas_file_truncate(backlog->descriptor, 0);
        (void)pthread_mutex_lock(&realtime->lock);
    }
    return backlog_free_room(backlog, bytes);
}

static void backlog_push(struct etwas_backlog *backlog, struct etwas_realtime_node *node)
{
    node->entry.notices |= backlog->notices;
    backlog->notices = 0;
    etwas_realtime_queue_push(&backlog->entries, node);
}

static void backlog_count_lost_buffer(struct etwas_realtime *realtime, uint16_t notices)
{
    realtime->buffers_lost++;
    realtime->backlog.notices |= notices | ETWAS_ETL_BUFFER_BUFFER_LOST;
}

bool etwas_backlog_write(struct etwas_realtime *realtime,
                         const struct etwas_realtime_buffer *buffer)
{
    struct iovec content = {(void *)(uintptr_t)buffer->content, buffer->bytes};
    struct etwas_realtime_node *node = malloc(sizeof *node);
    struct etwas_backlog *backlog = &realtime->backlog;
    uint64_t position = backlog->end;
    bool failed;
    int error;

    if (node == NULL || backlog_free_room(backlog, buffer->bytes) == 0) {
        free(node);
        backlog_count_lost_buffer(realtime, 0);
        return false;
    }
    *node = (struct etwas_realtime_node){
        .position = position, .bytes = buffer->bytes, .records = buffer->records};
    backlog->end += backlog_cost(buffer->bytes);
    (void)pthread_mutex_unlock(&realtime->lock);
    failed =
        etwas_file_write(backlog->descriptor, &content, 1, position, NULL, &error) != buffer->bytes;
    (void)pthread_mutex_lock(&realtime->lock);
    if (!failed && realtime->consumers == NULL) {
        backlog_push(backlog, node);
        return true;
    }
    free(node);
    if (backlog->end == position + backlog_cost(buffer->bytes)) {
        backlog->end = position;
    }
    if (realtime->consumers == NULL) {
        backlog_count_lost_buffer(realtime, ETWAS_ETL_BUFFER_BACKUP_CORRUPT);
    }
    return false;
}

void etwas_backlog_append_returned(struct etwas_realtime *realtime,
                                   struct etwas_realtime_node *node)
{
    struct etwas_realtime_buffer *buffer = node->entry.buffer;
    struct etwas_backlog *backlog = &realtime->backlog;

    if (backlog_free_room(backlog, buffer->bytes) == 0) {
        backlog_count_lost_buffer(realtime, node->entry.notices);
        etwas_realtime_release_buffer(realtime, buffer);
        free(node);
        return;
    }
    backlog->end += backlog_cost(buffer->bytes);
    buffer->from_backlog = true;
    backlog_push(backlog, node);
}

/* Reads the buffer of an entry that was taken, without the lock. NULL: it is lost. */
static struct etwas_realtime_buffer *backlog_read_buffer(struct etwas_realtime *realtime,
                                                         const struct etwas_realtime_node *node)
{
    struct etwas_realtime_buffer *buffer = etwas_realtime_new_buffer(node->bytes, node->records);

    if (buffer != NULL) {
        buffer->from_backlog = true;
        if (etwas_file_read(realtime->backlog.descriptor, buffer->content, node->bytes,
                            node->position) == node->bytes) {
            return buffer;
        }
        free(buffer);
    }
    return NULL;
}

void etwas_backlog_read(struct etwas_realtime *realtime, struct etwas_realtime_node *node)
{
    struct etwas_consumer_entry *entry = &node->entry;

    realtime->backlog.readers++;
    (void)pthread_mutex_unlock(&realtime->lock);
    entry->buffer = backlog_read_buffer(realtime, node);
    (void)pthread_mutex_lock(&realtime->lock);
    realtime->backlog.readers--;
    if (entry->buffer == NULL) {
        realtime->buffers_lost++;
        realtime->lost_records += node->records;
        entry->bound = INT64_MIN;
        entry->notices |= ETWAS_ETL_BUFFER_BACKUP_CORRUPT | ETWAS_ETL_BUFFER_BUFFER_LOST;
    }
}

void etwas_backlog_discard(struct etwas_realtime *realtime)
{
    struct etwas_realtime_node *node;

    while ((node = etwas_realtime_queue_pop(&realtime->backlog.entries)) != NULL) {
        realtime->buffers_lost += node->entry.buffer != NULL || node->bytes != 0;
        realtime->lost_records += node->records;
        if (node->entry.buffer != NULL) {
            etwas_realtime_release_buffer(realtime, node->entry.buffer);
        }
        free(node);
    }
}

bool etwas_backlog_is_read(const struct etwas_realtime *realtime)
{
    const struct etwas_local_consumer *one = realtime->consumers;

    while (one != NULL && one->state != ETWAS_CONSUMER_CATCHING_UP) {
        one = one->next;
    }
    return one != NULL;
}
