/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "reader/stream.h"

#include <stdlib.h>
#include <string.h>

#include "etl/layout.h"
#include "etl/record.h"
#include "etl/xpress.h"
#include "reader/damage.h"
#include "reader/trace.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES

bool etwas_stream_open(struct etwas_stream *stream, struct etwas_trace *trace,
                       const struct etwas_index_entry *buffers, size_t count)
{
    size_t largest = 0;

    *stream = (struct etwas_stream){.trace = trace,
                                    .next = buffers,
                                    .last = buffers + count,
                                    .time = etwas_event_time_by(&trace->log.clock, NULL)};
    for (size_t i = 0; i < count; i++) {
        if (buffers[i].file_bytes > largest) {
            largest = buffers[i].file_bytes;
        }
    }
    if (largest > ETWAS_READER_WINDOW_BYTES) {
        largest = ETWAS_READER_WINDOW_BYTES;
    }
    stream->memory = malloc(largest);
    stream->memory_bytes = largest;
    stream->window = stream->memory;
    return stream->memory != NULL;
}

void etwas_stream_open_image(struct etwas_stream *stream, struct etwas_trace *trace,
                             const struct etwas_index_entry *buffer, const uint8_t *image)
{
    *stream = (struct etwas_stream){.trace = trace,
                                    .next = buffer,
                                    .last = buffer + 1,
                                    .image = image,
                                    .window = image,
                                    .time = etwas_event_time_by(&trace->log.clock, NULL)};
}

void etwas_stream_close(struct etwas_stream *stream)
{
    if (stream->trace != NULL) {
        stream->trace->decompressed_bytes -= stream->grown_bytes;
    }
    free(stream->memory);
    stream->memory = NULL;
    stream->grown_bytes = 0;
}

/*
 * Returns whether a running session has changed the clock snapshots of buffer 0 since OpenTrace:
 * some have moved, and it is shorter, or longer again.
 */
static bool stream_has_changed(const struct etwas_stream *stream)
{
    struct etwas_trace *trace = stream->trace;
    struct etwas_etl_buffer_header header;

    return stream->buffer == &trace->log.buffer && trace->log.clock_snapshots_at != 0 &&
           stream->offset >= trace->log.clock_snapshots_at &&
           trace->log.fields.start.end_filetime == 0 &&
           etwas_trace_file_read(trace, 0, &header, sizeof header) == sizeof header &&
           header.offset != stream->buffer->data_end;
}

/*
 * Reports damage at `offset` in the buffer. In a compressed buffer only the buffer itself has an
 * offset.
 */
static void stream_report(struct etwas_stream *stream, etwas_damage_kind kind, uint32_t offset,
                          uint32_t bytes_skipped)
{
    const struct etwas_index_entry *buffer = stream->buffer;

    if (stream->quiet || stream_has_changed(stream)) {
        return;
    }
    if (buffer->compressed) {
        offset = 0;
    }
    if (bytes_skipped > 0 && !stream->damage_counted) {
        etwas_trace_count(&stream->trace->information.buffers_damaged, 1);
        stream->damage_counted = true;
    }
    etwas_trace_report(stream->trace, kind, buffer->file_offset + offset, bytes_skipped);
}

void etwas_stream_report_numbers(struct etwas_stream *stream)
{
    stream->is_misnumbered = false;
    stream_report(stream, ETWAS_DAMAGE_SEQUENCE, 0, 0);
}

/* Reads the window from `offset` on. NULL if the file does not have `bytes` bytes there. */
static const uint8_t *stream_read_window(struct etwas_stream *stream, uint32_t offset,
                                         uint32_t bytes)
{
    size_t wanted;

    if (stream->image != NULL || stream->buffer->compressed) {
        return NULL;
    }
    wanted = stream->limit - offset;
    if (wanted > stream->memory_bytes) {
        wanted = stream->memory_bytes;
    }
    stream->window_at = offset;
    stream->window_bytes = (uint32_t)etwas_trace_file_read(
        stream->trace, stream->buffer->file_offset + offset, stream->memory, wanted);
    if (stream->watched && etwas_index_entry_is_replaced(stream->trace, stream->buffer)) {
        stream->window_bytes = 0;
        stream->replaced = true;
        return NULL;
    }
    return bytes <= stream->window_bytes ? stream->memory : NULL;
}

/*
 * Returns `bytes` bytes at `offset`, which lie below the stream's limit; NULL if the file does not
 * have them.
 */
static inline const uint8_t *stream_fetch(struct etwas_stream *stream, uint32_t offset,
                                          uint32_t bytes)
{
    uint32_t at = offset - stream->window_at;

    return offset >= stream->window_at && at + (uint64_t)bytes <= stream->window_bytes
               ? stream->window + at
               : stream_read_window(stream, offset, bytes);
}

/*
 * Returns whether the streams' common limit allows it: a small file may promise to decompress to
 * more than there is memory.
 */
static bool stream_may_decompress(const struct etwas_stream *stream, size_t bytes)
{
    return bytes <= stream->memory_bytes ||
           bytes <= ETWAS_READER_DECOMPRESSED_LIMIT_BYTES - stream->trace->decompressed_bytes;
}

static bool stream_grow_memory(struct etwas_stream *stream, size_t bytes)
{
    uint8_t *larger;

    if (bytes <= stream->memory_bytes) {
        return true;
    }
    larger = realloc(stream->memory, bytes);
    if (larger == NULL) {
        return false;
    }
    stream->trace->decompressed_bytes += bytes - stream->grown_bytes;
    stream->grown_bytes = bytes;
    stream->memory = larger;
    stream->window = larger;
    stream->memory_bytes = bytes;
    return true;
}

/* Decodes the whole buffer. What decodes before a cut is valid and delivered. */
static enum etwas_stream_state stream_decompress(struct etwas_stream *stream)
{
    const struct etwas_index_entry *buffer = stream->buffer;
    uint32_t data_bytes = buffer->data_end - HEADER_BYTES;
    uint32_t input_bytes = buffer->file_bytes - HEADER_BYTES;
    uint64_t left = stream->trace->file_bytes - buffer->file_offset;
    uint32_t whole_bytes =
        (left < buffer->buffer_bytes ? (uint32_t)left : buffer->buffer_bytes) - HEADER_BYTES;
    bool cut = buffer->file_bytes < buffer->buffer_bytes;
    bool exact = false;
    uint8_t *input;
    size_t got;
    size_t made;

    if (!stream_may_decompress(stream, data_bytes)) {
        stream_report(stream, ETWAS_DAMAGE_COMPRESSION, 0, data_bytes);
        stream->limit = HEADER_BYTES;
        return ETWAS_STREAM_RECORD;
    }
    input = malloc(whole_bytes + 1u);
    if (input == NULL || !stream_grow_memory(stream, data_bytes)) {
        free(input);
        return ETWAS_STREAM_NO_MEMORY;
    }
    got = etwas_trace_file_read(stream->trace, buffer->file_offset + HEADER_BYTES, input,
                                whole_bytes);
    made = etwas_xpress_decode(input, got, stream->memory, data_bytes, &exact);
    if (!exact && got > input_bytes) {
        /* What lies behind the cut does not belong to the buffer. */
        got = input_bytes;
        made = etwas_xpress_decode(input, got, stream->memory, data_bytes, &exact);
    }
    free(input);
    if (got < input_bytes) {
        stream_report(stream, ETWAS_DAMAGE_READ, 0, data_bytes - (uint32_t)made);
    } else if (!exact && !cut) {
        stream_report(stream, ETWAS_DAMAGE_COMPRESSION, 0, data_bytes);
    }
    if (!exact && !cut) {
        made = 0;
    }
    stream->window_at = HEADER_BYTES;
    stream->window_bytes = (uint32_t)made;
    stream->limit = HEADER_BYTES + (uint32_t)made;
    return ETWAS_STREAM_RECORD;
}

/*
 * Each class row has a stream for each processor, and behind all rows are the streams of threads
 * without restartable sequences, which have the number behind the processors.
 */
uint16_t etwas_stream_processor(const struct etwas_file_header *log, uint16_t stream)
{
    const struct etwas_etl_clock_trust *trust = &log->trust;

    if (trust->rows <= 1 || trust->processors == 0) {
        return stream;
    }
    if (trust->one_stream != 0) {
        return stream < trust->rows ? 0 : stream;
    }
    if (stream >= trust->rows * trust->processors) {
        return trust->processors;
    }
    return (uint16_t)(stream % trust->processors);
}

/*
 * Sets what the events of the buffer have in common. The context has a processor index in any file.
 */
static void stream_describe_events(struct etwas_stream *stream,
                                   const struct etwas_index_entry *buffer)
{
    const struct etwas_file_header *log = &stream->trace->log;
    bool private = (log->fields.start.log_file_mode &
                    (EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC)) != 0;

    stream->context =
        (ETW_BUFFER_CONTEXT){.ProcessorIndex = etwas_stream_processor(log, buffer->processor),
                             .LoggerId = buffer->logger_id};
    stream->timeless_flags =
        EVENT_HEADER_FLAG_PROCESSOR_INDEX |
        (private ? EVENT_HEADER_FLAG_PRIVATE_SESSION : EVENT_HEADER_FLAG_NO_CPUTIME);
    stream->timed_flags =
        private || log->without_times ? stream->timeless_flags : EVENT_HEADER_FLAG_PROCESSOR_INDEX;
}

static void stream_begin_buffer(struct etwas_stream *stream, const struct etwas_index_entry *buffer)
{
    const struct etwas_trace *trace = stream->trace;

    stream->buffer = buffer;
    stream_describe_events(stream, buffer);
    stream->offset = HEADER_BYTES;
    stream->limit = buffer->data_end < buffer->file_bytes ? buffer->data_end : buffer->file_bytes;
    stream->window_at = 0;
    stream->window_bytes = stream->image != NULL ? stream->limit : 0;
    stream->form = ETWAS_STREAM_NO_FORM;
    stream->any_stamp = false;
    stream->order_reported = false;
    stream->damage_counted = false;
    stream->is_misnumbered = buffer->is_misnumbered;
    stream->watched = trace->log.replaces && buffer != &trace->log.buffer &&
                      buffer->file_bytes == buffer->buffer_bytes && !buffer->compressed;
    stream->replaced = false;
    stream->torn = false;
}

static void stream_count_replaced(struct etwas_stream *stream)
{
    etwas_trace_count(&stream->trace->information.overwritten_buffers, 1);
}

enum etwas_stream_state etwas_stream_next_buffer(struct etwas_stream *stream)
{
    const struct etwas_index_entry *buffer;

    for (;;) {
        if (stream->next == stream->last) {
            return stream->state = ETWAS_STREAM_END;
        }
        buffer = stream->next++;
        stream_begin_buffer(stream, buffer);
        if (stream->trace->by_index_file && buffer != &stream->trace->log.buffer &&
            !etwas_index_entry_is_confirmed(stream->trace, buffer)) {
            stream_report(stream, ETWAS_DAMAGE_BUFFER_HEADER, 0, buffer->file_bytes);
            continue;
        }
        if (!stream->watched) {
            break;
        }
        etwas_torn_buffer_find_end(stream);
        if (!stream->replaced) {
            break;
        }
        stream_count_replaced(stream);
    }
    if (buffer->compressed && stream_decompress(stream) == ETWAS_STREAM_NO_MEMORY) {
        return stream->state = ETWAS_STREAM_NO_MEMORY;
    }
    return etwas_stream_find_record(stream);
}

/* Ends the buffer. Reports it if the buffer goes on where the file does not. */
static enum etwas_stream_state stream_end_buffer(struct etwas_stream *stream)
{
    const struct etwas_index_entry *buffer = stream->buffer;

    if (stream->torn) {
        stream_report(stream, ETWAS_DAMAGE_RECORD, stream->limit, buffer->data_end - stream->limit);
    } else if (buffer->file_bytes < buffer->buffer_bytes &&
               !etwas_trace_may_end_anywhere(stream->trace)) {
        uint32_t from = stream->offset < buffer->data_end ? stream->offset : buffer->data_end;

        /* Rounding may have passed the cut. */
        stream_report(stream, ETWAS_DAMAGE_TRUNCATED,
                      from < buffer->file_bytes ? from : buffer->file_bytes,
                      buffer->data_end - from);
    }
    return stream->state = ETWAS_STREAM_BUFFER_END;
}

/* Skips the rest of the buffer, because the record at `offset` has no usable size. */
static enum etwas_stream_state stream_skip_rest(struct etwas_stream *stream, etwas_damage_kind kind)
{
    if (!stream->replaced) {
        stream_report(stream, kind, stream->offset, stream->limit - stream->offset);
    } else if (!stream->quiet) {
        stream_count_replaced(stream);
    }
    return stream->state = ETWAS_STREAM_BUFFER_END;
}

/* Sets the record's stamp. A message may have none: it gets the stamp of the record before it. */
static void stream_decide_stamp(struct etwas_stream *stream)
{
    int64_t first_raw = stream->trace->log.first_raw;
    struct etwas_record *record = &stream->record;

    if (!record->has_stamp) {
        record->stamp = stream->any_stamp             ? stream->last_stamp
                        : stream->key_raw > first_raw ? stream->key_raw
                                                      : first_raw;
        return;
    }
    if (stream->any_stamp && record->stamp < stream->last_stamp && !stream->order_reported &&
        !stream->trace->log.may_step_back) {
        stream->order_reported = true;
        stream_report(stream, ETWAS_DAMAGE_TIME_ORDER, stream->offset, 0);
    }
    stream->last_stamp = record->stamp;
    stream->any_stamp = true;
}

/* Returns whether the file ends before the record at `offset` does. Then the cut is the damage. */
static bool stream_is_cut(const struct etwas_stream *stream)
{
    return stream->limit < stream->buffer->data_end &&
           stream->buffer->file_bytes < stream->buffer->buffer_bytes;
}

/* Returns the flags of EVENT_HEADER that follow from the record's form. */
static uint16_t stream_flags_of(const struct etwas_stream *stream)
{
    const struct etwas_record *record = &stream->record;
    bool timeless = record->kind == ETWAS_RECORD_COMPACT || record->kind == ETWAS_RECORD_PERFINFO ||
                    record->kind == ETWAS_RECORD_MESSAGE;
    unsigned flags = timeless ? stream->timeless_flags : stream->timed_flags;

    if (record->kind == ETWAS_RECORD_MESSAGE) {
        flags |= EVENT_HEADER_FLAG_TRACE_MESSAGE;
    } else if (record->kind != ETWAS_RECORD_EVENT) {
        flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
    }
    if (record->pointer_bytes == 4) {
        flags |= EVENT_HEADER_FLAG_32_BIT_HEADER;
    } else if (record->pointer_bytes == 8) {
        flags |= EVENT_HEADER_FLAG_64_BIT_HEADER;
    }
    return (uint16_t)flags;
}

/* Returns the upper half of the first word of a next record of the same form. */
static uint32_t stream_form_of(const struct etwas_record *record)
{
    bool fixed = record->kind == ETWAS_RECORD_FULL || record->kind == ETWAS_RECORD_INSTANCE ||
                 record->kind == ETWAS_RECORD_EVENT;

    return fixed ? ETWAS_ETL_MARKER_FLAGS << 8 | record->header_type : ETWAS_STREAM_NO_FORM;
}

enum etwas_stream_state etwas_stream_find_record(struct etwas_stream *stream)
{
    struct etwas_record *record = &stream->record;

    while (stream->offset < stream->limit) {
        uint32_t left = stream->limit - stream->offset;
        bool skipped;
        const uint8_t *bytes;

        if (left < ETWAS_RECORD_MEASURE_BYTES) {
            return stream_is_cut(stream) ? stream_end_buffer(stream)
                                         : stream_skip_rest(stream, ETWAS_DAMAGE_RECORD);
        }
        bytes = stream_fetch(stream, stream->offset, ETWAS_RECORD_MEASURE_BYTES);
        if (bytes == NULL) {
            return stream_skip_rest(stream, ETWAS_DAMAGE_READ);
        }
        if (etwas_record_measure(bytes, record) != ETWAS_RECORD_MEASURED) {
            return stream_skip_rest(stream, ETWAS_DAMAGE_RECORD);
        }
        if (record->size > left) {
            return stream_is_cut(stream) ? stream_end_buffer(stream)
                                         : stream_skip_rest(stream, ETWAS_DAMAGE_RECORD);
        }

        skipped = record->kind == ETWAS_RECORD_OPAQUE;
        if (!skipped) {
            bytes = stream_fetch(stream, stream->offset, record->size);
            if (bytes == NULL) {
                return stream_skip_rest(stream, ETWAS_DAMAGE_READ);
            }
            skipped = !etwas_record_parse(bytes, record);
        }
        if (skipped) {
            stream_report(stream, ETWAS_DAMAGE_RECORD, stream->offset, record->size);
        } else {
            stream_decide_stamp(stream);
        }
        stream->record_at = stream->offset;
        /* Cannot overflow: limit is at most 16 MiB. */
        stream->offset += (uint32_t)etwas_etl_round_up_8(record->size);
        if (!skipped && (!record->own || stream->quiet)) {
            stream->form = stream_form_of(record);
            stream->flags = stream_flags_of(stream);
            return stream->state = ETWAS_STREAM_RECORD;
        }
    }
    return stream_end_buffer(stream);
}
