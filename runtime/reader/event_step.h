/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* One step of ProcessTrace with the earliest stream, of a file or of a running session. */
#ifndef ETWAS_READER_EVENT_STEP_H
#define ETWAS_READER_EVENT_STEP_H

#include "reader/damage.h"
#include "reader/duplicates.h"
#include "reader/stream.h"

/* The time span of events that the caller requests, by their FILETIME. */
struct etwas_span {
    int64_t start_filetime;
    int64_t end_filetime;
};

/*
 * Updates the stream's key to its record. The key never decreases in a stream, so that one damaged
 * stamp cannot hold up or hurry the other streams.
 */
static inline void etwas_event_step_update_key(struct etwas_stream *stream, bool is_first)
{
    if (stream->state == ETWAS_STREAM_RECORD &&
        (is_first || stream->record.stamp > stream->key_raw)) {
        stream->key_raw = stream->record.stamp;
        stream->key_filetime = etwas_event_time_filetime(&stream->time, stream->key_raw);
    }
}

/* Delivers the stream's record, with this time, to the trace's event callback (deliver.c). */
void etwas_deliver(struct etwas_stream *stream, int64_t filetime);

/*
 * Delivers and counts the record if its time is in the requested span and another file did not have
 * it. The span holds for every event, the header event too. Mostly the key is the record's own.
 */
static inline void etwas_event_step_deliver(struct etwas_stream *stream,
                                            const struct etwas_span *span)
{
    int64_t filetime = stream->record.stamp == stream->key_raw
                           ? stream->key_filetime
                           : etwas_event_time_filetime(&stream->time, stream->record.stamp);

    if (filetime < span->start_filetime || filetime > span->end_filetime) {
        return;
    }
    if (stream->duplicates != NULL && etwas_duplicates_is_delivered(stream)) {
        etwas_trace_count(&stream->trace->information.repeated_events, 1);
        return;
    }
    if (stream->buffer != &stream->trace->log.buffer) {
        etwas_trace_count(&stream->trace->information.events, 1);
    }
    etwas_deliver(stream, filetime);
}

/* Calls the buffer callback at the end of a buffer. Returns false if it asks to stop. */
bool etwas_event_step_end_buffer(struct etwas_stream *stream);

#endif
