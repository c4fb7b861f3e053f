/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "reader/live.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "reader/consumer.h"
#include "reader/damage.h"
#include "reader/event_step.h"
#include "reader/trace.h"

/* Lost_Event, the class of notices to a real-time consumer. */
static const etwas_guid lost_event_class = {
    0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

/* The event type for each flag. */
static const struct {
    uint16_t flag;
    uint8_t type;
} lost_event_types[] = {
    {ETWAS_ETL_BUFFER_EVENTS_LOST, 32},
    {ETWAS_ETL_BUFFER_BUFFER_LOST, 33},
    {ETWAS_ETL_BUFFER_BACKUP_CORRUPT, 34},
};

/* A buffer that was not delivered to its end. */
struct held {
    struct held *next;
    struct etwas_consumer_entry entry;
    struct etwas_index_entry buffer; /* its sequence number is that of delivery */
    uint32_t delivered_records;      /* how many were delivered */
    uint32_t delivered_bytes;        /* where the others begin */
};

/* A stream and its waiting buffers. It is in the heap while it has any. */
struct live_stream {
    struct etwas_stream stream;
    struct held *first;
    struct held *last;
};

struct live {
    struct etwas_trace *trace;
    const struct etwas_span *span;
    struct etwas_merge_heap merge;
    struct live_stream *streams;
    uint32_t stream_count;
    uint64_t waiting_bytes;
};

/* ---- notices --------------------------------------------------------------------------------- */

/* Delivers an event of the class Lost_Event, as if it were a buffer's only record. */
static void live_deliver_notice(struct live *live, uint8_t type)
{
    struct etwas_etl_full_header record = {
        .size = sizeof record,
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .type = type,
        .time_stamp = etwas_clock_now(live->trace->log.fields.clock_type),
        .guid = lost_event_class,
    };
    struct etwas_index_entry index_entry = {
        .buffer_bytes = ETWAS_ETL_BUFFER_HEADER_BYTES + sizeof record,
        .file_bytes = ETWAS_ETL_BUFFER_HEADER_BYTES + sizeof record,
        .data_end = ETWAS_ETL_BUFFER_HEADER_BYTES + sizeof record,
        .logger_id = live->trace->log.buffer.logger_id,
    };
    _Alignas(8) uint8_t content[ETWAS_ETL_BUFFER_HEADER_BYTES + sizeof record] = {0};
    struct etwas_stream stream;

    memcpy(content + ETWAS_ETL_BUFFER_HEADER_BYTES, &record, sizeof record);
    etwas_stream_open_image(&stream, live->trace, &index_entry, content);
    if (etwas_stream_next_buffer(&stream) == ETWAS_STREAM_RECORD) {
        etwas_deliver(&stream, etwas_event_time_filetime(&stream.time, stream.record.stamp));
    }
}

/* Delivers notices before the events of the buffer (R175). */
static void live_deliver_notices(struct live *live, uint16_t notices)
{
    for (size_t i = 0; i < sizeof lost_event_types / sizeof lost_event_types[0]; i++) {
        if ((notices & lost_event_types[i].flag) != 0) {
            live_deliver_notice(live, lost_event_types[i].type);
        }
    }
}

/* ---- streams -------------------------------------------------------------------------------- */

/* Begins the stream's first buffer. The key never decreases in a stream. */
static void live_begin_first_buffer(struct live *live, struct live_stream *one)
{
    struct etwas_stream *stream = &one->stream;
    int64_t key_raw = stream->key_raw;
    int64_t key_filetime = stream->key_filetime;

    etwas_stream_open_image(stream, live->trace, &one->first->buffer,
                            one->first->entry.buffer->content);
    stream->key_raw = key_raw;
    stream->key_filetime = key_filetime;
    (void)etwas_stream_next_buffer(stream);
    etwas_event_step_update_key(stream, false);
}

static uint64_t live_held_bytes(const struct held *held)
{
    return sizeof *held + sizeof *held->entry.buffer + held->entry.buffer->bytes;
}

/*
 * Returns whether this can be a buffer of the session. The backlog's file may have been damaged
 * since the flusher wrote the header, and nothing that another process sends is trusted.
 */
static bool live_check_buffer(const struct live *live, const struct etwas_realtime_buffer *buffer,
                              struct etwas_index_entry *index_entry)
{
    struct etwas_etl_buffer_header header;
    bool doubtful;

    if (buffer->bytes < sizeof header) {
        return false;
    }
    memcpy(&header, buffer->content, sizeof header);
    /* A live buffer ends with its records, and is never compressed. */
    return header.buffer_bytes == buffer->bytes &&
           (header.flags & ETWAS_ETL_BUFFER_COMPRESSED) == 0 &&
           etwas_index_entry_check(&header, 0, buffer->bytes, live->trace->log.session_buffer_bytes,
                                   index_entry, &doubtful) &&
           index_entry->processor < live->stream_count;
}

static bool live_hold_buffer(struct live *live, const struct etwas_consumer_entry *entry,
                             const struct etwas_index_entry *index_entry)
{
    struct held *held = malloc(sizeof *held);
    struct live_stream *one;

    if (held == NULL) {
        return false;
    }
    *held = (struct held){
        .entry = *entry, .buffer = *index_entry, .delivered_bytes = ETWAS_ETL_BUFFER_HEADER_BYTES};
    one = &live->streams[held->buffer.processor];
    live->waiting_bytes += live_held_bytes(held);
    if (one->last != NULL) {
        one->last->next = held;
        one->last = held;
    } else {
        one->first = held;
        one->last = held;
        live_begin_first_buffer(live, one);
        etwas_merge_heap_push(&live->merge, &one->stream);
    }
    return true;
}

/*
 * Drops the stream's first buffer, which was delivered as far as its records could be followed. If
 * it is damaged, the session counts the others and the consumer gets a notice (R175).
 */
static void live_drop_first_buffer(struct live *live, struct live_stream *one)
{
    struct held *held = one->first;
    bool is_damaged = one->stream.damage_counted;

    one->first = held->next;
    if (one->first == NULL) {
        one->last = NULL;
    }
    live->waiting_bytes -= live_held_bytes(held);
    if (is_damaged) {
        etwas_consumer_refuse(live->trace->consumer, &held->entry, held->delivered_records);
    } else {
        etwas_consumer_release(live->trace->consumer, &held->entry);
    }
    free(held);
    if (is_damaged) {
        live_deliver_notices(live, ETWAS_ETL_BUFFER_BUFFER_LOST | ETWAS_ETL_BUFFER_BACKUP_CORRUPT);
    }
}

/* Returns the stream whose last buffer arrived last; NULL if none holds a buffer. */
static struct live_stream *live_newest_stream(struct live *live)
{
    struct live_stream *found = NULL;

    for (uint32_t index = 0; index < live->stream_count; index++) {
        struct live_stream *one = &live->streams[index];

        if (one->last != NULL &&
            (found == NULL || one->last->buffer.sequence > found->last->buffer.sequence)) {
            found = one;
        }
    }
    return found;
}

static struct held *live_remove_last_buffer(struct live_stream *one)
{
    struct held **link = &one->first;
    struct held *before = NULL;
    struct held *held;

    while ((*link)->next != NULL) {
        before = *link;
        link = &before->next;
    }
    held = *link;
    *link = NULL;
    one->last = before;
    return held;
}

/* Returns undelivered buffers to the session, because the run ends early. */
static void live_return_buffers(struct live *live)
{
    struct live_stream *one;

    while ((one = live_newest_stream(live)) != NULL) {
        struct held *held = live_remove_last_buffer(one);

        if (held->delivered_bytes < held->entry.buffer->bytes) {
            etwas_consumer_return(live->trace->consumer, &held->entry, held->delivered_records,
                                  held->delivered_bytes);
        } else {
            etwas_consumer_release(live->trace->consumer, &held->entry);
        }
        free(held);
    }
}

/*
 * Does one step of the earliest stream: delivers its record, or ends its buffer and begins the
 * next.
 */
static uint32_t live_step(struct live *live, struct etwas_stream *stream)
{
    struct live_stream *one = (struct live_stream *)(void *)stream;

    if (stream->state == ETWAS_STREAM_RECORD) {
        /* Before the callback, which may end this thread. */
        one->first->delivered_records++;
        one->first->delivered_bytes = stream->offset;
        etwas_event_step_deliver(stream, live->span);
        etwas_stream_next_record(stream);
        etwas_event_step_update_key(stream, false);
    } else {
        bool wanted = etwas_event_step_end_buffer(stream);

        live_drop_first_buffer(live, one);
        if (one->first != NULL) {
            live_begin_first_buffer(live, one);
        } else {
            etwas_merge_heap_remove_top(&live->merge);
        }
        if (!wanted) {
            return ERROR_CANCELLED;
        }
        if (one->first == NULL) {
            return ERROR_SUCCESS;
        }
    }
    etwas_merge_heap_sift_down(&live->merge);
    return ERROR_SUCCESS;
}

/* Delivers everything stamped up to `bound`, and the ends of buffers that have nothing later. */
static uint32_t live_deliver_up_to(struct live *live, int64_t bound)
{
    struct etwas_stream *stream;
    uint32_t code = ERROR_SUCCESS;

    while (code == ERROR_SUCCESS && (stream = etwas_merge_heap_top(&live->merge)) != NULL &&
           (stream->state != ETWAS_STREAM_RECORD || stream->key_raw <= bound)) {
        code = live_step(live, stream);
    }
    return code;
}

/*
 * Delivers the oldest records while more than the limit wait: memory is bounded, and the order
 * between processors is as good as it can be.
 */
static uint32_t live_deliver_excess(struct live *live)
{
    uint32_t code = ERROR_SUCCESS;

    while (code == ERROR_SUCCESS && live->waiting_bytes > ETWAS_LIVE_WAITING_BYTES) {
        code = live_step(live, etwas_merge_heap_top(&live->merge));
    }
    return code;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Skips an invalid buffer: a notice says that a part of the backlog's file is lost (R175). */
static void live_refuse_buffer(struct live *live, struct etwas_consumer_entry *entry)
{
    uint32_t bytes = entry->buffer->bytes;

    etwas_consumer_refuse(live->trace->consumer, entry, 0);
    etwas_trace_count(&live->trace->information.buffers_damaged, 1);
    etwas_trace_report(live->trace, ETWAS_DAMAGE_BUFFER_HEADER, 0, bytes);
    live_deliver_notices(live, entry->notices | ETWAS_ETL_BUFFER_BUFFER_LOST |
                                   ETWAS_ETL_BUFFER_BACKUP_CORRUPT);
}

static uint32_t live_handle_entry(struct live *live, struct etwas_consumer_entry *entry)
{
    struct etwas_index_entry index_entry;

    if (entry->buffer == NULL) {
        live_deliver_notices(live, entry->notices);
        return live_deliver_up_to(live, entry->bound);
    }
    if (!live_check_buffer(live, entry->buffer, &index_entry)) {
        live_refuse_buffer(live, entry);
        return ERROR_SUCCESS;
    }
    etwas_trace_count(&live->trace->information.buffers, 1);
    if (!live_hold_buffer(live, entry, &index_entry)) {
        etwas_consumer_return(live->trace->consumer, entry, 0, ETWAS_ETL_BUFFER_HEADER_BYTES);
        live_deliver_notices(live, entry->notices);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    /* A callback may end this thread; the buffer is queued already, so it will be returned. */
    live_deliver_notices(live, entry->notices);
    return live_deliver_excess(live);
}

static uint32_t live_run(struct live *live)
{
    struct etwas_consumer_entry entry;
    enum etwas_consumer_result result;
    uint32_t code = ERROR_SUCCESS;

    do {
        result = etwas_consumer_next(live->trace->consumer, &entry);
        if (result == ETWAS_CONSUMER_RESULT_BUFFER || result == ETWAS_CONSUMER_RESULT_BOUND) {
            code = live_handle_entry(live, &entry);
        } else if (result == ETWAS_CONSUMER_RESULT_ENDED) {
            live_deliver_notices(live, entry.notices);
        }
    } while (code == ERROR_SUCCESS &&
             (result == ETWAS_CONSUMER_RESULT_BUFFER || result == ETWAS_CONSUMER_RESULT_BOUND));
    code = code == ERROR_SUCCESS ? live_deliver_up_to(live, INT64_MAX) : code;
    return code == ERROR_SUCCESS && result == ETWAS_CONSUMER_RESULT_BROKEN
               ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND
               : code;
}

static void live_end_run(void *argument)
{
    struct live *live = argument;

    if (live->streams != NULL) {
        live_return_buffers(live);
    }
    free(live->merge.heap);
    free(live->streams);
}

static uint32_t live_begin_run(struct live *live)
{
    live->streams = calloc(live->stream_count, sizeof *live->streams);
    live->merge.heap = calloc(live->stream_count, sizeof *live->merge.heap);
    if (live->streams == NULL || live->merge.heap == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    for (uint32_t index = 0; index < live->stream_count; index++) {
        live->streams[index].stream.key_raw = INT64_MIN;
    }
    return live_run(live);
}

uint32_t etwas_live_run(struct etwas_trace *trace, const struct etwas_span *span)
{
    struct live live = {
        .trace = trace,
        .span = span,
        .stream_count = trace->log.fields.start.number_of_processors,
    };
    volatile uint32_t code;

    /* A callback may end its thread. */
    pthread_cleanup_push(live_end_run, &live);
    code = live_begin_run(&live);
    pthread_cleanup_pop(1);
    return code;
}
