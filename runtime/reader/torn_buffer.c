/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Torn buffers. An unfinished circular file may hold a buffer that was being replaced: its
 * beginning is new and the rest belongs to the buffer before, or, after a crash of the system, it
 * is any mix of sectors. Such a buffer is scanned before its records are delivered, and ends where
 * it is torn.
 */
#include "reader/stream.h"

#include "reader/trace.h"

enum {
    SECTOR_BYTES = 512, /* no medium and no page cache writes less than one */
    PADDING_BYTES = 64, /* read behind the records */
};

/* Returns where the sector of this offset begins, as an offset in the buffer. */
static uint32_t torn_buffer_sector_of(const struct etwas_stream *stream, uint32_t offset)
{
    uint32_t into = (uint32_t)((stream->buffer->file_offset + offset) % SECTOR_BYTES);

    return offset > into ? offset - into : 0;
}

/*
 * Scans the records. Returns where the first one begins that cannot belong to this buffer: it is
 * not a record, or older than the one before it, or newer than the buffer. *before receives the
 * beginning of the last good record.
 */
static uint32_t torn_buffer_find_foreign(struct etwas_stream *stream, int64_t collected,
                                         uint32_t *before)
{
    bool may_step_back = stream->trace->log.may_step_back;
    int64_t last = INT64_MIN;
    bool any = false;

    *before = ETWAS_ETL_BUFFER_HEADER_BYTES;
    while (etwas_stream_next_record(stream) == ETWAS_STREAM_RECORD) {
        int64_t stamp = stream->record.stamp;

        /* Some writers stamp buffers by another clock; their stamps are not compared. */
        if (may_step_back || (!any && stamp > collected)) {
            collected = INT64_MAX;
        }
        any = true;
        if ((stamp < last && !may_step_back) || stamp > collected) {
            return stream->record_at;
        }
        last = stamp;
        *before = stream->record_at;
    }
    return stream->offset < stream->limit ? stream->offset : stream->limit;
}

/*
 * Returns the offset of the first byte behind the records that is not padding; UINT32_MAX if there
 * is none nearby.
 */
static uint32_t torn_buffer_find_unpadded(const struct etwas_stream *stream)
{
    const struct etwas_index_entry *buffer = stream->buffer;
    uint8_t padding[PADDING_BYTES];
    uint32_t left =
        buffer->file_bytes > buffer->data_end ? buffer->file_bytes - buffer->data_end : 0;
    size_t got = etwas_trace_file_read(stream->trace, buffer->file_offset + buffer->data_end,
                                       padding, left < sizeof padding ? left : sizeof padding);

    for (size_t i = 0; i < got; i++) {
        if (padding[i] != ETWAS_ETL_PADDING_BYTE) {
            return buffer->data_end + (uint32_t)i;
        }
    }
    return UINT32_MAX;
}

/*
 * Returns where the records end: at `limit`, or where older data begin. The tear is at a sector's
 * edge: a record that crosses the last edge before `foreign` may have a new head and an old end.
 */
static uint32_t torn_buffer_choose_end(const struct etwas_stream *stream, uint32_t foreign,
                                       uint32_t before)
{
    uint32_t evidence = foreign;
    uint32_t edge;

    if (foreign == stream->limit) {
        evidence = stream->trace->log.own ? torn_buffer_find_unpadded(stream) : UINT32_MAX;
        if (evidence == UINT32_MAX) {
            return stream->limit;
        }
    }
    edge = torn_buffer_sector_of(stream, evidence);
    return edge > before && edge < foreign ? before : foreign;
}

/*
 * Returns where the records end that belong together. *is_found_by_reading: reading the records
 * reports the end by itself.
 */
static uint32_t torn_buffer_find_end(struct etwas_stream *stream, bool *is_found_by_reading)
{
    int64_t collected = etwas_index_entry_collected(stream->trace, stream->buffer);
    uint32_t before;
    uint32_t foreign;
    uint32_t end;

    stream->quiet = true;
    foreign = torn_buffer_find_foreign(stream, collected, &before);
    stream->quiet = false;
    end = torn_buffer_choose_end(stream, foreign, before);
    /* An end that is not a record is found again when the records are read. */
    *is_found_by_reading = end >= stream->offset;
    stream->offset = ETWAS_ETL_BUFFER_HEADER_BYTES;
    stream->form = ETWAS_STREAM_NO_FORM;
    stream->any_stamp = false;
    stream->order_reported = false;
    return end;
}

void etwas_torn_buffer_find_end(struct etwas_stream *stream)
{
    bool is_found_by_reading;
    uint32_t end = torn_buffer_find_end(stream, &is_found_by_reading);

    /* The buffer may just be written now, and be whole when it is scanned again. */
    if (!stream->replaced && end < stream->limit) {
        stream->window_bytes = 0;
        end = torn_buffer_find_end(stream, &is_found_by_reading);
    }
    if (!stream->replaced && end < stream->limit && !is_found_by_reading) {
        stream->torn = true;
        stream->limit = end;
        stream->window_bytes = 0;
    }
}
