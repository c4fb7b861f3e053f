/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the buffers of a file in the order of their positions, and calls the callbacks. */
#include "reader/trace.h"

#include <pthread.h>
#include <stdlib.h>

#include "platform/cancel.h"
#include "reader/buffer_walk.h"
#include "reader/damage.h"
#include "reader/event_step.h"
#include "reader/trace_table.h"

static const struct etwas_span everything = {INT64_MIN, INT64_MAX};

/* State of one call, freed when the call returns or a callback ends the thread. */
struct processing {
    etwas_trace_handle handle;
    struct etwas_trace *trace;
    etwas_trace_buffer_callback begin;
    etwas_trace_buffer_callback end;
    void *context;
    struct etwas_buffer_walk walk;
    struct etwas_index_entry entry;
    struct etwas_trace_buffer buffer;
    struct etwas_stream stream;
};

static bool buffers_file_grows(const struct etwas_trace *trace)
{
    return trace->log.fields.start.end_filetime == 0;
}

/* Called with the table locked, or by the thread that processes the trace. */
static int64_t buffers_known_until(const struct etwas_trace *trace)
{
    const struct etwas_timeline *timeline = trace->timeline;

    if (!buffers_file_grows(trace) || trace->log.clock_snapshots_at == 0) {
        return INT64_MAX;
    }
    return timeline->count > 0 ? timeline->snapshots[timeline->count - 1].raw : INT64_MIN;
}

/* ---- one buffer ------------------------------------------------------------------------------ */

static void buffers_describe_one(struct processing *processing)
{
    const struct etwas_index_entry *entry = &processing->entry;
    struct etwas_trace *trace = processing->trace;

    processing->entry.session = etwas_appended_session(trace, entry->file_offset);
    processing->buffer = (etwas_trace_buffer){
        .file_offset = entry->file_offset,
        .file_bytes = entry->file_bytes,
        .number = (uint64_t)entry->sequence,
        .processor = etwas_stream_processor(&trace->log, entry->processor),
        .stream = entry->processor,
        .session = entry->session,
        .kind = etwas_buffer_beginning_kind(trace, entry),
    };
}

static uint32_t buffers_call(const struct processing *processing,
                             etwas_trace_buffer_callback callback)
{
    return callback != NULL ? callback(&processing->buffer, processing->context)
                            : ETWAS_BUFFER_READ;
}

/* Reports what the buffer's header alone shows to be damaged. */
static void buffers_report_header(struct processing *processing)
{
    struct etwas_trace *trace = processing->trace;
    const struct etwas_index_entry *entry = &processing->entry;

    if (processing->walk.is_doubtful) {
        etwas_trace_report(trace, ETWAS_DAMAGE_BUFFER_HEADER, entry->file_offset, 0);
    }
    if (entry->processor >= trace->log.fields.start.number_of_processors) {
        etwas_trace_report(trace, ETWAS_DAMAGE_PROCESSOR, entry->file_offset, 0);
    }
}

/*
 * Finds the timeline for the stream's stamps, as far as this buffer needs it. No record that etwas
 * wrote is newer than its buffer.
 */
static bool buffers_find_times(struct processing *processing)
{
    struct etwas_stream *stream = &processing->stream;
    int64_t first = stream->record.stamp;
    int64_t last = processing->entry.collected > first ? processing->entry.collected : first;
    ETWAS_UNCANCELLED_SCOPE;
    bool known = etwas_clock_search_cover(processing->trace, &processing->entry, first, last);

    stream->time = etwas_event_time_by(&processing->trace->log.clock, processing->trace->timeline);
    return known;
}

/*
 * Delivers the records of a buffer. A record without a stamp at the beginning gets the session's
 * start, whatever was read before: what a buffer delivers depends on it alone.
 */
static uint32_t buffers_deliver_records(struct processing *processing)
{
    struct etwas_trace *trace = processing->trace;
    struct etwas_stream *stream = &processing->stream;

    stream->key_raw = trace->log.first_raw;
    if (etwas_stream_next_buffer(stream) == ETWAS_STREAM_NO_MEMORY ||
        (stream->state == ETWAS_STREAM_RECORD && !buffers_find_times(processing))) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    etwas_event_step_update_key(stream, true);
    while (stream->state == ETWAS_STREAM_RECORD && !etwas_trace_is_closing(trace)) {
        (void)etwas_deliver_records(&stream, NULL, false, &everything);
    }
    return ERROR_SUCCESS;
}

static uint32_t buffers_read_one(struct processing *processing)
{
    struct etwas_trace *trace = processing->trace;
    const etwas_trace_information *counted = &trace->information;
    struct etwas_trace_buffer *buffer = &processing->buffer;
    uint64_t events = counted->events;
    uint64_t damages = counted->damages;
    uint64_t bytes_skipped = counted->bytes_skipped;
    uint32_t code;

    buffers_report_header(processing);
    if (!etwas_stream_open(&processing->stream, trace, &processing->entry, 1)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = buffers_deliver_records(processing);
    etwas_stream_close(&processing->stream);
    buffer->records = counted->events - events;
    buffer->damages = counted->damages - damages;
    buffer->bytes_skipped = counted->bytes_skipped - bytes_skipped;
    if (code == ERROR_SUCCESS && !etwas_trace_is_closing(trace) &&
        buffers_call(processing, processing->end) == ETWAS_BUFFER_STOP) {
        code = ERROR_CANCELLED;
    }
    return code;
}

static uint32_t buffers_process_one(struct processing *processing)
{
    uint32_t wanted;

    buffers_describe_one(processing);
    wanted = buffers_call(processing, processing->begin);
    if (wanted == ETWAS_BUFFER_STOP) {
        return ERROR_CANCELLED;
    }
    return wanted == ETWAS_BUFFER_PASS ? ERROR_SUCCESS : buffers_read_one(processing);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static uint32_t buffers_check_trace(const struct etwas_trace *trace)
{
    return trace->session_name != NULL || trace->log.replaces ? ERROR_NOT_SUPPORTED : ERROR_SUCCESS;
}

/*
 * Returns the first offset where a buffer may begin. Buffers of one size begin at multiples of it.
 */
static uint64_t buffers_first_offset(const struct etwas_trace *trace, uint64_t from)
{
    uint64_t step = trace->log.buffer.buffer_bytes;
    uint64_t into = from % step;

    if (from <= step) {
        return step;
    }
    if (from >= trace->file_bytes) {
        return trace->file_bytes;
    }
    return trace->log.uniform && into != 0 ? from - into + step : from;
}

static uint32_t buffers_prepare(struct processing *processing, uint64_t from, uint64_t until)
{
    struct etwas_trace *trace = processing->trace;
    struct etwas_buffer_walk *walk = &processing->walk;
    ETWAS_UNCANCELLED_SCOPE;
    bool known = etwas_appended_find(trace);

    trace->by_index_file = false;
    trace->quiet = from > 0;
    etwas_trace_begin_information(trace);
    trace->quiet = false;
    known = known && etwas_clock_search_begin(trace);
    if (!known) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    etwas_buffer_walk_begin(walk, trace);
    walk->offset = buffers_first_offset(trace, from);
    walk->until = until < trace->file_bytes ? until : trace->file_bytes;
    walk->grows = buffers_file_grows(trace);
    walk->known_until = trace->log.clock_snapshots_at != 0 ? buffers_known_until(trace) : INT64_MIN;
    return ERROR_SUCCESS;
}

static uint32_t buffers_process(struct processing *processing, uint64_t from, uint64_t until)
{
    struct etwas_trace *trace = processing->trace;
    uint32_t code = buffers_check_trace(trace);

    if (code == ERROR_SUCCESS) {
        code = buffers_prepare(processing, from, until);
    }
    while (code == ERROR_SUCCESS && !etwas_trace_is_closing(trace) &&
           etwas_buffer_walk_next(&processing->walk, &processing->entry)) {
        code = buffers_process_one(processing);
    }
    return code == ERROR_SUCCESS && trace->information.damages > 0 ? ERROR_FILE_CORRUPT : code;
}

static void buffers_end_processing(void *argument)
{
    struct processing *processing = argument;

    etwas_stream_close(&processing->stream);
    etwas_trace_table_release(&processing->handle, 1);
    free(processing);
}

static uint32_t buffers_process_and_end(struct processing *processing, uint64_t from,
                                        uint64_t until)
{
    volatile uint32_t code;

    pthread_cleanup_push(buffers_end_processing, processing);
    code = buffers_process(processing, from, until);
    pthread_cleanup_pop(1);
    return code;
}

uint32_t etwas_trace_process_buffers(etwas_trace_handle trace, uint64_t from_offset,
                                     uint64_t until_offset, etwas_trace_buffer_callback begin,
                                     etwas_trace_buffer_callback end, void *context)
{
    struct processing *processing;
    uint32_t code;

    if (until_offset < from_offset) {
        return ERROR_INVALID_PARAMETER;
    }
    processing = calloc(1, sizeof *processing);
    if (processing == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    processing->handle = trace;
    processing->begin = begin;
    processing->end = end;
    processing->context = context;
    code = etwas_trace_table_acquire(&trace, 1, &processing->trace);
    if (code != ERROR_SUCCESS) {
        free(processing);
        return code;
    }
    return buffers_process_and_end(processing, from_offset, until_offset);
}

uint32_t etwas_trace_known_until(etwas_trace_handle trace, int64_t *raw)
{
    const struct etwas_trace *opened;
    uint32_t code = ERROR_SUCCESS;

    if (raw == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_trace_table_lock();
    opened = etwas_trace_table_find(trace);
    if (opened == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else if (opened->session_name != NULL) {
        code = ERROR_NOT_SUPPORTED;
    } else {
        *raw = buffers_known_until(opened);
    }
    etwas_trace_table_unlock();
    return code;
}
