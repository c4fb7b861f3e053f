/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The buffers of one processor in their order, one record at a time.
 *
 * A stream reads a buffer through a window, so its memory does not grow with the buffer; a
 * compressed buffer is decoded whole. Damage of a buffer is reported where it is met, and the
 * stream goes on behind it.
 */
#ifndef ETWAS_READER_STREAM_H
#define ETWAS_READER_STREAM_H

#include <string.h>

#include "etl/layout.h"
#include "etl/record.h"
#include "reader/event_time.h"
#include "reader/trace.h"

enum etwas_stream_state {
    ETWAS_STREAM_RECORD,     /* stream->record is the next record, valid until the next call */
    ETWAS_STREAM_BUFFER_END, /* every record of stream->buffer was delivered */
    ETWAS_STREAM_END,        /* no buffer is left */
    ETWAS_STREAM_NO_MEMORY,
};

struct etwas_duplicates;

/* The form of no record: the next record is parsed in full. */
#define ETWAS_STREAM_NO_FORM UINT32_MAX

struct etwas_stream {
    struct etwas_trace *trace;
    const struct etwas_index_entry *next; /* buffers not yet begun: next … last - 1 */
    const struct etwas_index_entry *last;
    const struct etwas_index_entry *buffer; /* the one being read */
    enum etwas_stream_state state;
    struct etwas_record record;
    uint32_t offset; /* of the record after `record`, from the buffer's start */
    uint32_t limit;  /* where the records end, as far as the file has them */
    int64_t last_stamp;
    bool any_stamp;      /* last_stamp is from this buffer */
    bool order_reported; /* reported once for each buffer */
    bool damage_counted; /* counted once for each buffer */
    bool is_misnumbered; /* the buffer is misnumbered, and this was not reported yet */
    bool quiet;          /* nothing is reported, while records are scanned ahead */
    bool watched;        /* a running session may replace the buffer while it is read */
    bool replaced;       /* the session replaced it */
    bool torn;           /* `limit` is where older data begin, or may begin */
    uint32_t record_at;  /* offset of `record` */
    uint32_t form;       /* of `record`: the upper half of its first word */
    uint16_t flags;      /* of EVENT_HEADER, except those for optional parts of the record */

    /* What all events of this buffer have in common. */
    ETW_BUFFER_CONTEXT context;
    uint16_t timed_flags;    /* of EVENT_HEADER */
    uint16_t timeless_flags; /* of records that have no room for processor times */

    const uint8_t *image; /* the whole buffer if it is in memory already; else NULL */
    uint8_t *memory;      /* the window, or the decompressed records */
    size_t memory_bytes;
    size_t grown_bytes;    /* how many of these trace->decompressed_bytes counts */
    const uint8_t *window; /* `image` or `memory` */
    uint32_t window_at;    /* offset of window[0] */
    uint32_t window_bytes; /* bytes in the window, all below `limit` */

    /* The merge's key: it never decreases in a stream, whatever the stamps do. */
    size_t file_number; /* rank among the files of a run; parts of one set in their order */
    size_t set_number;  /* the same for the parts of one set, which share a clock */
    struct etwas_event_time time;
    /* no record behind one that is after the requested span lies inside of it */
    bool may_end_early;
    int64_t key_filetime;
    int64_t key_raw;
    struct etwas_duplicates *duplicates; /* streams that may have the same records; NULL: none */
};

/*
 * Returns the processor of a stream of the file, as events show it. It differs from the stream's
 * number in a file with retention classes.
 */
uint16_t etwas_stream_processor(const struct etwas_file_header *log, uint16_t stream);

/* Prepares to read `count` buffers. Returns false without memory. */
bool etwas_stream_open(struct etwas_stream *stream, struct etwas_trace *trace,
                       const struct etwas_index_entry *buffers, size_t count);

/* Prepares to read one buffer that is in memory. Such a stream need not be closed. */
void etwas_stream_open_image(struct etwas_stream *stream, struct etwas_trace *trace,
                             const struct etwas_index_entry *buffer, const uint8_t *image);

void etwas_stream_close(struct etwas_stream *stream);

/*
 * Begins the next readable buffer and goes to its first record: RECORD, BUFFER_END when it has
 * none, END when no buffer is left, or NO_MEMORY.
 */
enum etwas_stream_state etwas_stream_next_buffer(struct etwas_stream *stream);

/* Goes to the next record of this buffer, whatever its form. */
enum etwas_stream_state etwas_stream_find_record(struct etwas_stream *stream);

/*
 * Returns whether the payload begins where the header ends and the record is not one of etwas' own.
 * Used for records that have a form.
 */
static inline bool etwas_stream_has_plain_payload(const struct etwas_record *record)
{
    const struct etwas_etl_event_header *header = (const void *)record->bytes;

    return record->kind == ETWAS_RECORD_INSTANCE ||
           (record->kind == ETWAS_RECORD_EVENT &&
            (header->flags & ETWAS_ETL_EVENT_EXTENDED_INFO) == 0);
}

/*
 * Reads the record at window[at] if it is in the window and has the stream's form, as most records
 * have. What depends on the form alone stays as it is. These forms have the size in the first word,
 * and the stamp where the full header has it. Returns false otherwise.
 */
static inline bool etwas_stream_read_same_form(const struct etwas_stream *stream, uint32_t at,
                                               struct etwas_record *record)
{
    const uint8_t *bytes = stream->window + at;
    uint32_t first;

    if (at + (uint64_t)ETWAS_RECORD_MEASURE_BYTES > stream->window_bytes) {
        return false;
    }
    memcpy(&first, bytes, sizeof first);
    record->size = first & 0xFFFF;
    if (first >> 16 != stream->form || record->size < record->header_bytes ||
        record->size > stream->window_bytes - at) {
        return false;
    }
    record->bytes = bytes;
    record->payload_at = record->header_bytes;
    memcpy(&record->stamp, bytes + offsetof(struct etwas_etl_full_header, time_stamp),
           sizeof record->stamp);
    return true;
}

/* Goes to the next record if it has the form of the last one, is valid and not older. */
static inline bool etwas_stream_next_of_same_form(struct etwas_stream *stream)
{
    struct etwas_record *record = &stream->record;

    if (!etwas_stream_read_same_form(stream, stream->offset - stream->window_at, record) ||
        record->stamp < stream->last_stamp ||
        (!etwas_stream_has_plain_payload(record) &&
         (!etwas_record_parse(record->bytes, record) || record->own))) {
        return false;
    }
    stream->last_stamp = record->stamp;
    stream->record_at = stream->offset;
    stream->offset += (uint32_t)etwas_etl_round_up_8(record->size);
    return true;
}

/* Goes to the next record of this buffer: RECORD or BUFFER_END. */
static inline enum etwas_stream_state etwas_stream_next_record(struct etwas_stream *stream)
{
    return etwas_stream_next_of_same_form(stream) ? ETWAS_STREAM_RECORD
                                                  : etwas_stream_find_record(stream);
}

/*
 * Reports that the numbers of the buffers before this one are wrong. Called before its first record
 * is delivered.
 */
void etwas_stream_report_numbers(struct etwas_stream *stream);

/*
 * Scans the buffer that the stream is about to read (torn_buffer.c). Sets stream->limit and
 * stream->torn if it is torn, and stream->replaced if it is not the buffer of the index any more.
 */
void etwas_torn_buffer_find_end(struct etwas_stream *stream);

#endif
